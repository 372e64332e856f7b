"""A program that uses viewhop, for a type checker that sees the package from outside."""

from __future__ import annotations

from typing import assert_type

import numpy as np
from numpy.typing import NDArray

import viewhop as vh
from viewhop.advice import Explanation, Stability
from viewhop.geometry import Geometry


def fit(arrays: dict[str, NDArray[np.float64]]) -> vh.MultiViewDiffusionMaps:
    kernel = vh.kernels.Gaussian("local", n_neighbors=5)
    est = vh.MultiViewDiffusionMaps(2, kernel=kernel, random_state=0)
    assert_type(est.fit(vh.Views(arrays)), vh.MultiViewDiffusionMaps)
    return est


def read(est: vh.MultiViewDiffusionMaps, arrays: dict[str, NDArray[np.float64]]) -> float:
    geometry: Geometry = est.geometry_
    assert_type(geometry.n_samples, int)
    assert_type(vh.Views(arrays).names, tuple[str, ...])
    assert_type(vh.bandwidth.max_min(arrays["x"]), float)
    assert_type(vh.explain(est, arrays), Explanation)
    found: Stability = vh.stability(est, arrays, n_repeats=2)
    words: str = found.verdict
    return float(np.asarray(est.embedding_).mean()) + len(words)


def refuse() -> None:
    vh.Views(3)  # type: ignore[arg-type]
    vh.kernels.Gaussian(factor="wide")  # type: ignore[arg-type]


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    both = {name: rng.standard_normal((60, 3)) for name in "xy"}
    print(read(fit(both), both))
