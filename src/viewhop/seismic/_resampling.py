"""Another sampling rate: by how much, as a ratio of two integers, and how."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.signal import firwin, resample_poly

__all__ = ["factors", "resampled"]

#: A resampling filter has 64 times as many taps.
_LARGEST = 10_000
#: Share by which a rate may be off, however short the trace.
_MOST_OFF = 1e-3


def factors(
    sampling_rate: float, rate: float, *, n_samples: int, drift: float = 0.1
) -> tuple[int, int]:
    """By how much to resample, up and down: a ratio of integers that keeps time.

    Parameters
    ----------
    sampling_rate, rate : float
        What a trace has, and what it shall have, in Hz.
    n_samples : int
        Number of samples that it shall have.
    drift : float
        How many of them the last may be off.

    Raises
    ------
    ValueError
        If there is no such ratio.

    Examples
    --------
    >>> from viewhop.seismic._resampling import factors
    >>> factors(100.0, 40.0, n_samples=5000)
    (2, 5)
    """
    ratio = Fraction(float(rate)) / Fraction(float(sampling_rate))
    # The larger of both integers is the one to be bounded.
    near = min(ratio, 1 / ratio).limit_denominator(_LARGEST)
    off = abs(near / min(ratio, 1 / ratio) - 1)
    if off > _MOST_OFF or off * n_samples > drift:
        raise ValueError(
            f"cannot resample from {sampling_rate:.10g} to {rate:.10g} Hz: their ratio is not that "
            f"of two integers up to {_LARGEST:,}; resample the waveform first"
        )
    return near.as_integer_ratio() if ratio <= 1 else (1 / near).as_integer_ratio()


def resampled(traces: NDArray[np.float64], *, up: int, down: int) -> NDArray[np.float64]:
    """Traces with other samples, by a polyphase filter; the first sample stays where it is.

    Parameters
    ----------
    traces : (n_traces, n_samples) array
        Continued by the line from its first to its last sample.
    up, down : int
        From `factors`.

    Notes
    -----
    The filter is half at the lower of both Nyquist frequencies, where it falls: it is flat to 5e-5
    up to nine tenths of that, and lets as little through from eleven tenths on.
    """
    if up == down:
        return traces
    factor = max(up, down)
    low_pass = firwin(64 * factor + 1, 1 / factor, window=("kaiser", 8.6))
    found = resample_poly(traces, up, down, axis=1, window=low_pass, padtype="line")  # type: ignore[call-overload]  # scipy's stub wants a name
    return np.asarray(found)
