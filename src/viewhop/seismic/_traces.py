"""Plain data of obspy's traces; the process that parses files imports only this."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Piece", "stream_pieces"]

#: Channel, time of the first sample in nanoseconds since 1970, sampling rate, unchanged samples.
Piece = tuple[str, int, float, NDArray[Any]]


def stream_pieces(stream: Iterable[Any]) -> Iterator[Piece]:
    """Pieces of plain data from obspy's traces; masked samples become NaN."""
    for trace in stream:
        data = trace.data
        if np.ma.isMaskedArray(data):
            data = np.ma.filled(data.astype(np.float64), np.nan)
        stats = trace.stats
        yield trace.id, stats.starttime.ns, float(stats.sampling_rate), np.asarray(data)
