"""The page of promises: every number once, and every citation leads to a test that exists."""

from __future__ import annotations

import ast
import os
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "promises.md"
#: Held by what is not written yet.
LATER = "with the cluster work"
ROW = re.compile(r"^\| (\d+) \| (.+?) \| (.*?) ?\|$", flags=re.M)


def promises(text):
    """(number, promise, what holds it) of every row of the page."""
    return [(int(number), told, held) for number, told, held in ROW.findall(text)]


@cache
def test_functions(path):
    """The names of all test functions and methods of a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


test_functions.__test__ = False


@cache
def make_targets():
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    (listed,) = re.findall(r"^\.PHONY: (.+)$", text, flags=re.M)
    return {*listed.split()}


def fault(citation):
    """What is wrong with a citation; None if it leads somewhere."""
    if citation.startswith("make "):
        target = citation.removeprefix("make ")
        return None if target in make_targets() else f"no make target {target}"
    file, _, name = citation.partition("::")
    path = ROOT / file
    if not path.is_file():
        return f"no file {file}"
    if file.startswith(".ci/"):
        return None if os.access(path, os.X_OK) else f"{file} cannot be run"
    if not file.startswith("tests/"):
        return None if path.suffix == ".md" else f"{file} is neither a test nor a page"
    if name:
        return None if name in test_functions(path) else f"no test {citation}"
    return None if test_functions(path) else f"{file} has no test"


def faults(text):
    """Everything that is wrong with a page."""
    rows = promises(text)
    found = []
    if [number for number, _, _ in rows] != [*range(1, 72)]:
        found.append("the numbers are not 1 to 71, each once and in order")
    for number, told, held in rows:
        citations = re.findall(r"`([^`]+)`", held)
        if not told.strip() or (not citations and held != LATER):
            found.append(f"{number}: nothing holds it")
        found += [f"{number}: {wrong}" for wrong in map(fault, citations) if wrong]
        if len(citations) != len({*citations}):
            found.append(f"{number}: a citation stands twice")
    return found


def test_every_promise_is_held_by_tests_that_exist():
    assert faults(PAGE.read_text(encoding="utf-8")) == []


def test_only_promises_about_dask_wait_for_the_cluster():
    rows = promises(PAGE.read_text(encoding="utf-8"))
    assert [number for number, _, held in rows if held == LATER] == [*range(48, 55)]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda text: text.replace("| 7 |", "| 8 |"), "the numbers are not 1 to 71"),
        (lambda text: re.sub(r"^\| 9 \|.*\n", "", text, flags=re.M), "the numbers are not"),
        (lambda text: text.replace("test_a_constant_view", "test_a_flat_view"), "20: no test"),
        (lambda text: text.replace("`make audit`", "`make peace`"), "71: no make target peace"),
        (lambda text: text.replace("test_offsets.py", "test_offset.py"), "25: no file"),
        (lambda text: re.sub(r"(\| 31 \| .*? \|).*\|", r"\1 |", text), "31: nothing holds it"),
        (lambda text: text.replace(f"| {LATER} |", "| later |", 1), "48: nothing holds it"),
    ],
)
def test_a_page_that_lies_is_noticed(change, complaint):
    text = PAGE.read_text(encoding="utf-8")
    assert change(text) != text
    assert any(complaint in wrong for wrong in faults(change(text)))
