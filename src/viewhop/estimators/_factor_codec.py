"""Encoding low-rank kernels for a cache, and decoding them bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np

from viewhop._storage.codec import Shelf, read_fields, read_number
from viewhop._storage.store import Codec
from viewhop.affinity import LowRank, decode_pivots, encode_pivots
from viewhop.errors import ModelFileError
from viewhop.views import Views

__all__ = ["factors_codec"]


def factors_codec(views: Views) -> Codec[list[LowRank]]:
    """How the low-rank kernels of views are written and read.

    Parameters
    ----------
    views : Views
    """
    n = len(views)

    def encode(factors: list[LowRank], shelf: Shelf) -> dict[str, Any]:
        return {
            "factors": [
                _encode_factor(factor, shelf.within(f"view{l}")) for l, factor in enumerate(factors)
            ]
        }

    def decode(data: Any, shelf: Shelf) -> list[LowRank]:
        (factors,) = read_fields(data, ("factors",), "the low-rank kernels")
        if not isinstance(factors, list) or len(factors) != views.n_views:
            raise ModelFileError(f"expected {views.n_views} low-rank kernels")
        return [
            _decode_factor(state, shelf.within(f"view{l}"), name, n, views[name].shape[1])
            for l, (name, state) in enumerate(zip(views.names, factors, strict=True))
        ]

    return Codec(encode, decode, lambda factors: sum(int(f.rows.nbytes) for f in factors))


def _encode_factor(factor: LowRank, shelf: Shelf) -> dict[str, Any]:
    shelf.put("factor", factor.rows)
    shelf.put("far", factor.far)
    return {**encode_pivots(factor.pivots, shelf), "left_out": float(factor.left_out)}


def _decode_factor(data: Any, shelf: Shelf, name: str, n: int, width: int) -> LowRank:
    kernel, scale, left_out = read_fields(data, ("kernel", "scale", "left_out"), f"view {name!r}")
    pivots = decode_pivots(kernel, scale, shelf, name=name, n=n, width=width)
    return LowRank(
        shelf.numbers("factor", (n, len(pivots.triangle))),
        pivots,
        read_number(left_out, f"view {name!r}: the share left out", least=-1.0, most=1.0),
        shelf.take("far", (n,), np.bool_),
    )
