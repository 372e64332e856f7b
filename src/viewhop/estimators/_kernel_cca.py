"""Kernel canonical correlation analysis of several views."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral, Real
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from viewhop._runtime import memory
from viewhop._runtime.progress import Progress, show_progress
from viewhop._runtime.threads import thread_count
from viewhop.affinity import LowRank, Pivots, factorise_kernel
from viewhop.bandwidth import resolve_scales
from viewhop.errors import FarSampleWarning, ModelFileError
from viewhop.estimators._base import FittedAttribute, ViewTransformer, make_generator
from viewhop.estimators._canonical import Canonical, solve_canonical
from viewhop.estimators._constraints import choose_constraints
from viewhop.kernels import kernels_by_view
from viewhop.solvers import quote_views
from viewhop.views import Schema, Views

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
    canonical_ : CanonicalMap
        What the fit learned, as one frozen object. All other attributes are read off it.
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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = choose_constraints(
        "kernel",
        "views",
        "max_memory",
        "n_jobs",
        "random_state",
        "verbose",
        n_components=[Interval(Integral, 1, None, closed="left")],
        regularization=[Interval(Real, 0, None, closed="neither")],
        rank=[Interval(Integral, 1, None, closed="left"), None],
        tol=[Interval(Real, 0, 1, closed="left")],
    )

    canonical_: CanonicalMap

    correlations_ = FittedAttribute(lambda est: est.canonical_.canonical.correlations)
    n_components_ = FittedAttribute(lambda est: est.canonical_.canonical.correlations.size)
    embedding_ = FittedAttribute(lambda est: est.canonical_.embedding)
    view_embeddings_ = FittedAttribute(lambda est: est.canonical_.view_embeddings)
    canonical_vectors_ = FittedAttribute(lambda est: est.canonical_.vectors)
    bandwidths_ = FittedAttribute(lambda est: est.canonical_.bandwidths)
    ranks_ = FittedAttribute(lambda est: est.canonical_.ranks)
    left_out_ = FittedAttribute(lambda est: est.canonical_.left_out)

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
        views, schema = self._read_training(X)
        self._check_size(_require_complete(views))
        with show_progress(self.verbose) as progress:
            kernels = self._factorise(views, generator, progress)
        _warn_far(np.any([kernel.far for kernel in kernels], axis=0))
        canonical = solve_canonical(kernels, self.regularization, self.n_components)
        self.canonical_ = CanonicalMap.from_kernels(schema, kernels, canonical)
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
        views = self._read_new(X)
        self._schema.check(_require_complete(views))
        embedding, far = self.canonical_.place(views)
        _warn_far(far)
        return embedding

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

    def _factorise(
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

    @property
    def _schema(self) -> Schema:
        return self.canonical_.schema

    @property
    def _block_names(self) -> tuple[str, ...]:
        return self._schema.names


@dataclass(frozen=True, eq=False)
class CanonicalMap:
    """What a fit learned: the pivots of each view's kernel, and the canonical functions on them.

    Attributes
    ----------
    schema : Schema
        The views of the fit, which new samples must match.
    canonical : Canonical
    pivots : tuple of Pivots
        One per view.
    view_embeddings : dict of (n_samples, r) arrays by view name
        Variates of the training samples.
    ranks : dict of int by view name
        Columns of each factor.
    left_out : dict of float by view name
        Share of each kernel's trace that its factor does not have.
    """

    schema: Schema
    canonical: Canonical
    pivots: tuple[Pivots, ...]
    view_embeddings: dict[str, NDArray[np.floating]]
    ranks: dict[str, int]
    left_out: dict[str, float]

    @classmethod
    def from_kernels(
        cls, schema: Schema, kernels: Sequence[LowRank], canonical: Canonical
    ) -> CanonicalMap:
        """The map of canonical functions on low-rank kernels, one per view."""
        centred = {l: kernel.rows - canonical.centres[l] for l, kernel in enumerate(kernels)}
        by_name = dict(zip(schema.names, kernels, strict=True))
        return cls(
            schema,
            canonical,
            tuple(kernel.pivots for kernel in kernels),
            {
                name: canonical.variates(l, centred).astype(schema.dtype)
                for l, name in enumerate(schema.names)
            },
            {name: kernel.rows.shape[1] for name, kernel in by_name.items()},
            {name: kernel.left_out for name, kernel in by_name.items()},
        )

    @cached_property
    def embedding(self) -> NDArray[np.floating]:
        """Variates of the training samples, views side by side."""
        return np.hstack([*self.view_embeddings.values()])

    @cached_property
    def vectors(self) -> dict[str, NDArray[np.floating]]:
        """v_l, the eigenvectors of Eq. (8), (n_samples, r), by view name."""
        vectors = [v.astype(self.schema.dtype) for v in self.canonical.vectors]
        return dict(zip(self.schema.names, vectors, strict=True))

    @property
    def bandwidths(self) -> dict[str, float]:
        """The scale of each kernel, by view name."""
        scales = [pivots.scale for pivots in self.pivots]
        return dict(zip(self.schema.names, scales, strict=True))

    def place(self, views: Views) -> tuple[NDArray[np.floating], NDArray[np.bool_]]:
        """Variates of samples, and which of them are like no pivot of some view, (n,).

        Parameters
        ----------
        views : Views
            Any subset of the views, complete.
        """
        centred, far = {}, np.zeros(len(views), dtype=bool)
        for l, name in enumerate(self.schema.names):
            if name in views.names:
                rows, is_far = self.pivots[l].against(views[name])
                centred[l] = rows - self.canonical.centres[l]
                far |= is_far
        blocks = [self.canonical.variates(m, centred) for m in range(len(self.pivots))]
        return np.hstack(blocks).astype(self.schema.dtype), far


def _require_complete(views: Views) -> Views:
    if not views.is_complete:
        raise ValueError(
            "KernelCCA needs every view of every sample, and some are NaN; use "
            "MultiViewDiffusionMaps"
        )
    return views


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
