"""By how much to resample: sampling rates as a ratio of two small integers."""

from __future__ import annotations

from fractions import Fraction

__all__ = ["factors"]

#: A resampling filter has some tens of times as many taps.
_LARGEST = 1000


def factors(
    sampling_rate: float, rate: float, *, n_samples: int, drift: float = 0.1
) -> tuple[int, int]:
    """By how much to resample, up and down: a ratio of small integers that keeps time.

    Parameters
    ----------
    sampling_rate, rate : float
        What a trace has, and what it shall have, in Hz.
    n_samples : int
        Length of the trace.
    drift : float
        Samples by which the last may be off.

    Raises
    ------
    ValueError
        If there is no such ratio.

    Examples
    --------
    >>> from viewhop.seismic.resampling import factors
    >>> factors(100.0, 40.0, n_samples=5000)
    (2, 5)
    """
    ratio = Fraction(float(rate)) / Fraction(float(sampling_rate))
    # The larger of both integers is the one to be bounded.
    near = min(ratio, 1 / ratio).limit_denominator(_LARGEST)
    if near == 0 or abs(near / min(ratio, 1 / ratio) - 1) * n_samples > drift:
        raise ValueError(
            f"cannot resample from {sampling_rate:.10g} to {rate:.10g} Hz: their ratio is not that "
            f"of two integers up to {_LARGEST:,}; resample the waveform first"
        )
    return near.as_integer_ratio() if ratio <= 1 else (1 / near).as_integer_ratio()
