"""Whether the files of a run belong together."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from viewhop._runtime.files import PART
from viewhop.runs._record import digest, read

__all__ = ["NAMES", "State", "input_path", "state"]

#: What runs write, besides the record.
NAMES = (
    *(f"{stem}.{end}" for stem in ("embedding", "clusters") for end in ("parquet", "csv", "tsv")),
    "model.viewhop",
    "report.html",
    "run.toml",
)


@dataclass(frozen=True)
class State:
    """What a folder holds, compared with its record.

    Attributes
    ----------
    record : dict
    outputs : dict of {"as recorded", "changed", "missing", "of another run"} by file name
    inputs : dict of {"same", "changed", "gone"} by view name
    left : tuple of str
        What runs that were stopped left behind.
    """

    record: dict[str, Any]
    outputs: dict[str, str]
    inputs: dict[str, str]
    left: tuple[str, ...]

    @property
    def is_whole(self) -> bool:
        """Whether all outputs are there, and of the recorded run."""
        return set(self.outputs.values()) == {"as recorded"}


def state(folder: str | os.PathLike[str]) -> State:
    """What a folder holds, compared with its record; RunFileError if it has none.

    Parameters
    ----------
    folder : path
    """
    record = read(folder)
    place = Path(folder)
    outputs = {
        name: _compared(place / name, entry["sha256"], ("as recorded", "changed", "missing"))
        for name, entry in record["outputs"].items()
    }
    for name in NAMES:
        if name not in outputs and (place / name).exists():
            outputs[name] = "of another run"
    inputs = {
        name: _compared(input_path(place, entry), entry["sha256"], ("same", "changed", "gone"))
        for name, entry in record["inputs"].items()
    }
    left = sorted(path.name for path in place.glob(f".*{PART}"))
    return State(record, outputs, inputs, tuple(left))


def input_path(folder: Path, entry: dict[str, Any]) -> Path:
    """The file of an input, without the name of an array in it.

    Parameters
    ----------
    folder : Path
        Of the run.
    entry : dict
        What the record says of the input.
    """
    given: str = entry["path"]
    path = folder / given
    file, mark, _ = given.rpartition("::")
    return folder / file if mark and not path.exists() else path


def _compared(path: Path, sha256: str, told: tuple[str, str, str]) -> str:
    same, changed, gone = told
    try:
        if not path.is_file():  # a device may have no end
            return changed if path.exists() else gone
        return same if digest(path) == sha256 else changed
    except (OSError, ValueError):
        return changed
