"""Samples that no other one is joined to, against all pairs."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose

from viewhop.experiments._reach import find_isolated
from viewhop.views import Views


def test_isolated_samples_are_those_without_a_large_kernel_value():
    rng = np.random.default_rng(0)
    views = {"x": rng.standard_normal((80, 2)), "y": rng.standard_normal((80, 3))}
    scales = {"x": 0.3, "y": 0.7}
    squares = {name: ((X[:, None] - X[None]) ** 2).sum(axis=2) for name, X in views.items()}
    K = {name: np.exp(-each / (2 * scales[name] ** 2)) for name, each in squares.items()}
    concat = np.exp(-(squares["x"] + squares["y"]) / (2 * (0.3**2 + 0.7**2)))
    kernels = [K["x"], K["y"], np.maximum(K["x"], K["y"]), K["x"] * K["y"], concat]
    for each in kernels:
        np.fill_diagonal(each, 0)
    expected = [(each.max(axis=1) < np.exp(-0.5)).mean() for each in kernels]
    assert 0 < min(expected) < max(expected) <= 1
    assert_allclose(find_isolated(Views(views), scales), expected, rtol=1e-12)
