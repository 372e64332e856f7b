"""Accuracies over noise in the seismic experiments, as tables, remarks and a picture."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from viewhop.experiments._experiment import Cell, Context, Picture, Table
from viewhop.experiments._seismic_setting import (
    FUSED,
    KERNELS,
    MULTI,
    RANKS,
    at_noise,
    mean_and_sd,
    percents,
    signal_and_noise,
)
from viewhop.plotting import PALETTE, tidy_axes
from viewhop.seismic import Classification, classify

__all__ = ["classify_sweep", "draw_sweep", "lead_remarks", "sweep_numbers", "sweep_tables"]

Floats = NDArray[np.float64]
#: Accuracies in per cent by kernel, (n_noises, n_methods, n_trials, n_ranks).
Sweep = Mapping[str, Floats]

_FUSED = tuple(FUSED.values())
#: Accuracies in per cent that differ by less count as equal.
_SAME = 1e-9


def classify_sweep(
    context: Context, make: Callable[..., Bunch], noises: Sequence[float]
) -> dict[str, Floats]:
    """Accuracies in per cent by kernel, (n_noises, n_methods, n_trials, n_ranks).

    Parameters
    ----------
    context : Context
    make : callable
        ``make(noise=, random_state=)`` returns records.
    noises : list of float
        Ground noise relative to the simulator's.
    """
    scores: dict[str, list[list[Classification]]] = {name: [[] for _ in noises] for name in KERNELS}
    for trial in range(context.trials):
        clean, noise = signal_and_noise(partial(make, random_state=context.integer(trial)))
        labels = [clean.target_names[k] for k in clean.target]
        for place, level in enumerate(noises):
            views = at_noise(clean, noise, level)
            for name, kernel in KERNELS.items():
                scores[name][place].append(
                    classify(
                        views,
                        labels,
                        n_components=RANKS,
                        kernel=kernel,
                        fusions=tuple(FUSED),
                        procedures=["transductive"],
                    )
                )
            context.progress(
                "records", trial * len(noises) + place + 1, context.trials * len(noises)
            )
    return {
        name: np.array([percents(trials, procedure="transductive") for trials in by_noise])
        for name, by_noise in scores.items()
    }


def sweep_tables(sweep: Sweep, noises: Sequence[float], methods: Sequence[str]) -> list[Table]:
    """One table per kernel, with one row per noise and r.

    Parameters
    ----------
    sweep : dict by kernel of (n_noises, n_methods, n_trials, n_ranks) arrays
    noises : list of float
    methods : list of str
    """
    return [_table(kernel, accuracies, noises, methods) for kernel, accuracies in sweep.items()]


def _table(
    kernel: str, accuracies: Floats, noises: Sequence[float], methods: Sequence[str]
) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for i, level in enumerate(noises):
        for k, r in enumerate(RANKS):
            cells = [mean_and_sd(values) for values in accuracies[i, :, :, k]]
            rows.append((f"{level:g}", str(r), *cells, _best(accuracies[i, :, :, k], methods)))
    return Table(
        f"Accuracy [%] over noise, simulator's defaults, transductive, {kernel}: mean ± standard "
        "deviation over trials",
        ("noise", "r", *methods, "highest mean"),
        tuple(rows),
    )


def _best(values: Floats, methods: Sequence[str]) -> str:
    """Names of the methods with the highest mean; values are (n_methods, n_trials)."""
    means = values.mean(axis=1)
    return ", ".join(
        method for method, mean in zip(methods, means, strict=True) if mean >= means.max() - _SAME
    )


def lead_remarks(sweep: Sweep, noises: Sequence[float], methods: Sequence[str]) -> list[str]:
    """Remarks on where multi-view leads all others and where it does not.

    Parameters
    ----------
    sweep, noises, methods
        As for `sweep_tables`.
    """
    remarks = []
    multi = list(methods).index(MULTI)
    others = [method for method in methods if method != MULTI]
    for kernel, accuracies in sweep.items():
        means = accuracies.mean(axis=2)  # (noises, methods, ranks)
        rest = np.delete(means, multi, axis=1)
        lead = means[:, multi] - rest.max(axis=1)
        best = Counter(others[k] for k in rest.argmax(axis=1)[lead < -_SAME])
        named = ", ".join(f"{name} ({count})" for name, count in best.most_common())
        where = [f"noise {noises[i]:g}, r = {RANKS[k]}" for i, k in np.argwhere(lead > _SAME)]
        ahead = f" ({'; '.join(where)})" if where else ""
        elsewhere = f" Elsewhere it is {named}, ahead by {-lead.min():.1f} points at most."
        remarks.append(
            f"Simulator's defaults, {kernel}: of {lead.size} settings of noise and r, multi-view "
            f"has the highest mean in {len(where)}{ahead} and shares it in "
            f"{int((np.abs(lead) <= _SAME).sum())}." + (elsewhere if best else "")
        )
    return remarks


def sweep_numbers(sweep: Sweep, noises: Sequence[float], methods: Sequence[str]) -> dict[str, Any]:
    """Input of `draw_sweep`: means and deviations by kernel and r, (n_noises, n_methods).

    Parameters
    ----------
    sweep, noises, methods
        As for `sweep_tables`.
    """
    return {
        "noises": noises,
        "methods": methods,
        "mean": {name: _by_rank(accuracies.mean(axis=2)) for name, accuracies in sweep.items()},
        "sd": {name: _by_rank(_sd(accuracies)) for name, accuracies in sweep.items()},
    }


def _sd(accuracies: Floats) -> Floats:
    """Standard deviation over trials; 0 for one trial."""
    spread = (
        accuracies.std(axis=2, ddof=1)
        if accuracies.shape[2] > 1
        else np.zeros_like(accuracies[:, :, 0])
    )
    return np.asarray(spread)


def _by_rank(values: Floats) -> dict[str, Floats]:
    return {str(r): values[:, :, k] for k, r in enumerate(RANKS)}


def draw_sweep(numbers: Mapping[str, Any]) -> Picture:
    """Picture of accuracy over noise, one panel per kernel and r.

    Parameters
    ----------
    numbers : dict
        From `sweep_numbers`, fresh or read back.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.5, 7.4), layout="constrained")
    panels = figure.subplots(len(numbers["mean"]), len(RANKS), sharey=True)
    for row, kernel in zip(panels, numbers["mean"], strict=True):
        for ax, r in zip(row, RANKS, strict=True):
            _curves(ax, numbers, kernel, str(r))
            tidy_axes(ax, f"{kernel}, r = {r}")
            ax.set_xscale("log", base=2)
            ax.set_xticks(numbers["noises"], [f"{level:g}" for level in numbers["noises"]])
            ax.minorticks_off()
            ax.set_xlabel("ground noise over the simulator's")
    for ax in panels[:, 0]:
        ax.set_ylabel("accuracy [%]")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center", frameon=False)
    caption = (
        "Accuracy over noise with the simulator's defaults, mean over trials; one embedding of all "
        "events. Bars are one standard deviation, of the fusions only. Thin lines are single "
        "channels. Simulated data."
    )
    return Picture(figure, caption)


def _curves(ax: Any, numbers: Mapping[str, Any], kernel: str, r: str) -> None:
    noises = np.asarray(numbers["noises"])
    mean = np.asarray(numbers["mean"][kernel][r], dtype=float)
    sd = np.asarray(numbers["sd"][kernel][r], dtype=float)
    markers = itertools.cycle("ov^<>DsPX")
    fused = dict(zip(_FUSED, (PALETTE[1], PALETTE[4], PALETTE[2], PALETTE[0]), strict=True))
    lines = dict(zip(_FUSED, ("--", "-.", ":", "-"), strict=True))
    greys = iter(("#8c8c8c", "#a6a6a6", "#bfbfbf", "#737373", "#595959", "#404040"))
    for k, method in enumerate(numbers["methods"]):
        marker = next(markers)
        if method in fused:
            # Shifted sideways so that error bars do not overlap.
            at = noises * 2 ** (0.06 * (_FUSED.index(method) - 1.5))
            ax.plot(
                at,
                mean[:, k],
                color=fused[method],
                linestyle=lines[method],
                marker=marker,
                markersize=5,
                linewidth=2,
                label=method,
            )
            ax.vlines(at, mean[:, k] - sd[:, k], mean[:, k] + sd[:, k], color=fused[method])
        else:
            ax.plot(
                noises,
                mean[:, k],
                color=next(greys),
                linestyle=":",
                marker=marker,
                markersize=4,
                linewidth=1,
                label=method,
            )
