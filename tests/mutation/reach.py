"""Which tests reach which function, and how long each test takes."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

#: Tests each case of which is about another line of the code, like a test of its own.
TABLES = (
    "tests/estimators/test_load.py::test_what_no_fit_can_have_written_is_refused",
    "tests/solvers/test_solver_details.py::"
    "test_the_bytes_of_solving_are_those_of_the_arrays_in_use",
)


def find_function(test: str) -> str:
    """The id of a test without its parameters; those of a table stay."""
    function = test.partition("[")[0]
    return test if function in TABLES else function


def keep_cases(tests: Iterable[str], *, cases: int) -> set[str]:
    """At most so many cases of each test, the same ones in every run; all cases of a table."""
    kept, taken = set(), Counter[str]()
    for test in sorted(tests, key=_shuffle):
        taken[find_function(test)] += 1
        if taken[find_function(test)] <= cases:
            kept.add(test)
    return kept


def _shuffle(test: str) -> bytes:
    return hashlib.sha256(test.encode()).digest()


@dataclass
class Reach:
    """The tests of each function and the CPU seconds of each test, as one clean run recorded them.

    A test that fails without a mutant is unusable; its traceback is kept.
    """

    seconds: dict[str, float] = field(default_factory=dict)
    tests: dict[str, list[str]] = field(default_factory=dict)
    unusable: dict[str, str] = field(default_factory=dict)
    kills: Counter[tuple[str, str]] = field(default_factory=Counter)

    @classmethod
    def load(cls, path: Path) -> Reach:
        """The record in the file, or an empty one."""
        return cls(**json.loads(path.read_text("utf-8"))) if path.exists() else cls()

    def save(self, path: Path) -> None:
        """Write the record to a file."""
        record = {"seconds": self.seconds, "tests": self.tests, "unusable": self.unusable}
        path.write_text(json.dumps(record), "utf-8")

    def record(self, test: str, seconds: float, functions: set[str]) -> None:
        """Add one test."""
        self.seconds[test] = seconds
        for function in functions:
            self.tests.setdefault(function, []).append(test)

    def record_kill(self, function: str, test: str) -> None:
        """Let this test come first for later mutants of the same module."""
        self.kills[function.rpartition(".")[0], find_function(test)] += 1

    def choose(self, function: str, *, seconds: float, known: set[str]) -> list[str]:
        """Tests of a function that take this long in all: one case of every test, then a second…

        Among cases of the same round, those whose test has killed mutants of the module come
        first, then the short ones.
        """
        module = function.rpartition(".")[0]
        rounds: Counter[str] = Counter()
        ordered = []
        tests = (test for test in self.tests.get(function, []) if test in known)
        for test in sorted(tests, key=_shuffle):
            case = find_function(test)
            ordered.append((rounds[case], -self.kills[module, case], self.seconds[test], test))
            rounds[case] += 1
        chosen, spent = [], 0.0
        for _, _, cost, test in sorted(ordered):
            if spent + cost <= seconds:
                chosen.append(test)
                spent += cost
        return chosen
