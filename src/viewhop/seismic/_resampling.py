"""Resampling by a ratio of two integers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.signal import firwin, resample_poly

__all__ = ["resample", "resampling_factors"]

#: Largest integer in the ratio; a resampling filter has 64 times as many taps.
_LARGEST = 10_000
#: Largest relative error of the rate, however short the trace.
_MOST_OFF = 1e-3


def resampling_factors(
    sampling_rate: float, rate: float, *, n_samples: int, drift: float = 0.1
) -> tuple[int, int]:
    """Integer factors, up and down, that approximate a ratio of sampling rates.

    Parameters
    ----------
    sampling_rate, rate : float
        Current and target sampling rate, in Hz.
    n_samples : int
        Number of samples after resampling.
    drift : float
        Largest error in the position of the last sample, in samples.

    Raises
    ------
    ValueError
        If there is no such ratio.

    Examples
    --------
    >>> from viewhop.seismic._resampling import resampling_factors
    >>> resampling_factors(100.0, 40.0, n_samples=5000)
    (2, 5)
    """
    ratio = Fraction(float(rate)) / Fraction(float(sampling_rate))
    # The bound applies to the larger of the two integers.
    near = min(ratio, 1 / ratio).limit_denominator(_LARGEST)
    off = abs(near / min(ratio, 1 / ratio) - 1)
    if off > _MOST_OFF or off * n_samples > drift:
        raise ValueError(
            f"cannot resample from {sampling_rate:.10g} to {rate:.10g} Hz: their ratio is not a "
            f"fraction of integers up to {_LARGEST:,}; resample the waveform first"
        )
    return near.as_integer_ratio() if ratio <= 1 else (1 / near).as_integer_ratio()


def resample(traces: NDArray[np.float64], *, up: int, down: int) -> NDArray[np.float64]:
    """Traces resampled by a polyphase filter, (n_traces, n_resampled); the start is unchanged.

    Parameters
    ----------
    traces : (n_traces, n_samples) array
        Each is extended along the line from its first to its last sample.
    up, down : int
        From `resampling_factors`.

    Notes
    -----
    The gain of the filter is 1/2 at the lower of both Nyquist frequencies. It is flat to 5e-5 up
    to 0.9 times that frequency and passes as little above 1.1 times it.
    """
    if up == down:
        return traces
    factor = max(up, down)
    low_pass = firwin(64 * factor + 1, 1 / factor, window=("kaiser", 8.6))
    resampled = resample_poly(traces, up, down, axis=1, window=low_pass, padtype="line")  # type: ignore[call-overload]  # scipy's stub expects a name
    return np.asarray(resampled)
