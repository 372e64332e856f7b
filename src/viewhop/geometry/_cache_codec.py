"""Encoding what a cache keeps of a fit as plain data with arrays, and decoding it bit for bit."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from viewhop._storage.codec import Shelf, read_fields, read_integer, read_text
from viewhop._storage.store import Codec
from viewhop.affinity import KernelRows, decode_kernel, encode_kernel
from viewhop.errors import ModelFileError
from viewhop.geometry._connect import BuiltWalk
from viewhop.geometry._geometry import Geometry
from viewhop.geometry._geometry_codec import (
    decode_evidence,
    decode_spectrum,
    encode_evidence,
    encode_spectrum,
)
from viewhop.spectrum import Spectrum
from viewhop.views import Views
from viewhop.walks import Walk, read_walk, walk_state

__all__ = ["FittedKernels", "Rows", "kernels_codec", "rows_codec", "spectrum_codec"]

Floats = NDArray[np.float64]
#: Kernel rows of consecutive batches of new samples, one entry per kernel of the walk.
Rows = list[list[KernelRows | None]]


@dataclass(frozen=True)
class FittedKernels:
    """The walk of a fit, before it is solved.

    Attributes
    ----------
    built : BuiltWalk
    scores : dict of (dict of float by metric) by view name
        Agreement of the metrics that were tried; empty without evidence.
    agreement : (n_views, n_views) array or None
    latest : dict of Geometry by text
        The latest geometry of a fit on this walk, by what decides its eigenpairs: the next fit,
        often one at another diffusion time, places samples by the same rule.
    """

    built: BuiltWalk
    scores: dict[str, dict[str, float]]
    agreement: Floats | None
    latest: dict[str, Geometry] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def pieces(self) -> NDArray[np.intp]:
        """Connected piece of each node, (n_nodes,)."""
        return self.built.walk.pieces()


def kernels_codec(views: Views, n_jobs: int) -> Codec[FittedKernels]:
    """How the walk over some views is written and read.

    Parameters
    ----------
    views : Views
    n_jobs : int
        Threads.
    """
    names = views.names
    widths = tuple(views.rows(name).shape[1] for name in names)

    def encode(fitted: FittedKernels, shelf: Shelf) -> dict[str, Any]:
        built = fitted.built
        return {
            "walk": walk_state(built.walk, shelf),
            "kernels": [encode_kernel(built.kernels[name], f"view {name!r}") for name in names],
            "generator": json.dumps(built.generator.bit_generator.state),
            "evidence": encode_evidence(fitted.scores, fitted.agreement, built.weights),
        }

    def decode(data: Any, shelf: Shelf) -> FittedKernels:
        walk, kernels, generator, evidence = read_fields(
            data, ("walk", "kernels", "generator", "evidence"), "the kernels"
        )
        if not isinstance(kernels, list) or len(kernels) != len(names):
            raise ModelFileError(f"expected {len(names)} kernels")
        scores, agreement, weights = decode_evidence(evidence, names)
        built = BuiltWalk(
            read_walk(walk, shelf, names=names, widths=widths, dtype=views.dtype, n_jobs=n_jobs),
            weights,
            {
                name: decode_kernel(kernel, f"view {name!r}")
                for name, kernel in zip(names, kernels, strict=True)
            },
            _decode_generator(read_text(generator, "the generator")),
        )
        return FittedKernels(built, scores, agreement)

    return Codec(encode, decode, lambda fitted: _walk_bytes(fitted.built.walk))


def spectrum_codec(walk: Walk) -> Codec[list[Spectrum]]:
    """How the eigenpairs of a walk are written and read; an empty list says that none converged.

    Parameters
    ----------
    walk : Walk
    """

    def encode(spectra: list[Spectrum], shelf: Shelf) -> dict[str, Any]:
        return {"spectra": [encode_spectrum(one, shelf) for one in spectra]}

    def decode(data: Any, shelf: Shelf) -> list[Spectrum]:
        (spectra,) = read_fields(data, ("spectra",), "the eigenpairs")
        if not isinstance(spectra, list) or len(spectra) > 1:
            raise ModelFileError("expected one spectrum, or none")
        return [decode_spectrum(one, shelf, walk) for one in spectra]

    return Codec(encode, decode, lambda spectra: sum(_spectrum_bytes(one) for one in spectra))


def rows_codec(widths: Sequence[int], n_rows: Sequence[int]) -> Codec[Rows]:
    """How kernel rows of new samples are written and read.

    Parameters
    ----------
    widths : sequence of int
        Training rows of each kernel of the walk; new samples may need only the first of them.
    n_rows : sequence of int
        New samples of each batch.
    """

    def encode(batches: Rows, shelf: Shelf) -> dict[str, Any]:
        return {
            "batches": [
                [
                    None if part is None else _encode_rows(part, shelf.within(f"{b}/{l}"))
                    for l, part in enumerate(batch)
                ]
                for b, batch in enumerate(batches)
            ]
        }

    def decode(data: Any, shelf: Shelf) -> Rows:
        (batches,) = read_fields(data, ("batches",), "the kernel rows")
        if not isinstance(batches, list) or len(batches) != len(n_rows):
            raise ModelFileError(f"expected {len(n_rows)} batches of kernel rows")
        return [
            [
                None if part is None else _decode_rows(part, shelf.within(f"{b}/{l}"), n, width)
                for l, (part, width) in enumerate(zip(batch, widths, strict=False))
            ]
            for b, (batch, n) in enumerate(zip(batches, n_rows, strict=True))
        ]

    return Codec(encode, decode, _rows_bytes)


def _encode_rows(rows: KernelRows, shelf: Shelf) -> dict[str, Any]:
    shelf.put("peaks", rows.peaks)
    shelf.put("coverage", rows.coverage)
    if rows.places is not None:
        shelf.put("places", rows.places.astype(np.int64))
    if isinstance(rows.values, np.ndarray):
        shelf.put("values", rows.values)
    else:
        shelf.put_csr(rows.values)
    return {"is_dense": isinstance(rows.values, np.ndarray), "n_stored": rows.values.shape[0]}


def _decode_rows(data: Any, shelf: Shelf, n: int, width: int) -> KernelRows:
    is_dense, n_stored = read_fields(data, ("is_dense", "n_stored"), "kernel rows")
    p = read_integer(n_stored, "the number of kernel rows", most=n)
    places = shelf.places("places", n, (p,)) if shelf.has("places") else None
    if places is None and p != n:
        raise ModelFileError(f"expected {n} kernel rows, got {p}")
    kinds = (np.float32, np.float64)
    values: Any
    if is_dense:
        values = shelf.take("values", (p, width), kinds)
    else:
        entries = shelf.take("values", (-1,), kinds)
        indices = shelf.take("indices", entries.shape, (np.int32, np.int64))
        starts = shelf.take("indptr", (p + 1,), (np.int32, np.int64))
        bounds = starts[0] == 0 and starts[-1] == entries.size and (np.diff(starts) >= 0).all()
        if not bounds or (indices.size and not 0 <= indices.min() <= indices.max() < width):
            raise ModelFileError("stored pairs of kernel rows point beyond the training samples")
        values = csr_array((entries, indices, starts), shape=(p, width))
    return KernelRows(values, shelf.take("peaks", (n,)), shelf.take("coverage", (n,)), places)


def _decode_generator(text: str) -> np.random.Generator:
    generator = np.random.default_rng(0)
    generator.bit_generator.state = json.loads(text)
    return generator


def _walk_bytes(walk: Walk) -> int:
    kernels = {id(K): K for K in (*walk.affinities, *walk.kernels)}
    # With room for what the latest fit keeps for the next one.
    vectors = 6 * 20 * int(walk.degrees.nbytes)
    return sum(int(K.nbytes) for K in kernels.values()) + vectors


def _spectrum_bytes(spectrum: Spectrum) -> int:
    return 2 * int(spectrum.eigenvectors.nbytes) + int(spectrum.stationary.nbytes)


def _rows_bytes(batches: Rows) -> int:
    total = 0
    for part in (part for batch in batches for part in batch if part is not None):
        values = part.values
        stored = (
            (values,)
            if isinstance(values, np.ndarray)
            else (values.data, values.indices, values.indptr)
        )
        total += sum(array.nbytes for array in (*stored, part.peaks, part.coverage))
    return total
