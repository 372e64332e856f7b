"""The table of mutants per package, and the survivors as diffs."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from .mutant import Mutant
from .results import Results

REVIEWED = Path(__file__).with_name("equivalent.toml")


def equivalent_mutants() -> dict[tuple[str, str], str]:
    """The reviewed mutants that no test can kill: function and change to the reason."""
    groups = tomllib.loads(REVIEWED.read_text("utf-8"))["reason"]
    return {
        (function, change.strip()): group["why"]
        for group in groups
        for function, change in group["mutants"]
    }


def write_report(sample: Sequence[Mutant], results: Results, folder: Path) -> str:
    """The table, after it was written to table.md and the survivors to survivors.diff."""
    equivalent = equivalent_mutants()
    counts: dict[str, Counter[str]] = {}
    survivors = []
    for mutant in sample:
        status = results.by_name[mutant.name]["status"]
        if status == "survived" and (mutant.function, mutant.change) in equivalent:
            status = "equivalent"
        elif status == "survived":
            survivors.append(mutant)
        counts.setdefault(mutant.package, Counter())[status] += 1
    counts["all"] = sum(counts.values(), Counter())
    table = "\n".join([HEADER, *(_row(package, count) for package, count in counts.items())])
    (folder / "table.md").write_text(table + "\n", "utf-8")
    text = "\n\n".join(f"# {m.name}\n{m.diff}" for m in survivors)
    (folder / "survivors.diff").write_text(text + "\n", "utf-8")
    return table


HEADER = (
    "| package | mutants | killed | timeout | survived | equivalent | score |\n"
    "|---|---|---|---|---|---|---|"
)


def _row(package: str, count: Counter[str]) -> str:
    """One line; the score is the share of the mutants that are not equivalent and were noticed."""
    noticed = count["killed"] + count["timeout"]
    score = noticed / max(noticed + count["survived"], 1)
    kinds = ("killed", "timeout", "survived", "equivalent")
    cells = [package, count.total(), *(count[kind] for kind in kinds), f"{100 * score:.1f} %"]
    return "| " + " | ".join(str(cell) for cell in cells) + " |"
