"""What became of each mutant, kept in a file that an interrupted run continues."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


class Results:
    """The last result of each mutant, by name; one line of the file for each."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.by_name: dict[str, dict[str, Any]] = {}
        if path.exists():
            for line in path.read_text("utf-8").splitlines():
                result = json.loads(line)
                self.by_name[result["name"]] = result

    def is_open(self, name: str, seconds: float) -> bool:
        """Whether the mutant was not run, or survived tests of fewer seconds."""
        result = self.by_name.get(name)
        return result is None or (result["status"] == "survived" and result["seconds"] < seconds)

    def reopen(self) -> None:
        """Let every survivor be run again."""
        survivors = [r for r in self.by_name.values() if r["status"] == "survived"]
        for result in survivors:
            self.by_name[result["name"]] = {**result, "seconds": 0.0}
        lines = [json.dumps(result) + "\n" for result in self.by_name.values()]
        self.path.write_text("".join(lines), "utf-8")

    def add(self, name: str, status: str, *, test: str, seconds: float, n_tests: int) -> None:
        """Append a result to the file."""
        result = {
            "name": name,
            "status": status,
            "test": test,
            "seconds": seconds,
            "n_tests": n_tests,
        }
        self.by_name[name] = result
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(result) + "\n")
