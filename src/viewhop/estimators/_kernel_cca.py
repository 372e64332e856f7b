"""Kernel canonical correlation analysis of several views."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from viewhop._runtime import memory
from viewhop._runtime.progress import Progress, show_progress
from viewhop._runtime.threads import thread_count
from viewhop.affinity import LowRank, factorise_kernel
from viewhop.bandwidth import resolve_scales
from viewhop.errors import CacheWarning, FarSampleWarning, ModelFileError
from viewhop.estimators._base import (
    FittedAttribute,
    ViewTransformer,
    choose_constraints,
    make_generator,
)
from viewhop.estimators._canonical import CanonicalMap, solve_canonical
from viewhop.estimators._canonical_codec import encode_canonical
from viewhop.estimators._factor_codec import factors_codec
from viewhop.estimators._model_file import save_model
from viewhop.estimators._open_cache import open_cache
from viewhop.kernels import kernels_by_view
from viewhop.selection import needs_selection, select
from viewhop.solvers import quote_views
from viewhop.views import Schema, Views

__all__ = ["KernelCCA"]


class KernelCCA(ViewTransformer):
    """Kernel canonical correlation analysis of several views.

    For each view, it finds functions in the space of its kernel whose values on the samples (the
    variates) correlate most with those of the other views.

    Parameters
    ----------
    n_components : int, default=2
        Number of variates per view.
    kernel : str, kernel object, list or dict, default="gaussian"
        "gaussian", "laplacian", "correlation", "precomputed", an object of `viewhop.kernels`, or
        one of these per view, as a list or a dict by view name. It must be positive semi-definite,
        so "adaptive", `n_neighbors` and local scales are refused.
    regularization : float, default=0.01
        γ, positive, in units of the kernel (1 on the diagonal of a Gaussian). It is not scaled with
        the number of samples, although the kernel's eigenvalues grow with it.
    center : bool, default=True
        Whether to centre each kernel in its feature space, so that variates have mean 0 and ρ is a
        correlation. False solves Eq. (8) as printed; the first variates are then usually almost
        constant.
    rank : int or None, default=100
        Number of kernel columns in the incomplete Cholesky factor, at most the number of samples;
        None lets `tol` decide.
    tol : float, default=0.0
        The factorisation stops before `rank` columns once the largest remaining diagonal entry is
        at most this fraction of the kernel's largest; 0 continues to machine precision.
    views : int, list, dict, "from_column_transformer" or None, default=None
        Column groups, if X is one stacked array or DataFrame; see `Views.from_columns`.
    max_memory : int, str or None, default=None
        Memory budget of the factors, in bytes or as a string like "8GB"; None takes 80 % of the
        available memory.
    memory : str, path, joblib.Memory or None, default=None
        A folder in which fits keep the factors of the kernels, so that a grid over `n_components`
        and `regularization` computes them once per fold; as in `MultiViewDiffusionMaps`. Results
        are the same, bit for bit, with and without it.
    n_jobs : int or None, default=None
        Number of threads of the neighbour search that some bandwidth rules need.
    random_state : int, Generator, RandomState or None, default=None
        Seed for the row subsets from which some rules estimate the bandwidth.
    verbose : int or callable, default=0
        1 shows progress bars; a callable is called as ``progress(stage, done, total)``.

    Attributes
    ----------
    canonical_ : CanonicalMap
        The frozen result of the fit, from which all other fitted attributes are computed.
    correlations_ : (n_components,) array
        Regularised canonical correlations ρ, largest first; for L views the mean over pairs, which
        is the eigenvalue divided by L − 1.
    embedding_ : (n_samples, n_views · n_components) array
        Variates of the training samples, views side by side.
    view_embeddings_ : dict of (n_samples, n_components) arrays by view name
        K^l v_l; K^l is centred unless ``center=False``.
    canonical_vectors_ : dict of (n_samples, n_components) arrays by view name
        v_l, the eigenvectors of Eq. (8).
    bandwidths_ : dict of float by view name
    ranks_ : dict of int by view name
        Number of columns of each factor.
    left_out_ : dict of float by view name
        Fraction of each kernel's trace that its factor does not capture.
    view_names_ : tuple of str
    n_views_, n_components_, n_features_in_ : int

    See Also
    --------
    MultiViewDiffusionMaps : A walk between the views, which also supports neighbour kernels.

    Notes
    -----
    Eq. (8), after Lai and Fyfe (2000) and Bach and Jordan (2002), who centre the kernels:

        K¹K² v_2 = ρ (K¹ + γI)² v_1 ,      K²K¹ v_1 = ρ (K² + γI)² v_2 .

    For more views, the products K^l K^m, l ≠ m, are the off-diagonal blocks of one eigenproblem,
    which maximises the sum of the correlations over all pairs. Each kernel is approximated by G Gᵀ
    with an incomplete Cholesky factor G, centred by subtracting its mean row, in `fit` and in
    `transform` alike; the problem then has the size of the factors. At full rank it is exact.

    Eq. (8) is printed without centring. With ``center=False``, ρ is therefore the cosine between
    uncentred variates. Kernel values are positive, so almost constant functions agree in any two
    views, even unrelated ones: with 300 samples of independent noise in five features per view, the
    leading pair has ρ = 0.999, and its variates vary by 2 % of their mean. Unless the views
    themselves agree that closely, the following pairs are close to the leading pairs of the centred
    problem.

    Vectors are scaled so that v_lᵀ (K^l + γI)² v_l / n_samples is 1 on average over the views (with
    two views: in each), so that variates do not shrink as samples are added.

    Other libraries regularise differently, for instance cca-zoo by (1 − c)K² + cK. The problems
    agree only without regularisation.

    A new sample may lack views. The variates of a missing view are predicted from each available
    view by kernel ridge regression with the same γ, and averaged. Like any regression, predictions
    shrink towards 0 if the views are only weakly correlated.

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
        "memory",
        "n_jobs",
        "random_state",
        "verbose",
        n_components=[Interval(Integral, 1, None, closed="left")],
        regularization=[Interval(Real, 0, None, closed="neither")],
        center=["boolean"],
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
        center: bool = True,
        rank: int | None = 100,
        tol: float = 0.0,
        views: Any = None,
        max_memory: float | str | None = None,
        memory: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int | Progress = 0,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.regularization = regularization
        self.center = center
        self.rank = rank
        self.tol = tol
        self.views = views
        self.max_memory = max_memory
        self.memory = memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: object = None) -> Self:
        """Learn the functions of the views that correlate most.

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
            If samples are similar to no pivot of some view; its kernel needs a larger rank.
        """
        self._check_parameters()
        generator = make_generator(self.random_state)
        views, schema = self._read_training(X)
        self._check_size(_require_complete(views))
        with show_progress(self.verbose) as progress:
            kernels = self._find_factors(views, generator, progress)
        _warn_far(np.any([kernel.far for kernel in kernels], axis=0))
        canonical = solve_canonical(
            kernels, self.regularization, self.n_components, center=bool(self.center)
        )
        self.canonical_ = CanonicalMap.from_kernels(schema, kernels, canonical)
        return self

    def transform(self, X: Any) -> NDArray[np.floating]:
        """The variates of samples, training or new, (n_samples, n_features_out).

        Parameters
        ----------
        X : as in `fit`
            Any subset of the views: a list with None, or a dict without some of them.

        Warns
        -----
        FarSampleWarning
            If samples are similar to no pivot of some view; their variates there are meaningless.
        """
        check_is_fitted(self)
        views = self._read_new(X)
        self._schema.check(_require_complete(views))
        embedding, far = self.canonical_.place(views)
        _warn_far(far)
        labelled: NDArray[np.floating] = self._label_rows(embedding, X)
        return labelled

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator to a model file, which `viewhop.load` reads.

        The file holds numbers and text but no code, so it is safe to open, whatever its source. If
        writing fails or is interrupted, an existing file is left intact.

        Parameters
        ----------
        path : path
            By convention it ends in ``.viewhop``. An existing file is replaced.

        Raises
        ------
        ModelFileError
            If a parameter cannot be written, for instance a custom kernel class.

        Notes
        -----
        Of the training samples, the file contains the variates of all, and the features of the
        pivots, with which new samples are compared.

        Examples
        --------
        >>> import os, tempfile
        >>> import viewhop as vh
        >>> circles = vh.datasets.make_circles(100, random_state=0)
        >>> est = vh.KernelCCA(2, rank=30).fit(circles.views)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "circles.viewhop")
        ...     est.save(path)
        ...     again = vh.load(path)
        >>> bool((again.embedding_ == est.embedding_).all())
        True
        """
        check_is_fitted(self)
        save_model(
            path, self, lambda shelf: {"canonical": encode_canonical(self.canonical_, shelf)}
        )

    def _check_parameters(self) -> None:
        """Raise ValueError for parameters that are invalid whatever the data."""
        self._validate_params()
        if self.rank is not None and self.n_components > self.rank:
            raise ValueError(
                f"n_components={self.n_components} is more than rank={self.rank}, the number of "
                "kernel columns that it is computed from; raise rank"
            )

    def _check_size(self, views: Views) -> None:
        """Raise ValueError unless there are at least two views, and enough samples."""
        if views.n_views < 2:
            raise ValueError(
                "KernelCCA needs at least two views, got 1; pass a list of views, or views=2 to "
                "split one array in two"
            )
        n = len(views)
        least = self.n_components + bool(self.center)  # centring takes one dimension
        if n < least:
            raise ValueError(
                f"n_components={self.n_components} needs at least {least} samples, but "
                f"{quote_views(views.names)} have n_samples = {n}; pass at most "
                f"n_components={n - bool(self.center)}"
            )
        if self.rank is not None and self.rank > n:
            raise ValueError(
                f"rank={self.rank} is more than n_samples = {n}; pass rank={n} or less, or "
                "rank=None to let tol decide"
            )

    def _find_factors(
        self, views: Views, generator: np.random.Generator, progress: Progress
    ) -> list[LowRank]:
        """The low-rank factor of each view's kernel, from the cache of `memory` if there is one."""
        cache = open_cache(self.memory, self.random_state, self.max_memory, stacklevel=3)
        if cache is None:
            return self._factorise(views, generator, progress)
        kernels = kernels_by_view(self.kernel, views.names)
        settings = {
            "factors": None if self.rank is None else int(self.rank),
            "tol": float(self.tol),
        }
        try:
            key = cache.key(settings, kernels, views, generator, thread_count(self.n_jobs))
        except ModelFileError as error:
            message = f"memory= keeps nothing of this fit: {error}"
            warnings.warn(CacheWarning(message), stacklevel=3)
            return self._factorise(views, generator, progress)
        return cache.store.fetch(
            key,
            lambda: self._factorise(views, generator, progress),
            factors_codec(views),
            stacklevel=3,
        )

    def _factorise(
        self, views: Views, generator: np.random.Generator, progress: Progress
    ) -> list[LowRank]:
        """The low-rank factor of each view's kernel; MemoryBudgetError if they do not fit."""
        rank = len(views) if self.rank is None else int(self.rank)
        memory.require_bytes(
            3 * views.n_views * len(views) * rank * 8,  # factor, centred factor, basis
            memory.parse_budget(self.max_memory),
            what=f"kernel factors of {len(views):,} samples in {views.n_views} views",
            instead=f"pass a rank below {rank} or raise max_memory",
        )
        kernels = kernels_by_view(self.kernel, views.names)
        if needs_selection(kernels):
            kernels = select(kernels, views, n_jobs=thread_count(self.n_jobs)).kernels
        kernels = resolve_scales(kernels, views, generator)
        return [
            factorise_kernel(
                name,
                kernels[name],
                views.rows(name),
                rank=rank,
                tol=self.tol,
                generator=generator,
                n_jobs=thread_count(self.n_jobs),
                progress=progress,
            )
            for name in views.names
        ]

    @property
    def _view_caption(self) -> str:
        variates = ", ".join(f"{rho:.3g}" for rho in self.correlations_[:5])
        more = ", …" if self.n_components_ > 5 else ""
        return (
            f"{super()._view_caption} of {len(self.embedding_):,} samples: {self.n_components_} "
            f"variates, ρ = {variates}{more}"
        )

    @property
    def _view_columns(self) -> dict[str, Sequence[object]]:
        return {**super()._view_columns, "kernel columns": [*self.ranks_.values()]}

    @property
    def _schema(self) -> Schema:
        return self.canonical_.schema

    @property
    def _block_names(self) -> tuple[str, ...]:
        return self._schema.names


def _require_complete(views: Views) -> Views:
    if not views.is_complete:
        raise ValueError(
            "KernelCCA needs every view of every sample, but some are NaN; use "
            "MultiViewDiffusionMaps"
        )
    return views


def _warn_far(far: NDArray[np.bool_]) -> None:
    """Warn about samples that are similar to no pivot of some view."""
    if far.any():
        warnings.warn(
            FarSampleWarning(
                f"{far.sum()} of {far.size} samples are similar to no pivot in some view, so they "
                "all get the same, meaningless variates there; use a larger rank or bandwidth",
                int(far.sum()),
            ),
            stacklevel=3,
        )
