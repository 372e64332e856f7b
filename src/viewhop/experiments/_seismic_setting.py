"""Shared setting of the seismic experiments: simulated events as views, kernels, remarks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Bunch

from viewhop.experiments._experiment import Cell
from viewhop.experiments._local_scales import LOCAL_SCALES
from viewhop.kernels import Gaussian
from viewhop.seismic import Classification
from viewhop.seismic.sonogram import sonogram
from viewhop.views import Views

__all__ = [
    "FUSED",
    "KERNELS",
    "MULTI",
    "RANKS",
    "SIMULATED",
    "at_noise",
    "mean_and_sd",
    "method_names",
    "paper_comparison",
    "paper_remarks",
    "percents",
    "printed_by_method",
    "signal_and_noise",
    "sonogram_views",
]

Floats = NDArray[np.float64]

#: Numbers of coordinates in the paper's tables.
RANKS = (3, 4)
MULTI = "multi-view"
#: Names of the fusions in tables. "kernel product" is element-wise; the paper's own product is
#: "kernel product, concat", one Gaussian of all channels side by side.
FUSED = {
    "sum": "kernel sum",
    "product": "kernel product",
    "concat": "kernel product, concat",
    "hop": MULTI,
}
#: The paper does not state the kernel of this section: its general rule for the scale, and
#: one scale per sample.
KERNELS: dict[str, Any] = {
    "max-min": Gaussian(bandwidth="max-min"),
    "10 neighbours": LOCAL_SCALES,
}
SIMULATED = (
    "The data are simulated: the paper's records are not public. Stations, quarries and events do "
    "not exist; the simulator's defaults were set from the literature before anything was "
    "classified, and are not tuned to it. So the paper's numbers are about other data."
)


def signal_and_noise(make: Callable[..., Bunch]) -> tuple[Bunch, Floats]:
    """Events without ground noise, and their noise, (n_events, n_channels, n_samples).

    Parameters
    ----------
    make : callable
        ``make(noise=)`` returns the same events at any noise level.
    """
    noisy, clean = make(noise=1.0), make(noise=0.0)
    return clean, noisy.waveforms - clean.waveforms


def at_noise(clean: Bunch, noise: Floats, level: float) -> Views:
    """Views of events with `level` times the noise added to their records.

    Parameters
    ----------
    clean, noise
        From `signal_and_noise`.
    level : float
    """
    return sonogram_views(clean.waveforms + level * noise, clean.channels)


def sonogram_views(waveforms: NDArray[np.floating], channels: Sequence[str]) -> Views:
    """Sonograms as Views, one view per channel.

    Parameters
    ----------
    waveforms : (n_events, n_channels, n_samples) array
        At 40 Hz.
    channels : n_channels str
    """
    return Views(
        {
            name: sonogram(waveforms[:, k], sampling_rate=40.0).reshape(len(waveforms), -1)
            for k, name in enumerate(channels)
        }
    )


def printed_by_method(
    paper: Mapping[str, Sequence[float]], methods: Sequence[str]
) -> tuple[dict[str, Sequence[float]], dict[str, str]]:
    """The paper's accuracies by our names of methods, and the text of the first column.

    Parameters
    ----------
    paper : dict of n_ranks numbers by method
        Channels of the paper first, in the order of ours.
    methods : list of str
        Our channels, then fusions.
    """
    channels = [name for name in paper if name not in FUSED.values()]
    ours = dict(zip(methods, channels, strict=False))
    printed = {ours_name: paper[theirs] for ours_name, theirs in ours.items()}
    printed.update({name: paper[name] for name in methods if name in paper})
    titles = {name: f"{name} (paper: {ours[name]})" if name in ours else name for name in methods}
    return printed, titles


def method_names(scores: Classification) -> list[str]:
    """Names of the methods in their order."""
    return list(dict.fromkeys(score.method for score in scores))


def percents(trials: Sequence[Classification], *, procedure: str, balanced: bool = False) -> Floats:
    """Accuracies in per cent, (n_methods, n_trials, n_ranks).

    Parameters
    ----------
    trials : list of Classification
    procedure : {"transductive", "refitted"}
    balanced : bool
        Whether to weight classes equally, instead of events.
    """
    what = "balanced_accuracy" if balanced else "accuracy"
    return 100 * np.array(
        [
            [
                [getattr(each.find(name, procedure=procedure, n_components=r), what) for r in RANKS]
                for each in trials
            ]
            for name in method_names(trials[0])
        ]
    )


def mean_and_sd(values: ArrayLike) -> str:
    """Text with mean and standard deviation over trials; only the mean for one trial."""
    array = np.asarray(values, dtype=np.float64)
    spread = f" ± {array.std(ddof=1):.1f}" if array.size > 1 else ""
    return f"{array.mean():.1f}{spread}"


def paper_comparison(
    ours: Mapping[str, Mapping[str, Floats]],
    printed: Mapping[str, Sequence[float]],
    titles: Mapping[str, str],
) -> tuple[tuple[str, ...], tuple[tuple[Cell, ...], ...]]:
    """Columns and rows of a table in the paper's form, with our numbers next to the paper's.

    Parameters
    ----------
    ours : dict by kernel of dicts by method of (n_trials, n_ranks) arrays
    printed : dict by method of n_ranks numbers
        The paper's; empty cells for other methods.
    titles : dict by method
        Text of the first column.
    """
    columns = ["method"]
    for r in RANKS:
        columns += [*(f"r = {r}, {name}" for name in ours), f"r = {r}, paper"]
    rows = []
    for method, title in titles.items():
        row: list[Cell] = [title]
        for k in range(len(RANKS)):
            row += [mean_and_sd(accuracies[method][:, k]) for accuracies in ours.values()]
            row.append(printed[method][k] if method in printed else None)
        rows.append(tuple(row))
    return tuple(columns), tuple(rows)


def paper_remarks(
    kernel: str, means: Mapping[str, Floats], printed: Mapping[str, Sequence[float]]
) -> list[str]:
    """Remarks for each r on whether multi-view leads as in the paper.

    Parameters
    ----------
    kernel : str
    means : dict by method of (n_ranks,) arrays
        Ours, in per cent.
    printed : dict by method of n_ranks numbers
        The paper's.
    """
    remarks = []
    for k, r in enumerate(RANKS):
        others = {name: float(row[k]) for name, row in means.items() if name != MULTI}
        other = max(others, key=others.__getitem__)
        theirs = max(row[k] for name, row in printed.items() if name != MULTI)
        lead = means[MULTI][k] - means[other][k]
        remarks.append(
            f"Calibrated, {kernel}, r = {r}: multi-view {means[MULTI][k]:.1f} %, the best other "
            f"({other}) {means[other][k]:.1f} %; in the paper {printed[MULTI][k]:.1f} and "
            f"{theirs:.1f} %. The lead of the paper "
            f"{'shows' if lead > 1e-9 else 'does not show'} on these data."
        )
    return remarks
