"""Windows: samples of a channel around a pick, or the reason why they are unusable."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from viewhop.seismic._channels import SECOND, Channel, Segment
from viewhop.seismic._clipping import find_clipping
from viewhop.seismic._resampling import resample, resampling_factors
from viewhop.seismic._stretches import constant_stretch_problem

__all__ = ["cut_window", "resample_windows"]

#: Relative error by which a trace may be slower than requested: clocks are not exact.
_SLOWER = 1e-3

#: Largest error, in samples, in the end of a window; its start has the same error.
_DRIFT = 0.5

#: Samples and sampling rate, or reason and detail.
Window = tuple[NDArray[np.float64], float] | tuple[str, str]


def cut_window(
    channel: Channel, start: int, length: float, *, sampling_rate: float | None
) -> Window:
    """Samples and sampling rate of a window, or reason and detail if it is unusable.

    Parameters
    ----------
    channel : Channel
    start : int
        In nanoseconds since 1970.
    length : float
        Seconds.
    sampling_rate : float or None
        Rate, in Hz, for later resampling: enough samples are cut for it. A channel with a lower
        rate lacks the upper frequencies and is refused. None does not resample.
    """
    end = start + round(length * SECOND)
    near = channel.between(start, end)
    problem: tuple[str, str] | None = None
    for piece in near:
        rate = piece.sampling_rate
        if sampling_rate is not None and rate < sampling_rate * (1 - _SLOWER):
            what = f"sampled at {rate:g} Hz, it does not reach {sampling_rate / 2:g} Hz"
            problem = "sampling rate", what
            continue
        try:
            count = _samples_to_cut(length, rate, sampling_rate)
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
        problem = constant_stretch_problem(data, rate) or find_clipping(data)
        if problem is None:
            return data, rate
    return problem or _explain_missing(near, start, end)


def _samples_to_cut(length: float, rate: float, target_rate: float | None) -> int:
    """Number of samples to cut so that resampling fills the window."""
    if target_rate is None:
        return round(length * rate)
    up, down = _factors(length, rate, target_rate)
    return -(-round(length * target_rate) * down // up)


def _factors(length: float, rate: float, target_rate: float) -> tuple[int, int]:
    return resampling_factors(
        rate, target_rate, n_samples=round(length * target_rate), drift=_DRIFT
    )


def _explain_missing(near: Sequence[Segment], start: int, end: int) -> tuple[str, str]:
    """Reason and detail why no segment covers the whole window."""
    if not near:
        return "no data", "it has no data at this time"
    first = min(piece.start for piece in near)
    last = max(piece.end for piece in near)
    if len(near) == 1 and first <= start:
        return "ends early", f"it ends {(end - last) / SECOND:.2f} s before the end of the window"
    if len(near) == 1 and last >= end:
        return (
            "starts late",
            f"it starts {(first - start) / SECOND:.2f} s after the start of the window",
        )
    return "gap", "there is a gap in the window"


def resample_windows(
    data: NDArray[np.float64], *, rate: float, target_rate: float, count: int
) -> NDArray[np.float64]:
    """Windows resampled to another rate, (n_windows, count).

    Parameters
    ----------
    data : (n_windows, n_samples) array
    rate, target_rate : float
        In Hz.
    count : int
        Number of samples in each resampled window.
    """
    up, down = _factors(count / target_rate, rate, target_rate)
    return resample(data, up=up, down=down)[:, :count]
