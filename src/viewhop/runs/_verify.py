"""Whether the files of a run are those that its record lists."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from viewhop._runtime.parts import find_stale_parts
from viewhop.runs._picture import PICTURE
from viewhop.runs._record import MODEL, read_record
from viewhop.tables import digest_path

__all__ = ["NAMES", "State", "input_path", "verify"]

#: The files that runs write, besides the record.
NAMES = (
    *(f"{stem}.{end}" for stem in ("embedding", "clusters") for end in ("parquet", "csv", "tsv")),
    MODEL,
    PICTURE,
    "report.html",
    "run.toml",
)


@dataclass(frozen=True)
class State:
    """The files of a folder, compared with its record.

    Attributes
    ----------
    record : dict
    outputs : dict of {"as recorded", "changed", "missing", "of another run"} by file name
    inputs : dict of {"same", "changed", "gone"} by view name
    left : tuple of str
        Temporary files of runs that were stopped.
    """

    record: dict[str, Any]
    outputs: dict[str, str]
    inputs: dict[str, str]
    left: tuple[str, ...]

    @property
    def is_whole(self) -> bool:
        """Whether every output is as recorded."""
        return set(self.outputs.values()) == {"as recorded"}


def verify(folder: str | os.PathLike[str]) -> State:
    """The files of a run, compared with its record.

    Parameters
    ----------
    folder : path
        A folder that `execute`, ``viewhop fit`` or ``viewhop cluster`` wrote.

    Raises
    ------
    RunFileError
        If the folder has no record, or one that cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from viewhop.runs import Settings, ViewSettings, execute, verify
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(Path(folder, "x.npy"), np.random.default_rng(0).normal(size=(40, 3)))
    ...     views = {"x": ViewSettings(path=f"{folder}/x.npy")}
    ...     run = execute(Settings(views=views, out=f"{folder}/out", report=False))
    ...     Path(folder, "x.npy").unlink()
    ...     state = verify(run.folder)
    >>> state.is_whole, state.inputs
    (True, {'x': 'gone'})
    """
    record = read_record(folder)
    place = Path(folder)
    outputs = {
        name: _compare(place / name, entry["sha256"], ("as recorded", "changed", "missing"))
        for name, entry in record["outputs"].items()
    }
    for name in NAMES:
        if name not in outputs and (place / name).exists():
            outputs[name] = "of another run"
    inputs = {
        name: _compare(input_path(place, entry), entry["sha256"], ("same", "changed", "gone"))
        for name, entry in record["inputs"].items()
    }
    left = tuple(path.name for path in find_stale_parts(place))
    return State(record, outputs, inputs, left)


def input_path(folder: Path, entry: dict[str, Any]) -> Path:
    """The file of an input, without the name of an array in it.

    Parameters
    ----------
    folder : Path
        Of the run.
    entry : dict
        The entry of the input in the record.
    """
    given: str = entry["path"]
    path = folder / given
    file, mark, _ = given.rpartition("::")
    return folder / file if mark and not path.exists() else path


def _compare(path: Path, sha256: str, words: tuple[str, str, str]) -> str:
    same, changed, gone = words
    try:
        if not (path.is_file() or path.is_dir()):  # a device may never end
            return changed if path.exists() else gone
        return same if digest_path(path) == sha256 else changed
    except (OSError, ValueError):
        return changed
