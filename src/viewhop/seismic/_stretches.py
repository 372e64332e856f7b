"""Stretches: the parts of a channel with recorded data, and the gaps between them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from viewhop.seismic._assembly import constant_problem, constant_reason, split_at_gaps
from viewhop.seismic._channels import SECOND, Channel, Segment, timestamp
from viewhop.seismic._summary import LeftOut

__all__ = ["constant_stretch_problem", "split_stretches"]

Samples = NDArray[np.float64]

#: One value for at least this many seconds and samples is a gap; quiet recordings vary sooner.
_SECONDS, _SAMPLES = 5.0, 100


def split_stretches(channel: Channel, *, after: str = "") -> tuple[list[Segment], list[LeftOut]]:
    """Parts of a channel without gaps, and the gaps.

    A failing recorder, or software that fills gaps, repeats one value for seconds: that is a gap,
    too. Otherwise the averages of a trigger would take the noise after it for an event.

    Parameters
    ----------
    channel : Channel
    after : str
        Text appended to the description of each gap.

    Examples
    --------
    >>> import numpy as np
    >>> from viewhop.seismic.io import Waveforms
    >>> from viewhop.seismic._stretches import split_stretches
    >>> data = np.random.default_rng(0).normal(size=4000)
    >>> data[1000:1400] = 0
    >>> data[3000:3100] = np.nan
    >>> channels = Waveforms.from_arrays(
    ...     {"IS.MMLI..BHZ": data}, start="2010-05-27T16:24:00Z", sampling_rate=40.0
    ... ).channels
    >>> parts, gaps = split_stretches(channels["IS.MMLI..BHZ"])
    >>> [part.data.size for part in parts]
    [1000, 1600, 900]
    >>> for gap in gaps:
    ...     print(gap)
    IS.MMLI..BHZ, 2010-05-27T16:24:25Z: it is 0 for 10.0 s
    IS.MMLI..BHZ, 2010-05-27T16:25:15Z: 2.50 s are missing
    """
    parts: list[Segment] = []
    gaps = [
        ("gap", f"{(end - start) / SECOND:.2f} s are missing", start) for start, end in channel.gaps
    ]
    for segment in channel.segments:
        rate = segment.sampling_rate
        is_kept = np.ones(segment.data.size, dtype=bool)
        for first, last in _constant_spans(segment.data, rate):
            is_kept[first:last] = False
            value = float(segment.data[first])
            what = f"it is {value:g} for {(last - first) / rate:.1f} s"
            gaps.append((constant_reason(value), what, segment.time(first)))
        parts.extend([segment] if is_kept.all() else split_at_gaps(segment, is_kept))
    gaps.sort(key=lambda gap: gap[2])
    return parts, [
        LeftOut(channel.id, reason, what + after, timestamp(time)) for reason, what, time in gaps
    ]


def constant_stretch_problem(data: Samples, sampling_rate: float) -> tuple[str, str] | None:
    """Reason and detail if all of a window, or seconds of it, have one value; else None.

    Parameters
    ----------
    data : (n_samples,) array
    sampling_rate : float
    """
    problem = constant_problem(data)
    spans = _constant_spans(data, sampling_rate)
    if problem is not None or not spans:
        return problem
    first, last = spans[0]
    return constant_reason(data[first]), (
        f"{last - first:,} consecutive samples ({(last - first) / sampling_rate:.1f} s) are "
        f"{data[first]:g}"
    )


def _constant_spans(data: Samples, sampling_rate: float) -> list[tuple[int, int]]:
    """Start and end sample of every stretch that repeats one value for seconds."""
    least = max(_SAMPLES, round(_SECONDS * sampling_rate))
    if data.size < least:
        return []
    edges = np.r_[0, np.flatnonzero(np.diff(data)) + 1, data.size]
    places = np.flatnonzero(np.diff(edges) >= least)
    return [(int(edges[k]), int(edges[k + 1])) for k in places]
