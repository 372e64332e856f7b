"""New digits from old ones, by small smooth deformations."""

from __future__ import annotations

from math import isfinite
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import ndimage

__all__ = ["deformed"]

_Singles = NDArray[np.float32]

#: Images that are deformed at a time: what is held beside the result stays small.
_BATCH = 2000


def deformed(
    images: ArrayLike,
    *,
    amplitude: float = 1.5,
    blur: float = 0.9,
    smoothness: float = 4.0,
    random_state: int | np.random.Generator | None = None,
) -> _Singles:
    """Each image a little bent and moved by at most a pixel, (n_images, height, width).

    Parameters
    ----------
    images : (n_images, height, width) array
        From 0 to 1.
    amplitude : float
        Root mean square of how far a pixel is moved along either axis, in pixels.
    blur : float
        Deviation of the Gaussian, in pixels, that an image is smoothed with before its slopes are
        taken.
    smoothness : float
        Deviation of the Gaussian, in pixels, that the random fields are smoothed with.
    random_state : int, Generator or None

    Returns
    -------
    deformed : float32 array of the same shape
        From 0 to 1.

    Notes
    -----
    After Loosli, Canu and Bottou (2007), who made "infinite MNIST" this way: with T_x and T_y the
    slopes of the blurred image x, and F_1 and F_2 smooth random fields of variance 1, the result is
    x + amplitude (F_1 T_x − F_2 T_y), cut to [0, 1], and moved by −1, 0 or 1 pixel along either
    axis. Their files of fields are not used: fields are uniform noise, smoothed on a torus.

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
    given = np.asarray(images, dtype=np.float32)
    if given.ndim != 3:
        raise ValueError(f"expected (n_images, height, width), got an array of shape {given.shape}")
    if given.size and not (given.min() >= 0 and given.max() <= 1):
        raise ValueError("expected images from 0 to 1; divide bytes by 255")
    for name, value in {"amplitude": amplitude, "blur": blur, "smoothness": smoothness}.items():
        if not isinstance(value, Real) or not (isfinite(value) and value >= 0):
            raise ValueError(f"{name} is a finite number of at least 0, not {value!r}")
    rng = np.random.default_rng(random_state)
    made = np.empty_like(given)
    for start in range(0, len(given), _BATCH):
        batch = given[start : start + _BATCH]
        smooth = ndimage.gaussian_filter(batch, (0, blur, blur))
        down, across = np.gradient(smooth, axis=(1, 2))
        first, second = (_fields(batch.shape, smoothness, rng) for _ in range(2))
        bent = np.clip(batch + np.float32(amplitude) * (first * across - second * down), 0, 1)
        made[start : start + _BATCH] = _moved(bent, rng.integers(-1, 2, size=(len(batch), 2)))
    return made


def _fields(shape: tuple[int, ...], smoothness: float, rng: np.random.Generator) -> _Singles:
    """Smooth noise of mean 0 and variance 1 at every pixel, the same law everywhere."""
    noise = rng.uniform(-1, 1, size=shape).astype(np.float32)
    point = np.zeros(shape[1:])
    point[0, 0] = 1
    # A sum of independent numbers of variance 1/3, each times a weight.
    weights = ndimage.gaussian_filter(point, smoothness, mode="wrap")
    smooth = ndimage.gaussian_filter(noise, (0, smoothness, smoothness), mode="wrap")
    return np.asarray(smooth / np.sqrt(np.square(weights).sum() / 3), dtype=np.float32)


def _moved(images: NDArray[np.floating], steps: NDArray[np.integer]) -> _Singles:
    """Images moved by −1, 0 or 1 pixel down and across, with 0 where nothing was."""
    _, height, width = images.shape
    framed = np.pad(images, ((0, 0), (1, 1), (1, 1)))
    rows = 1 - steps[:, 0, None] + np.arange(height)
    columns = 1 - steps[:, 1, None] + np.arange(width)
    return np.asarray(
        framed[np.arange(len(images))[:, None, None], rows[:, :, None], columns[:, None]]
    )
