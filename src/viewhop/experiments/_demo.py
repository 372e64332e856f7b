"""Demonstration: when hopping between the views of handwritten digits is worth it."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_mutual_info_score
from threadpoolctl import threadpool_limits

from viewhop._runtime.files import stage_files
from viewhop._runtime.outputs import output_folder
from viewhop._runtime.progress import Progress, no_progress
from viewhop.datasets import load_mfeat
from viewhop.errors import DisconnectedWarning
from viewhop.experiments._demo_conditions import make_conditions
from viewhop.experiments._demo_figure import draw_demo
from viewhop.experiments._demo_methods import (
    MULTI,
    STACKED,
    Method,
    make_methods,
    make_single_view_methods,
)
from viewhop.experiments._demo_scores import ScoreTable
from viewhop.views import Views

__all__ = ["DemoResult", "run"]

_N_CLUSTERS = 10
_QUICK_SAMPLES = 500
#: Rows for the views alone. Which view is best is known by the labels only.
_BEST = "one view alone, the best"
_MEAN = "one view alone, the mean"


@dataclass(frozen=True)
class DemoResult:
    """Scores and files of the demonstration.

    Attributes
    ----------
    n_samples : int
    table : ScoreTable
        Methods as rows; the last one is the library's default.
    files : tuple of Path
        The files written.
    remarks : tuple of str
        Notes on this run, one line each.
    """

    n_samples: int
    table: ScoreTable
    files: tuple[Path, ...]
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class _Trial:
    """One embedding, with its clusters, their score, and the number of pieces of its walk."""

    estimator: Any
    embedding: NDArray[np.floating]
    clusters: NDArray[np.integer]
    score: float
    n_pieces: int


def run(
    *,
    out: str | os.PathLike[str],
    random_state: int = 0,
    progress: Progress = no_progress,
    quick: bool = False,
) -> DemoResult:
    """Scores of one view alone and of six ways to use all views, in three conditions.

    The digits are complete; or half of all (sample, view) pairs are missing, in five draws; or one
    view is replaced by noise. Each method embeds them in nine coordinates, or nine per view, and
    K-means looks for ten clusters. Writes ``embedding.csv`` and ``embedding.png`` for the
    multi-view embedding of the complete digits.

    Parameters
    ----------
    out : path
        Folder for the two files; created if necessary.
    random_state : int
        Seed of the solvers, of K-means, of the conditions, and of the choice of samples if
        `quick`.
    progress : callable
        Called as ``progress(stage, done, total)``.
    quick : bool
        Use 500 of the 2,000 samples.

    Returns
    -------
    DemoResult

    Raises
    ------
    OutputError
        If `out` is not writable, or another process writes there; this is checked before anything
        is computed.

    Examples
    --------
    >>> import tempfile
    >>> from viewhop.experiments import _demo as demo
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = demo.run(out=folder, quick=True)
    >>> list(result.table.rows)[-3:]
    ['kernel product', "the paper's walk", 'multi-view, the default']
    """
    with output_folder(Path(out)) as folder:
        return _run(folder, random_state=random_state, progress=progress, quick=quick)


def _run(folder: Path, *, random_state: int, progress: Progress, quick: bool) -> DemoResult:
    digits = load_mfeat()
    rows = _choose_rows(len(digits.views), random_state=random_state, quick=quick)
    conditions = make_conditions(digits.views[rows], random_state=random_state)
    target = digits.target[rows]
    singles = make_single_view_methods(digits.views.names, random_state=random_state)
    joint = make_methods(random_state=random_state)
    trials = {
        name: _run_methods({**singles, **joint}, name, draws, target, random_state, progress)
        for name, draws in conditions.items()
    }
    table = ScoreTable(tuple(trials), _score_rows(trials, [*singles], [*joint]), STACKED)
    multi = trials["complete"][MULTI][0]

    progress("files", 0, 2)
    files = [folder / "embedding.csv"]
    remarks = [_complaint_remark(singles, joint), *_pieces_remarks(trials)]
    coordinates = _coordinate_table(multi, rows=rows, target=target)
    with stage_files(folder, last="embedding.csv") as inside:
        text = coordinates.to_csv(index=False, float_format="%.10g")
        (inside / "embedding.csv").write_bytes(text.encode())
        progress("files", 1, 2)
        figure = draw_demo(multi.embedding, target, table)
        if figure is None:
            remarks.append(
                'embedding.png was not written: matplotlib is missing; pip install "viewhop[plot]"'
            )
        else:
            files.append(folder / "embedding.png")
            figure.savefig(inside / "embedding.png", format="png", dpi=160)
    progress("files", 2, 2)
    return DemoResult(len(rows), table, tuple(files), tuple(remarks))


def _run_methods(
    methods: Mapping[str, Method],
    condition: str,
    draws: Sequence[Views],
    target: NDArray[np.integer],
    random_state: int,
    progress: Progress,
) -> dict[str, list[_Trial]]:
    """Trials of each method that applies, one per draw of the views."""
    trials: dict[str, list[_Trial]] = {}
    total = len(methods) * len(draws)
    progress(condition, 0, total)
    steps = ((views, name) for views in draws for name in methods)
    for count, (views, name) in enumerate(steps, start=1):
        method = methods[name]
        if views.observed.all() or not method.complaint:
            trial = _run_trial(*method.prepare(views), target, random_state=random_state)
            trials.setdefault(name, []).append(trial)
        progress(condition, count, total)
    return trials


def _run_trial(
    estimator: Any, data: Any, target: NDArray[np.integer], *, random_state: int
) -> _Trial:
    """An embedding, clustered by K-means, the best of 20 starts.

    On data this small, threads mostly wait for each other: for K-means, one thread is five times
    faster than two on an idle machine, and fifty times on a busy one.
    """
    kmeans = KMeans(_N_CLUSTERS, n_init=20, random_state=random_state)
    with threadpool_limits(1):
        embedding, n_pieces = _embed(estimator, data)
        clusters = np.asarray(kmeans.fit_predict(embedding))
    score = float(adjusted_mutual_info_score(target, clusters))
    return _Trial(estimator, embedding, clusters, score, n_pieces)


def _embed(estimator: Any, data: Any) -> tuple[NDArray[np.floating], int]:
    """Embedding, and number of connected pieces of the walk.

    Disconnected neighbour graphs are common on real data: they are reported with the result
    instead of as a warning. Every other warning is passed on.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DisconnectedWarning)
        embedding = estimator.fit_transform(data)
    n_pieces = 1
    for warning in caught:
        if isinstance(warning.message, DisconnectedWarning):
            n_pieces = warning.message.n_pieces
        else:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
    return embedding, n_pieces


def _score_rows(
    trials: Mapping[str, Mapping[str, list[_Trial]]], singles: list[str], joint: list[str]
) -> dict[str, tuple[float | None, ...]]:
    """Rows of the table: best and mean of the views alone, then the other methods."""
    means = [
        {name: float(np.mean([trial.score for trial in each])) for name, each in done.items()}
        for done in trials.values()
    ]
    alone = [[scores[name] for name in singles if name in scores] for scores in means]
    return {
        _BEST: tuple(max(scores) if scores else None for scores in alone),
        _MEAN: tuple(float(np.mean(scores)) if scores else None for scores in alone),
        **{name: tuple(scores.get(name) for scores in means) for name in joint},
    }


def _complaint_remark(singles: Mapping[str, Method], joint: Mapping[str, Method]) -> str:
    reasons = {"one view alone": next(iter(singles.values())).complaint}
    reasons |= {name: method.complaint for name, method in joint.items() if method.complaint}
    return "– where " + "; ".join(f"{name} {why}" for name, why in reasons.items())


def _pieces_remarks(trials: Mapping[str, Mapping[str, list[_Trial]]]) -> list[str]:
    pieces = {
        f"{name}, {condition}": max(trial.n_pieces for trial in each)
        for condition, done in trials.items()
        for name, each in done.items()
    }
    broken = [f"{name} ({count})" for name, count in pieces.items() if count > 1]
    return [f"disconnected walks (number of pieces): {'; '.join(broken)}"] if broken else []


def _coordinate_table(
    trial: _Trial, *, rows: NDArray[np.integer], target: NDArray[np.integer]
) -> pd.DataFrame:
    """Table of sample, digit, cluster and coordinates, one row per sample."""
    names = trial.estimator.get_feature_names_out()
    head = pd.DataFrame({"sample": rows, "digit": target, "cluster": trial.clusters})
    return pd.concat([head, pd.DataFrame(trial.embedding, columns=names)], axis=1)


def _choose_rows(n_samples: int, *, random_state: int, quick: bool) -> NDArray[np.intp]:
    if not quick:
        return np.arange(n_samples)
    rng = np.random.default_rng(random_state)
    return np.sort(rng.choice(n_samples, _QUICK_SAMPLES, replace=False))
