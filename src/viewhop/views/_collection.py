"""Reading views of any form: those of new samples, and those of a fit, which needs them all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from viewhop.views._checks import is_mudata
from viewhop.views._columns import Groups
from viewhop.views._row_reader import RowReader
from viewhop.views._views import Views

__all__ = ["cut_columns", "read_collection", "read_every_view", "require_rows"]


def read_collection(X: Any, reader: RowReader) -> Views:
    """The views of a list, dict, Views or MuData.

    Parameters
    ----------
    X : list or dict of (n_samples, n_features) arrays, Views or MuData
    reader : RowReader
        Decides which rows were observed.
    """
    return Views._from_any(X, reader)


def cut_columns(
    X: Any, groups: Groups, reader: RowReader, *, names: Sequence[Any] | None = None
) -> Views:
    """The views made of the column groups of a stacked array or DataFrame.

    Parameters
    ----------
    X, groups, names
        As in `viewhop.Views.from_columns`.
    reader : RowReader
        Decides which rows were observed.
    """
    return Views._from_groups(X, groups, reader, names)


def read_every_view(X: Any, reader: RowReader | None = None) -> Views:
    """The views of a list, dict, Views or MuData; ValueError if one is None or has no rows.

    Parameters
    ----------
    X : list or dict of (n_samples, n_features) arrays, Views or MuData
    reader : RowReader or None
        Decides which rows were observed; None is the default one.
    """
    views = read_collection(X, RowReader() if reader is None else reader)
    n_given = len(X.mod if is_mudata(X) else getattr(X, "names", X))
    if views.n_views < n_given:
        raise ValueError(
            "a view is None, and a fit needs every view: leave it out of the list or dict "
            "(only transform accepts None, for a view that was not measured)"
        )
    return require_rows(views)


def require_rows(views: Views) -> Views:
    """The views themselves; ValueError if one of them observed no sample.

    Parameters
    ----------
    views : Views
    """
    for name in views.names:
        if not len(views.rows(name)):
            raise ValueError(
                f"view {name!r} observed no sample: every row is NaN or missing; leave the view out"
            )
    return views
