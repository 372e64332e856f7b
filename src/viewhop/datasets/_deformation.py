"""New images from old ones, by small smooth deformations."""

from __future__ import annotations

from math import isfinite
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import ndimage

__all__ = ["deformed"]

_Singles = NDArray[np.float32]

#: Number of images deformed at a time, to keep temporary arrays small.
_BATCH = 2000


def deformed(
    images: ArrayLike,
    *,
    amplitude: float = 1.5,
    blur: float = 0.9,
    smoothness: float = 4.0,
    random_state: int | np.random.Generator | None = None,
) -> _Singles:
    """Each image slightly deformed and shifted by at most one pixel, (n_images, height, width).

    Parameters
    ----------
    images : (n_images, height, width) array
        Values from 0 to 1.
    amplitude : float
        Root mean square displacement of a pixel along either axis, in pixels.
    blur : float
        Standard deviation, in pixels, of the Gaussian that smooths an image before its gradient
        is computed.
    smoothness : float
        Standard deviation, in pixels, of the Gaussian that smooths the random fields.
    random_state : int, Generator or None

    Returns
    -------
    deformed : float32 array of the same shape
        Values from 0 to 1.

    Notes
    -----
    After Loosli, Canu and Bottou (2007), who made "infinite MNIST" this way: with T_x and T_y the
    gradient of the blurred image x, and F_1 and F_2 smooth random fields of variance 1, the result
    is x + amplitude (F_1 T_x − F_2 T_y), clipped to [0, 1] and shifted by −1, 0 or 1 pixel along
    either axis. Their field files are not used: the fields are uniform noise, smoothed on a torus.

    Examples
    --------
    >>> import numpy as np
    >>> from viewhop.datasets import deformed
    >>> image = np.zeros((1, 28, 28))
    >>> image[0, 8:20, 12:16] = 1
    >>> bent = deformed(np.repeat(image, 3, axis=0), random_state=0)
    >>> bent.shape, bool(0 <= bent.min() and bent.max() <= 1)
    ((3, 28, 28), True)
    """
    originals = _checked_images(images)
    for name, value in {"amplitude": amplitude, "blur": blur, "smoothness": smoothness}.items():
        if not isinstance(value, Real) or not (isfinite(value) and value >= 0):
            raise ValueError(f"{name} must be a finite number of at least 0, got {value!r}")
    rng = np.random.default_rng(random_state)
    copies = np.empty_like(originals)
    for start in range(0, len(originals), _BATCH):
        batch = originals[start : start + _BATCH]
        smooth = ndimage.gaussian_filter(batch, (0, blur, blur))
        down, across = np.gradient(smooth, axis=(1, 2))
        first, second = (_random_fields(batch.shape, smoothness, rng) for _ in range(2))
        bent = np.clip(batch + np.float32(amplitude) * (first * across - second * down), 0, 1)
        shifts = rng.integers(-1, 2, size=(len(batch), 2))
        copies[start : start + _BATCH] = _shift_images(bent, shifts)
    return copies


def _checked_images(images: ArrayLike) -> _Singles:
    """The images as a float32 array, (n_images, height, width), with values from 0 to 1."""
    array = np.asarray(images, dtype=np.float32)
    if array.ndim != 3:
        raise ValueError(f"expected (n_images, height, width), got an array of shape {array.shape}")
    if array.size and not (array.min() >= 0 and array.max() <= 1):
        raise ValueError("expected images with values from 0 to 1; divide bytes by 255")
    return array


def _random_fields(shape: tuple[int, ...], smoothness: float, rng: np.random.Generator) -> _Singles:
    """Smooth noise of mean 0 and variance 1, with the same distribution at every pixel."""
    noise = rng.uniform(-1, 1, size=shape).astype(np.float32)
    point = np.zeros(shape[1:])
    point[0, 0] = 1
    # Each value is a weighted sum of independent numbers of variance 1/3.
    weights = ndimage.gaussian_filter(point, smoothness, mode="wrap")
    smooth = ndimage.gaussian_filter(noise, (0, smoothness, smoothness), mode="wrap")
    return np.asarray(smooth / np.sqrt(np.square(weights).sum() / 3), dtype=np.float32)


def _shift_images(images: NDArray[np.floating], shifts: NDArray[np.integer]) -> _Singles:
    """Images shifted by −1, 0 or 1 pixel down and across, with 0 in the new pixels."""
    _, height, width = images.shape
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1)))
    rows = 1 - shifts[:, 0, None] + np.arange(height)
    columns = 1 - shifts[:, 1, None] + np.arange(width)
    return np.asarray(
        padded[np.arange(len(images))[:, None, None], rows[:, :, None], columns[:, None]]
    )
