"""Windows: the stretch of a channel around a pick, if it can be used."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.signal import resample_poly

from viewhop.seismic.waveforms import SECOND, Channel, Segment, stuck

__all__ = ["Window", "clipped", "cut", "resampled"]

#: Samples in a row that a clipped trace stays at its extreme, at least.
_CLIPPED = 4
#: Steps of the recorder by which a clipped trace leaves its extreme, more than a smooth one does.
_STEPS = 5
#: Share by which a trace may be sampled more slowly than is wanted: clocks are not exact.
_SLOWER = 1e-3

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
    near = [piece for piece in channel.segments if piece.start < end and piece.end > start]
    problem: tuple[str, str] | None = None
    for piece in near:
        rate = piece.sampling_rate
        first = piece.sample(start)
        count = _needed(length, rate, sampling_rate)
        if first < 0 or first + count > piece.data.size:
            continue
        if count < 1:
            problem = "sampling rate", f"sampled at {rate:g} Hz, it has no sample in {length:g} s"
        elif sampling_rate is not None and rate < sampling_rate * (1 - _SLOWER):
            told = f"sampled at {rate:g} Hz, it has nothing up to {sampling_rate / 2:g} Hz"
            problem = "sampling rate", f"{told}: give a lower sampling_rate"
        else:
            data = piece.data[first : first + count]
            problem = stuck(data) or clipped(data)
            if problem is None:
                return data, rate
    return problem or _missing(near, start, end)


def _needed(length: float, rate: float, wanted: float | None) -> int:
    """Number of samples to cut, such that resampling gives as many as the window has."""
    if wanted is None:
        return round(length * rate)
    factor = _factor(rate, wanted)
    return -(-round(length * wanted) * factor.denominator // factor.numerator)


def _factor(rate: float, wanted: float) -> Fraction:
    return Fraction(wanted / rate).limit_denominator(1000)


def _missing(near: list[Segment], start: int, end: int) -> tuple[str, str]:
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


def resampled(
    data: NDArray[np.float64], *, rate: float, wanted: float, count: int
) -> NDArray[np.float64]:
    """Windows at another sampling rate, by a polyphase filter that lets nothing fold back.

    Parameters
    ----------
    data : (n_windows, n_samples) array
    rate, wanted : float
        In Hz.
    count : int
        Samples in each window that is returned.
    """
    factor = _factor(rate, wanted)
    if factor == 1:
        return data[:, :count]
    found = resample_poly(data, factor.numerator, factor.denominator, axis=1, padtype="line")
    return np.asarray(found[:, :count])


def clipped(data: NDArray[np.float64]) -> tuple[str, str] | None:
    """Why a window is clipped, reason and detail, if it is.

    It is if it stays at its highest or lowest value for at least four samples and arrives there or
    leaves by a jump of five steps of the recorder or more: a smooth crest that is flat only
    because the recorder counts in steps is not. It must be asked of the trace as it was recorded.

    Parameters
    ----------
    data : (n_samples,) array
    """
    for extreme in (data.max(), data.min()):
        edges = np.flatnonzero(np.diff(np.r_[False, data == extreme, False].astype(np.int8)))
        for first, last in edges.reshape(-1, 2).tolist():
            if last - first < _CLIPPED:
                continue
            beside = [data[k] for k in (first - 1, last) if 0 <= k < data.size]
            jump = max((abs(value - extreme) for value in beside), default=0.0)
            if jump >= _STEPS * _step(data) * (1 - 1e-6):
                return "clipped", f"it stays at {extreme:g} for {last - first:,} samples"
    return None


def _step(data: NDArray[np.float64]) -> float:
    """The smallest difference between two values."""
    return float(np.diff(np.unique(data)).min())
