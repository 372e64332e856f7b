"""The command of the benchmark of quality, and the process of the peers."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest
from benchmarks.quality.__main__ import main
from benchmarks.quality.cells import Cell, Record
from benchmarks.quality.methods import BASELINES, DEFAULT, OURS
from benchmarks.quality.peer_list import list_peers
from benchmarks.quality.peer_process import PeerError, PeerProcess
from benchmarks.quality.perturbations import PERTURBATIONS
from benchmarks.quality.picture import draw_picture
from benchmarks.quality.run import Results, SetSize
from benchmarks.quality.sets import COUNTED
from benchmarks.quality.summary import Summary
from click.testing import CliRunner

QUICK = ["--quick", "--only", "mixtures", "--only-method", DEFAULT, "--only-method",
         "PCA of all features"]  # fmt: skip


def test_a_run_writes_page_and_json_and_a_second_one_computes_nothing(tmp_path):
    first = CliRunner().invoke(main, [*QUICK, "--out", str(tmp_path)], catch_exceptions=False)
    assert first.exit_code == 0
    assert "2 cells computed, 2 in all" in first.output
    page = (tmp_path / "quality.md").read_text(encoding="utf-8")
    assert "| mixtures | 600 | 2 | 6 |" in page
    content = json.loads((tmp_path / "quality.json").read_text(encoding="utf-8"))
    assert [cell["set"] for cell in content["cells"]] == ["mixtures", "mixtures"]
    second = CliRunner().invoke(main, [*QUICK, "--out", str(tmp_path)])
    assert "0 cells computed, 2 in all" in second.output
    assert (tmp_path / "quality.md").read_text(encoding="utf-8") == page


def test_an_unknown_set_is_refused_with_the_known_ones(tmp_path):
    done = CliRunner().invoke(main, ["--quick", "--only", "orl", "--out", str(tmp_path)])
    assert done.exit_code == 2
    assert "unknown: 'orl'; choose from mfeat" in done.output


def test_a_quick_run_does_not_write_the_docs(tmp_path):
    done = CliRunner().invoke(main, ["--quick", "--write-docs", "--out", str(tmp_path)])
    assert done.exit_code == 2


def test_every_method_has_parameters_that_json_can_hold():
    for method in (*OURS, *BASELINES, *list_peers(PeerProcess("none"))):
        for task in method.tasks:
            assert json.loads(json.dumps(method.parameters_for(task)))


def test_parameters_of_ours_contain_the_defaults_of_estimator_and_kernel():
    parameters = OURS[0].parameters
    assert {"class", "viewhop", "fusion", "hops", "output", "kernel"} <= parameters.keys()
    assert {"bandwidth", "n_neighbors", "metric", "alpha"} <= parameters["kernel"].keys()


def test_an_error_of_a_peer_comes_back_and_the_process_goes_on():
    process = PeerProcess(sys.executable)
    try:
        for _ in range(2):
            with pytest.raises(PeerError, match="KeyError: 'nobody'"):
                process.call("nobody", [np.eye(2)], seeds=[0], options={})
        assert "numpy" in process.versions
    finally:
        process.close()


def test_an_interpreter_that_is_not_there_is_an_error_in_words():
    with pytest.raises(PeerError, match="does not start"):
        PeerProcess("/nowhere/python").start()


def test_peers_that_cannot_be_run_are_left_out_with_the_reason(tmp_path):
    order = ["--only", "mixtures", "--peer-python", "/nowhere/python", "--out", str(tmp_path)]
    done = CliRunner().invoke(main, [*order, "--only-method", "MCCA"])
    assert done.exit_code == 0
    assert "the peers are left out: the interpreter of the peers does not start" in done.output


def make_results(methods):
    """Random scores of all methods on the fourteen sets."""
    rng = np.random.default_rng(0)
    results = Results(sizes={name: SetSize(100, 2, 3) for name in COUNTED})
    for method in methods:
        for name in COUNTED:
            scores = dict.fromkeys(("ami", "ari", "accuracy", "best ami"), rng.uniform(0, 1))
            for perturbation in ("clean", *PERTURBATIONS):
                cell = Cell(name, method.name, "clusters", perturbation)
                results.records.append(Record(cell, {}, scores))
    return results


def test_the_picture_shows_ranks_and_sets(tmp_path):
    methods = [m for m in (*OURS, *BASELINES, *list_peers(PeerProcess("none")))
               if "clusters" in m.tasks]  # fmt: skip
    summary = Summary(make_results(methods), methods)
    assert draw_picture(summary, tmp_path / "quality.png")
    assert (tmp_path / "quality.png").stat().st_size > 20_000
    assert not draw_picture(Summary(make_results(methods[:1]), methods[:1]), tmp_path / "no.png")
