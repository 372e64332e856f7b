"""Image features: bags of visual words and pyramids of oriented gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import MiniBatchKMeans
from threadpoolctl import threadpool_limits

from viewhop._runtime.progress import Progress, no_progress
from viewhop._runtime.threads import map_threads, thread_count

__all__ = ["bags_of_words", "grey", "phog"]

Greys = NDArray[np.uint8]
Floats = NDArray[np.float64]

#: Number of descriptors compared with all words at a time.
_ROWS = 4096


def grey(encoded: Sequence[bytes], *, longest: int = 240) -> list[Greys]:
    """Greyscale pictures, each a (height, width) uint8 array.

    Parameters
    ----------
    encoded : list of bytes
        Content of image files: JPEG, PNG or any other format of OpenCV.
    longest : int
        Maximum length of the longer side in pixels; larger pictures are scaled down.

    Raises
    ------
    ValueError
        If a file cannot be decoded.

    Examples
    --------
    >>> import cv2
    >>> import numpy as np
    >>> from viewhop.experiments._vision import grey
    >>> ok, file = cv2.imencode(".png", np.zeros((40, 80, 3), dtype=np.uint8))
    >>> [picture] = grey([file.tobytes()], longest=60)
    >>> picture.shape
    (30, 60)
    """
    cv2 = _cv2()
    greys = []
    for number, each_file in enumerate(encoded):
        buffer = np.frombuffer(each_file, dtype=np.uint8)
        picture = cv2.imdecode(buffer, cv2.IMREAD_GRAYSCALE) if buffer.size else None
        if picture is None:
            raise ValueError(f"picture {number} ({len(each_file):,} bytes) cannot be decoded")
        share = longest / max(picture.shape)
        if share < 1:
            height, width = (max(1, round(side * share)) for side in picture.shape)
            picture = cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA)
        greys.append(picture)
    return greys


def bags_of_words(
    pictures: Sequence[Greys],
    *,
    n_words: int = 300,
    step: int = 12,
    sizes: Sequence[int] = (12, 24),
    random_state: int | np.random.Generator | None = 0,
    n_jobs: int | None = None,
    progress: Progress = no_progress,
) -> Floats:
    """Relative frequency of each visual word in each picture, (n_pictures, n_words).

    Parameters
    ----------
    pictures : list of (height, width) uint8 arrays
        Each at least as large as the largest of `sizes`.
    n_words : int
        Number of words: centres of K-means on descriptors of all pictures.
    step : int
        Pixels between two descriptors along each axis.
    sizes : list of int
        Diameters of the described neighbourhoods in pixels.
    random_state : int, Generator or None
        Seed of the sample of descriptors and of K-means.
    n_jobs : int or None
        Threads.
    progress : callable

    Returns
    -------
    shares : (n_pictures, n_words) array
        Rows sum to 1.

    Notes
    -----
    Upright SIFT descriptors (Lowe, 2004) on a grid, as in the bag of words of Csurka and others
    (2004) for object categories.

    Examples
    --------
    >>> import numpy as np
    >>> from viewhop.experiments._vision import bags_of_words
    >>> shades = np.random.default_rng(0).integers(256, size=(4, 48, 48)).astype(np.uint8)
    >>> bags_of_words(list(shades), n_words=5).shape
    (4, 5)
    """
    _check_pictures(pictures, max(sizes))
    cv2 = _cv2()

    def describe(picture: Greys) -> NDArray[np.uint8]:
        points = [
            cv2.KeyPoint(float(x), float(y), float(size), 0.0)
            for size in sizes
            for y in range(size // 2, picture.shape[0] - size // 2 + 1, step)
            for x in range(size // 2, picture.shape[1] - size // 2 + 1, step)
        ]
        return np.asarray(cv2.SIFT_create().compute(picture, points)[1], dtype=np.uint8)

    descriptors = _map_pictures(describe, pictures, "SIFT", n_jobs, progress)
    words = _words(descriptors, n_words, np.random.default_rng(random_state))
    counts = np.empty((len(pictures), n_words))
    for row, rows in zip(counts, descriptors, strict=True):
        row[:] = np.bincount(_nearest_words(rows, words), minlength=n_words)
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def _words(
    descriptors: Sequence[NDArray[np.uint8]], n_words: int, rng: np.random.Generator
) -> NDArray[np.float32]:
    """Centres of K-means on equally many descriptors of each picture, (n_words, 128)."""
    share = -(-100 * n_words // len(descriptors))
    chosen = [rows[rng.permutation(len(rows))[:share]] for rows in descriptors]
    sample = np.concatenate(chosen).astype(np.float32)
    if len(sample) < n_words:
        raise ValueError(
            f"expected at least {n_words} descriptors for {n_words} words, got {len(sample)}; use "
            "fewer words, a smaller step or more pictures"
        )
    kmeans = MiniBatchKMeans(
        n_words, batch_size=2048, n_init=1, random_state=int(rng.integers(2**31))
    )
    with threadpool_limits(1, user_api="openmp"):
        return np.asarray(kmeans.fit(sample).cluster_centers_, dtype=np.float32)


def _nearest_words(descriptors: NDArray[np.uint8], words: NDArray[np.float32]) -> NDArray[np.intp]:
    """Index of the word nearest to each descriptor, (n_descriptors,)."""
    half = np.square(words).sum(axis=1) / 2
    parts = [
        np.argmin(half - descriptors[start : start + _ROWS].astype(np.float32) @ words.T, axis=1)
        for start in range(0, len(descriptors), _ROWS)
    ]
    return np.concatenate(parts)


def phog(
    pictures: Sequence[Greys],
    *,
    n_levels: int = 4,
    n_bins: int = 20,
    n_jobs: int | None = None,
    progress: Progress = no_progress,
) -> Floats:
    """Histograms of edge directions in ever finer parts of pictures, (n_pictures, n_features).

    Parameters
    ----------
    pictures : list of (height, width) uint8 arrays
        Each with at least 2^(n_levels − 1) pixels along each side.
    n_levels : int
        Level l divides a picture into 2^l × 2^l parts, l = 0 … n_levels − 1.
    n_bins : int
        Number of direction bins from 0 to 180 degrees.
    n_jobs : int or None
        Threads.
    progress : callable

    Returns
    -------
    shares : (n_pictures, n_bins (4^n_levels − 1)/3) array
        Histograms of all parts by level. Rows sum to 1; a picture without an edge has equal shares.

    Notes
    -----
    The pyramid histogram of oriented gradients of Bosch, Zisserman and Munoz (2007): each pixel on
    a Canny edge adds the size of its gradient to the bin of the gradient's direction.

    Examples
    --------
    >>> import numpy as np
    >>> from viewhop.experiments._vision import phog
    >>> picture = np.zeros((32, 32), dtype=np.uint8)
    >>> picture[:, 16:] = 255
    >>> shares = phog([picture], n_levels=1, n_bins=4)[0]
    >>> int(shares.argmax())  # a gradient along x, at 0 degrees
    0
    """
    _check_pictures(pictures, 2 ** (n_levels - 1))
    canny, sobel_h, sobel_v = _skimage()

    def describe(picture: Greys) -> Floats:
        shades = picture / 255.0
        down, across = sobel_h(shades), sobel_v(shades)
        ys, xs = np.nonzero(canny(shades))
        sizes = np.hypot(down[ys, xs], across[ys, xs])
        turn = np.mod(np.arctan2(down[ys, xs], across[ys, xs]), np.pi) / np.pi
        # Bins are centred on 0, so that a gradient along an axis falls in the middle of a bin.
        bins = np.rint(turn * n_bins).astype(int) % n_bins
        parts = []
        for level in range(n_levels):
            side = 2**level
            part = (ys * side // picture.shape[0]) * side + xs * side // picture.shape[1]
            parts.append(
                np.bincount(part * n_bins + bins, weights=sizes, minlength=side**2 * n_bins)
            )
        histogram = np.concatenate(parts)
        total = histogram.sum()
        return histogram / total if total > 0 else np.full(histogram.size, 1 / histogram.size)

    return np.array(_map_pictures(describe, pictures, "PHOG", n_jobs, progress))


def _map_pictures(
    work: Callable[[Greys], Any],
    pictures: Sequence[Greys],
    stage: str,
    n_jobs: int | None,
    progress: Progress,
) -> list[Any]:
    total = len(pictures)
    return map_threads(
        work, pictures, thread_count(n_jobs), lambda done: progress(stage, done, total)
    )


def _check_pictures(pictures: Sequence[Greys], least: int) -> None:
    """Raise ValueError unless all pictures are greyscale arrays of sufficient size."""
    if not len(pictures):
        raise ValueError("expected at least one picture, got none")
    for number, picture in enumerate(pictures):
        if not isinstance(picture, np.ndarray) or picture.ndim != 2 or picture.dtype != np.uint8:
            raise ValueError(
                f"picture {number}: expected a (height, width) array of uint8, got "
                f"{getattr(picture, 'dtype', type(picture).__name__)} of shape "
                f"{np.shape(picture)}; convert pictures with `grey`"
            )
        if min(picture.shape) < least:
            raise ValueError(
                f"picture {number} has {picture.shape[0]} × {picture.shape[1]} pixels; expected at "
                f"least {least} × {least}"
            )


def _cv2() -> Any:
    try:
        import cv2
    except ImportError as error:
        raise _missing_package("OpenCV") from error
    return cv2


def _skimage() -> tuple[Any, Any, Any]:
    try:
        from skimage.feature import canny
        from skimage.filters import sobel_h, sobel_v
    except ImportError as error:
        raise _missing_package("scikit-image") from error
    return canny, sobel_h, sobel_v


def _missing_package(what: str) -> ImportError:
    return ImportError(
        f"image features need {what}, which is not installed; install it with: "
        'pip install "viewhop[vision]"'
    )
