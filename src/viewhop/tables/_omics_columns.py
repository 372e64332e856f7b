"""Frames in AnnData files: the names of their rows, and columns of numbers, text or categories."""

from __future__ import annotations

from typing import Any

from viewhop._runtime.parsing.foreign_file import ForeignFile
from viewhop.tables._budget import ReadingBudget
from viewhop.tables._faults import quote_cell, table_fault
from viewhop.tables._foreign_files import read_array, read_texts

__all__ = ["ObsFrame", "read_frame"]

#: Encodings of columns whose missing values a mask states.
_MASKED = ("nullable-integer", "nullable-boolean", "nullable-string-array")
#: Where anndata 0.7 kept the categories of columns.
_CATEGORIES = "__categories"


class ObsFrame:
    """A frame of an AnnData file, whose columns are read when they are asked for.

    Parameters
    ----------
    path : str
        The file, as the caller gave it.
    file : ForeignFile
    group : str
        Where the frame is: ``obs``.
    budget : ReadingBudget
    size : int
        Bytes of the file.

    Attributes
    ----------
    names : list of str
        One of each row.
    index_name : str
        What the index is called.
    columns : list of str
    """

    def __init__(
        self, path: str, file: ForeignFile, group: str, budget: ReadingBudget, *, size: int
    ) -> None:
        self._path, self._file, self._group = path, file, group
        self._budget, self._size = budget, size
        facts = file.describe(group)
        if facts["kind"] != "group":
            what = "is not there" if facts["kind"] == "none" else "is not a frame"
            raise table_fault(
                path,
                f"{group} {what}; files from before anndata 0.7 must be written again with a newer "
                "one",
            )
        index = facts["attrs"].get("_index")
        if not isinstance(index, str) or index not in facts["names"]:
            raise table_fault(path, f"{group} has no index: it is no frame that anndata wrote")
        self.index_name = index
        hidden = (index, _CATEGORIES)
        self.columns: list[str] = [name for name in facts["names"] if name not in hidden]
        ordered = facts["attrs"].get("column-order")
        if isinstance(ordered, list) and {*ordered} == {*self.columns}:
            self.columns = list(dict.fromkeys(ordered))
        self._has_old_categories = _CATEGORIES in facts["names"]
        self.names = [str(name) for name in self._values(index)]

    def __len__(self) -> int:
        return len(self.names)

    def column(self, name: str) -> list[Any]:
        """The values of a column, None where they are missing.

        Parameters
        ----------
        name : str
        """
        values = self._values(name)
        if len(values) != len(self):
            raise table_fault(
                self._path,
                f"the column {quote_cell(name)} of {self._group} has {len(values):,} values for "
                f"{len(self):,} rows",
            )
        return values

    def _values(self, name: str) -> list[Any]:
        place = f"{self._group}/{name}"
        facts = self._file.describe(place)
        encoding = facts.get("attrs", {}).get("encoding-type")
        if facts["kind"] == "group" and encoding == "categorical":
            return self._categories(f"{place}/codes", f"{place}/categories")
        if facts["kind"] == "group" and encoding in _MASKED:
            values, mask = self._vector(f"{place}/values"), self._vector(f"{place}/mask")
            pairs = zip(values, mask, strict=False)
            return [None if is_missing else value for value, is_missing in pairs]
        if self._has_old_categories:
            old = f"{self._group}/{_CATEGORIES}/{name}"
            if self._file.describe(old)["kind"] != "none":
                return self._categories(place, old)
        return self._vector(place)

    def _categories(self, codes: str, categories: str) -> list[Any]:
        known = self._vector(categories)
        positions = self._vector(codes)
        if any(not isinstance(k, int) or k >= len(known) for k in positions):
            raise table_fault(self._path, f"{codes!r} is damaged: it has no such category")
        return [None if k < 0 else known[k] for k in positions]

    def _vector(self, place: str) -> list[Any]:
        facts = self._file.describe(place)
        if facts["kind"] == "text":
            return list(
                read_texts(self._path, self._file, place, facts, self._budget, size=self._size)
            )
        if facts["kind"] != "array" or len(facts["shape"]) != 1:
            raise table_fault(self._path, f"{place!r} is no column of numbers or text")
        values = read_array(self._path, self._file, place, facts, self._budget)
        self._budget.take(self._path, 40 * len(values), what=f"the column {place!r}")
        return list(values.tolist())


def read_frame(
    path: str, file: ForeignFile, group: str, budget: ReadingBudget, *, size: int
) -> ObsFrame:
    """The frame of a group: ``var``, or one of ``obsm``.

    Parameters
    ----------
    path : str
    file : ForeignFile
    group : str
    budget : ReadingBudget
    size : int
    """
    return ObsFrame(path, file, group, budget, size=size)
