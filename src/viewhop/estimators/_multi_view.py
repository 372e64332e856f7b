"""Estimators: views in, coordinates out.

A fit is the way of the data through the house: read the views, build one affinity per view, fuse
them into a walk, solve for its spectrum, and keep the extension that places samples.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from numbers import Integral, Real
from time import perf_counter
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from viewhop import affinity, bandwidth, diffusion, dimension
from viewhop._runtime import memory
from viewhop._runtime.progress import Progress, show_progress
from viewhop._runtime.threads import map_threads, thread_count
from viewhop._storage import archive
from viewhop._storage.codec import Shelf
from viewhop.affinity import Affinity, KernelRows
from viewhop.estimators import _fitted as fitted
from viewhop.estimators._base import ViewTransformer, whole_or_unchanged
from viewhop.estimators._base import make_generator as make_generator
from viewhop.geometry import _agreement as agreement
from viewhop.geometry._construction import affinities, check_common, check_memory
from viewhop.geometry._memory_plan import Footprint
from viewhop.geometry._outputs import Outputs
from viewhop.kernels import NAMES, Kernel, Precomputed, kernels_by_view
from viewhop.solvers import SOLVERS, quote_views
from viewhop.solvers import _multilevel as coarse
from viewhop.solvers._rank import (
    FIRST_GUESS,
    Pairs,
    check_reached,
    solve_accuracy,
    solve_rank,
    warn_of_pieces,
)
from viewhop.spectrum import Spectrum
from viewhop.views import RowMap, Views
from viewhop.walks import AlternatingWalk, HopWalk, ProductWalk, SumWalk, Walk, hop_matrix
from viewhop.walks._extension import Stepped, build_extension, warn_of_unreached

__all__ = ["DiffusionMaps", "MultiViewDiffusionMaps"]

Floats = NDArray[np.floating]

#: Kernel values of new samples that are held at a time, by each thread.
BATCH = 2**21


class MultiViewDiffusionMaps(ViewTransformer):
    """Low-dimensional coordinates of samples that several views measured.

    A random walker hops between the views; the leading eigenvectors of its transition matrix
    place every sample, once per view, in one common space.

    Parameters
    ----------
    n_components : int or "auto", default=2
        Number r of coordinates per view. "auto" takes as many as `accuracy` asks for.
    n_steps : float, default=1
        Diffusion time t: coordinates are λ^t ψ. Any number of at least 0.
    kernel : str, kernel object, list or dict, default="adaptive"
        How alike two samples of a view are: "adaptive" (a Gaussian on 10 neighbours with a scale
        per sample), "gaussian", "laplacian", "correlation", "precomputed", an object of
        `viewhop.kernels`, or one of these per view, as a list or a dict by view name.
    fusion : {"hop", "sum", "product", "alternating"}, default="hop"
        The paper's walk between views; the walk of the summed or multiplied kernels; or one step
        in each view in turn, in the order given.
    within_view_weight : float, default=0.0
        η, how willingly the walker stays in its view, from 0 to 1 (hop only).
    hops : (L, L) array or None, default=None
        A symmetric, non-negative hop matrix in place of η: entry (l, m) says how willingly the
        walker goes from view l to view m (hop only).
    accuracy : float, {"local_pca", "danco"} or None, default=None
        How ``n_components="auto"`` counts. A number is δ: coordinates with λ_k^t > δ λ_1^t are
        kept; None is 0.1. A name is an estimate of the intrinsic dimension
        (`viewhop.dimension`), which is then the number of coordinates.
    output : {"auto", "concat", "mean"}, default="auto"
        The embedding of a sample: its coordinates in all views side by side, or the mean over
        the views that observed it, each centred and scaled to unit spread. Side by side, a view
        that did not observe the sample is filled by the walk. "auto" is "concat" where every view
        observed every sample in fit, and "mean" otherwise. A fusion with one geometry has one
        set of coordinates, whatever the output.
    views : int, list, dict or None, default=None
        Column groups, where X is one stacked array or DataFrame; see `Views.from_columns`.
    solver : {"auto", "dense", "lanczos", "krylov", "svd"}, default="auto"
    tol : float or None, default=None
        Residual at which an eigenpair is accepted, relative to its eigenvalue; None is as far as
        the precision goes.
    max_memory : int, str or None, default=None
        Bytes, or text like "8GB", that the fit may take; None is 80 % of what the machine or its
        cgroup has left.
    n_jobs : int or None, default=None
        Threads; None is as many as BLAS takes by itself (``OMP_NUM_THREADS``, or all cores), -1 is
        all cores.
    random_state : int, Generator, RandomState or None, default=None
        Seed of start vectors and of row samples.
    verbose : int or callable, default=0
        1 shows progress bars; a callable gets ``progress(stage, done, total)``, from any thread.

    Attributes
    ----------
    embedding_ : (n_samples, n_features_out) array
    eigenvalues_ : (r,) array
        λ_1 … λ_r; the trivial λ_0 = 1 is left out.
    view_embeddings_ : dict of (n_samples, r) arrays by view name
        NaN where the view did not observe the sample. A view with several rows for some sample
        (`Views.link`) has a row for each of its own.
    bandwidths_ : dict by view name
        Scale of each kernel: a number, one per sample for local scales, NaN if precomputed.
    degrees_ : dict of (n_samples,) arrays by view name
        D̂, the row sums of the walk's kernel, as `view_embeddings_` has them.
    observed_ : (n_samples, n_views) bool array
        Which samples each view observed.
    recall_ : dict of float by view name
        Share of the true neighbours that the search found, measured on 500 samples; 1 where it
        was exact.
    spectrum_ : Spectrum
        Eigenpairs with residuals.
    solver_ : str
        The solver that was used; what "auto" chose.
    walk_ : Walk
    view_names_ : tuple of str
    n_views_, n_components_, n_pieces_, n_features_in_ : int
    memory_ : int
        Bytes that the fit was expected to take at its worst moment, X not counted.
    timings_ : dict of float
        Seconds of the stages of the fit: "kernels", "solve", "extension".
    n_steps_ : float
        t of the fit; a later ``set_params`` changes the next one.

    See Also
    --------
    DiffusionMaps : One view.

    Notes
    -----
    The kernel is Eq. (13), the walk Eq. (14), the coordinates Eq. (21) and their concatenation
    Eq. (23), with `hops` and η as in Eq. (49).

    Examples
    --------
    >>> import viewhop as vh
    >>> digits = vh.datasets.load_mfeat()
    >>> est = vh.MultiViewDiffusionMaps(9, random_state=0)
    >>> Z = est.fit_transform(digits.views)
    >>> Z.shape
    (2000, 54)
    >>> est.transform([None, digits.views["kar"][:5]] + [None] * 4).shape
    (5, 54)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "n_steps": [Interval(Real, 0, None, closed="left")],
        "kernel": [StrOptions({*NAMES}), Kernel, list, tuple, Mapping],
        "fusion": [StrOptions({"hop", "sum", "product", "alternating"})],
        "within_view_weight": [Interval(Real, 0, 1, closed="both")],
        "hops": ["array-like", None],
        "accuracy": [
            Interval(Real, 0, 1, closed="left"),
            StrOptions({"local_pca", "danco"}),
            None,
        ],
        "output": [StrOptions({"auto", "concat", "mean"})],
        "views": [Interval(Integral, 1, None, closed="left"), list, tuple, Mapping, None],
        "solver": [StrOptions({"auto", *SOLVERS})],
        "tol": [Interval(Real, 0, None, closed="left"), None],
        "max_memory": [Interval(Real, 0, None, closed="neither"), str, None],
        "n_jobs": [Integral, None],
        "random_state": ["random_state", np.random.Generator],
        "verbose": ["verbose", callable],
    }

    walk_: Walk
    spectrum_: Spectrum
    view_embeddings_: dict[str, Floats]

    def __init__(
        self,
        n_components: int | str = 2,
        *,
        n_steps: float = 1,
        kernel: Any = "adaptive",
        fusion: str = "hop",
        within_view_weight: float = 0.0,
        hops: Any = None,
        accuracy: float | str | None = None,
        output: str = "auto",
        views: Any = None,
        solver: str = "auto",
        tol: float | None = None,
        max_memory: float | str | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int | Progress = 0,
    ) -> None:
        self.n_components = n_components
        self.n_steps = n_steps
        self.kernel = kernel
        self.fusion = fusion
        self.within_view_weight = within_view_weight
        self.hops = hops
        self.accuracy = accuracy
        self.output = output
        self.views = views
        self.solver = solver
        self.tol = tol
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: object = None) -> Self:
        """Learn the geometry of the training samples.

        Parameters
        ----------
        X : list or dict of (n_samples, n_features) arrays, Views, MuData, stacked array, DataFrame
            A row of NaN is a sample that the view did not observe.
        y : ignored

        Returns
        -------
        self
        """
        self._check_parameters()
        generator = make_generator(self.random_state)
        with whole_or_unchanged(self), show_progress(self.verbose) as progress:
            views = self._read(X, reset=True)
            self._check_size(views)
            if not views.is_complete:
                self._check_fusion("sample")
                check_common(views)
            self._dimension = self._intrinsic_dimension(views, generator)
            self._allowed = memory.parse_budget(self.max_memory)
            self.timings_: dict[str, float] = {}
            with self._timed("kernels"):
                self.walk_ = self._fuse(self._affinities(views, generator, progress), views.nodes)
                check_reached(self.walk_)
            with self._timed("solve"):
                self.spectrum_ = self._solve(self.walk_, generator, progress)
            with self._timed("extension"):
                self._extension = build_extension(self.walk_, self.spectrum_)
                self._keep(self.n_steps, is_mean=self._is_mean())
                warn_of_unreached(self.view_names_, self._outputs.unreached, stacklevel=2)
                progress("extension", len(views), len(views))
        return self

    @contextmanager
    def _timed(self, stage: str) -> Iterator[None]:
        """Store the seconds of a stage."""
        start = perf_counter()
        yield
        self.timings_[stage] = perf_counter() - start

    def transform(self, X: Any, *, return_coverage: bool = False) -> Any:
        """The embedding of samples, new or not, (n_samples, n_features_out).

        Parameters
        ----------
        X : as in `fit`
            Any subset of the views: None in a list, a dict without some of them, or rows of NaN.
        return_coverage : bool
            Whether to return the coverage, too.

        Returns
        -------
        embedding : (n_samples, n_features_out) array
        coverage : (n_samples,) array
            From 0 to 1: how densely the training samples lie about each sample, over the median
            of what they have themselves, in the mean over the views that it has. Near 0 the
            sample is unlike all of them, and its place says little.

        Warns
        -----
        FarSampleWarning
            If samples are far from every training sample; they get the coordinates of the nearest.
        UnreachedViewWarning
            If the hop matrix has no way from the given views to another one.
        """
        check_is_fitted(self)
        views = self._read(X, reset=False)
        # Rows against a full kernel are placed by threads, few at a time, while they are in cache;
        # a search for neighbours has threads of its own.
        rows = max(16, BATCH // self.walk_.n_samples) if self.walk_.is_dense else BATCH // 16
        starts = range(0, len(views), rows)
        self._extension.prepare()

        def placed(start: int) -> Stepped:
            return self._extension.step(self._kernel_rows(views[start : start + rows]))

        with show_progress(self.verbose) as progress:
            parts = map_threads(
                placed,
                starts,
                thread_count(self.n_jobs) if self.walk_.is_dense else 1,
                lambda count: progress("extension", min(count * rows, len(views)), len(views)),
            )
        stepped = Stepped.joined(parts)
        stepped.warn(self.view_names_, stacklevel=3)
        embedding = self._outputs.of(stepped.blocks, stepped.seen, self.n_steps_)
        embedding = embedding.astype(self._layout.dtype)
        return (embedding, stepped.coverage) if return_coverage else embedding

    def _kernel_rows(self, views: Views) -> list[KernelRows | None]:
        """Kernel rows of new samples, one entry per kernel; None for a view that has none."""
        given = {name: views.rows(name) for name in views.names if len(views.rows(name))}
        for l, K in enumerate(self.walk_.affinities):
            is_given = K.name in given and isinstance(self._kernels[K.name], Precomputed)
            if is_given and not self.walk_.rows.is_whole:
                given[K.name] = given[K.name][:, self.walk_.rows.samples(l)]
        found = self.walk_.against(given)
        if views.is_complete:
            return found
        return [
            None if rows is None else rows.placed(views.samples(K.name), len(views))
            for K, rows in zip(self.walk_.kernels, found, strict=False)
        ]

    def coordinates(self, n_steps: float) -> Floats:
        """The embedding of the training samples at another diffusion time, without a refit.

        Parameters
        ----------
        n_steps : float
            t, any number of at least 0.
        """
        check_is_fitted(self)
        return self._outputs.training(n_steps).astype(self._layout.dtype)

    def cross_view_distance(self, first: str, second: str) -> float:
        """How far apart two views put the same samples: the root of Eq. (30).

        Parameters
        ----------
        first, second : str
            Views.
        """
        return diffusion.cross_view_distance(self, first, second)

    def disagreement(self) -> Floats:
        """How far each view puts a sample from where the others put it, (n_samples, n_views).

        1 is the median of a view; NaN where it, or every other view, did not observe the sample.
        """
        return agreement.disagreement(self)

    def view_similarity(self) -> Floats:
        """How alike two views place the samples that both observed, (n_views, n_views).

        1 where they place them alike, 0 where their coordinates have nothing in common.
        """
        return agreement.view_similarity(self)

    def view_influence(self) -> dict[str, float]:
        """How much the geometry changes without each view, from 0 to 1, by view name.

        The walk of the other views is solved for each; the kernels are those of the fit.
        """
        return agreement.view_influence(self)

    def transition_probabilities(
        self, n_steps: int, from_view: str, to_view: str, rows: Any
    ) -> NDArray[np.float64]:
        """Probabilities of going from samples in one view to all samples in another, Eq. (15).

        Parameters
        ----------
        n_steps : int
            t.
        from_view, to_view : str
            Views.
        rows : int or (p,) array
            Samples to start from.

        Returns
        -------
        probabilities : (p, n_samples) array
            Summed over all views that the walk may end in, each row is 1.
        """
        return diffusion.transition_probabilities(self, n_steps, from_view, to_view, rows)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator to a model file, which `viewhop.load` reads.

        The file holds numbers and text, no code: it can be opened whoever sent it. If the write
        fails or is killed, a file that was there before is still there, whole.

        Parameters
        ----------
        path : path
            ``.viewhop`` by custom. A file that is there is replaced.

        Raises
        ------
        ModelFileError
            If a parameter cannot be written: a kernel class of your own, for instance.

        Notes
        -----
        The training samples are in it, in the space where the kernel compares them, because new
        samples are compared with them. A `random_state` that is a generator is written as None,
        a `verbose` that is a callable as 0.

        Examples
        --------
        >>> import os, tempfile
        >>> import viewhop as vh
        >>> circles = vh.datasets.make_circles(100, random_state=0)
        >>> est = vh.MultiViewDiffusionMaps(kernel="gaussian", random_state=0).fit(circles.views)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "circles.viewhop")
        ...     est.save(path)
        ...     again = vh.load(path)
        >>> bool((again.embedding_ == est.embedding_).all())
        True
        """
        check_is_fitted(self)
        shelf = Shelf()
        archive.write(path, fitted.model(self, shelf, self._learnt), shelf.arrays)

    def _learnt(self, shelf: Shelf) -> dict[str, Any]:
        """What the fit learnt, as plain data."""
        return fitted.of(self, shelf)

    def _restore(self, found: Any, shelf: Shelf) -> None:
        """Take what a fit learnt from plain data."""
        fitted.restore(self, found, shelf)

    def _check_parameters(self) -> None:
        """Raise ValueError for what can be wrong before any data is seen."""
        self._validate_params()
        if self.n_components == "auto" and not self.n_steps > 0:
            raise ValueError(f'n_components="auto" needs n_steps > 0, not {self.n_steps!r}')
        if self.n_components != "auto" and self.accuracy is not None:
            raise ValueError('accuracy is used with n_components="auto" only; leave it None')
        if self.fusion != "hop" and (self.hops is not None or self.within_view_weight):
            raise ValueError(
                f'hops and within_view_weight belong to fusion="hop", not {self.fusion!r}'
            )
        if self.hops is not None and self.within_view_weight:
            raise ValueError("give hops or within_view_weight, not both")

    def _check_rows(self, views: Views) -> None:
        """Raise ValueError for a new row that its view's kernel is not defined on.

        Here and not block by block, so that rows are counted from the first.
        """
        for K in self.walk_.affinities:
            if K.name not in views.names:
                continue
            if isinstance(self._kernels[K.name], Precomputed):
                affinity.check_kernel_values(K.name, views[K.name])
            else:  # every affinity but a precomputed one has features
                K.features.check(views[K.name], K.name)  # type: ignore[attr-defined]
        if not views.is_complete:
            self._check_fusion("new sample")
            if any(views.nodes.is_repeated(l) for l in range(views.n_views)):
                raise ValueError(
                    "a view has several rows for one new sample; new samples have one row per view"
                )

    def _check_fusion(self, what: str) -> None:
        """Raise ValueError for a fusion that needs every view."""
        if self.fusion in ("product", "alternating"):
            raise ValueError(
                f'fusion="{self.fusion}" needs every view of every {what}, and some are NaN; use '
                'fusion="hop" or "sum"'
            )

    def _check_size(self, views: Views) -> None:
        """Raise ValueError for fewer samples than the coordinates need."""
        least = 3 if self.n_components == "auto" else int(self.n_components) + 2
        if len(views) < least:
            raise ValueError(
                f"n_components={self.n_components!r} needs at least {least} samples, but "
                f"{quote_views(views.names)} {'has' if views.n_views == 1 else 'have'} "
                f"n_samples = {len(views)}"
            )

    def _intrinsic_dimension(self, views: Views, generator: np.random.Generator) -> int | None:
        """The number of coordinates, if an estimate of the dimension is to set it."""
        if not isinstance(self.accuracy, str):
            return None
        kernels = kernels_by_view(self.kernel, views.names)
        measured = [name for name in views.names if not isinstance(kernels[name], Precomputed)]
        if not measured:
            raise ValueError(
                f"accuracy={self.accuracy!r} estimates the dimension of samples, and every view "
                "is a precomputed kernel; pass a number"
            )
        features = {name: views.rows(name) for name in measured}
        return dimension.intrinsic(features, method=self.accuracy, random_state=generator)

    def _affinities(
        self, views: Views, generator: np.random.Generator, progress: Progress
    ) -> list[Affinity]:
        """One affinity per view, if memory allows."""
        kernels = kernels_by_view(self.kernel, views.names)
        n_jobs = thread_count(self.n_jobs)
        hops = self.hops is not None and np.diagonal(self.hops).any()
        stays = bool(self.within_view_weight) or hops
        is_hop_of_two = self.fusion == "hop" and views.n_views == 2 and not stays
        foreseen = Footprint(
            kernels=kernels,
            n_samples=len(views),
            n_rows={name: len(views.rows(name)) for name in views.names},
            n_features={name: views.rows(name).shape[1] for name in views.names},
            dtype=views.dtype,
            fusion=self.fusion,
            is_cross=self.fusion == "alternating" or is_hop_of_two,
            r=FIRST_GUESS if self.n_components == "auto" else int(self.n_components),
            solver=self.solver,
            tol=self.tol,
            n_jobs=n_jobs,
        )
        self.memory_ = check_memory(foreseen, self._allowed)
        self._kernels = bandwidth.resolve_scales(kernels, views, generator)
        found = affinities(
            views,
            self._kernels,
            generator=generator,
            n_jobs=n_jobs,
            progress=progress,
            allowed=self._allowed,
            stacklevel=3,
        )
        self.recall_ = {K.name: K.recall for K in found}
        return found

    def _fuse(self, affinities: list[Affinity], rows: RowMap) -> Walk:
        """The walk over the views."""
        if self.fusion == "sum":
            return SumWalk(affinities, rows)
        if self.fusion == "product":
            return ProductWalk(affinities, n_jobs=thread_count(self.n_jobs))
        if self.fusion == "alternating":
            return AlternatingWalk(affinities)
        hops = self.hops
        if hops is None:
            hops = hop_matrix(len(affinities), within_view_weight=self.within_view_weight)
        return HopWalk(affinities, hops, rows)

    def _solve(self, walk: Walk, generator: np.random.Generator, progress: Progress) -> Spectrum:
        """The eigenpairs that `n_components` asks for."""
        pieces = walk.pieces()
        self.n_pieces_ = int(pieces.max()) + 1
        warn_of_pieces(walk, pieces, stacklevel=3)

        def pairs(r: int, known: Spectrum | None) -> Spectrum:
            return coarse.solve_multilevel(
                walk,
                r,
                solver=self.solver,
                tol=self.tol,
                pieces=pieces,
                generator=generator,
                known=known,
                progress=progress,
                allowed=self._allowed,
            )

        return self._choose(walk, pairs)

    def _choose(self, walk: Walk, pairs: Pairs) -> Spectrum:
        """As many pairs as `n_components` and `accuracy` say."""
        if self.n_components != "auto":
            return solve_rank(walk, pairs, int(self.n_components))
        if self._dimension is not None:
            return solve_rank(walk, pairs, self._dimension)
        accuracy = 0.1 if self.accuracy is None else float(self.accuracy)
        return solve_accuracy(walk, pairs, accuracy=accuracy, n_steps=self.n_steps)

    def _is_mean(self) -> bool:
        """Whether a sample gets the mean over its views."""
        walk = self.walk_
        asked = self.output == "mean" or (self.output == "auto" and not walk.rows.is_whole)
        return asked and not walk.is_fused and self.n_views_ > 1

    def _keep(self, n_steps: float, *, is_mean: bool) -> None:
        """Store what the fit is asked about."""
        walk = self.walk_
        # A later set_params changes the next fit, not this one.
        self.n_steps_ = n_steps
        self._outputs = Outputs(walk, self._extension, self.spectrum_.eigenvalues, is_mean=is_mean)
        self.observed_ = walk.rows.observed
        self.eigenvalues_ = self.spectrum_.eigenvalues
        self.n_components_ = len(self.spectrum_)
        self.solver_ = self.spectrum_.solver
        self.bandwidths_ = {
            K.name: self._at_samples(l, K.scale) for l, K in enumerate(walk.affinities)
        }
        blocks = self._outputs.by_row(n_steps)
        degrees = walk.blocks(walk.degrees)[: len(blocks)]
        if not walk.is_fused:
            degrees = [self._at_samples(l, d) for l, d in enumerate(degrees)]
        copies = self.n_views_ if walk.is_fused else 1
        self.view_embeddings_ = {
            name: block.astype(self._layout.dtype)
            for name, block in zip(self.view_names_, blocks * copies, strict=True)
        }
        self.degrees_ = dict(zip(self.view_names_, degrees * copies, strict=True))
        self.embedding_ = self._outputs.training(n_steps).astype(self._layout.dtype)

    def _at_samples(self, view: int, values: Any) -> Any:
        """Numbers of a view's rows at its samples, NaN where it has none; others as they are."""
        rows = self.walk_.rows
        if rows.is_whole or np.ndim(values) == 0 or rows.is_repeated(view):
            return values
        return rows.spread(view, np.asarray(values))

    def _blocks(self) -> tuple[str, ...]:
        if self.walk_.is_fused and self.n_views_ > 1:
            return ("fused",)
        return ("mean",) if self._outputs.is_mean else self.view_names_


class DiffusionMaps(MultiViewDiffusionMaps):
    """Diffusion coordinates of samples that one view measured.

    Parameters
    ----------
    n_components : int or "auto", default=2
        Number r of coordinates. "auto" takes as many as `accuracy` asks for.
    n_steps, kernel, accuracy, solver, tol, max_memory, n_jobs, random_state, verbose
        As in `MultiViewDiffusionMaps`.

    Attributes
    ----------
    embedding_ : (n_samples, r) array
    eigenvalues_ : (r,) array

    Notes
    -----
    The walk is Eq. (1) and the coordinates are Eq. (2), after Coifman and Lafon (2006); ``alpha``
    of the kernel is their density normalisation.

    Examples
    --------
    >>> import numpy as np
    >>> import viewhop as vh
    >>> angle = np.linspace(0, 2 * np.pi, 100, endpoint=False)
    >>> circle = np.c_[np.cos(angle), np.sin(angle)]
    >>> vh.DiffusionMaps(2, kernel="gaussian").fit_transform(circle).shape
    (100, 2)
    """

    def __init__(
        self,
        n_components: int | str = 2,
        *,
        n_steps: float = 1,
        kernel: Any = "adaptive",
        accuracy: float | str | None = None,
        solver: str = "auto",
        tol: float | None = None,
        max_memory: float | str | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int | Progress = 0,
    ) -> None:
        self.n_components = n_components
        self.n_steps = n_steps
        self.kernel = kernel
        self.accuracy = accuracy
        self.solver = solver
        self.tol = tol
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        name: constraint
        for name, constraint in MultiViewDiffusionMaps._parameter_constraints.items()
        if name not in ("fusion", "within_view_weight", "hops", "output", "views")
    }

    # What the parent would take as parameters: one view, summed with nothing.
    fusion = "sum"
    within_view_weight = 0.0
    hops = None
    output = "concat"
    views = None

    def __sklearn_tags__(self) -> Any:
        """Tags for scikit-learn: it cuts a precomputed kernel along rows and columns."""
        tags = super().__sklearn_tags__()
        given = isinstance(self.kernel, Precomputed) or (
            isinstance(self.kernel, str) and self.kernel == "precomputed"
        )
        tags.input_tags.pairwise = given
        return tags

    def _restore(self, found: Any, shelf: Shelf) -> None:
        fitted.restore(
            self, found, shelf, fits=lambda walk: walk.is_fused and len(walk.affinities) == 1
        )

    def _read(self, X: Any, *, reset: bool) -> Views:
        views = super()._read(X, reset=reset)
        if views.n_views > 1:
            raise ValueError(
                f"DiffusionMaps takes one view, got {views.n_views}; use MultiViewDiffusionMaps"
            )
        return views
