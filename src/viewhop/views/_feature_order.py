"""Finding the columns of a fit in new data by their names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["FoundColumns", "find_columns", "match_features"]

#: Most names in a message.
_LISTED = 8


class FoundColumns(NamedTuple):
    """Where wanted columns are in a table.

    Attributes
    ----------
    positions : list of int
        Of the wanted columns that the table has, in the order in which they are wanted.
    missing, extra : list of str
        Wanted columns that the table lacks, and columns of the table that are not wanted.
    """

    positions: list[int]
    missing: list[str]
    extra: list[str]


def find_columns(header: Sequence[str], wanted: Sequence[str]) -> FoundColumns:
    """The positions of wanted columns in a table, whatever their order there.

    Parameters
    ----------
    header : sequence of str
        Names of the columns of the table, each once.
    wanted : sequence of str

    Examples
    --------
    >>> from viewhop.views import find_columns
    >>> find_columns(["id", "b", "a"], ["a", "b", "c"])
    FoundColumns(positions=[2, 1], missing=['c'], extra=['id'])
    """
    places = {name: k for k, name in enumerate(header)}
    names = set(wanted)
    return FoundColumns(
        [places[name] for name in wanted if name in places],
        [name for name in wanted if name not in places],
        [name for name in header if name not in names],
    )


def match_features(
    view: str, labels: Sequence[str] | None, known: Sequence[str] | None
) -> list[int] | None:
    """The positions of the features of a fit among those of a view; None if they are in order.

    Parameters
    ----------
    view : str
        Name of the view.
    labels, known : sequences of str, or None
        Names of its features, and those of the fit. Without names, features are matched by
        position.

    Raises
    ------
    ValueError
        If names are missing, unknown or repeated.
    """
    if labels is None or known is None or tuple(labels) == tuple(known):
        return None
    positions, missing, extra = find_columns(labels, known)
    if missing or extra:
        faults = [f"it lacks {_quote(missing)}"] if missing else []
        faults += [f"it has {_quote(extra)}, which the fit had not"] if extra else []
        raise ValueError(
            f"the columns of view {view!r} are not those of the fit: {' and '.join(faults)}; "
            "columns are matched by name"
        )
    if len(positions) < len(labels) or len({*positions}) < len(positions):
        raise ValueError(
            f"columns of view {view!r} have the same name, so they cannot be matched by name; "
            "pass them in the order of the fit"
        )
    return positions


def _quote(names: Sequence[str]) -> str:
    more = f", … ({len(names):,} in all)" if len(names) > _LISTED else ""
    return ", ".join(map(repr, names[:_LISTED])) + more
