"""Which cells a run computes, and why it leaves others out."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum

from benchmarks.quality.cells import Cell
from benchmarks.quality.methods import DEFAULT, Method
from benchmarks.quality.perturbations import MISSING, PERTURBATIONS
from benchmarks.quality.sets import CUT, REAL, SYNTHETIC, Data

__all__ = ["Plan", "Size", "sets_of"]

#: Methods whose robustness is measured without --full.
ROBUST = (DEFAULT, "default of 0.1", "kernel sum (same kernels)")
SEEDS = (0, 1, 2)


class Size(Enum):
    """How much is run."""

    QUICK = "quick"
    USUAL = "usual"
    FULL = "full"


@dataclass(frozen=True)
class Plan:
    """Sets × methods × tasks × seeds of a run.

    Attributes
    ----------
    methods : tuple of Method
    size : Size
    sets : tuple of str
        Names of the sets.
    missing : dict of str
        Methods that cannot be run, with the reason.
    """

    methods: tuple[Method, ...]
    size: Size
    sets: tuple[str, ...]
    missing: Mapping[str, str] = field(default_factory=dict)

    def cells(self, data: Data) -> Iterator[tuple[Cell, Method, str | None]]:
        """Each cell of a set with its method, and the reason why it is not run, or None."""
        for task, perturbation in self._tasks(data.name):
            for method in self.methods:
                if task not in method.tasks:
                    continue
                why_not = self._why_not(method, perturbation, data)
                for seed in self._seeds(method, task, perturbation):
                    cell = Cell(
                        data.name,
                        method.name,
                        task,
                        perturbation,
                        seed,
                        small=self.size is Size.QUICK,
                    )
                    yield cell, method, why_not

    def _tasks(self, name: str) -> list[tuple[str, str]]:
        if name in SYNTHETIC:
            return [("geometry", "clean")]
        tasks = [(task, "clean") for task in ("clusters", "count", "neighbours")]
        return tasks + [("clusters", perturbation) for perturbation in PERTURBATIONS]

    def _seeds(self, method: Method, task: str, perturbation: str) -> Collection[int]:
        """One seed; three in a full run, where something depends on it."""
        is_drawn = task == "neighbours" or perturbation != "clean"
        return SEEDS if self.size is Size.FULL and (method.is_seeded or is_drawn) else SEEDS[:1]

    def _why_not(self, method: Method, perturbation: str, data: Data) -> str | None:
        if method.name in self.missing:
            return self.missing[method.name]
        if method.most is not None and len(data.views) > method.most:
            return f"run up to {method.most:,} samples only"
        if perturbation in MISSING and not method.takes_missing:
            return "needs every view of every sample"
        if perturbation != "clean" and method.family == "peer":
            return "peers are run on clean data"
        if perturbation != "clean" and self.size is not Size.FULL and method.name not in ROBUST:
            return "run with --full only"
        return None


def sets_of(size: Size) -> tuple[str, ...]:
    """The sets of a run, real ones first."""
    if size is Size.QUICK:
        return ("mfeat", *CUT, *SYNTHETIC)
    return (*REAL, *CUT, *SYNTHETIC)
