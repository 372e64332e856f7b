"""Windows: the stretch of a channel around a pick, if it can be used."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from viewhop.seismic._channels import SECOND, Channel, Segment
from viewhop.seismic._clipping import clipped
from viewhop.seismic._resampling import factors, resampled
from viewhop.seismic._stretches import still

__all__ = ["Window", "cut", "with_rate"]

#: Share by which a trace may be sampled more slowly than is wanted: clocks are not exact.
_SLOWER = 1e-3

#: Share of a sample by which the end of a window may be off: its beginning may be, too.
_DRIFT = 0.5

#: Samples with their sampling rate, or a reason and a detail.
Window = tuple[NDArray[np.float64], float] | tuple[str, str]


def cut(channel: Channel, start: int, length: float, *, sampling_rate: float | None) -> Window:
    """The samples of a window, or why there are none.

    Parameters
    ----------
    channel : Channel
    start : int
        In nanoseconds since 1970.
    length : float
        Seconds.
    sampling_rate : float or None
        The rate, in Hz, that it will be resampled to: enough samples are cut for that. A channel
        with a lower rate has nothing in the upper frequencies, and is refused. None will not
        resample.
    """
    end = start + round(length * SECOND)
    near = channel.between(start, end)
    problem: tuple[str, str] | None = None
    for piece in near:
        rate = piece.sampling_rate
        if sampling_rate is not None and rate < sampling_rate * (1 - _SLOWER):
            what = f"sampled at {rate:g} Hz, it has nothing up to {sampling_rate / 2:g} Hz"
            problem = "sampling rate", what
            continue
        try:
            count = _needed(length, rate, sampling_rate)
        except ValueError as error:
            problem = "sampling rate", str(error)
            continue
        first = piece.sample(start)
        if first < 0 or first + count > piece.data.size:
            continue
        if count < 1:
            problem = "sampling rate", f"sampled at {rate:g} Hz, it has no sample in {length:g} s"
            continue
        data = piece.data[first : first + count]
        problem = still(data, rate) or clipped(data)
        if problem is None:
            return data, rate
    return problem or _missing(near, start, end)


def _needed(length: float, rate: float, wanted: float | None) -> int:
    """Number of samples to cut, such that resampling gives as many as the window has."""
    if wanted is None:
        return round(length * rate)
    up, down = _factors(length, rate, wanted)
    return -(-round(length * wanted) * down // up)


def _factors(length: float, rate: float, wanted: float) -> tuple[int, int]:
    return factors(rate, wanted, n_samples=round(length * wanted), drift=_DRIFT)


def _missing(near: Sequence[Segment], start: int, end: int) -> tuple[str, str]:
    """Why no segment has the whole window."""
    if not near:
        return "no data", "it has no data at that time"
    first = min(piece.start for piece in near)
    last = max(piece.end for piece in near)
    if len(near) == 1 and first <= start:
        return "ends early", f"it ends {(end - last) / SECOND:.2f} s before the window does"
    if len(near) == 1 and last >= end:
        return "starts late", f"it starts {(first - start) / SECOND:.2f} s after the window does"
    return "gap", "there is a gap in the window"


def with_rate(
    data: NDArray[np.float64], *, rate: float, wanted: float, count: int
) -> NDArray[np.float64]:
    """Windows at another sampling rate.

    Parameters
    ----------
    data : (n_windows, n_samples) array
    rate, wanted : float
        In Hz.
    count : int
        Samples in each window that is returned.
    """
    up, down = _factors(count / wanted, rate, wanted)
    return resampled(data, up=up, down=down)[:, :count]
