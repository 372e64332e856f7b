"""Incomplete views: what a fit and a transform gain from the pairs that are missing."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.apart import apart
from benchmarks.data import cube_views
from benchmarks.fits import WALKS, dense_estimator, measure_fit, sparse_estimator
from benchmarks.row import Row, ratio

TITLE = "Incomplete views: 30 % of all pairs of sample and view missing"
FULL: dict[str, Any] = {"n_dense": 10_000, "n_sparse": 100_000, "repeats": 2}
SMALL: dict[str, Any] = {"n_dense": 600, "n_sparse": 1500, "repeats": 1}

R = 10
TOLS = {"dense": 1e-3, "sparse": 1e-4}
SHARE = 0.3
#: New samples, as a share of the training samples.
NEW = 0.5


def make_views(n: int, share: float, seed: int) -> list[np.ndarray]:
    """Three views of the cube; a share of all pairs is missing, but no sample in every view."""
    views = cube_views(n, 3)
    rng = np.random.default_rng(seed)
    missing = rng.random((n, 3)) < share
    missing[missing.all(axis=1), 0] = False
    for view, gone in zip(views, missing.T, strict=True):
        view[gone] = np.nan
    return views


def time_fit(kind: str, n_samples: int, share: float, walk: str) -> dict[str, Any]:
    """A fit, and a transform of new samples with as many missing."""
    n_new = round(NEW * n_samples)
    views = make_views(n_samples + n_new, share, 0)
    make = dense_estimator if kind == "dense" else sparse_estimator
    est = make(R, TOLS[kind], walk)
    result = measure_fit(est, [X[:n_samples] for X in views])
    start = perf_counter()
    est.transform([X[n_samples:] for X in views])
    return result | {"transform": perf_counter() - start}


def run(*, n_dense: int, n_sparse: int, repeats: int) -> Iterator[Row]:
    """Complete and incomplete views in turn, `repeats` times, the best of each."""
    for kind, n in (("dense", n_dense), ("sparse", n_sparse)):
        for walk in WALKS:
            runs = {
                share: [
                    apart(time_fit, {"kind": kind, "n_samples": n, "share": share, "walk": walk})
                    for _ in range(repeats)
                ]
                for share in (0.0, SHARE)
            }
            yield from _compare(f"{kind}, {walk}, 3 views, M = {n:,}", runs)


def _compare(what: str, runs: dict[float, list[dict[str, Any]]]) -> Iterator[Row]:
    """Rows of the fit and of the transform."""
    for stage, name, bound in (("seconds", "fit", 0.8), ("transform", "transform", 1.0)):
        whole, some = (min(each[stage] for each in runs[share]) for share in (0.0, SHARE))
        columns = {share: each[0]["n_products"] for share, each in runs.items()}
        yield Row(f"{name} of complete views, {what}, {columns[0.0]:,} columns", whole)
        result = runs[SHARE][0] | {"seconds": some}
        yield ratio(
            f"{name} with 30 % missing, {columns[SHARE]:,} columns",
            result,
            whole,
            "complete views",
            at_most=bound,
        )
