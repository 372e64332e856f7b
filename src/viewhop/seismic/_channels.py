"""Channels: the segments without gaps that one channel recorded, with their times."""

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
#: Longest duration, in seconds, that a parameter accepts.
YEAR = 366 * 86_400.0


@dataclass(frozen=True, eq=False)
class Segment:
    """Consecutive samples without a gap.

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
        """End time: that of the sample after the last, in nanoseconds."""
        return self.time(self.data.size)

    def time(self, sample: float) -> int:
        """Time of a sample, in nanoseconds."""
        return self.start + round(sample * SECOND / self.sampling_rate)

    def sample(self, time: int) -> int:
        """Index of the sample nearest to a time; may lie outside the segment."""
        return round((time - self.start) * self.sampling_rate / SECOND)


@dataclass(frozen=True, eq=False)
class Channel:
    """The recording of one channel of a station.

    Attributes
    ----------
    id : str
        ``NET.STA.LOC.CHA``.
    segments : tuple of Segment
        In order of time.
    """

    id: str
    segments: tuple[Segment, ...]

    @property
    def station(self) -> str:
        """Network and station, ``NET.STA``."""
        return station_of(self.id)

    @property
    def end(self) -> int:
        """End time: that of the sample after the last, in nanoseconds."""
        return max(segment.end for segment in self.segments)

    def between(self, start: int, end: int) -> tuple[Segment, ...]:
        """Segments that overlap the interval between two times, in nanoseconds.

        Parameters
        ----------
        start, end : int
        """
        starts, ends = self._bounds
        chosen = self.segments[np.searchsorted(ends, start, "right") : np.searchsorted(starts, end)]
        return tuple(piece for piece in chosen if piece.end > start)

    @cached_property
    def _bounds(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Segment starts and the running maximum of their ends: two rates may overlap."""
        starts = np.array([piece.start for piece in self.segments], dtype=np.int64)
        ends = np.array([piece.end for piece in self.segments], dtype=np.int64)
        return starts, np.maximum.accumulate(ends)

    @property
    def gaps(self) -> list[tuple[int, int]]:
        """Start and end of each gap between segments, in nanoseconds."""
        gaps = []
        end = self.segments[0].end
        for segment in self.segments[1:]:
            # Segments of two sampling rates may overlap.
            if segment.start > end:
                gaps.append((end, segment.start))
            end = max(end, segment.end)
        return gaps

    @property
    def component(self) -> str:
        """Last letter of the id, usually Z, N or E."""
        return self.id[-1:]


def nanoseconds(time: Any) -> int:
    """Nanoseconds since 1970 in UTC."""
    if hasattr(time, "ns"):  # obspy's UTCDateTime, at full precision
        return int(time.ns)
    stamp = pd.Timestamp(time)
    if pd.isna(stamp):
        raise ValueError("expected a time, got NaT")
    stamp = stamp.tz_localize("UTC") if stamp.tzinfo is None else stamp
    return int(stamp.as_unit("ns").value)


def timestamp(time: int) -> pd.Timestamp:
    """Timestamp in UTC from nanoseconds since 1970."""
    return pd.Timestamp(time, unit="ns", tz="UTC")
