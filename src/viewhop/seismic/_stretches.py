"""Stretches: the parts of a channel in which something was recorded, and what lies between."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from viewhop.seismic._assembly import runs, stuck, value_reason
from viewhop.seismic._channels import SECOND, Channel, Segment, timestamp
from viewhop.seismic._summary import LeftOut

__all__ = ["still", "stretches"]

Samples = NDArray[np.float64]

#: One value for so many seconds, and samples, is no recording; a quiet one has less in a row.
_SECONDS, _SAMPLES = 5.0, 100


def stretches(channel: Channel, *, after: str = "") -> tuple[list[Segment], list[LeftOut]]:
    """The parts of a channel without a gap, and the gaps.

    A recorder that fails, or whoever fills a gap, leaves one value for seconds: that is a gap, too.
    After it the averages of a trigger would take any noise for an event.

    Parameters
    ----------
    channel : Channel
    after : str
        What else to say of a gap.

    Examples
    --------
    >>> import numpy as np
    >>> from viewhop.seismic.io import Waveforms
    >>> from viewhop.seismic._stretches import stretches
    >>> data = np.random.default_rng(0).normal(size=4000)
    >>> data[1000:1400] = 0
    >>> data[3000:3100] = np.nan
    >>> channels = Waveforms.from_arrays(
    ...     {"IS.MMLI..BHZ": data}, start="2010-05-27T16:24:00Z", sampling_rate=40.0
    ... ).channels
    >>> parts, gaps = stretches(channels["IS.MMLI..BHZ"])
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
        kept = np.ones(segment.data.size, dtype=bool)
        for first, last in _still(segment.data, rate):
            kept[first:last] = False
            value = float(segment.data[first])
            what = f"it is {value:g} for {(last - first) / rate:.1f} s"
            gaps.append((value_reason(value), what, segment.time(first)))
        parts.extend([segment] if kept.all() else runs(segment, kept))
    gaps.sort(key=lambda gap: gap[2])
    return parts, [
        LeftOut(channel.id, reason, what + after, timestamp(time)) for reason, what, time in gaps
    ]


def still(data: Samples, sampling_rate: float) -> tuple[str, str] | None:
    """Why a window is no recording, reason and detail: all of it, or seconds, have one value.

    Parameters
    ----------
    data : (n_samples,) array
    sampling_rate : float
    """
    problem = stuck(data)
    found = _still(data, sampling_rate)
    if problem is not None or not found:
        return problem
    first, last = found[0]
    return value_reason(data[first]), (
        f"{last - first:,} samples in a row are {data[first]:g}, "
        f"{(last - first) / sampling_rate:.1f} s"
    )


def _still(data: Samples, sampling_rate: float) -> list[tuple[int, int]]:
    """First sample, and the one after the last, of every stretch of one value for seconds."""
    least = max(_SAMPLES, round(_SECONDS * sampling_rate))
    if data.size < least:
        return []
    edges = np.r_[0, np.flatnonzero(np.diff(data)) + 1, data.size]
    places = np.flatnonzero(np.diff(edges) >= least)
    return [(int(edges[k]), int(edges[k + 1])) for k in places]
