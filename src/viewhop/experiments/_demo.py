"""Demonstration: six views of handwritten digits, alone and together."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.metrics import normalized_mutual_info_score
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from viewhop import plotting
from viewhop._runtime.files import replace_file, writable_folder
from viewhop._runtime.progress import Progress, no_progress
from viewhop.datasets import load_mfeat
from viewhop.errors import DisconnectedWarning
from viewhop.estimators import DiffusionMaps, MultiViewDiffusionMaps
from viewhop.scores import matched_share
from viewhop.views import Views

__all__ = ["DemoResult", "Score", "run"]

_N_COORDINATES = 9
_N_CLUSTERS = 10
_N_EIGENVALUES = 24
_QUICK_SAMPLES = 500


@dataclass(frozen=True)
class Score:
    """Agreement of K-means clusters with the digits in one embedding.

    Attributes
    ----------
    method : str
        Name of a view, or of a way to combine the views.
    nmi : float
        Normalised mutual information of clusters and digits.
    accuracy : float
        Share of samples in the cluster of their digit, after the best one-to-one matching.
    seconds : float
        Time for embedding and clustering.
    """

    method: str
    nmi: float
    accuracy: float
    seconds: float


@dataclass(frozen=True)
class DemoResult:
    """Scores and files of the demonstration.

    Attributes
    ----------
    n_samples : int
    singles, together : tuple of Score
        Each view alone, and all six combined in four ways; multi-view comes last.
    files : tuple of Path
        The files written.
    remarks : tuple of str
        Notes on this run, one line each.
    """

    n_samples: int
    singles: tuple[Score, ...]
    together: tuple[Score, ...]
    files: tuple[Path, ...]
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class _Trial:
    """One embedding, with its clusters and its score."""

    estimator: Any
    embedding: NDArray[np.floating]
    clusters: NDArray[np.integer]
    score: Score
    n_pieces: int


def run(
    *,
    out: str | os.PathLike[str],
    random_state: int = 0,
    progress: Progress = no_progress,
    quick: bool = False,
) -> DemoResult:
    """Scores of each view alone and of four ways to combine all six.

    Embeds the digits in nine coordinates with the default kernel, runs K-means with ten clusters,
    and writes ``embedding.csv`` and ``embedding.png`` for the multi-view embedding.

    Parameters
    ----------
    out : path
        Folder for the two files; created if necessary.
    random_state : int
        Seed of the solvers, of K-means, and of the choice of samples if `quick`.
    progress : callable
        Called as ``progress(stage, done, total)``.
    quick : bool
        Use 500 of the 2,000 samples.

    Returns
    -------
    DemoResult

    Raises
    ------
    OSError
        If `out` is not writable; this is checked before anything is computed.

    Examples
    --------
    >>> import tempfile
    >>> from viewhop.experiments import _demo as demo
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = demo.run(out=folder, quick=True)
    >>> [score.method for score in result.together]
    ['concatenation', 'kernel sum', 'kernel product', 'multi-view']
    """
    folder = writable_folder(out)
    digits = load_mfeat()
    rows = _choose_rows(len(digits.views), random_state=random_state, quick=quick)
    views, target = digits.views[rows], digits.target[rows]

    def trials(stage: str, methods: Mapping[str, tuple[Any, Any]]) -> list[_Trial]:
        progress(stage, 0, len(methods))
        done = []
        for method, (estimator, data) in methods.items():
            done.append(_trial(method, estimator, data, target, random_state=random_state))
            progress(stage, len(done), len(methods))
        return done

    alone = trials("each view alone", _single_methods(views, random_state))
    together = trials("all views together", _joint_methods(views, random_state))
    multi = together[-1]

    progress("files", 0, 2)
    files = [folder / "embedding.csv"]
    remarks = _pieces_remark([*alone, *together])
    table = _table(multi, rows=rows, target=target)
    with replace_file(files[0]) as file:
        file.write(table.to_csv(index=False, float_format="%.10g").encode())
    progress("files", 1, 2)
    figure = _figure(alone[0], multi, views=views, target=target, random_state=random_state)
    if figure is None:
        remarks.append(
            'embedding.png was not written: matplotlib is missing; pip install "viewhop[plot]"'
        )
    else:
        files.append(folder / "embedding.png")
        with replace_file(files[1]) as file:
            figure.savefig(file, format="png", dpi=160)
    progress("files", 2, 2)
    return DemoResult(
        n_samples=len(rows),
        singles=tuple(trial.score for trial in alone),
        together=tuple(trial.score for trial in together),
        files=tuple(files),
        remarks=tuple(remarks),
    )


def _single_methods(views: Views, random_state: int) -> dict[str, tuple[Any, Any]]:
    """Estimator and data for each view alone."""
    return {
        name: (DiffusionMaps(_N_COORDINATES, random_state=random_state), array)
        for name, array in views.items()
    }


def _joint_methods(views: Views, random_state: int) -> dict[str, tuple[Any, Any]]:
    """Estimator and data for each way to combine the views."""
    stacked = np.hstack([StandardScaler().fit_transform(array) for array in views.arrays])
    fused = {
        fusion: MultiViewDiffusionMaps(_N_COORDINATES, fusion=fusion, random_state=random_state)
        for fusion in ("sum", "product", "hop")
    }
    return {
        "concatenation": (DiffusionMaps(_N_COORDINATES, random_state=random_state), stacked),
        "kernel sum": (fused["sum"], views),
        "kernel product": (fused["product"], views),
        "multi-view": (fused["hop"], views),
    }


def _trial(
    method: str, estimator: Any, data: Any, target: NDArray[np.integer], *, random_state: int
) -> _Trial:
    start = perf_counter()
    embedding, n_pieces = _embedding(estimator, data)
    clusters = _clusters(embedding, random_state=random_state)
    score = Score(
        method=method,
        nmi=float(normalized_mutual_info_score(target, clusters)),
        accuracy=matched_share(target, clusters),
        seconds=perf_counter() - start,
    )
    return _Trial(estimator, embedding, clusters, score, n_pieces)


def _embedding(estimator: Any, data: Any) -> tuple[NDArray[np.floating], int]:
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


def _clusters(embedding: NDArray[np.floating], *, random_state: int) -> NDArray[np.integer]:
    """K-means clusters, (n_samples,), the best of 20 starts.

    On data this small, threads mostly wait for each other: one thread is five times faster than two
    on an idle machine, and fifty times on a busy one.
    """
    kmeans = KMeans(_N_CLUSTERS, n_init=20, random_state=random_state)
    with threadpool_limits(1, user_api="openmp"):
        return np.asarray(kmeans.fit_predict(embedding))


def _pieces_remark(trials: list[_Trial]) -> list[str]:
    broken = [f"{trial.score.method} ({trial.n_pieces})" for trial in trials if trial.n_pieces > 1]
    return [f"disconnected walks (number of pieces): {', '.join(broken)}"] if broken else []


def _table(
    trial: _Trial, *, rows: NDArray[np.integer], target: NDArray[np.integer]
) -> pd.DataFrame:
    """Table of sample, digit, cluster and coordinates, one row per sample."""
    names = trial.estimator.get_feature_names_out()
    head = pd.DataFrame({"sample": rows, "digit": target, "cluster": trial.clusters})
    return pd.concat([head, pd.DataFrame(trial.embedding, columns=names)], axis=1)


def _figure(
    single: _Trial,
    multi: _Trial,
    *,
    views: Views,
    target: NDArray[np.integer],
    random_state: int,
) -> Any | None:
    """Figure of one view alone and within all views; None without matplotlib.

    The multi-view embedding concatenates the blocks of the views, so its first coordinates are
    those of the first view and can be compared with that view alone.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return None
    # The table needs nine eigenvalues; the picture shows more, to reveal where they drop.
    longer = MultiViewDiffusionMaps(_N_EIGENVALUES, random_state=random_state)
    _embedding(longer, views)
    figure = Figure(figsize=(12.5, 8), layout="constrained")
    top, bottom = figure.subplots(2, 3, width_ratios=(1, 1, 0.85))
    alone = f"{single.score.method} alone: NMI {single.score.nmi:.2f}"
    together = f"all {len(views.names)} views: NMI {multi.score.nmi:.2f}"
    for ax, trial, dims, title in (
        (top[0], single, (0, 1), alone),
        (top[1], multi, (0, 1), together),
        (bottom[0], single, (2, 3), None),
        (bottom[1], multi, (2, 3), None),
        (bottom[2], multi, (4, 5), "all views, two more coordinates"),
    ):
        plotting.embedding(
            trial.embedding, labels=target, dims=dims, ax=ax, title=title, legend=ax is top[1]
        )
    plotting.spectrum(longer, n_components=_N_COORDINATES, ax=top[2], title="all views: spectrum")
    return figure


def _choose_rows(n_samples: int, *, random_state: int, quick: bool) -> NDArray[np.intp]:
    if not quick:
        return np.arange(n_samples)
    rng = np.random.default_rng(random_state)
    return np.sort(rng.choice(n_samples, _QUICK_SAMPLES, replace=False))
