"""Fig. 1: one step of the walk between views crosses the gap of either view."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr
from sklearn.utils import Bunch

from viewhop.datasets import make_gapped_rolls
from viewhop.diffusion import transition_probabilities
from viewhop.errors import DisconnectedWarning
from viewhop.estimators import DiffusionMaps, MultiViewDiffusionMaps
from viewhop.experiments._experiment import Context, Experiment, Picture, Result, Table, Trials
from viewhop.experiments._findings import FAILS, HOLDS, Finding
from viewhop.experiments._local_scales import LOCAL_SCALES
from viewhop.kernels import Gaussian
from viewhop.plotting import INK, PALETTE, tidy_axes

__all__ = ["EXPERIMENTS", "largest_jump", "mass_across"]

Floats = NDArray[np.float64]

#: The paper's scale, and one per sample.
_KERNELS = {
    "Gaussian, max-min scale": Gaussian(bandwidth="max-min"),
    "10 neighbours, local scales": LOCAL_SCALES,
}
_OTHER = {"x": "y", "y": "x"}
#: Number of samples on either side of a gap that count as adjacent to it.
_NEXT = 10
#: A step between views should cross a gap this many times as often as two steps within one.
_OFTEN = 5.0
#: Smaller probabilities are drawn as zero.
_SEEN = 1e-3


def run(context: Context) -> Result:
    """One-step probabilities across both gaps, and the curve recovered from the roll."""
    n_samples = 600 if context.quick else 1200
    rolls = make_gapped_rolls(n_samples, random_state=context.seed)
    by_kernel = {name: _walks(rolls, kernel, context.seed) for name, kernel in _KERNELS.items()}
    shown = by_kernel["10 neighbours, local scales"]
    printed = by_kernel["Gaussian, max-min scale"]
    crossings = [printed["across"]]
    for trial in range(1, context.trials):
        context.progress("draws", trial, context.trials)
        again = make_gapped_rolls(n_samples, random_state=context.integer(1, trial))
        crossings.append(_walks(again, Gaussian(bandwidth="max-min"), context.seed)["across"])
    return Result(
        ran={
            "samples": n_samples,
            "views": 2,
            "t": 1,
            "draws": context.trials,
            "kernel": [*by_kernel],
            "rolls": "gaps 30 wide, at θ = 2.5π in x and θ = 3.5π in y",
        },
        paper={"samples": None, "views": 2, "t": 1, "draws": 1, "kernel": None, "rolls": None},
        tables=(
            Table(
                f"Probability of passing the gap in one step, mean over the {_NEXT} samples before "
                f"and the {_NEXT} after it",
                ("kernel", "gap", "one view", "one view, two steps", "multi-view"),
                tuple(
                    (kernel, f"of {view}", *(each["across"][view][way] for way in _WAYS))
                    for kernel, each in by_kernel.items()
                    for view in _OTHER
                ),
            ),
            _crossing_table(crossings),
            Table(
                "The walk as one curve",
                (
                    "kernel",
                    "walk",
                    "pieces",
                    "rank correlation of coordinate 1 with θ",
                    "widest empty stretch of it",
                ),
                tuple(
                    (kernel, walk, *(row[key] for key in ("pieces", "order", "jump")))
                    for kernel, each in by_kernel.items()
                    for walk, row in each["curves"].items()
                ),
            ),
        ),
        numbers={
            "views": dict(rolls.views.items()),
            "theta": rolls.theta,
            "start": _start(rolls, "x"),
            **{key: printed[key] for key in ("probabilities", "embedding")},
        },
        remarks=_remarks(printed, shown),
        findings=(_find_crossing(crossings),),
    )


_WAYS = ("one view", "one view, two steps", "multi-view")


def _crossing_table(crossings: list[dict[str, dict[str, float]]]) -> Table:
    """Probabilities of passing a gap over all draws."""
    rows = []
    for view in _OTHER:
        for way in _WAYS:
            values = [draw[view][way] for draw in crossings]
            rows.append((f"{view}, {way}", float(np.mean(values)), min(values), max(values)))
    return Table(
        f"The same over {len(crossings)} draws, Gaussian, max-min scale",
        ("gap, way", "mean", "least", "largest"),
        tuple(rows),
        digits=4,
    )


def _find_crossing(crossings: list[dict[str, dict[str, float]]]) -> Finding:
    """Whether every gap is crossed often enough between views, in every draw."""
    ratios = [
        gap["multi-view"] / max(gap["one view, two steps"], np.finfo(np.float64).tiny)
        for draw in crossings
        for gap in draw.values()
    ]
    between = [gap["multi-view"] for draw in crossings for gap in draw.values()]
    within = [gap["one view, two steps"] for draw in crossings for gap in draw.values()]
    evidence = (
        f"Probability of passing a gap: {np.mean(between):.3f} (at least {min(between):.3f}) in a "
        f"step between views, {np.mean(within):.4f} (at most {max(within):.4f}) in two steps "
        f"within one, over {len(crossings)} draws and both gaps."
    )
    verdict = HOLDS if min(ratios) >= _OFTEN else FAILS
    return Finding("smoothing", verdict, evidence)


def _walks(rolls: Bunch, kernel: Any, seed: int) -> dict[str, Any]:
    """Probabilities across the gaps, curves and drawn data of one kernel."""
    both = MultiViewDiffusionMaps.paper_settings(2, kernel=kernel, random_state=seed)
    both.fit(rolls.views)
    alone = {}
    with warnings.catch_warnings():
        # The figure is about single views that are disconnected; the table reports it.
        warnings.simplefilter("ignore", DisconnectedWarning)
        for view in _OTHER:
            one = DiffusionMaps(2, kernel=kernel, random_state=seed)
            alone[view] = one.fit({view: rolls.views[view]})
    across = {}
    for view, other in _OTHER.items():
        side = rolls.pieces[:, list(_OTHER).index(view)]
        edge = int(side.argmax())
        near = np.arange(edge - _NEXT, edge + _NEXT)
        steps = (
            transition_probabilities(alone[view], 1, view, view, near),
            transition_probabilities(alone[view], 2, view, view, near),
            transition_probabilities(both, 1, view, other, near),
        )
        across[view] = {
            way: mass_across(side, near, step) for way, step in zip(_WAYS, steps, strict=True)
        }
    curves = {f"{view} alone": _curve(alone[view], view, rolls) for view in _OTHER}
    curves["multi-view"] = _curve(both, "x", rolls)
    start = _start(rolls, "x")
    probabilities = {
        "x": transition_probabilities(alone["x"], 1, "x", "x", start)[0],
        "y": transition_probabilities(alone["y"], 1, "y", "y", start)[0],
        "multi-view": transition_probabilities(both, 1, "x", "y", start)[0],
    }
    return {
        "across": across,
        "curves": curves,
        "probabilities": probabilities,
        "embedding": both.view_embeddings_["x"],
    }


def _start(rolls: Bunch, view: str) -> int:
    """Index of the last sample before the gap of a view."""
    return int(rolls.pieces[:, list(_OTHER).index(view)].argmax()) - 1


def mass_across(side: NDArray[np.int64], starts: NDArray[np.intp], step: Floats) -> float:
    """Probability of ending on the other side of a gap, mean over starts.

    Parameters
    ----------
    side : (n_samples,) int array
        0 before the gap and 1 after it.
    starts : (p,) int array
        Samples to start from.
    step : (p, n_samples) array
        Probabilities of ending at each sample.
    """
    other = side[starts][:, np.newaxis] != side
    return float(np.where(other, step, 0.0).sum(axis=1).mean())


def _curve(est: MultiViewDiffusionMaps, view: str, rolls: Bunch) -> dict[str, float | int]:
    """Pieces, order and largest jump of the curve recovered by a walk."""
    coordinate = np.asarray(est.view_embeddings_[view][:, 0], dtype=np.float64)
    return {
        "pieces": est.n_pieces_,
        "order": float(abs(spearmanr(coordinate, rolls.theta).statistic)),
        "jump": largest_jump(coordinate),
    }


def largest_jump(coordinate: Floats) -> float:
    """Widest empty interval of a coordinate, as a share of its range.

    Parameters
    ----------
    coordinate : (n_samples,) array
    """
    gaps = np.diff(np.sort(coordinate))
    return float(gaps.max() / gaps.sum())


def _remarks(printed: dict[str, Any], shown: dict[str, Any]) -> tuple[str, ...]:
    single = max(each["one view"] for each in printed["across"].values())
    multi = min(each["multi-view"] for each in printed["across"].values())
    n_pieces = [curve["pieces"] for name, curve in shown["curves"].items() if name != "multi-view"]
    return (
        f"{'As' if multi > 5 * single else 'Unlike'} in the paper, a step within a view hardly "
        "passes its gap and a step between the views does: at the max-min scale, with probability "
        f"{single:.4f} at most against {multi:.3f} at least.",
        "That is not because a step between views smooths twice: two steps within a view stay at "
        f"{max(each['one view, two steps'] for each in printed['across'].values()):.4f} or below.",
        f"With 10 neighbours the walk in x alone has {n_pieces[0]} pieces and that in y "
        f"alone {n_pieces[1]}; the walk between them has "
        f"{shown['curves']['multi-view']['pieces']}.",
        "The paper prints no formula for its rolls, no scale and no size; these are ours.",
    )


def draw(result: Result) -> dict[str, Picture]:
    """Picture with four panels: both rolls, the first under the joint walk, and the curve."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.6, 8.6), layout="constrained")
    axes = figure.subplots(2, 2)
    numbers = result.numbers
    parts = (
        ("x", "x", "View x alone: a step stops at the gap"),
        ("y", "y", "View y alone: its gap is elsewhere"),
        ("x", "multi-view", "Multi-view: a step passes the gap of x"),
    )
    top = max(max(row) for row in numbers["probabilities"].values())
    for ax, (view, step, title) in zip(axes.flat[:3], parts, strict=True):
        rows = np.asarray(numbers["views"][view])
        drawn = _roll(ax, rows, np.asarray(numbers["probabilities"][step]), top)
        _arrow(ax, rows[numbers["start"]])
        ax.set(xlabel=f"{view}[1]", ylabel=f"{view}[3]")
        tidy_axes(ax, title)
    last = axes[1, 1]
    embedding = np.asarray(numbers["embedding"])
    theta = last.scatter(*embedding.T, c=numbers["theta"], s=8, cmap="cividis", linewidths=0)
    last.set(xlabel="coordinate 1", ylabel="coordinate 2")
    tidy_axes(last, "Multi-view embedding of x: one curve")
    for place, label in ((drawn, "one-step probability"), (theta, "θ (radians)")):
        at = axes[0, :] if place is drawn else axes[1, :]
        bar = figure.colorbar(place, ax=at, shrink=0.8, aspect=26)
        bar.set_label(label, color=INK)
        bar.outline.set_visible(False)
    caption = (
        "Both rolls from above, coloured by the probability of one step from the marked sample "
        f"(grey: below {_SEEN}), within x, within y, and from x to y; and the multi-view "
        "coordinates of x."
    )
    return {"": Picture(figure, caption)}


def _roll(ax: Any, rows: Floats, chance: Floats, top: float) -> Any:
    """Scatter plot of a roll from above, with reached samples on top."""
    reached = np.flatnonzero(chance >= _SEEN)
    order = reached[np.argsort(chance[reached])]
    ax.scatter(*rows[:, [0, 2]].T, s=7, color="#dcdcdc", linewidths=0)
    drawn = ax.scatter(
        *rows[order][:, [0, 2]].T,
        c=chance[order],
        s=20,
        cmap="viridis_r",
        vmin=0,
        vmax=top,
        linewidths=0,
    )
    ax.set_aspect("equal")
    return drawn


def _arrow(ax: Any, place: Floats) -> None:
    """Mark the sample from which the step starts."""
    ax.annotate(
        "start",
        (place[0], place[2]),
        xytext=(-14, -46),
        textcoords="offset points",
        color=PALETTE[2],
        fontsize="small",
        arrowprops={"arrowstyle": "->", "color": PALETTE[2], "linewidth": 1.4},
    )


EXPERIMENTS = (
    Experiment(
        name="smoothing",
        where="Fig. 1",
        title="A gap in one view is closed by the other",
        about=(
            "One Swiss roll in two views, each torn at another place. No step within a view "
            "passes its gap; a step between the views does, because it goes round by the samples "
            "that the other view has. The walk then makes one curve of the roll."
        ),
        run=run,
        draw=draw,
        trials=Trials(default=10, quick=2, paper=1),
    ),
)
