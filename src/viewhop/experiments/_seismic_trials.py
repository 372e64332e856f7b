"""Trials of the seismic experiments at the calibrated difficulty."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.utils import Bunch

from viewhop._runtime.progress import no_progress
from viewhop.experiments._experiment import Context
from viewhop.experiments._seismic_setting import FUSED, KERNELS, RANKS, sonogram_views
from viewhop.seismic import Classification, classify
from viewhop.views import Views

__all__ = ["classify_calibrated"]


def classify_calibrated(
    context: Context,
    make: Callable[..., Bunch],
    *,
    refitted_trials: int,
    n_left_out: int | None = None,
    inspect: Callable[[int, Bunch, Views], None] = lambda trial, records, views: None,
) -> dict[str, list[Classification]]:
    """Classifications by kernel and trial, of the first trials also refitted.

    Parameters
    ----------
    context : Context
    make : callable
        ``make(random_state=)`` returns records.
    refitted_trials : int
        Number of trials that are also refitted.
    n_left_out : int or None
        Number of random events that are left out there; None leaves out each.
    inspect : callable
        Called with the number of each trial, its records and its views.
    """
    by_kernel: dict[str, list[Classification]] = {name: [] for name in KERNELS}
    for trial in range(context.trials):
        records = make(random_state=context.integer(trial))
        labels = [records.target_names[k] for k in records.target]
        views = sonogram_views(records.waveforms, records.channels)
        inspect(trial, records, views)
        is_refitted = trial < refitted_trials
        left_out = None
        if n_left_out is not None and n_left_out < len(labels):
            chosen = context.generator(trial, 1).choice(len(labels), n_left_out, replace=False)
            left_out = np.sort(chosen).tolist()
        for name, kernel in KERNELS.items():
            by_kernel[name].append(
                classify(
                    views,
                    labels,
                    n_components=RANKS,
                    kernel=kernel,
                    fusions=tuple(FUSED),
                    procedures=["transductive"] + ["refitted"] * is_refitted,
                    left_out=left_out,
                    progress=context.progress if is_refitted else no_progress,
                )
            )
        context.progress("calibrated records", trial + 1, context.trials)
    return by_kernel
