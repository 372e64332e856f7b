"""Several tables joined as views of the same samples, by id or by row."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from viewhop._runtime import memory
from viewhop.errors import SimilarIdsWarning, TableError
from viewhop.tables._budget import ReadingBudget
from viewhop.tables._column_choice import DEFAULT, Options, match_names
from viewhop.tables._faults import missing_column, quote_cell
from viewhop.tables._labels import join_labels
from viewhop.tables._read import NAMES_ROWS, file_ending, read_header, read_table, split_name
from viewhop.tables._table import Table
from viewhop.views import Views, warn_of_similar_ids

__all__ = [
    "Joined",
    "check_id_column",
    "check_join",
    "check_requested",
    "join_tables",
    "read_views",
]

#: Bytes that the join takes for every id of a file.
_JOIN = 300

#: The sample of each row of a table: its ids, or its row numbers.
Keys = Sequence[Any]


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
        For all files. Each column in `label`, `keep` or `drop` must be in at least one file, and
        those of a single view in its file.
    max_memory : number, str or None, default=None
        Limit for all files together, as in `read` for one.

    Raises
    ------
    TableError
        If a file cannot be read, or the files do not belong together.
    """
    budget = ReadingBudget(memory.parse_budget(max_memory))
    shared = replace(options, shared=True)
    try:
        tables = {
            name: read_table(path, shared.for_view(name), budget) for name, path in paths.items()
        }
    except TableError:
        # The column that holds no numbers may be the one whose name was misspelled.
        _check_headers(paths, options)
        raise
    check_requested(tables, options)
    check_id_column(tables, options)
    _check_common_ids(tables)
    check_join(tables, budget)
    return join_tables(tables)


def check_join(tables: Mapping[str, Table], budget: ReadingBudget) -> None:
    """Raise TableError if the join of tables by id would take more memory than is left.

    Parameters
    ----------
    tables : dict of Table by view name
    budget : ReadingBudget
        In which the tables are counted.
    """
    n_ids = sum(len(table.ids or ()) for table in tables.values())
    files = ", ".join(table.path for table in tables.values())
    budget.check(files, _JOIN * n_ids, what=f"joining {n_ids:,} ids")


def join_tables(tables: Mapping[str, Table], *, is_new: bool = False) -> Joined:
    r"""The tables as views: joined by id if they have ids, otherwise by row.

    A join by id contains every id of any table, in order of first appearance. A view did not
    observe the samples that its table lacks, or in which all their cells are empty.

    Parameters
    ----------
    tables : dict of Table by view name
        Either all with ids or all without.
    is_new : bool
        Whether the rows are new samples of a fitted model: then a table may have no value at all,
        and the views lack it.

    Warns
    -----
    SimilarIdsWarning
        If ids of different tables differ only by white space or case.

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
    samples: dict[str, Keys] = {
        name: range(len(table)) if table.ids is None else table.ids
        for name, table in tables.items()
    }
    observed = {name: table.observed for name, table in tables.items()}
    _check_observed(tables, samples, observed)
    if by_id:
        warn_of_similar_ids(
            samples,
            places={name: table.path for name, table in tables.items()},
            advice="pass id_strip (--id-strip)",
        )
    frames = {
        name: _frame(table) for name, table in tables.items() if not is_new or observed[name].any()
    }
    views = _joined_views(frames, samples) if by_id else Views(frames)
    order: Keys = range(len(views)) if views.ids is None else views.ids.tolist()
    return Joined(views, join_labels(tables, samples, order), dict(tables))


def _frame(table: Table) -> pd.DataFrame:
    return pd.DataFrame(
        table.matrix,
        index=None if table.ids is None else pd.Index([*table.ids], dtype=object),
        columns=None if table.columns is None else [*table.columns],
    )


def _joined_views(frames: Mapping[str, pd.DataFrame], samples: Mapping[str, Keys]) -> Views:
    """The views joined by id, in the order in which the ids of all tables first appear."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SimilarIdsWarning)  # given already, with the files
        views = Views.from_frames(frames)
    if len(frames) == len(samples) or views.ids is None:
        return views
    places = {key: place for place, key in enumerate(views.ids.tolist())}
    order = dict.fromkeys(key for keys in samples.values() for key in keys)
    ordered: Views = views[np.array([places[key] for key in order], dtype=np.intp)]
    return ordered


def check_requested(tables: Mapping[str, Table], options: Options) -> None:
    """Raise TableError if a column in `keep`, `drop` or `label` is in none of the files.

    Parameters
    ----------
    tables : dict of Table by view name
    options : Options
    """
    has_labels = any(table.labels is not None for table in tables.values())
    label = None if has_labels else options.label
    headers = {name: table.header or () for name, table in tables.items()}
    files = {name: table.path for name, table in tables.items()}
    _check_names(files, headers, replace(options, label=label))


def check_id_column(tables: Mapping[str, Table], options: Options) -> None:
    """Raise TableError if the id column is in none of the files, all of which name rows anyway.

    Parameters
    ----------
    tables : dict of Table by view name
    options : Options
    """
    endings = (file_ending(split_name(table.path)[0])[0] for table in tables.values())
    if options.id is None or not tables or any(ending not in NAMES_ROWS for ending in endings):
        return
    if not any(options.id in (table.header or ()) for table in tables.values()):
        raise TableError(
            f"{', '.join(table.path for table in tables.values())}: no column "
            f"{quote_cell(options.id)} in obs; without an id column, the obs_names are the ids"
        )


def _check_headers(paths: Mapping[str, str | os.PathLike[str]], options: Options) -> None:
    """Raise TableError as `check_requested` does, as far as the column names are known."""
    headers: dict[str, Sequence[str]] = {}
    for name, path in paths.items():
        header = read_header(path, options.for_view(name))
        if header is not None:
            headers[name] = header
    if any(options.label in header for header in headers.values()):
        options = replace(options, label=None)
    if len(headers) < len(paths):  # what all files are asked for may be in another one
        options = replace(options, keep=(), drop=(), label=None)
    files = {name: os.fspath(path) for name, path in paths.items()}
    _check_names(files, headers, options)


def _check_names(
    files: Mapping[str, str], headers: Mapping[str, Sequence[str]], options: Options
) -> None:
    """Raise TableError for a column in `keep` or `drop` that is not there, and for a label."""
    for key in ("keep", "drop"):
        own = [name for name in headers if key in options.by_view.get(name, {})]
        sharing = [name for name in headers if name not in own]
        groups = [([name], getattr(options.for_view(name), key)) for name in own]
        groups += [(sharing, getattr(options, key))] if sharing else []
        for views, patterns in groups:
            names = [*dict.fromkeys(column for view in views for column in headers[view])]
            for pattern in patterns:
                if not match_names(pattern, names):
                    listed = ", ".join(files[view] for view in views)
                    raise missing_column(listed, pattern, names, role=f"column to {key}")
    if options.label is not None:
        names = [*dict.fromkeys(column for header in headers.values() for column in header)]
        raise missing_column(", ".join(files.values()), options.label, names, role="label column")


def _check_lengths(tables: Mapping[str, Table]) -> None:
    counts = {table.path: len(table) for table in tables.values()}
    if len(set(counts.values())) > 1:
        listing = ", ".join(f"{path} has {count:,}" for path, count in counts.items())
        raise TableError(
            "files without ids must have the same number of rows, one per sample in the same "
            f"order; {listing}; name the id column if there is one"
        )


def _check_common_ids(tables: Mapping[str, Table]) -> None:
    """Refuse a file that has no id in common with any other, with ids of both."""
    if len(tables) < 2 or any(table.ids is None for table in tables.values()):
        return
    keys = {name: frozenset(table.ids or ()) for name, table in tables.items()}
    for name, own in keys.items():
        others = [other for other in keys if other != name]
        if all(own.isdisjoint(keys[other]) for other in others):
            table, other = tables[name], tables[others[0]]
            rest = other.path if len(others) == 1 else "any other file"
            raise TableError(
                f"{table.path} has no id in common with {rest}: {_examples(table)}, but "
                f"{_examples(other)}; a view must share samples with another",
                table.path,
            )


def _examples(table: Table) -> str:
    ids = table.ids or ()
    listing = ", ".join(map(quote_cell, ids[:3]))
    return f"{table.path} has {listing}{', …' if len(ids) > 3 else ''}"


def _check_observed(
    tables: Mapping[str, Table],
    samples: Mapping[str, Keys],
    observed: Mapping[str, NDArray[np.bool_]],
) -> None:
    """Refuse a sample without a value in any table, naming its line."""
    unseen: dict[Any, tuple[Table, int]] = {}
    for name, table in tables.items():
        for row in np.flatnonzero(~observed[name]).tolist():
            unseen.setdefault(samples[name][row], (table, row))
    if not unseen:
        return
    for name in tables:
        for key, is_seen in zip(samples[name], observed[name].tolist(), strict=True):
            if is_seen:
                unseen.pop(key, None)
    for table, row in unseen.values():
        what = "no view has a value for this sample; remove it"
        if any(table.n_dropped for table in tables.values()):
            what += ", or fill in what is empty: rows that are empty in part were dropped"
        raise table.fault(row, what)
