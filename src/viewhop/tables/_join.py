"""Several tables as views of the same samples, by their ids or by their order."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from viewhop.errors import TableError
from viewhop.tables._column_choice import DEFAULT, Options, matches
from viewhop.tables._faults import missing_column, quote_cell
from viewhop.tables._read import read
from viewhop.tables._table import Table
from viewhop.views import Views

__all__ = ["Joined", "join_tables", "read_views"]

_WHOLE = re.compile(r"0|-?[1-9]\d{0,17}")
_DECIMAL = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")


class Joined(NamedTuple):
    """Views, and what the samples are labelled.

    Attributes
    ----------
    views : Views
        With ids as text, if the tables had any.
    labels : (n_samples,) array or None
        Of whole numbers or floats where all labels are, else of text; None for no label.
    tables : dict of Table by view name
        What the views were made of.
    """

    views: Views
    labels: NDArray[Any] | None
    tables: dict[str, Table]


def read_views(
    paths: Mapping[str, str | os.PathLike[str]],
    *,
    options: Options = DEFAULT,
    max_memory: float | str | None = None,
) -> Joined:
    """The views that stand in several files.

    Parameters
    ----------
    paths : dict of paths by view name
    options : Options
        For all files. A column to label, keep or drop must stand in one of them at least.
    max_memory : number, str or None, default=None
        For each file, as in `read`.

    Raises
    ------
    TableError
        If a file cannot be read, or the files do not belong together.
    """
    shared = replace(options, shared=True)
    tables = {
        name: read(path, options=shared, max_memory=max_memory) for name, path in paths.items()
    }
    check_requested(tables, options)
    return join_tables(tables)


def join_tables(tables: Mapping[str, Table]) -> Joined:
    r"""The views that tables are: joined by their ids if they have them, else by row.

    By ids, a sample is in the result if any table has its id, in the order in which ids first
    appear; what a table does not have, that view did not observe. An empty row says the same.

    Parameters
    ----------
    tables : dict of Table by view name
        With ids all of them, or none.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from viewhop.tables import Options, read_views
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     paths = {name: Path(folder, f"{name}.csv") for name in ("rna", "protein")}
    ...     size = paths["rna"].write_text("cell,gene,type\nanna,1,T\nben,2,B\n")
    ...     size = paths["protein"].write_text("cell,level\nben,3\ncleo,4\n")
    ...     views, labels, _ = read_views(paths, options=Options(id="cell", label="type"))
    >>> views
    Views(3 samples: rna (1; saw 2), protein (1; saw 2))
    >>> views.ids.tolist(), labels.tolist()
    (['anna', 'ben', 'cleo'], ['T', 'B', None])
    """
    if not tables:
        raise ValueError("expected at least one table, got none")
    with_ids = {name: table.ids is not None for name, table in tables.items()}
    if len(set(with_ids.values())) > 1:
        without = next(name for name, has in with_ids.items() if not has)
        raise TableError(f"{tables[without].path} has no ids, and other files have")
    by_id = all(with_ids.values())
    if not by_id:
        _check_lengths(tables)
    samples = {
        name: np.arange(len(table)).tolist() if table.ids is None else [*table.ids]
        for name, table in tables.items()
    }
    _check_observed(tables, samples)
    frames = {
        name: pd.DataFrame(
            table.matrix,
            index=pd.Index(samples[name], dtype=object),
            columns=None if table.columns is None else [*table.columns],
        )
        for name, table in tables.items()
    }
    views = Views.from_frames(frames) if by_id else Views(frames)
    order: Sequence[Any] = range(len(views)) if views.ids is None else views.ids.tolist()
    return Joined(views, _labels(tables, samples, order), dict(tables))


def check_requested(tables: Mapping[str, Table], options: Options) -> None:
    """Raise TableError for a column to keep, drop or label that no file has.

    Parameters
    ----------
    tables : dict of Table by view name
    options : Options
    """
    named = [*dict.fromkeys(name for table in tables.values() for name in table.header or ())]
    files = ", ".join(table.path for table in tables.values())
    for patterns, role in ((options.keep, "column to keep"), (options.drop, "column to drop")):
        for pattern in patterns:
            if not matches(pattern, named):
                raise missing_column(files, pattern, named, role=role)
    if options.label is not None and all(table.labels is None for table in tables.values()):
        raise missing_column(files, options.label, named, role="label column")


def _check_lengths(tables: Mapping[str, Table]) -> None:
    counts = {table.path: len(table) for table in tables.values()}
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"{path} has {count:,}" for path, count in counts.items())
        raise TableError(
            f"without ids the files must have the same samples in the same rows; {listed}; name "
            "the column of ids if there is one"
        )


def _check_observed(tables: Mapping[str, Table], samples: Mapping[str, list[Any]]) -> None:
    """Refuse a sample that has no value in any table, with the line where it stands."""
    seen = {
        key
        for name, table in tables.items()
        for key, observed in zip(samples[name], table.observed.tolist(), strict=True)
        if observed
    }
    for name, table in tables.items():
        for row, key in enumerate(samples[name]):
            if key not in seen:
                raise table.fault(row, "no view has a value for this sample; leave it out")


def _labels(
    tables: Mapping[str, Table], samples: Mapping[str, list[Any]], order: Sequence[Any]
) -> NDArray[Any] | None:
    """The label of each sample, on which all tables that have one must agree."""
    found: dict[Any, tuple[Any, Table, int]] = {}
    labelled = [(name, table.labels) for name, table in tables.items() if table.labels is not None]
    if not labelled:
        return None
    for name, labels in labelled:
        table = tables[name]
        for row, (key, label) in enumerate(zip(samples[name], labels, strict=True)):
            if label is None:
                continue
            if isinstance(label, float) and label.is_integer():
                label = int(label)  # so that 1.0 of an array agrees with the 1 of a text
            known, other, place = found.setdefault(key, (label, table, row))
            if str(known) != str(label):
                sample = f"sample {quote_cell(key)}" if isinstance(key, str) else "its sample"
                raise table.fault(
                    row,
                    f"{sample} is labelled {quote_cell(str(label))}, and {quote_cell(str(known))} in "
                    f"{other.place(place)}",
                )
    return _typed([found[key][0] if key in found else None for key in order])


def _typed(labels: Sequence[Any]) -> NDArray[Any]:
    """Labels as whole numbers or floats where all are written so, else as text."""
    given = [label for label in labels if label is not None]
    texts = [str(label) for label in given]
    if given and len(given) == len(labels) and all(map(_WHOLE.fullmatch, texts)):
        return np.array([int(text) for text in texts], dtype=np.int64)
    if given and all(map(_DECIMAL.fullmatch, texts)):
        return np.array([np.nan if label is None else float(label) for label in labels])
    found = np.empty(len(labels), dtype=object)
    found[:] = [None if label is None else str(label) for label in labels]
    return found
