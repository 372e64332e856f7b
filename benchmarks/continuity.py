"""How far coordinates move when samples move a little: in the fit's own samples, by transform."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import viewhop as vh
from benchmarks.row import Row

TITLE = "Continuity: the largest change of a coordinate when training samples are moved"
FULL: dict[str, Any] = {"n_samples": 1000}
SMALL: dict[str, Any] = {"n_samples": 120}

#: Moves, as shares of each sample's local scale.
MOVES = (1e-15, 1e-7, 1e-3)
#: Upper bounds for the default, in spreads of a coordinate. At the last, coordinates may move.
BOUNDS: dict[float, float | None] = {1e-15: 1e-10, 1e-7: 1e-4, 1e-3: None}
CASES: dict[str, dict[str, Any]] = {
    "default, taper 0.2": {},
    "default without a taper": {
        "kernel": vh.kernels.Gaussian(
            "local", n_neighbors=10, metric="auto", alpha=1.0, scale_neighbors=10
        )
    },
    "10 neighbours, η = 0, no taper": {
        "kernel": vh.kernels.Gaussian("local", n_neighbors=10),
        "within_view_weight": 0.0,
    },
}


def run(*, n_samples: int) -> Iterator[Row]:
    """The largest change for each kernel and move, and for rows in single precision."""
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((n_samples, 3)), rng.standard_normal((n_samples, 2))
    for case, parameters in CASES.items():
        est = vh.MultiViewDiffusionMaps(2, random_state=0, **parameters).fit([A, B])
        is_default = not parameters
        spread = est.embedding_.std(axis=0)

        def change(views: list[Any], est: Any = est, spread: Any = spread) -> float:
            return float((np.abs(est.transform(views) - est.embedding_) / spread).max())

        for move in MOVES:
            moved = []
            for X, scale in zip((A, B), est.bandwidths_.values(), strict=True):
                direction = rng.standard_normal(X.shape)
                direction /= np.linalg.norm(direction, axis=1, keepdims=True)
                moved.append(X + move * np.asarray(scale)[:, None] * direction)
            yield Row(
                f"{case}: moved by {move:g} of the local scale",
                value=change(moved),
                unit="spreads",
                at_most=BOUNDS[move] if is_default else None,
                timed=False,
            )
        yield Row(
            f"{case}: in single precision",
            value=change([A.astype(np.float32), B.astype(np.float32)]),
            unit="spreads",
            at_most=1e-4 if is_default else None,
            timed=False,
        )
