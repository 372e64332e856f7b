"""Extension: coordinates of any sample, new or not, from its kernel rows.

One step of the walk from a sample x, averaged over the eigenvectors, is

    (P̂ψ_k)(x) = κ_l(x)·G_l / κ_l(x)·g_l ,    G_l = Σ_m H_lm K^m ψ_m ,   g_l = Σ_m H_lm K^m 1 ,

with κ_l(x) the row of kernel values between x and the training samples of view l. At a training
sample it equals λ_k ψ_k. All coordinates are computed by this formula, those of training samples
included, so fit and transform agree.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from viewhop.affinity import KernelRows
from viewhop.errors import FarSampleWarning, UnreachedViewWarning
from viewhop.views import row_number

__all__ = ["Extension", "Step", "mean_coverage", "warn_of_unreached"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Step:
    """One step of the walk from some samples.

    Attributes
    ----------
    blocks : list of (n, r) arrays
        P̂ψ at the samples, one array per block of the walk.
    observed : (n, n_blocks) bool array
        Blocks computed from a kernel row of the sample; the others are filled in.
    far : (n,) bool array
        Samples far from every training sample in some view.
    coverage : (n,) array
        Density of training samples around each sample, relative to the median density around the
        training samples: the mean over its views, each capped at 1.
    unreached : (n, n_blocks) bool array
        Blocks that the walk cannot reach from the given views; filled with the mean of the others.
    lost : (n,) bool array
        Samples without a positive kernel value; their coordinates are NaN.
    """

    blocks: list[Floats]
    observed: NDArray[np.bool_]
    far: NDArray[np.bool_]
    coverage: Floats
    unreached: NDArray[np.bool_]
    lost: NDArray[np.bool_]

    @classmethod
    def concatenate(cls, parts: Sequence[Step]) -> Step:
        """The steps of consecutive groups of samples as one."""
        return cls(
            [np.concatenate(blocks) for blocks in zip(*(p.blocks for p in parts), strict=True)],
            np.concatenate([p.observed for p in parts]),
            np.concatenate([p.far for p in parts]),
            np.concatenate([p.coverage for p in parts]),
            np.concatenate([p.unreached for p in parts]),
            np.concatenate([p.lost for p in parts]),
        )

    def warn(
        self,
        names: Sequence[str],
        *,
        describe: Callable[[int], str] = row_number,
        stacklevel: int,
    ) -> None:
        """Warn about far samples and unreached views; raise ValueError for lost samples.

        Parameters
        ----------
        names : sequence of str
            Views, one per block.
        describe : callable
            Returns the name of a row for messages.
        stacklevel : int
            As in `warnings.warn`, counted from the caller.
        """
        lost = np.flatnonzero(self.lost)
        if lost.size:
            raise ValueError(
                f"{describe(int(lost[0]))} has no positive kernel value in any given view "
                f"({lost.size} such rows); a new sample must be similar to at least one training "
                "sample"
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
    """Warn about blocks that the walk cannot reach from the given views of a sample.

    Parameters
    ----------
    names : sequence of str
        Views, one per block.
    unreached : (n, n_blocks) bool array
    stacklevel : int
        As in `Step.warn`.
    """
    for name, rows in zip(names, unreached.T, strict=False):
        if rows.any():
            warnings.warn(
                UnreachedViewWarning(
                    f"the walk has no way from the given views to view {name!r} for {rows.sum()} "
                    "samples; their coordinates in that view are the mean over the given views",
                    int(rows.sum()),
                ),
                stacklevel=stacklevel + 1,
            )


class Extension(ABC):
    """Computes the coordinates of training and new samples on a fitted walk."""

    @abstractmethod
    def training(self) -> list[Floats]:
        """P̂ψ at the training samples, (n_samples, r) per block; NaN for a missing node."""

    @abstractmethod
    def step(self, rows: Sequence[KernelRows | None]) -> Step:
        """P̂ψ at new samples, from their kernel rows in the given views."""

    def prepare(self) -> None:
        """Compute what `step` needs in advance, before several threads call it."""
        return

    def by_row(self) -> list[Floats]:
        """P̂ψ per row for views with several rows for some sample, otherwise as in `training`."""
        return self.training()

    def fill(self) -> tuple[list[Floats], NDArray[np.bool_]]:
        """P̂ψ at the training samples with missing blocks filled, and a mask of unreached ones."""
        blocks = self.training()
        return blocks, np.zeros((len(blocks[0]), len(blocks)), dtype=bool)

    def step_in_view(self, view: int, rows: KernelRows) -> Floats:
        """P̂ψ at samples in one view, only from their kernel rows in that view."""
        raise TypeError(f"{type(self).__name__} has one geometry, not one per view")


def mean_coverage(given: Sequence[KernelRows]) -> Floats:
    """Mean coverage of samples over the views that they have, each capped at 1, (n,)."""
    views = [np.minimum(rows.coverage, 1.0) for rows in given]
    counts = np.sum([np.isfinite(rows.peaks) for rows in given], axis=0)
    return np.asarray(np.sum(views, axis=0) / np.maximum(counts, 1))
