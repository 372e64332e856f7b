"""Readers of files accept an input or refuse it with an error of viewhop's, in little memory."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.fuzz.check import Checker, Outcome
from tests.fuzz.inputs import Inputs
from tests.fuzz.minimise import minimise
from tests.fuzz.mutators.arrays import mat_bomb, zip_bomb
from tests.fuzz.readers import MEMORY, READERS, SharedGuard
from tests.support.data_files import SharedParser

#: Mutants of each reader in the suite. ``make fuzz`` runs many more.
MUTANTS = 200


@pytest.fixture(autouse=True)
def no_parser_is_left():
    yield
    SharedGuard.close()
    SharedParser.close()


@pytest.mark.parametrize("name", READERS)
def test_corpus_and_mutants_are_read_or_refused(name):
    # Twice the budget: one process runs all inputs, and some leave it larger.
    checker = Checker(READERS[name].target, 2 * MEMORY)
    inputs = Inputs(name, seed=0)
    size = len(READERS[name].corpus())
    findings = {}
    kinds = set()
    for number in range(size + MUTANTS):
        outcome = checker.check(inputs[number])
        kinds.add(outcome.kind)
        if outcome.is_finding:
            findings[number] = outcome.text
    assert not findings
    assert "accepted" in kinds


@pytest.mark.parametrize("rows", [5 * 10**6, 9 * 10**6])
def test_long_columns_in_small_files_stay_within_the_budget(rows):
    head = READERS["mat"].corpus()["plain.mat"][:128]
    for name, data in {"mat": head + mat_bomb(rows), "npz": zip_bomb("x.npy", rows)}.items():
        outcome = Checker(READERS[name].target, MEMORY).check(data)
        assert not outcome.is_finding, outcome


def test_corpus_is_small():
    files = [path for reader in READERS.values() for path in reader.folder_path().iterdir()]
    assert sum(path.stat().st_size for path in {*files}) < 400_000


def test_inputs_are_given_by_reader_seed_and_number():
    for name in READERS:
        number = len(READERS[name].corpus()) + 5
        assert Inputs(name, 3)[number] == Inputs(name, 3)[number]
    assert len({Inputs("csv", seed)[20] for seed in range(9)}) > 5


# --- the harness sees what it should see ---------------------------------------------------------


def wrong_error(data):
    raise KeyError("x")


def foreign_warning(data):
    import warnings

    warnings.warn("x", RuntimeWarning, stacklevel=1)


def much_memory(data):
    _ = bytearray(os.urandom(1)) * 40_000_000


@pytest.mark.parametrize(
    ("target", "kind"),
    [(wrong_error, "error"), (foreign_warning, "warning"), (len, "accepted")],
)
def test_outcomes_are_told_apart(target, kind):
    assert Checker(target, MEMORY).check(b"x").kind == kind


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="memory is asked of Linux")
def test_memory_above_the_budget_is_a_finding():
    # In a process of its own: of one that ran many tests, the system may take back memory at any
    # time, as much as the target takes.
    root = Path(__file__).parents[2]
    code = """
        from tests.fuzz.test_fuzz import Checker, much_memory
        outcome = Checker(much_memory, 10_000_000).check(b"")
        print(outcome.kind, outcome.memory)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        cwd=root,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(root / "src"), str(root)])},
        capture_output=True,
        text=True,
        check=True,
    )
    kind, memory = done.stdout.split()
    assert kind == "memory"
    assert 35e6 < int(memory) < 60e6


def test_minimised_input_keeps_what_it_needs():
    noise = random.Random(0).randbytes(3000)
    data = noise[:1000] + b"needle" + noise[1000:]
    assert minimise(data, lambda part: b"needle" in part) == b"needle"


def test_findings_of_one_place_count_once():
    assert (
        Outcome("error", "KeyError at a.py:f", 1, "long").signature == "error: KeyError at a.py:f"
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="batches run in forked processes")
def test_command_prints_counts_and_ends_with_0_if_all_is_well(tmp_path):
    root = Path(__file__).parents[2]
    command = [sys.executable, "-m", "tests.fuzz", "--count", "300", "--seed", "7"]
    done = subprocess.run(
        [*command, "--findings", str(tmp_path), "--reader", "toml", "--reader", "npy"],
        cwd=root,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(root / "src"), str(root)])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [line.split() for line in done.stdout.splitlines()]
    counts = {row[0]: row[1:6] for row in rows if row[0] in READERS}
    assert counts.keys() == {"toml", "npy"}
    assert all(row[0] == "300" and row[3:] == ["0", "0"] for row in counts.values())
    assert not [*tmp_path.iterdir()]
