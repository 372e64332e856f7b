"""Storage of results as JSON with a checksum, from which pictures can be redrawn."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from viewhop._runtime.files import replace_file
from viewhop.errors import RunFileError
from viewhop.experiments._experiment import Result, Table
from viewhop.experiments._findings import Finding

__all__ = ["DamagedResultError", "Record", "as_stored", "digest_plain", "plain", "read", "write"]

#: Incremented when files of older versions become invalid.
_FORMAT = 3

#: Metadata stored with a result: the experiment, its settings, versions, data and pictures.
Record = dict[str, Any]


class DamagedResultError(RunFileError):
    """A file of a result is truncated, or was changed after it was written."""


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


def digest_plain(value: Any) -> str:
    """SHA-256 of JSON data, independent of the order of keys.

    Parameters
    ----------
    value : JSON data
    """
    text = json.dumps(value, sort_keys=True, allow_nan=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def write(path: str | os.PathLike[str], result: Result, record: Mapping[str, Any]) -> None:
    """Write a result with its record, atomically; equal results are equal bytes.

    Parameters
    ----------
    path : path
    result : Result
    record : dict
        Metadata of the run: settings, versions, data, pictures.
    """
    parts = {"record": plain(record), "result": plain(asdict(result))}
    content = {"format": _FORMAT, "sha256": digest_plain(parts), **parts}
    with replace_file(path) as file:
        file.write(
            f"{json.dumps(content, indent=1, allow_nan=False, ensure_ascii=False)}\n".encode()
        )


def as_stored(result: Result) -> Result:
    """Result as it will be read back, so that pictures show exactly the stored data."""
    return _result(plain(asdict(result)))


def read(path: str | os.PathLike[str]) -> tuple[Result, Record] | None:
    """Result and record of a file; None if it does not exist.

    Arrays come back as lists and non-finite numbers as None.

    Raises
    ------
    DamagedResultError
        If the file is truncated, or its checksum differs.
    RunFileError
        If another version of viewhop wrote it in another format.
    """
    name = Path(path).name
    try:
        content = json.loads(Path(path).read_bytes())
        form = content["format"]
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError):
        raise DamagedResultError(f"{name} is damaged: it is not the JSON of a result") from None
    if form != _FORMAT:
        raise RunFileError(f"{name} has format {form!r} of another version of viewhop")
    try:
        parts = {part: content[part] for part in ("record", "result")}
        if digest_plain(parts) == content["sha256"]:
            return _result(parts["result"]), dict(parts["record"])
    except (ValueError, KeyError, TypeError):
        pass
    raise DamagedResultError(f"{name} is damaged: its checksum differs")


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
        findings=tuple(Finding(**each) for each in fields["findings"]),
    )
