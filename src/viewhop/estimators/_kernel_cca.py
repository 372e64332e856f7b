"""Kernel canonical correlation analysis of several views."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from viewhop._runtime import memory
from viewhop._runtime.progress import Progress, show_progress
from viewhop._runtime.threads import thread_count
from viewhop.affinity._low_rank import LowRank, Pivots, factorise_kernel
from viewhop.bandwidth import resolve_scales
from viewhop.errors import FarSampleWarning, ModelFileError
from viewhop.estimators._base import ViewTransformer, whole_or_unchanged
from viewhop.estimators._base import make_generator as make_generator
from viewhop.estimators._canonical import Canonical, solve_canonical
from viewhop.kernels import NAMES, Kernel, kernels_by_view
from viewhop.solvers import quote_views
from viewhop.views import Views

__all__ = ["KernelCCA"]


class KernelCCA(ViewTransformer):
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

    Other libraries regularise otherwise, cca-zoo for instance by (1 − c)K² + cK: without
    regularisation the problems are the same, with it they are not.

    A new sample need not come with every view. The variates of a view that is not given are
    predicted from each given one by kernel ridge regression with the same γ, and the mean of these
    predictions is taken; as any regression does, they shrink towards 0 where the views are little
    correlated.

    Examples
    --------
    >>> import viewhop as vh
    >>> from viewhop.estimators import KernelCCA
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
        generator = make_generator(self.random_state)
        with whole_or_unchanged(self), show_progress(self.verbose) as progress:
            views = self._read(X, reset=True)
            self._check_size(views)
            kernels = self._low_rank(views, generator, progress)
            _warn_far(np.any([kernel.far for kernel in kernels], axis=0))
            self._keep(kernels, solve_canonical(kernels, self.regularization, self.n_components))
        return self

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

    def save(self, path: object) -> NoReturn:
        """Refused: model files do not hold the low-rank kernels of this estimator yet.

        Parameters
        ----------
        path : path
        """
        raise ModelFileError(
            "KernelCCA cannot be saved yet; a model file holds MultiViewDiffusionMaps, "
            "DiffusionMaps, DeSaEmbedding and MultiViewSpectralClustering"
        )

    def _check_parameters(self) -> None:
        """Raise ValueError for what can be wrong before any data is seen."""
        self._validate_params()
        if self.rank is not None and self.n_components > self.rank:
            raise ValueError(
                f"n_components={self.n_components} is more than rank={self.rank}, the number of "
                "kernel columns it is made from; raise rank"
            )

    def _read(self, X: Any, *, reset: bool) -> Views:
        views = super()._read(X, reset=reset)
        if not views.is_complete:
            raise ValueError(
                "KernelCCA needs every view of every sample, and some are NaN; use "
                "MultiViewDiffusionMaps"
            )
        return views

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
                f"but {quote_views(views.names)} have n_samples = {n}"
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
        memory.require_bytes(
            3 * views.n_views * len(views) * rank * 8,  # the factor, centred, and its basis
            memory.parse_budget(self.max_memory),
            what=f"kernel factors of {len(views):,} samples in {views.n_views} views",
            instead=f"pass a rank below {rank} or raise max_memory",
        )
        kernels = resolve_scales(kernels_by_view(self.kernel, views.names), views, generator)
        return [
            factorise_kernel(
                name,
                kernels[name],
                X,
                rank=rank,
                tol=self.tol,
                generator=generator,
                n_jobs=thread_count(self.n_jobs),
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
        self.embedding_ = np.hstack(blocks)
        self.canonical_vectors_ = self._by_view([v.astype(dtype) for v in found.vectors])
        self.bandwidths_ = self._by_view([pivots.scale for pivots in self._pivots])
        self.ranks_ = self._by_view([kernel.rows.shape[1] for kernel in kernels])
        self.left_out_ = self._by_view([kernel.left_out for kernel in kernels])

    def _by_view(self, entries: Sequence[Any]) -> dict[str, Any]:
        return dict(zip(self.view_names_, entries, strict=True))


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
