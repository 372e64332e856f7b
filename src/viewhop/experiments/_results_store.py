"""Storage of results as JSON from which pictures can be redrawn."""

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

__all__ = ["Record", "as_stored", "plain", "read", "write"]

#: Incremented when files of older versions become invalid.
_FORMAT = 1

#: Metadata stored with a result: the experiment, its settings, versions, seconds, pictures.
Record = dict[str, Any]


def plain(value: Any) -> Any:
    """JSON data of numbers, text, lists and dicts; non-finite numbers become None.

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
    raise TypeError(f"expected numbers and text in a result, got {type(value).__name__}")


def write(path: str | os.PathLike[str], result: Result, record: Mapping[str, Any]) -> None:
    """Write a result with its record, atomically.

    Parameters
    ----------
    path : path
    result : Result
    record : dict
        Metadata of the run: settings, versions, seconds, pictures.
    """
    content = {"format": _FORMAT, "record": plain(record), "result": plain(asdict(result))}
    with replace_file(path) as file:
        file.write(
            f"{json.dumps(content, indent=1, allow_nan=False, ensure_ascii=False)}\n".encode()
        )


def as_stored(result: Result) -> Result:
    """Result as it will be read back, so that pictures show exactly the stored data."""
    return _result(plain(asdict(result)))


def read(path: str | os.PathLike[str]) -> tuple[Result, Record] | None:
    """Result and record of a file; None if it is missing or has another format.

    Arrays come back as lists and non-finite numbers as None.
    """
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        if content["format"] != _FORMAT:
            return None
        return _result(content["result"]), dict(content["record"])
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


def _result(fields: Mapping[str, Any]) -> Result:
    tables = tuple(
        Table(
            title=each["title"],
            columns=tuple(each["columns"]),
            rows=tuple(tuple(row) for row in each["rows"]),
            digits=each["digits"],
        )
        for each in fields["tables"]
    )
    return Result(
        ran=fields["ran"],
        paper=fields["paper"],
        tables=tables,
        numbers=fields["numbers"],
        remarks=tuple(fields["remarks"]),
    )
