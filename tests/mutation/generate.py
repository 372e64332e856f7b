"""A copy of the source in which mutmut has put every mutant beside its function."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from difflib import unified_diff
from pathlib import Path

import libcst as cst
from mutmut.mutation import file_mutation
from mutmut.mutation.mutators import mutation_operators, operator_string
from mutmut.utils.format_utils import get_mutant_name

from .mutant import Mutant

SOURCE = Path("src/viewhop")


def mutate_name(node: cst.BaseString) -> Iterable[cst.BaseString]:
    """Mutants of a text that is a name; a text with a space is a message and has none."""
    if isinstance(node, cst.SimpleString) and " " not in str(node.evaluated_value):
        yield from operator_string(node)


def write_mutants(packages: Iterable[str], folder: Path) -> list[Mutant]:
    """All mutants of the packages, after the mutated source was written to the folder."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(SOURCE, folder / SOURCE, ignore=shutil.ignore_patterns("__pycache__"))
    file_mutation.mutation_operators = [
        (kind, mutate_name if operator is operator_string else operator)
        for kind, operator in mutation_operators
    ]
    return [
        mutant
        for package in packages
        for path in sorted((SOURCE / package).glob("*.py"))
        for mutant in mutate_file(path, package=package, folder=folder)
    ]


def mutate_file(path: Path, *, package: str, folder: Path) -> Iterator[Mutant]:
    """The mutants of one file, whose mutated form is written."""
    mutated = file_mutation.mutate_file_contents(str(path), path.read_text(encoding="utf-8"))
    (folder / path).write_text(mutated.code, encoding="utf-8")
    lines = mutated.code.splitlines()
    for name in mutated.mutant_names:
        function, _, _ = name.rpartition("_")
        before, after = (
            [line.replace(key, "") for line in lines[span.start - 1 : span.end]]
            for key, span in (
                (key, mutated.line_span_by_function_name[key]) for key in (f"{function}_orig", name)
            )
        )
        diff = "\n".join(unified_diff(before, after, str(path), str(path), lineterm=""))
        yield Mutant(get_mutant_name(path, name), package, diff)
