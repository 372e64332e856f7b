"""Several tables joined as views of the same samples, by id or by row."""

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
from viewhop.tables._column_choice import DEFAULT, Options, match_names
from viewhop.tables._faults import missing_column, quote_cell
from viewhop.tables._read import read
from viewhop.tables._table import Table
from viewhop.views import Views

__all__ = ["Joined", "check_requested", "join_tables", "read_views"]

_WHOLE = re.compile(r"0|-?[1-9]\d{0,17}")
_DECIMAL = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")


class Joined(NamedTuple):
    """Views with the labels of their samples.

    Attributes
    ----------
    views : Views
        With ids as text, if the tables have ids.
    labels : (n_samples,) array or None
        Integers or floats if every label is one, otherwise text; None without labels.
    tables : dict of Table by view name
        The tables that the views come from.
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
    """The views in several files, one view per file.

    Parameters
    ----------
    paths : dict of paths by view name
    options : Options
        For all files. Each column in `label`, `keep` or `drop` must be in at least one file.
    max_memory : number, str or None, default=None
        Limit for each file, as in `read`.

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
    r"""The tables as views: joined by id if they have ids, otherwise by row.

    A join by id contains every id of any table, in order of first appearance. A view did not
    observe the samples that its table lacks, or in which all their cells are empty.

    Parameters
    ----------
    tables : dict of Table by view name
        Either all with ids or all without.

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
        raise TableError(f"{tables[without].path} has no ids, but other files do")
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
    """Raise TableError if a column in `keep`, `drop` or `label` is in none of the files.

    Parameters
    ----------
    tables : dict of Table by view name
    options : Options
    """
    names = [*dict.fromkeys(name for table in tables.values() for name in table.header or ())]
    files = ", ".join(table.path for table in tables.values())
    for patterns, role in ((options.keep, "column to keep"), (options.drop, "column to drop")):
        for pattern in patterns:
            if not match_names(pattern, names):
                raise missing_column(files, pattern, names, role=role)
    if options.label is not None and all(table.labels is None for table in tables.values()):
        raise missing_column(files, options.label, names, role="label column")


def _check_lengths(tables: Mapping[str, Table]) -> None:
    counts = {table.path: len(table) for table in tables.values()}
    if len(set(counts.values())) > 1:
        listing = ", ".join(f"{path} has {count:,}" for path, count in counts.items())
        raise TableError(
            "files without ids must have the same number of rows, one per sample in the same "
            f"order; {listing}; name the id column if there is one"
        )


def _check_observed(tables: Mapping[str, Table], samples: Mapping[str, list[Any]]) -> None:
    """Refuse a sample without a value in any table, naming its line."""
    observed_keys = {
        key
        for name, table in tables.items()
        for key, observed in zip(samples[name], table.observed.tolist(), strict=True)
        if observed
    }
    for name, table in tables.items():
        for row, key in enumerate(samples[name]):
            if key not in observed_keys:
                raise table.fault(row, "no view has a value for this sample; remove it")


def _labels(
    tables: Mapping[str, Table], samples: Mapping[str, list[Any]], order: Sequence[Any]
) -> NDArray[Any] | None:
    """The label of each sample; tables with conflicting labels are refused."""
    first: dict[Any, tuple[Any, Table, int]] = {}
    labelled = [(name, table.labels) for name, table in tables.items() if table.labels is not None]
    if not labelled:
        return None
    for name, labels in labelled:
        table = tables[name]
        for row, (key, label) in enumerate(zip(samples[name], labels, strict=True)):
            if label is None:
                continue
            if isinstance(label, float) and label.is_integer():
                label = int(label)  # 1.0 in an array agrees with "1" in a text file
            first_label, first_table, first_row = first.setdefault(key, (label, table, row))
            if str(first_label) != str(label):
                sample = f"sample {quote_cell(key)}" if isinstance(key, str) else "its sample"
                raise table.fault(
                    row,
                    f"{sample} is labelled {quote_cell(str(label))}, but "
                    f"{quote_cell(str(first_label))} in {first_table.place(first_row)}",
                )
    return _typed_labels([first[key][0] if key in first else None for key in order])


def _typed_labels(labels: Sequence[Any]) -> NDArray[Any]:
    """Labels as integers or floats if all of them are, otherwise as text."""
    present = [label for label in labels if label is not None]
    texts = [str(label) for label in present]
    if present and len(present) == len(labels) and all(map(_WHOLE.fullmatch, texts)):
        return np.array([int(text) for text in texts], dtype=np.int64)
    if present and all(map(_DECIMAL.fullmatch, texts)):
        return np.array([np.nan if label is None else float(label) for label in labels])
    column = np.empty(len(labels), dtype=object)
    column[:] = [None if label is None else str(label) for label in labels]
    return column
