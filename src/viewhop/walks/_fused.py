"""Walks of one geometry: the kernels of the views added, or multiplied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from viewhop.affinity import Affinity, KernelRows
from viewhop.affinity._dense import DenseAffinity, DensePrecomputed
from viewhop.affinity._kernel_rows import normalised_logs
from viewhop.affinity._sparse import SparseAffinity, build_points_affinity
from viewhop.affinity._tiles import Tiles
from viewhop.kernels import Gaussian
from viewhop.neighbours import FeatureMap, Points
from viewhop.views import RowMap
from viewhop.walks._walk import Walk, same_rows

__all__ = ["ProductWalk", "SumWalk"]

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]


class SumWalk(Walk):
    """The walk on samples whose kernel is the sum of the views' kernels.

    With one view it is the ordinary diffusion map.

    A sample that a view did not observe adds nothing there.

    Parameters
    ----------
    affinities : sequence of Affinity
        One per view.
    rows : Nodes or None
        Which samples their rows are; None is the same ones, in order.

    Notes
    -----
    Eq. (7), and Eq. (1) for one view.
    """

    def __init__(self, affinities: Sequence[Affinity], rows: RowMap | None = None) -> None:
        self.affinities = tuple(affinities)
        self.rows = same_rows(affinities) if rows is None else rows

    @property
    def n_blocks(self) -> int:
        """One: the samples themselves."""
        return 1

    @property
    def max_coordinates(self) -> int:
        """The largest number of positive eigenvalues beside the trivial 1."""
        return self.n_samples - 1

    def on(self, kernels: Sequence[Affinity], rows: RowMap | None = None) -> SumWalk:
        """The walk of the sum of other kernels, on other samples."""
        return SumWalk(kernels, rows)

    def __matmul__(self, V: NDArray[np.floating]) -> NDArray[np.floating]:
        """The summed kernel times a vector (n_samples,) or block (n_samples, b)."""
        rows = self.rows
        first, *others = (
            rows.scattered(l, K @ rows.gathered(l, V)) for l, K in enumerate(self.kernels)
        )
        for other in others:
            first += other
        return first

    def pieces(self) -> Labels:
        """Number of the connected piece of each sample, (n_samples,)."""
        graph = self._on_samples(0)
        for l in range(1, len(self.kernels)):
            graph = graph + self._on_samples(l)
        return np.asarray(connected_components(graph, directed=False)[1], dtype=np.intp)

    def _on_samples(self, view: int) -> csr_array:
        """The pattern of one kernel between samples."""
        pattern = self.kernels[view].pattern()
        if self.rows.is_whole:
            return pattern
        found, samples = pattern.tocoo(), self.rows.samples(view)
        places = samples[found.row], samples[found.col]
        return csr_array(coo_array((found.data, places), shape=(self.n_samples, self.n_samples)))

    def against(self, new: Mapping[str, NDArray[np.floating]]) -> list[KernelRows | None]:
        """Kernel rows of new samples, one entry per view; None for a view that is not given."""
        return [K.against(new[K.name]) if K.name in new else None for K in self.kernels]


class ProductWalk(SumWalk):
    """The walk on samples whose kernel is the element-wise product of the views' kernels.

    Dense kernels are multiplied entry by entry. Neighbour kernels are Gaussians of one joint
    view: each view over its scale (for local scales, their median), side by side, and then given
    neighbours, radius, local scale and density as any view. Other neighbour kernels are refused.

    Parameters
    ----------
    affinities : sequence of Affinity
        One per view, on the same samples.
    n_jobs : int
        Threads.
    joint : Affinity or None
        Their product, if it is known.

    Notes
    -----
    Eqs. (5)–(6).
    """

    def __init__(
        self, affinities: Sequence[Affinity], *, n_jobs: int = 1, joint: Affinity | None = None
    ) -> None:
        super().__init__(affinities)
        dense = [a for a in affinities if isinstance(a, DenseAffinity | DensePrecomputed)]
        self.joint: Affinity
        if joint is not None:
            self.joint = joint
        elif len(dense) == len(self.affinities):
            factors = [affinity.tiles for affinity in dense]
            self.joint = DensePrecomputed("product", Tiles.of_product(factors), 0.0, n_jobs=n_jobs)
        else:
            self.joint = self._joint_view(n_jobs)

    @property
    def kernels(self) -> tuple[Affinity, ...]:
        """The one kernel of the walk."""
        return (self.joint,)

    def _joint_view(self, n_jobs: int) -> SparseAffinity:
        views = [a for a in self.affinities if isinstance(a, SparseAffinity)]
        rules = {
            (
                a.kernel.n_neighbors,
                a.kernel.alpha,
                isinstance(a.scale, np.ndarray),
                a.kernel.factor,
                a.kernel.search,
            )
            for a in views
            if isinstance(a.kernel, Gaussian)
        }
        gaussian = all(isinstance(a.kernel, Gaussian) for a in views)
        if len(views) < len(self.affinities) or not gaussian or len(rules) > 1:
            raise ValueError(
                'fusion="product" with n_neighbors needs a Gaussian kernel with the same '
                "n_neighbors, factor, alpha, search and kind of scale for every view; use dense "
                "kernels (n_neighbors=None) to multiply others"
            )
        k, alpha, is_local, factor, search = rules.pop()
        rule = "local" if is_local else 1.0
        kernel = Gaussian(rule, n_neighbors=k, alpha=alpha, search=search)
        if is_local:
            kernel.factor = factor
        return build_points_affinity(
            "product",
            kernel,
            FeatureMap("euclidean", None),
            Points(self._side_by_side({a.name: a.points.rows for a in views})),
            self.dtype,
            generator=np.random.default_rng(0),
            n_jobs=n_jobs,
        )

    def _side_by_side(self, features: Mapping[str, NDArray[np.floating]]) -> Floats:
        """Feature rows of all views, each over its scale without the factor of a local one."""
        parts = []
        for affinity in self.affinities:
            assert isinstance(affinity, SparseAffinity)
            sigma = float(np.median(affinity.scale))
            if isinstance(affinity.scale, np.ndarray):
                sigma /= float(np.sqrt(affinity.kernel.factor))
            parts.append(features[affinity.name] / np.float64(sigma))
        return np.hstack(parts)

    def against(self, new: Mapping[str, NDArray[np.floating]]) -> list[KernelRows | None]:
        """Kernel rows of new samples in the product; it needs every view."""
        missing = [name for name in self.names if name not in new]
        if missing:
            raise ValueError(
                f'fusion="product" needs every view of a new sample; missing: {", ".join(missing)}'
            )
        if isinstance(self.joint, DensePrecomputed):
            dense = [a for a in self.affinities if isinstance(a, DenseAffinity | DensePrecomputed)]
            logs, coverage = zip(
                *(normalised_logs(K.logs(new[K.name]), K.density, K.alpha) for K in dense),
                strict=True,
            )
            return [KernelRows.of(np.sum(logs, axis=0), np.min(coverage, axis=0))]
        features = {
            K.name: K.features(new[K.name], K.name)
            for K in self.affinities
            if isinstance(K, SparseAffinity)
        }
        return [self.joint.against(self._side_by_side(features))]
