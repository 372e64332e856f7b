"""Fig. 27: earthquakes and explosions classified with every pair of channels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from viewhop.experiments._experiment import (
    Cell,
    Context,
    Experiment,
    Picture,
    Result,
    Table,
    Trials,
)
from viewhop.experiments._seismic_setting import KERNELS, SIMULATED, sonogram_views
from viewhop.plotting import pair_accuracy
from viewhop.seismic import classify, classify_pairs, make_events

__all__ = ["EXPERIMENTS", "by_station"]

Floats = NDArray[np.float64]

_R = 4


def run(context: Context) -> Result:
    """Mean accuracy over trials of all pairs of six channels, and of each channel alone."""
    sizes = (10, 12) if context.quick else (46, 62)
    pairs: dict[str, list[Floats]] = {name: [] for name in KERNELS}
    alone: dict[str, list[list[float]]] = {name: [] for name in KERNELS}
    names: Sequence[str] = ()
    for trial in range(context.trials):
        events = make_events(*sizes, random_state=context.integer(trial))
        names = events.channels
        views = sonogram_views(events.waveforms, names)
        for name, kernel in KERNELS.items():
            scores = classify_pairs(views, events.target, n_components=_R, kernel=kernel)
            pairs[name].append(scores.accuracy)
            singles = classify(
                views,
                events.target,
                n_components=_R,
                kernel=kernel,
                fusions=(),
                procedures=("transductive",),
            )
            alone[name].append([score.accuracy for score in singles])
        context.progress("trials", trial + 1, context.trials)
    mean = {name: np.mean(each, axis=0) for name, each in pairs.items()}
    single = {name: np.mean(each, axis=0) for name, each in alone.items()}
    return Result(
        ran={
            "earthquakes and explosions": sizes,
            "channels": len(names),
            "trials": context.trials,
            "r": _R,
            "K": 1,
            "kernel": [f"Gaussian, {name}" for name in KERNELS],
            "data": "simulated",
        },
        paper={
            "earthquakes and explosions": (46, 62),
            "channels": 6,
            "trials": 1,
            "r": 4,
            "K": 1,
            "kernel": None,
            "data": "recorded at two stations in Israel",
        },
        tables=tuple(_table(name, mean[name], single[name], names) for name in KERNELS),
        numbers={"channels": names, "accuracy": mean, "single": single},
        remarks=(
            SIMULATED,
            "The paper prints these accuracies as a figure only: there are no numbers to set "
            "beside ours. It draws zeros on the diagonal, where nothing was computed; we do not.",
            *_remarks(mean, single, names),
        ),
    )


def _table(name: str, pairs: Floats, single: Floats, names: Sequence[str]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for k, channel in enumerate(names):
        cells = [None if np.isnan(value) else 100 * value for value in pairs[k].tolist()]
        rows.append((channel, *cells, 100 * float(single[k])))
    return Table(
        f"Accuracy [%] in the coordinates of the first view, Gaussian kernel, {name}, mean over "
        "trials; the second view in columns",
        ("first view", *names, "alone"),
        tuple(rows),
        digits=1,
    )


def by_station(pairs: Floats, names: Sequence[str]) -> tuple[float, float]:
    """Mean accuracy of pairs at one station, and of pairs at two stations.

    Parameters
    ----------
    pairs : (n, n) array
        NaN on the diagonal.
    names : n str
        ``STATION.COMPONENT``.
    """
    stations = np.array([name.split(".")[0] for name in names])
    same = (stations[:, None] == stations) & ~np.eye(len(names), dtype=bool)
    return float(pairs[same].mean()), float(pairs[stations[:, None] != stations].mean())


def _remarks(
    pairs: Mapping[str, Floats], single: Mapping[str, Floats], names: Sequence[str]
) -> list[str]:
    remarks = []
    for name, accuracy in pairs.items():
        within, across = by_station(accuracy, names)
        gains = (accuracy - single[name][:, None])[~np.eye(len(names), dtype=bool)]
        remarks.append(
            f"{name}: pairs at one station are right in {100 * within:.1f} %, pairs at two in "
            f"{100 * across:.1f} %, single channels in {100 * single[name].mean():.1f} %. A second "
            f"view helps the first in {int((gains > 0).sum())} of {gains.size} pairs, by "
            f"{100 * gains.mean():+.1f} points in the mean."
        )
    return remarks


def draw(result: Result) -> dict[str, Picture]:
    """Picture with one cell per pair of channels and one panel per kernel."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 5.2), layout="constrained")
    panels = figure.subplots(1, len(KERNELS))
    for ax, (name, pairs) in zip(panels, result.numbers["accuracy"].items(), strict=True):
        matrix = np.array(pairs, dtype=float)
        pair_accuracy(matrix, result.numbers["channels"], ax=ax, title=name)
    caption = (
        f"Accuracy of every view beside every other, r = {_R}, in the mean over trials. Simulated "
        "data."
    )
    return {"": Picture(figure, caption)}


EXPERIMENTS = (
    Experiment(
        name="seismic-pairs",
        where="Fig. 27",
        title="Every two channels",
        about=(
            "Earthquakes and explosions as in the experiment before, simulated. Multi-view "
            "diffusion maps of every two of the six channels; events are classified by their "
            "nearest neighbour in the four coordinates of the first channel."
        ),
        run=run,
        draw=draw,
        trials=Trials(default=10, quick=1, paper=1),
    ),
)
