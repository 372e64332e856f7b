"""Ground noise between the low and the high model of Peterson (1993)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["ground_noise", "noise_density"]

#: Corner points of both models: period in s and level in dB of (m/s²)²/Hz. Between them the models
#: are straight lines over the logarithm of the period.
_LOW = (
    *((0.1, -168.0), (0.17, -166.7), (0.4, -166.7), (0.8, -169.2), (1.24, -163.7), (2.4, -148.6)),
    *((4.3, -141.1), (5.0, -141.1), (6.0, -149.0), (10.0, -163.8), (12.0, -166.2), (15.6, -162.1)),
    (21.9, -177.5),
)
_HIGH = (
    *((0.1, -91.5), (0.22, -97.4), (0.32, -110.5), (0.8, -120.0), (3.8, -98.0), (4.6, -96.5)),
    *((6.3, -101.0), (7.9, -113.5), (15.4, -120.0), (20.0, -138.5)),
)
#: No noise below this frequency, in Hz: it would not show in two minutes.
_LOWEST = 0.05


def noise_density(frequencies: NDArray[np.floating], level: float) -> NDArray[np.float64]:
    """Power spectral density of ground velocity, (m/s)²/Hz, at frequencies above 0.

    Parameters
    ----------
    frequencies : (n,) array
        Hz.
    level : float
        0 is Peterson's new low noise model, 1 the new high noise model; values between
        interpolate in dB.

    Returns
    -------
    (n,) array

    Notes
    -----
    The models end at 10 Hz; above it the acceleration is held constant.
    """
    low, high = (_level(frequencies, np.array(model)) for model in (_LOW, _HIGH))
    acceleration = 10 ** ((low + level * (high - low)) / 10)
    return np.asarray(acceleration / (2 * np.pi * frequencies) ** 2)


def _level(frequencies: NDArray[np.floating], model: NDArray[np.float64]) -> NDArray[np.float64]:
    """Level of a model at these frequencies, in dB."""
    period = -np.log10(frequencies)
    return np.asarray(np.interp(period, np.log10(model[:, 0]), model[:, 1]))


def ground_noise(
    n_samples: int, *, sampling_rate: float, level: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Stationary Gaussian noise of ground velocity, (n_samples,), m/s."""
    # Twice the length is drawn and half is kept: noise from a spectrum is periodic.
    length = 2 * n_samples
    frequencies = np.fft.rfftfreq(length, 1 / sampling_rate)
    heard = frequencies >= _LOWEST
    amplitude = np.zeros(len(frequencies))
    density = noise_density(frequencies[heard], level)
    amplitude[heard] = np.sqrt(density * sampling_rate * length / 4)
    parts = rng.standard_normal((2, len(frequencies)))
    return np.fft.irfft(amplitude * (parts[0] + 1j * parts[1]), length)[:n_samples]
