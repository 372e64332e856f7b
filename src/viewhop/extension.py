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
from viewhop.affinity.rows import Values
from viewhop.affinity.tiles import in_lanes
from viewhop.errors import FarSampleWarning, UnreachedViewWarning
from viewhop.spectrum import Spectrum
from viewhop.walks import AlternatingWalk, HopWalk, SumWalk, Walk

__all__ = ["Extension", "FusedExtension", "HopExtension", "Stepped", "extension"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Stepped:
    """One step of the walk from some samples.

    Attributes
    ----------
    blocks : list of (n, r) arrays
        P̂ψ at the samples, one array per block of the walk.
    far : (n,) bool array
        Samples far from every training sample in some view.
    unreached : (n, n_blocks) bool array
        Blocks that no given view hops to, filled by the mean of the others.
    lost : (n,) bool array
        Samples without any kernel mass; their coordinates are NaN.
    """

    blocks: list[Floats]
    far: NDArray[np.bool_]
    unreached: NDArray[np.bool_]
    lost: NDArray[np.bool_]

    @classmethod
    def joined(cls, parts: Sequence[Stepped]) -> Stepped:
        """The steps of consecutive rows as one."""
        return cls(
            [np.concatenate(blocks) for blocks in zip(*(p.blocks for p in parts), strict=True)],
            np.concatenate([p.far for p in parts]),
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
        for name, rows in zip(names, self.unreached.T, strict=False):
            if rows.any():
                warnings.warn(
                    UnreachedViewWarning(
                        f"the hop matrix has no way from the given views to view {name!r} for "
                        f"{rows.sum()} samples; their coordinates there are the mean over the "
                        "given views",
                        int(rows.sum()),
                    ),
                    stacklevel=stacklevel + 1,
                )


class Extension(ABC):
    """What a fitted walk needs to place a sample."""

    @abstractmethod
    def training(self) -> list[Floats]:
        """P̂ψ at the training samples, (n_samples, r) per block of the walk."""

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
        """P̂ψ at the training samples, (n_samples, r) per view."""
        return np.split(self.spectrum.stepped, self.walk.n_blocks)

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

    def step(self, rows: Sequence[KernelRows | None]) -> Stepped:
        """P̂ψ at new samples, one block per view."""
        given = {l: found for l, found in enumerate(rows) if found is not None}
        n_rows = next(iter(given.values())).n_rows
        peaks = {l: found.peaks for l, found in given.items()}
        seen = {l: np.isfinite(peak) for l, peak in peaks.items()}
        r = len(self.spectrum)
        blocks = [np.full((n_rows, r), np.nan) for _ in rows]
        far = np.zeros(n_rows, dtype=bool)
        for l, found in given.items():
            both = _averaged(found.values, self._both[l])
            with np.errstate(invalid="ignore"):
                blocks[l] = both[:, :r] / both[:, r : r + 1]
            far |= found.far
        unreached = self._fill(blocks, given, peaks, seen)
        lost = ~np.any([*seen.values()], axis=0)
        return Stepped(blocks, far, unreached & ~lost[:, None], lost)

    def _fill(
        self,
        blocks: list[Floats],
        given: dict[int, KernelRows],
        peaks: dict[int, Floats],
        seen: dict[int, NDArray[np.bool_]],
    ) -> NDArray[np.bool_]:
        """Fill what no kernel row gave, in place, and tell where the walk does not reach."""
        n_rows, n_blocks = len(blocks[0]), len(blocks)
        unreached = np.zeros((n_rows, n_blocks), dtype=bool)
        empty = [m for m in range(n_blocks) if m not in seen or not seen[m].all()]
        if not empty:
            return unreached
        # One shift for all views, so that they keep their weight relative to each other.
        highest = np.max([*peaks.values()], axis=0)
        weights = {l: found.weights(highest) for l, found in given.items()}
        for m in empty:
            wanted = ~seen[m] if m in seen else np.ones(n_rows, dtype=bool)
            top = np.sum(
                [self.hops[l, m] * _averaged(w, self.smoothed[m]) for l, w in weights.items()],
                axis=0,
            )
            mass = np.sum(
                [self.hops[l, m] * _averaged(w, self.masses[m]) for l, w in weights.items()], axis=0
            )
            reached = wanted & (mass > 0)
            blocks[m][reached] = top[reached] / mass[reached, None]
            unreached[:, m] = wanted & ~reached
        for m in np.flatnonzero(unreached.any(axis=0)).tolist():
            rows = np.flatnonzero(unreached[:, m])
            own = [np.where(seen[l][rows, None], blocks[l][rows], np.nan) for l in given]
            count = np.sum([seen[l][rows] for l in given], axis=0)
            with np.errstate(invalid="ignore"):
                blocks[m][rows] = np.nansum(own, axis=0) / count[:, None]
        return unreached


class FusedExtension(Extension):
    """Extension of a walk with one geometry: an average of vectors over the sample's kernel rows.

    From a subset of the views, a sum of kernels runs over those that are given.

    Parameters
    ----------
    training : (n_samples, r) array
        P̂ψ at the training samples.
    vectors : (n_samples, r) array
        What is averaged.
    """

    def __init__(self, training: Floats, vectors: Floats) -> None:
        self._training = training
        self.vectors = vectors

    def training(self) -> list[Floats]:
        """P̂ψ at the training samples, one (n_samples, r) array."""
        return [self._training]

    def prepare(self) -> None:
        """All is there."""

    def step(self, rows: Sequence[KernelRows | None]) -> Stepped:
        """P̂ψ at new samples, one block."""
        given = [found for found in rows if found is not None]
        peaks = np.max([found.peaks for found in given], axis=0)
        weights = [found.weights(peaks) for found in given]
        mass = np.sum([np.asarray(w.sum(axis=1)) for w in weights], axis=0)
        top = np.sum([_averaged(w, self.vectors) for w in weights], axis=0)
        with np.errstate(invalid="ignore"):
            block = top / mass[:, None]
        far = np.any([found.far for found in given], axis=0)
        unreached = np.zeros((len(block), 1), dtype=bool)
        return Stepped([block], far, unreached, ~np.isfinite(peaks))


def _averaged(weights: Values, vectors: NDArray[np.floating]) -> Floats:
    """Weights times vectors, in the precision of the weights."""
    return np.asarray(weights @ vectors.astype(weights.dtype, copy=False), dtype=np.float64)


def extension(walk: Walk, spectrum: Spectrum) -> Extension:
    """The extension that fits the walk."""
    if isinstance(walk, HopWalk):
        return HopExtension(walk, spectrum)
    training = np.split(spectrum.stepped, walk.n_blocks)[0]
    if isinstance(walk, AlternatingWalk):
        # P φ = ψ Σ: one step in the first view from what the other steps make of the ends.
        _, ends = walk.blocks(spectrum.eigenvectors)
        carried = np.asarray(walk.forward(np.asarray(ends), skip=1), dtype=np.float64)
        return FusedExtension(training, carried)
    assert isinstance(walk, SumWalk)
    return FusedExtension(training, spectrum.eigenvectors)
