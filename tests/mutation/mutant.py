"""A mutant: a changed copy of one function."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Mutant", "find_mutated"]


def find_mutated(name: str) -> str:
    """The function that a mutant changes, as mutmut calls it."""
    return name.partition("__mutmut_")[0]


@dataclass(frozen=True)
class Mutant:
    """A changed copy of one function; the name is mutmut's."""

    name: str
    package: str
    diff: str

    @property
    def function(self) -> str:
        """The function that was changed."""
        return find_mutated(self.name)

    @property
    def change(self) -> str:
        """The changed lines: unlike the name, they stay the same when code around them moves."""
        lines = self.diff.splitlines()[3:]
        return "\n".join(f"{line[0]} {line[1:].strip()}" for line in lines if line[:1] in "+-")
