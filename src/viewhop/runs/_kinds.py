"""Kinds of settings: which values a setting accepts, and how an error describes them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

__all__ = [
    "Kind",
    "boolean",
    "choice",
    "either",
    "memory_size",
    "name_in",
    "names",
    "number",
    "square_matrix",
    "text",
    "thread_count",
    "whole",
]

#: The largest number that a setting may be, and the most threads.
_LARGEST, _MOST_THREADS = 1e300, 10_000

#: The value as it is stored, or ValueError with a description of what was expected.
Kind = Callable[[Any], Any]


def text(value: Any) -> str:
    """Text that is not empty and has a UTF-8 encoding."""
    if not isinstance(value, str) or not value:
        raise ValueError("text that is not empty")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("text that UTF-8 can encode") from None
    return value


def names(value: Any) -> tuple[str, ...]:
    """Several texts, as a tuple."""
    if not isinstance(value, list | tuple):
        raise ValueError("a list of texts")
    try:
        return tuple(map(text, value))
    except ValueError:
        raise ValueError("a list of texts") from None


def boolean(value: Any) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise ValueError("true or false")
    return value


def choice(*words: str) -> Kind:
    """The kind of a setting that is one of a few fixed words."""
    return lambda value: _word(value, words)


def name_in(names: Mapping[str, object], *more: str) -> Kind:
    """The kind of a setting that is a key of a dict, which is read at every check.

    Parameters
    ----------
    names : dict
        One of `viewhop._registry`; an entry added later is accepted from then on.
    *more : str
        Further words, listed first in errors.

    Examples
    --------
    >>> from viewhop.runs._kinds import name_in
    >>> kernels = {"gaussian": 1}
    >>> kind = name_in(kernels)
    >>> kernels["laplacian"] = 2
    >>> kind("laplacian")
    'laplacian'
    """
    return lambda value: _word(value, (*more, *names))


def _word(value: Any, words: Iterable[str]) -> str:
    known = tuple(words)
    if not isinstance(value, str) or value not in known:
        raise ValueError(f"one of {', '.join(known)}" if len(known) > 1 else repr(known[0]))
    return value


def whole(least: int, most: int | None = None) -> Kind:
    """The kind of a setting that is a whole number in a range."""
    expected = f"a whole number of at least {least}" if most is None else f"{least} to {most}"
    if least == most:
        expected = str(least)

    def check(value: Any) -> int:
        is_whole = isinstance(value, int) and not isinstance(value, bool)
        if not is_whole or value < least or (most is not None and value > most):
            raise ValueError(expected)
        return int(value)

    return check


def number(
    *, least: float | None = None, above: float | None = None, most: float = _LARGEST
) -> Kind:
    """The kind of a setting that is a finite number in a range."""
    expected = "a positive number" if above == 0 else f"a number of at least {least:g}"
    if most < _LARGEST:
        expected = f"a number from {least:g} to {most:g}"

    def check(value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(expected)
        if value > _LARGEST and most == _LARGEST:
            raise ValueError(f"{expected}, and at most {most:g}")
        converted = float(value) if abs(value) <= _LARGEST else math.inf
        if not math.isfinite(converted) or converted > most:
            raise ValueError(expected)
        if (least is not None and converted < least) or (above is not None and converted <= above):
            raise ValueError(expected)
        return converted

    return check


def square_matrix(value: Any) -> tuple[tuple[float, ...], ...]:
    """A list of as many lists of non-negative numbers, as tuples."""
    expected = "a square matrix of non-negative numbers, as a list of rows"
    entry = number(least=0)
    if not isinstance(value, list | tuple) or not value:
        raise ValueError(expected)
    rows = []
    for row in value:
        if not isinstance(row, list | tuple) or len(row) != len(value):
            raise ValueError(expected)
        try:
            rows.append(tuple(map(entry, row)))
        except ValueError:
            raise ValueError(expected) from None
    return tuple(rows)


def thread_count(value: Any) -> int:
    """A number of threads, or −1 for all cores."""
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    if not is_whole or not (value == -1 or 1 <= value <= _MOST_THREADS):
        raise ValueError(
            f"a whole number of threads from 1 to {_MOST_THREADS:,}, or -1 for all cores"
        )
    return int(value)


def either(*kinds: Kind) -> Kind:
    """The kind of a setting that may be of any of several kinds."""

    def check(value: Any) -> Any:
        expected = []
        for kind in kinds:
            try:
                return kind(value)
            except ValueError as error:
                expected.append(str(error))
        raise ValueError(", or ".join(expected))

    return check


def memory_size(value: Any) -> int | str:
    """Bytes, or text like "8GB"."""
    from viewhop._runtime.memory import parse_budget

    try:
        if isinstance(value, bool) or not isinstance(value, int | str):
            raise ValueError
        parse_budget(value)
    except ValueError:
        raise ValueError('bytes, or text like "8GB"') from None
    return value
