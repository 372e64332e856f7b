"""Which rows of each view were observed: a row of NaN was not, a row of numbers was."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewhop.errors import DroppedRowsWarning
from viewhop.views._sparse_rows import Rows, SparseRows
from viewhop.views._view_rows import Describe, row_number

__all__ = ["LARGEST", "MISSING", "RowReader"]

Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]

#: Squared distances between larger values may overflow.
LARGEST = 1e150
#: Distances between larger values may overflow in single precision.
LARGEST_SINGLE = 1e35
#: What may be done about a row that is NaN in part.
MISSING = ("error", "drop")


class RowReader:
    """Finds the observed rows of each view, for one read of several views.

    Parameters
    ----------
    missing : {"error", "drop"}
        Whether a row that is NaN in part is an error, or counts as not observed.
    pairwise : sequence of str, or callable
        Names of the views that are precomputed kernels, whose columns may be NaN where the row of
        the same sample is; or a function that returns them, given the names of all views.
    unused : dict of (n_features,) bool arrays by view name, or None
        Columns that are not used, whatever they contain.

    Attributes
    ----------
    kernels_with_gaps : set of str
        Names of kernels that have columns of NaN.
    """

    def __init__(
        self,
        missing: str = "error",
        *,
        pairwise: Sequence[str] | Callable[[Sequence[str]], Collection[str]] = (),
        unused: Mapping[str, Mask] | None = None,
    ) -> None:
        if missing not in MISSING:
            raise ValueError(f'missing must be "error" or "drop", not {missing!r}')
        self.missing = missing
        self.kernels_with_gaps: set[str] = set()
        self._given = pairwise
        self._pairwise: Collection[str] = ()
        self._unused = unused or {}
        self._dropped: dict[str, tuple[int, str]] = {}

    def begin(self, names: Sequence[str]) -> None:
        """Learn the names of all views, before the first of them is read."""
        if callable(self._given):
            self._pairwise = self._given(names)
            return
        if isinstance(self._given, str) or not set(self._given) <= set(names):
            raise ValueError(
                f"pairwise must be a list of views, of {', '.join(names)}, not {self._given!r}"
            )
        self._pairwise = self._given

    def observed_rows(
        self,
        name: str,
        matrix: Rows,
        mask: Mask | None = None,
        describe: Describe = row_number,
    ) -> Indices | None:
        """Indices of the observed rows of a view, None for all; ValueError for inf or overflow.

        Parameters
        ----------
        name : str
        matrix : (n, n_features) array or SparseRows
        mask : (n,) bool array or None
            Rows to consider; None considers all.
        describe : callable
            Names a row in a message.
        """
        if isinstance(matrix, SparseRows):
            return self._observed_sparse_rows(name, matrix, mask, describe)
        columns = np.arange(matrix.shape[1])
        unused = self._unused.get(name)
        if unused is not None and unused.size == columns.size:
            columns = np.flatnonzero(~unused)
            matrix = matrix[:, columns]
        if mask is not None and not mask.all():
            matrix = np.where(mask[:, None], matrix, matrix.dtype.type(np.nan))
        if not len(matrix):
            return None
        largest = max(abs(float(matrix.max())), abs(float(matrix.min())))
        if largest <= _largest_value(matrix):  # false for NaN as well
            return None
        _check_magnitude(name, matrix, columns, describe)
        gaps = np.isnan(matrix)
        unseen: Mask = np.asarray(gaps.all(axis=1))
        bad: Mask = gaps & ~unseen[:, None]
        if name in self._pairwise:
            bad = self._outside_missing_columns(name, bad, unseen)
        partial = bad.any(axis=1)
        if partial.any():
            row = int(partial.argmax())
            if self.missing == "error":
                column = columns[bad[row].argmax()]
                raise ValueError(_explain_gap(describe(row), name, column, gaps, unseen))
            self._dropped[name] = int(partial.sum()), describe(row)
        return np.flatnonzero(~unseen & ~partial)

    def _observed_sparse_rows(
        self, name: str, rows: SparseRows, mask: Mask | None, describe: Describe
    ) -> Indices | None:
        """The same for a sparse view, which has no row of NaN: only a mask says what it missed."""
        if name in self._pairwise:
            raise TypeError(
                f"view {name!r} is a precomputed kernel, and it is sparse; pass its .toarray(), or "
                "features instead of a kernel"
            )
        values, seen = rows.matrix.data, np.ones(len(rows), dtype=bool) if mask is None else mask
        counts = np.diff(rows.matrix.indptr)
        bad = np.flatnonzero(~(np.abs(values) <= _largest_value(rows)))  # true for NaN as well
        place = np.repeat(np.arange(len(rows)), counts)[bad]
        bad, place = bad[seen[place]], place[seen[place]]
        columns, found = rows.matrix.indices[bad], values[bad]
        is_gap = np.isnan(found)
        if not is_gap.all():
            first = int((~is_gap).argmax())
            row, column = describe(int(place[first])), int(columns[first])
            raise ValueError(_explain_size(row, name, column, float(found[first]), rows))
        if place.size:
            row = describe(int(place[0]))
            if self.missing == "error":
                raise ValueError(
                    f"{row} of view {name!r} stores NaN in column {columns[0]}; a sparse view has "
                    "no rows of NaN: impute the value, or say which samples the view observed with "
                    "observed= or ids"
                )
            dropped = np.unique(place)
            self._dropped[name] = dropped.size, row
            seen = seen.copy()
            seen[dropped] = False
        return None if seen.all() else np.flatnonzero(seen)

    @property
    def reason(self) -> str:
        """Why a sample may have no row in any view, for a message."""
        return "is NaN at least in part" if self._dropped else "is NaN"

    def warn(self, *, stacklevel: int) -> None:
        """Warn about the rows that were dropped in this read, if any.

        Parameters
        ----------
        stacklevel : int
            Frame that the warning points to, as in `warnings.warn`; 1 is the caller.
        """
        if not self._dropped:
            return
        n_rows = sum(count for count, _ in self._dropped.values())
        parts = [
            f"{count} of view {name!r} (first: {first})"
            for name, (count, first) in self._dropped.items()
        ]
        self._dropped = {}
        subject = "1 row is" if n_rows == 1 else f"{n_rows} rows are"
        warnings.warn(
            DroppedRowsWarning(
                f"{subject} NaN in part and taken as not observed: {', '.join(parts)}",
                n_rows,
            ),
            stacklevel=stacklevel + 1,
        )

    def _outside_missing_columns(self, name: str, bad: Mask, unseen: Mask) -> Mask:
        """Gaps of a kernel that are not due to missing samples, which have a column, too."""
        if bad.shape[0] != bad.shape[1]:
            return bad
        is_empty = bad[~unseen].all(axis=0)
        if not is_empty.any():
            return bad
        self.kernels_with_gaps.add(name)
        # A sample whose column is NaN, but not its row, is at fault itself, not all the others.
        return bad & (~is_empty | np.diag(is_empty))


def _check_magnitude(
    name: str, matrix: NDArray[np.floating], columns: Indices, describe: Describe
) -> None:
    """Raise ValueError for an infinite value, or one whose square overflows."""
    bad = np.argwhere(np.isinf(matrix))
    if bad.size:
        row, column = bad[0]
        text = _explain_size(describe(int(row)), name, columns[column], np.inf, matrix)
        raise ValueError(text)
    sizes = np.abs(matrix)
    sizes[np.isnan(sizes)] = 0.0
    row, column = np.unravel_index(int(sizes.argmax()), sizes.shape)
    largest = float(sizes[row, column])
    if largest > _largest_value(matrix):
        raise ValueError(_explain_size(describe(int(row)), name, column, largest, matrix))


def _explain_size(row: str, name: str, column: Any, value: float, matrix: Rows) -> str:
    """The message about a value that is infinite or too large."""
    if np.isinf(value):
        return f"{row} of view {name!r} has an infinite value (inf) in column {column}"
    largest = abs(value)
    if largest > LARGEST:
        return (
            f"{row} of view {name!r} has a value of {largest:.3g}; its square "
            "overflows: rescale the view"
        )
    return (
        f"{row} of view {name!r} has a value of {largest:.3g}; distances to it "
        "may overflow in single precision: rescale the view, or pass it as float64"
    )


def _largest_value(matrix: Rows) -> float:
    return LARGEST_SINGLE if matrix.dtype == np.float32 else LARGEST


def _explain_gap(row: str, name: str, column: Any, gaps: Mask, unseen: Mask) -> str:
    """The message about a row that is NaN in part."""
    hint = ""
    if gaps.shape[0] == gaps.shape[1] and unseen.any() and gaps[:, unseen].all():
        hint = f"; if the view is a precomputed kernel, pass pairwise=[{name!r}] to Views"
    return (
        f"{row} of view {name!r} has NaN in column {column} but values elsewhere; impute the "
        "missing values (for example with sklearn.impute), or set the whole row to NaN to mark the "
        f'sample as not observed, which missing="drop" does for all such rows{hint}'
    )
