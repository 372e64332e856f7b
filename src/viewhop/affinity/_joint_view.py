"""The joint view: all views side by side, as one view.

Neighbours in the joint view are near in all views together, which no view tells alone. It exists
for the samples that every view observed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from viewhop._runtime.progress import Progress, no_progress
from viewhop._storage.codec import Shelf, read_fields, read_number
from viewhop.affinity._affinity import Affinity
from viewhop.affinity._affinity_reader import AffinityReader, check_joined
from viewhop.affinity._common_kernel import common_gaussian
from viewhop.affinity._dense import DenseAffinity, build_dense_points
from viewhop.affinity._kernel_rows import KernelRows
from viewhop.affinity._side_by_side import SideBySide
from viewhop.affinity._sparse import SparseAffinity, build_points_affinity
from viewhop.errors import ModelFileError
from viewhop.kernels import Gaussian, Kernel
from viewhop.neighbours import FeatureMap, FeatureRows, make_points
from viewhop.views import RowMap, Rows, ViewRows

__all__ = [
    "JointView",
    "build_joint_view",
    "complete_rows",
    "join_views",
    "joint_kernel",
    "joint_name",
    "lowest_precision",
    "measured_affinities",
]

#: Kernels of distances between rows, the only ones that can be joined.
Measured: TypeAlias = DenseAffinity | SparseAffinity


@dataclass(frozen=True, eq=False)
class JointView:
    """The joint view of a walk.

    Attributes
    ----------
    affinity : SparseAffinity or DenseAffinity
        Its kernel, on the samples that every view observed.
    side_by_side : SideBySide
        Joins the feature rows of the views.
    """

    affinity: Measured
    side_by_side: SideBySide

    @property
    def name(self) -> str:
        """Name of the joint view."""
        return self.affinity.name

    def rows(self, affinities: Sequence[Affinity], new: Mapping[str, Rows]) -> FeatureRows:
        """Rows of new samples in the joint view, (q, d).

        Parameters
        ----------
        affinities : sequence of Affinity
            Of the views.
        new : dict of (q, d_l) arrays by view name
            Rows of the same samples in every view.
        """
        features = {
            K.name: K.features(new[K.name], K.name) for K in measured_affinities(affinities)
        }
        joined: FeatureRows = self.side_by_side.join(features, self.affinity.points.rows.dtype)
        return joined

    def against(self, rows: Any, precision: np.dtype[np.floating]) -> KernelRows:
        """Kernel rows of new samples against the training samples.

        Parameters
        ----------
        rows : (q, d) array
            As `rows` returns them.
        precision : dtype
            The lowest precision in which a view of the new samples came.
        """
        if isinstance(self.affinity, SparseAffinity):
            return self.affinity.against(rows, precision)
        return self.affinity.against(rows)

    def state(self, shelf: Shelf) -> dict[str, Any]:
        """The joint view as plain data; arrays go to the shelf."""
        return {"factors": dict(self.side_by_side.factors), "kernel": self.affinity.state(shelf)}

    @classmethod
    def restore(
        cls, affinities: Sequence[Affinity], rows: RowMap, data: Any, shelf: Shelf, *, n_jobs: int
    ) -> JointView:
        """The joint view from plain data; invalid data raise ModelFileError.

        Parameters
        ----------
        affinities : sequence of Affinity
            Of the views.
        rows : RowMap
            Which samples the rows of the views belong to.
        data : object
            As `state` wrote it.
        shelf : Shelf
            Provides the arrays.
        n_jobs : int
            Threads.
        """
        factors, kernel = read_fields(data, ("factors", "kernel"), "the joint view")
        measured = measured_affinities(affinities)
        names = [K.name for K in affinities]
        are_euclidean = all(K.kernel.is_euclidean for K in measured)
        if (
            len(measured) < len(names)
            or not are_euclidean
            or not isinstance(factors, dict)
            or [*factors] != names
        ):
            raise ModelFileError("the joint view: expected a factor for each of the views")
        side_by_side = SideBySide(
            {
                name: read_number(factors[name], "a factor of the joint view", above=0.0)
                for name in names
            }
        )
        width = sum(K.points.rows.shape[1] for K in measured)
        name = joint_name(names)
        places = complete_rows(rows)
        n = places[0].size
        reader = AffinityReader(
            "the joint view", name, n, width, affinities[0].dtype, n_jobs, is_joint=True
        )
        affinity = reader.read(kernel, shelf)
        if not isinstance(affinity, Measured) or affinity.features.metric != "euclidean":
            raise ModelFileError("the joint view: expected Euclidean distances")
        if any(K.is_dense != affinity.is_dense for K in measured):
            raise ModelFileError("the joint view: expected a kernel on neighbours, like the views")
        features = {K.name: K.points.rows[place] for K, place in zip(measured, places, strict=True)}
        check_joined("the joint view", affinity.points.rows, side_by_side.join(features))
        return cls(affinity, side_by_side)


def joint_name(names: Sequence[str]) -> str:
    """The name of the joint view, which no view has."""
    name = "joint"
    while name in names:
        name += "_"
    return name


def joint_kernel(kernels: Sequence[Kernel]) -> Gaussian | None:
    """The kernel of the joint view; None unless all kernels are alike.

    They are if all are Gaussians on neighbours with local scales, which differ in their metrics at
    most, and if these are Euclidean in some feature space.

    Parameters
    ----------
    kernels : sequence of Kernel
    """
    if not all(type(kernel) is Gaussian and kernel.is_euclidean for kernel in kernels):
        return None
    kernel = common_gaussian(kernels, 1.0)
    if kernel is None or kernel.n_neighbors is None or kernel.bandwidth != "local":
        return None
    return kernel


def build_joint_view(
    affinities: Sequence[Affinity],
    rows: RowMap,
    weights: Mapping[str, float],
    *,
    generator: np.random.Generator,
    n_jobs: int = 1,
    progress: Progress = no_progress,
    allowed: int | None = None,
    precision: np.dtype[np.floating] | None = None,
) -> JointView | None:
    """The joint view of several views; None unless their kernels are alike.

    The feature rows of each view are divided by their spread (the root mean square distance from
    their mean) and multiplied by the square root of its weight.

    Parameters
    ----------
    affinities : sequence of Affinity
    rows : RowMap
        Which samples their rows belong to.
    weights : dict of float by view name
    generator : Generator
    n_jobs : int
        Threads.
    progress : callable
    allowed : int or None
        Bytes that pairs of neighbours may take; None is no limit.
    precision : dtype or None
        The lowest precision in which a view was passed; None is that of the kernels.
    """
    kernel = joint_kernel([K.kernel for K in affinities])
    measured = measured_affinities(affinities)
    if kernel is None or len(measured) < len(affinities):
        return None
    factors = {K.name: float(np.sqrt(weights[K.name])) / K.points.spread() for K in measured}
    dtype = affinities[0].dtype
    values = np.empty((0, 0), dtype=dtype)
    name = joint_name([K.name for K in affinities])
    view = ViewRows(name, values, generator, n_jobs, progress, allowed, came_as=precision)
    return join_views(measured, rows, SideBySide(factors), kernel, view)


def join_views(
    affinities: Sequence[Measured],
    rows: RowMap,
    side_by_side: SideBySide,
    kernel: Gaussian,
    view: ViewRows,
    *,
    rounding: float = 0.0,
) -> JointView:
    """The joint view with a given kernel.

    Parameters
    ----------
    affinities : sequence of SparseAffinity or DenseAffinity
        Of the views.
    rows : RowMap
        Which samples their rows belong to.
    side_by_side : SideBySide
        Joins their feature rows.
    kernel : Gaussian
    view : ViewRows
        Everything about the joint view but its rows.
    rounding : float
        Joined rows no farther apart than this coincide.
    """
    features = {K.name: K.points.rows for K in affinities}
    if not rows.is_whole:
        features = {
            K.name: features[K.name][place]
            for K, place in zip(affinities, complete_rows(rows), strict=True)
        }
    joined = side_by_side.join(features, view.values.dtype)
    plain = FeatureMap("euclidean", None)
    slack = plain.slack(joined, view.precision)
    points = make_points(joined, rounding=rounding, slack=slack, n_jobs=view.n_jobs)
    del joined  # the points hold a copy
    build = build_dense_points if kernel.n_neighbors is None else build_points_affinity
    return JointView(build(view, kernel, plain, points), side_by_side)


def measured_affinities(affinities: Sequence[Affinity]) -> list[Measured]:
    """Those affinities that are kernels of distances between rows."""
    return [K for K in affinities if isinstance(K, Measured)]


def lowest_precision(dtypes: Sequence[np.dtype[np.floating]]) -> np.dtype[np.floating]:
    """The least precise of several types."""
    return max(dtypes, key=lambda dtype: float(np.finfo(dtype).eps))


def complete_rows(rows: RowMap) -> list[NDArray[np.intp]]:
    """The row of each view for every sample that all views observed.

    The first one, if a view has several rows for a sample.
    """
    complete = np.flatnonzero(rows.observed.all(axis=1))
    return [rows.first_rows(view)[complete] for view in range(rows.n_views)]
