"""Encoding canonical functions as plain data with arrays, and decoding them bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewhop._storage.codec import LARGEST, Shelf, read_fields, read_number
from viewhop.affinity import Pivots, decode_pivots, encode_pivots
from viewhop.errors import ModelFileError
from viewhop.estimators._canonical import Canonical, CanonicalMap
from viewhop.geometry import decode_schema, encode_schema

__all__ = ["decode_canonical", "encode_canonical"]

Floats = NDArray[np.float64]

#: Relative difference that rounding may leave.
ROUNDING = 1e-3
#: Times that variates may be longer than exact ones, if γ is so small that they are rounding.
LONGER = 1e3
#: Largest number in the arrays of a map, per precision of its variates.
MOST = {4: 1e30, 8: LARGEST}


def encode_canonical(canonical_map: CanonicalMap, shelf: Shelf) -> dict[str, Any]:
    """A canonical map as plain data.

    Parameters
    ----------
    canonical_map : CanonicalMap
    shelf : Shelf
        Receives the arrays.
    """
    schema, canonical = canonical_map.schema, canonical_map.canonical
    shelf.put("correlations", canonical.correlations)
    views = []
    for l, (name, pivots) in enumerate(zip(schema.names, canonical_map.pivots, strict=True)):
        part = shelf.within(f"view{l}")
        part.put("embedding", canonical_map.view_embeddings[name])
        part.put("vectors", canonical.vectors[l])
        part.put("offset", canonical.centres[l])
        part.put("weights", canonical.weights[l])
        for m in range(len(schema.names)):
            if m != l:
                part.put(f"regression{m}", canonical.regressions[l, m])
        left_out = float(canonical_map.left_out[name])
        views.append({**encode_pivots(pivots, part), "left_out": left_out})
    return {"schema": encode_schema(schema, shelf), "views": views}


def decode_canonical(data: Any, shelf: Shelf) -> CanonicalMap:
    """A canonical map from plain data; ModelFileError if the data are inconsistent.

    Parameters
    ----------
    data : object
        As `encode_canonical` wrote it.
    shelf : Shelf
        Provides the arrays.
    """
    encoded, states = read_fields(data, ("schema", "views"), "the canonical functions")
    schema = decode_schema(encoded, shelf)
    n_views = len(schema.names)
    if n_views < 2 or not isinstance(states, list) or len(states) != n_views:
        raise ModelFileError("the canonical functions: expected at least two views, each once")
    correlations = shelf.numbers("correlations", (-1,), above=0.0, most=1.0 + ROUNDING)
    if not correlations.size or (np.diff(correlations) > 0).any():
        raise ModelFileError("the canonical functions: expected correlations, the largest first")
    n, r = shelf.within("view0").length("embedding"), correlations.size
    canonical = Canonical(correlations, [], [], [], {})
    pivots: list[Pivots] = []
    blocks, left_out = [], {}
    for l, (name, state) in enumerate(zip(schema.names, states, strict=True)):
        part, most = shelf.within(f"view{l}"), MOST[schema.dtype.itemsize]
        kernel, scale, missing = read_fields(
            state, ("kernel", "scale", "left_out"), f"view {name!r}"
        )
        own = decode_pivots(kernel, scale, part, name=name, n=n, width=schema.widths[l])
        shape = len(own.triangle), r
        blocks.append(part.numbers("embedding", (n, r), schema.dtype))
        canonical.vectors.append(part.numbers("vectors", (n, r), least=-most, most=most))
        canonical.centres.append(part.numbers("offset", shape[:1]))
        canonical.weights.append(part.numbers("weights", shape, least=-most, most=most))
        for m in range(n_views):
            if m != l:
                canonical.regressions[l, m] = part.numbers(
                    f"regression{m}", shape, least=-most, most=most
                )
        left_out[name] = read_number(
            missing, f"view {name!r}: left_out", least=-ROUNDING, most=1.0 + ROUNDING
        )
        pivots.append(own)
    _check_lengths(blocks)
    _check_variates(canonical, pivots, blocks)
    return CanonicalMap(
        schema,
        canonical,
        tuple(pivots),
        dict(zip(schema.names, blocks, strict=True)),
        np.hstack(blocks),
        {own.name: len(own.triangle) for own in pivots},
        left_out,
    )


def _check_lengths(blocks: list[NDArray[np.floating]]) -> None:
    """Raise ModelFileError if variates are far longer than those of a fit."""
    n, n_views = len(blocks[0]), len(blocks)
    squares = sum(np.square(block, dtype=np.float64).sum(axis=0) for block in blocks)
    if not np.all((squares <= LONGER**2 * n * n_views) & (squares > 0)):
        raise ModelFileError("the canonical functions: variates do not have the lengths of a fit")


def _check_variates(
    canonical: Canonical, pivots: list[Pivots], blocks: list[NDArray[np.floating]]
) -> None:
    """Raise ModelFileError unless the functions give the pivots the variates that they have.

    Predictions from another view are only known to be no longer than variates.
    """
    most = LONGER * np.sqrt(len(blocks[0]) * len(blocks))
    unit = 8.0 * float(np.finfo(np.float64).eps)
    for l, own in enumerate(pivots):
        rows = own.triangle - canonical.centres[l]
        known = blocks[l][own.columns]
        variates = rows @ canonical.weights[l]
        slack = ROUNDING * np.abs(blocks[l]).max(axis=0)
        # Rounding of the product, which counts if γ is so small that weights are huge.
        slack = slack + unit * len(rows) * (np.abs(rows) @ np.abs(canonical.weights[l]))
        predicted = [
            rows @ table for (view, _), table in canonical.regressions.items() if view == l
        ]
        if not (np.abs(variates - known) <= slack).all():
            raise ModelFileError(f"view {own.name!r}: its functions do not give its variates")
        if not all((np.abs(part) <= most).all() for part in predicted):
            raise ModelFileError(f"view {own.name!r}: its predictions are longer than variates")
