"""Whether the input files of a run that is repeated are still those of the earlier run."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from viewhop.errors import ChangedInputWarning, RunFileError
from viewhop.runs._record import read_record
from viewhop.runs._verify import input_path
from viewhop.tables import Table

__all__ = ["earlier_record", "recorded_inputs", "warn_of_changes"]


def earlier_record(folder: str | os.PathLike[str]) -> dict[str, Any] | None:
    """The record of the run that is repeated; None if it has none that can be read.

    Parameters
    ----------
    folder : path
        Of the run.
    """
    try:
        return read_record(folder)
    except RunFileError:
        return None


def recorded_inputs(record: Mapping[str, Any], folder: str | os.PathLike[str]) -> dict[str, str]:
    """The hashes of the inputs of a run by file, with links resolved.

    Parameters
    ----------
    record : dict
    folder : path
        Of the run: paths in the record are relative to it.
    """
    place = Path(folder)
    return {
        os.path.realpath(input_path(place, entry)): entry["sha256"]
        for entry in record["inputs"].values()
    }


def warn_of_changes(earlier: Mapping[str, str], tables: Mapping[str, Table]) -> None:
    """Raise a `ChangedInputWarning` if files have other content than in an earlier run.

    Parameters
    ----------
    earlier : dict of str by file
        As `recorded_inputs` returns them.
    tables : dict of Table by view name
        As they were read now.
    """
    changed = []
    for table in tables.values():
        file, mark, _ = table.path.rpartition("::")
        path = file if mark and not os.path.exists(table.path) else table.path
        if earlier.get(os.path.realpath(path), table.sha256) != table.sha256:
            changed.append(path)
    if changed:
        have = "has" if len(changed) == 1 else "have"
        warnings.warn(
            ChangedInputWarning(
                f"{', '.join(changed)} {have} changed since the run that is repeated, so the "
                "results may differ",
                tuple(changed),
            ),
            stacklevel=3,
        )
