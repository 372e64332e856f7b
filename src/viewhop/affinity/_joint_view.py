"""The joint view: all views side by side, as one more view of the walk.

Neighbours in the joint view are near in all views together, which no view tells alone. It exists
for the samples that every view observed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewhop._runtime.progress import Progress, no_progress
from viewhop._storage.codec import Shelf, read_fields, read_number
from viewhop.affinity._affinity import Affinity
from viewhop.affinity._affinity_reader import AffinityReader, check_joined
from viewhop.affinity._side_by_side import SideBySide
from viewhop.affinity._sparse import SparseAffinity, build_points_affinity
from viewhop.errors import ModelFileError
from viewhop.kernels import Gaussian, Kernel
from viewhop.neighbours import FeatureMap, Points
from viewhop.views import RowMap, ViewRows

__all__ = [
    "JointView",
    "build_joint_view",
    "complete_rows",
    "joint_kernel",
    "joint_name",
    "lowest_precision",
]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class JointView:
    """The joint view of a walk.

    Attributes
    ----------
    affinity : SparseAffinity
        Its kernel, on the samples that every view observed.
    side_by_side : SideBySide
        Joins the feature rows of the views.
    """

    affinity: SparseAffinity
    side_by_side: SideBySide

    @property
    def name(self) -> str:
        """Name of the joint view."""
        return self.affinity.name

    def rows(
        self, affinities: Sequence[Affinity], new: Mapping[str, NDArray[np.floating]]
    ) -> NDArray[np.floating]:
        """Rows of new samples in the joint view, (q, d).

        Parameters
        ----------
        affinities : sequence of Affinity
            Of the views.
        new : dict of (q, d_l) arrays by view name
            Rows of the same samples in every view.
        """
        features = {
            K.name: K.features(new[K.name], K.name)
            for K in affinities
            if isinstance(K, SparseAffinity)
        }
        return self.side_by_side.join(features, self.affinity.points.rows.dtype)

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
        sparse = [K for K in affinities if isinstance(K, SparseAffinity)]
        names = [K.name for K in affinities]
        are_euclidean = all(K.kernel.is_euclidean for K in sparse)
        if (
            len(sparse) < len(names)
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
        width = sum(K.points.rows.shape[1] for K in sparse)
        name = joint_name(names)
        places = complete_rows(rows)
        n = places[0].size
        reader = AffinityReader("the joint view", name, n, width, affinities[0].dtype, n_jobs)
        affinity = reader.read(kernel, shelf)
        if not isinstance(affinity, SparseAffinity) or affinity.features.metric != "euclidean":
            raise ModelFileError("the joint view: expected a neighbour kernel, Euclidean distances")
        features = {K.name: K.points.rows[place] for K, place in zip(sparse, places, strict=True)}
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
    rules = set()
    for kernel in kernels:
        if type(kernel) is not Gaussian or kernel.n_neighbors is None or not kernel.is_euclidean:
            return None
        parameters = kernel.get_params(deep=False)
        rules.add(tuple((key, parameters[key]) for key in sorted(parameters) if key not in OWN))
    if len(rules) != 1 or dict(*rules)["bandwidth"] != "local":
        return None
    return Gaussian(**dict(rules.pop()))


#: Parameters in which the kernels of views may differ.
OWN = ("metric", "standardize")


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
    sparse = [K for K in affinities if isinstance(K, SparseAffinity)]
    if kernel is None or len(sparse) < len(affinities):
        return None
    side_by_side = SideBySide(
        {K.name: float(np.sqrt(weights[K.name])) / _spread(K.points.rows) for K in sparse}
    )
    dtype = affinities[0].dtype
    features = {K.name: K.points.rows for K in sparse}
    if not rows.is_whole:
        places = complete_rows(rows)
        features = {
            K.name: features[K.name][place] for K, place in zip(sparse, places, strict=True)
        }
    joined = side_by_side.join(features, dtype)
    plain = FeatureMap("euclidean", None)
    points = Points(joined, slack=plain.slack(joined, dtype if precision is None else precision))
    del joined  # the points hold a copy
    name = joint_name([K.name for K in affinities])
    values = np.empty((0, 0), dtype=dtype)
    view = ViewRows(name, values, generator, n_jobs, progress, allowed)
    affinity = build_points_affinity(view, kernel, plain, points)
    return JointView(affinity, side_by_side)


def lowest_precision(dtypes: Sequence[np.dtype[np.floating]]) -> np.dtype[np.floating]:
    """The least precise of several types."""
    return max(dtypes, key=lambda dtype: float(np.finfo(dtype).eps))


def complete_rows(rows: RowMap) -> list[NDArray[np.intp]]:
    """The row of each view for every sample that all views observed.

    The first one, if a view has several rows for a sample.
    """
    complete = np.flatnonzero(rows.observed.all(axis=1))
    return [rows.first_rows(view)[complete] for view in range(rows.n_views)]


def _spread(rows: NDArray[np.floating]) -> float:
    """Root mean square distance of rows from their mean; 1 if they are all equal."""
    size = float(np.abs(rows).max(initial=0.0)) or 1.0
    squares = float(np.square(rows / size - (rows / size).mean(axis=0)).sum(axis=1).mean())
    return size * float(np.sqrt(squares)) or 1.0
