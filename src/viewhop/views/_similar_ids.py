"""Ids that differ only by white space or case, which a join takes for different samples."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from viewhop.errors import SimilarIdsWarning

__all__ = ["SimilarIds", "find_similar_ids", "warn_of_similar_ids"]

#: Spellings of an id that are compared with each other.
_MOST_SPELLINGS = 32


class SimilarIds(NamedTuple):
    """Ids of different views that differ only by white space or case.

    Attributes
    ----------
    n_ids : int
        Number of ids that are spelled in several ways.
    first, second : str
        The first such pair.
    first_view, second_view : str
        Names of views that have them.
    """

    n_ids: int
    first: str
    second: str
    first_view: str
    second_view: str


def find_similar_ids(ids: Mapping[str, Sequence[Hashable]]) -> SimilarIds | None:
    """Ids of different views that differ only by white space or case; None if there are none.

    Two ids in the same view are different samples, whatever their spelling: the view tells them
    apart. The time is linear in the number of ids.

    Parameters
    ----------
    ids : dict of sequences by view name
        Ids that are not text are never similar.

    Examples
    --------
    >>> from viewhop.views._similar_ids import find_similar_ids
    >>> find_similar_ids({"x": ["a1", "B2"], "y": ["a1 ", "b2", "c3"]})
    SimilarIds(n_ids=2, first='a1', second='a1 ', first_view='x', second_view='y')
    """
    sets = {name: {key for key in keys if isinstance(key, str)} for name, keys in ids.items()}
    shared = set.intersection(*sets.values()) if sets else set()
    spellings: dict[str, dict[str, list[str]]] = {}
    for name, keys in ids.items():
        own = sets[name]
        if len(own) == len(shared):
            continue  # every view has all of its ids
        for key in keys:
            if isinstance(key, str) and key not in shared:
                folded = "".join(key.split()).casefold()
                spellings.setdefault(folded, {}).setdefault(key, []).append(name)
    pairs = (_first_pair(entry) for entry in spellings.values() if len(entry) > 1)
    found = [pair for pair in pairs if pair is not None]
    return SimilarIds(len(found), *found[0]) if found else None


def _first_pair(views_by_id: Mapping[str, list[str]]) -> tuple[str, str, str, str] | None:
    """Two ids that no view has both, with the first view of each."""
    entries = [*views_by_id.items()][:_MOST_SPELLINGS]
    for (first, its_views), (second, other_views) in combinations(entries, 2):
        if not {*its_views} & {*other_views}:
            return first, second, its_views[0], other_views[0]
    return None


def warn_of_similar_ids(
    ids: Mapping[str, Sequence[Hashable]],
    *,
    places: Mapping[str, str] | None = None,
    advice: str,
) -> None:
    """Raise a `SimilarIdsWarning` if ids of different views differ only by white space or case.

    Parameters
    ----------
    ids : dict of sequences by view name
    places : dict of str by view name, or None
        What the message calls each view; None is ``view 'name'``.
    advice : str
        How to remove white space around ids.
    """
    found = find_similar_ids(ids)
    if found is None:
        return
    first, second = (
        f"view {name!r}" if places is None else places[name]
        for name in (found.first_view, found.second_view)
    )
    is_space = found.first.strip() == found.second.strip()
    kind = "white space" if found.first.casefold() != found.second.casefold() else "case"
    more = "" if found.n_ids == 1 else f" ({found.n_ids:,} such ids)"
    warnings.warn(
        SimilarIdsWarning(
            f"{first} has the id {_shorten(found.first)} and {second} {_shorten(found.second)}, "
            f"which differ only by {kind}{more}; they count as different samples: "
            f"{advice if is_space else 'spell them alike'} if they are the same",
            found.n_ids,
        ),
        stacklevel=3,
    )


def _shorten(key: str, limit: int = 40) -> str:
    return repr(key if len(key) <= limit else f"{key[: limit - 1]}…")
