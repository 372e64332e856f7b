"""Figs. 4 and 5: spectral decay of five walks on clusters in two views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from viewhop.datasets import make_mixtures
from viewhop.estimators import DiffusionMaps, MultiViewDiffusionMaps
from viewhop.experiments._experiment import (
    Cell,
    Context,
    Experiment,
    Picture,
    Result,
    Table,
    Trials,
)
from viewhop.experiments._whole_spectrum import all_eigenvalues
from viewhop.kernels import Gaussian
from viewhop.plotting import PALETTE, tidy_axes
from viewhop.walks import ProductWalk, SumWalk

__all__ = ["EXPERIMENTS", "rank", "spectra"]

Floats = NDArray[np.float64]
#: Eigenvalues of each matrix, largest first.
Spectra = dict[str, Floats]

_CASES = {"6 and 6 clusters": (6, 6), "6 and 3 clusters": (6, 3)}
#: C of the max-min scale: the paper's rule, and a smaller scale.
_FACTORS = (1.0, 0.1)
_DELTAS = (0.1, 0.01, 0.001)
_OURS = "multi-view"
_COMPARED = ("x alone", "y alone", "kernel sum", "kernel product", _OURS)
_PRODUCT = "λ(x)·λ(y)"
_SHOWN = 40


def run(context: Context) -> Result:
    """Spectra for both cases and both scales, over several draws."""
    n_samples = 120 if context.quick else 600
    total = len(_CASES) * context.trials
    by_case: dict[tuple[str, float], list[Spectra]] = {}
    for count, (case, trial) in enumerate((c, t) for c in _CASES for t in range(context.trials)):
        context.progress("draws", count, total)
        drawn = make_mixtures(n_samples, clusters=_CASES[case], random_state=context.integer(trial))
        for factor in _FACTORS:
            by_case.setdefault((case, factor), []).append(spectra(drawn, factor))
    context.progress("draws", total, total)
    first = make_mixtures(n_samples, clusters=(6, 6), random_state=context.integer(0))
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
        tables=tuple(
            Table(
                f"{case}, C = {factor:g}: mean over the draws",
                _COLUMNS,
                _rows(by_case[case, factor]),
                digits=2,
            )
            for factor in _FACTORS
            for case in _CASES
        ),
        numbers={
            "spectra": {
                case: {name: values[:_SHOWN] for name, values in by_case[case, 1.0][0].items()}
                for case in _CASES
            },
            "views": {name: rows[:, :3] for name, rows in first.views.items()},
            "target": first.target,
        },
        remarks=_remarks(by_case),
    )


_COLUMNS = ("matrix", *(f"eigenvalues > {delta}" for delta in _DELTAS), "sum beyond the sixth")


def spectra(mixtures: Bunch, factor: float) -> Spectra:
    """All eigenvalues of each walk on one draw at the same scales.

    Parameters
    ----------
    mixtures : Bunch
        From `make_mixtures`.
    factor : float
        C of the max-min scale.

    Notes
    -----
    "kernel product" is that of the paper: one Gaussian on the concatenated views with
    σ∘² = σx² + σy². "Kˣ∘Kʸ" is the product of the two kernels. Of the spectrum ±σ of P̂, the
    non-negative half is kept (erratum 4).
    """
    kernel = Gaussian(bandwidth="max-min", factor=factor)
    est = MultiViewDiffusionMaps.paper_settings(2, kernel=kernel, solver="dense")
    est.fit(mixtures.views)
    walk = est.walk_
    x, y = walk.affinities
    wide = Gaussian(bandwidth=float(np.hypot(est.bandwidths_["x"], est.bandwidths_["y"])))
    side_by_side = np.hstack([rows for _, rows in mixtures.views.items()])
    stacked = DiffusionMaps(2, kernel=wide, solver="dense").fit(side_by_side)
    by_walk = {
        "x alone": all_eigenvalues(SumWalk([x])),
        "y alone": all_eigenvalues(SumWalk([y])),
        "kernel sum": all_eigenvalues(SumWalk([x, y])),
        "kernel product": all_eigenvalues(stacked.walk_),
        "Kˣ∘Kʸ": all_eigenvalues(ProductWalk([x, y])),
        _OURS: all_eigenvalues(walk)[: walk.n_samples],
    }
    return {**by_walk, _PRODUCT: by_walk["x alone"] * by_walk["y alone"]}


def _rows(draws: Sequence[Spectra]) -> tuple[tuple[Cell, ...], ...]:
    return tuple(
        (
            name,
            *(float(np.mean([rank(each[name], delta) for each in draws])) for delta in _DELTAS),
            float(np.mean([np.abs(each[name][6:]).sum() for each in draws])),
        )
        for name in draws[0]
    )


def rank(eigenvalues: Floats, delta: float) -> int:
    """Number of eigenvalues above δ in absolute value."""
    return int(np.sum(np.abs(eigenvalues) > delta))


def _remarks(by_case: Mapping[tuple[str, float], list[Spectra]]) -> tuple[str, ...]:
    remarks = []
    for factor in _FACTORS:
        draws = [each for (_, at), some in by_case.items() if at == factor for each in some]
        first = {delta: sum(_is_first(each, delta) for each in draws) for delta in _DELTAS}
        behind = {
            delta: sum(rank(each[_PRODUCT], delta) < rank(each[_OURS], delta) for each in draws)
            for delta in _DELTAS
        }
        remarks.append(
            f"C = {factor:g}: of {len(draws)} draws, the multi-view walk has the fewest "
            f"eigenvalues above δ of the five matrices in "
            + ", ".join(f"{first[delta]} (δ = {delta})" for delta in _DELTAS)
            + ". The products of the eigenvalues of both views are fewer than ours in "
            + ", ".join(f"{behind[delta]} (δ = {delta})" for delta in _DELTAS)
            + "."
        )
    return (
        *remarks,
        "The paper finds the strongest decay for its kernel. A step of it is one in each view, so "
        "the product of both views' eigenvalues is the fair rival; the others take one step.",
        "The paper prints no scale; max-min with C = 1 is the rule it names. It prints no numbers "
        "for this figure.",
    )


def _is_first(each: Spectra, delta: float) -> bool:
    ours = rank(each[_OURS], delta)
    return all(ours <= rank(each[name], delta) for name in _COMPARED)


_LINES: dict[str, dict[str, Any]] = {
    "x alone": {"color": PALETTE[0], "linestyle": "--"},
    "y alone": {"color": PALETTE[4], "linestyle": ":"},
    "kernel sum": {"color": PALETTE[1], "marker": "s"},
    "kernel product": {"color": PALETTE[3], "marker": "^"},
    _PRODUCT: {"color": PALETTE[5], "linestyle": "-."},
    _OURS: {"color": PALETTE[2], "marker": "o", "linewidth": 2.2},
}


def draw(result: Result) -> dict[str, Picture]:
    """Pictures of the spectra of both cases and of the clusters."""
    return {"": _spectra_picture(result), "clusters": _clusters_picture(result)}


def _spectra_picture(result: Result) -> Picture:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.5, 4.4), layout="constrained")
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
    ax.legend(frameon=False, fontsize="small", ncols=2)
    caption = (
        f"The first {_SHOWN} eigenvalues at the max-min scale, of one draw: P̂ (multi-view) beside "
        "the walks of one view, of the summed and the multiplied kernels, and beside the product "
        "of both views' eigenvalues."
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
            "All eigenvalues of five walks at the same scales: of each view, of the kernel sum, of "
            "the kernel product and between the views. The last should fall fastest."
        ),
        run=run,
        draw=draw,
        trials=Trials(default=10, quick=2, paper=1),
    ),
)
