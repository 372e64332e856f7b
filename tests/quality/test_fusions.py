"""The comparison of the fusions: what counts as won, and a small run of every row."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks import fusions
from benchmarks.fusions import METHODS, TABLES, TWO, first_two, method_for, run_fusions
from benchmarks.fusions_page import compare, mean_score, write_page
from benchmarks.quality.cells import Cell, Record, Store
from benchmarks.quality.methods import Order
from benchmarks.quality.sets import COUNTED, load
from numpy.testing import assert_allclose

import viewhop as vh
from viewhop._registry import FUSIONS


def record(name, row, score=None, error=None):
    scores = {} if score is None else {"ami": score}
    return Record(Cell(name, row, "clusters"), {}, scores, error)


def table(**by_row):
    """Scores of rows on the sets a, b, …; a text is an error."""
    return {
        (name, row): record(name, row, **({"error": v} if isinstance(v, str) else {"score": v}))
        for row, values in by_row.items()
        for name, v in zip("abc", values, strict=True)
    }


NAMES, STEP = ("mfeat", "circles", "helix A"), 32
NOT_FOR_THREE = 'ValueError: fusion="composite" is for two views, got 3'


def test_every_fusion_is_a_row_and_every_counted_set_is_in_both_tables():
    assert {*FUSIONS} <= {*METHODS}
    assert TABLES["all views"] == TABLES[TWO] == COUNTED


def test_an_error_counts_as_zero_and_what_is_not_for_a_set_has_no_mean():
    mine = [0.6, "ValueError: no", 0.7]
    scores = table(hop=[0.5, 0.6, 0.7], sum=mine, composite=[1, 1, NOT_FOR_THREE])
    assert_allclose(mean_score("sum", scores), 1.3 / 3)
    assert mean_score("composite", scores) is None


def test_small_differences_are_neither_won_nor_lost():
    scores = table(hop=[0.5, 0.6, 0.7], sum=[0.52, 0.605, 0.6], composite=[1, 0, NOT_FOR_THREE])
    won, lost = compare("sum", scores)
    assert ({*won}, {*lost}) == ({"a"}, {"c"})
    assert_allclose([won["a"], lost["c"]], [0.02, 0.1])
    won, lost = compare("composite", scores)
    assert ({*won}, {*lost}) == ({"a"}, {"b"})


def test_the_leading_eigenvector_of_the_composite_operator_is_not_scored():
    views = vh.datasets.make_circles(120, random_state=0).views
    (Z,) = method_for("composite", METHODS["composite"]).run(Order(views, 2, 2, 0)).embeddings
    known = vh.MultiViewDiffusionMaps(3, fusion="composite", random_state=0).fit(views)
    assert_allclose(Z, known.embedding_[:, 1:])
    (Z,) = method_for("sum", METHODS["sum"]).run(Order(views, 2, 2, 0)).embeddings
    assert Z.shape == (120, 2)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    store = Store(tmp_path_factory.mktemp("cells"))
    return store, [*run_fusions(store, names=NAMES, fewest=STEP)]


def test_a_small_run_scores_every_row_and_writes_the_page(small):
    _, found = small
    tables = {}
    for name, data, row, kept in found:
        tables.setdefault(name, {})[data, row] = kept
        if row == "composite" and name == "all views":
            assert "is for two views, got 6" in kept.error
        elif "integrated" not in row:  # few eigenvalues are left after many steps
            assert kept.error is None
        for score in kept.scores.values():
            assert -1 <= score <= 1
    assert [*tables] == [*TABLES]
    page = write_page(tables)
    for row in METHODS:
        assert page.count(f"\n| {row if ',' in row else f'`{row}`'} |") == 3
    assert "- composite is for two views: not run on mfeat." in page
    assert "- sum, on 1 set: " in page


def test_records_are_taken_up_again(small, monkeypatch):
    store, found = small
    monkeypatch.setattr(fusions, "run_cell", None)
    again = [*run_fusions(store, names=NAMES, fewest=STEP)]
    assert [kept.scores for *_, kept in again] == [kept.scores for *_, kept in found]


def test_two_views_are_the_first_two():
    data = load("mfeat", small=True)
    cut = first_two(data)
    assert cut.views.names == data.views.names[:2]
    np.testing.assert_array_equal(cut.target, data.target)
