"""Dimension: how many coordinates a kernel, or the data beneath it, has."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigvalsh
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from viewhop.errors import ConvergenceError
from viewhop.neighbours import Points, find_neighbourhoods
from viewhop.views import Views, is_collection

__all__ = ["box_count", "danco", "intrinsic", "local_pca", "numerical_rank"]

Floats = NDArray[np.float64]

#: Up to this many rows LAPACK finds all eigenvalues of an array faster than Lanczos a few.
DENSE_ROWS = 3000
#: Eigenvalues that the first round of Lanczos looks for, and one that should find none.
FIRST_ROUND = 16
LAST_ROUND = 4
#: Restarts of one round before it gives up.
MAX_RESTARTS = 300
#: A row this close below the side of a cube, in sides, lies on it: 0.3 / 0.1 is less than 3.
ON_THE_SIDE = 1e-9


def numerical_rank(K: Any, delta: float) -> int:
    """Number of eigenvalues of a symmetric kernel above `delta` times the largest.

    Parameters
    ----------
    K : (n, n) array, or an operator
        An operator is anything that has ``@`` and a size: a sparse matrix, a `LinearOperator`, an
        affinity or a walk. It is only multiplied by vectors, and never written out unless the
        rank is a large part of its size.
    delta : float
        δ, between 0 and 1. Near the rounding of the kernel, 1e-14 or 1e-6, noise is counted.

    Returns
    -------
    rank : int
        #{k : λ_k > δ λ_max}, 0 where no eigenvalue is positive. Of a kernel that is not
        positive semi-definite only the positive eigenvalues count: only they give coordinates.

    Raises
    ------
    ConvergenceError
        If Lanczos reaches its cap: many eigenvalues crowd at δ λ_max.

    Notes
    -----
    After Bermanis, Averbuch and Coifman (2013), who count singular values. A small array goes to
    LAPACK. Otherwise rounds of Lanczos, each twice as long as the one before, look for the largest
    eigenvalues on the complement of the eigenvectors known so far. A copy of a repeated
    eigenvalue that one round missed is the largest one of the next; a round that finds none above
    δ λ_max ends it.

    Examples
    --------
    >>> import numpy as np
    >>> from viewhop.dimension import numerical_rank
    >>> numerical_rank(np.diag([4.0, 2.0, 1.0, 0.1]), 0.2)
    3
    """
    delta = _number("delta", delta)
    if not 0 < delta < 1:
        raise ValueError(
            f"delta is a share of the largest eigenvalue, between 0 and 1, not {delta}"
        )
    if not _is_operator(K):
        K = _symmetric(K)
        if K.shape[0] <= DENSE_ROWS:
            return _count(eigvalsh(K), delta)
        try:
            # For more of the spectrum LAPACK is faster, and the array is there for it.
            found = _grown(K, K.shape[0], delta, most=K.shape[0] // 40)
        except ConvergenceError:
            found = None
        return _count(eigvalsh(K), delta) if found is None else found
    size = _size(K)
    found = _grown(K, size, delta, most=size)
    assert found is not None
    return found


def box_count(X: ArrayLike, sigma: float) -> int:
    """Number of cubes of side `sigma` that hold a sample.

    Parameters
    ----------
    X : (n_samples, n_features) array
    sigma : float
        Side of the cubes: the scale of a Gaussian kernel.

    Notes
    -----
    The cubes start at the smallest value of each feature, so an offset changes nothing. The
    count is an estimate of the numerical rank of the Gaussian kernel of scale σ for δ of about
    0.1, and no bound: for samples that fill a segment or a square the rank is about 0.7 or 0.4 of
    it. The side σ^D that the paper prints after Bermanis, Averbuch and Coifman (2013), D being
    the number of features, is the volume of a cube.

    Examples
    --------
    >>> from viewhop.dimension import box_count
    >>> box_count([[0.0], [0.4], [1.0], [5.0]], 1.0)
    3
    """
    rows = _rows(X).astype(np.float64)
    sigma = _number("sigma", sigma)
    if not 0 < sigma < np.inf:
        raise ValueError(f"sigma, the side of a cube, must be positive and finite, not {sigma}")
    with np.errstate(over="ignore"):
        cells = np.floor((rows - rows.min(axis=0)) / sigma + ON_THE_SIDE)
    if not np.isfinite(cells).all():
        raise ValueError(f"sigma={sigma} is too small to count cubes of that side: they overflow")
    return int(np.unique(cells, axis=0).shape[0])


def local_pca(X: ArrayLike, *, n_neighbors: int = 30, threshold: float = 0.25) -> int:
    """Intrinsic dimension: the median number of principal components of a neighbourhood.

    Of each sample and its nearest neighbours, as many components count as have a singular value
    above `threshold` times the largest one.

    Parameters
    ----------
    X : (n_samples, n_features) array
    n_neighbors : int
        Neighbours of a sample, ties included, itself left out; clipped to the number of other
        samples. No more components than neighbours can be found, and to find d of them takes
        about 3 d. Fewer neighbours see less of the curvature, more see over the noise.
    threshold : float
        Share of the largest singular value, between 0 and 1.

    Returns
    -------
    dimension : int
        The lower median over all samples.

    Notes
    -----
    After Fukunaga and Olsen (1971) and Verveer and Duin (1995), whose threshold of 0.05 is a share
    of the largest variance: the square of ours is 0.06. Noise whose spread is beyond about
    `threshold` times that of a neighbourhood counts as dimensions.

    Examples
    --------
    >>> import numpy as np
    >>> from viewhop.dimension import local_pca
    >>> angle = np.linspace(0, 2 * np.pi, 200, endpoint=False)
    >>> local_pca(np.c_[np.cos(angle), np.sin(angle)])
    1
    """
    rows = _rows(X)
    if not isinstance(n_neighbors, Integral) or n_neighbors < 1:
        raise ValueError(f"n_neighbors must be an integer of at least 1, not {n_neighbors!r}")
    threshold = _number("threshold", threshold)
    if not 0 < threshold < 1:
        raise ValueError(
            f"threshold is a share of the largest singular value, between 0 and 1, not {threshold}"
        )
    points = Points(rows)
    found = find_neighbourhoods(points, points, k=int(n_neighbors), k_scale=1)
    if not found.nearest.any():
        raise ValueError(
            f"all {len(points)} samples of X are equal, so it has no dimension to estimate"
        )
    counts = []
    for near in np.split(found.columns, np.searchsorted(found.rows, np.arange(1, len(points)))):
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
    """Intrinsic dimension by DANCo, not rounded.

    Dimensionality from angle and norm concentration compares the distances and angles between
    neighbours with those of samples drawn from balls of each dimension.

    Parameters
    ----------
    X : (n_samples, n_features) array
        At least two features and ``n_neighbors + 2`` distinct rows; equal rows count once.
    n_neighbors : int
    max_dimension : int or None
        The largest dimension that is tried, at least 2 and at most the number of features, which
        it is if None. Time grows with it: each dimension is one draw and one neighbour search.
    random_state : int, Generator, RandomState or None
        Seed of the draws.

    Raises
    ------
    ImportError
        Without scikit-dimension: ``pip install "viewhop[dimension]"``.

    Notes
    -----
    Ceruti et al. (2014), as implemented by scikit-dimension (``skdim.id.DANCo``).

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
            "danco needs scikit-dimension, an optional dependency: "
            'pip install "viewhop[dimension]"; local_pca needs nothing more'
        ) from error
    rows = _distinct(_rows(X))
    if rows.shape[1] < 2:
        raise ValueError("danco measures angles, which needs at least 2 features; X has 1")
    if not isinstance(n_neighbors, Integral) or n_neighbors < 2:
        raise ValueError(f"n_neighbors must be an integer of at least 2, not {n_neighbors!r}")
    if len(rows) < n_neighbors + 2:
        raise ValueError(
            f"danco with n_neighbors={n_neighbors} needs at least {n_neighbors + 2} distinct "
            f"samples; X has {len(rows)}"
        )
    if max_dimension is None:
        max_dimension = rows.shape[1]
    elif not isinstance(max_dimension, Integral) or not 2 <= max_dimension <= rows.shape[1]:
        raise ValueError(
            f"max_dimension must be an integer from 2 to {rows.shape[1]}, the number of features, "
            f"not {max_dimension!r}"
        )
    if isinstance(random_state, np.random.Generator):
        random_state = int(random_state.integers(2**31))
    model = DANCo(k=int(n_neighbors), D=int(max_dimension), random_state=random_state)
    # It prints a remark on equal rows where rounding takes a cosine beyond 1; there are none.
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
    """Intrinsic dimension of the samples, of several views the lower median over the views.

    Parameters
    ----------
    X : (n_samples, n_features) array, list or dict of them, or Views
    method : {"local_pca", "danco"}
        With the defaults of `local_pca` or `danco`; the latter is rounded.
    random_state : int, Generator, RandomState or None
        For `danco`.

    Returns
    -------
    dimension : int
        At least 1.

    Notes
    -----
    Views that measure one geometry have one dimension; the median leaves out a view in which
    noise adds some.

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
        raise ValueError(f"unknown method {method!r}; known are {', '.join(methods)}")
    views = Views(X) if is_collection(X) else Views([X])
    found = []
    for name in views.names:
        array = views.rows(name)
        try:
            found.append(max(1, round(methods[method](array))))
        except ValueError as error:
            raise ValueError(f"view {name!r}: {error}") from error
    return _lower_median(found)


def _grown(K: Any, n: int, delta: float, *, most: int) -> int | None:
    """The rank by growing Lanczos, or None once it is larger than `most`."""
    generator = np.random.default_rng(0)
    vectors = np.empty((n, 0))
    shift = 0.0

    def project(v: Floats) -> Floats:
        return np.asarray(v - vectors @ (vectors.T @ v))

    def product(v: Floats) -> Floats:
        inside = project(v.reshape(n))
        return project(np.asarray(K @ inside, dtype=np.float64)) + shift * inside

    def largest(k: int) -> tuple[Floats, Floats]:
        room = n - vectors.shape[1]
        return _largest(product, k, project(generator.standard_normal(n)), room=room)

    if n == 1:
        return int(product(np.ones(1))[0] > 0)
    if not product(generator.standard_normal(n)).any():  # ARPACK refuses the zero matrix
        return 0
    shift = delta * float(largest(1)[0][0])
    if shift <= 0:
        return 0
    # Shifted by δ λ_max, so that what Lanczos calls accurate is relative to that and not to the
    # small eigenvalues, which only need to be told to be small. Known eigenvectors have 0.
    wanted = FIRST_ROUND
    while vectors.shape[1] < n:
        values, basis = largest(min(wanted, n - vectors.shape[1], n - 1))
        above = values > 2 * shift
        if not above.any():
            break
        vectors = np.hstack([vectors, np.linalg.qr(project(basis[:, above]))[0]])
        if vectors.shape[1] > most:
            return None
        wanted = 2 * wanted if above.all() else LAST_ROUND
    return int(vectors.shape[1])


def _largest(
    product: Callable[[Floats], Floats], k: int, start: Floats, *, room: int
) -> tuple[Floats, Floats]:
    """The `k` largest eigenvalues, (k,), and their eigenvectors, (n, k), in `room` dimensions."""
    n = start.size
    width = max(2 * k + 1, 48)
    if width >= room:  # Lanczos would run out of dimensions, having kept as many vectors
        matrix = np.column_stack([product(unit) for unit in np.eye(n)])
        values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
        return values[-k:], vectors[:, -k:]
    try:
        values, vectors = eigsh(
            LinearOperator((n, n), matvec=product, dtype=np.float64),
            k=k,
            which="LA",
            v0=start,
            ncv=width,
            tol=1e-7,
            maxiter=MAX_RESTARTS,
        )
    except ArpackError as stopped:
        n_found = np.size(getattr(stopped, "eigenvalues", ()))
        raise ConvergenceError(
            f"Lanczos found {n_found} of the next {k} eigenvalues within its cap. "
            "Likely cause: a bandwidth so small that many eigenvalues are nearly equal; raise it, "
            "raise delta, or pass the kernel as an array."
        ) from stopped
    return np.asarray(values), np.asarray(vectors)


def _count(values: NDArray[np.floating], delta: float) -> int:
    """Number of values above `delta` times the largest; 0 where none is positive."""
    return int((values > delta * values.max(initial=0.0)).sum())


def _is_operator(K: Any) -> bool:
    """Whether `K` multiplies without being an array."""
    return hasattr(K, "__matmul__") and not hasattr(K, "__array__")


def _size(K: Any) -> int:
    """Number of rows of an operator."""
    shape = getattr(K, "shape", None)
    if shape is None:
        # A walk has a node for each sample and view; an affinity has samples only.
        size = getattr(K, "n_nodes", getattr(K, "n_samples", None))
        if size is None:
            raise TypeError(
                f"K must be an array or an operator with @ and a shape, not {type(K).__name__}"
            )
        shape = (size, size)
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] == 0:
        raise ValueError(f"K must be square and not empty, but it is {tuple(shape)}")
    return int(shape[0])


def _symmetric(K: Any) -> Floats:
    """The given array, checked to be a symmetric matrix."""
    values = np.asarray(K)
    if values.dtype.kind not in "fiub":
        raise TypeError(f"K must be an array of real numbers, not of {values.dtype}")
    single = values.dtype == np.float32
    values = values.astype(np.float64, copy=False)
    _size(values)
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0]
        raise ValueError(f"entry ({row}, {column}) of K is not finite")
    gap = np.abs(values - values.T)
    rounding = np.sqrt(np.finfo(np.float32 if single else np.float64).eps)
    if gap.max() > rounding * np.abs(values).max():
        row, column = np.unravel_index(int(gap.argmax()), gap.shape)
        raise ValueError(
            f"K is not symmetric: entries ({row}, {column}) and ({column}, {row}) are "
            f"{values[row, column]:.6g} and {values[column, row]:.6g}"
        )
    return values


def _rows(X: ArrayLike) -> NDArray[np.floating]:
    """The samples of one view, checked."""
    rows = Views({"X": X}).arrays[0]
    if len(rows) < 2:
        raise ValueError("X has n_samples = 1; a dimension needs at least 2 samples")
    return rows


def _distinct(rows: NDArray[np.floating]) -> NDArray[np.floating]:
    """The rows without their later copies, in their order."""
    first = np.unique(rows, axis=0, return_index=True)[1]
    return np.asarray(rows[np.sort(first)])


def _number(name: str, value: Any) -> float:
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name} must be a number, not {value!r}")
    return float(value)


def _lower_median(counts: list[int]) -> int:
    """The median; of an even number the smaller of the two in the middle."""
    return sorted(counts)[(len(counts) - 1) // 2]
