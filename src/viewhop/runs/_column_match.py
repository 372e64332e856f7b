"""Files of samples for a model that is there: its columns are found by their names."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from viewhop.errors import TableError
from viewhop.estimators import MultiViewDiffusionMaps
from viewhop.tables import (
    Joined,
    Options,
    Table,
    check_requested,
    join_tables,
    quote_cell,
    read,
    table_fault,
)

__all__ = ["check_training", "ignored", "read_for"]

#: Samples that `check_training` tries, at the most.
_TRIED = 2000


def read_for(est: MultiViewDiffusionMaps, paths: Mapping[str, str], *, options: Options) -> Joined:
    """The views of files, with the columns that a model was fitted on, in its order.

    Where file and model have names of columns, these decide; else the number of columns must be
    that of the fit. A column that the model does not know is passed over.

    Parameters
    ----------
    est : MultiViewDiffusionMaps
        Fitted.
    paths : dict of paths by view name
        Any of the views.
    options : Options
        For all files.

    Raises
    ------
    TableError
        If a file cannot be read, or lacks a column.
    """
    seen = est._layout
    for name in paths:
        if name not in seen.names:
            raise TableError(
                f"the model has no view {name!r}; it was fitted on {', '.join(seen.names)}"
            )
    tables = {}
    for name in sorted(paths, key=seen.names.index):  # samples in the order of the fit, too
        path = paths[name]
        place = seen.names.index(name)
        columns = seen.feature_names[place]
        own = options if columns is None else replace(options, keep=(), drop=(), columns=columns)
        tables[name] = read(path, options=replace(own, shared=True), max_memory=est.max_memory)
        width = tables[name].matrix.shape[1]
        if width != seen.widths[place]:
            raise table_fault(
                tables[name].path,
                f"{width} columns of features, and the model was fitted on {seen.widths[place]} "
                f"for the view {name!r}",
            )
    by_place = {
        name: table
        for name, table in tables.items()
        if seen.feature_names[seen.names.index(name)] is None
    }
    if by_place:
        check_requested(by_place, replace(options, label=None))
    if options.label is not None and all(table.labels is None for table in tables.values()):
        files = ", ".join(table.path for table in tables.values())
        raise TableError(f"{files}: no label column {quote_cell(options.label)}")
    return join_tables(tables)


def check_training(est: MultiViewDiffusionMaps, found: Joined) -> None:
    """Raise TableError unless samples are those of the fit, in its order.

    A training sample is placed where the fit put it. Of many samples some are tried, evenly spread.

    Parameters
    ----------
    est : MultiViewDiffusionMaps
        Fitted.
    found : Joined
    """
    n = len(est.embedding_)
    if len(found.views) != n:
        raise TableError(
            f"the files have {len(found.views):,} samples, and the model was fitted on {n:,}: "
            "give those"
        )
    if set(found.views.names) != set(est.view_names_):
        raise TableError(
            f"the model was fitted on {', '.join(est.view_names_)}: give the files of all of them"
        )
    rows = np.unique(np.linspace(0, n - 1, _TRIED).astype(np.intp))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they were told when it was fitted
        placed = est.transform(found.views[rows])
    known = est.embedding_[rows]
    off = np.abs(placed - known).max(axis=1) > 1e-4 * np.abs(known).max()
    if off.any():
        sample = int(rows[np.argmax(off)])
        name = f"number {sample + 1:,}"
        if found.views.ids is not None:
            name += f" ({quote_cell(str(found.views.ids[sample]))})"
        raise TableError(
            "these are not the samples that the model was fitted on, or not in that order: sample "
            f"{name} is another; give the files of the fit"
        )


def ignored(table: Table, options: Options) -> list[str]:
    """The columns of a file that were passed over.

    Parameters
    ----------
    table : Table
    options : Options
        What else was asked of it.
    """
    used = {*(table.columns or ()), options.id, options.label}
    return [name for name in table.header or () if name not in used]
