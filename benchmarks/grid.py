"""A grid over diffusion times and numbers of coordinates, whose fits share kernels by `memory`.

Seconds are those of the processor, on one thread: on a shared machine, many short fits would wait
for it more often than one long fit.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from time import process_time
from typing import Any

import numpy as np

import viewhop as vh
from benchmarks.apart import apart
from benchmarks.data import cube_views
from benchmarks.row import Row

TITLE = "A grid over t = 1 … 8 and r = 2 … 20, with and without memory"
FULL: dict[str, Any] = {"sizes": {"adaptive": 20_000, "gaussian": 5000}, "searched": 900}
SMALL: dict[str, Any] = {"sizes": {"adaptive": 300, "gaussian": 300}, "searched": 90}

TIMES = range(1, 9)
COORDINATES = range(2, 21)
FOLDS = 3
#: Coordinates of one fit, with which those of the grid are compared.
MOST = COORDINATES[-1]


@contextmanager
def count_kernels() -> Iterator[Counter[str]]:
    """A counter of the walks that were built, and of the eigenproblems that were solved."""
    from viewhop.geometry import _stages

    counts: Counter[str] = Counter()
    plain = _stages.build_affinities, _stages.solve_multilevel

    def build(*args: Any, **kwargs: Any) -> Any:
        counts["kernels"] += 1
        return plain[0](*args, **kwargs)

    def solve(*args: Any, **kwargs: Any) -> Any:
        counts["solves"] += 1
        return plain[1](*args, **kwargs)

    _stages.build_affinities, _stages.solve_multilevel = build, solve
    try:
        yield counts
    finally:
        _stages.build_affinities, _stages.solve_multilevel = plain


def fold_views(n_samples: int) -> list[np.ndarray]:
    """Two views of points of a cube, solved to full accuracy."""
    return [X.astype(np.float64) for X in cube_views(n_samples)]


def one_fold(*, kernel: str, n_samples: int) -> dict[str, Any]:
    """Seconds of one fit without memory, and of all fits of a fold with it."""
    views = fold_views(n_samples)
    settings: dict[str, Any] = {"kernel": kernel, "random_state": 0, "n_jobs": 1}
    vh.MultiViewDiffusionMaps(2, **settings).fit([X[:100] for X in views])  # loads what it needs
    start = process_time()
    plain = vh.MultiViewDiffusionMaps(MOST, **settings).fit(views)
    one = process_time() - start
    few = vh.MultiViewDiffusionMaps(5, n_steps=3, **settings).fit(views)
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder, count_kernels() as counts:
        start = process_time()
        for r, t in product(COORDINATES, TIMES):
            est = vh.MultiViewDiffusionMaps(r, n_steps=t, memory=folder, **settings).fit(views)
            if (r, t) == (5, 3):
                worst = _difference(est.embedding_, few.embedding_)
        grid = process_time() - start
        worst = max(worst, _difference(est.geometry_.embedding(1), plain.embedding_))
    return {"one": one, "grid": grid, "worst": worst, **counts}


def _difference(first: np.ndarray, second: np.ndarray) -> float:
    """The largest difference of two embeddings, relative to the spread of the coordinate."""
    return float((np.abs(first - second).max(axis=0) / second.std(axis=0)).max())


def search(*, n_samples: int) -> dict[str, Any]:
    """Kernels and eigenproblems of a grid search with folds, and a refit on all samples."""
    from sklearn.model_selection import GridSearchCV
    from sklearn.neighbors import KNeighborsRegressor
    from sklearn.pipeline import make_pipeline

    views = vh.Views(cube_views(n_samples))
    target = np.random.default_rng(0).random(n_samples)
    grid = {
        "multiviewdiffusionmaps__n_steps": [*TIMES],
        "multiviewdiffusionmaps__n_components": [*COORDINATES],
    }
    with tempfile.TemporaryDirectory() as folder, count_kernels() as counts:
        est = vh.MultiViewDiffusionMaps(random_state=0, memory=folder, n_jobs=1)
        start = process_time()
        GridSearchCV(make_pipeline(est, KNeighborsRegressor()), grid, cv=FOLDS).fit(views, target)
        seconds = process_time() - start
    return {"seconds": seconds, **counts}


def run(*, sizes: dict[str, int], searched: int) -> Iterator[Row]:
    """The fits of one fold with each kind of kernel, and a whole search."""
    n_fits = len(TIMES) * len(COORDINATES)
    for kernel, n in sizes.items():
        result = apart(one_fold, {"kernel": kernel, "n_samples": n})
        name = f"{kernel}, M = {n:,}"
        yield Row(f"one fit, {name}, r = {MOST}", result["one"])
        yield Row(
            f"{n_fits} fits of a fold with memory, {name}",
            result["grid"],
            result["grid"] / result["one"],
            "× one fit",
            at_most=1.5,
            peak=result["peak"],
            at_import=result["at_import"],
        )
        count = float(result["kernels"])
        yield Row("kernels built for them", value=count, unit="builds", at_most=1, timed=False)
        yield Row(
            "largest difference from fits without memory",
            value=result["worst"],
            unit="× the spread of a coordinate",
            at_most=1e-10,
            timed=False,
        )
    result = apart(search, {"n_samples": searched})
    yield Row(
        f"search of {n_fits} candidates in {FOLDS} folds, M = {searched:,}",
        result["seconds"],
        float(result["kernels"]),
        f"builds of kernels, {result['solves']} solves",
        at_most=FOLDS + 1,
        timed=False,
    )
