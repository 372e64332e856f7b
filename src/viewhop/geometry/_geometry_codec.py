"""Encoding a geometry as plain data with arrays, and decoding it bit for bit.

Values that can be recomputed exactly are not stored. Sums whose rounding depends on the number of
threads are: densities, degrees and the spectrum.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewhop._storage.codec import (
    Shelf,
    encode_value,
    read_fields,
    read_integer,
    read_number,
    read_text,
)
from viewhop.errors import ModelFileError
from viewhop.geometry._geometry import FitRecord, Geometry
from viewhop.geometry._schema_codec import decode_schema, encode_schema
from viewhop.spectrum import Spectrum
from viewhop.walks import Walk, read_walk, walk_state

__all__ = [
    "decode_evidence",
    "decode_geometry",
    "decode_spectrum",
    "encode_evidence",
    "encode_geometry",
    "encode_spectrum",
]

#: Largest agreement of two views, which is at most 1 beyond chance.
MOST_AGREEMENT = 1e6
#: Smaller eigenvalues are not positive beyond rounding, so no fit keeps them.
LEAST_EIGENVALUE = 1e-20
#: Relative difference that rounding may leave in values that were computed in another order.
ROUNDING = 1e-4
_STAGES = ("kernels", "solve", "extension")
#: Stages that older versions did not have.
_LATER_STAGES = ("selection",)
#: Values of `output` once "auto" is resolved.
_OUTPUTS = ("concat", "mean", "consensus")


def encode_geometry(geometry: Geometry, shelf: Shelf) -> dict[str, Any]:
    """A geometry as plain data.

    Parameters
    ----------
    geometry : Geometry
    shelf : Shelf
        Receives the arrays.
    """
    record = geometry.record
    return {
        "schema": encode_schema(geometry.schema, shelf),
        "n_steps": encode_value(geometry.n_steps, shelf, "the number of steps"),
        "output": geometry.output,
        "record": {
            "n_pieces": int(record.n_pieces),
            "memory": int(record.memory),
            **encode_evidence(record.metric_scores, record.agreement, record.view_weights),
        },
        "walk": walk_state(geometry.walk, shelf),
        "spectrum": encode_spectrum(geometry.spectrum, shelf),
    }


def decode_geometry(
    data: Any,
    shelf: Shelf,
    *,
    n_jobs: int,
    walks: Mapping[str, type[Walk]] | None = None,
) -> Geometry:
    """A geometry from plain data; ModelFileError if the data are inconsistent.

    Parameters
    ----------
    data : object
        As `encode_geometry` wrote it.
    shelf : Shelf
        Provides the arrays.
    n_jobs : int
        Number of threads.
    walks : dict of Walk classes by fusion, or None
        Classes to use instead of those of `viewhop.walks.FUSIONS`.
    """
    keys = ("schema", "n_steps", "output", "record", "walk", "spectrum")
    schema, n_steps, output, record, walk, spectrum = read_fields(data, keys, "the geometry")
    views = decode_schema(schema, shelf)
    fitted = read_walk(
        walk,
        shelf,
        names=views.names,
        widths=views.widths,
        dtype=views.dtype,
        n_jobs=n_jobs,
        classes=walks,
    )
    if read_text(output, "the output", _OUTPUTS) != "concat" and (
        fitted.is_fused or len(views.names) == 1
    ):
        raise ModelFileError(f"one set of coordinates has no {output} over views")
    if output == "consensus" and fitted.hub is None:
        raise ModelFileError("a consensus needs a hop matrix of rank one")
    read_number(n_steps, "the number of steps", least=0.0, most=sys.float_info.max)
    return Geometry(
        fitted,
        decode_spectrum(spectrum, shelf, fitted),
        views,
        n_steps,
        output,
        _decode_record(record, views.names, fitted.n_nodes),
    )


def encode_evidence(
    scores: Mapping[str, Mapping[str, float]],
    agreement: NDArray[np.float64] | None,
    weights: Mapping[str, float],
) -> dict[str, Any]:
    """What was learned of metrics and views as plain data.

    Parameters
    ----------
    scores, agreement, weights
        ``metric_scores``, ``agreement`` and ``view_weights`` of a `FitRecord`.
    """
    return {
        "metric_scores": {name: dict(own) for name, own in scores.items()},
        "agreement": None if agreement is None else _encode_matrix(agreement),
        "view_weights": dict(weights),
    }


def decode_evidence(
    data: Any, names: Sequence[str]
) -> tuple[dict[str, dict[str, float]], NDArray[np.float64] | None, dict[str, float]]:
    """What `encode_evidence` wrote; ModelFileError if it is not that of views with these names."""
    scores, agreement, weights = read_fields(
        data, ("metric_scores", "agreement", "view_weights"), "the evidence"
    )
    return (
        _decode_scores(scores, names),
        None if agreement is None else _decode_matrix(agreement, len(names)),
        _decode_weights(weights, names),
    )


def encode_spectrum(spectrum: Spectrum, shelf: Shelf) -> dict[str, Any]:
    """A spectrum as plain data, with its arrays in the folder ``spectrum`` of a shelf."""
    shelf = shelf.within("spectrum")
    for name in ("eigenvalues", "eigenvectors", "stepped", "residuals", "stationary"):
        shelf.put(name, getattr(spectrum, name))
    return {"solver": spectrum.solver, "n_products": int(spectrum.n_products)}


def decode_spectrum(data: Any, shelf: Shelf, walk: Walk) -> Spectrum:
    """The spectrum of a walk: possible eigenvalues, and vectors of the lengths that they have."""
    shelf = shelf.within("spectrum")
    solver, n_products = read_fields(data, ("solver", "n_products"), "the spectrum")
    most = walk.largest_possible
    values = shelf.numbers("eigenvalues", (-1,), least=LEAST_EIGENVALUE, most=most * (1.0 + 1e-6))
    if not values.size or (np.diff(values) > 0).any():
        raise ModelFileError("the spectrum: expected eigenvalues, the largest first")
    shape = walk.n_nodes, values.size
    spectrum = Spectrum(
        values,
        shelf.numbers("eigenvectors", shape),
        shelf.numbers("stepped", shape),
        shelf.numbers("residuals", (values.size,), least=0.0, most=2.0 * most + ROUNDING),
        shelf.numbers("stationary", (walk.n_nodes,), least=0.0, most=1.0 + ROUNDING),
        read_text(solver, "the solver"),
        read_integer(n_products, "the number of products"),
    )
    if not np.abs(spectrum.stationary - walk.stationary).max() <= ROUNDING:
        raise ModelFileError("the spectrum: its stationary distribution is not that of the walk")
    _check_lengths(spectrum)
    return spectrum


def _check_lengths(spectrum: Spectrum) -> None:
    """Raise ModelFileError unless eigenvectors have length 1, and λ after a step, up to accuracy.

    Lengths are weighted by the stationary distribution. A large `tol` leaves them inaccurate.
    """
    weights, values = spectrum.stationary[:, None], spectrum.eigenvalues
    own, moved = (
        np.sqrt((weights * np.square(part)).sum(axis=0))
        for part in (spectrum.eigenvectors, spectrum.stepped)
    )
    slack = 0.1 + 2.0 * spectrum.residuals
    is_unit = np.abs(own - 1.0) <= slack / values
    is_moved = np.abs(moved - values * own) <= slack
    unreached = spectrum.eigenvectors[spectrum.stationary <= 0]
    if not (is_unit.all() and is_moved.all()) or unreached.any():
        raise ModelFileError("the spectrum: its eigenvectors do not have their lengths")


def _decode_record(data: Any, names: Sequence[str], n_nodes: int) -> FitRecord:
    n_pieces, memory, timings, scores, agreement, weights = read_fields(
        data,
        ("n_pieces", "memory"),
        "the record",
        optional={"timings": None, "metric_scores": {}, "agreement": None, "view_weights": {}},
    )
    return FitRecord(
        read_integer(n_pieces, "the number of pieces", least=1, most=n_nodes),
        read_integer(memory, "the memory of the fit"),
        {} if timings is None else _decode_timings(timings),
        _decode_scores(scores, names),
        None if agreement is None else _decode_matrix(agreement, len(names)),
        _decode_weights(weights, names),
    )


def _decode_timings(data: Any) -> dict[str, float]:
    """Seconds by stage, which files of earlier versions have."""
    later = dict.fromkeys(_LATER_STAGES, 0.0)
    seconds = dict(
        zip(
            (*_STAGES, *_LATER_STAGES),
            read_fields(data, _STAGES, "the timings", optional=later),
            strict=True,
        )
    )
    return {
        stage: read_number(seconds[stage], "the timings", least=0.0)
        for stage in (*_LATER_STAGES, *_STAGES)
    }


def _decode_scores(data: Any, names: Sequence[str]) -> dict[str, dict[str, float]]:
    """Agreement by view and metric."""
    scores = {name: _decode_numbers(own, f"the metrics of {name!r}") for name, own in _items(data)}
    if not set(scores) <= set(names):
        raise ModelFileError("the scores of metrics: expected some of the views")
    return scores


def _items(data: Any) -> list[tuple[str, Any]]:
    if not isinstance(data, dict):
        raise ModelFileError(f"expected an object with keys, got {type(data).__name__}")
    return [*data.items()]


def _decode_numbers(data: Any, where: str) -> dict[str, float]:
    return {
        key: read_number(entry, where, least=-MOST_AGREEMENT, most=MOST_AGREEMENT)
        for key, entry in _items(data)
    }


def _decode_weights(data: Any, names: Sequence[str]) -> dict[str, float]:
    where = "the weights of the views"
    weights = {
        name: read_number(weight, where, least=0.0, most=1.0) for name, weight in _items(data)
    }
    if weights and ([*weights] != [*names] or max(weights.values()) < 1.0):
        raise ModelFileError(f"{where}: expected one for each view, the largest of them 1")
    return weights


def _encode_matrix(matrix: NDArray[np.float64]) -> list[list[float | None]]:
    return [[float(x) if np.isfinite(x) else None for x in row] for row in matrix]


def _decode_matrix(data: Any, size: int) -> NDArray[np.float64]:
    where = "the agreement of the views"
    if (
        not isinstance(data, list)
        or [len(r) if isinstance(r, list) else -1 for r in data] != [size] * size
    ):
        raise ModelFileError(f"{where}: expected {size} rows of {size} numbers")
    return np.array(
        [
            [
                np.nan
                if x is None
                else read_number(x, where, least=-MOST_AGREEMENT, most=MOST_AGREEMENT)
                for x in row
            ]
            for row in data
        ]
    )
