"""Sweeps of NMI over the number of coordinates, as scores, tables and pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from viewhop.experiments._comparison import (
    Coordinates,
    compare_methods,
    list_products,
    pieces_remarks,
    products_remarks,
)
from viewhop.experiments._experiment import Context, Table
from viewhop.experiments._kmeans_runs import run_kmeans
from viewhop.kernels import Kernel
from viewhop.plotting import INK, PALETTE, tidy_axes
from viewhop.views import Views

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["rank_remark", "sweep_methods", "sweep_panels", "sweep_table"]

#: Scores of a setting by method: ``runs`` has one list per number of coordinates, ``tightest`` one
#: value.
Sweep = dict[str, dict[str, Any]]

#: Markers and dashes that are distinct without colour.
_MARKERS = "osv^D<>PXd"
_DASHES = ("-", "--", "-.", ":")


def sweep_methods(
    views: Views,
    kernels: Mapping[str, Mapping[str, Kernel]],
    target: NDArray[np.integer],
    dims: Sequence[int],
    *,
    n_clusters: int,
    context: Context,
    has_product: Callable[[str], bool] = lambda setting: True,
) -> tuple[dict[str, Sweep], list[str]]:
    """Scores by setting, and remarks on disconnected walks and on products that do not exist.

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
    has_product : callable
        Whether a setting shows the products that its kernels have.
    """
    seeds = [context.integer(1, trial) for trial in range(context.trials)]
    scores: dict[str, Sweep] = {}
    remarks: list[str] = []
    each_has = views.n_views + 2 + (views.n_views == 2)  # with de Sa's rows
    total = sum(
        each_has + has_product(setting) * len(list_products(kernel))
        for setting, kernel in kernels.items()
    )
    done = 0
    for setting, kernel in kernels.items():
        methods = compare_methods(
            views, kernel, dims[-1], seed=context.seed, has_product=has_product(setting)
        )
        scores[setting], pieces = {}, {}
        for method, coordinates in methods:
            scores[setting][method] = _score(coordinates, target, dims, n_clusters, seeds)
            pieces[method] = coordinates.n_pieces
            done += 1
            context.progress("methods", done, total)
        remarks += [
            f"{setting}: {each}" for each in (*pieces_remarks(pieces), *products_remarks(kernel))
        ]
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
            "tightest run",
            "best number of coordinates",
            "mean there",
        ),
        tuple(rows),
    )


def rank_remark(setting: str, table: Table, dims: Sequence[int]) -> str:
    """Remark on the rank of multi-view among the methods by the mean over all runs."""
    means = {str(row[0]): float(row[1] or 0) for row in table.rows}
    order = sorted(means, key=lambda method: -means[method])
    place = order.index("multi-view") + 1
    verdict = (
        "multi-view is first" if place == 1 else f"multi-view is number {place} of {len(order)}"
    )
    ranking = ", ".join(f"{method} {means[method]:.3f}" for method in order)
    return f"{setting}, mean over {dims[0]} to {dims[-1]} coordinates: {verdict}. {ranking}."


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

    figure = Figure(figsize=(3.9 * len(scores), 4.6), layout="constrained")
    axes = figure.subplots(1, len(scores), sharey=True, squeeze=False)[0]
    methods = list(dict.fromkeys(method for sweep in scores.values() for method in sweep))
    methods.sort(key="multi-view".__eq__)  # last, and on top
    shown = {}
    for ax, (setting, sweep) in zip(axes, scores.items(), strict=True):
        for place, method in enumerate(methods):
            if method not in sweep:
                continue
            strong = method == "multi-view"
            (shown[method],) = ax.plot(
                dims,
                np.mean(sweep[method]["runs"], axis=1),
                color=INK if strong else PALETTE[place % len(PALETTE)],
                linestyle="-" if strong else _DASHES[place % len(_DASHES)],
                marker="*" if strong else _MARKERS[place % len(_MARKERS)],
                ms=9 if strong else 4,
                lw=2.6 if strong else 1.3,
            )
        ax.set(xlabel="coordinates per view")
        tidy_axes(ax, setting, whole_x=True)
    axes[0].set_ylabel("NMI, mean over runs")
    figure.legend(
        [shown[method] for method in methods],
        methods,
        loc="outside lower center",
        ncols=len(methods) if len(methods) <= 6 else 5,
        frameon=False,
    )
    return figure
