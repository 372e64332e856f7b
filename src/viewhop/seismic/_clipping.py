"""Clipping: samples cut off at the end of the recorder's range."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["find_clipped_blocks", "find_clipping"]

Samples = NDArray[np.float64]

#: Consecutive samples at the extreme, next to a jump, that a smooth crest does not have.
_ROW = 4
#: Recorder steps that make a jump; values within as many steps count as near the extreme.
_STEPS = 5
#: Minimum count of samples at the extreme, absolute and relative to any value in its quarter.
_FEWEST, _OFTEN = 6, 3
#: Values closer than this share of the range differ only by rounding.
_ROUNDING = 1e-12
#: Samples per block of a long trace, in which only the loudest event may be clipped.
_BLOCK = 4096


def find_clipping(data: Samples) -> tuple[str, str] | None:
    """Reason and detail if a window is clipped, else None.

    A window is clipped in either of two cases. It stays at its highest or lowest value for at
    least four samples and enters or leaves that value by a jump of at least five recorder steps;
    a smooth crest that is flat only through quantisation does not change so fast. Or it returns to
    the extreme many times and rarely to values just inside it, as fast waves do when a crest spans
    one or two samples. The test needs the trace as recorded. About twenty clipped samples can go
    unnoticed; a synthetic tone without noise that repeats the same phases may be reported. An
    extreme of 0 is a filled gap, not the end of the recorder's range: "all zero".

    Parameters
    ----------
    data : (n_samples,) array

    Examples
    --------
    >>> import numpy as np
    >>> from viewhop.seismic._clipping import find_clipping
    >>> wave = np.round(1000 * np.sin(np.arange(400) / 8))
    >>> find_clipping(wave) is None
    True
    >>> find_clipping(np.minimum(wave, 700))
    ('clipped', 'it stays at 700 for 13 samples')
    """
    values, counts = _levels(data)
    if values.size < 3:
        return None
    step = float(np.diff(values).min())
    for extreme in (values[-1], values[0]):
        length = _longest_row(data, extreme, _STEPS * step)
        if length >= _ROW and extreme == 0:
            return "all zero", f"{length:,} consecutive samples are 0, next to a jump"
        if length >= _ROW:
            return "clipped", f"it stays at {extreme:g} for {length:,} samples"
    return _find_crowded_extremes(values, counts, step)


def _find_crowded_extremes(
    values: Samples, counts: NDArray[np.intp], step: float
) -> tuple[str, str] | None:
    """Reason and detail if one or both extremes occur far more often than values near them."""
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
        extremes = " or ".join(f"{value:g}" for value in values[places])
        return "clipped", (
            f"{count:,} of its {int(counts.sum()):,} samples are {extremes}, and few are just "
            "inside"
        )
    return None


def _levels(data: Samples) -> tuple[Samples, NDArray[np.intp]]:
    """Distinct values and their counts; values that differ only by rounding are merged."""
    values, counts = np.unique(data, return_counts=True)
    finest = (values[-1] - values[0]) * _ROUNDING
    starts = np.flatnonzero(np.r_[True, np.diff(values) > finest])
    levels = values[starts]
    levels[-1] = values[-1]  # the true maximum, not the lowest value of its group
    return levels, np.add.reduceat(counts, starts)


def _longest_row(data: Samples, extreme: float, jump: float) -> int:
    """Length of the longest run at the extreme with a jump at one of its ends."""
    edges = np.flatnonzero(np.diff(np.r_[False, data == extreme, False].astype(np.int8)))
    starts, ends = edges[::2], edges[1::2]
    # Padded with the extreme: the ends of the data are not jumps.
    beside = np.r_[extreme, data, extreme]
    jumps = np.maximum(np.abs(beside[starts] - extreme), np.abs(beside[ends + 1] - extreme))
    lengths = (ends - starts)[jumps >= jump * (1 - 1e-6)]
    return int(lengths.max(initial=0))


def find_clipped_blocks(data: Samples) -> list[tuple[int, str]]:
    """First sample and detail of each clipped block of a long trace.

    Parameters
    ----------
    data : (n_samples,) array
    """
    blocks = []
    for first in range(0, data.size, _BLOCK):
        problem = find_clipping(data[first : first + _BLOCK])
        if problem is not None:
            blocks.append((first, problem[1]))
    return blocks
