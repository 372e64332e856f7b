"""How the time of the solve grows with the number of views, dense and sparse."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.apart import apart
from benchmarks.fits import dense_fit, sparse_fit
from benchmarks.row import Row, ratio

TITLE = "More views: the solve of two and of six views of a cube"
FULL: dict[str, Any] = {"n_dense": 10_000, "n_sparse": 50_000, "repeats": 2}
SMALL: dict[str, Any] = {"n_dense": 600, "n_sparse": 1000, "repeats": 1}

R = 10
TOLS = {"dense": 1e-3, "sparse": 1e-4}
FEW, MANY = 2, 6


def run(*, n_dense: int, n_sparse: int, repeats: int) -> Iterator[Row]:
    """Two and six views in turn, `repeats` times, the best of each."""
    for kind, fit, n in (("dense", dense_fit, n_dense), ("sparse", sparse_fit, n_sparse)):
        best: dict[int, dict[str, Any]] = {}
        for n_views in [FEW, MANY] * repeats:
            order = {"n_samples": n, "n_views": n_views, "r": R, "tol": TOLS[kind]}
            found = apart(fit, order)
            found["seconds"] = found["solve"]
            kept = best.setdefault(n_views, found)
            if found["seconds"] < kept["seconds"]:
                best[n_views] = found
        few, many = (
            f"{kind} solve, {n_views} views, M = {n:,}, r = {R}, residual ≤ {TOLS[kind]:g} λ, "
            f"{best[n_views]['solver']}, {best[n_views]['n_products']:,} columns"
            for n_views in (FEW, MANY)
        )
        found = best[FEW]
        yield Row(few, found["seconds"], peak=found["peak"], at_import=found["at_import"])
        yield ratio(many, best[MANY], found["seconds"], "two views", at_most=3.5)
