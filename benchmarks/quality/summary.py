"""Scores of the finished cells, looked up by set, method and task, with a reason for each gap."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.quality.cells import Cell, Record
from benchmarks.quality.methods import DEFAULT, SINGLE, Method
from benchmarks.quality.perturbations import CLEAN
from benchmarks.quality.ranks import mean_ranks
from benchmarks.quality.run import Results
from benchmarks.quality.sets import COUNTED

__all__ = ["BEST_VIEW", "MEAN_VIEW", "Summary", "Value"]

BEST_VIEW, MEAN_VIEW = "best view (chosen with labels)", "each view alone (mean)"


class Value(NamedTuple):
    """A mean over seeds, or the reason why there is none."""

    number: float | None
    reason: str = ""


class Summary:
    """The scores of a run.

    Parameters
    ----------
    results : Results
    methods : tuple of Method
        In the order of the tables.

    Attributes
    ----------
    sets : list of str
        The counted sets that were found.
    """

    def __init__(self, results: Results, methods: Sequence[Method]) -> None:
        self.results, self.methods = results, tuple(methods)
        self.sets = [name for name in COUNTED if name in results.sizes]
        self._records: dict[tuple[str, ...], list[Record]] = defaultdict(list)
        for record in results.records:
            self._records[_key(record.cell)].append(record)
        self._left_out = {_key(cell): why for cell, why in results.left_out.items()}

    def columns(self, task: str) -> list[str]:
        """Names of the methods asked for a task; single views are two, their mean and the best."""
        names = []
        for method in self.methods:
            if task in method.tasks:
                names += [MEAN_VIEW, BEST_VIEW] if method.name == SINGLE else [method.name]
        return names

    def peers(self) -> list[str]:
        """Names of the peers."""
        return [method.name for method in self.methods if method.family == "peer"]

    def value(
        self, name: str, column: str, task: str, score: str, perturbation: str = CLEAN
    ) -> Value:
        """The mean of a score over the seeds."""
        method = SINGLE if column in (MEAN_VIEW, BEST_VIEW) else column
        if column == BEST_VIEW:
            score = "best" if score == "score" else f"best {score}"
        key = (name, method, task, perturbation)
        if key in self._left_out:
            return Value(None, self._left_out[key])
        records = self._records.get(key, [])
        failed = [record.error for record in records if record.error]
        if failed:
            return Value(None, f"failed: {failed[0]}")
        if not records:
            return Value(None, "not run")
        return Value(float(np.mean([record.scores[score] for record in records])))

    def mean(
        self,
        column: str,
        task: str,
        score: str,
        perturbation: str = CLEAN,
        sets: Iterable[str] | None = None,
    ) -> Value:
        """The mean of a score over the counted sets; none if a set lacks it."""
        asked = list(self.sets if sets is None else sets)
        values = [self.value(name, column, task, score, perturbation) for name in asked]
        numbers = [value.number for value in values if value.number is not None]
        if len(numbers) < len(asked) or not numbers:
            return Value(None, f"on {len(numbers)} of {len(asked)} sets")
        return Value(float(np.mean(numbers)))

    def complete(self) -> dict[str, dict[str, float]]:
        """AMI with K known by method and set, for methods that have all counted sets.

        The best view is left out: it is chosen with labels.
        """
        scores = {}
        for column in self.columns("clusters"):
            values = {name: self.value(name, column, "clusters", "ami") for name in self.sets}
            numbers = {name: v.number for name, v in values.items() if v.number is not None}
            if column != BEST_VIEW and numbers and len(numbers) == len(self.sets):
                scores[column] = numbers
        return scores

    def ranks(self) -> dict[str, float]:
        """Mean ranks of the methods that have all counted sets."""
        return mean_ranks(self.complete())

    def best_peer(self, name: str) -> tuple[str, float] | None:
        """The peer with the highest AMI on a set, and that AMI."""
        values = [(peer, self.value(name, peer, "clusters", "ami").number) for peer in self.peers()]
        known = [(peer, number) for peer, number in values if number is not None]
        return max(known, key=lambda pair: pair[1]) if known else None

    def default(self, name: str) -> float | None:
        """AMI of the default on a set."""
        return self.value(name, DEFAULT, "clusters", "ami").number

    def failures(self) -> list[Record]:
        """Records of the cells that failed."""
        return [record for record in self.results.records if record.error]


def _key(cell: Cell) -> tuple[str, ...]:
    return cell.set, cell.method, cell.task, cell.perturbation
