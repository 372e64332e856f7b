"""Results on disk: JSON that a picture can be drawn from again."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from viewhop._runtime.files import replace_file
from viewhop.experiments._experiment import Result, Table

__all__ = ["Record", "plain", "read", "settled", "write"]

#: Changes when a file of an older version should not be taken for a new one.
_FORMAT = 1

#: What a file holds beside the result: the experiment, its settings, versions, seconds, pictures.
Record = dict[str, Any]


def plain(value: Any) -> Any:
    """Numbers, text, lists and dicts as JSON has them; what is not finite is None.

    Parameters
    ----------
    value : number, text, None, array, or list, tuple or dict of them
    """
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int | bool):
        return value
    raise TypeError(f"a result holds numbers and text, not {type(value).__name__}")


def write(path: str | os.PathLike[str], result: Result, record: Mapping[str, Any]) -> None:
    """Write a result with its record, whole or not at all.

    Parameters
    ----------
    path : path
    result : Result
    record : dict
        What is known of the run: settings, versions, seconds, pictures.
    """
    held = {"format": _FORMAT, "record": plain(record), "result": plain(asdict(result))}
    with replace_file(path) as file:
        file.write(f"{json.dumps(held, indent=1, allow_nan=False, ensure_ascii=False)}\n".encode())


def settled(result: Result) -> Result:
    """The result as it will be read back: what is drawn is what the file holds."""
    return _result(plain(asdict(result)))


def read(path: str | os.PathLike[str]) -> tuple[Result, Record] | None:
    """The result and the record of a file, None if there is none or it is of another format.

    Arrays come back as lists; what was not finite comes back as None.
    """
    try:
        held = json.loads(Path(path).read_text(encoding="utf-8"))
        if held["format"] != _FORMAT:
            return None
        return _result(held["result"]), dict(held["record"])
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


def _result(found: Mapping[str, Any]) -> Result:
    tables = tuple(
        Table(
            title=each["title"],
            columns=tuple(each["columns"]),
            rows=tuple(tuple(row) for row in each["rows"]),
            digits=each["digits"],
        )
        for each in found["tables"]
    )
    return Result(
        ran=found["ran"],
        paper=found["paper"],
        tables=tables,
        numbers=found["numbers"],
        remarks=tuple(found["remarks"]),
    )
