"""The benchmark of peers: adapters, environments, scores and rows, without any environment."""

from __future__ import annotations

import os
import re
import sys
from importlib import metadata

import numpy as np
import pytest
from benchmarks import foreign, peers
from benchmarks.__main__ import main
from benchmarks.apart import ApartError
from benchmarks.peers import all_pairs, cells, digits, environments, lines, neighbours, scores
from benchmarks.peers.environments import ENVIRONMENTS
from benchmarks.peers.lines import NAIVE, Peers
from benchmarks.row import Row
from click.testing import CliRunner
from numpy.testing import assert_allclose

from tests.test_environments import recipe


@pytest.fixture
def at_once(monkeypatch):
    """Work is done in this process, and once."""

    def call(function, arguments, **options):
        return {"at_import": 0} | function(**arguments)

    for module in (all_pairs, cells, digits, lines, neighbours, scores):
        monkeypatch.setattr(module, "apart", call)
    monkeypatch.setattr(foreign, "TIMES", 1)


@pytest.fixture
def commands(monkeypatch, tmp_path):
    """The commands that would make an environment; none is run."""
    called = []

    def call(command, limit):
        called.append(command)
        if "venv" in command:
            os.makedirs(command[-1])
        return "1.2.3\n"

    monkeypatch.setattr(environments, "_call", call)
    monkeypatch.setenv("VIEWHOP_BENCH_PEERS", str(tmp_path))
    return called


def fit(seconds=1.0, **more):
    return {"seconds": seconds, "peak": 7, "at_import": 5} | more


def compare(monkeypatch, result, fits, **options):
    def measure(self, peer, function, arguments):
        if isinstance(result, Exception):
            raise result
        return result | {"version": "9.9"}

    monkeypatch.setattr(Peers, "measure", measure)
    some = Peers(("datafold",), True, 1.0)
    order = {"work": "some work", "at_most": 0.5} | options
    return [*some.compare("datafold", foreign.datafold, {}, fits, **order)]


# --- time ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("short", "least", "runs"), [(60.0, 1, 3), (0.0, 1, 1), (0.0, 2, 2), (60.0, 2, 3)]
)
def test_short_work_is_repeated_and_compiled_work_at_least_once_more(
    monkeypatch, short, least, runs
):
    monkeypatch.setattr(foreign, "SHORT", short)
    calls = []
    result, timing = foreign.measure_fastest(lambda: calls.append(1) or "done", least=least)
    assert (result, len(calls)) == ("done", runs)
    assert timing["peak"] > 0


def test_the_fastest_run_counts(monkeypatch):
    clock = iter([0.0, 4.0, 10.0, 11.0, 20.0, 23.0])
    monkeypatch.setattr(foreign, "perf_counter", lambda: next(clock))
    assert foreign.measure_fastest(lambda: None)[1]["seconds"] == 1.0


# --- adapters and the library --------------------------------------------------------------------


def test_all_eigenpairs_of_the_whole_matrix_are_those_of_the_library(tmp_path):
    data = str(tmp_path / "view.npy")
    sigma = all_pairs.write_view(data, 80)["sigma"]
    naive = foreign.naive(data, all_pairs.R, sigma)
    ours = all_pairs.ours(data, sigma)
    assert_allclose(naive["eigenvalues"], ours["eigenvalues"], atol=1e-12)
    assert len(naive["eigenvalues"]) == all_pairs.R


def test_scikit_learn_and_the_library_solve_the_same_graph(tmp_path):
    data, graph = str(tmp_path / "view.npy"), str(tmp_path / "graph.npz")
    sigma = neighbours.write_view(data, 200)["sigma"]
    neighbours.ours(data, sigma, graph)
    theirs = foreign.spectral_embedding(graph, neighbours.R, "arpack")
    ours = neighbours.ours_on_graph(graph, 1e-10)
    assert_allclose(theirs["eigenvalues"], ours["eigenvalues"], atol=1e-9)
    assert theirs["residual"] < 1e-6
    assert ours["residual"] < 1e-9


def test_the_graph_has_the_kernel_of_the_neighbours_and_no_loops(tmp_path):
    from scipy.sparse import load_npz

    data, graph = str(tmp_path / "view.npy"), str(tmp_path / "graph.npz")
    sigma = neighbours.write_view(data, 60)["sigma"]
    neighbours.ours(data, sigma, graph)
    X = np.load(data)
    square = np.square(X[:, None] - X).sum(axis=2)
    near = np.argsort(square, axis=1)[:, 1 : neighbours.NEIGHBOURS + 1]
    K = np.zeros_like(square)
    np.put_along_axis(K, near, np.exp(-np.take_along_axis(square, near, 1) / (2 * sigma**2)), 1)
    assert_allclose(load_npz(graph).toarray(), np.maximum(K, K.T), atol=1e-12)


# --- scores --------------------------------------------------------------------------------------


def test_labels_embeddings_and_graphs_of_the_classes_score_1(tmp_path):
    target = np.repeat([0, 1, 2], 8)
    same = target[:, None] == target
    starts = np.arange(0, 24 * 8 + 1, 8)
    results = (
        {"labels": 2 - target},
        {"embedding": np.eye(3)[target]},
        {"values": np.ones(24 * 8), "columns": np.nonzero(same)[1], "starts": starts},
    )
    np.save(tmp_path / "target.npy", target)
    for result in results:
        np.savez(tmp_path / "out.npz", **result)
        out, true = str(tmp_path / "out.npz"), str(tmp_path / "target.npy")
        assert_allclose(scores.score_file(out, true)["score"], 1.0, atol=1e-12)


def test_labels_that_know_nothing_score_0():
    target = np.repeat([0, 1], 50)
    labels = np.tile([0, 1], 50)
    assert abs(scores.score_result({"labels": labels}, target)) < 0.05


# --- rows ----------------------------------------------------------------------------------------


def test_the_result_is_the_share_of_the_seconds_of_the_peer(monkeypatch):
    theirs, ours = compare(monkeypatch, fit(4.0), {"viewhop": fit(1.0)})
    assert theirs.work == "datafold 9.9, some work"
    assert (theirs.seconds, theirs.peak, theirs.ours, theirs.met) == (4.0, 7, False, None)
    assert (ours.work, ours.value, ours.unit) == ("viewhop", 0.25, "× datafold")
    assert (ours.at_most, ours.met, ours.ours) == (0.5, True, True)


def test_a_share_above_the_bound_misses_it(monkeypatch):
    assert compare(monkeypatch, fit(1.0), {"viewhop": fit(0.6)})[1].met is False


def test_several_fits_have_a_row_each(monkeypatch):
    found = compare(monkeypatch, fit(4.0), {"a": fit(1.0), "b": fit(3.0)}, score=lambda: " (AMI 1)")
    assert [row.work for row in found] == ["datafold 9.9, some work (AMI 1)", "a", "b"]
    assert [row.met for row in found] == [None, True, False]


@pytest.mark.parametrize(
    ("theirs", "text", "met"),
    [
        ([0.9, 0.5], "agree to 1e-08", True),
        ([0.9, 0.4], "agree to 1e-01", False),
        ([0.9], "cannot be compared", False),
        ([0.9, np.nan], "cannot be compared", False),
    ],
)
def test_a_bound_is_missed_where_eigenvalues_differ(monkeypatch, theirs, text, met):
    ours = fit(1.0, eigenvalues=[0.9 + 1e-8, 0.5])
    rows = compare(monkeypatch, fit(4.0, eigenvalues=theirs), {"viewhop": ours})
    assert text in rows[0].work
    assert rows[1].met is met


def test_a_peer_that_fails_is_a_row_and_no_failure_of_ours(monkeypatch):
    (row,) = compare(monkeypatch, ApartError("not finished in 1 s"), {"viewhop": fit()})
    assert (row.work, row.error, row.ours) == ("datafold, some work", "not finished in 1 s", False)


def test_peers_that_are_not_asked_for_have_no_rows(monkeypatch):
    monkeypatch.delattr(Peers, "measure")
    none = Peers((), True, 1.0)
    assert not [*none.compare("datafold", foreign.datafold, {}, {}, work="w", at_most=1.0)]


def test_an_environment_that_is_broken_is_an_error_of_the_peer(commands):
    some = Peers(("datafold",), True, 1.0)
    (row,) = some.compare("datafold", foreign.datafold, {}, {}, work="w", at_most=1.0)
    assert "No such file" in row.error
    assert not row.ours


# --- the whole part ------------------------------------------------------------------------------


def test_every_peer_is_compared_and_none_of_their_errors_ends_the_run(monkeypatch, at_once):
    def measure(self, peer, function, arguments):
        raise ApartError("gone")

    monkeypatch.setattr(Peers, "measure", measure)
    sizes = {"all_pairs": [60, 70], "neighbours": [60], "n_digits": 100, "n_cells": 100}
    rows = [*peers.run(**peers.FULL | sizes)]
    assert {row.work.split(",")[0] for row in rows} == {"viewhop", *ENVIRONMENTS, NAIVE}
    assert all(row.error == ("" if row.ours else "gone") for row in rows)
    assert sum(row.work.startswith(NAIVE) for row in rows) == 1
    assert sum(row.work.startswith("datafold") for row in rows) == 2


def test_an_error_of_the_library_is_a_row_and_the_others_go_on(monkeypatch, at_once):
    def broken(data, sigma):
        raise ApartError("out of memory")

    monkeypatch.setattr(all_pairs, "ours", broken)
    sizes = {"all_pairs": [60], "neighbours": [], "n_digits": 100, "n_cells": 100, "names": []}
    rows = [*peers.run(**peers.SMALL | sizes)]
    assert (rows[0].error, rows[0].ours) == ("out of memory", True)
    assert len(rows) == 4
    assert not any(row.error for row in rows[1:])


def test_the_small_run_needs_no_environment(monkeypatch, at_once):
    monkeypatch.delattr(lines, "find_interpreter")
    sizes = {"all_pairs": [60], "neighbours": [60], "n_digits": 100, "n_cells": 100}
    rows = [*peers.run(**peers.SMALL | sizes)]
    assert not any(row.error for row in rows)
    names = {row.unit.removeprefix("× ") for row in rows if row.unit}
    assert names == {"scikit-learn", NAIVE}


def test_bounds_are_those_that_were_promised(monkeypatch, at_once):
    def measure(self, peer, function, arguments):
        more = {"eigenvalues": [0.0] * 10} if {"sigma", "graph"} & {*arguments} else {}
        return fit(1.0, version="1", residual=1e-9, **more)

    monkeypatch.setattr(Peers, "measure", measure)
    for module in (cells, digits):
        monkeypatch.setattr(module, "describe_score", lambda out, target: "")
    sizes = {"all_pairs": [60], "neighbours": [60], "n_digits": 100, "n_cells": 100}
    bounds = {row.unit: row.at_most for row in peers.run(**peers.FULL | sizes) if row.unit}
    halves = {"× snfpy", "× mvlearn", "× muon"}
    assert bounds == {f"× {p}": 0.5 if f"× {p}" in halves else 1.0 for p in [*ENVIRONMENTS, NAIVE]}
    assert all_pairs.DATAFOLD_BOUNDS == {5000: 0.5, 10_000: 0.5}


# --- environments --------------------------------------------------------------------------------


def test_every_package_has_an_exact_version_and_every_second_one_a_reason():
    for name, environment in ENVIRONMENTS.items():
        listed = environment.alone + environment.packages
        for requirement in listed:
            assert re.fullmatch(r"[\w-]+==[\d.]+", requirement), requirement
        assert bool(environment.reason) == (len(listed) > 1), name


def test_an_environment_is_made_once_and_again_for_other_pins(commands, tmp_path, monkeypatch):
    python, version = environments.find_interpreter("mvlearn")
    assert (python, version) == (str(tmp_path / "mvlearn" / "bin" / "python"), "1.2.3")
    made, alone, others, asked = commands
    assert made[1:3] == ["-m", "venv"]
    assert "--no-deps" in alone
    assert alone[-1] == "mvlearn==0.5.0"
    assert "--no-deps" not in others
    assert others[-1].startswith("joblib==")
    assert "version('mvlearn')" in asked[-1]
    environments.find_interpreter("mvlearn")
    assert len(commands) == 5
    monkeypatch.setitem(ENVIRONMENTS, "mvlearn", environments.Environment(("mvlearn==0.4.1",)))
    environments.find_interpreter("mvlearn")
    assert len(commands) == 8
    assert commands[6][-1] == "mvlearn==0.4.1"


def test_an_installation_that_fails_is_tried_again(commands, monkeypatch):
    def fail(command, limit):
        raise ApartError("no such version")

    with monkeypatch.context() as patch:
        patch.setattr(environments, "_call", fail)
        with pytest.raises(ApartError, match="no such version"):
            environments.find_interpreter("datafold")
    environments.find_interpreter("datafold")
    assert len(commands) == 3


def test_a_command_that_fails_tells_its_first_error():
    script = "import sys; sys.exit('warning\\nERROR: no match\\nmore')"
    with pytest.raises(ApartError, match=r"^ERROR: no match$"):
        environments._call([sys.executable, "-c", script], 60.0)
    assert environments._call([sys.executable, "-c", "print(3)"], 60.0) == "3\n"


def test_the_interpreter_of_the_benchmarks_stands_in_where_it_has_the_package():
    expected = sys.executable, metadata.version("scikit-learn")
    assert environments.find_own_interpreter("scikit-learn") == expected
    assert environments.find_own_interpreter(NAIVE)[1] == np.__version__
    with pytest.raises(ApartError, match="datafold is not installed"):
        environments.find_own_interpreter("datafold")


def test_a_peer_sees_no_packages_of_ours(commands, monkeypatch):
    seen = []

    def note(function, arguments, *, python, **options):
        seen.append((python, os.environ.get("PYTHONPATH")))
        return {}

    monkeypatch.setattr(lines, "apart", note)
    monkeypatch.setenv("PYTHONPATH", "src")
    some = Peers(("datafold",), True, 1.0)
    assert some.measure("datafold", foreign.datafold, {}) == {"version": "1.2.3"}
    some.measure(NAIVE, foreign.naive, {})
    assert seen[0][0].endswith("datafold/bin/python")
    assert [path for _, path in seen] == [None, "src"]
    assert seen[1][0] == sys.executable
    assert os.environ["PYTHONPATH"] == "src"


def test_one_command_runs_the_peers_alone():
    assert "-m benchmarks --only peers" in recipe("bench-peers")


def test_the_folder_of_the_environments_can_be_chosen(monkeypatch, tmp_path):
    seen = []

    def note(**sizes):
        seen.append(os.environ["VIEWHOP_BENCH_PEERS"])
        yield Row("noted")

    monkeypatch.setattr(peers, "run", note)
    monkeypatch.setenv("VIEWHOP_BENCH_PEERS", "elsewhere")
    CliRunner().invoke(main, ["--small", "--only", "peers", "--out", str(tmp_path)])
    monkeypatch.delenv("VIEWHOP_BENCH_PEERS")
    CliRunner().invoke(main, ["--small", "--only", "peers", "--out", str(tmp_path)])
    assert seen == ["elsewhere", str(tmp_path / "peers")]
