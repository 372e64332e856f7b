"""The run: every cell of a plan that has no record yet, one after the other."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from benchmarks.quality import sets
from benchmarks.quality.cells import Cell, Record, Store, source_digest
from benchmarks.quality.plan import Plan, Size
from benchmarks.quality.tasks import run_cell
from viewhop.errors import DataMissingError

__all__ = ["Results", "SetSize", "is_old", "run_plan"]


class SetSize(NamedTuple):
    """Samples, views and classes of a set."""

    n_samples: int
    n_views: int
    n_classes: int


@dataclass
class Results:
    """What a run found, or an earlier one had found.

    Attributes
    ----------
    records : list of Record
    left_out : dict
        The reason by cell, for cells that are not run.
    sizes : dict of SetSize
        By set.
    absent : dict of str
        Sets that were not found, with the reason.
    computed : int
        Number of cells that this run computed itself.
    """

    records: list[Record] = field(default_factory=list)
    left_out: dict[Cell, str] = field(default_factory=dict)
    sizes: dict[str, SetSize] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    computed: int = 0


def run_plan(
    plan: Plan,
    store: Store,
    *,
    data_home: str | os.PathLike[str] | None = None,
    retry: bool = False,
    fresh: bool = False,
    report: Callable[[str], None] = lambda line: None,
) -> Results:
    """The results of a plan, from the store where it has them.

    Parameters
    ----------
    plan : Plan
    store : Store
    data_home : path or None
        Folder of the data; None takes the environment variable ``VIEWHOP_DATA``.
    retry : bool
        Whether cells that failed are computed again.
    fresh : bool
        Whether cells that another state of the source computed are computed again.
    report : callable
        Called with a line for every set and every failure.
    """
    results = Results()
    for name in plan.sets:
        try:
            data = sets.load(name, data_home, small=plan.size is Size.QUICK)
        except DataMissingError as error:
            results.absent[name] = f"{error.file} was not found"
            report(f"{name}: {error}")
            continue
        results.sizes[name] = SetSize(len(data.views), data.views.n_views, data.n_classes)
        before = results.computed
        for cell, method, why_not in plan.cells(data):
            if why_not is not None:
                results.left_out[cell] = why_not
                continue
            record = store.get(cell, method.parameters_for(cell.task))
            if record is None or (retry and record.error) or (fresh and is_old(record)):
                record = run_cell(cell, method, data)
                store.put(record)
                results.computed += 1
                if record.error:
                    report(f"failed: {cell}: {record.error}")
            results.records.append(record)
        report(f"{name}: {results.computed - before} computed")
    return results


def is_old(record: Record) -> bool:
    """Whether another state of the source computed it."""
    return record.source != source_digest()
