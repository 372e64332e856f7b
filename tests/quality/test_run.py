"""A run of the benchmark of quality: finished cells stay, failures are kept and shown."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.quality import sets
from benchmarks.quality.cells import Cell, Record, Store
from benchmarks.quality.page import write_page
from benchmarks.quality.plan import Plan, Size
from benchmarks.quality.run import run_plan
from benchmarks.quality.summary import Summary
from benchmarks.quality.tasks import run_cell

from tests.quality.toys import Calls, fail, make_data, make_method
from viewhop.errors import DataMissingError


@pytest.fixture(autouse=True)
def toy_sets(monkeypatch):
    def load(name, data_home=None, *, small=False):
        if name == "ORL":
            raise DataMissingError("no multiview_ORL.npz", "multiview_ORL.npz")
        return make_data(name)

    monkeypatch.setattr(sets, "load", load)


def run(tmp_path, *methods, size=Size.USUAL, names=("mfeat",), **options):
    plan = Plan(methods, size, names)
    return run_plan(plan, Store(tmp_path / "cells"), **options)


def test_a_second_run_computes_nothing_and_finds_the_same(tmp_path):
    calls = Calls()
    first = run(tmp_path, make_method(calls))
    done = calls.count
    second = run(tmp_path, make_method(calls))
    assert done == first.computed == 3  # clean, and two views that are worse
    assert (calls.count, second.computed) == (done, 0)
    assert [r.scores for r in second.records] == [r.scores for r in first.records]


def test_other_parameters_are_other_cells(tmp_path):
    calls = Calls()
    run(tmp_path, make_method(calls))
    assert run(tmp_path, make_method(calls, parameters={"p": 2})).computed == 3
    assert run(tmp_path, make_method(calls)).computed == 0


def test_an_interrupted_run_is_taken_up_where_it_was(tmp_path):
    calls = Calls()

    def interrupted(order):
        if calls.count == 1:
            raise KeyboardInterrupt
        return calls(order)

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, make_method(interrupted))
    assert run(tmp_path, make_method(calls)).computed == 2


def test_failures_are_kept_and_tried_again_only_if_asked(tmp_path):
    results = run(tmp_path, make_method(fail))
    assert {record.error for record in results.records} == {"RuntimeError: no such luck"}
    assert run(tmp_path, make_method(Calls())).computed == 0
    again = run(tmp_path, make_method(Calls()), retry=True)
    assert again.computed == 3
    assert not any(record.error for record in again.records)


def test_cells_of_an_earlier_source_are_computed_again_if_asked(tmp_path, monkeypatch):
    run(tmp_path, make_method(Calls()))
    monkeypatch.setattr("benchmarks.quality.run.source_digest", lambda: "newer")
    assert run(tmp_path, make_method(Calls())).computed == 0
    assert run(tmp_path, make_method(Calls()), fresh=True).computed == 3


def test_the_page_shows_a_failed_cell_and_a_missing_set(tmp_path):
    methods = (make_method(Calls()), make_method(fail, "broken", family="peer"))
    results = run(tmp_path, *methods, names=("mfeat", "ORL"))
    page = write_page(Summary(results, methods), Size.USUAL, {"Python": "3"})
    assert "- mfeat: broken: clusters: seed 0: RuntimeError: no such luck" in page
    assert "| broken | – | – | – |" in page
    assert "– failed: RuntimeError: no such luck: broken (mfeat)." in page
    assert "ORL (multiview_ORL.npz was not found)" in page


def test_a_cell_that_is_left_out_has_a_reason_on_the_page(tmp_path):
    methods = (make_method(Calls()), make_method(Calls(), "small", most=5, family="peer"))
    results = run(tmp_path, *methods)
    page = write_page(Summary(results, methods), Size.USUAL, {})
    assert "– run up to 5 samples only: small (mfeat)." in page


def test_a_full_run_has_three_seeds_where_one_matters():
    method = make_method(Calls(), is_seeded=False, takes_missing=True)
    cells = [cell for cell, _, _ in Plan((method,), Size.FULL, ()).cells(make_data())]
    seeds = {}
    for cell in cells:
        seeds.setdefault(cell.perturbation, []).append(cell.seed)
    assert seeds.pop("clean") == [0]
    assert len(seeds) == 4
    assert all(drawn == [0, 1, 2] for drawn in seeds.values())


def test_a_record_comes_back_from_its_file_as_it_was(tmp_path):
    record = Record(Cell("a", "b (r)", "clusters", seed=2), {"k": [1]}, {"ami": 0.5}, None, ["W"])
    store = Store(tmp_path)
    store.put(record)
    assert store.get(record.cell, {"k": [1]}) == record
    assert store.get(record.cell, {"k": [2]}) is None


def test_neighbours_are_those_of_a_held_out_half():
    method = make_method(Calls(), tasks=("neighbours",))
    record = run_cell(Cell("mfeat", method.name, "neighbours"), method, make_data())
    assert record.scores == {"1-NN": 1.0, "5-NN": 1.0}


def test_classes_that_are_apart_are_found():
    method = make_method(Calls())
    scores = run_cell(Cell("mfeat", method.name, "clusters"), method, make_data()).scores
    np.testing.assert_allclose(list(scores.values()), 1.0, rtol=1e-12)
