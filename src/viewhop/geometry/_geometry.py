"""Geometry: what a fit learnt, from which every answer follows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewhop._runtime.progress import Progress, no_progress
from viewhop._runtime.threads import map_threads, thread_count
from viewhop.affinity import KernelRows
from viewhop.geometry._outputs import Scaling, coordinates, fit_scaling, mean_over_views
from viewhop.geometry._time import check_time
from viewhop.kernels import Kernel
from viewhop.spectrum import Spectrum
from viewhop.views import Schema, Views
from viewhop.walks import Extension, Step, Walk

__all__ = ["FitRecord", "Geometry", "Placed", "check_every_view"]

Floats = NDArray[np.float64]

#: Kernel values of new samples that each thread has in use at a time.
BATCH = 2**21


@dataclass(frozen=True)
class FitRecord:
    """What a fit says about itself.

    Attributes
    ----------
    n_pieces : int
        Connected pieces of the walk.
    memory : int
        Bytes that the fit was expected to take at its worst moment, X not counted.
    timings : dict of float
        Seconds of the stages: "kernels", "solve", "extension".
    """

    n_pieces: int
    memory: int
    timings: dict[str, float]


@dataclass(frozen=True)
class Placed:
    """Samples in the coordinates of a geometry.

    Attributes
    ----------
    embedding : (n, n_features_out) array
    coverage : (n,) array
        From 0 to 1: how densely the training samples lie about each sample, over the median of
        what they have themselves, in the mean over the views that it has. Near 0 the sample is
        unlike all of them, and its place says little.
    step : Step
        One step of the walk from the samples, with what was not as usual.
    names : tuple of str
        The views.
    describe : callable
        Names a sample in a message.
    """

    embedding: NDArray[np.floating]
    coverage: Floats
    step: Step
    names: tuple[str, ...]
    describe: Callable[[int], str]

    def warn(self, *, stacklevel: int) -> None:
        """Warn of samples that were not placed as usual; refuse those that cannot be placed.

        Parameters
        ----------
        stacklevel : int
            Whose line a warning names, counted as `warnings.warn` does from the caller.
        """
        self.step.warn(self.names, describe=self.describe, stacklevel=stacklevel + 1)


@dataclass(frozen=True, eq=False)
class Geometry:
    """The result of a fit: a walk, its spectrum, and how samples are placed.

    Estimators have one as ``geometry_``. Build on it rather than on them: it is frozen, it has no
    parameters, and everything that viewhop computes from a fit is computed from it.

    Attributes
    ----------
    walk : Walk
        The random walk, with the affinity of every view in ``walk.affinities``.
    spectrum : Spectrum
        Its leading eigenpairs.
    schema : Schema
        The views of the fit, which new samples must match.
    n_steps : float
        Diffusion time t of the embedding.
    output : {"concat", "mean"}
        What the embedding of a sample is.
    record : FitRecord
        What the fit says about itself.

    Examples
    --------
    >>> import viewhop as vh
    >>> circles = vh.datasets.make_circles(100, random_state=0)
    >>> est = vh.MultiViewDiffusionMaps(2, kernel="gaussian", random_state=0).fit(circles.views)
    >>> geometry = est.geometry_
    >>> geometry.embedding(n_steps=3).shape
    (100, 4)
    >>> geometry.place(circles.views[:5]).embedding.shape
    (5, 4)
    >>> [block.shape for block in geometry.by_view()]
    [(100, 2), (100, 2)]
    """

    walk: Walk
    spectrum: Spectrum
    schema: Schema
    n_steps: float
    output: str
    record: FitRecord = field(repr=False)

    # --- training samples -------------------------------------------------------------------

    def embedding(self, n_steps: float | None = None) -> NDArray[np.floating]:
        """The embedding of the training samples, (n_samples, n_features_out).

        Parameters
        ----------
        n_steps : float or None
            Diffusion time t, any number of at least 0; None is that of the fit.
        """
        if n_steps is None:
            return self._embedding
        return self._combine(self._filled[0], self.observed_blocks, self._time(n_steps))

    def by_view(self, n_steps: float | None = None) -> list[Floats]:
        """Coordinates of the training samples in each block of the walk, (n_samples, r) each.

        NaN where the view did not observe the sample. A fused geometry has one block.

        Parameters
        ----------
        n_steps : float or None
            As in `embedding`.
        """
        t = self._time(n_steps)
        return [coordinates(block, self.eigenvalues, t) for block in self.stepped]

    def by_row(self, n_steps: float | None = None) -> list[Floats]:
        """The same, but by row in a view that has several rows for some sample.

        Parameters
        ----------
        n_steps : float or None
            As in `embedding`.
        """
        t = self._time(n_steps)
        return [coordinates(block, self.eigenvalues, t) for block in self.extension.by_row()]

    @cached_property
    def extension(self) -> Extension:
        """What places samples, new or not."""
        return self.walk.extension(self.spectrum)

    @cached_property
    def stepped(self) -> list[Floats]:
        """P̂ψ at the training samples, one (n_samples, r) array per block, NaN where missing."""
        return self.extension.training()

    @cached_property
    def scaling(self) -> list[Scaling]:
        """Centre and spread that put the blocks on one scale."""
        return [fit_scaling(block, self.walk.dtype) for block in self.stepped]

    @property
    def observed_blocks(self) -> NDArray[np.bool_]:
        """Blocks in which a training sample has coordinates of its own, (n_samples, n_blocks)."""
        return np.isfinite(np.stack([block[:, 0] for block in self.stepped], axis=1))

    @property
    def unreached(self) -> NDArray[np.bool_]:
        """Blocks of the training samples that the walk could not fill, (n_samples, n_blocks)."""
        return self._filled[1]

    # --- any samples ------------------------------------------------------------------------

    def place(
        self,
        views: Views,
        *,
        n_steps: float | None = None,
        n_jobs: int | None = None,
        progress: Progress = no_progress,
    ) -> Placed:
        """Samples, new or not, in the coordinates of the geometry.

        Parameters
        ----------
        views : Views
            Any subset of the views of the fit, with their features.
        n_steps : float or None
            As in `embedding`.
        n_jobs : int or None
            Threads; None is as many as BLAS takes by itself.
        progress : callable
            ``progress(stage, done, total)``.
        """
        self.schema.check(views)
        self.check_rows(views)
        # Rows against a full kernel are placed by threads, few at a time, while they are in cache;
        # a search for neighbours has threads of its own.
        is_dense = self.walk.is_dense
        size = max(16, BATCH // self.walk.n_samples) if is_dense else BATCH // 16
        self.extension.prepare()

        def step(start: int) -> Step:
            return self.extension.step(self._kernel_rows(views[start : start + size]))

        def done(count: int) -> None:
            progress("extension", min(count * size, len(views)), len(views))

        starts = range(0, len(views), size)
        parts = map_threads(step, starts, thread_count(n_jobs) if is_dense else 1, done)
        joined = Step.concatenate(parts)
        embedding = self._combine(joined.blocks, joined.observed, self._time(n_steps))
        names = self.schema.names
        return Placed(embedding, joined.coverage, joined, names, views.describe_sample)

    def check_rows(self, views: Views) -> None:
        """Raise ValueError for new samples that the walk cannot place.

        Of all samples at once, so that rows are counted from the first.

        Parameters
        ----------
        views : Views
        """
        for K in self.walk.affinities:
            if K.name in views.names:
                K.check_new(views[K.name], views.describe_sample)
        if views.is_complete:
            return
        check_every_view(type(self.walk), "new sample")
        if any(views.nodes.is_repeated(l) for l in range(views.n_views)):
            raise ValueError(
                "a view has several rows for one new sample; new samples have one row per view"
            )

    # --- what was learnt --------------------------------------------------------------------

    @property
    def observed(self) -> NDArray[np.bool_]:
        """Which training samples each view observed, (n_samples, n_views)."""
        return self.walk.rows.observed

    @property
    def n_samples(self) -> int:
        """Number of training samples."""
        return self.walk.n_samples

    @property
    def is_timed(self) -> bool:
        """Whether the coordinates are λ^t ψ, so that another diffusion time has a meaning."""
        return self.walk.is_timed

    @property
    def eigenvalues(self) -> Floats:
        """λ_1 … λ_r; the trivial λ_0 = 1 is left out."""
        return self.spectrum.eigenvalues

    @property
    def n_components(self) -> int:
        """Number r of coordinates per block."""
        return len(self.spectrum)

    @property
    def kernels(self) -> dict[str, Kernel]:
        """The kernel of each view, with its rules resolved, by view name."""
        return {K.name: K.kernel for K in self.walk.affinities}

    @property
    def recall(self) -> dict[str, float]:
        """Share of the true neighbours that the search of each view returned."""
        return {K.name: K.recall for K in self.walk.affinities}

    @property
    def bandwidths(self) -> dict[str, Any]:
        """Scale of each kernel: a number, one per sample, or NaN if precomputed."""
        walk = self.walk
        return {K.name: walk.at_samples(l, K.scale) for l, K in enumerate(walk.affinities)}

    @cached_property
    def view_embeddings(self) -> dict[str, NDArray[np.floating]]:
        """Coordinates by view name; a fused geometry has the same for every view."""
        blocks = self._for_every_view(self.by_row())
        return {
            name: block.astype(self.schema.dtype)
            for name, block in zip(self.schema.names, blocks, strict=True)
        }

    @cached_property
    def degrees(self) -> dict[str, Floats]:
        """D̂, the row sums of the walk's kernel, by view name."""
        walk = self.walk
        blocks = walk.blocks(walk.degrees)[: len(self.stepped)]
        if not walk.is_fused:
            blocks = [walk.at_samples(l, block) for l, block in enumerate(blocks)]
        return dict(zip(self.schema.names, self._for_every_view(blocks), strict=True))

    @property
    def block_names(self) -> tuple[str, ...]:
        """What each block of `n_components` columns of the embedding is named after."""
        if self.walk.is_fused and len(self.schema.names) > 1:
            return ("fused",)
        return ("mean",) if self.output == "mean" else self.schema.names

    # --- inner workings ---------------------------------------------------------------------

    @cached_property
    def _filled(self) -> tuple[list[Floats], NDArray[np.bool_]]:
        """The training samples with what views missed, and where the walk could not fill it."""
        if self.output == "mean":
            return self.stepped, np.zeros(self.observed_blocks.shape, dtype=bool)
        return self.extension.fill()

    @cached_property
    def _embedding(self) -> NDArray[np.floating]:
        return self._combine(self._filled[0], self.observed_blocks, self.n_steps)

    def _time(self, n_steps: float | None) -> float:
        if n_steps is None:
            return self.n_steps
        if not self.is_timed:
            raise ValueError("these coordinates have no diffusion time; leave n_steps out")
        return check_time(n_steps)

    def _combine(
        self, stepped: Sequence[Floats], observed: NDArray[np.bool_], n_steps: float
    ) -> NDArray[np.floating]:
        """The embedding of samples after `n_steps` steps, from P̂ψ in every block."""
        blocks = stepped
        if self.output == "mean":
            blocks = [mean_over_views(stepped, self.scaling, observed) * self.eigenvalues]
        columns = [coordinates(block, self.eigenvalues, n_steps) for block in blocks]
        return np.hstack(columns).astype(self.schema.dtype)

    def _kernel_rows(self, views: Views) -> list[KernelRows | None]:
        """Kernel rows of new samples, one entry per kernel; None for a view that has none."""
        walk = self.walk
        new = {name: views.rows(name) for name in views.names if len(views.rows(name))}
        if not walk.rows.is_whole:
            for l, K in enumerate(walk.affinities):
                if K.name in new:
                    new[K.name] = K.select_columns(new[K.name], walk.rows.samples(l))
        rows = walk.against(new)
        if views.is_complete:
            return rows
        return [
            None if part is None else part.placed(views.samples(K.name), len(views))
            for K, part in zip(walk.kernels, rows, strict=False)
        ]

    def _for_every_view(self, blocks: list[Any]) -> list[Any]:
        """One entry per view: a fused geometry has one block for all of them."""
        return blocks * (len(self.schema.names) if self.walk.is_fused else 1)


def check_every_view(walk: type[Walk], what: str) -> None:
    """Raise ValueError for a fusion that cannot do without a view.

    Parameters
    ----------
    walk : type of Walk
    what : str
        Whose views are missing.
    """
    if walk.needs_every_view:
        raise ValueError(
            f'fusion="{walk.fusion}" needs every view of every {what}, and some are NaN; use '
            'fusion="hop" or "sum"'
        )
