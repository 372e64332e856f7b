"""Files of samples for a model that is there: its columns are found by their names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from viewhop.errors import TableError
from viewhop.estimators import MultiViewDiffusionMaps
from viewhop.tables import Joined, Options, Table, joined, read
from viewhop.tables.faults import fault, quoted

__all__ = ["ignored", "read_for"]


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
    for name, path in paths.items():
        place = seen.names.index(name)
        columns = seen.feature_names[place]
        own = options if columns is None else replace(options, keep=(), drop=(), columns=columns)
        tables[name] = read(path, options=replace(own, shared=True), max_memory=est.max_memory)
        width = tables[name].matrix.shape[1]
        if width != seen.widths[place]:
            raise fault(
                tables[name].path,
                f"{width} columns of features, and the model was fitted on {seen.widths[place]} "
                f"for the view {name!r}",
            )
    if options.label is not None and all(table.labels is None for table in tables.values()):
        files = ", ".join(table.path for table in tables.values())
        raise TableError(f"{files}: no label column {quoted(options.label)}")
    return joined(tables)


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
