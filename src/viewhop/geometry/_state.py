"""State: fitted walks and spectra as plain data with arrays, and back, to the last bit.

What is computed from the rest by exact arithmetic is not held. Sums that another number of threads
would round otherwise are: densities, degrees, and the spectrum.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from viewhop._storage.codec import (
    Shelf,
    decode_kernel,
    encode_kernel,
    read_fields,
    read_integer,
    read_number,
    read_text,
    read_texts,
)
from viewhop.affinity import Affinity
from viewhop.affinity._dense import DenseAffinity, DensePrecomputed
from viewhop.affinity._sparse import SparseAffinity, SparsePrecomputed
from viewhop.affinity._tiles import Tiles
from viewhop.errors import ModelFileError
from viewhop.kernels import DistanceKernel, Gaussian, Kernel, Precomputed
from viewhop.neighbours import FeatureMap, Index, Points
from viewhop.spectrum import Spectrum
from viewhop.views import RowMap, Schema
from viewhop.walks import AlternatingWalk, HopWalk, ProductWalk, SumWalk, Walk

__all__ = [
    "layout",
    "layout_state",
    "spectrum",
    "spectrum_state",
    "walk",
    "walk_state",
]

Floats = NDArray[np.float64]

_WALKS: dict[str, type[Walk]] = {
    "hop": HopWalk,
    "sum": SumWalk,
    "product": ProductWalk,
    "alternating": AlternatingWalk,
}
_FLOATS = (np.float32, np.float64)
_PRODUCT = "the product"


# --- what a fit saw -----------------------------------------------------------------------------


def layout_state(seen: Schema) -> dict[str, Any]:
    """A layout as plain data."""
    return {
        "names": [*seen.names],
        "widths": [*map(int, seen.widths)],
        "feature_names": [None if names is None else [*names] for names in seen.feature_names],
        "dtype": str(seen.dtype),
    }


def layout(found: Any) -> Schema:
    """A layout from plain data."""
    keys = ("names", "widths", "feature_names", "dtype")
    names, widths, labels, dtype = read_fields(found, keys, "the views")
    names = read_texts(names, "the names of the views")
    if not names or len(set(names)) < len(names):
        raise ModelFileError("the names of the views: expected some, each of them once")
    if not all(isinstance(part, list) and len(part) == len(names) for part in (widths, labels)):
        raise ModelFileError(f"the views: expected widths and feature names of {len(names)} views")
    widths = tuple(read_integer(width, "the width of a view", least=1) for width in widths)
    return Schema(
        names,
        widths,
        tuple(
            None if part is None else read_texts(part, "the feature names of a view", width)
            for part, width in zip(labels, widths, strict=True)
        ),
        np.dtype(read_text(dtype, "the dtype of the views", ("float32", "float64"))),
    )


# --- spectra ------------------------------------------------------------------------------------


def spectrum_state(pairs: Spectrum, shelf: Shelf) -> dict[str, Any]:
    """A spectrum as plain data."""
    for name in ("eigenvalues", "eigenvectors", "stepped", "residuals", "stationary"):
        shelf.put(name, getattr(pairs, name))
    return {"solver": pairs.solver, "n_products": int(pairs.n_products)}


def spectrum(found: Any, shelf: Shelf, n_nodes: int) -> Spectrum:
    """A spectrum of a walk on `n_nodes` nodes, from plain data."""
    solver, n_products = read_fields(found, ("solver", "n_products"), "the spectrum")
    values = shelf.numbers("eigenvalues", (-1,), above=0.0)
    if not values.size or (np.diff(values) > 0).any():
        raise ModelFileError("the spectrum: eigenvalues are some, the largest first")
    shape = n_nodes, values.size
    return Spectrum(
        values,
        shelf.numbers("eigenvectors", shape),
        shelf.numbers("stepped", shape),
        shelf.numbers("residuals", (values.size,), least=0.0),
        shelf.numbers("stationary", (n_nodes,), least=0.0),
        read_text(solver, "the solver"),
        read_integer(n_products, "the number of products"),
    )


# --- walks --------------------------------------------------------------------------------------


def walk_state(fitted: Walk, kernels: Mapping[str, Kernel], shelf: Shelf) -> dict[str, Any]:
    """A walk and its kernels as plain data.

    Parameters
    ----------
    fitted : Walk
    kernels : dict of Kernel by view name
        Those that the affinities were built by.
    shelf : Shelf
        Gets the arrays.
    """
    (kind,) = (name for name, known in _WALKS.items() if type(fitted) is known)
    rows = fitted.rows
    for l in range(rows.n_views):
        if not rows.is_whole:
            shelf.within(f"view{l}").put("samples", rows.samples(l).astype(np.int64))
    shelf.put("degrees", fitted.degrees)
    if isinstance(fitted, HopWalk):
        shelf.put("hops", fitted.hops)
    joint = None
    if isinstance(fitted, ProductWalk):
        inside = shelf.within("product")
        if isinstance(fitted.joint, SparseAffinity):
            joint = _affinity_state(fitted.joint, fitted.joint.kernel, inside)
        else:
            assert isinstance(fitted.joint, DensePrecomputed)
            inside.put("density", fitted.joint.density)
    return {
        "fusion": kind,
        "n_samples": int(fitted.n_samples),
        "kernels": [
            _affinity_state(K, kernels[K.name], shelf.within(f"view{l}"))
            for l, K in enumerate(fitted.affinities)
        ],
        "product": joint,
    }


def walk(found: Any, seen: Schema, shelf: Shelf, *, n_jobs: int) -> tuple[Walk, dict[str, Kernel]]:
    """A walk and the kernels that its affinities were built by, from plain data."""
    keys = ("fusion", "n_samples", "kernels", "product")
    fusion, n_samples, listed, product = read_fields(found, keys, "the walk")
    kind = _WALKS[read_text(fusion, "the fusion", [*_WALKS])]
    n = read_integer(n_samples, "the number of samples", least=3, most=2**40)
    if not isinstance(listed, list) or len(listed) != len(seen.names):
        raise ModelFileError(f"the walk: expected the kernels of {len(seen.names)} views")
    rows = _nodes(len(seen.names), n, shelf)
    if not rows.is_whole and kind not in (HopWalk, SumWalk):
        raise ModelFileError(f"the walk: {fusion} needs every view of every sample")
    kernels, held = {}, []
    for l, (name, width, state) in enumerate(zip(seen.names, seen.widths, listed, strict=True)):
        part = shelf.within(f"view{l}")
        of_view = _Held(f"view {name!r}", name, rows.sizes[l], width, seen.dtype, n_jobs)
        kernels[name], affinity = of_view.restored(state, part)
        if isinstance(kernels[name], Precomputed) and (width != n or rows.is_repeated(l)):
            raise ModelFileError(
                f"view {name!r}: a precomputed kernel is {n} wide, with each sample once"
            )
        held.append(affinity)
    if kind is not ProductWalk and product is not None:
        raise ModelFileError(f"the walk: {fusion} has no product")
    fitted = _fused(kind, held, rows, shelf, product, n_jobs)
    fitted.__dict__["degrees"] = shelf.numbers("degrees", (fitted.n_nodes,), least=0.0)
    if not fitted.degrees.any():
        raise ModelFileError("the walk reaches no sample")
    return fitted, kernels


def _fused(
    kind: type[Walk],
    held: list[Affinity],
    rows: RowMap,
    shelf: Shelf,
    product: Any,
    n_jobs: int,
) -> Walk:
    """The walk over affinities."""
    if kind is HopWalk:
        hops = shelf.numbers("hops", (len(held), len(held)), least=0.0)
        try:
            return HopWalk(held, hops, rows)
        except ValueError as error:
            raise ModelFileError(f"the walk: {error}") from error
    if kind is SumWalk:
        return SumWalk(held, rows)
    if kind is AlternatingWalk:
        return AlternatingWalk(held)
    return ProductWalk(held, joint=_joint(held, shelf.within("product"), product, n_jobs))


def _joint(held: list[Affinity], shelf: Shelf, product: Any, n_jobs: int) -> Affinity:
    """The product of kernels."""
    n, dtype = held[0].n_samples, held[0].dtype
    dense = [a for a in held if isinstance(a, DenseAffinity | DensePrecomputed)]
    if len(dense) == len(held):
        if product is not None:
            raise ModelFileError("the product of dense kernels is made from them")
        return DensePrecomputed(
            "product",
            Tiles.of_product([a.tiles for a in dense]),
            0.0,
            n_jobs=n_jobs,
            density=shelf.numbers("density", (n,), above=0.0),
        )
    sparse = [a for a in held if isinstance(a, SparseAffinity)]
    if len(sparse) < len(held) or not all(isinstance(a.kernel, Gaussian) for a in sparse):
        raise ModelFileError("the product: expected dense kernels, or Gaussians of neighbours")
    width = sum(a.points.rows.shape[1] for a in sparse)
    of_all = _Held(_PRODUCT, "product", n, width, dtype, n_jobs)
    _, joint = of_all.restored(product, shelf)
    if not isinstance(joint, SparseAffinity) or joint.features.metric != "euclidean":
        raise ModelFileError("the product of kernels of neighbours is one of them")
    return joint


def _nodes(n_views: int, n_samples: int, shelf: Shelf) -> RowMap:
    """Which samples the rows of each view are."""
    found: list[NDArray[np.intp] | None] = []
    sizes = []
    for l in range(n_views):
        part = shelf.within(f"view{l}")
        found.append(part.places("samples", n_samples) if part.has("samples") else None)
        samples = found[-1]
        sizes.append(part.length("density") if samples is None else samples.size)
        if samples is None and sizes[-1] != n_samples:
            raise ModelFileError(f"view {l} has {sizes[-1]} rows for {n_samples} samples")
    # Counted first: a number of samples that the rows do not have would take any memory.
    rows = RowMap(sizes, found, n_samples)
    if min(sizes) < 3 or sum(sizes) < n_samples or not rows.observed.any(axis=1).all():
        raise ModelFileError("the views: each has 3 samples or more, and each sample is in one")
    return rows


# --- affinities ---------------------------------------------------------------------------------


def _affinity_state(held: Affinity, rule: Kernel, shelf: Shelf) -> dict[str, Any]:
    """An affinity as plain data."""
    assert isinstance(held, DenseAffinity | DensePrecomputed | SparseAffinity | SparsePrecomputed)
    shelf.put("density", held.density)
    if isinstance(held, DenseAffinity | DensePrecomputed):
        shelf.put("triangle", held.tiles.packed())
    else:
        shelf.put("values", held.values.data)
        shelf.put("indices", held.values.indices)
        shelf.put("indptr", held.values.indptr)
    scale = n_probe = None
    if isinstance(held, DenseAffinity | SparseAffinity):
        shelf.put("rows", held.points.rows)
        if held.features.deviation is not None:
            shelf.put("deviation", held.features.deviation)
        if isinstance(held.scale, np.ndarray):
            shelf.put("scale", held.scale)
        else:
            scale = float(held.scale)
    if isinstance(held, SparseAffinity):
        shelf.put("radius", held.radius)
        if held.index is not None:
            shelf.put("centres", held.index.centres.astype(np.int64))
            n_probe = int(held.index.n_probe)
    if isinstance(held, SparsePrecomputed):
        shelf.put("threshold", held.threshold)
    return {
        "kernel": encode_kernel(rule, f"the kernel of view {held.name!r}"),
        "scale": scale,
        "recall": float(held.recall),
        "n_probe": n_probe,
    }


class _Held:
    """An affinity to be made again.

    Parameters
    ----------
    where : str
        What errors call it.
    name : str
        The view.
    n, width : int
        Rows and features.
    dtype : dtype of the kernel
    n_jobs : int
        Threads.
    """

    def __init__(
        self, where: str, name: str, n: int, width: int, dtype: np.dtype[np.floating], n_jobs: int
    ) -> None:
        self.where = where
        self.name = name
        self.n = n
        self.width = width
        self.dtype = dtype
        self.n_jobs = n_jobs

    def restored(self, found: Any, shelf: Shelf) -> tuple[Kernel, Affinity]:
        """The kernel and the affinity from plain data."""
        state, scale, recall, n_probe = read_fields(
            found, ("kernel", "scale", "recall", "n_probe"), self.where
        )
        rule = decode_kernel(state, f"the kernel of {self.where}")
        density = shelf.numbers("density", (self.n,), above=0.0)
        made: Affinity
        if isinstance(rule, Precomputed):
            if scale is not None or n_probe is not None:
                raise ModelFileError(f"{self.where}: a precomputed kernel has no scale or lists")
            made = self._precomputed(rule, density, shelf)
        else:
            assert isinstance(rule, DistanceKernel)
            made = self._measured(rule, density, scale, n_probe, shelf)
        made.n_jobs = self.n_jobs
        made.recall = read_number(recall, f"{self.where}: recall", least=0.0)
        return rule, made

    def _precomputed(self, rule: Precomputed, density: Floats, shelf: Shelf) -> Affinity:
        if rule.n_neighbors is None:
            return DensePrecomputed(self.name, self._tiles(shelf), rule.alpha, density=density)
        threshold = shelf.numbers("threshold", (self.n,), least=0.0)
        return SparsePrecomputed(self.name, rule, threshold, self._values(shelf), density=density)

    def _measured(
        self, rule: DistanceKernel, density: Floats, scale: Any, n_probe: Any, shelf: Shelf
    ) -> Affinity:
        features = FeatureMap(rule.metric, self._deviation(rule, shelf))
        rows = shelf.numbers("rows", (self.n, self.width), _FLOATS)
        points = Points(rows, rounding=features.rounding, n_jobs=self.n_jobs)
        sigma = self._scale(rule, scale, shelf)
        if rule.n_neighbors is None:
            if n_probe is not None:
                raise ModelFileError(f"{self.where}: a dense kernel searches nothing")
            return DenseAffinity(
                self.name, rule, features, points, sigma, self._tiles(shelf), density=density
            )
        return SparseAffinity(
            self.name,
            rule,
            features,
            points,
            sigma,
            shelf.numbers("radius", (self.n,), least=0.0),
            self._values(shelf),
            index=self._index(points, n_probe, shelf),
            density=density,
        )

    def _deviation(self, rule: DistanceKernel, shelf: Shelf) -> Floats | None:
        if not rule.standardize:
            return None
        return shelf.numbers("deviation", (self.width,), above=0.0)

    def _scale(self, rule: DistanceKernel, scale: Any, shelf: Shelf) -> float | Floats:
        where = f"{self.where}: scale"
        if rule.bandwidth == "local":
            if scale is not None:
                raise ModelFileError(f"{where}: local scales are an array")
            return shelf.numbers("scale", (self.n,), least=0.0)
        return read_number(scale, where, above=0.0)

    def _index(self, points: Points, n_probe: Any, shelf: Shelf) -> Index | None:
        if n_probe is None:
            return None
        centres = shelf.places("centres", self.n)
        if not centres.size or (np.diff(centres) <= 0).any():
            raise ModelFileError(f"{self.where}: lists are around some samples, in order")
        probes = read_integer(n_probe, f"{self.where}: n_probe", least=1, most=centres.size)
        return Index(points, centres, probes)

    def _tiles(self, shelf: Shelf) -> Tiles:
        shape = (self.n * (self.n + 1) // 2,)
        triangle = shelf.numbers("triangle", shape, self.dtype, least=0.0)
        return Tiles.unpacked(triangle, self.n, n_jobs=self.n_jobs)

    def _values(self, shelf: Shelf) -> csr_array:
        """Stored pairs, in rows that are in order and end where they say."""
        n, where = self.n, f"{self.where}: stored pairs"
        data = shelf.numbers("values", (-1,), self.dtype, least=0.0)
        indices = shelf.take("indices", data.shape, (np.int32, np.int64))
        indptr = shelf.take("indptr", (n + 1,), indices.dtype)
        if indptr[0] != 0 or indptr[-1] != data.size or (np.diff(indptr) < 1).any():
            raise ModelFileError(f"{where} do not begin and end with their rows")
        if indices.min() < 0 or indices.max() >= n:
            raise ModelFileError(f"{where} point beyond {n} samples")
        rising = np.diff(indices) > 0
        rising[indptr[1:-1] - 1] = True  # from one row to the next
        if not rising.all():
            raise ModelFileError(f"{where} are not in order")
        return csr_array((data, indices, indptr), shape=(n, n))
