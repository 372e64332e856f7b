"""Columns that each dense kernel is multiplied by until the solver has converged.

They are counted where an affinity multiplies. A coarse start solves a smaller problem: a column of
n samples counts as (n/M)² of one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from benchmarks.apart import apart
from benchmarks.counting import count_columns
from benchmarks.data import describe_digits, digit_views
from benchmarks.fits import dense_estimator, measure_fit
from benchmarks.row import Row

TITLE = "Columns multiplied: the dense solver on the digits"
FULL: dict[str, Any] = {"n_samples": None, "most": 25.0}
#: A small problem gains less from a smaller one: its bound only notices when columns are wasted.
SMALL: dict[str, Any] = {"n_samples": 2000, "most": 35.0}

R = 20
TOL = 1e-3


def fit(n_samples: int | None) -> dict[str, Any]:
    """The fit with its columns: by each kernel until converged, coarse ones of them, and after."""
    views = digit_views(n_samples)
    n = len(views[0])
    est = dense_estimator(R, TOL)
    with count_columns(
        lambda: "after" if "solve" in getattr(est, "timings_", {}) else "solve"
    ) as columns:
        result = measure_fit(est, views)
    weights: dict[str, Counter[str]] = {"whole": Counter(), "coarse": Counter(), "after": Counter()}
    for (stage, view, size), count in columns.items():
        kind = "after" if stage == "after" else "whole" if size == n else "coarse"
        weights[kind][view] += count * (size / n) ** 2
    most = {kind: max(by_view.values(), default=0.0) for kind, by_view in weights.items()}
    if most["whole"] < result["n_products"]:
        raise RuntimeError("products went past __matmul__ of the affinities, uncounted")
    return result | most | {"n": n}


def run(*, n_samples: int | None, most: float) -> Iterator[Row]:
    """Columns of one fit.

    Parameters
    ----------
    n_samples : int or None
        None is all digits once.
    most : float
        Columns that each kernel may be multiplied by, in multiples of r.
    """
    result = apart(fit, {"n_samples": n_samples})
    yield Row(
        f"columns by each kernel until converged, M = {result['n']:,}, r = {R}, residual ≤ "
        f"{TOL:g} λ ({describe_digits()})",
        result["seconds"],
        (result["whole"] + result["coarse"]) / R,
        f"× r ({result['whole'] + result['coarse']:,.0f} columns)",
        at_most=most,
        sound=result["residual"] <= TOL,
        timed=False,
        peak=result["peak"],
        at_import=result["at_import"],
    )
    yield _count("of these, of the coarse start, at its own size", result["coarse"])
    yield _count("columns of the walk, two products with each kernel", result["n_products"])
    yield _count("columns after convergence, for the coordinates", result["after"])
    work = f"largest residual over its eigenvalue (λ down to {result['least']:.1e})"
    yield Row(work, value=result["residual"], at_most=TOL, timed=False)


def _count(work: str, columns: float) -> Row:
    return Row(work, value=columns, unit="columns", timed=False)
