"""Accuracies over noise: what every seismic sweep says, in tables, remarks and a picture."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewhop.experiments._experiment import Cell, Picture, Table
from viewhop.experiments._seismic_setting import MULTI, RANKS, mean_and_sd
from viewhop.plotting import PALETTE, tidy_axes

__all__ = ["drawn_sweep", "lead_remarks", "sweep_tables", "swept_numbers"]

Floats = NDArray[np.float64]
#: By kernel: per cents, (n_noises, n_methods, n_trials, n_ranks).
Sweep = Mapping[str, Floats]

_FUSED = ("kernel sum", "kernel product", MULTI)
#: Per cents that differ by less are the same.
_SAME = 1e-9


def sweep_tables(sweep: Sweep, noises: Sequence[float], methods: Sequence[str]) -> list[Table]:
    """A table for each kernel, with a row for each noise and r.

    Parameters
    ----------
    sweep : dict by kernel of (n_noises, n_methods, n_trials, n_ranks) arrays
    noises : list of float
    methods : list of str
    """
    return [_table(kernel, found, noises, methods) for kernel, found in sweep.items()]


def _table(kernel: str, found: Floats, noises: Sequence[float], methods: Sequence[str]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for i, level in enumerate(noises):
        for k, r in enumerate(RANKS):
            cells = [mean_and_sd(values) for values in found[i, :, :, k]]
            rows.append((f"{level:g}", str(r), *cells, _best(found[i, :, :, k], methods)))
    return Table(
        f"Accuracy [%] over noise, transductive, Gaussian kernel, {kernel}: mean ± standard "
        "deviation over trials",
        ("noise", "r", *methods, "highest mean"),
        tuple(rows),
    )


def _best(values: Floats, methods: Sequence[str]) -> str:
    """The method, or methods, with the highest mean over trials; values are (methods, trials)."""
    means = values.mean(axis=1)
    return ", ".join(
        method for method, mean in zip(methods, means, strict=True) if mean >= means.max() - _SAME
    )


def lead_remarks(sweep: Sweep, noises: Sequence[float], methods: Sequence[str]) -> list[str]:
    """Where multi-view is ahead of all others, and where it is not.

    Parameters
    ----------
    sweep, noises, methods
        As for `sweep_tables`.
    """
    told = []
    multi = list(methods).index(MULTI)
    others = [method for method in methods if method != MULTI]
    for kernel, found in sweep.items():
        means = found.mean(axis=2)  # (noises, methods, ranks)
        rest = np.delete(means, multi, axis=1)
        lead = means[:, multi] - rest.max(axis=1)
        best = Counter(others[k] for k in rest.argmax(axis=1)[lead < -_SAME])
        named = ", ".join(f"{name} ({count})" for name, count in best.most_common())
        where = [f"noise {noises[i]:g}, r = {RANKS[k]}" for i, k in np.argwhere(lead > _SAME)]
        ahead = f" ({'; '.join(where)})" if where else ""
        elsewhere = f" Elsewhere it is {named}, ahead by {-lead.min():.1f} points at most."
        told.append(
            f"{kernel}: of {lead.size} settings of noise and r, multi-view has the highest mean in "
            f"{len(where)}{ahead} and shares it in {int((np.abs(lead) <= _SAME).sum())}."
            + (elsewhere if best else "")
        )
    return told


def swept_numbers(sweep: Sweep, noises: Sequence[float], methods: Sequence[str]) -> dict[str, Any]:
    """What `drawn_sweep` needs: by kernel and r, means and deviations, (n_noises, n_methods).

    Parameters
    ----------
    sweep, noises, methods
        As for `sweep_tables`.
    """
    return {
        "noises": noises,
        "methods": methods,
        "mean": {name: _by_rank(found.mean(axis=2)) for name, found in sweep.items()},
        "sd": {name: _by_rank(_sd(found)) for name, found in sweep.items()},
    }


def _sd(found: Floats) -> Floats:
    """Standard deviation over trials; 0 of one trial."""
    spread = found.std(axis=2, ddof=1) if found.shape[2] > 1 else np.zeros_like(found[:, :, 0])
    return np.asarray(spread)


def _by_rank(found: Floats) -> dict[str, Floats]:
    return {str(r): found[:, :, k] for k, r in enumerate(RANKS)}


def drawn_sweep(numbers: Mapping[str, Any]) -> Picture:
    """Accuracy over noise, a panel for each kernel and r.

    Parameters
    ----------
    numbers : dict
        From `swept_numbers`, fresh or read back.
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
        "Accuracy over noise, mean over trials; one embedding of all events. Bars are one standard "
        "deviation, of the fusions only. Thin lines are single channels. Simulated data."
    )
    return Picture(figure, caption)


def _curves(ax: Any, numbers: Mapping[str, Any], kernel: str, r: str) -> None:
    noises = np.asarray(numbers["noises"])
    mean = np.asarray(numbers["mean"][kernel][r], dtype=float)
    sd = np.asarray(numbers["sd"][kernel][r], dtype=float)
    markers = itertools.cycle("ov^<>DsPX")
    fused = dict(zip(_FUSED, (PALETTE[1], PALETTE[4], PALETTE[0]), strict=True))
    lines = dict(zip(_FUSED, ("--", "-.", "-"), strict=True))
    greys = iter(("#8c8c8c", "#a6a6a6", "#bfbfbf", "#737373", "#595959", "#404040"))
    for k, method in enumerate(numbers["methods"]):
        marker = next(markers)
        if method in fused:
            # Beside each other, so that bars do not cover each other.
            at = noises * 2 ** (0.06 * (_FUSED.index(method) - 1))
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
