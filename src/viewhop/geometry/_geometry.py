"""The Geometry class: the frozen result of a fit, which places training and new samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from viewhop._runtime.progress import Progress, no_progress
from viewhop._runtime.threads import map_threads, thread_count
from viewhop.affinity import KernelRows, sparse_kernel_error
from viewhop.geometry._coordinates import (
    Scaling,
    check_time,
    coordinates,
    fit_scaling,
    mean_over_views,
    warn_of_underflow,
)
from viewhop.kernels import Kernel
from viewhop.selection import metric_name
from viewhop.spectrum import Spectrum
from viewhop.views import Schema, SparseRows, Views
from viewhop.walks import Extension, Step, Walk

if TYPE_CHECKING:
    from viewhop.geometry._cache_codec import Rows
    from viewhop.geometry._fit_cache import FitCache

__all__ = [
    "FitRecord",
    "Geometry",
    "Placed",
    "check_every_view",
    "check_full_kernels",
    "check_kernels_with_gaps",
]

Floats = NDArray[np.float64]

#: Number of kernel values of new samples that each thread works on at a time.
BATCH = 2**21


@dataclass(frozen=True)
class FitRecord:
    """Diagnostics of a fit: connectivity, memory and timings.

    Attributes
    ----------
    n_pieces : int
        Number of connected components of the walk.
    memory : int
        Expected peak memory of the fit in bytes, not counting X.
    timings : dict of float
        Seconds per stage: "selection", "kernels", "solve", "extension"; empty after loading.
    metric_scores : dict of (dict of float by metric) by view name
        How well each metric that was tried agrees with the other views; empty without evidence.
    agreement : (n_views, n_views) array or None
        How far the neighbour lists of two views agree beyond chance; NaN without evidence, None if
        it was not measured.
    view_weights : dict of float by view name
        How willingly the walker goes to each view; the largest is 1.
    """

    n_pieces: int
    memory: int
    timings: dict[str, float]
    metric_scores: dict[str, dict[str, float]] = field(default_factory=dict)
    agreement: Floats | None = None
    view_weights: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Placed:
    """Samples embedded by a geometry, with diagnostics.

    Attributes
    ----------
    embedding : (n, n_features_out) array
    coverage : (n,) array
        From 0 to 1: the density of training samples around each sample, relative to the median
        among themselves, averaged over the views that the sample has. Near 0, the sample is unlike
        all training samples, and its coordinates are unreliable.
    step : Step
        One step of the walk from the samples, with a record of any irregularities.
    names : tuple of str
        Names of the views.
    describe : callable
        Returns the name of a sample for messages.
    """

    embedding: NDArray[np.floating]
    coverage: Floats
    step: Step
    names: tuple[str, ...]
    describe: Callable[[int], str]

    def warn(self, *, stacklevel: int) -> None:
        """Warn about samples with unreliable coordinates; raise for those that cannot be placed.

        Parameters
        ----------
        stacklevel : int
            Frame that a warning points to, as in `warnings.warn`; 1 is the caller.
        """
        self.step.warn(self.names, describe=self.describe, stacklevel=stacklevel + 1)


@dataclass(frozen=True, eq=False)
class Geometry:
    """The result of a fit: a walk, its spectrum, and the rule that embeds samples.

    Fitted estimators have one as ``geometry_``. Build on it rather than on them: it is frozen, has
    no parameters, and is all that viewhop needs to compute anything from a fit.

    Attributes
    ----------
    walk : Walk
        The random walk, with the affinity of every view in ``walk.affinities``.
    spectrum : Spectrum
        Its leading eigenpairs.
    schema : Schema
        Schema of the training views, which new samples must match.
    n_steps : float
        Diffusion time t of the embedding.
    output : {"concat", "mean", "consensus"}
        Form of the embedding: coordinates of all views side by side, their mean, or the
        coordinates on which all views agree.
    record : FitRecord
        Diagnostics of the fit.
    fingerprint : str or None
        Stands for the kernels in a cache, which keeps the kernel rows of new samples by it; None
        if the fit had no cache.

    Examples
    --------
    >>> import viewhop as vh
    >>> circles = vh.datasets.make_circles(100, random_state=0)
    >>> est = vh.MultiViewDiffusionMaps(2, kernel="gaussian", random_state=0).fit(circles.views)
    >>> geometry = est.geometry_
    >>> geometry.embedding(n_steps=3).shape
    (100, 2)
    >>> geometry.place(circles.views[:5]).embedding.shape
    (5, 2)
    >>> [block.shape for block in geometry.by_view()]
    [(100, 2), (100, 2)]
    """

    walk: Walk
    spectrum: Spectrum
    schema: Schema
    n_steps: float
    output: str
    record: FitRecord = field(repr=False)
    fingerprint: str | None = field(default=None, repr=False)

    # --- training samples -------------------------------------------------------------------

    def embedding(self, n_steps: float | None = None) -> NDArray[np.floating]:
        """The embedding of the training samples, (n_samples, n_features_out).

        Parameters
        ----------
        n_steps : float or None
            Diffusion time t, any non-negative number; None takes that of the fit.
        """
        if n_steps is None:
            return self._embedding
        t = self._time(n_steps)
        self.warn_of_underflow(t, stacklevel=2)
        return self._embed(t)

    def by_view(self, n_steps: float | None = None) -> list[Floats]:
        """Coordinates of the training samples in each block of the walk, (n_samples, r) each.

        NaN if the view did not observe the sample. A fused geometry has one block.

        Parameters
        ----------
        n_steps : float or None
            As in `embedding`.
        """
        t = self._time(n_steps)
        return [self._coordinates(block, t) for block in self._of_views(self.stepped)]

    def by_row(self, n_steps: float | None = None) -> list[Floats]:
        """The same per row instead of per sample, for views with several rows of a sample.

        Parameters
        ----------
        n_steps : float or None
            As in `embedding`.
        """
        t = self._time(n_steps)
        blocks = self._of_views(self.extension.by_row())
        return [self._coordinates(block, t) for block in blocks]

    def warn_of_underflow(self, n_steps: float | None = None, *, stacklevel: int) -> None:
        """Warn if coordinates underflow to 0 because of the number of steps.

        Parameters
        ----------
        n_steps : float or None
            As in `embedding`.
        stacklevel : int
            As in `warnings.warn`, counted from the caller.
        """
        if self.is_timed:
            t = self._time(n_steps)
            warn_of_underflow(
                self.eigenvalues,
                t,
                self.schema.dtype,
                is_markov=self.walk.is_markov,
                stacklevel=stacklevel + 1,
            )

    def prepare(self) -> None:
        """Compute the coordinates now: later writes to an array do not change them."""
        _ = self.embedding(), self.view_embeddings, self.degrees

    def share_extension(self, other: Geometry) -> None:
        """Place samples by the rule of a geometry on an equal walk with the same eigenpairs.

        Parameters
        ----------
        other : Geometry
        """
        vars(self)["extension"] = other.extension
        if self.output == "consensus":
            vars(self)["consensus"] = other.consensus

    @cached_property
    def extension(self) -> Extension:
        """The rule that places samples, training or new."""
        return self.walk.extension(self.spectrum)

    @cached_property
    def consensus(self) -> Extension:
        """The rule that places samples for ``output="consensus"``."""
        return self.walk.consensus(self.spectrum)

    @property
    def placing(self) -> Extension:
        """The extension whose blocks make up the embedding."""
        return self.consensus if self.output == "consensus" else self.extension

    @cached_property
    def stepped(self) -> list[Floats]:
        """P̂ψ at the training samples, one (n_samples, r) array per block; NaN where missing.

        The blocks are those of the walk: one per view, and one for the joint view if there is one.
        """
        return self.extension.training()

    @cached_property
    def scaling(self) -> list[Scaling]:
        """Centre and spread of each block, which put them on a common scale."""
        return [fit_scaling(block, self.walk.dtype) for block in self.stepped]

    @property
    def observed_blocks(self) -> NDArray[np.bool_]:
        """Blocks in which each training sample was observed, (n_samples, n_blocks)."""
        return np.isfinite(np.stack([block[:, 0] for block in self.stepped], axis=1))

    @property
    def unreached(self) -> NDArray[np.bool_]:
        """Missing training blocks that the walk could not fill in, (n_samples, n_blocks)."""
        return self._filled[1]

    # --- any samples ------------------------------------------------------------------------

    def place(
        self,
        views: Views,
        *,
        n_steps: float | None = None,
        n_jobs: int | None = None,
        cache: FitCache | None = None,
        progress: Progress = no_progress,
        stacklevel: int = 1,
    ) -> Placed:
        """The embedding of samples, training or new, with diagnostics.

        Parameters
        ----------
        views : Views
            Any subset of the training views, with the same features.
        n_steps : float or None
            As in `embedding`.
        n_jobs : int or None
            Number of threads; None uses as many as BLAS does.
        cache : FitCache or None
            Keeps the kernel rows of the samples for other fits on the same kernels.
        progress : callable
            ``progress(stage, done, total)``.
        stacklevel : int
            Frame that a warning points to, as in `warnings.warn`; 1 is the caller.
        """
        self.schema.check(views)
        self.check_rows(views)
        # Dense kernel rows are placed in parallel, in batches that fit into the cache; neighbour
        # searches use threads of their own.
        is_dense = self.walk.is_dense
        size = max(16, BATCH // self.walk.n_samples) if is_dense else BATCH // 16
        starts = range(0, len(views), size)
        threads = thread_count(n_jobs) if is_dense else 1

        def rows_of(start: int) -> list[KernelRows | None]:
            return self._kernel_rows(views[start : start + size])

        kept: Rows | None = None
        if cache is not None and self.fingerprint and cache.keeps_rows(len(views), self.n_samples):
            kept = cache.rows(
                self.fingerprint,
                self.walk,
                views,
                [min(size, len(views) - start) for start in starts],
                lambda: map_threads(rows_of, starts, threads),
                stacklevel=stacklevel + 1,
            )
        self.placing.prepare()

        def step(start: int) -> Step:
            return self.placing.step(rows_of(start) if kept is None else kept[start // size])

        def done(count: int) -> None:
            progress("extension", min(count * size, len(views)), len(views))

        parts = map_threads(step, starts, threads, done)
        joined = Step.concatenate(parts)
        embedding = self._combine(joined.blocks, joined.observed, self._time(n_steps))
        names = self.schema.names
        return Placed(embedding, joined.coverage, joined, names, views.describe_sample)

    def check_rows(self, views: Views) -> None:
        """Raise ValueError for new samples that the walk cannot place.

        Checks all samples at once, so that row numbers in messages are those of the input.

        Parameters
        ----------
        views : Views
        """
        check_kernels_with_gaps(views, self.kernels)
        check_full_kernels(views, self.kernels)
        for l, K in enumerate(self.walk.affinities):
            if K.name in views.names:
                rows = K.select_columns(views.rows(K.name), self.walk.rows.samples(l))
                K.check_new(rows, partial(views.describe_row, K.name))
        if views.is_complete:
            return
        check_every_view(type(self.walk), "new sample")
        if any(views.nodes.is_repeated(l) for l in range(views.n_views)):
            raise ValueError(
                "a view has several rows for one new sample; pass one row per view and new sample"
            )

    # --- what was learned -------------------------------------------------------------------

    @property
    def observed(self) -> NDArray[np.bool_]:
        """Which training samples each view observed, (n_samples, n_views)."""
        return self.walk.rows.observed[:, : len(self.schema.names)]

    @property
    def unused_columns(self) -> dict[str, NDArray[np.bool_]]:
        """Columns of precomputed kernels that new samples need not have, (n_samples,), by view.

        They belong to training samples that the view did not observe.
        """
        return {
            K.name: ~seen
            for K, seen in zip(self.walk.affinities, self.observed.T, strict=True)
            if K.kernel.is_pairwise and not seen.all()
        }

    @property
    def n_samples(self) -> int:
        """Number of training samples."""
        return self.walk.n_samples

    @property
    def is_timed(self) -> bool:
        """Whether the coordinates are λ^t ψ, so that the diffusion time can be changed."""
        return self.walk.is_timed

    @property
    def eigenvalues(self) -> Floats:
        """λ_1 … λ_r, without the trivial λ_0 = 1 if the walk has it, (r,)."""
        return self.spectrum.eigenvalues

    @property
    def n_components(self) -> int:
        """Number r of coordinates per block."""
        return len(self.spectrum)

    @property
    def kernels(self) -> dict[str, Kernel]:
        """The kernel of each view by name, with bandwidth rules resolved to numbers."""
        return {K.name: K.kernel for K in self.walk.affinities}

    @property
    def n_neighbors(self) -> dict[str, int | None]:
        """Neighbours that each kernel keeps, by view name; None for a kernel that keeps all."""
        return {
            K.name: None if (k := K.kernel.n_neighbors) is None else min(int(k), K.n_samples - 1)
            for K in self.walk.affinities
        }

    @property
    def metrics(self) -> dict[str, str]:
        """The metric of each view by name; see `viewhop.selection.metric_name`."""
        return {name: metric_name(kernel) for name, kernel in self.kernels.items()}

    @property
    def recall(self) -> dict[str, float]:
        """Recall of the neighbour search of each view, by view name."""
        return {K.name: K.recall for K in self.walk.affinities}

    @property
    def bandwidths(self) -> dict[str, Any]:
        """Scale of each kernel by view name: one number, one per sample, or NaN if precomputed."""
        walk = self.walk
        return {K.name: walk.at_samples(l, K.scale) for l, K in enumerate(walk.affinities)}

    @cached_property
    def view_embeddings(self) -> dict[str, NDArray[np.floating]]:
        """Coordinates by view name; the same for every view if the geometry is fused."""
        blocks = self._for_every_view(self.by_row())
        return {
            name: block.astype(self.schema.dtype) + self.schema.dtype.type(0)
            for name, block in zip(self.schema.names, blocks, strict=True)
        }

    @cached_property
    def degrees(self) -> dict[str, Floats]:
        """D̂, the row sums of the walk's kernel, by view name."""
        walk = self.walk
        blocks = self._of_views(walk.blocks(walk.degrees)[: len(self.stepped)])
        if not walk.is_fused:
            blocks = [walk.at_samples(l, block) for l, block in enumerate(blocks)]
        return dict(zip(self.schema.names, self._for_every_view(blocks), strict=True))

    @property
    def view_facts(self) -> dict[str, list[object]]:
        """What was learned of each view, in columns by heading: a summary for people."""
        weights = self.record.view_weights
        facts: dict[str, list[object]] = {
            "view": [*self.schema.names],
            "features": [*self.schema.widths],
            "observed": [int(count) for count in self.observed.sum(axis=0)],
            "metric": [*self.metrics.values()],
        }
        if weights:
            facts["weight"] = [float(weights[name]) for name in self.schema.names]
        return facts

    @property
    def block_names(self) -> tuple[str, ...]:
        """The name of each block of `n_components` columns of the embedding."""
        if self.walk.is_fused and len(self.schema.names) > 1:
            return ("fused",)
        return self.schema.names if self.output == "concat" else (self.output,)

    # --- inner workings ---------------------------------------------------------------------

    @cached_property
    def _filled(self) -> tuple[list[Floats], NDArray[np.bool_]]:
        """Training coordinates with missing views filled in, and the blocks that could not be."""
        observed = self.observed_blocks
        if self.output != "concat" or observed.all():
            return self.stepped, np.zeros(observed.shape, dtype=bool)
        return self.extension.fill()

    @cached_property
    def _embedding(self) -> NDArray[np.floating]:
        return self._embed(self.n_steps)

    def _embed(self, n_steps: float) -> NDArray[np.floating]:
        """The embedding of the training samples after `n_steps` steps."""
        if self.output == "consensus":
            return self._combine(self.consensus.training(), None, n_steps)
        return self._combine(self._filled[0], self.observed_blocks, n_steps)

    def _of_views(self, blocks: list[Any]) -> list[Any]:
        """The blocks of the views, without that of the joint view."""
        return blocks[: len(self.schema.names)]

    def _time(self, n_steps: float | None) -> float:
        if n_steps is None:
            return self.n_steps
        if not self.is_timed:
            raise ValueError("these coordinates do not depend on a diffusion time; omit n_steps")
        return check_time(n_steps)

    def _coordinates(self, stepped: Floats, n_steps: float) -> Floats:
        """λ^t ψ of a block, (n, r), from P̂ψ."""
        return coordinates(stepped, self.eigenvalues, n_steps, is_markov=self.walk.is_markov)

    def _combine(
        self, stepped: list[Floats], observed: NDArray[np.bool_] | None, n_steps: float
    ) -> NDArray[np.floating]:
        """The embedding of samples after `n_steps` steps, from P̂ψ in every block."""
        blocks = self._of_views(stepped)
        if self.output == "mean":
            seen = None if observed is None else observed[:, : len(blocks)]
            scaling = self._of_views(self.scaling)
            blocks = [mean_over_views(blocks, scaling, seen) * self.eigenvalues]
        columns = [self._coordinates(block, n_steps) for block in blocks]
        # As in `coordinates`, after conversion to a lower precision.
        return np.asarray(np.hstack(columns).astype(self.schema.dtype) + self.schema.dtype.type(0))

    def _kernel_rows(self, views: Views) -> list[KernelRows | None]:
        """Kernel rows of new samples, one entry per kernel; None for a view without rows."""
        walk = self.walk
        # In the precision in which they came, which tells how far they are rounded.
        new: dict[str, Any] = {
            name: views.rows(name).astype(views.precision(name), copy=False)
            for name in views.names
            if len(views.rows(name))
        }
        samples = {name: views.samples(name) for name in new}
        if not walk.rows.is_whole:
            for l, K in enumerate(walk.affinities):
                if K.name in new:
                    new[K.name] = K.select_columns(new[K.name], walk.rows.samples(l))
        if walk.joint is not None and len(new) == len(walk.affinities):
            complete = np.asarray(views.observed.all(axis=1))
            if complete.any():
                every = {name: new[name][complete[samples[name]]] for name in new}
                new[walk.joint.name] = walk.joint.rows(walk.affinities, every)
                samples[walk.joint.name] = np.flatnonzero(complete)
        rows = walk.against(new)
        if views.is_complete:
            return rows
        return [
            None if part is None else part.placed(samples[K.name], len(views))
            for K, part in zip(walk.kernels, rows, strict=False)
        ]

    def _for_every_view(self, blocks: list[Any]) -> list[Any]:
        """One entry per view; a fused geometry repeats its only block."""
        return blocks * (len(self.schema.names) if self.walk.is_fused else 1)


def check_kernels_with_gaps(views: Views, kernels: Mapping[str, Kernel]) -> None:
    """Raise ValueError if a view has columns of NaN, but is not used as a precomputed kernel.

    Parameters
    ----------
    views : Views
    kernels : dict of Kernel by view name
    """
    for name in views.kernels_with_gaps:
        if name in kernels and not kernels[name].is_pairwise:
            raise ValueError(
                f"view {name!r} was read as a precomputed kernel with missing samples, so it has "
                f"columns of NaN, but its kernel is {kernels[name]!r}; pass kernel='precomputed'"
            )


def check_full_kernels(views: Views, kernels: Mapping[str, Kernel]) -> None:
    """Raise TypeError if a precomputed kernel is a sparse view.

    Parameters
    ----------
    views : Views
    kernels : dict of Kernel by view name
    """
    for name in views.names:
        is_pairwise = name in kernels and kernels[name].is_pairwise
        if is_pairwise and isinstance(views.rows(name), SparseRows):
            raise sparse_kernel_error(name)


def check_every_view(walk: type[Walk], what: str) -> None:
    """Raise ValueError if the fusion needs every view of every sample.

    Parameters
    ----------
    walk : type of Walk
    what : str
        What is missing a view, for the message: "sample" or "new sample".
    """
    if walk.needs_every_view:
        raise ValueError(
            f'fusion="{walk.fusion}" needs every view of every {what}, but some are NaN; use '
            'fusion="hop" or "sum"'
        )
