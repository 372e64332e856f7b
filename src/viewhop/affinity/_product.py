"""The element-wise product of the kernels of several views, as one kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewhop._storage.codec import Shelf
from viewhop.affinity._affinity import Affinity
from viewhop.affinity._affinity_reader import ROUNDING, AffinityReader, check_joined
from viewhop.affinity._common_kernel import common_gaussian
from viewhop.affinity._dense import DenseAffinity, DensePrecomputed
from viewhop.affinity._kernel_rows import KernelRows, normalised_logs
from viewhop.affinity._side_by_side import SideBySide
from viewhop.affinity._sparse import SparseAffinity, build_points_affinity
from viewhop.affinity._tiles import Tiles
from viewhop.errors import ModelFileError
from viewhop.kernels import Gaussian, Precomputed
from viewhop.neighbours import FeatureMap, FeatureRows, SparseFeatures, make_points
from viewhop.views import ViewRows

__all__ = ["KernelProduct"]

Floats = NDArray[np.float64]


class KernelProduct:
    """The product of the views' kernels as one affinity; new samples need every view.

    Dense kernels are multiplied entry by entry. For Gaussian kernels on neighbours, the views are
    divided by their scales (by the median of local scales) and joined side by side; the product is
    the neighbour kernel of this joint view. Other neighbour kernels raise ValueError.

    Parameters
    ----------
    affinities : sequence of Affinity
        One per view, on the same samples.
    joint : Affinity or None
        Their product, if already computed.
    n_jobs : int
        Threads.

    Attributes
    ----------
    joint : Affinity
        The product.
    """

    def __init__(
        self, affinities: Sequence[Affinity], *, joint: Affinity | None = None, n_jobs: int = 1
    ) -> None:
        self._dense = [a for a in affinities if isinstance(a, DenseAffinity | DensePrecomputed)]
        self._sparse = [a for a in affinities if isinstance(a, SparseAffinity)]
        self._n_views = len(affinities)
        self.joint = self._multiply(n_jobs) if joint is None else joint

    def against(self, new: Mapping[str, Any]) -> KernelRows:
        """Kernel rows of new samples in the product.

        Parameters
        ----------
        new : dict of (q, d) arrays by view name
            Must have every view.
        """
        if self._is_dense:
            logs, coverage = zip(
                *(normalised_logs(K.logs(new[K.name]), K.density, K.alpha) for K in self._dense),
                strict=True,
            )
            return KernelRows.of(np.sum(logs, axis=0), np.min(coverage, axis=0))
        features = {K.name: K.features(new[K.name], K.name) for K in self._sparse}
        joined: Any = self._side_by_side(features)
        return self.joint.against(joined)

    def state(self, shelf: Shelf) -> dict[str, Any] | None:
        """The product as plain data; None if it is recomputed from the views' kernels."""
        if not self._is_dense:
            return self.joint.state(shelf)
        shelf.put("density", self.joint.density)
        return None

    @classmethod
    def restore(
        cls, affinities: Sequence[Affinity], data: Any, shelf: Shelf, *, n_jobs: int
    ) -> KernelProduct:
        """The product from plain data; invalid data raise ModelFileError.

        Parameters
        ----------
        affinities : sequence of Affinity
        data : object
            As `state` wrote it.
        shelf : Shelf
            Provides the arrays.
        n_jobs : int
            Threads.
        """
        first = affinities[0]
        n, dtype = first.n_samples, first.dtype
        dense = [a for a in affinities if isinstance(a, DenseAffinity | DensePrecomputed)]
        if len(dense) == len(affinities):
            if data is not None:
                raise ModelFileError(
                    "expected no product: that of dense kernels is computed from them"
                )
            tiles = Tiles.of_product([a.tiles for a in dense])
            density = shelf.numbers("density", (n,), above=0.0)
            sums = tiles.sums(n_jobs=n_jobs)
            if not (np.abs(density - sums) <= ROUNDING * sums).all():
                raise ModelFileError("the product: densities are not the row sums of its kernel")
            joint: Affinity = DensePrecomputed(
                "product", Precomputed(), tiles, n_jobs=n_jobs, density=density
            )
            return cls(affinities, joint=joint)
        sparse = [a for a in affinities if isinstance(a, SparseAffinity)]
        if len(sparse) < len(affinities) or not all(isinstance(a.kernel, Gaussian) for a in sparse):
            raise ModelFileError("the product: expected dense kernels, or Gaussians on neighbours")
        if not all(a.kernel.is_euclidean for a in sparse):
            raise ModelFileError("the product: no joint view has the distance of each of the views")
        width = sum(a.points.rows.shape[1] for a in sparse)
        joint = AffinityReader(
            "the product", "product", n, width, dtype, n_jobs, is_joint=True
        ).read(data, shelf)
        if not isinstance(joint, SparseAffinity) or joint.features.metric != "euclidean":
            raise ModelFileError(
                "the product of neighbour kernels is a neighbour kernel with Euclidean distances"
            )
        product = cls(affinities, joint=joint)
        joined = product._side_by_side({a.name: a.points.rows for a in sparse})
        check_joined("the product", joint.points.rows, joined)
        return product

    @property
    def _is_dense(self) -> bool:
        return len(self._dense) == self._n_views

    def _multiply(self, n_jobs: int) -> Affinity:
        if self._is_dense:
            tiles = Tiles.of_product([affinity.tiles for affinity in self._dense])
            return DensePrecomputed("product", Precomputed(), tiles, n_jobs=n_jobs)
        points = self._side_by_side({a.name: a.points.rows for a in self._sparse})
        dtype = self._sparse[0].dtype if self._sparse else np.dtype(np.float64)
        rows = ViewRows("product", np.empty((0, 0), dtype=dtype), n_jobs=n_jobs)
        plain = FeatureMap("euclidean", None)
        joined = make_points(points, slack=plain.slack(points, points.dtype))
        return build_points_affinity(rows, self._joint_kernel(), plain, joined)

    def _joint_kernel(self) -> Gaussian:
        """The kernel of the joint view; ValueError if the views' kernels do not match."""
        joint = common_gaussian([a.kernel for a in self._sparse], 1.0)
        if len(self._sparse) < self._n_views or joint is None:
            raise ValueError(
                'fusion="product" with n_neighbors needs a Gaussian kernel with the same '
                "n_neighbors, factor, alpha, search and kind of scale for every view; use dense "
                "kernels (n_neighbors=None) to multiply others"
            )
        for affinity in self._sparse:
            if not affinity.kernel.is_euclidean:
                raise ValueError(
                    'fusion="product" with n_neighbors joins the views side by side, which needs '
                    f"Euclidean distances, but the kernel of view {affinity.name!r} has metric="
                    f"{affinity.kernel.metric!r}; use dense kernels (n_neighbors=None) or another "
                    "metric"
                )
        return joint

    def _side_by_side(self, features: Mapping[str, FeatureRows]) -> FeatureRows:
        """Feature rows of all views, each divided by its scale (a local one without its factor)."""
        self._joint_kernel()
        blocks, inverses = [], {}
        for affinity in self._sparse:
            sigma = float(np.median(affinity.scale))
            if isinstance(affinity.scale, np.ndarray):
                sigma /= float(np.sqrt(affinity.kernel.factor))
            inverses[affinity.name] = 1.0 / sigma
            rows = features[affinity.name]
            if not isinstance(rows, SparseFeatures):
                # Divided, not multiplied by the inverse: old files have these bits.
                blocks.append(rows / np.float64(sigma))
        if len(blocks) < len(inverses):
            joined: FeatureRows = SideBySide(inverses).join(features)
            return joined
        return np.asarray(np.hstack(blocks))
