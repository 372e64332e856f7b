"""Extension: coordinates of any sample, new or not, from its kernel rows.

One step of the walk from a sample x, averaged over the eigenvectors, is

    (P̂ψ_k)(x) = κ_l(x)·G_l / κ_l(x)·g_l ,    G_l = Σ_m H_lm K^m ψ_m ,   g_l = Σ_m H_lm K^m 1 ,

with κ_l(x) the row of kernel values between x and the training samples of view l. It equals λ_k ψ_k
at a training sample, and it is what "the coordinates" mean everywhere: training samples get theirs
from the same formula as new ones, so fit and transform agree.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from viewhop.affinity import KernelRows
from viewhop.affinity._kernel_rows import Values
from viewhop.affinity._tiles import in_lanes
from viewhop.errors import FarSampleWarning, UnreachedViewWarning
from viewhop.spectrum import Spectrum
from viewhop.walks import AlternatingWalk, HopWalk, SumWalk, Walk

__all__ = [
    "Extension",
    "FusedExtension",
    "HopExtension",
    "Stepped",
    "build_extension",
    "warn_of_unreached",
]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Stepped:
    """One step of the walk from some samples.

    Attributes
    ----------
    blocks : list of (n, r) arrays
        P̂ψ at the samples, one array per block of the walk.
    seen : (n, n_blocks) bool array
        Blocks that a kernel row of the sample gave; the others are filled.
    far : (n,) bool array
        Samples far from every training sample in some view.
    coverage : (n,) array
        How densely training samples lie about each sample, over what is usual among them: the
        mean over its views, of which none counts for more than 1.
    unreached : (n, n_blocks) bool array
        Blocks that no given view hops to, filled by the mean of the others.
    lost : (n,) bool array
        Samples without any kernel mass; their coordinates are NaN.
    """

    blocks: list[Floats]
    seen: NDArray[np.bool_]
    far: NDArray[np.bool_]
    coverage: Floats
    unreached: NDArray[np.bool_]
    lost: NDArray[np.bool_]

    @classmethod
    def joined(cls, parts: Sequence[Stepped]) -> Stepped:
        """The steps of consecutive rows as one."""
        return cls(
            [np.concatenate(blocks) for blocks in zip(*(p.blocks for p in parts), strict=True)],
            np.concatenate([p.seen for p in parts]),
            np.concatenate([p.far for p in parts]),
            np.concatenate([p.coverage for p in parts]),
            np.concatenate([p.unreached for p in parts]),
            np.concatenate([p.lost for p in parts]),
        )

    def warn(self, names: Sequence[str], *, stacklevel: int) -> None:
        """Warn of samples that were not placed as usual; refuse those that cannot be placed.

        Parameters
        ----------
        names : sequence of str
            Views, one per block.
        stacklevel : int
            Whose line a warning names, counted as `warnings.warn` does from the caller.
        """
        lost = np.flatnonzero(self.lost)
        if lost.size:
            raise ValueError(
                f"row {lost[0]} has no positive kernel value in any given view ({lost.size} such "
                "rows); a new sample needs at least one training sample that it is like"
            )
        far = int(self.far.sum())
        if far:
            warnings.warn(
                FarSampleWarning(
                    f"{far} of {self.far.size} samples lie far from every training sample in "
                    "some view; they get the coordinates of their nearest training samples",
                    far,
                ),
                stacklevel=stacklevel + 1,
            )
        warn_of_unreached(names, self.unreached, stacklevel=stacklevel + 1)


def warn_of_unreached(
    names: Sequence[str], unreached: NDArray[np.bool_], *, stacklevel: int
) -> None:
    """Warn of blocks that the walk does not reach from the views of a sample.

    Parameters
    ----------
    names : sequence of str
        Views, one per block.
    unreached : (n, n_blocks) bool array
    stacklevel : int
        As in `Stepped.warn`.
    """
    for name, rows in zip(names, unreached.T, strict=False):
        if rows.any():
            warnings.warn(
                UnreachedViewWarning(
                    f"the walk has no way from the given views to view {name!r} for {rows.sum()} "
                    "samples; their coordinates there are the mean over the given views",
                    int(rows.sum()),
                ),
                stacklevel=stacklevel + 1,
            )


class Extension(ABC):
    """What a fitted walk needs to place a sample."""

    @abstractmethod
    def training(self) -> list[Floats]:
        """P̂ψ at the training samples, (n_samples, r) per block, NaN where there is no node."""

    @abstractmethod
    def prepare(self) -> None:
        """Compute what `step` needs, once, before threads share it."""

    @abstractmethod
    def step(self, rows: Sequence[KernelRows | None]) -> Stepped:
        """P̂ψ at new samples, from their kernel rows in the views that are given."""


class HopExtension(Extension):
    """Extension of the hop walk, from any subset of the views.

    The block of a view m that is not given is filled by the walk: the same quotient with
    B_m = K^m ψ_m and b_m = K^m 1, summed over the given views l with weight H_lm.

    Notes
    -----
    Eqs. (39)–(43) for L views, divided by the new sample's own row sum (erratum 1).
    """

    def __init__(self, walk: HopWalk, spectrum: Spectrum) -> None:
        self.walk = walk
        self.spectrum = spectrum
        self.hops = walk.hops

    def training(self) -> list[Floats]:
        """P̂ψ at the training samples, (n_samples, r) per view, NaN where there is no node.

        A sample with several rows in a view has their mean.
        """
        return [self.walk.rows.spread(l, rows) for l, rows in enumerate(self.nodes())]

    def nodes(self) -> list[Floats]:
        """P̂ψ at the rows of each view, NaN for a row that the walk does not reach."""
        stepped = self.spectrum.stepped
        if not self.walk.degrees.all():
            stepped = np.where(self.walk.degrees[:, None] > 0, stepped, np.nan)
        return self.walk.rows.split(stepped)

    def filled(self) -> tuple[list[Floats], NDArray[np.bool_]]:
        """The same with what views missed filled by the walk, and where that does not reach."""
        return self._filled

    @cached_property
    def _filled(self) -> tuple[list[Floats], NDArray[np.bool_]]:
        walk, rows = self.walk, self.walk.rows
        blocks = [block.copy() for block in self.training()]
        seen = np.isfinite(np.stack([block[:, 0] for block in blocks], axis=1))
        own = [block.copy() for block in blocks]
        unreached = np.zeros(seen.shape, dtype=bool)
        for m in np.flatnonzero(~seen.all(axis=0)).tolist():
            both = np.column_stack([self.smoothed[m], self.masses[m]]).astype(walk.dtype)
            total = np.zeros((walk.n_samples, both.shape[1]))
            for l in np.flatnonzero(self.hops[:, m] > 0).tolist():
                found = walk.affinities[l] @ rows.carried(both, m, l)
                total += self.hops[l, m] * rows.scattered(l, found)
            wanted = ~seen[:, m]
            reached = wanted & (total[:, -1] > 0)
            blocks[m][reached] = total[reached, :-1] / total[reached, -1:]
            unreached[:, m] = wanted & ~reached
        _average(blocks, own, seen, unreached)
        return blocks, unreached

    def prepare(self) -> None:
        """Compute what `step` needs."""
        self._both  # noqa: B018

    @cached_property
    def smoothed(self) -> list[NDArray[np.floating]]:
        """B_m of each view."""
        vectors = self.spectrum.eigenvectors.astype(self.walk.dtype, copy=False)
        return self.walk.smoothed(vectors)

    @cached_property
    def masses(self) -> list[Floats]:
        """b_m of each view."""
        return [K.degrees for K in self.walk.affinities]

    @cached_property
    def weights(self) -> list[NDArray[np.floating]]:
        """g_l of each view."""
        return self.walk.hopped(self.masses)

    @cached_property
    def _both(self) -> list[NDArray[np.floating]]:
        """G and g of each view side by side: one product gives both ends of the quotient."""
        joined = [
            np.column_stack([G, g]).astype(self.walk.dtype, copy=False)
            for G, g in zip(self.walk.hopped(self.smoothed), self.weights, strict=True)
        ]
        return [in_lanes(both) for both in joined] if self.walk.is_dense else joined

    def own(self, view: int, rows: KernelRows) -> Floats:
        """P̂ψ at samples in a view, from their kernel rows there; NaN where these have no mass."""
        r = len(self.spectrum)
        both = _averaged(rows.values, self._both[view])
        mass = np.where(both[:, r] > 0, both[:, r], np.nan)
        return np.asarray(both[:, :r] / mass[:, None])

    def step(self, rows: Sequence[KernelRows | None]) -> Stepped:
        """P̂ψ at new samples, one block per view."""
        given = {l: found for l, found in enumerate(rows) if found is not None}
        n_rows = next(iter(given.values())).n_rows
        blocks = [np.full((n_rows, len(self.spectrum)), np.nan) for _ in rows]
        for l, found in given.items():
            blocks[l] = self.own(l, found)
        seen = np.isfinite(np.stack([block[:, 0] for block in blocks], axis=1))
        far = np.any([found.far for found in given.values()], axis=0)
        has_mass = np.stack([np.isfinite(found.peaks) for found in given.values()])
        lost = np.asarray(~has_mass.any(axis=0))
        unreached = np.zeros(seen.shape, dtype=bool)
        if not seen.all():
            unreached = self._fill(blocks, given, seen)
            alone = np.flatnonzero(~lost & ~seen.any(axis=1))
            if alone.size:  # all that they are like left the walk
                self._nearest(blocks, given, alone)
                unreached[alone] = False
                far[alone] = True
        coverage = _mean_coverage([*given.values()])
        return Stepped(blocks, seen, far, coverage, unreached & ~lost[:, None], lost)

    def _fill(
        self,
        blocks: list[Floats],
        given: dict[int, KernelRows],
        seen: NDArray[np.bool_],
    ) -> NDArray[np.bool_]:
        """Fill what no kernel row gave, in place, and tell where the walk does not reach."""
        unreached = np.zeros(seen.shape, dtype=bool)
        # One shift for all views, so that they keep their weight relative to each other.
        highest = np.max([found.peaks for found in given.values()], axis=0)
        weights = {l: found.weights(highest) for l, found in given.items()}
        own = [block.copy() for block in blocks]
        carried = self.walk.rows.carried
        for m in np.flatnonzero(~seen.all(axis=0)).tolist():
            wanted = ~seen[:, m]
            top = np.sum(
                [
                    self.hops[l, m] * _averaged(w, carried(self.smoothed[m], m, l))
                    for l, w in weights.items()
                ],
                axis=0,
            )
            mass = np.sum(
                [
                    self.hops[l, m] * _averaged(w, carried(self.masses[m], m, l))
                    for l, w in weights.items()
                ],
                axis=0,
            )
            reached = wanted & (mass > 0)
            blocks[m][reached] = top[reached] / mass[reached, None]
            unreached[:, m] = wanted & ~reached
        _average(blocks, own, seen, unreached)
        return unreached

    def _nearest(
        self, blocks: list[Floats], given: dict[int, KernelRows], alone: NDArray[np.intp]
    ) -> None:
        """Give samples the coordinates of the training sample that they are most like."""
        training, _ = self.filled()
        views = [*given]
        best = np.argmax([given[l].peaks[alone] for l in views], axis=0)
        for k, l in enumerate(views):
            here = alone[best == k]
            if not here.size:
                continue
            columns = np.asarray(given[l].values[here].argmax(axis=1)).ravel()
            sample = self.walk.rows.samples(l)[columns]
            for block, known in zip(blocks, training, strict=True):
                block[here] = known[sample]


class FusedExtension(Extension):
    """Extension of a walk with one geometry: an average of vectors over the sample's kernel rows.

    From a subset of the views, a sum of kernels runs over those that are given.

    Parameters
    ----------
    training : (n_samples, r) array
        P̂ψ at the training samples.
    vectors : list of (n_l, r) arrays
        What is averaged, at the rows of each view that new samples are compared with.
    """

    def __init__(self, training: Floats, vectors: list[Floats]) -> None:
        self._training = training
        self.vectors = vectors

    def training(self) -> list[Floats]:
        """P̂ψ at the training samples, one (n_samples, r) array."""
        return [self._training]

    def prepare(self) -> None:
        """All is there."""

    def step(self, rows: Sequence[KernelRows | None]) -> Stepped:
        """P̂ψ at new samples, one block."""
        both = [(K, V) for K, V in zip(rows, self.vectors, strict=True) if K is not None]
        given = [found for found, _ in both]
        peaks = np.max([found.peaks for found in given], axis=0)
        weights = [(found.weights(peaks), vectors) for found, vectors in both]
        mass = np.sum([np.asarray(w.sum(axis=1)) for w, _ in weights], axis=0)
        top = np.sum([_averaged(w, vectors) for w, vectors in weights], axis=0)
        with np.errstate(invalid="ignore"):
            block = top / mass[:, None]
        far = np.any([found.far for found in given], axis=0)
        none = np.zeros((len(block), 1), dtype=bool)
        lost = np.asarray(~np.isfinite(peaks))
        return Stepped([block], ~lost[:, None], far, _mean_coverage(given), none, lost)


def _average(
    blocks: list[Floats],
    own: list[Floats],
    seen: NDArray[np.bool_],
    unreached: NDArray[np.bool_],
) -> None:
    """Give blocks, where the walk does not reach, the mean of the coordinates that are there."""
    for m in np.flatnonzero(unreached.any(axis=0)).tolist():
        rows = np.flatnonzero(unreached[:, m])
        total = np.nansum([block[rows] for block in own], axis=0)
        with np.errstate(invalid="ignore"):
            blocks[m][rows] = total / seen[rows].sum(axis=1)[:, None]


def _mean_coverage(given: Sequence[KernelRows]) -> Floats:
    """Coverage of samples over the views that they have."""
    views = [np.minimum(found.coverage, 1.0) for found in given]
    counts = np.sum([np.isfinite(found.peaks) for found in given], axis=0)
    return np.asarray(np.sum(views, axis=0) / np.maximum(counts, 1))


def _averaged(weights: Values, vectors: NDArray[np.floating]) -> Floats:
    """Weights times vectors, in the precision of the weights."""
    return np.asarray(weights @ vectors.astype(weights.dtype, copy=False), dtype=np.float64)


def build_extension(walk: Walk, spectrum: Spectrum) -> Extension:
    """The extension that fits the walk."""
    if isinstance(walk, HopWalk):
        return HopExtension(walk, spectrum)
    training = np.split(spectrum.stepped, walk.n_blocks)[0]
    if isinstance(walk, AlternatingWalk):
        # P φ = ψ Σ: one step in the first view from what the other steps make of the ends.
        _, ends = walk.blocks(spectrum.eigenvectors)
        carried = np.asarray(walk.forward(np.asarray(ends), skip=1), dtype=np.float64)
        return FusedExtension(training, [carried])
    assert isinstance(walk, SumWalk)
    places = range(len(walk.kernels))
    return FusedExtension(training, [walk.rows.gathered(l, spectrum.eigenvectors) for l in places])
