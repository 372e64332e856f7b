"""Normalised sonograms: the energy of a seismic trace by frequency band and time."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, isfinite
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.fft import rfft
from scipy.signal import get_window

from viewhop.seismic._resampling import resample, resampling_factors

__all__ = ["band_edges", "sonogram", "spectrogram"]

#: Samples per second of the paper's records; other records are resampled to it.
RATE = 40.0
WINDOW = 256
OVERLAP = 0.9
#: Half octaves: seven octaves lie between the first of 128 bins and the last.
BANDS = 14
#: Maximum size of the windows of one block, in bytes.
_BLOCK = 32 * 2**20


def sonogram(
    waveform: ArrayLike,
    *,
    sampling_rate: float,
    n_bands: int = BANDS,
    lowest_frequency: float | None = None,
    rate: float = RATE,
    window: int = WINDOW,
    overlap: float = OVERLAP,
    taper: str = "hann",
) -> NDArray[np.floating]:
    """Share of each band's energy in each time window, (n_bands, n_frames).

    Parameters
    ----------
    waveform : (n_samples,) or (…, n_samples) array
        One trace, or traces along the last axis.
    sampling_rate : float
        Samples per second of the waveform.
    n_bands : int
        Number of bands, at most `window` / 2; 14 are half octaves.
    lowest_frequency : float or None
        Lower frequencies, in Hz, are left out: 0.5 removes most of the microseism. None removes
        only the mean.
    rate : float
        Samples per second to which the waveform is resampled.
    window : int
        Samples in a time window, an even number.
    overlap : float
        Relative overlap of windows; the shift is ⌊(1 − overlap) · window⌋ samples.
    taper : str
        Window function: any name that `scipy.signal.get_window` accepts without parameters.

    Returns
    -------
    (n_bands, n_frames) or (…, n_bands, n_frames) array
        float32 if the waveform is float32, float64 otherwise. Each row sums to 1.

    Notes
    -----
    The paper's section on seismic data, after Joswig (1995): 40 Hz, windows of 256 samples, a shift
    of 25, power spectral densities, sums over equally tempered bands, and each band divided by its
    sum over time. The paper specifies neither a taper nor the number of bands; without a taper,
    microseisms leak into every band. `band_edges` gives the frequencies of each band.

    A silent band has the same share in every frame: it sums to 1 like the others, as faint
    stationary noise would. A band is silent if its energy does not exceed rounding error, or if it
    lies above the highest frequency of a record with fewer samples per second than `rate`.

    Examples
    --------
    >>> import numpy as np
    >>> from viewhop.seismic.sonogram import sonogram
    >>> S = sonogram(np.random.default_rng(0).standard_normal(5031), sampling_rate=40)
    >>> S.shape
    (14, 192)
    >>> S.sum(axis=1).round(12).tolist() == [1.0] * 14
    True
    """
    last = _last_bins(window, n_bands, lowest_frequency, rate)

    def banded(power: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.add.reduceat(power, last[:-1], axis=-1)

    def shares(bands: NDArray[np.float64]) -> NDArray[np.float64]:
        summed = bands.swapaxes(-1, -2)
        total = summed.sum(axis=-1, keepdims=True)
        # Traces have been divided by their largest value, so rounding leaves about this much.
        loud = total > summed.shape[-1] * (window * np.finfo(np.float64).eps) ** 2 / rate
        even = np.full_like(summed, 1 / summed.shape[-1])
        np.divide(summed, total, out=even, where=loud)
        return even

    return _process_frames(
        waveform,
        banded,
        shares,
        sampling_rate=sampling_rate,
        rate=rate,
        window=window,
        overlap=overlap,
        taper=taper,
        is_scaled=True,
    )


def spectrogram(
    waveform: ArrayLike,
    *,
    sampling_rate: float,
    rate: float = RATE,
    window: int = WINDOW,
    overlap: float = OVERLAP,
    taper: str = "hann",
) -> NDArray[np.floating]:
    """One-sided power spectral densities from which sonograms are computed, (window / 2, n_frames).

    Parameters
    ----------
    waveform : (n_samples,) or (…, n_samples) array
        One trace, or traces along the last axis.
    sampling_rate : float
        Samples per second of the waveform.
    rate, window, overlap, taper
        As for `sonogram`.

    Returns
    -------
    (window / 2, n_frames) or (…, window / 2, n_frames) array
        In units of the waveform, squared, per Hz, at rate / window, 2 rate / window, …, rate / 2.

    Notes
    -----
    The mean of each window is subtracted first, and frequency 0 is left out. Without a taper
    (``taper="boxcar"``), the densities of a window times rate / window sum to its variance.

    Examples
    --------
    >>> import numpy as np
    >>> from viewhop.seismic.sonogram import spectrogram
    >>> R = spectrogram(np.sin(2 * np.pi * 5 * np.arange(5031) / 40), sampling_rate=40)
    >>> R.shape, (int(R[:, 0].argmax()) + 1) * 40 / 256
    ((128, 192), 5.0)
    """
    return _process_frames(
        waveform,
        lambda power: power,
        lambda power: power.swapaxes(-1, -2),
        sampling_rate=sampling_rate,
        rate=rate,
        window=window,
        overlap=overlap,
        taper=taper,
        is_scaled=False,
    )


def band_edges(
    n_bands: int = BANDS,
    *,
    lowest_frequency: float | None = None,
    rate: float = RATE,
    window: int = WINDOW,
) -> NDArray[np.float64]:
    """Edge frequencies of a sonogram's bands in Hz, lowest first, (n_bands + 1,).

    Parameters
    ----------
    n_bands, lowest_frequency, rate, window
        As for `sonogram`.

    Returns
    -------
    (n_bands + 1,) array
        Band j contains the bins between edge j and edge j + 1; edges lie half-way between bins.

    Notes
    -----
    Bins have the frequencies k · rate / window, k = 1, …, N = window / 2. With the first bin a that
    is not left out, band j ideally ends at a (N / a)^((j + 1) / n_bands): equal steps on a
    logarithmic scale. Its last bin is the nearest one. Where low bands are narrower than a bin,
    each takes one bin, and the tempered scale starts above them, so every bin belongs to one band
    and no band is empty. For 14 bands, the last bins are 1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64,
    91 and 128.

    Examples
    --------
    >>> from viewhop.seismic.sonogram import band_edges
    >>> band_edges(4).round(2).tolist()
    [0.08, 0.55, 1.8, 6.02, 20.08]
    """
    last = _last_bins(window, n_bands, lowest_frequency, rate).astype(np.float64)
    return (last + 0.5) * (rate / window)


def _last_bins(
    window: int, n_bands: int, lowest_frequency: float | None, rate: float
) -> NDArray[np.intp]:
    """Last bin left out, then the last bin of each band, counted from 1, (n_bands + 1,)."""
    _check_window(window)
    _check_positive("rate", rate)
    top, first = window // 2, 1
    if lowest_frequency is not None:
        _check_positive("lowest_frequency", lowest_frequency)
        # Bins at the limit are kept even if their frequency is rounded.
        first = max(1, ceil(lowest_frequency * window / rate - 1e-9))
    if first > top:
        raise ValueError(
            f"lowest_frequency must be at most half the rate, {rate / 2:g} Hz, "
            f"got {lowest_frequency:g}"
        )
    most = top - first + 1
    if not isinstance(n_bands, Integral) or not 1 <= n_bands <= most:
        raise ValueError(
            f"n_bands must be an integer between 1 and the number of frequencies {most}, "
            f"got {n_bands!r}"
        )
    count = int(n_bands)
    order = np.arange(1, count + 1)
    tempered = np.rint(first * (top / first) ** (order / count)).astype(np.intp)
    # At least one bin for this band and those below it, and for every band above it.
    wide = np.maximum.accumulate(np.maximum(tempered - order, first - 1)) + order
    last = np.minimum(wide, top - (count - order))
    return np.concatenate([[first - 1], last])


def _process_frames(
    waveform: ArrayLike,
    reduce: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    finish: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    *,
    sampling_rate: float,
    rate: float,
    window: int,
    overlap: float,
    taper: str,
    is_scaled: bool,
) -> NDArray[np.floating]:
    """`finish` of all frames of `reduce` of the densities, (traces, frames, bins).

    Traces and their frames are processed in blocks: a trace may last for days.
    """
    traces = _read_traces(waveform)
    _check_positive("sampling_rate", sampling_rate)
    _check_positive("rate", rate)
    _check_window(window)
    shift = _frame_shift(window, overlap)
    weights = get_window(taper, window)
    n_resampled = ceil(traces.shape[-1] * float(rate) / float(sampling_rate))
    up, down = resampling_factors(sampling_rate, rate, n_samples=n_resampled, drift=shift / 2)
    length = -(-traces.shape[-1] * up // down)
    if length < window:
        raise ValueError(
            f"a trace must have at least one window of {window} samples at {rate:g} Hz, "
            f"got {length} ({traces.shape[-1]} at {sampling_rate:g} Hz); use a longer record or a "
            "shorter window"
        )
    flat = traces.reshape(-1, traces.shape[-1])
    n_frames = (length - window) // shift + 1
    frames_at_once = max(1, _BLOCK // (16 * window))
    size = max(1, frames_at_once // n_frames)
    n_bins = int(np.floor(sampling_rate * window / (2 * rate) + 1e-9))
    blocks = []
    for start in range(0, len(flat), size):
        block = flat[start : start + size].astype(np.float64)
        scale = np.abs(block).max(axis=1, keepdims=True, initial=0.0)
        block /= np.where(scale > 0, scale, 1.0)
        block = resample(block, up=up, down=down)
        parts = []
        for first in range(0, n_frames, frames_at_once):
            last = min(first + frames_at_once, n_frames)
            part = block[:, first * shift : (last - 1) * shift + window]
            power = _power_densities(part, shift, weights, rate)
            power[..., n_bins:] = 0
            if not is_scaled:
                power *= scale[:, :, None] ** 2
            parts.append(reduce(power))
        blocks.append(finish(np.concatenate(parts, axis=1)).astype(traces.dtype))
    result = np.concatenate(blocks)
    return result.reshape(*traces.shape[:-1], *result.shape[1:])


def _power_densities(
    block: NDArray[np.float64], shift: int, weights: NDArray[np.float64], rate: float
) -> NDArray[np.float64]:
    """Power spectral densities (traces, frames, bins above 0)."""
    frames = np.lib.stride_tricks.sliding_window_view(block, len(weights), axis=1)[:, ::shift]
    centred = frames - frames.mean(axis=-1, keepdims=True)
    centred *= weights
    spectrum = rfft(centred, axis=-1, overwrite_x=True)[..., 1:]
    power = spectrum.real**2 + spectrum.imag**2
    power *= 2 / (rate * (weights @ weights))
    power[..., -1] /= 2  # the highest frequency has no negative twin
    return power  # type: ignore[no-any-return]


def _read_traces(waveform: ArrayLike) -> NDArray[Any]:
    """Traces as float32 or float64; ValueError if a value is not finite."""
    traces = np.asarray(waveform)
    if traces.dtype.kind not in "biuf" or traces.ndim == 0 or traces.size == 0:
        raise ValueError(
            "waveform must be an array of numbers with time along its last axis, got "
            f"{traces.dtype} of shape {traces.shape}"
        )
    if traces.dtype != np.float32:
        traces = traces.astype(np.float64, copy=False)
    bad = np.argwhere(~np.isfinite(traces))
    if len(bad):
        *trace, sample = bad[0].tolist()
        where = f" of trace {', '.join(map(str, trace))}" if trace else ""
        raise ValueError(
            f"waveform must be finite, got {traces[tuple(bad[0])]} at sample {sample}{where}; "
            "fill the gap or leave out the trace"
        )
    return traces


def _frame_shift(window: int, overlap: float) -> int:
    if not isinstance(overlap, Real) or not 0 <= overlap < 1:
        raise ValueError(f"overlap must be in [0, 1), got {overlap!r}")
    # 0.9 is not a binary fraction: without the small term, (1 - 0.9) * 250 would be 24.
    shift = int((1 - overlap) * window + 1e-9)
    if shift < 1:
        raise ValueError(f"overlap {overlap} leaves no shift between windows of {window} samples")
    return shift


def _check_window(window: int) -> None:
    if not isinstance(window, Integral) or window < 2 or window % 2:
        raise ValueError(f"window must be an even number of samples, got {window!r}")


def _check_positive(name: str, value: float) -> None:
    if not isinstance(value, Real) or not isfinite(value) or value <= 0:
        raise ValueError(f"{name} must be a positive number, got {value!r}")
