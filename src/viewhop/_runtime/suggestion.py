"""A guess at what a misspelled name was meant to be."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["nearest_name", "suggestion"]


def nearest_name(name: str, known: Iterable[str]) -> str | None:
    """The known name that is nearest to a misspelled one; None if none is near.

    Parameters
    ----------
    name : str
    known : iterable of str

    Examples
    --------
    >>> from viewhop._runtime.suggestion import nearest_name
    >>> nearest_name("typ", ["Type", "age"])
    'Type'
    """
    folded = {other.strip().casefold(): other for other in known}
    near = get_close_matches(name.strip().casefold(), folded, n=1)
    return folded[near[0]] if near else None


def suggestion(name: str, known: Iterable[str]) -> str:
    """Text for an error message, `` (did you mean 'x'?)``; empty if no known name is near.

    Parameters
    ----------
    name : str
    known : iterable of str

    Examples
    --------
    >>> from viewhop._runtime.suggestion import suggestion
    >>> suggestion("kernal", ["kernel", "seed"])
    " (did you mean 'kernel'?)"
    """
    near = nearest_name(name, known)
    return "" if near is None else f" (did you mean {near!r}?)"
