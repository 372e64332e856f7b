"""The benchmarks' own machinery: processes apart, bounds, counts, tables."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest
from benchmarks import __main__ as command
from benchmarks import data, naive, table
from benchmarks.apart import ApartError, apart, first_line, peak
from benchmarks.counting import count_columns
from benchmarks.data import N_CELL_TYPES, cell_views
from benchmarks.profile import SOLVE, profile
from benchmarks.row import Row
from click.testing import CliRunner
from numpy.testing import assert_allclose, assert_array_equal

import viewhop as vh


def allocate(n_bytes):
    block = np.ones(n_bytes, dtype=np.uint8)
    return {"size": block.size}


def fail():
    raise ValueError("what it is\nand more")


def wait():
    time.sleep(60)
    return {}


def test_a_process_apart_has_a_peak_of_its_own():
    large = apart(allocate, {"n_bytes": 300_000_000})
    small = apart(allocate, {"n_bytes": 1})
    assert large["size"] == 300_000_000
    assert large["peak"] > large["at_import"] + 280_000_000
    assert small["peak"] < large["peak"] - 250_000_000
    assert peak() > 0


def test_an_error_apart_comes_back_as_its_first_line():
    with pytest.raises(ApartError, match=r"^ValueError: what it is$"):
        apart(fail, {})


def test_work_that_takes_too_long_is_ended():
    start = time.perf_counter()
    with pytest.raises(ApartError, match="not finished in 1 s"):
        apart(wait, {}, limit=1.0)
    assert time.perf_counter() - start < 20


def test_a_line_of_an_error_names_no_folder_of_the_machine():
    assert first_line("\n cannot read /home/someone/x.npy today\n") == "cannot read … today"
    assert first_line("see https://example.org/a/b") == "see https://example.org/a/b"


@pytest.mark.parametrize(
    ("value", "at_most", "at_least", "met"),
    [
        (2.0, 2.0, None, True),
        (2.1, 2.0, None, False),
        (49.0, None, 50.0, False),
        (1.0, 1.2, 0.8, True),
    ],
)
def test_a_bound_is_met_up_to_its_ends(value, at_most, at_least, met):
    assert Row("w", value=value, at_most=at_most, at_least=at_least).met is met


def test_a_bound_is_missed_where_what_it_presupposes_does_not_hold():
    row = Row("w", value=1.0, at_most=2.0, sound=False)
    assert row.met is False
    assert "**missed**, not converged" in table.markdown({"p": table.Part("T", [row])}, small=False)


def test_no_bound_or_no_value_is_neither_met_nor_missed():
    assert Row("w", value=1.0).met is None
    assert Row("w", at_most=1.0, error="gone").met is None


def test_a_small_run_judges_counts_and_never_times():
    slow = Row("w", value=3.0, at_most=2.0)
    many = Row("w", value=3.0, at_most=2.0, timed=False)
    assert not command._is_bad(slow, small=True)
    assert command._is_bad(many, small=True)
    assert not command._is_bad(many, small=False)


def test_only_an_error_of_ours_fails_the_run():
    assert command._is_bad(Row("w", error="ValueError: x"), small=False)
    assert not command._is_bad(Row("w", error="ValueError: x", ours=False), small=True)


def test_json_gives_back_the_rows():
    rows = [Row("a", 1.5, 2.0, "× b", at_most=3.0, peak=7), Row("c", error="gone", ours=False)]
    results = {"part": table.Part("Title", rows, "2026-01-02")}
    text = table.json_text(results, small=True)
    assert table.read_json(text, small=True) == results
    assert table.read_json(text, small=False) == {}
    assert json.loads(text)["parts"]["part"]["rows"][0]["met"] is None
    full = json.loads(table.json_text(results, small=False))
    assert full["parts"]["part"]["rows"][0]["met"] is True


def test_markdown_shows_bounds_only_where_they_are_judged():
    rows = [Row("a", value=3.0, unit="× b", at_most=2.0)]
    assert "| 3 × b | at most 2 | **missed** |" in table.markdown(
        {"p": table.Part("T", rows)}, small=False
    )
    assert "| 3 × b |  |  |" in table.markdown({"p": table.Part("T", rows)}, small=True)


def test_a_part_that_fails_is_a_row_and_the_run_goes_on(monkeypatch, tmp_path):
    def broken(**sizes):
        yield Row("first", 1.0)
        raise RuntimeError("no more\nof it")

    def whole(**sizes):
        yield Row("second", 2.0)

    monkeypatch.setattr(command, "PARTS", ("joint", "kcca"))
    monkeypatch.setattr(command._module("joint"), "run", broken)
    monkeypatch.setattr(command._module("kcca"), "run", whole)
    done = CliRunner().invoke(command.main, ["--small", "--out", str(tmp_path)])
    assert done.exit_code == 1
    result = json.loads((tmp_path / "benchmarks.json").read_text())["parts"]
    assert [row["work"] for row in result["joint"]["rows"]] == ["first", "joint ended early"]
    assert result["joint"]["rows"][1]["error"] == "no more"
    assert [row["work"] for row in result["kcca"]["rows"]] == ["second"]


def test_a_part_is_recorded_beside_those_that_were_before(monkeypatch, tmp_path):
    def measured(**sizes):
        yield Row("now", 1.0)

    docs = tmp_path / "docs"
    docs.mkdir()
    before = {
        "joint": table.Part("J", [Row("then", 3.0)], "2026-01-02"),
        "kcca": table.Part("K", [Row("then", 4.0)], "2026-01-02"),
    }
    (docs / "benchmarks.json").write_text(table.json_text(before, small=False), encoding="utf-8")
    monkeypatch.setattr(command, "DOCS", docs)
    monkeypatch.setattr(command._module("joint"), "run", measured)
    order = ["--only", "joint", "--out", str(tmp_path / "out"), "--record"]
    assert CliRunner().invoke(command.main, order).exit_code == 0
    text = (docs / "benchmarks.json").read_text(encoding="utf-8")
    after = table.read_json(text, small=False)
    assert after["kcca"] == before["kcca"]
    assert [row.work for row in after["joint"].rows] == ["now"]
    assert after["joint"].recorded > "2026-11"
    assert "Recorded 2026-01-02." in (docs / "benchmarks.md").read_text(encoding="utf-8")


def test_columns_are_counted_by_view_and_stage():
    rng = np.random.default_rng(0)
    views = [rng.standard_normal((30, 3)), rng.standard_normal((30, 2))]
    walk = vh.MultiViewDiffusionMaps(2, kernel="gaussian").fit(views).walk_
    with count_columns(lambda: "now") as columns:
        walk.affinities[0] @ np.ones((30, 4))
        walk.affinities[0] @ np.ones(30)
        walk.affinities[1] @ np.ones((30, 2))
    assert columns == {("now", "view1", 30): 5, ("now", "view2", 30): 2}
    walk.affinities[0] @ np.ones(30)
    assert columns["now", "view1", 30] == 5


def test_copies_of_a_digit_have_noise_of_their_own(monkeypatch):
    monkeypatch.setattr(data, "read_digits", lambda: np.full((3, 4000), 0.5, dtype=np.float32))
    first, second = data.digit_views(6)
    assert first.dtype == second.dtype == np.float32
    assert_allclose(first.var(axis=1), data.NOISE_VARIANCE, rtol=0.1)
    assert_allclose((second == 0).mean(axis=1), data.DROPPED, atol=0.05)
    assert np.abs(first[0] - first[3]).max() > 1


def test_digits_stand_in_where_there_is_no_file(monkeypatch, tmp_path):
    monkeypatch.setenv("VIEWHOP_DATA", str(tmp_path))
    digits = data.read_digits()
    assert digits.shape == (data.N_DIGITS, 784)
    assert digits.min() >= 0
    assert_allclose(digits.max(), 1.0, atol=0.05)
    assert "synthetic" in data.describe_digits()


def nearest_types(view, target):
    """The types whose means over every second cell are nearest to the others, by components."""
    centred = view - view.mean(axis=0)
    X = centred @ np.linalg.svd(centred, full_matrices=False)[2][: N_CELL_TYPES - 1].T
    means = np.stack([X[::2][target[::2] == t].mean(axis=0) for t in range(N_CELL_TYPES)])
    return np.square(X[1::2, None] - means).sum(axis=2).argmin(axis=1), target[1::2]


def test_neither_modality_tells_all_types_of_cells_apart():
    rna, proteins, target = cell_views(600)
    first = target[1::2] < N_CELL_TYPES // 2
    for view, paired in ((rna, first), (proteins, ~first)):
        found, true = nearest_types(view, target)
        assert (found // 2 == true // 2)[paired].mean() > 0.85
        assert 0.3 < (found == true)[paired].mean() < 0.7
        assert (found == true)[~paired].mean() > 0.85


def test_cells_are_the_same_twice_and_finite():
    first, second = cell_views(50), cell_views(50)
    for one, other in zip(first, second, strict=True):
        assert_array_equal(one, other)
    assert [view.shape for view in first] == [(50, 2000), (50, 50), (50,)]
    assert first[0].dtype == first[1].dtype == np.float32
    assert np.isfinite(first[0]).all()
    assert_allclose(first[1].mean(axis=1), 0, atol=1e-5)


def test_the_naive_method_finds_what_the_library_finds():
    fit = naive.ours("digits", 100, 3)
    result = naive.naive("digits", 100, 3, fit["scales"], "evd")
    assert_allclose(result["eigenvalues"], fit["eigenvalues"], atol=1e-10)


def test_every_part_has_sizes_for_both_runs():
    for name in command.PARTS:
        part = command._module(name)
        assert part.TITLE
        assert part.FULL.keys() == part.SMALL.keys(), name


def test_a_profile_times_what_is_called_and_nothing_after_it():
    with profile({"sum": (("benchmarks.table", "read_json"),), "none": ()}) as seconds:
        with pytest.raises(ValueError, match="Expecting value"):
            table.read_json("", small=True)
        inside = table.read_json
    assert seconds["sum"] > 0
    assert seconds["none"] == 0
    assert table.read_json is not inside


def test_the_parts_of_a_solve_exist():
    with profile(SOLVE) as seconds:
        vh.MultiViewDiffusionMaps(
            2, kernel=vh.kernels.Gaussian(n_neighbors=5), within_view_weight=0.0
        ).fit(data.cube_views(60))
    assert seconds["products with the kernels"] > 0
    assert seconds["connected pieces"] > 0
