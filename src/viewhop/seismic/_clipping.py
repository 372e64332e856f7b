"""Clipping: a trace that would have gone further than the recorder could."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["clipped", "clipped_blocks"]

Samples = NDArray[np.float64]

#: Samples in a row at the extreme that a smooth crest does not have if it is left by a jump.
_ROW = 4
#: Steps of the recorder that make a jump; as many below the extreme are near it.
_STEPS = 5
#: Samples at the extreme, at least; and times as many as any other value in its quarter has.
_FEWEST, _OFTEN = 6, 3
#: Share of the range by which values differ that were computed, not recorded.
_ROUNDING = 1e-12
#: Samples that are judged at a time in a long trace, whose loudest event alone may be clipped.
_BLOCK = 4096


def clipped(data: Samples) -> tuple[str, str] | None:
    """Why a window is clipped, reason and detail, if it is.

    It is in either of two cases. It stays at its highest or lowest value for at least four
    samples and arrives there or leaves by a jump of five steps of the recorder or more: a smooth
    crest that is flat only because the recorder counts in steps is not left so fast. Or it comes
    back to that value again and again, and hardly to those just within: a wave so fast that a crest
    has one or two samples. It must be asked of the trace as it was recorded. Some twenty cut
    samples may pass; a computed tone without noise that meets the same phases again and again may
    not. An extreme of 0 is no end of a recorder's range, but a gap that was filled: "all zero".

    Parameters
    ----------
    data : (n_samples,) array

    Examples
    --------
    >>> import numpy as np
    >>> from viewhop.seismic._clipping import clipped
    >>> wave = np.round(1000 * np.sin(np.arange(400) / 8))
    >>> clipped(wave) is None
    True
    >>> clipped(np.minimum(wave, 700))
    ('clipped', 'it stays at 700 for 13 samples')
    """
    values, counts = _levels(data)
    if values.size < 3:
        return None
    step = float(np.diff(values).min())
    for extreme in (values[-1], values[0]):
        length = _longest_row(data, extreme, _STEPS * step)
        if length >= _ROW and extreme == 0:
            return "all zero", f"{length:,} samples in a row are 0, and it jumps there"
        if length >= _ROW:
            return "clipped", f"it stays at {extreme:g} for {length:,} samples"
    return _often_at_extremes(values, counts, step)


def _often_at_extremes(
    values: Samples, counts: NDArray[np.intp], step: float
) -> tuple[str, str] | None:
    """Whether the extremes, one of them or both, are met more often than the values near them."""
    quarter = (values[-1] - values[0]) / 4
    usual = counts.sum() / values.size
    inner = np.ones(values.size, dtype=bool)
    inner[[0, -1]] = False
    for places in ([-1], [0], [0, -1]):
        count = int(counts[places].sum())
        away = np.min([np.abs(values - values[place]) for place in places], axis=0)
        near = int(counts[inner & (away <= (_STEPS + 1e-6) * step)].sum())
        often = max(int(counts[inner & (away < quarter)].max(initial=0)), usual)
        if counts[places].min() < 2 or count < max(
            _FEWEST, len(places) * _OFTEN * often, 2 * near + 1
        ):
            continue
        told = " or ".join(f"{value:g}" for value in values[places])
        return "clipped", (
            f"{count:,} of its {int(counts.sum()):,} samples are {told}, and hardly any just within"
        )
    return None


def _levels(data: Samples) -> tuple[Samples, NDArray[np.intp]]:
    """The values that there are, and how often; those that only rounding tells apart are one."""
    values, counts = np.unique(data, return_counts=True)
    finest = (values[-1] - values[0]) * _ROUNDING
    starts = np.flatnonzero(np.r_[True, np.diff(values) > finest])
    found = values[starts]
    found[-1] = values[-1]  # the highest itself, not the lowest of its group
    return found, np.add.reduceat(counts, starts)


def _longest_row(data: Samples, extreme: float, jump: float) -> int:
    """Samples in the longest row at the extreme that has a jump at one of its ends."""
    edges = np.flatnonzero(np.diff(np.r_[False, data == extreme, False].astype(np.int8)))
    starts, ends = edges[::2], edges[1::2]
    # Beyond the ends of the data there is no jump.
    beside = np.r_[extreme, data, extreme]
    jumps = np.maximum(np.abs(beside[starts] - extreme), np.abs(beside[ends + 1] - extreme))
    lengths = (ends - starts)[jumps >= jump * (1 - 1e-6)]
    return int(lengths.max(initial=0))


def clipped_blocks(data: Samples) -> list[tuple[int, str]]:
    """The first sample of each clipped block of a long trace, and the detail.

    Parameters
    ----------
    data : (n_samples,) array
    """
    found = []
    for first in range(0, data.size, _BLOCK):
        problem = clipped(data[first : first + _BLOCK])
        if problem is not None:
            found.append((first, problem[1]))
    return found
