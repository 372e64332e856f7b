"""The pytest plugin that runs the chosen tests on every mutant of a sample."""

from __future__ import annotations

import gc
import json
from pathlib import Path

import hypothesis
import pytest

from .child import record_reach, run_on_mutant
from .mutant import find_mutated
from .reach import Reach, keep_cases
from .results import Results

hypothesis.settings.register_profile(
    "mutants", derandomize=True, database=None, deadline=None, max_examples=20
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options that only `python -m tests.mutation` gives."""
    parser.addoption("--mutants", type=Path, help="folder of queue.json, reach.json, results.json")
    parser.addoption("--cases", type=int, help="of each test")
    parser.addoption("--seconds", type=float, action="append", help="of tests per mutant and pass")


def pytest_configure(config: pytest.Config) -> None:
    """Make random tests repeat themselves."""
    hypothesis.settings.load_profile("mutants")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool:
    """Run tests on mutants instead of running the tests."""
    if session.testsfailed:
        raise session.Interrupted("errors while collecting the tests")
    folder = session.config.getoption("--mutants")
    items = {item.nodeid: item for item in session.items}
    kept = keep_cases(items, cases=session.config.getoption("--cases"))
    items = {test: item for test, item in items.items() if test in kept}
    reach = Reach.load(folder / "reach.json")
    new = [item for test, item in items.items() if test not in reach.seconds | reach.unusable]
    if new:
        record_reach(new, folder / "reach.json")
        reach = Reach.load(folder / "reach.json")
    gc.freeze()  # or every child would copy the pages of all objects
    results = Results(folder / "results.json")
    queue = json.loads((folder / "queue.json").read_text("utf-8"))
    for seconds in session.config.getoption("--seconds"):
        for name in queue:
            if not results.is_open(name, seconds):
                continue
            function = find_mutated(name)
            tests = reach.choose(function, seconds=seconds, known=set(items))
            status, test = ("survived", "")
            if tests:
                status, test = run_on_mutant([items[t] for t in tests], name, seconds=seconds)
            if status == "killed" and test:
                reach.record_kill(function, test)
            results.add(name, status, test=test, seconds=seconds, n_tests=len(tests))
    return True
