"""A sample far from all others: named, and never divided by."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import viewhop as vh
from viewhop.errors import DisconnectedWarning
from viewhop.kernels import Gaussian, Laplacian

ROW = 17


@pytest.fixture
def views():
    """Two views of a curve, in both of which one sample is where no kernel reaches."""
    rng = np.random.default_rng(0)
    angle = np.sort(rng.uniform(0, 5, 40))
    X, Y = np.c_[np.cos(angle), np.sin(angle)], np.c_[angle, np.sin(angle), np.cos(angle)]
    X[ROW], Y[ROW] = 1e6, -1e6
    return {"near": X, "far": Y}


@pytest.mark.parametrize("kernel", [Gaussian(0.5), Laplacian(0.5)], ids=["gaussian", "laplacian"])
@pytest.mark.parametrize(
    "walk",
    [{}, {"within_view_weight": 0.0}, {"within_view_weight": 0.3}, {"fusion": "sum"}],
    ids=["default", "paper", "staying", "sum"],
)
def test_an_isolated_sample_is_named_with_row_and_view_and_stays_finite(views, walk, kernel):
    est = vh.MultiViewDiffusionMaps(3, kernel=kernel, random_state=0, **walk)
    with np.errstate(divide="raise", invalid="raise"), warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        Z = est.fit_transform(views)
        placed = est.transform(views)
    told = [entry.message for entry in seen]
    assert [type(message) for message in told] == [DisconnectedWarning]
    assert told[0].n_pieces == est.n_pieces_ == 2
    text = str(told[0])
    assert f"row {ROW}" in text
    assert "view 'near'" in text or walk.get("fusion") == "sum"
    assert np.isfinite(Z).all()
    assert np.isfinite(placed).all()
    assert est.eigenvalues_[0] == 1.0
    assert est.eigenvalues_[1] < 1 - 1e-6


def test_a_sample_that_every_other_view_lost_is_refused_by_row_and_view(views):
    # Its only neighbours were seen by no other view: the paper's walk cannot leave it.
    views["far"][ROW] = np.nan
    est = vh.MultiViewDiffusionMaps(2, kernel=Gaussian(0.5), within_view_weight=0.0)
    with pytest.raises(ValueError, match=rf"row {ROW}.*view 'near'|view 'near'.*row {ROW}"):
        est.fit(views)
