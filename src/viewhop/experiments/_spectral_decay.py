"""Figs. 4 and 5: spectral decay of the paper's walks on clusters in two views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import Bunch

from viewhop.datasets import make_circles, make_helices, make_mixtures, make_swiss_rolls
from viewhop.estimators import ClusterCount, count_clusters
from viewhop.experiments._decay_findings import judge_counts, judge_decay, tally
from viewhop.experiments._experiment import (
    Cell,
    Context,
    Experiment,
    Picture,
    Result,
    Table,
    Trials,
)
from viewhop.experiments._walk_spectra import (
    BOTH_VIEWS,
    CONCAT,
    COUNTED,
    DELTAS,
    ONE_STEP,
    OURS,
    TWO_STEPS,
    Spectra,
    fit_paper,
    is_first,
    rank,
    solve_walks,
)
from viewhop.kernels import Gaussian
from viewhop.plotting import PALETTE, tidy_axes

__all__ = ["EXPERIMENTS"]

_CASES = {"6 and 6 clusters": (6, 6), "6 and 3 clusters": (6, 3)}
#: C of the max-min scale: the paper's rule, and a smaller scale.
_FACTORS = (1.0, 0.1)
_SHOWN = 40


class Draw(NamedTuple):
    """Spectra of one draw, and the number of clusters by both rules.

    Attributes
    ----------
    spectra : dict of arrays
    counted : ClusterCount
        Of the multi-view walk.
    """

    spectra: Spectra
    counted: ClusterCount


def run(context: Context) -> Result:
    """Spectra for both cases and both scales, over several draws."""
    n_samples = 120 if context.quick else 600
    total = len(_CASES) * context.trials
    by_case: dict[tuple[str, float], list[Draw]] = {}
    for count, (case, trial) in enumerate((c, t) for c in _CASES for t in range(context.trials)):
        context.progress("draws", count, total)
        drawn = make_mixtures(n_samples, clusters=_CASES[case], random_state=context.integer(trial))
        for factor in _FACTORS:
            by_case.setdefault((case, factor), []).append(_measure(drawn, factor))
    context.progress("draws", total, total)
    first = make_mixtures(n_samples, clusters=(6, 6), random_state=context.integer(0))
    printed = {case: by_case[case, _FACTORS[0]] for case in _CASES}
    return Result(
        ran={
            "samples": n_samples,
            "dimensions": 9,
            "draws": context.trials,
            "clusters": [*_CASES],
            "kernel": [f"Gaussian, max-min scale, C = {factor:g}" for factor in _FACTORS],
        },
        paper={
            "samples": 600,
            "dimensions": 9,
            "draws": 1,
            "clusters": [*_CASES],
            "kernel": None,
        },
        tables=(
            *(
                Table(
                    f"{case}, C = {factor:g}: mean over the draws",
                    _COLUMNS,
                    _rows([each.spectra for each in by_case[case, factor]]),
                    digits=2,
                )
                for factor in _FACTORS
                for case in _CASES
            ),
            _count_table(by_case),
            _curve_table(150 if context.quick else 400, context.seed),
        ),
        numbers={
            "spectra": {
                case: {name: values[:_SHOWN] for name, values in draws[0].spectra.items()}
                for case, draws in printed.items()
            },
            "views": {name: rows[:, :3] for name, rows in first.views.items()},
            "target": first.target,
        },
        remarks=_remarks(by_case),
        findings=(
            judge_decay([each.spectra for draws in printed.values() for each in draws]),
            judge_counts(
                {
                    case: [each.counted.log_gap or 0 for each in draws]
                    for case, draws in printed.items()
                },
                {case: min(_CASES[case]) for case in _CASES},
            ),
        ),
    )


_COLUMNS = ("matrix", *(f"eigenvalues > {delta}" for delta in DELTAS), "sum beyond the sixth")


def _measure(mixtures: Bunch, factor: float) -> Draw:
    found, est = solve_walks(mixtures, factor)
    return Draw(found, count_clusters(est.geometry_, max_clusters=COUNTED, seed=0))


def _rows(draws: Sequence[Spectra]) -> tuple[tuple[Cell, ...], ...]:
    return tuple(
        (
            name,
            *(float(np.mean([rank(each[name], delta) for each in draws])) for delta in DELTAS),
            float(np.mean([np.abs(each[name][6:]).sum() for each in draws])),
        )
        for name in draws[0]
    )


def _count_table(by_case: Mapping[tuple[str, float], Sequence[Draw]]) -> Table:
    """Table of the number of clusters by both rules."""
    rows: list[tuple[Cell, ...]] = []
    for (case, factor), draws in sorted(by_case.items(), key=lambda item: -item[0][1]):
        true = min(_CASES[case])
        for rule, numbers in (
            ("largest drop of log λ", [each.counted.log_gap or 0 for each in draws]),
            ("count_clusters", [each.counted.n_clusters for each in draws]),
        ):
            share = float(np.mean([k == true for k in numbers]))
            rows.append((case, f"{factor:g}", rule, true, share, tally(numbers)))
    return Table(
        "Number of clusters from the spectrum of P̂, over the draws",
        ("clusters", "C", "rule", "right number", "share right", "found"),
        tuple(rows),
        digits=2,
    )


def _curve_table(n_samples: int, seed: int) -> Table:
    """Table of the same for curves, which have no number of clusters."""
    sets = {
        "Swiss rolls, σ_N = 0.3": make_swiss_rolls(n_samples, noise=0.3, random_state=seed),
        "circles, σ_n = 0.03": make_circles(n_samples, noise=0.03, random_state=seed),
        "helix A": make_helices("A", n_samples=n_samples),
        "helix B": make_helices("B", n_samples=n_samples),
    }
    rows: list[tuple[Cell, ...]] = []
    for name, each in sets.items():
        est = fit_paper(each.views, Gaussian(bandwidth="max-min"))
        count = count_clusters(est.geometry_, max_clusters=COUNTED, seed=0)
        rows.append((name, count.log_gap, count.n_clusters, count.confidence, count.reason))
    return Table(
        "Curves, max-min scale, C = 1: neither rule counts anything",
        ("data", "largest drop of log λ", "count_clusters", "confidence", "it says"),
        tuple(rows),
        digits=2,
    )


def _remarks(by_case: Mapping[tuple[str, float], Sequence[Draw]]) -> tuple[str, ...]:
    remarks = []
    for factor in _FACTORS:
        draws = [each.spectra for (_, at), some in by_case.items() if at == factor for each in some]
        parts = []
        for words, rivals in (
            ("walks of one step", ONE_STEP),
            ("walks of two steps", TWO_STEPS),
            ("the products of both views' eigenvalues", (BOTH_VIEWS,)),
        ):
            first = (sum(is_first(each, delta, rivals) for each in draws) for delta in DELTAS)
            listed = ", ".join(f"{n} (δ = {delta})" for n, delta in zip(first, DELTAS, strict=True))
            parts.append(f"against {words} in {listed}")
        remarks.append(
            f"C = {factor:g}: of {len(draws)} draws, the multi-view walk has the fewest "
            f"eigenvalues above δ {'; '.join(parts)}."
        )
    return (
        *remarks,
        "The paper finds the strongest decay for its kernel. A step of it is one in each view, so "
        "walks of two steps are its fair rivals; the paper compares with walks of one.",
        "Where X has six clusters and Y three, three are what both views have.",
        "The paper prints no scale; max-min with C = 1 is the rule it names. It prints no numbers "
        "for this figure.",
    )


_LINES: dict[str, dict[str, Any]] = {
    "x alone": {"color": PALETTE[0], "linestyle": "--"},
    "y alone": {"color": PALETTE[4], "linestyle": ":"},
    "kernel sum": {"color": PALETTE[1], "marker": "s"},
    "kernel product": {"color": PALETTE[3], "marker": "^"},
    CONCAT: {"color": PALETTE[6], "marker": "v"},
    "kernel sum, two steps": {"color": PALETTE[1], "linestyle": "--"},
    "kernel product, two steps": {"color": PALETTE[3], "linestyle": "--"},
    "kernel product, concat, two steps": {"color": PALETTE[6], "linestyle": "--"},
    BOTH_VIEWS: {"color": PALETTE[5], "linestyle": "-."},
    OURS: {"color": PALETTE[2], "marker": "o", "linewidth": 2.2},
}


def draw(result: Result) -> dict[str, Picture]:
    """Pictures of the spectra of both cases and of the clusters."""
    return {"": _spectra_picture(result), "clusters": _clusters_picture(result)}


def _spectra_picture(result: Result) -> Picture:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.5, 5.2), layout="constrained")
    cases = result.numbers["spectra"]
    for ax, (case, by_walk) in zip(figure.subplots(1, 2, sharey=True), cases.items(), strict=True):
        for name, style in _LINES.items():
            values = np.asarray(by_walk[name])
            ax.plot(np.arange(len(values)), values, label=name, **{"markersize": 3.5, **style})
        ax.set_xlabel("number of the eigenvalue")
        tidy_axes(ax, case, whole_x=True)
        ax.set_yscale("log")
        ax.set_ylim(1e-5, 1.5)
    ax.figure.axes[0].set_ylabel("eigenvalue")
    figure.legend(
        *ax.get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False
    )
    caption = (
        f"The first {_SHOWN} eigenvalues at the max-min scale, of one draw: P̂ (multi-view) beside "
        "the walks of one view, of the summed and the multiplied kernels, of one step and (dashed, "
        "same colour) of two, and beside the product of both views' eigenvalues."
    )
    return Picture(figure, caption)


def _clusters_picture(result: Result) -> Picture:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.5, 4.4), layout="constrained")
    target = np.asarray(result.numbers["target"])
    for place, (view, rows) in enumerate(result.numbers["views"].items(), start=1):
        ax = figure.add_subplot(1, 2, place, projection="3d")
        points = np.asarray(rows)
        for cluster in np.unique(target):
            ax.plot(
                *points[target == cluster].T,
                linestyle="",
                marker="o^sDvP"[int(cluster)],
                color=PALETTE[int(cluster)],
                markersize=3,
                label=f"cluster {cluster + 1}",
            )
        ax.set(xlabel=f"{view}[1]", ylabel=f"{view}[2]", zlabel=f"{view}[3]")
        ax.set_title(f"View {view}", fontsize="medium")
        ax.tick_params(labelsize="x-small")
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=6)
    caption = "The first three of nine dimensions of both views, six clusters with common centres."
    return Picture(figure, caption)


EXPERIMENTS = (
    Experiment(
        name="spectral-decay",
        where="Figs. 4 and 5",
        title="How fast spectra fall",
        about=(
            "Gaussian clusters in two views, six in both, or six in one and three in the other. "
            "All eigenvalues of walks at the same scales: of each view, of the kernel sum, of both "
            "kernel products and between the views. The last should fall fastest. Since one of its "
            "steps is a step in each view, sum and products are shown with two steps, too. The "
            "drop after the last large eigenvalue should show the number of clusters."
        ),
        run=run,
        draw=draw,
        trials=Trials(default=10, quick=2, paper=1),
    ),
)
