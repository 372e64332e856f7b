"""Tables of the seismic experiments at the calibrated difficulty, beside the paper's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from viewhop.experiments._experiment import Table
from viewhop.experiments._seismic_setting import (
    MULTI,
    RANKS,
    mean_and_sd,
    method_names,
    paper_comparison,
    paper_remarks,
    percents,
    printed_by_method,
)
from viewhop.seismic import Classification

__all__ = ["calibrated_remarks", "calibrated_table", "confusion_counts", "refitted_table"]

#: Classifications by kernel and trial.
Trials = Mapping[str, Sequence[Classification]]


def calibrated_table(by_kernel: Trials, paper: Mapping[str, Sequence[float]], where: str) -> Table:
    """Accuracies in one embedding of all events, in the form of the paper's table.

    Parameters
    ----------
    by_kernel : dict of lists of Classification
    paper : dict of n_ranks numbers by method
    where : str
        Place in the paper.
    """
    methods = method_names(next(iter(by_kernel.values()))[0])
    ours = {
        name: dict(zip(methods, percents(trials, procedure="transductive"), strict=True))
        for name, trials in by_kernel.items()
    }
    columns, rows = paper_comparison(ours, *printed_by_method(paper, methods))
    return Table(
        "Accuracy [%] at the calibrated difficulty, one embedding of all events (transductive), "
        f"mean ± standard deviation over trials, beside {where} of the paper",
        columns,
        rows,
        digits=1,
    )


def refitted_table(by_kernel: Trials, refitted_trials: int) -> Table:
    """Accuracies of events left out of the fit, and balanced accuracies.

    Parameters
    ----------
    by_kernel : dict of lists of Classification
    refitted_trials : int
        Number of trials that were refitted, the first ones.
    """
    columns, parts = ["method"], []
    for name, trials in by_kernel.items():
        left_out = percents(trials[:refitted_trials], procedure="refitted")
        columns += [f"refitted, r = {r}, {name}" for r in RANKS]
        parts += [left_out[:, :, k] for k in range(len(RANKS))]
    for name, trials in by_kernel.items():
        columns.append(f"transductive, balanced, r = {RANKS[-1]}, {name}")
        parts.append(percents(trials, procedure="transductive", balanced=True)[:, :, -1])
    methods = method_names(next(iter(by_kernel.values()))[0])
    return Table(
        "Accuracy [%] at the calibrated difficulty where an event is left out of the fit and "
        "placed by transform; and balanced accuracy of the transductive way",
        tuple(columns),
        tuple(
            (method, *(mean_and_sd(part[k]) for part in parts)) for k, method in enumerate(methods)
        ),
    )


def calibrated_remarks(by_kernel: Trials, paper: Mapping[str, Sequence[float]]) -> list[str]:
    """Remarks on the lead of multi-view beside the paper's.

    Parameters
    ----------
    by_kernel, paper
        As for `calibrated_table`.
    """
    remarks = []
    for name, trials in by_kernel.items():
        methods = method_names(trials[0])
        means = percents(trials, procedure="transductive").mean(axis=1)
        printed, _ = printed_by_method(paper, methods)
        remarks += paper_remarks(name, dict(zip(methods, means, strict=True)), printed)
    return remarks


def confusion_counts(
    trials: Sequence[Classification], refitted_trials: int
) -> dict[str, NDArray[np.int64]]:
    """Confusion counts of multi-view by procedure, summed over the trials.

    Parameters
    ----------
    trials : list of Classification
    refitted_trials : int
        As for `refitted_table`.
    """
    return {
        procedure: np.sum(
            [each.find(MULTI, procedure=procedure).confusion for each in chosen], axis=0
        )
        for procedure, chosen in (("transductive", trials), ("refitted", trials[:refitted_trials]))
    }
