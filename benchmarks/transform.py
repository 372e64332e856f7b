"""New samples against a dense fit: the products and exponentials that this must do."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np

import viewhop as vh
from benchmarks.apart import apart, peak
from benchmarks.data import cube_views
from benchmarks.references import gemm_exp_seconds
from benchmarks.row import Row, ratio

TITLE = "New samples: transform against a dense fit of two views"
FULL: dict[str, Any] = {"n_samples": 20_000, "n_rows": 100_000, "repeats": 2}
SMALL: dict[str, Any] = {"n_samples": 1500, "n_rows": 4000, "repeats": 1}

R = 10
FEATURES = 100
#: Rows that are placed one by one.
ONES = 100


def time_transform(n_samples: int, n_rows: int, repeats: int) -> dict[str, Any]:
    """Seconds of `transform` and of its reference, in turn, the best of each."""
    views = cube_views(n_samples + n_rows, n_features=FEATURES)
    training = [X[:n_samples] for X in views]
    new = [X[n_samples:] for X in views]
    kernel = vh.kernels.Gaussian(bandwidth="max-min", factor=0.1)
    est = vh.MultiViewDiffusionMaps.paper_settings(R, kernel=kernel, tol=1e-2, random_state=0).fit(
        training
    )
    seconds, references, ones, rows, top = [], [], [], [], 0
    for _ in range(repeats):
        start = perf_counter()
        Z = est.transform(new)
        seconds.append(perf_counter() - start)
        top = top or peak()
        references.append(gemm_exp_seconds(new, training))
    squares = [np.einsum("ij,ij->i", X, X) for X in training]
    for k in range(ONES):
        one = [X[k : k + 1] for X in new]
        start = perf_counter()
        est.transform(one)
        ones.append(perf_counter() - start)
        start = perf_counter()
        for x, X, square in zip(one, training, squares, strict=True):
            np.exp(-(square + np.einsum("ij,ij->i", x, x) - 2.0 * (x @ X.T)[0]))
        rows.append(perf_counter() - start)
    return {
        "one": float(np.median(ones)),
        "kernel_row": float(np.median(rows)),
        "seconds": min(seconds),
        "reference": min(references),
        "peak": top,
        "finite": float(np.isfinite(Z).all(axis=1).mean()),
    }


def run(*, n_samples: int, n_rows: int, repeats: int) -> Iterator[Row]:
    """All rows at once, as a user would give them."""
    order = {"n_samples": n_samples, "n_rows": n_rows, "repeats": repeats}
    result = apart(time_transform, order)
    reference = "GEMM and exp of all pairs, float32, all cores"
    yield Row(reference, result["reference"])
    work = f"transform of {n_rows:,} rows against M = {n_samples:,}, D = {FEATURES}, r = {R}"
    yield ratio(work, result, result["reference"], "GEMM and exp", at_most=1.4)
    yield Row("the kernel row of one sample in each view", result["kernel_row"])
    yield ratio(
        "transform of one row, the median of 100",
        result | {"seconds": result["one"]},
        result["kernel_row"],
        "its kernel rows",
        at_most=5.0,
    )
    yield Row(
        "share of the rows that were placed", value=result["finite"], at_least=1.0, timed=False
    )
