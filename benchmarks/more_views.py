"""Growth of the time of the solve with the number of views, dense and sparse, for each walk."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from benchmarks.apart import apart
from benchmarks.fits import WALKS, dense_fit, sparse_fit
from benchmarks.row import Row, ratio

TITLE = "More views: the solve of two and of six views of a cube"
FULL: dict[str, Any] = {"n_dense": 10_000, "n_sparse": 50_000, "repeats": 2}
SMALL: dict[str, Any] = {"n_dense": 600, "n_sparse": 1000, "repeats": 1}

R = 10
TOLS = {"dense": 1e-3, "sparse": 1e-4}
FEW, MANY = 2, 6


def run(*, n_dense: int, n_sparse: int, repeats: int) -> Iterator[Row]:
    """Two and six views in turn, `repeats` times, the best of each.

    The bound is for the default walk, which is solved between samples whatever the number of
    views. The walk with η = 0 is solved on half of its nodes for two views, with squared
    eigenvalues, and on all of them for six.
    """
    for kind, fit, n in (("dense", dense_fit, n_dense), ("sparse", sparse_fit, n_sparse)):
        best: dict[tuple[str, int], dict[str, Any]] = {}
        for case in [*product(WALKS, (FEW, MANY))] * repeats:
            walk, n_views = case
            order = {"n_samples": n, "n_views": n_views, "r": R, "tol": TOLS[kind], "walk": walk}
            result = apart(fit, order)
            result["seconds"] = result["solve"]
            if case not in best or result["seconds"] < best[case]["seconds"]:
                best[case] = result
        for walk in WALKS:
            few, many = (
                f"{kind} solve, {walk}, {n_views} views, M = {n:,}, r = {R}, residual ≤ "
                f"{TOLS[kind]:g} λ, {best[walk, n_views]['solver']}, "
                f"{best[walk, n_views]['n_products']:,} columns"
                for n_views in (FEW, MANY)
            )
            result = best[walk, FEW]
            yield Row(few, result["seconds"], peak=result["peak"], at_import=result["at_import"])
            bound = {"at_most": 3.3} if walk == "default walk" else {}
            yield ratio(many, best[walk, MANY], result["seconds"], "two views", **bound)
