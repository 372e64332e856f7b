"""The statements of the paper on random views."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.experiments.runs import check_pictures, quick, table
from viewhop.experiments import _statements
from viewhop.experiments._findings import CONDITIONAL, FAILS, HOLDS
from viewhop.experiments._statement_checks import check_statements

VERDICTS = {finding.claim: finding.verdict for finding in quick("statements").findings}


@pytest.fixture(scope="module")
def numbers():
    draws = [check_statements(60, np.random.default_rng(seed)) for seed in range(3)]
    return {name: np.array([draw[name] for draw in draws]) for name in draws[0]}


HELD = (
    "stochastic distance-spectrum multi-view-distance scaling rotation eigenvalue-bound "
    "tail-products decay-product within-view"
)


@pytest.mark.parametrize("claim", HELD.split())
def test_statement_holds_as_printed(claim):
    assert VERDICTS[claim] == HOLDS


@pytest.mark.parametrize(
    "claim",
    ["embedding-distance", "magnitude-order", "objective", "svd", "truncation", "extension"],
)
def test_statement_needs_its_condition(claim):
    assert VERDICTS[claim] == CONDITIONAL


def test_embedding_distance_of_two_views_is_short_by_the_root_of_two(numbers):
    assert_allclose(numbers["two views: least ratio"], np.sqrt(2), rtol=1e-9)
    assert_allclose(numbers["two views: largest ratio"], np.sqrt(2), rtol=1e-9)
    assert (numbers["three views: least ratio"] >= 1 - 1e-9).all()


def test_second_eigenvalue_by_magnitude_is_minus_one(numbers):
    assert_allclose(numbers["second by magnitude"], -1, rtol=1e-12)


def test_spectrum_approaches_its_limits_in_proportion_to_eta(numbers):
    for side in ("η", "1 − η"):
        quotients = numbers[f"{side} = 0.001"] / numbers[f"{side} = 0.01"]
        assert_allclose(quotients, 0.1, rtol=0.1)


def test_product_leaves_more_samples_alone_than_the_hop_kernel(numbers):
    assert (numbers["alone in the hop kernel"] == 0).all()
    assert (numbers["alone in the product"] > 0).any()


def test_broken_statement_fails(numbers):
    [theorem] = [each for each in _statements._STATEMENTS if each.claim == "distance-spectrum"]
    broken = {**numbers, "Theorem 1": numbers["Theorem 1"] + 1e-3}
    assert _statements._find(theorem, numbers).verdict == HOLDS
    assert _statements._find(theorem, broken).verdict == FAILS
    [lemma] = [each for each in _statements._STATEMENTS if each.claim == "truncation"]
    assert (
        _statements._find(lemma, {**numbers, "Lemma 3 by magnitude": np.zeros(3)}).verdict == FAILS
    )


def test_table_has_a_row_per_statement():
    rows = table(quick("statements"), "Each statement")
    assert len(rows) == len(_statements._STATEMENTS)
    assert all(row["as printed"] is not None for row in rows)


def test_pictures_are_labelled():
    check_pictures("statements", quick("statements"))


def test_no_sample_is_alone_at_the_scale_that_connects_it():
    """The sample that decides on C is at the edge, where the last bit of a distance would count."""
    for seed in range(20):
        draw = check_statements(30, np.random.default_rng(seed))
        assert draw["alone in the hop kernel"] == 0
