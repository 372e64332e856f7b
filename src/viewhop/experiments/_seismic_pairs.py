"""Fig. 27: earthquakes and explosions classified with every pair of channels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from viewhop.experiments._experiment import (
    Cell,
    Context,
    Experiment,
    Picture,
    Result,
    Table,
    Trials,
)
from viewhop.experiments._findings import Finding, judge_lead
from viewhop.experiments._seismic_calibrated import CALIBRATED, make_calibrated_events
from viewhop.experiments._seismic_setting import KERNELS, SIMULATED, mean_and_sd, sonogram_views
from viewhop.plotting import pair_accuracy
from viewhop.seismic import classify, classify_pairs, make_events

__all__ = ["EXPERIMENTS", "by_station"]

Floats = NDArray[np.float64]

_R = 4
_MAKERS: dict[str, Callable[..., Bunch]] = {
    "calibrated": make_calibrated_events,
    "defaults": make_events,
}
_PRINTED = "calibrated with max-min"


def run(context: Context) -> Result:
    """Accuracy over trials of all pairs of six channels, and of each channel alone."""
    sizes = (10, 12) if context.quick else (46, 62)
    names, pairs, alone = _classify_trials(context, sizes)
    mean = {name: np.mean(each, axis=0) for name, each in pairs.items()}
    single = {name: np.mean(each, axis=0) for name, each in alone.items()}
    gains = {name: _gain_by_trial(pairs[name], alone[name]) for name in pairs}
    return Result(
        ran={
            "earthquakes and explosions": sizes,
            "channels": len(names),
            "trials": context.trials,
            "difficulty": list(_MAKERS),
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
        tables=(
            _gain_table(mean, single, gains, names),
            *(_table(name, mean[name], single[name], names) for name in pairs),
        ),
        numbers={"channels": names, "accuracy": mean, "single": single, "gain": gains},
        remarks=(
            SIMULATED,
            CALIBRATED,
            "The paper prints these accuracies as a figure only: there are no numbers to set "
            "beside ours. It draws zeros on the diagonal, where nothing was computed; we do not.",
            *_remarks(mean, single, names),
        ),
        findings=_judge_gain(gains),
    )


def _classify_trials(
    context: Context, sizes: tuple[int, int]
) -> tuple[Sequence[str], dict[str, Floats], dict[str, Floats]]:
    """Channels; by setting the accuracies of pairs (trials, n, n) and of channels (trials, n)."""
    pairs: dict[str, list[Floats]] = {}
    alone: dict[str, list[list[float]]] = {}
    names: Sequence[str] = ()
    for trial in range(context.trials):
        for difficulty, make in _MAKERS.items():
            events = make(*sizes, random_state=context.integer(trial))
            names = events.channels
            views = sonogram_views(events.waveforms, names)
            for name, kernel in KERNELS.items():
                scores = classify_pairs(views, events.target, n_components=_R, kernel=kernel)
                singles = classify(
                    views,
                    events.target,
                    n_components=_R,
                    kernel=kernel,
                    fusions=(),
                    procedures=("transductive",),
                )
                setting = f"{difficulty} with {name}"
                pairs.setdefault(setting, []).append(scores.accuracy)
                alone.setdefault(setting, []).append([score.accuracy for score in singles])
        context.progress("trials", trial + 1, context.trials)
    return (
        names,
        {name: np.array(each) for name, each in pairs.items()},
        {name: np.array(each) for name, each in alone.items()},
    )


def _gain_by_trial(pairs: Floats, alone: Floats) -> Floats:
    """Mean over pairs of what the second view adds to the first, in points, (n_trials,)."""
    return np.asarray(100 * np.nanmean(pairs - alone[:, :, None], axis=(1, 2)))


def _gain_table(
    mean: Mapping[str, Floats],
    single: Mapping[str, Floats],
    gains: Mapping[str, Floats],
    names: Sequence[str],
) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for setting, pairs in mean.items():
        within, across = by_station(pairs, names)
        cells = (100 * single[setting].mean(), 100 * within, 100 * across)
        rows.append((setting, *map(float, cells), mean_and_sd(gains[setting])))
    return Table(
        "Accuracy [%], mean over trials, and what a second channel adds to the first [points], "
        "mean over pairs ± standard deviation over trials",
        ("setting", "alone", "pairs at one station", "pairs at two", "gain"),
        tuple(rows),
        digits=1,
    )


def _judge_gain(gains: Mapping[str, Floats]) -> tuple[Finding, ...]:
    """The finding that a second channel helps; none for a single trial."""
    if min(len(each) for each in gains.values()) < 2:
        return ()
    scores = {
        name: {"with a second channel": each, "the channel alone": np.zeros(len(each))}
        for name, each in gains.items()
    }
    found = judge_lead(
        "seismic-pairs", scores, printed=_PRINTED, ours="with a second channel", digits=1
    )
    evidence = (
        "Simulated records in place of recordings that are not public; points above the channel "
        f"alone, mean over pairs. {found.evidence}"
    )
    return (replace(found, evidence=evidence),)


def _table(name: str, pairs: Floats, single: Floats, names: Sequence[str]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for k, channel in enumerate(names):
        cells = [None if np.isnan(value) else 100 * value for value in pairs[k].tolist()]
        rows.append((channel, *cells, 100 * float(single[k])))
    return Table(
        f"Accuracy [%] in the coordinates of the first view, {name}, mean over trials; the second "
        "view in columns",
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

    figure = Figure(figsize=(11, 10.2), layout="constrained")
    panels = figure.subplots(len(_MAKERS), len(KERNELS))
    for ax, (name, pairs) in zip(panels.flat, result.numbers["accuracy"].items(), strict=True):
        matrix = np.array(pairs, dtype=float)
        pair_accuracy(matrix, result.numbers["channels"], ax=ax, title=name)
    caption = (
        f"Accuracy of every view beside every other, r = {_R}, in the mean over trials, at the "
        "calibrated difficulty and with the simulator's defaults. Simulated data."
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
        trials=Trials(default=10, quick=2, paper=1),
    ),
)
