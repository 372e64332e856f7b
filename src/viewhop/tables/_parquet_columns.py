"""The columns of a Parquet file, a few rows at a time.

A short file can hold long columns: a text that many rows share is stored once, and so is a run of
equal numbers. Nothing is unpacked before its size was counted: row groups, and batches of rows
within them, are read one after the other, and text is read as references to its distinct values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewhop.tables._budget import ReadingBudget
from viewhop.tables._faults import table_fault
from viewhop.tables._parquet_footer import ColumnChunk, read_chunks

__all__ = ["ParquetColumns"]

#: Most rows, and most columns, that are unpacked at a time; at least so many rows.
_MOST_ROWS, _MOST_COLUMNS, _LEAST_ROWS = 65_536, 256, 256
#: Unpacked pages of the columns that are read together, in bytes, unless one alone has more.
_PAGES = 2**26
#: Bytes of a number while it is read: unpacked, converted, and with its gaps filled.
_NUMBER = 32
#: Bytes of a distinct text besides its characters.
_TEXT = 64


class ParquetColumns:
    """The columns of a Parquet file, read within a budget.

    Parameters
    ----------
    path : str
    data : bytes
        Content of the file.
    budget : ReadingBudget
    pa, parquet : modules
        pyarrow and pyarrow.parquet.

    Attributes
    ----------
    schema : pyarrow.Schema
    n_rows : int
        As the file states it.
    """

    def __init__(
        self, path: str, data: bytes, budget: ReadingBudget, pa: Any, parquet: Any
    ) -> None:
        self._path, self._budget, self._pa = path, budget, pa
        # From memory: from a path, pyarrow would turn a folder called "a=b" into a column.
        self._file = parquet.ParquetFile(pa.BufferReader(data), pre_buffer=False)
        self._metadata = self._file.metadata
        self.schema = self._file.schema_arrow
        self.n_rows: int = self._metadata.num_rows
        self._chunks = read_chunks(data)
        texts = [field.name for field in self.schema if _is_text(field.type, pa)]
        self._coded = parquet.ParquetFile(
            pa.BufferReader(data), metadata=self._metadata, read_dictionary=texts, pre_buffer=False
        )
        starts = np.cumsum([0, *(_count_leaves(field.type) for field in self.schema)])
        self._leaves: list[int] = starts.tolist()

    def fill_matrix(self, matrix: NDArray[np.floating], columns: Sequence[int]) -> None:
        """Write columns of numbers to a matrix, NaN where they have no value.

        Parameters
        ----------
        matrix : (n_rows, n_columns) array
        columns : list of int
            Positions in the schema.
        """
        places = {column: k for k, column in enumerate(columns)}
        for group, start, count in self._row_groups():
            for together in self._column_sets(group, columns):
                batch_rows = self._batch_rows(_NUMBER * len(together))
                done = 0
                for batch in self._batches(self._file, group, together, batch_rows):
                    for column in together:
                        numbers = self._numbers(self._column(batch, column))
                        rows = slice(start + done, start + done + len(numbers))
                        matrix[rows, places[column]] = numbers
                    done += batch.num_rows
                self._check_count(done, count)

    def iter_values(self, column: int, *, keeps: bool = True) -> Iterator[list[Any]]:
        """The values of a column of texts, numbers or dates, a list for every batch of rows.

        Parameters
        ----------
        column : int
            Position in the schema.
        keeps : bool
            Whether the caller keeps the values, so that their text is counted.
        """
        for group, _, count in self._row_groups():
            chunk = self._chunk(group, column)
            unpacked = chunk.unpacked
            # The page, the distinct values, and their copy in the batch.
            self._require(3 * unpacked, column)
            file = self._file if chunk.is_delta else self._coded
            batch_rows = _MOST_ROWS if keeps else _LEAST_ROWS
            if chunk.is_delta and self._budget.left is not None:
                # A text can be as long as all that is stored, and each of the batch so long.
                batch_rows = min(1024, max(1, self._budget.left // (8 * unpacked + 1)))
            done = 0
            for batch in self._batches(file, group, [column], batch_rows):
                yield self._entries(self._column(batch, column), column, keeps)
                done += batch.num_rows
            self._check_count(done, count)

    def first_value(self, column: int) -> tuple[int | None, Any]:
        """The first row with a value in a column, counted from 1, and the value; None if none has.

        Parameters
        ----------
        column : int
            Position in the schema.
        """
        before = 0
        for values in self.iter_values(column, keeps=False):
            for k, value in enumerate(values, start=1):
                if value is not None:
                    return before + k, value
            before += len(values)
        return None, None

    def _row_groups(self) -> Iterator[tuple[int, int, int]]:
        """Number, first row and number of rows of each row group."""
        start = 0
        for group in range(self._metadata.num_row_groups):
            count = self._metadata.row_group(group).num_rows
            yield group, start, count
            start += count
        self._check_count(start, self.n_rows)

    def _column_sets(self, group: int, columns: Sequence[int]) -> Iterator[list[int]]:
        """Columns to be read together: their unpacked pages fit the budget."""
        left = self._budget.left
        limit = _PAGES if left is None else min(_PAGES, left // 4)
        together: list[int] = []
        size = 0
        for column in columns:
            own = self._chunk(group, column).unpacked
            if together and (size + own > limit or len(together) == _MOST_COLUMNS):
                yield together
                together, size = [], 0
            self._require(own, column)
            together.append(column)
            size += own
        yield together

    def _batches(
        self, file: Any, group: int, columns: Sequence[int], batch_rows: int
    ) -> Iterator[Any]:
        names = [self.schema.field(column).name for column in columns]
        yield from file.iter_batches(
            batch_size=batch_rows, row_groups=[group], columns=names, use_threads=False
        )

    def _column(self, batch: Any, column: int) -> Any:
        # By name: a request for "a" also returns a column "a.b".
        return batch.column(batch.schema.get_field_index(self.schema.field(column).name))

    def _chunk(self, group: int, column: int) -> ColumnChunk:
        return self._chunks[group][self._leaves[column]]

    def _batch_rows(self, row_bytes: int) -> int:
        left = self._budget.left
        return (
            _MOST_ROWS if left is None else int(np.clip(left // row_bytes, _LEAST_ROWS, _MOST_ROWS))
        )

    def _numbers(self, values: Any) -> NDArray[np.floating]:
        pa = self._pa
        if values.type != pa.float32():
            if pa.types.is_boolean(values.type):
                values = values.cast(pa.int8())
            values = values.cast(pa.float64(), safe=False)
        return np.asarray(values.to_numpy(zero_copy_only=False))

    def _entries(self, values: Any, column: int, keeps: bool) -> list[Any]:
        """The values of a batch; equal texts are one object, but each counts."""
        if not self._pa.types.is_dictionary(values.type):
            if keeps and _is_text(values.type, self._pa):
                self._take_text(values.nbytes, column)
            entries: list[Any] = values.to_pylist()
            return entries
        codes = values.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        used, places, counts = np.unique(codes, return_inverse=True, return_counts=True)
        is_value = used >= 0
        distinct = values.dictionary.take(self._pa.array(used[is_value]))
        if _is_text(distinct.type, self._pa):
            lengths = self._byte_lengths(distinct)
            self._require(4 * int(lengths.sum()), column)
            if keeps:
                n_bytes = int((lengths * counts[is_value]).sum()) + _TEXT * lengths.size
                self._take_text(n_bytes, column)
        known = ([] if is_value.all() else [None]) + distinct.to_pylist()
        return [known[place] for place in places.tolist()]

    def _byte_lengths(self, texts: Any) -> NDArray[np.int64]:
        import pyarrow.compute as pc

        lengths = pc.fill_null(pc.binary_length(texts), 0)
        return np.asarray(lengths.to_numpy(zero_copy_only=False), dtype=np.int64)

    def _take_text(self, n_bytes: int, column: int) -> None:
        self._budget.take(
            self._path, n_bytes, what=f"the text of column {self.schema.field(column).name!r}"
        )

    def _require(self, n_bytes: int, column: int) -> None:
        self._budget.check(
            self._path, n_bytes, what=f"reading column {self.schema.field(column).name!r}"
        )

    def _check_count(self, count: int, stated: int) -> None:
        if count != stated:
            raise table_fault(
                self._path, f"it is damaged: it states {stated:,} rows, and has {count:,}"
            )


def _is_text(type_: Any, pa: Any) -> bool:
    kinds = pa.types
    tests = ("is_string", "is_large_string", "is_string_view")  # pyarrow 14 has no views
    return any(getattr(kinds, test)(type_) for test in tests if hasattr(kinds, test))


def _count_leaves(type_: Any) -> int:
    """Number of columns in which Parquet stores an Arrow type."""
    if type_.num_fields == 0:
        return 1
    return sum(_count_leaves(type_.field(k).type) for k in range(type_.num_fields))
