"""Assembly of channels from pieces in any order; pieces may overlap, conflict or be unusable."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from viewhop.seismic._channels import SECOND, Channel, Segment, timestamp
from viewhop.seismic._summary import LeftOut
from viewhop.seismic._traces import Piece

__all__ = ["assemble_channels", "constant_problem", "constant_reason", "split_at_gaps"]

Samples = NDArray[np.float64]

#: Squares of larger values may overflow.
_LARGEST = 1e150
#: Sampling rates are treated as equal up to this relative difference.
_SAME_RATE = 1e-6
#: Range of times that a Timestamp can represent, in nanoseconds.
_FIRST, _LAST = pd.Timestamp.min.value, pd.Timestamp.max.value


def assemble_channels(pieces: Iterable[Piece]) -> tuple[dict[str, Channel], list[LeftOut]]:
    """Channels by name, assembled from pieces in any order, and the parts left out."""
    left_out: list[LeftOut] = []
    sound: dict[str, list[Segment]] = {}
    for name, start, rate, data in pieces:
        parts = _usable_parts(name, start, rate, data, left_out)
        if parts:
            sound.setdefault(name, []).extend(parts)
    channels = {}
    for name, segments in sound.items():
        joined = [
            piece
            for piece in _join_segments(name, segments, left_out)
            if _is_alive(name, piece, left_out)
        ]
        if joined:
            channels[name] = Channel(name, tuple(joined))
    return channels, left_out


def _usable_parts(
    name: str, start: int, rate: float, data: NDArray[Any], left_out: list[LeftOut]
) -> list[Segment]:
    """Segments of the finite samples of a piece."""
    if data.ndim != 1 or data.dtype.kind not in "biuf":
        what = f"expected a one-dimensional array of numbers, got {data.dtype}, shape {data.shape}"
        left_out.append(LeftOut(name, "not samples", what))
        return []
    if not data.size:
        left_out.append(LeftOut(name, "empty", "it has no samples"))
        return []
    if not (math.isfinite(rate) and rate > 0):
        what = f"expected a positive sampling rate, got {rate:g} Hz"
        left_out.append(LeftOut(name, "sampling rate", what))
        return []
    end = start + data.size * SECOND / rate
    if not _FIRST <= start <= end <= _LAST:
        what = "its time lies outside the years 1678 to 2261; the header is damaged"
        left_out.append(LeftOut(name, "time", what))
        return []
    with np.errstate(invalid="ignore"):  # a damaged float may be a NaN that signals
        whole = Segment(start, rate, data.astype(np.float64))
    bad = ~(np.abs(whole.data) <= _LARGEST)  # true for NaN as well
    if not bad.any():
        return [whole]
    left_out.append(
        LeftOut(
            name,
            "not finite",
            f"{int(bad.sum()):,} of {bad.size:,} samples are masked, not finite, or larger than "
            f"{_LARGEST:g}; they become gaps",
            timestamp(whole.time(int(bad.argmax()))),
        )
    )
    return split_at_gaps(whole, ~bad)


def split_at_gaps(segment: Segment, is_kept: NDArray[np.bool_]) -> list[Segment]:
    """Segments of the consecutive samples that are kept."""
    edges = np.flatnonzero(np.diff(np.r_[False, is_kept, False].astype(np.int8)))
    return [
        Segment(segment.time(int(first)), segment.sampling_rate, segment.data[first:last])
        for first, last in edges.reshape(-1, 2)
    ]


def _join_segments(
    name: str, segments: Sequence[Segment], left_out: list[LeftOut]
) -> list[Segment]:
    """The segments in order of time; those that touch or overlap are merged."""
    joined: list[Segment] = []
    for rate in _distinct_rates(segments):
        same = sorted(
            (piece for piece in segments if _is_same_rate(piece.sampling_rate, rate)),
            key=lambda piece: piece.start,
        )
        group: list[Segment] = []
        length = 0
        for piece in same:
            place = group[0].sample(piece.start) if group else 0
            if group and place > length:
                joined.extend(_merge_segments(name, group, length, left_out))
                group, length, place = [], 0, 0
            group.append(piece)
            length = max(length, place + piece.data.size)
        joined.extend(_merge_segments(name, group, length, left_out))
    return sorted(joined, key=lambda piece: piece.start)


def _distinct_rates(segments: Sequence[Segment]) -> list[float]:
    """Distinct sampling rates of the segments."""
    rates: list[float] = []
    for piece in segments:
        if not any(_is_same_rate(piece.sampling_rate, rate) for rate in rates):
            rates.append(piece.sampling_rate)
    return rates


def _is_same_rate(rate: float, other: float) -> bool:
    return abs(rate - other) <= _SAME_RATE * other


def _merge_segments(
    name: str, group: Sequence[Segment], length: int, left_out: list[LeftOut]
) -> list[Segment]:
    """Segments merged from a group that touches or overlaps, split where values conflict."""
    first = group[0]
    if len(group) == 1:
        return [first]
    data = np.full(length, np.nan)
    differs = np.zeros(length, dtype=bool)
    for piece in group:
        place = first.sample(piece.start)
        part = slice(place, place + piece.data.size)
        is_filled = ~np.isnan(data[part])
        differs[part] |= is_filled & (data[part] != piece.data)
        data[part] = np.where(is_filled, data[part], piece.data)
    whole = Segment(first.start, first.sampling_rate, data)
    if not differs.any():
        return [whole]
    left_out.append(
        LeftOut(
            name,
            "overlap",
            f"overlapping pieces disagree on {int(differs.sum()):,} samples; these become a gap",
            timestamp(whole.time(int(differs.argmax()))),
        )
    )
    return split_at_gaps(whole, ~differs)


def _is_alive(name: str, segment: Segment, left_out: list[LeftOut]) -> bool:
    """Whether the samples of a segment vary."""
    problem = constant_problem(segment.data)
    if problem is None or segment.data.size == 1:
        return True
    reason, what = problem
    left_out.append(LeftOut(name, reason, what, timestamp(segment.start)))
    return False


def constant_problem(data: Samples) -> tuple[str, str] | None:
    """Reason and detail if all samples have the same value, else None."""
    if not (data == data[0]).all():
        return None
    return constant_reason(data[0]), f"all {data.size:,} samples are {data[0]:g}"


def constant_reason(value: float) -> str:
    """Reason code of a trace with a single value."""
    return "all zero" if value == 0 else "constant"
