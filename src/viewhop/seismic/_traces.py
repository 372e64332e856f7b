"""obspy's traces as plain data; the process that parses files needs no more than this."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Piece", "pieces_of"]

#: Channel, time of the first sample in nanoseconds since 1970, sampling rate, samples as they came.
Piece = tuple[str, int, float, NDArray[Any]]


def pieces_of(stream: Iterable[Any]) -> Iterator[Piece]:
    """The plain pieces of obspy's traces; masked samples are NaN."""
    for trace in stream:
        data = trace.data
        if np.ma.isMaskedArray(data):
            data = np.ma.filled(data.astype(np.float64), np.nan)
        stats = trace.stats
        yield trace.id, stats.starttime.ns, float(stats.sampling_rate), np.asarray(data)
