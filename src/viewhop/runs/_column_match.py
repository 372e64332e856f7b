"""Files of samples for a fitted model: its columns are matched by name."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from viewhop._runtime.memory import parse_budget
from viewhop._runtime.suggestion import suggestion
from viewhop.errors import TableError
from viewhop.runs._estimator import Model, embedder_of, schema_of
from viewhop.tables import (
    Joined,
    Options,
    ReadingBudget,
    Table,
    check_id_column,
    check_join,
    check_requested,
    join_tables,
    quote_cell,
    read_table,
    table_fault,
)

__all__ = ["check_training_samples", "ignored_columns", "read_model_views"]

#: Most samples that `check_training_samples` compares.
_COMPARED = 2000


def read_model_views(
    model: Model,
    paths: Mapping[str, str],
    *,
    options: Options,
    is_new: bool = False,
) -> Joined:
    """The views in files, with the columns that a model was fitted on, in its order.

    Columns are matched by name if both the file and the model have names; otherwise the number of
    columns must be that of the fit. Columns that the model does not use are ignored.

    Parameters
    ----------
    model : estimator
        Fitted.
    paths : dict of paths by view name
        Any of the views.
    options : Options
        For all files.
    is_new : bool
        Whether the samples are new: a file may then have no value at all, and its view is as if
        it was not passed.

    Raises
    ------
    TableError
        If a file cannot be read, or lacks a column.
    """
    schema = schema_of(model)
    for name in paths:
        if name not in schema.names:
            raise TableError(
                f"the model has no view {name!r}{suggestion(name, schema.names)}; it was fitted on "
                f"{', '.join(schema.names)}"
            )
    budget = ReadingBudget(parse_budget(embedder_of(model).max_memory))
    tables = {}
    for name in sorted(paths, key=schema.names.index):  # samples in the order of the fit, too
        place = schema.names.index(name)
        columns = schema.feature_names[place]
        own = options.for_view(name)
        if columns is not None:
            own = replace(own, keep=(), drop=(), columns=columns)
        table = read_table(paths[name], replace(own, shared=True), budget, is_new=is_new)
        width = table.matrix.shape[1]
        if width != schema.widths[place]:
            raise table_fault(
                table.path,
                f"it has {width} feature columns, but the model was fitted on "
                f"{schema.widths[place]} for view {name!r}",
            )
        tables[name] = table
    unnamed = {
        name: table
        for name, table in tables.items()
        if schema.feature_names[schema.names.index(name)] is None
    }
    if unnamed:
        check_requested(unnamed, replace(options, label=None))
    check_id_column(tables, options)
    if all(table.labels is None for table in tables.values()):
        check_requested(tables, Options(label=options.label))
    check_join(tables, budget)
    return join_tables(tables, is_new=is_new)


def check_training_samples(model: Model, samples: Joined) -> None:
    """Raise TableError unless samples are the training samples of a model, in the same order.

    A training sample is placed where the fit put it. Of many samples some are compared, evenly
    spaced.

    Parameters
    ----------
    model : estimator
        Fitted.
    samples : Joined
    """
    est = embedder_of(model)
    n = len(est.embedding_)
    if len(samples.views) != n:
        raise TableError(
            f"the files have {len(samples.views):,} samples, but the model was fitted on {n:,}: "
            "pass the files of the fit"
        )
    if set(samples.views.names) != set(est.view_names_):
        raise TableError(
            f"the model was fitted on {', '.join(est.view_names_)}: pass a file for each of them"
        )
    rows = np.unique(np.linspace(0, n - 1, _COMPARED).astype(np.intp))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit has raised them already
        placed = est.transform(samples.views[rows])
    expected = est.embedding_[rows]
    differs = np.abs(placed - expected).max(axis=1) > 1e-4 * np.abs(expected).max()
    if differs.any():
        sample = int(rows[np.argmax(differs)])
        name = f"number {sample + 1:,}"
        if samples.views.ids is not None:
            name += f" ({quote_cell(str(samples.views.ids[sample]))})"
        raise TableError(
            "these are not the samples that the model was fitted on, or not in the same order: "
            f"sample {name} differs; pass the files of the fit"
        )


def ignored_columns(table: Table, options: Options) -> list[str]:
    """The columns of a file that the model does not use.

    Parameters
    ----------
    table : Table
    options : Options
        With the columns of ids and labels.
    """
    used = {*(table.columns or ()), options.id, options.label}
    return [name for name in table.header or () if name not in used]
