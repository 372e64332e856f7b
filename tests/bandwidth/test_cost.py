"""The cost of Algorithm 1 by counting: M² L n₀ kernel values, not M L n₀ (docs/errata.md, 16)."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from viewhop.bandwidth import _degree_tables as degree_tables
from viewhop.bandwidth import _one_view as one_view
from viewhop.bandwidth import joint


@pytest.fixture
def count_values(monkeypatch):
    """A function that counts the kernel values of one call of Algorithm 1."""
    counted = [0]
    plain = {name: getattr(degree_tables, name) for name in ("_exponentials", "_powers")}

    def counting(name):
        def evaluate(squares, grid):
            counted[0] += squares.size * grid.size
            return plain[name](squares, grid)

        return evaluate

    for name in plain:
        monkeypatch.setattr(degree_tables, name, counting(name))
    # Small tiles, so that their number is nearly half of all.
    monkeypatch.setattr(degree_tables, "TILE", 16)

    def count(n_samples, n_views, n_scales):
        counted[0] = 0
        rng = np.random.default_rng(0)
        # In many dimensions the nearest sample is about as far whatever their number, so the grid
        # stays the same.
        joint([rng.standard_normal((n_samples, 20)) for _ in range(n_views)], n_scales)
        return counted[0]

    return count


def growth(few, many):
    """Exponent p of the cost if the size doubles: the cost grows by 2^p."""
    return np.log2(many / few)


def test_the_cost_grows_with_the_square_of_the_samples(count_values):
    found = growth(count_values(256, 2, 20), count_values(512, 2, 20))
    # As printed, p would be 1.
    assert abs(found - 2) < 0.1


def test_the_cost_is_linear_in_views_and_in_scales(count_values):
    assert_allclose(growth(count_values(256, 2, 20), count_values(256, 4, 20)), 1, atol=0.1)
    assert_allclose(growth(count_values(256, 2, 20), count_values(256, 2, 40)), 1, atol=0.1)


def test_a_sample_of_rows_bounds_the_cost_whatever_the_number_of_samples(count_values, monkeypatch):
    monkeypatch.setattr(one_view, "ALL_ROWS", 256)
    most = 2 * 20 * (256**2 + 1024)
    costs = [count_values(n, 2, 20) for n in (512, 1024)]
    assert max(costs) <= most
    assert growth(*costs) < 0.2


@pytest.mark.parametrize("n", [256, 400, 1000])
def test_the_rows_of_a_sample_and_all_columns_fit_into_the_same_memory(n, monkeypatch):
    monkeypatch.setattr(one_view, "ALL_ROWS", 256)
    rows = one_view.choose_rows(n, np.random.default_rng(0))
    assert rows.size * n <= 256**2 + n
    assert (rows.size == n) == (n <= 256)
