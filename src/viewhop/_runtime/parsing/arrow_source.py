"""Arrow files and streams (Feather version 2), read with pyarrow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

__all__ = ["Arrow", "open_source"]


def open_source(path: str) -> Arrow:
    """The file at a path."""
    return Arrow(path)


class Arrow:
    """An Arrow file or stream: batches of rows.

    Parameters
    ----------
    path : str
    """

    def __init__(self, path: str) -> None:
        self._file = pa.memory_map(path, "r")
        is_stream = self._file.read(6) != b"ARROW1"
        self._file.seek(0)
        self._batches: list[Any] | None = None
        self._reader: Any = None
        if is_stream:
            stream = pa.ipc.open_stream(self._file)
            self._schema, self._batches = stream.schema, [*stream]
        else:
            self._reader = pa.ipc.open_file(self._file)
            self._schema = self._reader.schema

    def close(self) -> None:
        """Close the file."""
        self._batches = self._reader = None
        self._file.close()

    def describe(self, name: str) -> dict[str, Any]:
        """The columns of the table, and the rows of each batch; the name is not used.

        Returns
        -------
        facts : dict
            "rows": a list with the number of rows of every batch; "columns": a list of dicts with
            "name", "type" and "kind", which is "number", "single", "text", "date" or "other".
        """
        columns = [
            {"name": str(field.name), "type": str(field.type), "kind": _kind_of(field.type)}
            for field in self._schema
        ]
        return {"rows": [self._batch(k).num_rows for k in range(self._count())], "columns": columns}

    def read(self, name: str, batch: int, *where: Any) -> Any:
        """The columns in a list as numbers; or the values of one from `start` to `stop`.

        Parameters
        ----------
        name : {"numbers", "values"}
        batch : int
        *where
            A list of columns, or a column, `start` and `stop`.
        """
        rows = self._batch(batch)
        if name == "numbers":
            (columns,) = where
            parts = [_numbers(rows.column(k)) for k in columns]
            return np.column_stack(parts) if parts else np.empty((rows.num_rows, 0))
        column, start, stop = where
        values = rows.column(column)
        values.validate(full=True)
        return [_plain(value) for value in values.slice(start, stop - start).to_pylist()]

    def _count(self) -> int:
        return self._reader.num_record_batches if self._batches is None else len(self._batches)

    def _batch(self, k: int) -> Any:
        return self._reader.get_batch(k) if self._batches is None else self._batches[k]


def _numbers(values: Any) -> Any:
    values.validate(full=True)
    if pa.types.is_boolean(values.type):
        values = values.cast(pa.int8())
    if values.type != pa.float32():
        values = values.cast(pa.float64(), safe=False)
    return values.to_numpy(zero_copy_only=False)


def _kind_of(type_: Any) -> str:
    kinds = pa.types
    if kinds.is_dictionary(type_):
        return "text" if _kind_of(type_.value_type) == "text" else "other"
    if type_ == pa.float32():
        return "single"
    numbers = (
        kinds.is_integer,
        kinds.is_floating,
        kinds.is_boolean,
        kinds.is_decimal,
        kinds.is_null,
    )
    if any(fits(type_) for fits in numbers):
        return "number"
    if kinds.is_string(type_) or kinds.is_large_string(type_):
        return "text"
    return "date" if kinds.is_temporal(type_) else "other"


def _plain(value: Any) -> Any:
    """A value as JSON has it: numbers that are not finite are missing."""
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value if value is None or isinstance(value, str | int | float) else str(value)
