"""Waveforms: what each channel recorded, in pieces without gaps."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from viewhop.errors import SeismicError
from viewhop.seismic.event import station_of
from viewhop.seismic.summary import LeftOut, Summary
from viewhop.seismic.traces import Piece, pieces_of

__all__ = ["Channel", "Segment", "Waveforms", "as_waveforms"]

Samples = NDArray[np.float64]

#: Nanoseconds in a second.
SECOND = 1_000_000_000
#: Seconds that anything asked for may last.
YEAR = 366 * 86_400.0
#: Beyond this size squares overflow.
_LARGEST = 1e150
#: Two sampling rates are the same if they differ by less than this share.
_SAME_RATE = 1e-6
#: Times that a Timestamp can hold, in nanoseconds.
_FIRST, _LAST = pd.Timestamp.min.value, pd.Timestamp.max.value


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


@dataclass(frozen=True, eq=False)
class Waveforms:
    """What several channels recorded, and what of the input could not be used.

    Attributes
    ----------
    channels : dict of Channel by id
    summary : Summary
        Counts traces.

    Notes
    -----
    Pieces of one channel are joined where they touch or overlap, on the grid of the earliest: none
    is moved by more than half a sample. Where two of them have different values for the same time,
    neither is believed. Such samples, and those that are no number, are gaps. Nothing is filled in.
    Pieces with different sampling rates are kept apart.

    Examples
    --------
    >>> import numpy as np
    >>> from viewhop.seismic.io import Waveforms
    >>> noise = np.random.default_rng(0).normal(size=(2, 4000))
    >>> waveforms = Waveforms.from_arrays(
    ...     {"IS.MMLI..BHZ": noise[0], "IS.HRFI..BHZ": noise[1]},
    ...     start="2010-05-27T16:24:00Z",
    ...     sampling_rate=40.0,
    ... )
    >>> waveforms
    Waveforms(2 channels of 2 stations, 100.0 s each at most)
    """

    channels: Mapping[str, Channel]
    summary: Summary = field(default_factory=lambda: Summary(0, "traces"))

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, ArrayLike], *, start: Any, sampling_rate: float
    ) -> Waveforms:
        """Waveforms of arrays that begin together.

        Parameters
        ----------
        arrays : dict of (n_samples,) arrays by channel
            Named ``NET.STA.LOC.CHA``. NaN is a gap.
        start : str, datetime, Timestamp or UTCDateTime
            In UTC unless it has an offset.
        sampling_rate : float
            In Hz.
        """
        begin = nanoseconds(start)
        pieces = [
            (name, begin, sampling_rate, np.asarray(data, dtype=np.float64))
            for name, data in arrays.items()
        ]
        return cls._of(pieces)

    @classmethod
    def from_stream(cls, stream: Iterable[Any]) -> Waveforms:
        """Waveforms of an obspy Stream, or of a list of Traces.

        Parameters
        ----------
        stream : Stream
            It is not changed. Masked samples are gaps.
        """
        return cls._of(pieces_of(stream))

    @classmethod
    def _of(cls, pieces: Iterable[Piece]) -> Waveforms:
        channels, left_out = assembled(pieces)
        return cls(channels, Summary(len(channels), "traces", tuple(left_out)))

    @property
    def stations(self) -> tuple[str, ...]:
        """Stations, ``NET.STA``, in the order of their channels."""
        return tuple(dict.fromkeys(channel.station for channel in self.channels.values()))

    def __repr__(self) -> str:
        longest = max(
            (
                sum(piece.data.size / piece.sampling_rate for piece in channel.segments)
                for channel in self.channels.values()
            ),
            default=0.0,
        )
        return (
            f"Waveforms({len(self.channels):,} channels of {len(self.stations):,} stations, "
            f"{longest:.1f} s each at most)"
        )


def as_waveforms(given: Any) -> Waveforms:
    """Waveforms as they are, or those of an obspy Stream."""
    if isinstance(given, Waveforms):
        return given
    if hasattr(given, "traces") or isinstance(given, list | tuple):
        return Waveforms.from_stream(given)
    raise TypeError(
        f"expected Waveforms or an obspy Stream, got {type(given).__name__}; files are read by "
        "viewhop.seismic.io.read_waveforms"
    )


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


def assembled(pieces: Iterable[Piece]) -> tuple[dict[str, Channel], list[LeftOut]]:
    """Channels from pieces in any order, and what could not be used of them."""
    left_out: list[LeftOut] = []
    sound: dict[str, list[Segment]] = {}
    for name, start, rate, data in pieces:
        found = _sound(name, start, rate, data, left_out)
        if found:
            sound.setdefault(name, []).extend(found)
    channels = {}
    for name, segments in sound.items():
        joined = [
            piece for piece in _joined(name, segments, left_out) if _alive(name, piece, left_out)
        ]
        if joined:
            channels[name] = Channel(name, tuple(joined))
    return channels, left_out


def _sound(
    name: str, start: int, rate: float, data: NDArray[Any], left_out: list[LeftOut]
) -> list[Segment]:
    """The parts of a piece that are samples."""
    if data.ndim != 1 or data.dtype.kind not in "biuf":
        what = f"expected a row of numbers, got {data.dtype} of shape {data.shape}"
        left_out.append(LeftOut(name, "not samples", what))
        return []
    if not data.size:
        left_out.append(LeftOut(name, "empty", "it has no samples"))
        return []
    if not (math.isfinite(rate) and rate > 0):
        what = f"its sampling rate is {rate:g} Hz: expected a positive number"
        left_out.append(LeftOut(name, "sampling rate", what))
        return []
    end = start + data.size * SECOND / rate
    if not _FIRST <= start <= end <= _LAST:
        what = "its time is outside the years 1678 to 2261: its header is damaged"
        left_out.append(LeftOut(name, "time", what))
        return []
    whole = Segment(start, rate, data.astype(np.float64))
    bad = ~(np.abs(whole.data) <= _LARGEST)  # true for NaN as well
    if not bad.any():
        return [whole]
    left_out.append(
        LeftOut(
            name,
            "not finite",
            f"{int(bad.sum()):,} of its {bad.size:,} samples are masked, no number, or beyond "
            f"{_LARGEST:g}: they are gaps",
            timestamp(whole.time(int(bad.argmax()))),
        )
    )
    return runs(whole, ~bad)


def runs(segment: Segment, kept: NDArray[np.bool_]) -> list[Segment]:
    """The parts of a segment whose samples are kept."""
    edges = np.flatnonzero(np.diff(np.r_[False, kept, False].astype(np.int8)))
    return [
        Segment(segment.time(int(first)), segment.sampling_rate, segment.data[first:last])
        for first, last in edges.reshape(-1, 2)
    ]


def _joined(name: str, segments: Sequence[Segment], left_out: list[LeftOut]) -> list[Segment]:
    """The segments, those that touch or overlap made one, in the order of time."""
    joined: list[Segment] = []
    for rate in _rates(segments):
        same = sorted(
            (piece for piece in segments if _is_same(piece.sampling_rate, rate)),
            key=lambda piece: piece.start,
        )
        group: list[Segment] = []
        length = 0
        for piece in same:
            place = group[0].sample(piece.start) if group else 0
            if group and place > length:
                joined.extend(_merged(name, group, length, left_out))
                group, length, place = [], 0, 0
            group.append(piece)
            length = max(length, place + piece.data.size)
        joined.extend(_merged(name, group, length, left_out))
    return sorted(joined, key=lambda piece: piece.start)


def _rates(segments: Sequence[Segment]) -> list[float]:
    """The sampling rates that differ."""
    found: list[float] = []
    for piece in segments:
        if not any(_is_same(piece.sampling_rate, rate) for rate in found):
            found.append(piece.sampling_rate)
    return found


def _is_same(rate: float, other: float) -> bool:
    return abs(rate - other) <= _SAME_RATE * other


def _merged(
    name: str, group: Sequence[Segment], length: int, left_out: list[LeftOut]
) -> list[Segment]:
    """One segment of several that touch or overlap, cut where two of them differ."""
    first = group[0]
    if len(group) == 1:
        return [first]
    data = np.full(length, np.nan)
    differs = np.zeros(length, dtype=bool)
    for piece in group:
        place = first.sample(piece.start)
        part = slice(place, place + piece.data.size)
        known = ~np.isnan(data[part])
        differs[part] |= known & (data[part] != piece.data)
        data[part] = np.where(known, data[part], piece.data)
    whole = Segment(first.start, first.sampling_rate, data)
    if not differs.any():
        return [whole]
    left_out.append(
        LeftOut(
            name,
            "overlap",
            f"two of its pieces have different values for {int(differs.sum()):,} samples: these "
            "are a gap",
            timestamp(whole.time(int(differs.argmax()))),
        )
    )
    return runs(whole, ~differs)


def _alive(name: str, segment: Segment, left_out: list[LeftOut]) -> bool:
    """Whether a segment ever moves."""
    problem = stuck(segment.data)
    if problem is None or segment.data.size == 1:
        return True
    reason, what = problem
    left_out.append(LeftOut(name, reason, what, timestamp(segment.start)))
    return False


def stuck(data: Samples) -> tuple[str, str] | None:
    """Why samples are no recording, reason and detail, if all have one value."""
    if not (data == data[0]).all():
        return None
    return value_reason(data[0]), f"all {data.size:,} samples are {data[0]:g}"


def value_reason(value: float) -> str:
    """How it is called that a trace has one value."""
    return "all zero" if value == 0 else "constant"


def check_any(waveforms: Waveforms) -> None:
    """Raise SeismicError, with what was left out, if there is no channel."""
    if waveforms.channels:
        return
    lost = waveforms.summary.left_out
    told = f" ({lost[0]})" if lost else ""
    raise SeismicError(f"there are no waveforms: expected at least one trace{told}", left_out=lost)
