"""Reading affinities back from model files, bit for bit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewhop._storage.codec import Shelf, read_fields, read_integer, read_number
from viewhop.affinity._affinity import Affinity
from viewhop.affinity._dense import DenseAffinity, DensePrecomputed
from viewhop.affinity._edge import Edge
from viewhop.affinity._feature_codec import read_features
from viewhop.affinity._kernel_codec import decode_kernel
from viewhop.affinity._kernel_values import density_power
from viewhop.affinity._row_codec import check_directions, read_rows, rows_differ
from viewhop.affinity._sparse import SparseAffinity
from viewhop.affinity._sparse_precomputed import SparsePrecomputed
from viewhop.affinity._tiles import Tiles
from viewhop.errors import ModelFileError
from viewhop.kernels import DistanceKernel, Precomputed
from viewhop.neighbours import FeatureRows, Index, Points, SparseFeatures

__all__ = [
    "LEAST_SCALE",
    "MOST_DENSITY",
    "MOST_SCALE",
    "ROUNDING",
    "AffinityReader",
    "check_joined",
]

Floats = NDArray[np.float64]

#: Relative difference of sums that were computed in another order, in single precision.
ROUNDING = 1e-4
#: Largest density; one over it is the smallest.
MOST_DENSITY = 1e120
#: Range of scales: distances of the smallest and largest views, divided by them, are finite.
LEAST_SCALE, MOST_SCALE = 1e-157, 1e300
#: Largest distance between rows.
MOST_DISTANCE = 1e160


class AffinityReader:
    """Reads an affinity from plain data; invalid data raise ModelFileError.

    Parameters
    ----------
    where : str
        Name of the affinity in error messages.
    name : str
        The view.
    n, width : int
        Rows and features.
    dtype : dtype of the kernel
    n_jobs : int
        Threads.
    is_joint : bool
        Whether its rows are those of several views side by side.
    """

    def __init__(
        self,
        where: str,
        name: str,
        n: int,
        width: int,
        dtype: np.dtype[np.floating],
        n_jobs: int,
        *,
        is_joint: bool = False,
    ) -> None:
        self.where = where
        self.name = name
        self.n = n
        self.width = width
        self.dtype = dtype
        self.n_jobs = n_jobs
        self.is_joint = is_joint

    def read(self, data: Any, shelf: Shelf) -> Affinity:
        """The affinity from plain data and the arrays of the shelf."""
        state, scale, recall, n_probe = read_fields(
            data, ("kernel", "scale", "recall", "n_probe"), self.where
        )
        kernel = decode_kernel(state, f"the kernel of {self.where}")
        density = shelf.numbers("density", (self.n,), least=1.0 / MOST_DENSITY, most=MOST_DENSITY)
        affinity: Affinity
        if isinstance(kernel, Precomputed):
            if scale is not None or n_probe is not None:
                raise ModelFileError(
                    f"{self.where}: a precomputed kernel has no scale and no n_probe"
                )
            affinity = self._precomputed(kernel, density, shelf)
        else:
            assert isinstance(kernel, DistanceKernel)
            affinity = self._measured(kernel, density, scale, n_probe, shelf)
        affinity.n_jobs = self.n_jobs
        affinity.recall = read_number(recall, f"{self.where}: recall", least=0.0, most=1.0)
        self._check_density(affinity)
        return affinity

    def _check_density(self, affinity: Affinity) -> None:
        """Raise ModelFileError unless densities are the row sums of the plain kernel."""
        density = affinity.density
        power = np.ones(self.n)
        if affinity.kernel.alpha:
            try:
                power = density_power(self.name, density, affinity.kernel.alpha, self.dtype)
            except ValueError as error:
                raise ModelFileError(str(error)) from error
        sums = power * np.asarray(affinity @ power)
        if not (np.abs(sums - density) <= ROUNDING * density).all():
            raise ModelFileError(f"{self.where}: densities are not the row sums of its kernel")

    def _precomputed(self, kernel: Precomputed, density: Floats, shelf: Shelf) -> Affinity:
        if kernel.n_neighbors is None:
            return DensePrecomputed(self.name, kernel, self._tiles(shelf), density=density)
        threshold = shelf.numbers("threshold", (self.n,), least=0.0, most=MOST_DENSITY)
        values = shelf.take_csr(self.n, self.dtype, self.where)
        return SparsePrecomputed(self.name, kernel, threshold, values, density=density)

    def _measured(
        self, kernel: DistanceKernel, density: Floats, scale: Any, n_probe: Any, shelf: Shelf
    ) -> Affinity:
        features = read_features(kernel, self.width, shelf, self.where)
        rows = read_rows(shelf, self.n, self.width, self.where)
        features = replace(features, is_sparse=isinstance(rows, SparseFeatures))
        if not self.is_joint:
            check_directions(rows, features, self.where)
        points = features.points(rows, n_jobs=self.n_jobs)
        sigma = self._scale(kernel, scale, shelf)
        if kernel.n_neighbors is None:
            if n_probe is not None:
                raise ModelFileError(
                    f"{self.where}: n_probe must be null, because a dense kernel searches nothing"
                )
            return DenseAffinity(
                self.name, kernel, features, points, sigma, self._tiles(shelf), density=density
            )
        return SparseAffinity(
            self.name,
            kernel,
            features,
            points,
            sigma,
            self._edge(kernel, shelf),
            shelf.take_csr(self.n, self.dtype, self.where),
            index=self._index(points, n_probe, shelf),
            density=density,
        )

    def _edge(self, kernel: DistanceKernel, shelf: Shelf) -> Edge:
        outer = shelf.numbers("radius", (self.n,), least=0.0, most=MOST_DISTANCE)
        if not kernel.taper:
            return Edge(outer, outer)
        inner = shelf.numbers("inner", (self.n,), least=0.0)
        if (inner > outer).any():
            raise ModelFileError(f"{self.where}: an inner radius is larger than the radius")
        return Edge(inner, outer)

    def _scale(self, kernel: DistanceKernel, scale: Any, shelf: Shelf) -> float | Floats:
        where = f"{self.where}: scale"
        if kernel.bandwidth == "local":
            if scale is not None:
                raise ModelFileError(f"{where}: expected null, because local scales are an array")
            return shelf.numbers("scale", (self.n,), least=LEAST_SCALE, most=MOST_SCALE)
        return read_number(scale, where, least=LEAST_SCALE, most=MOST_SCALE)

    def _index(self, points: Points, n_probe: Any, shelf: Shelf) -> Index | None:
        if n_probe is None:
            return None
        if points.norm != "euclidean":
            raise ModelFileError(f"{self.where}: an index has Euclidean distances only")
        centres = shelf.places("centres", self.n)
        if not centres.size or (np.diff(centres) <= 0).any():
            raise ModelFileError(
                f"{self.where}: the index must be built around some samples, in order"
            )
        probes = read_integer(n_probe, f"{self.where}: n_probe", least=1, most=centres.size)
        return Index(points, centres, probes)

    def _tiles(self, shelf: Shelf) -> Tiles:
        shape = (self.n * (self.n + 1) // 2,)
        triangle = shelf.numbers("triangle", shape, self.dtype, least=0.0, most=MOST_DENSITY)
        return Tiles.unpacked(triangle, self.n, n_jobs=self.n_jobs)


def check_joined(where: str, rows: FeatureRows, joined: FeatureRows) -> None:
    """Raise ModelFileError unless the rows of a joint view are those of the views side by side.

    Parameters
    ----------
    where : str
        Name of the joint view in the error message.
    rows, joined : (n, d) arrays or SparseFeatures
        As stored, and as computed from the views.
    """
    if rows_differ(rows, joined, ROUNDING):
        raise ModelFileError(f"{where}: its rows are not those of the views side by side")
