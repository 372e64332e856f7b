"""Intrinsic dimension of the samples, estimated from their neighbourhoods."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from viewhop.dimension._arguments import check_number, check_rows
from viewhop.neighbours import Points, find_neighbourhoods
from viewhop.views import Views, is_collection, require_rows

__all__ = ["danco", "intrinsic", "local_pca"]


def local_pca(X: ArrayLike, *, n_neighbors: int = 30, threshold: float = 0.25) -> int:
    """Intrinsic dimension: the median number of principal components of a neighbourhood.

    A component of a sample and its nearest neighbours counts if its singular value is above
    `threshold` times the largest one.

    Parameters
    ----------
    X : (n_samples, n_features) array
    n_neighbors : int
        Number of neighbours of a sample, including ties, without the sample; clipped to the
        number of other samples. It bounds the dimension: d components need about 3 d neighbours.
        Fewer neighbours are less affected by curvature, more are less affected by noise.
    threshold : float
        Share of the largest singular value, between 0 and 1.

    Returns
    -------
    dimension : int
        The lower median over all samples.

    Notes
    -----
    After Fukunaga and Olsen (1971) and Verveer and Duin (1995). Their threshold of 0.05 is a share
    of the largest variance; the square of ours is 0.06. Noise counts as dimensions if its spread
    exceeds about `threshold` times that of a neighbourhood.

    Examples
    --------
    >>> import numpy as np
    >>> from viewhop.dimension import local_pca
    >>> angle = np.linspace(0, 2 * np.pi, 200, endpoint=False)
    >>> local_pca(np.c_[np.cos(angle), np.sin(angle)])
    1
    """
    rows = check_rows(X)
    if not isinstance(n_neighbors, Integral) or n_neighbors < 1:
        raise ValueError(f"n_neighbors must be an integer of at least 1, got {n_neighbors!r}")
    threshold = check_number("threshold", threshold)
    if not 0 < threshold < 1:
        raise ValueError(
            "threshold must be a share of the largest singular value, between 0 and 1, got "
            f"{threshold}"
        )
    points = Points(rows)
    neighbours = find_neighbourhoods(points, points, k=int(n_neighbors), k_scale=1)
    if not neighbours.nearest.any():
        raise ValueError(
            f"all {len(points)} samples of X are equal, so it has no dimension to estimate"
        )
    counts = []
    for near in np.split(
        neighbours.columns, np.searchsorted(neighbours.rows, np.arange(1, len(points)))
    ):
        patch = rows[near].astype(np.float64)
        values = np.linalg.svd(patch - patch.mean(axis=0), compute_uv=False)
        counts.append(int((values > threshold * values[0]).sum()))
    return _lower_median(counts)


def danco(
    X: ArrayLike,
    *,
    n_neighbors: int = 10,
    max_dimension: int | None = None,
    random_state: int | np.random.Generator | np.random.RandomState | None = None,
) -> float:
    """Intrinsic dimension by DANCo, as a float.

    "Dimensionality from angle and norm concentration" (Ceruti et al., 2014), as implemented by
    scikit-dimension (``skdim.id.DANCo``), compares the distances and angles between neighbours
    with those of samples drawn from balls of each dimension.

    Parameters
    ----------
    X : (n_samples, n_features) array
        At least two features and ``n_neighbors + 2`` distinct rows; equal rows count once.
    n_neighbors : int
    max_dimension : int or None
        The largest dimension to try, from 2 to the number of features; None tries all. Each
        dimension costs one draw and one neighbour search.
    random_state : int, Generator, RandomState or None
        Seed of the draws.

    Raises
    ------
    ImportError
        Without scikit-dimension: ``pip install "viewhop[dimension]"``.

    Examples
    --------
    >>> import viewhop as vh
    >>> from viewhop.dimension import danco
    >>> rolls = vh.datasets.make_swiss_rolls(500, random_state=0)
    >>> round(danco(rolls.views["x"], random_state=0))  # doctest: +SKIP
    2
    """
    try:
        from skdim.id import DANCo
    except ImportError as error:
        raise ImportError(
            "danco needs scikit-dimension, which is not installed: "
            'pip install "viewhop[dimension]", or use local_pca'
        ) from error
    rows = _distinct(check_rows(X))
    _check_danco(rows, n_neighbors, max_dimension)
    if isinstance(random_state, np.random.Generator):
        random_state = int(random_state.integers(2**31))
    largest = rows.shape[1] if max_dimension is None else int(max_dimension)
    model = DANCo(k=int(n_neighbors), D=largest, random_state=random_state)
    # DANCo prints a remark on equal rows if rounding makes a cosine exceed 1; there are none.
    with np.errstate(all="ignore"), redirect_stdout(StringIO()):
        dimension = float(model.fit(rows).dimension_)
    if np.isnan(dimension):
        raise ValueError(
            "DANCo gives no estimate: some samples and their neighbours lie exactly on a line; "
            "use local_pca"
        )
    return dimension


def intrinsic(
    X: Any,
    *,
    method: str = "local_pca",
    random_state: int | np.random.Generator | np.random.RandomState | None = None,
) -> int:
    """Intrinsic dimension of the samples; for several views, the lower median over the views.

    Parameters
    ----------
    X : (n_samples, n_features) array, list or dict of arrays, or Views
    method : {"local_pca", "danco"}
        The estimator, with its defaults; the result of `danco` is rounded.
    random_state : int, Generator, RandomState or None
        Seed of `danco`.

    Returns
    -------
    dimension : int
        At least 1.

    Notes
    -----
    Views of the same geometry have the same dimension; the median ignores a view in which noise
    adds dimensions.

    Examples
    --------
    >>> import viewhop as vh
    >>> from viewhop.dimension import intrinsic
    >>> rolls = vh.datasets.make_swiss_rolls(500, random_state=0)
    >>> intrinsic(rolls.views)
    2
    """
    methods: dict[str, Callable[[NDArray[np.floating]], float]] = {
        "local_pca": local_pca,
        "danco": lambda rows: danco(rows, random_state=random_state),
    }
    if method not in methods:
        raise ValueError(f"unknown method {method!r}; there are {', '.join(methods)}")
    views = require_rows(Views(X) if is_collection(X) else Views([X]))
    dimensions = []
    for name in views.names:
        array = views.full_rows(name, "an estimate of the dimension")
        try:
            dimensions.append(max(1, round(methods[method](array))))
        except ValueError as error:
            raise ValueError(f"view {name!r}: {error}") from error
    return _lower_median(dimensions)


def _check_danco(rows: NDArray[np.floating], n_neighbors: int, max_dimension: int | None) -> None:
    n_features = rows.shape[1]
    if n_features < 2:
        raise ValueError("danco measures angles, which needs at least 2 features; X has 1")
    if not isinstance(n_neighbors, Integral) or n_neighbors < 2:
        raise ValueError(f"n_neighbors must be an integer of at least 2, got {n_neighbors!r}")
    if len(rows) < n_neighbors + 2:
        raise ValueError(
            f"danco with n_neighbors={n_neighbors} needs at least {n_neighbors + 2} distinct "
            f"samples; X has {len(rows)}"
        )
    if max_dimension is not None and (
        not isinstance(max_dimension, Integral) or not 2 <= max_dimension <= n_features
    ):
        raise ValueError(
            f"max_dimension must be an integer from 2 to {n_features}, the number of features, "
            f"got {max_dimension!r}"
        )


def _distinct(rows: NDArray[np.floating]) -> NDArray[np.floating]:
    """The distinct rows, in order of first appearance."""
    first = np.unique(rows, axis=0, return_index=True)[1]
    return np.asarray(rows[np.sort(first)])


def _lower_median(counts: list[int]) -> int:
    """The median; for an even number of values, the smaller of the two in the middle."""
    return sorted(counts)[(len(counts) - 1) // 2]
