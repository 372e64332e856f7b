"""Growth of the time of the solve with the number of views, dense and sparse."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.apart import apart
from benchmarks.fits import WHOLE, dense_fit, sparse_fit
from benchmarks.row import Row, ratio

TITLE = "More views: the solve of two and of six views of a cube"
FULL: dict[str, Any] = {"n_dense": 10_000, "n_sparse": 50_000, "repeats": 2}
SMALL: dict[str, Any] = {"n_dense": 600, "n_sparse": 1000, "repeats": 1}

R = 10
TOLS = {"dense": 1e-3, "sparse": 1e-4}
FEW, WHOLE_FEW, MANY = "2 views", "2 views, not by halves", "6 views"
CASES: dict[str, dict[str, Any]] = {
    FEW: {"n_views": 2},
    WHOLE_FEW: {"n_views": 2, "hops": WHOLE},
    MANY: {"n_views": 6},
}


def run(*, n_dense: int, n_sparse: int, repeats: int) -> Iterator[Row]:
    """Two and six views in turn, `repeats` times, the best of each.

    The walk of two views is solved on half of its nodes, with squared eigenvalues, which takes
    fewer columns; what is left of the growth without that is shown beside it.
    """
    for kind, fit, n in (("dense", dense_fit, n_dense), ("sparse", sparse_fit, n_sparse)):
        best: dict[str, dict[str, Any]] = {}
        for case in [*CASES] * repeats:
            result = apart(fit, {"n_samples": n, "r": R, "tol": TOLS[kind], **CASES[case]})
            result["seconds"] = result["solve"]
            kept = best.setdefault(case, result)
            if result["seconds"] < kept["seconds"]:
                best[case] = result
        few, whole, many = (
            f"{kind} solve, {case}, M = {n:,}, r = {R}, residual ≤ {TOLS[kind]:g} λ, "
            f"{best[case]['solver']}, {best[case]['n_products']:,} columns"
            for case in CASES
        )
        result = best[FEW]
        yield Row(few, result["seconds"], peak=result["peak"], at_import=result["at_import"])
        yield ratio(many, best[MANY], result["seconds"], "two views", at_most=3.5)
        result = best[WHOLE_FEW]
        yield Row(whole, result["seconds"], peak=result["peak"], at_import=result["at_import"])
        yield ratio(
            "the six views again", best[MANY], result["seconds"], "two views, not by halves"
        )
