"""Fig. 3: both asymptotes, the chosen scales and their slopes."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist

from tests.experiments.runs import check_pictures, quick, table
from viewhop.datasets import make_swiss_rolls
from viewhop.experiments._bandwidth_surface import lower_end


def test_the_surface_is_the_sum_of_the_kernel_product():
    numbers = quick("bandwidth-surface").numbers
    rolls = make_swiss_rolls(300, noise=0.1, random_state=0).views
    for k, m in ((5, 40), (30, 30), (59, 2)):
        scales = numbers["scales"][k], numbers["other_scales"][m]
        K, L = (
            np.exp(-cdist(rows, rows, "sqeuclidean") / (2 * sigma**2))
            for (_, rows), sigma in zip(rolls.items(), scales, strict=True)
        )
        assert_allclose(numbers["values"][k][m], np.log((K @ L).sum()), rtol=1e-10)


def test_the_ends_reach_the_asymptotes():
    for row in table(quick("bandwidth-surface"), "Both"):
        assert_allclose(row["log M"], np.log(row["M"]), rtol=1e-15)
        # Two equal samples of the corkscrew add 2/M to S.
        assert abs(row["smallest log S"] - row["log M"]) < 0.01
        assert abs(row["largest log S"] - row["3 log M"]) < 0.01
        assert abs(row["end of the slice"] - row["2 log M"]) < 0.01


def test_the_slope_on_the_rolls_is_their_dimension():
    [row] = [r for r in table(quick("bandwidth-surface"), "Scales") if r["data"] == "Swiss rolls"]
    assert abs(row["slope at Algorithm 1"] - row["dimension"]) < 0.2


def test_algorithm_1_never_goes_below_the_slice_of_one_view():
    for row in table(quick("bandwidth-surface"), "Scales"):
        assert row["Algorithm 1"] >= row["slice alone"] * (1 - 1e-12)
        assert row["slope at Algorithm 1"] <= row["steepest slope"]


def test_the_lower_end_of_a_ramp_is_where_it_reaches_its_level():
    logs = np.linspace(0, 4, 5)
    assert_allclose(lower_end(logs, np.array([0, 0.5, 1.0, 1.0, 0.2])), 1.9, rtol=1e-12)
    assert lower_end(logs, np.array([1.0, 1.0, 1.0, 0.5, 0.2])) == 0


def test_pictures_have_labels():
    check_pictures("bandwidth-surface", quick("bandwidth-surface"))
