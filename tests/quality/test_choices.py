"""The choice of the default: candidates, their records, and the section of the page."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.quality import choices, sets
from benchmarks.quality.cells import Store
from benchmarks.quality.choices import Fit, around, candidate_scores, find_records, grid
from benchmarks.quality.choices_page import write_choices
from numpy.testing import assert_allclose

from tests.quality.toys import make_data

NAMES = ["mfeat", "ORL"]


class Views:
    """An estimator whose coordinates are the views."""

    def fit(self, views):
        self.view_embeddings_ = dict(zip(views.names, views.arrays, strict=True))
        self.embedding_ = np.mean(views.arrays, axis=0)
        return self


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setattr(sets, "load", lambda name, data_home=None, **options: make_data(name))
    monkeypatch.setattr(Fit, "build", lambda fit, r, n_views: Views())
    return Store(tmp_path)


def test_all_combinations_are_candidates_and_the_default_is_one():
    fits = grid()
    assert len(fits) == len(set(fits)) == 8 + 2 * 16
    assert sum(len(fit.outputs) for fit in fits) == 8 + 2 * 32
    fit, output = choices.CHOICE
    assert fit in fits
    assert output in fit.outputs


def test_other_numbers_of_neighbours_stand_around_the_default_only():
    others = around(Fit(scale_neighbors=10))
    assert [(other.n_neighbors, other.scale_neighbors, other.taper) for other in others] == [
        (5, 5, 0.0),
        (20, 10, 0.0),
        (10, 10, 0.1),
        (10, 10, 0.2),
    ]


def test_a_consensus_needs_weights_of_views():
    assert Fit(walk="no staying").outputs == ("concat",)


def test_candidates_are_computed_once(store):
    fits = [Fit(), Fit(walk="no staying")]
    assert choices.run_choices(fits, store, names=NAMES) == 4
    assert choices.run_choices(fits, store, names=NAMES) == 0
    scores, reasons = candidate_scores(find_records(fits, store, NAMES), NAMES)
    assert len(scores) == 3
    assert reasons == {}
    assert_allclose([list(by_set.values()) for by_set in scores.values()], 1.0, rtol=1e-12)


def test_the_page_marks_the_default_and_gives_the_reason_of_a_failure(store, monkeypatch):
    def build(fit, r, n_views):
        if fit.alpha == 0:
            raise TypeError("no such parameter")
        return Views()

    monkeypatch.setattr(Fit, "build", build)
    monkeypatch.setattr("benchmarks.quality.choices_page.CHOICE", (Fit(), "consensus"))
    fits = [Fit(), Fit(alpha=0.0)]
    choices.run_choices(fits, store, names=NAMES)
    records = find_records(fits, store, NAMES)
    text = write_choices(records, NAMES, {"mfeat": 1.0})
    assert f"| **{Fit()}, consensus** (the default) | 1 | 1.000 |" in text
    assert "– failed on mfeat: TypeError: no such parameter: 2 candidates" in text
    assert "The mean of these scores is **1.000**" in text
    assert "is not the library's default" not in text
    assert "other scores on mfeat" in write_choices(records, NAMES, {"mfeat": 0.9, "ORL": 1.0})
    assert write_choices([], NAMES, {}) == ""
