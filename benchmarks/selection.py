"""The cost of choosing metrics and weights, as a share of the whole fit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import viewhop as vh
from benchmarks.apart import apart
from benchmarks.data import cube_views
from benchmarks.row import Row

TITLE = "Selection: metrics and weights of two views of a cube, by agreement"
FULL: dict[str, Any] = {"n_samples": 100_000}
SMALL: dict[str, Any] = {"n_samples": 2000}

R = 10
TOL = 1e-4


def default_fit(*, n_samples: int) -> dict[str, Any]:
    """Seconds of the stages of a fit with the default kernel and walk."""
    est = vh.MultiViewDiffusionMaps(R, tol=TOL, random_state=0).fit(cube_views(n_samples, 2))
    return {"stages": est.timings_, "metrics": [*est.metrics_.values()]}


def run(*, n_samples: int) -> Iterator[Row]:
    """A fit with the defaults: the selection beside all that a fit does without it."""
    result = apart(default_fit, {"n_samples": n_samples})
    stages = result["stages"]
    rest = sum(stages.values()) - stages["selection"]
    yield Row(
        f"default fit, M = {n_samples:,}, joint view, r = {R}, residual ≤ {TOL:g} λ",
        sum(stages.values()),
        peak=result["peak"],
        at_import=result["at_import"],
    )
    yield Row(
        f"selection, which chose {' and '.join(result['metrics'])}",
        stages["selection"],
        stages["selection"] / rest,
        "× the rest of the fit",
        at_most=0.15,
    )
