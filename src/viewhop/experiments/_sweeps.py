"""Sweeps of NMI over the number of coordinates, as scores, tables and pictures."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from viewhop.experiments._comparison import Coordinates, list_products, pieces_remarks
from viewhop.experiments._experiment import Context, Table
from viewhop.experiments._kmeans_runs import run_kmeans
from viewhop.experiments._timed_methods import timed_methods
from viewhop.kernels import Kernel
from viewhop.plotting import INK, PALETTE, tidy_axes
from viewhop.views import Views

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["rank_remark", "sweep_methods", "sweep_panels", "sweep_table"]

#: Scores of a setting by method: ``runs`` has one list per number of coordinates, ``tightest`` one
#: value.
Sweep = dict[str, dict[str, Any]]

#: Rows of the hop walk at times below 1, by their number of kernel steps.
_SHORTER = {1: "multi-view, t = 0.5", 0: "multi-view, t = 0"}

#: Markers and dashes that are distinct without colour.
_MARKERS = "osv^D<>PXd"
_DASHES = ("-", "--", "-.", ":")
#: Panels side by side.
_COLUMNS = 3


def sweep_methods(
    views: Views,
    kernels: Mapping[str, Mapping[str, Kernel]],
    target: NDArray[np.integer],
    dims: Sequence[int],
    *,
    n_clusters: int,
    context: Context,
    timed: Collection[str] = (),
) -> tuple[dict[str, Sweep], list[str]]:
    """Scores by setting, and remarks on disconnected walks.

    Parameters
    ----------
    views : Views
    kernels : dict of dicts
        Kernels by setting and view.
    target : (n_samples,) array
    dims : list of int
        Numbers of coordinates, the largest last.
    n_clusters : int
        For K-means, which runs `context.trials` times from single starts.
    context : Context
    timed : list of str
        Settings in which the hop walk is also scored at t = 0.5 and t = 0.
    """
    seeds = [context.integer(1, trial) for trial in range(context.trials)]
    scores: dict[str, Sweep] = {}
    remarks: list[str] = []
    each_has = views.n_views + 2 + (views.n_views == 2)  # with de Sa's rows
    total = sum(each_has + len(list_products(by_view)) for by_view in kernels.values())
    done = 0
    for setting, kernel in kernels.items():
        methods = timed_methods(views, kernel, dims[-1], seed=context.seed)
        scores[setting], pieces = {}, {}
        for method, timed_coordinates in methods:
            at_one = timed_coordinates.one_step
            scores[setting][method] = _score(at_one, target, dims, n_clusters, seeds)
            if method == "multi-view" and setting in timed:
                for n_steps, name in _SHORTER.items():
                    shorter = timed_coordinates.after(n_steps)
                    scores[setting][name] = _score(shorter, target, dims, n_clusters, seeds)
            pieces[method] = at_one.n_pieces
            done += 1
            context.progress("methods", done, total)
        remarks += [f"{setting}: {each}" for each in pieces_remarks(pieces)]
    return scores, remarks


def _score(
    coordinates: Coordinates,
    target: NDArray[np.integer],
    dims: Sequence[int],
    n_clusters: int,
    seeds: Sequence[int],
) -> dict[str, Any]:
    by_run, tightest = [], []
    for r in dims:
        again = run_kmeans(coordinates.first(r), n_clusters, seeds=seeds)
        by_run.append(again.nmi(target))
        tightest.append(by_run[-1][again.tightest])
    return {"runs": by_run, "tightest": tightest}


def sweep_table(setting: str, sweep: Sweep, dims: Sequence[int], usual: int) -> Table:
    """Table of mean NMI over all numbers of coordinates, at the usual one, and at the best.

    The spread is the standard deviation over runs of K-means.

    Parameters
    ----------
    setting : str
    sweep : dict
    dims : list of int
    usual : int
        One of `dims`: one less than the number of clusters.
    """
    at = list(dims).index(usual)
    rows = []
    for method, scores in sweep.items():
        means, tightest = np.mean(scores["runs"], axis=1), scores["tightest"]
        best = int(np.argmax(means))
        rows.append(
            (
                method,
                float(means.mean()),
                float(np.mean(tightest)),
                float(means[at]),
                float(np.std(scores["runs"][at])),
                float(tightest[at]),
                dims[best],
                float(means[best]),
            )
        )
    return Table(
        f"NMI, {setting}",
        (
            "method",
            f"{dims[0]} to {dims[-1]} coordinates: mean",
            "tightest runs",
            f"{usual} coordinates: mean",
            "± over runs",
            "tightest run",
            "best number of coordinates",
            "mean with that number",
        ),
        tuple(rows),
    )


def rank_remark(setting: str, table: Table, dims: Sequence[int]) -> str:
    """Sentence that ranks multi-view at t = 1 among its rivals, by the mean over all runs.

    Parameters
    ----------
    setting : str
    table : Table
        As `sweep_table` returns it.
    dims : list of int
    """
    shorter = _SHORTER.values()
    means = {str(row[0]): float(row[1] or 0) for row in table.rows if row[0] not in shorter}
    order = sorted(means, key=lambda method: -means[method])
    place = order.index("multi-view") + 1
    ranking = ", ".join(f"{method} {means[method]:.3f}" for method in order)
    return (
        f"{setting}, mean over {dims[0]} to {dims[-1]} coordinates: multi-view ranks {place} of "
        f"{len(order)}. {ranking}."
    )


def sweep_panels(
    dims: Sequence[int],
    scores: Mapping[str, Sweep],
) -> Figure:
    """Figure of means over runs, one panel per setting and one line per method.

    Parameters
    ----------
    dims : list of int
    scores : dict
        Scores by setting.
    """
    from matplotlib.figure import Figure

    n_columns = min(len(scores), _COLUMNS)
    n_rows = -(-len(scores) // n_columns)
    figure = Figure(figsize=(3.9 * n_columns, 3.7 * n_rows + 0.9), layout="constrained")
    axes = figure.subplots(n_rows, n_columns, sharey=True, squeeze=False)
    methods = list(dict.fromkeys(method for sweep in scores.values() for method in sweep))
    methods.sort(key="multi-view".__eq__)  # last, and on top
    shown = {}
    for ax, (setting, sweep) in zip(axes.flat, scores.items(), strict=False):
        for place, method in enumerate(methods):
            if method not in sweep:
                continue
            (shown[method],) = ax.plot(
                dims, np.mean(sweep[method]["runs"], axis=1), **_line_style(method, place)
            )
        ax.set(xlabel="coordinates per view")
        tidy_axes(ax, setting, whole_x=True)
    for ax in axes.flat[len(scores) :]:
        ax.remove()
    for row in axes:
        row[0].set_ylabel("NMI, mean over runs")
    figure.legend(
        [shown[method] for method in methods],
        methods,
        loc="outside lower center",
        ncols=len(methods) if len(methods) <= 6 else 5,
        frameon=False,
    )
    return figure


def _line_style(method: str, place: int) -> dict[str, Any]:
    """Keywords of a line: multi-view stands out, and its shorter times have its colour."""
    if method == "multi-view":
        return {"color": INK, "linestyle": "-", "marker": "*", "ms": 9, "lw": 2.6}
    if method in _SHORTER.values():
        return {
            "color": INK,
            "linestyle": _DASHES[1 + place % 3],
            "marker": _MARKERS[place % len(_MARKERS)],
            "ms": 4,
            "lw": 1.3,
        }
    return {
        "color": PALETTE[place % len(PALETTE)],
        "linestyle": _DASHES[place % len(_DASHES)],
        "marker": _MARKERS[place % len(_MARKERS)],
        "ms": 4,
        "lw": 1.3,
    }
