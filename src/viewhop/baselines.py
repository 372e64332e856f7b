"""Baselines: the methods for several views that the paper compares its walk with."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy.linalg import eigh, svd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from viewhop import memory
from viewhop.affinity import KernelRows
from viewhop.bandwidth import across_views
from viewhop.cholesky import LowRank, Pivots, low_rank
from viewhop.components import listed, warn_of_pieces
from viewhop.errors import FarSampleWarning
from viewhop.estimators import MultiViewDiffusionMaps, _generator, _whole_or_unchanged
from viewhop.extension import Extension, HopExtension, Stepped
from viewhop.kernels import NAMES, Kernel, per_view
from viewhop.progress import Progress, shown
from viewhop.solvers import solve
from viewhop.spectrum import Spectrum, signs
from viewhop.views import Layout, Views
from viewhop.walks import Walk

__all__ = ["DeSaEmbedding", "KernelCCA"]

Floats = NDArray[np.float64]


class DeSaEmbedding(MultiViewDiffusionMaps):
    """Rows for K-means from the joint graph Laplacian of two views, after de Sa.

    The leading eigenvectors of the normalised product of the two kernels, the trivial one
    included, with each sample's row divided by its sum of squares.

    Parameters
    ----------
    n_components : int, default=2
        Number of eigenvectors, the number of clusters that are looked for. The first is the
        trivial one.
    kernel : str, kernel object, list or dict, default="adaptive"
    views, solver, tol, max_memory, n_jobs, random_state, verbose
        As in `MultiViewDiffusionMaps`.

    Attributes
    ----------
    embedding_ : (n_samples, 2 n_components) array
        Rows of the first view and rows of the second, side by side.
    eigenvalues_ : (n_components,) array
        From 1, that of the trivial eigenvector, downwards.
    view_embeddings_ : dict of (n_samples, n_components) arrays by view name
    bandwidths_, degrees_, spectrum_, solver_, walk_, view_names_, n_views_, n_components_
        As in `MultiViewDiffusionMaps`; the spectrum begins with the trivial pair.

    See Also
    --------
    MultiViewDiffusionMaps : The walk of the same kernel, for any number of views.

    Notes
    -----
    Eqs. (9)–(11), with D̄ the row sums of W = K¹K² for the first view and its column sums for the
    second: Eq. (10) prints row sums for both. As printed, Eq. (11) divides by the sum of squares
    and not by its root, so a row's length is one over that of the eigenvectors at the sample.

    A unit eigenvector is φ = √π ψ, with ψ the walk's right eigenvector and π the degree of a node
    over the sum of all. A new sample has its own degree, from its own kernel row. In a view that
    is not given, its ψ is filled as `MultiViewDiffusionMaps` fills it, and its degree there is the
    mean over training samples, weighted by its kernel in the other view. A sample far from all
    others, whose degree would be next to nothing, gets the mean degree of its nearest ones.

    Examples
    --------
    >>> import viewhop as vh
    >>> from viewhop.baselines import DeSaEmbedding
    >>> circles = vh.datasets.make_circles(200, random_state=0)
    >>> est = DeSaEmbedding(2, kernel="gaussian", random_state=0)
    >>> est.fit_transform(circles.views).shape
    (200, 4)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        name: constraint
        for name, constraint in MultiViewDiffusionMaps._parameter_constraints.items()
        if name
        in ("kernel", "views", "solver", "tol", "max_memory", "n_jobs", "random_state", "verbose")
    } | {"n_components": [Interval(Integral, 1, None, closed="left")]}

    def __init__(
        self,
        n_components: int = 2,
        *,
        kernel: Any = "adaptive",
        views: Any = None,
        solver: str = "auto",
        tol: float | None = None,
        max_memory: float | str | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int | Progress = 0,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.views = views
        self.solver = solver
        self.tol = tol
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    # What the parent would take as parameters: the walk that changes view at each step.
    n_steps = 1
    fusion = "hop"
    within_view_weight = 0.0
    hops = None
    accuracy = None
    output = "concat"

    @property
    def coordinates(self) -> NoReturn:
        """Missing: there is no diffusion time."""
        raise AttributeError("a DeSaEmbedding has no diffusion time, so it has no coordinates()")

    def _read(self, X: Any, *, reset: bool) -> Views:
        views = super()._read(X, reset=reset)
        if reset and views.n_views != 2:
            raise ValueError(
                f"DeSaEmbedding takes exactly two views, got {views.n_views}; use "
                "MultiViewDiffusionMaps for another number, or views=2 to cut one array in two"
            )
        return views

    def _solve(self, walk: Walk, generator: np.random.Generator, progress: Progress) -> Spectrum:
        """The trivial pair, and as many others as `n_components` leaves."""
        pieces = walk.pieces()
        self.n_pieces_ = int(pieces.max()) + 1
        warn_of_pieces(walk, pieces, stacklevel=4)
        r = int(self.n_components)
        found = solve(
            walk,
            r - 1,
            solver=self.solver,
            tol=self.tol,
            pieces=pieces,
            generator=generator,
            progress=progress,
        )
        usable = 1 + int((found.eigenvalues > 8 * np.finfo(walk.dtype).eps).sum())
        if usable < r:
            raise ValueError(
                f"n_components={r} is more than the {usable} eigenvalues of this walk that are "
                f"positive beyond rounding; pass at most n_components={usable}, or a smaller "
                "bandwidth"
            )
        return Spectrum(
            np.append(1.0, found.eigenvalues),
            np.hstack([np.ones((walk.n_nodes, 1)), found.eigenvectors]),
            np.append(0.0, found.residuals),
            found.stationary,
            found.solver,
            found.n_products,
        )

    def _keep(self) -> None:
        assert isinstance(self._extension, HopExtension)
        self._extension = ClusterRows(self._extension, self.spectrum_)
        super()._keep()


class ClusterRows(Extension):
    """Unit eigenvectors of a two-view walk at samples, over the sum of their squares.

    Parameters
    ----------
    plain : HopExtension
        Gives P̂ψ and has the walk.
    spectrum : Spectrum
        With the trivial pair.

    Notes
    -----
    Eq. (11).
    """

    def __init__(self, plain: HopExtension, spectrum: Spectrum) -> None:
        self.plain = plain
        self.eigenvalues = spectrum.eigenvalues
        self.total = float(plain.walk.degrees.sum())

    def training(self) -> list[Floats]:
        """Rows of the training samples, (n_samples, r) per view."""
        degrees = self.plain.walk.blocks(self.plain.walk.degrees)
        return self._rows(self.plain.training(), [np.asarray(d) for d in degrees])

    def step(self, rows: Sequence[KernelRows | None]) -> Stepped:
        """Rows of new samples, one block per view."""
        stepped = self.plain.step(rows)
        return replace(stepped, blocks=self._rows(stepped.blocks, self._degrees(rows)))

    def _rows(self, stepped: list[Floats], degrees: list[Floats]) -> list[Floats]:
        blocks = []
        for block, degree in zip(stepped, degrees, strict=True):
            unit = block / self.eigenvalues * np.sqrt(degree / self.total)[:, None]
            blocks.append(unit / np.square(unit).sum(axis=1, keepdims=True))
        return blocks

    def _degrees(self, rows: Sequence[KernelRows | None]) -> list[Floats]:
        """Degree of each new sample's node in each view."""
        known = self.plain.walk.blocks(self.plain.walk.degrees)
        n_rows = next(found.n_rows for found in rows if found is not None)
        degrees = [np.full(n_rows, np.nan) for _ in rows]
        for l, found in enumerate(rows):
            if found is None:
                continue
            peaks = found.peaks()
            seen = np.isfinite(peaks)
            weights = found.weights(peaks)
            with np.errstate(invalid="ignore"):
                own = np.asarray(weights @ self.plain.weights[l]) * np.exp(peaks)
                mass = np.asarray(weights.sum(axis=1))
                like = [np.asarray(weights @ degree) / mass for degree in known]
            # A sample's own degree replaces what the other view may have filled in.
            degrees[l] = np.where(seen, np.where(found.far, like[l], own), degrees[l])
            other = 1 - l
            degrees[other] = np.where(np.isnan(degrees[other]), like[other], degrees[other])
        return degrees


class KernelCCA(TransformerMixin, BaseEstimator):
    """Canonical variates of kernel functions on several views: what is most correlated in them.

    Each view gets functions of its samples, in the space of its kernel, whose values over the
    samples correlate most with those of the other views.

    Parameters
    ----------
    n_components : int, default=2
        Number of variates per view.
    kernel : str, kernel object, list or dict, default="gaussian"
        "gaussian", "laplacian", "correlation", "precomputed", an object of `viewhop.kernels`, or
        one of these per view, as a list or a dict by view name. It must be positive semi-definite,
        so "adaptive", `n_neighbors` and local scales are refused.
    regularization : float, default=0.01
        γ, in units of the kernel (1 on the diagonal of a Gaussian); positive. Its effect does not
        grow with the number of samples, as the kernel's eigenvalues do.
    rank : int or None, default=100
        Columns of a kernel from which its incomplete Cholesky factor is made, at most as many as
        there are samples; None lets `tol` decide.
    tol : float, default=0.0
        The factor ends before `rank` columns where the largest remaining diagonal entry is at
        most this share of the largest of the kernel; 0 is as far as the precision goes.
    views : int, list, dict or None, default=None
        Column groups, where X is one stacked array or DataFrame; see `Views.from_columns`.
    max_memory : int, str or None, default=None
        Bytes, or text like "8GB", that the factors may take; None is 80 % of what is left.
    n_jobs : int or None, default=None
        Threads of the neighbour search that a rule for the bandwidth asks for.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the row samples from which some rules estimate a bandwidth.
    verbose : int or callable, default=0
        1 shows progress bars; a callable gets ``progress(stage, done, total)``.

    Attributes
    ----------
    correlations_ : (n_components,) array
        Regularised canonical correlations ρ, largest first; with L views the mean over pairs,
        the eigenvalue over L − 1.
    embedding_ : (n_samples, n_views · n_components) array
        Variates of the training samples, views side by side.
    view_embeddings_ : dict of (n_samples, n_components) arrays by view name
        K^l v_l, centred.
    canonical_vectors_ : dict of (n_samples, n_components) arrays by view name
        v_l, the eigenvectors of Eq. (8).
    bandwidths_ : dict of float by view name
    ranks_ : dict of int by view name
        Columns of each factor.
    left_out_ : dict of float by view name
        Share of each kernel's trace that its factor does not have.
    view_names_ : tuple of str
    n_views_, n_components_, n_features_in_ : int

    See Also
    --------
    MultiViewDiffusionMaps : A walk between the views, on neighbours too.

    Notes
    -----
    Eq. (8) with centred kernels, after Lai and Fyfe (2000) and Bach and Jordan (2002):

        K¹K² v_2 = ρ (K¹ + γI)² v_1 ,      K²K¹ v_1 = ρ (K² + γI)² v_2 .

    For more views each product K^l K^m, l ≠ m, stands in its place off the diagonal, so the sum of
    the correlations of all pairs is as large as it can be. Each kernel is the product G Gᵀ of an
    incomplete Cholesky factor, centred by taking the mean row of G from each row, in `fit` as in
    `transform`; the problem is then one of the size of the factors. At full rank nothing is lost.

    Vectors are scaled so that v_lᵀ (K^l + γI)² v_l / n_samples is 1 on average over the views (with
    two views: in each), so that variates do not shrink as samples are added.

    A new sample need not come with every view. The variates of a view that is not given are
    predicted from each given one by kernel ridge regression with the same γ, and the mean of these
    predictions is taken; as any regression does, they shrink towards 0 where the views are little
    correlated.

    Examples
    --------
    >>> import viewhop as vh
    >>> from viewhop.baselines import KernelCCA
    >>> circles = vh.datasets.make_circles(200, random_state=0)
    >>> est = KernelCCA(2, rank=50).fit(circles.views)
    >>> est.embedding_.shape
    (200, 4)
    >>> bool(est.correlations_[0] > 0.9)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "kernel": [StrOptions({*NAMES}), Kernel, list, tuple, Mapping],
        "regularization": [Interval(Real, 0, None, closed="neither")],
        "rank": [Interval(Integral, 1, None, closed="left"), None],
        "tol": [Interval(Real, 0, 1, closed="left")],
        "views": [Interval(Integral, 1, None, closed="left"), list, tuple, Mapping, None],
        "max_memory": [Interval(Real, 0, None, closed="neither"), str, None],
        "n_jobs": [Integral, None],
        "random_state": ["random_state", np.random.Generator],
        "verbose": ["verbose", callable],
    }

    # Views are read here as they are there.
    _read: ClassVar[Callable[..., Views]] = MultiViewDiffusionMaps._read
    _cut: ClassVar[Callable[..., Views]] = MultiViewDiffusionMaps._cut

    view_names_: tuple[str, ...]
    n_views_: int
    _layout: Layout

    def __init__(
        self,
        n_components: int = 2,
        *,
        kernel: Any = "gaussian",
        regularization: float = 0.01,
        rank: int | None = 100,
        tol: float = 0.0,
        views: Any = None,
        max_memory: float | str | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int | Progress = 0,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.regularization = regularization
        self.rank = rank
        self.tol = tol
        self.views = views
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: object = None) -> Self:
        """Learn what the views have in common.

        Parameters
        ----------
        X : list or dict of (n_samples, n_features) arrays, Views, stacked array or DataFrame
            Two views or more.
        y : ignored

        Returns
        -------
        self

        Warns
        -----
        FarSampleWarning
            If samples are like no pivot of some view; its kernel needs a larger rank.
        """
        self._check_parameters()
        generator = _generator(self.random_state)
        with _whole_or_unchanged(self), shown(self.verbose) as progress:
            views = self._read(X, reset=True)
            self._check_size(views)
            kernels = self._low_rank(views, generator, progress)
            _warn_far(np.any([kernel.far for kernel in kernels], axis=0))
            self._keep(kernels, canonical(kernels, self.regularization, self.n_components))
        return self

    def fit_transform(self, X: Any, y: object = None) -> NDArray[np.floating]:
        """The variates of the training samples, (n_samples, n_features_out).

        Parameters
        ----------
        X : as in `fit`
        y : ignored
        """
        return self.fit(X).embedding_

    def transform(self, X: Any) -> NDArray[np.floating]:
        """The variates of samples, new or not, (n_samples, n_features_out).

        Parameters
        ----------
        X : as in `fit`
            Any subset of the views: None in a list, or a dict without some of them.

        Warns
        -----
        FarSampleWarning
            If samples are like no pivot of some view; the kernel says nothing of them there.
        """
        check_is_fitted(self)
        views = self._read(X, reset=False)
        centred, far = {}, np.zeros(len(views), dtype=bool)
        for l, name in enumerate(self.view_names_):
            if name in views.names:
                rows, away = self._pivots[l].against(views[name])
                centred[l] = rows - self._canonical.centres[l]
                far |= away
        _warn_far(far)
        blocks = [self._canonical.variates(m, centred) for m in range(self.n_views_)]
        return np.hstack(blocks).astype(self._layout.dtype)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the embedding's columns: ``<view>_<k>``, k from 1.

        Parameters
        ----------
        input_features : list of str or None
            Checked against the columns of `fit`, and not used otherwise.
        """
        check_is_fitted(self)
        _check_feature_names_in(self, input_features, generate_names=False)
        numbers = range(1, self.n_components_ + 1)
        return np.array([f"{view}_{k}" for view in self.view_names_ for k in numbers], dtype=object)

    def __sklearn_tags__(self) -> Any:
        """Tags for scikit-learn."""
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _check_parameters(self) -> None:
        """Raise ValueError for what can be wrong before any data is seen."""
        self._validate_params()
        if self.rank is not None and self.n_components > self.rank:
            raise ValueError(
                f"n_components={self.n_components} is more than rank={self.rank}, the number of "
                "kernel columns it is made from; raise rank"
            )

    def _check_size(self, views: Views) -> None:
        """Raise ValueError unless there are views to correlate and samples enough."""
        if views.n_views < 2:
            raise ValueError(
                "KernelCCA correlates at least two views, got 1; pass a list of views, or views=2 "
                "to cut one array in two"
            )
        n = len(views)
        if n < self.n_components + 1:
            raise ValueError(
                f"n_components={self.n_components} needs at least {self.n_components + 1} samples, "
                f"but {listed(views.names)} have n_samples = {n}"
            )
        if self.rank is not None and self.rank > n:
            raise ValueError(
                f"rank={self.rank} is more than n_samples = {n}; pass rank={n} or less, or "
                "rank=None to let tol decide"
            )

    def _check_rows(self, views: Views) -> None:
        """Nothing: the pivots refuse a row that their kernel is not defined on."""

    def _low_rank(
        self, views: Views, generator: np.random.Generator, progress: Progress
    ) -> list[LowRank]:
        """The kernel of each view as the product of a factor, if memory allows."""
        rank = len(views) if self.rank is None else int(self.rank)
        memory.require(
            3 * views.n_views * len(views) * rank * 8,  # the factor, centred, and its basis
            memory.budget(self.max_memory),
            what=f"kernel factors of {len(views):,} samples in {views.n_views} views",
            instead=f"pass a rank below {rank} or raise max_memory",
        )
        kernels = across_views(per_view(self.kernel, views.names), views, generator)
        return [
            low_rank(
                name,
                kernels[name],
                X,
                rank=rank,
                tol=self.tol,
                generator=generator,
                n_jobs=effective_n_jobs(self.n_jobs),
                progress=progress,
            )
            for name, X in views.items()
        ]

    def _keep(self, kernels: list[LowRank], found: Canonical) -> None:
        """Store what the fit is asked about."""
        self._pivots: list[Pivots] = [kernel.pivots for kernel in kernels]
        self._canonical = found
        centred = {l: k.rows - found.centres[l] for l, k in enumerate(kernels)}
        dtype = self._layout.dtype
        blocks = [found.variates(l, centred).astype(dtype) for l in centred]
        self.correlations_ = found.correlations
        self.n_components_ = found.correlations.size
        self.view_embeddings_ = self._by_view(blocks)
        self.embedding_: NDArray[np.floating] = np.hstack(blocks)
        self.canonical_vectors_ = self._by_view([v.astype(dtype) for v in found.vectors])
        self.bandwidths_ = self._by_view([pivots.scale for pivots in self._pivots])
        self.ranks_ = self._by_view([kernel.rows.shape[1] for kernel in kernels])
        self.left_out_ = self._by_view([kernel.left_out for kernel in kernels])

    def _by_view(self, entries: Sequence[Any]) -> dict[str, Any]:
        return dict(zip(self.view_names_, entries, strict=True))


@dataclass(frozen=True)
class Canonical:
    """Canonical functions of several views, on the rows of their kernels' factors.

    Attributes
    ----------
    correlations : (r,) array
    vectors : list of (n, r) arrays
        v_l.
    centres : list of (k_l,) arrays
        Mean row of each factor.
    weights : list of (k_l, r) arrays
        What turns centred factor rows of a view into its variates.
    regressions : dict of (k_l, r) arrays by pair (l, m)
        What turns centred factor rows of view l into a prediction of the variates of view m.
    """

    correlations: Floats
    vectors: list[Floats]
    centres: list[Floats]
    weights: list[Floats]
    regressions: dict[tuple[int, int], Floats]

    def variates(self, m: int, centred: Mapping[int, Floats]) -> Floats:
        """Variates of view m, (q, r), from centred factor rows of the views that are given."""
        if m in centred:
            return centred[m] @ self.weights[m]
        predicted = [rows @ self.regressions[l, m] for l, rows in centred.items()]
        return np.asarray(np.mean(predicted, axis=0))


def canonical(kernels: Sequence[LowRank], regularization: float, n_components: int) -> Canonical:
    """The leading canonical functions of several views.

    Parameters
    ----------
    kernels : sequence of LowRank
        One per view, on the same samples.
    regularization : float
        γ.
    n_components : int

    Notes
    -----
    Eq. (8). With the centred factor G = UΣVᵀ and w = (K + γI)v the problem becomes that of the
    symmetric matrix with blocks N^l N^m, l ≠ m, where N = K(K + γI)⁻¹ = U diag(σ²/(σ² + γ)) Uᵀ; a
    vector w with ρ ≠ 0 is some U a, so that the coefficients a have an eigenproblem of the size
    of the factors.
    """
    n, n_views = kernels[0].rows.shape[0], len(kernels)
    centres = [kernel.rows.mean(axis=0) for kernel in kernels]
    bases, inverses, damped, turns = [], [], [], []
    for kernel, centre in zip(kernels, centres, strict=True):
        U, sizes, V = svd(kernel.rows - centre, full_matrices=False)
        bases.append(U)
        inverses.append(1.0 / (np.square(sizes) + regularization))
        damped.append(np.square(sizes) * inverses[-1])
        turns.append(V.T * (sizes * inverses[-1]))  # V Σ (Σ² + γ)⁻¹
    ends = np.cumsum([0, *(d.size for d in damped)])
    parts = [slice(start, stop) for start, stop in pairwise(ends)]
    matrix = np.zeros((ends[-1], ends[-1]))
    for l in range(n_views):
        for m in range(l):
            cross = damped[l][:, None] * (bases[l].T @ bases[m]) * damped[m]
            matrix[parts[l], parts[m]], matrix[parts[m], parts[l]] = cross, cross.T
    first = max(0, ends[-1] - n_components)
    values, vectors = eigh(matrix, subset_by_index=[first, ends[-1] - 1])
    values, vectors = values[::-1], vectors[:, ::-1]
    positive = int((values > 8 * ends[-1] * np.finfo(np.float64).eps).sum())
    if positive < n_components:
        raise ValueError(
            f"n_components={n_components} is more than the {positive} canonical correlations of "
            f"these views that are positive beyond rounding; pass at most n_components={positive}, "
            "or a larger rank"
        )
    vectors = vectors * np.sqrt(n * n_views)
    variates = [U @ (d[:, None] * vectors[p]) for U, d, p in zip(bases, damped, parts, strict=True)]
    flips = signs(np.vstack(variates))
    vectors = vectors * flips
    return Canonical(
        values / (n_views - 1),
        [U @ (i[:, None] * vectors[p]) for U, i, p in zip(bases, inverses, parts, strict=True)],
        centres,
        [turn @ vectors[p] for turn, p in zip(turns, parts, strict=True)],
        {
            (l, m): turns[l] @ (bases[l].T @ (variates[m] * flips))
            for l in range(n_views)
            for m in range(n_views)
            if l != m
        },
    )


def _warn_far(far: NDArray[np.bool_]) -> None:
    """Say how many samples a low-rank kernel has nothing to say of."""
    if far.any():
        warnings.warn(
            FarSampleWarning(
                f"{far.sum()} of {far.size} samples are like none of the pivots in some view; its "
                "kernel says nothing of them, and they all get the same variates there; a larger "
                "rank or bandwidth reaches more samples",
                int(far.sum()),
            ),
            stacklevel=3,
        )
