"""One cell of the benchmark, what identifies it, and the record that a finished one leaves."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import viewhop
from benchmarks.quality.perturbations import CLEAN
from viewhop._runtime.files import replace_file

__all__ = ["Cell", "Record", "Store", "fingerprint", "source_digest"]

#: What computes no embedding: a change there changes no score.
NOT_COMPUTING = (
    "_storage",
    "cli",
    "experiments",
    "plotting",
    "report",
    "runs",
    "seismic",
    "tables",
    "theory",
)


@dataclass(frozen=True)
class Cell:
    """A set, a method, a task with its perturbation, and a seed.

    Attributes
    ----------
    set, method, task, perturbation : str
    seed : int
    small : bool
        Whether the set is cut down, as in a quick run.
    """

    set: str
    method: str
    task: str
    perturbation: str = CLEAN
    seed: int = 0
    small: bool = False

    def __str__(self) -> str:
        what = self.task if self.perturbation == CLEAN else f"{self.task}, {self.perturbation}"
        return f"{self.set}: {self.method}: {what}: seed {self.seed}"


@dataclass(frozen=True)
class Record:
    """What a finished cell leaves: scores, or the message of a failure.

    Attributes
    ----------
    cell : Cell
    parameters : dict
        Of the method, as they were passed or are its defaults.
    scores : dict
    error : str or None
    warnings : list of str
        Types of the warnings that the method gave.
    source : str
        Digest of the part of viewhop that computes.
    """

    cell: Cell
    parameters: Mapping[str, Any]
    scores: Mapping[str, Any] = field(default_factory=dict)
    error: str | None = None
    warnings: Iterable[str] = ()
    source: str = ""


class Store:
    """Records in a folder, one file each, so that a run can be interrupted and taken up again.

    Parameters
    ----------
    folder : path
        Made if it is not there.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def get(self, cell: Cell, parameters: Mapping[str, Any]) -> Record | None:
        """The record of a cell with these parameters, or None."""
        path = self._path(cell, parameters)
        if not path.exists():
            return None
        content = json.loads(path.read_text(encoding="utf-8"))
        return Record(Cell(**content.pop("cell")), **content)

    def put(self, record: Record) -> None:
        """Write a record; an interruption leaves the earlier one, or none."""
        with replace_file(self._path(record.cell, record.parameters)) as file:
            file.write((json.dumps(asdict(record), indent=1) + "\n").encode())

    def _path(self, cell: Cell, parameters: Mapping[str, Any]) -> Path:
        readable = "-".join(re.findall(r"[\w.]+", f"{cell.set} {cell.method} {cell.task}"))
        key = fingerprint({"cell": asdict(cell), "parameters": dict(parameters)})
        return self.folder / f"{readable[:80]}-{key}.json"


def fingerprint(content: Mapping[str, Any]) -> str:
    """A short digest of something that JSON can hold."""
    text = json.dumps(content, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@cache
def source_digest() -> str:
    """A digest of the part of viewhop that computes embeddings."""
    root = Path(viewhop.__file__).parent
    digest = hashlib.sha256()
    for file in sorted(root.rglob("*.py")):
        path = file.relative_to(root)
        if path.parts[0] not in NOT_COMPUTING:
            digest.update(path.as_posix().encode() + file.read_bytes())
    return digest.hexdigest()[:16]
