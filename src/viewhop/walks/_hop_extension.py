"""Coordinates of samples on the walk between views, from any subset of the views."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from viewhop.affinity import KernelRows, in_lanes
from viewhop.spectrum import Spectrum
from viewhop.walks._extension import Extension, Step, mean_coverage

if TYPE_CHECKING:
    from viewhop.walks._hop import HopWalk

__all__ = ["HopExtension"]

Floats = NDArray[np.float64]


class HopExtension(Extension):
    """Extension of the hop walk, from any subset of the views.

    The walk fills the block of a missing view m with the same quotient, where B_m = K^m ψ_m and
    b_m = K^m 1 are summed over the given views l with weights H_lm.

    Notes
    -----
    Eqs. (39)–(43) for L views, divided by the new sample's own row sum (erratum 1).
    """

    def __init__(self, walk: HopWalk, spectrum: Spectrum) -> None:
        self.walk = walk
        self.spectrum = spectrum
        self.hops = walk.hops
        self._at_rows: dict[tuple[int, int], NDArray[np.floating]] = {}

    def training(self) -> list[Floats]:
        """P̂ψ at the training samples, (n_samples, r) per view; NaN for a missing node.

        A sample with several rows in a view gets their mean.
        """
        return [self.walk.rows.spread(l, rows) for l, rows in enumerate(self._at_nodes())]

    def by_row(self) -> list[Floats]:
        """P̂ψ per row for views with several rows for some sample, otherwise per sample."""
        blocks, rows = self.training(), self.walk.rows
        if rows.is_whole:
            return blocks
        nodes = self._at_nodes()
        return [nodes[l] if rows.is_repeated(l) else block for l, block in enumerate(blocks)]

    def fill(self) -> tuple[list[Floats], NDArray[np.bool_]]:
        """P̂ψ at the training samples with missing blocks filled, and a mask of unreached ones."""
        return super().fill() if self.walk.rows.is_whole else self._filled

    def _at_nodes(self) -> list[Floats]:
        """P̂ψ at the rows of each view; NaN for a row that the walk does not reach."""
        stepped = self.spectrum.stepped
        if not self.walk.degrees.all():
            stepped = np.where(self.walk.degrees[:, None] > 0, stepped, np.nan)
        return self.walk.rows.split(stepped)

    @cached_property
    def _filled(self) -> tuple[list[Floats], NDArray[np.bool_]]:
        walk, rows = self.walk, self.walk.rows
        blocks = [block.copy() for block in self.training()]
        observed = np.isfinite(np.stack([block[:, 0] for block in blocks], axis=1))
        own = [block.copy() for block in blocks]
        unreached = np.zeros(observed.shape, dtype=bool)
        for m in np.flatnonzero(~observed.all(axis=0)).tolist():
            both = np.column_stack([self.smoothed[m], self.masses[m]]).astype(walk.dtype)
            total = np.zeros((walk.n_samples, both.shape[1]))
            for l in np.flatnonzero(self.hops[:, m] > 0).tolist():
                image = walk.kernels[l] @ rows.carried(both, m, l)
                total += self.hops[l, m] * rows.scattered(l, image)
            wanted = ~observed[:, m]
            reached = wanted & (total[:, -1] > 0)
            blocks[m][reached] = total[reached, :-1] / total[reached, -1:]
            unreached[:, m] = wanted & ~reached
        _fill_by_mean(blocks, own, observed, unreached)
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
        return [K.degrees for K in self.walk.kernels]

    @cached_property
    def weights(self) -> list[NDArray[np.floating]]:
        """g_l of each view."""
        return self.walk.hopped(self.masses)

    @cached_property
    def _both(self) -> list[NDArray[np.floating]]:
        """G and g of each view side by side, so one product gives both parts of the quotient."""
        joined = [
            np.column_stack([G, g]).astype(self.walk.dtype, copy=False)
            for G, g in zip(self.walk.hopped(self.smoothed), self.weights, strict=True)
        ]
        return [in_lanes(both) for both in joined] if self.walk.is_dense else joined

    def _carried(self, start: int, end: int) -> NDArray[np.floating]:
        """B_m and b_m of view `start` side by side, at the rows of view `end`, (n_end, r + 1)."""
        if (start, end) not in self._at_rows:
            both = np.column_stack([self.smoothed[start], self.masses[start]])
            both = self.walk.rows.carried(both.astype(self.walk.dtype, copy=False), start, end)
            self._at_rows[start, end] = both
        return self._at_rows[start, end]

    def step_in_view(self, view: int, rows: KernelRows) -> Floats:
        """P̂ψ at samples in one view, from their kernel rows in it; NaN for a row without mass."""
        r = len(self.spectrum)
        both = rows.average(self._both[view])
        mass = np.where(both[:, r] > 0, both[:, r], np.nan)
        return np.asarray(both[:, :r] / mass[:, None])

    def step(self, rows: Sequence[KernelRows | None]) -> Step:
        """P̂ψ at new samples, one block per view."""
        given = {l: kernel_rows for l, kernel_rows in enumerate(rows) if kernel_rows is not None}
        n_rows = next(iter(given.values())).n_rows
        blocks = [np.full((n_rows, len(self.spectrum)), np.nan) for _ in rows]
        for l, kernel_rows in given.items():
            blocks[l] = self.step_in_view(l, kernel_rows)
        observed = np.isfinite(np.stack([block[:, 0] for block in blocks], axis=1))
        far = np.any([rows.far for rows in given.values()], axis=0)
        has_mass = np.stack([np.isfinite(rows.peaks) for rows in given.values()])
        lost = np.asarray(~has_mass.any(axis=0))
        unreached = np.zeros(observed.shape, dtype=bool)
        if not observed.all():
            unreached = self._fill(blocks, given, observed)
            alone = np.flatnonzero(~lost & ~observed.any(axis=1))
            if alone.size:  # the walk reaches none of the training samples similar to them
                self._nearest(blocks, given, alone)
                unreached[alone] = False
                far[alone] = True
        coverage = mean_coverage([*given.values()])
        return Step(blocks, observed, far, coverage, unreached & ~lost[:, None], lost)

    def _fill(
        self,
        blocks: list[Floats],
        given: dict[int, KernelRows],
        observed: NDArray[np.bool_],
    ) -> NDArray[np.bool_]:
        """Fill blocks without a kernel row in place; return the mask of those not reached."""
        unreached = np.zeros(observed.shape, dtype=bool)
        # One shift for all views, so that their relative weights do not change.
        highest = np.max([rows.peaks for rows in given.values()], axis=0)
        own = [block.copy() for block in blocks]
        r = len(self.spectrum)
        for m in np.flatnonzero(~observed.all(axis=0)).tolist():
            wanted = ~observed[:, m]
            total = np.sum(
                [
                    self.hops[l, m] * rows.only(wanted).average(self._carried(m, l), highest)
                    for l, rows in given.items()
                ],
                axis=0,
            )
            reached = wanted & (total[:, r] > 0)
            blocks[m][reached] = total[reached, :r] / total[reached, r:]
            unreached[:, m] = wanted & ~reached
        _fill_by_mean(blocks, own, observed, unreached)
        return unreached

    def _nearest(
        self, blocks: list[Floats], given: dict[int, KernelRows], alone: NDArray[np.intp]
    ) -> None:
        """Give samples the coordinates of their most similar training sample, in place."""
        training, _ = self._filled
        views = [*given]
        best = np.argmax([given[l].peaks[alone] for l in views], axis=0)
        for k, l in enumerate(views):
            here = alone[best == k]
            if not here.size:
                continue
            columns = given[l].largest(here)
            sample = self.walk.rows.samples(l)[columns]
            for block, known in zip(blocks, training, strict=True):
                block[here] = known[sample]


def _fill_by_mean(
    blocks: list[Floats],
    own: list[Floats],
    observed: NDArray[np.bool_],
    unreached: NDArray[np.bool_],
) -> None:
    """Fill blocks that the walk does not reach with the mean of the observed coordinates."""
    for m in np.flatnonzero(unreached.any(axis=0)).tolist():
        rows = np.flatnonzero(unreached[:, m])
        total = np.nansum([block[rows] for block in own], axis=0)
        with np.errstate(invalid="ignore"):
            blocks[m][rows] = total / observed[rows].sum(axis=1)[:, None]
