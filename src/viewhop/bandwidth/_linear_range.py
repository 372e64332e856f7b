"""Linear ranges of Algorithm 1: where the slope of log S over log σ is nearly constant.

Between grid values, a slope is taken to be linear in log σ.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from viewhop._registry import LINEAR_RANGES

__all__ = ["check_rule", "find_linear_ranges"]

Floats = NDArray[np.float64]

#: In a minimal range, the slope is at least this: below, log S is flat.
LEAST_SLOPE = 0.3
#: In a minimal range, the smallest slope is at least this share of the largest.
LEVEL = 0.9
#: A minimal range is at least this wide, in log σ.
WIDTH = float(np.log(2.0))
#: By the rule "steepest", a slope of at least this share of the steepest one counts as linear.
STEEPEST_LEVEL = 0.95
#: Relative slack where a limit was computed from a value that it must not exclude.
ROUNDING = 1e-12


def check_rule(rule: str) -> None:
    """Raise ValueError unless `rule` names a rule for linear ranges."""
    if rule not in LINEAR_RANGES:
        names = " or ".join(f'"{name}"' for name in LINEAR_RANGES)
        raise ValueError(f"rule must be {names}, got {rule!r}")


def find_linear_ranges(logs: Floats, slopes: Floats, rule: str) -> Floats:
    """Both ends, in log σ, of the linear range of each slice, (n_slices, 2).

    Parameters
    ----------
    logs : (n_scales,) array
        log σ, increasing.
    slopes : (n_slices, n_scales) array
        Slope of log S over log σ in each slice.
    rule : "minimal" or "steepest"
        "minimal": the first range from below, at least a factor of 2 wide, in which the slope is
        at least 0.3 and varies by at most 10 % of its largest value; the widest one if none is
        that wide, and NaN if no slope reaches 0.3. "steepest": the range around the steepest
        point in which the slope is at least 95 % of the steepest one.
    """
    if rule == "steepest":
        return np.array([_around_peak(logs, slope) for slope in slopes])
    ranges = np.full((len(slopes), 2), np.nan)
    starts = _first_starts(logs, slopes)
    for k, (start, slope) in enumerate(zip(starts, slopes, strict=True)):
        if np.isfinite(start):
            ranges[k] = start, _upper_end(logs, slope, start)
        elif slope.max() >= LEAST_SLOPE:
            ranges[k] = _widest(logs, slope)
    return ranges


def _first_starts(logs: Floats, slopes: Floats) -> Floats:
    """Smallest log σ of each slice at which a range of the least width begins, (n_slices,).

    It is ∞ where there is none. While neither end of a window of that width crosses a grid value,
    the slopes at its ends are linear in its start, and those inside are constant: each condition
    is a linear inequality.
    """
    starts = np.unique(np.concatenate([logs, logs - WIDTH]))
    starts = starts[(starts >= logs[0]) & (starts <= logs[-1] - WIDTH)]
    shape = len(slopes), max(len(starts) - 1, 0)
    lowest, highest = np.full(shape, np.inf), np.full(shape, -np.inf)
    for k, middle in enumerate(0.5 * (starts[:-1] + starts[1:])):
        inside = slice(*np.searchsorted(logs, [middle, middle + WIDTH]))
        if inside.start < inside.stop:
            lowest[:, k] = slopes[:, inside].min(axis=1)
            highest[:, k] = slopes[:, inside].max(axis=1)
    # Values of a window as its start enters and leaves each interval.
    inner = (lowest, lowest), (highest, highest)
    at_both = [_interpolate(at, logs, slopes) for at in (starts, starts + WIDTH)]
    ends = [(values[:, :-1], values[:, 1:]) for values in at_both]
    first, last = np.zeros(shape), np.ones(shape)
    for small in (*ends, inner[0]):
        _narrow(first, last, small[0] - LEAST_SLOPE, small[1] - LEAST_SLOPE)
        for large in (*ends, inner[1]):
            _narrow(first, last, small[0] - LEVEL * large[0], small[1] - LEVEL * large[1])
    begins = np.where(first <= last, starts[:-1] + first * np.diff(starts), np.inf)
    return np.asarray(begins.min(axis=1, initial=np.inf))


def _interpolate(at: Floats, logs: Floats, slopes: Floats) -> Floats:
    """Slopes of all slices, (n_slices, n_at)."""
    return np.array([np.interp(at, logs, slope) for slope in slopes])


def _narrow(first: Floats, last: Floats, before: Floats, after: Floats) -> None:
    """Narrow [first, last], shares of an interval, to where a linear function is not negative.

    Parameters
    ----------
    first, last : arrays
        Changed in place; first > last if nothing is left.
    before, after : arrays
        The function at both ends of the interval.
    """
    rises, falls = (before < 0) & (after >= 0), (before >= 0) & (after < 0)
    crosses = rises | falls
    crossing = np.zeros_like(first)
    crossing[crosses] = before[crosses] / (before[crosses] - after[crosses])
    np.maximum(first, crossing, out=first, where=rises)
    np.minimum(last, crossing, out=last, where=falls)
    first[(before < 0) & (after < 0)] = np.inf


def _upper_end(logs: Floats, slope: Floats, start: float) -> float:
    """The largest log σ up to which a range that begins at `start` is linear."""
    inside = np.flatnonzero(logs > start)
    at = np.append(start, logs[inside])
    values = np.append(np.interp(start, logs, slope), slope[inside])
    most, least = np.maximum.accumulate(values), np.minimum.accumulate(values)
    is_linear = (least >= LEVEL * most * (1 - ROUNDING)) & (least >= LEAST_SLOPE * (1 - ROUNDING))
    if is_linear.all():
        return float(logs[-1])
    k = int(np.argmin(is_linear))  # the first beyond
    if values[k] > values[k - 1]:
        level = least[k - 1] / LEVEL
    else:
        level = max(LEVEL * most[k - 1], LEAST_SLOPE)
    share = (level - values[k - 1]) / (values[k] - values[k - 1])
    return float(at[k - 1] + np.clip(share, 0.0, 1.0) * (at[k] - at[k - 1]))


def _widest(logs: Floats, slope: Floats) -> tuple[float, float]:
    """Ends, in log σ, of the widest range in which the slope varies by at most 10 %.

    The slope of a range lies between a level and the level / 0.9. As the level moves, the width
    changes linearly until one of both meets the slope at a grid value; so it is enough to try these
    levels and the least one.
    """
    levels = np.concatenate([[LEAST_SLOPE], slope, LEVEL * slope])
    levels = np.unique(levels[levels >= LEAST_SLOPE])[:, None]
    # The part of each step of the grid with slopes from the level to the level / 0.9.
    first = np.zeros((levels.size, slope.size - 1))
    last = np.ones_like(first)
    for side, limit in ((1.0, levels), (-1.0, levels / LEVEL)):
        above = side * (slope - limit) + ROUNDING * limit
        _narrow(first, last, above[:, :-1], above[:, 1:])
    is_part = first <= last
    follows = np.zeros_like(is_part)
    follows[:, 1:] = is_part[:, :-1] & (last[:, :-1] >= 1.0) & (first[:, 1:] <= 0.0)
    low, high = (logs[:-1] + np.where(is_part, part, 0.0) * np.diff(logs) for part in (first, last))
    begins = np.maximum.accumulate(np.where(is_part & ~follows, low, -np.inf), axis=1)
    width = np.where(is_part, high - begins, -np.inf)
    is_widest = width >= width.max() - ROUNDING
    start = begins[is_widest].min()
    return float(start), float(start + width.max())


def _around_peak(logs: Floats, slope: Floats) -> tuple[float, float]:
    """Ends, in log σ, of the range around the peak with a slope of at least 95 % of it."""
    peak = int(np.argmax(slope))
    level = STEEPEST_LEVEL * slope[peak]
    below = np.flatnonzero(slope < level)
    before, after = below[below < peak], below[below > peak]
    low, high = float(logs[0]), float(logs[-1])
    if before.size:
        k = before[-1]
        low = float(np.interp(level, slope[k : k + 2], logs[k : k + 2]))
    if after.size:
        k = after[0]
        high = float(np.interp(level, slope[[k, k - 1]], logs[[k, k - 1]]))
    return low, high
