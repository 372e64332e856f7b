"""Channels: what one channel recorded, in pieces without gaps, and when."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from viewhop.seismic._event import station_of

__all__ = ["SECOND", "YEAR", "Channel", "Segment", "nanoseconds", "timestamp"]

Samples = NDArray[np.float64]

#: Nanoseconds in a second.
SECOND = 1_000_000_000
#: Seconds that anything asked for may last.
YEAR = 366 * 86_400.0


@dataclass(frozen=True, eq=False)
class Segment:
    """Samples in a row, without a gap.

    Attributes
    ----------
    start : int
        Time of the first sample, in nanoseconds since 1970 in UTC.
    sampling_rate : float
        In Hz.
    data : (n_samples,) array
    """

    start: int
    sampling_rate: float
    data: Samples

    @property
    def end(self) -> int:
        """Time of the sample after the last."""
        return self.time(self.data.size)

    def time(self, sample: float) -> int:
        """Time of a sample, in nanoseconds."""
        return self.start + round(sample * SECOND / self.sampling_rate)

    def sample(self, time: int) -> int:
        """Number of the sample that is nearest to a time; it may lie outside."""
        return round((time - self.start) * self.sampling_rate / SECOND)


@dataclass(frozen=True, eq=False)
class Channel:
    """What one channel of a station recorded.

    Attributes
    ----------
    id : str
        ``NET.STA.LOC.CHA``.
    segments : tuple of Segment
        In the order of time.
    """

    id: str
    segments: tuple[Segment, ...]

    @property
    def station(self) -> str:
        """Network and station, ``NET.STA``."""
        return station_of(self.id)

    @property
    def end(self) -> int:
        """Time of the sample after the last."""
        return max(segment.end for segment in self.segments)

    def between(self, start: int, end: int) -> tuple[Segment, ...]:
        """The segments that have time between two times, in nanoseconds.

        Parameters
        ----------
        start, end : int
        """
        starts, ends = self._bounds
        chosen = self.segments[np.searchsorted(ends, start, "right") : np.searchsorted(starts, end)]
        return tuple(piece for piece in chosen if piece.end > start)

    @cached_property
    def _bounds(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Starts of the segments, and the latest end up to each: those of two rates may overlap."""
        starts = np.array([piece.start for piece in self.segments], dtype=np.int64)
        ends = np.array([piece.end for piece in self.segments], dtype=np.int64)
        return starts, np.maximum.accumulate(ends)

    @property
    def gaps(self) -> list[tuple[int, int]]:
        """When samples are missing between the segments: from, until, in nanoseconds."""
        found = []
        end = self.segments[0].end
        for segment in self.segments[1:]:
            # Segments of two sampling rates may overlap.
            if segment.start > end:
                found.append((end, segment.start))
            end = max(end, segment.end)
        return found

    @property
    def component(self) -> str:
        """The last letter: Z, N or E, mostly."""
        return self.id[-1:]


def nanoseconds(time: Any) -> int:
    """A time in nanoseconds since 1970 in UTC."""
    if hasattr(time, "ns"):  # obspy's UTCDateTime, to its last digit
        return int(time.ns)
    stamp = pd.Timestamp(time)
    if pd.isna(stamp):
        raise ValueError("expected a time, got NaT")
    stamp = stamp.tz_localize("UTC") if stamp.tzinfo is None else stamp
    return int(stamp.as_unit("ns").value)


def timestamp(time: int) -> pd.Timestamp:
    """The Timestamp, in UTC, of nanoseconds since 1970."""
    return pd.Timestamp(time, unit="ns", tz="UTC")
