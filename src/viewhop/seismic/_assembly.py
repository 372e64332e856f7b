"""Assembly: channels from pieces in any order, which may overlap, differ or be no samples."""

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

__all__ = ["assembled", "runs", "stuck", "value_reason"]

Samples = NDArray[np.float64]

#: Beyond this size squares overflow.
_LARGEST = 1e150
#: Two sampling rates are the same if they differ by less than this share.
_SAME_RATE = 1e-6
#: Times that a Timestamp can hold, in nanoseconds.
_FIRST, _LAST = pd.Timestamp.min.value, pd.Timestamp.max.value


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
