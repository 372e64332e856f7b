"""Kinds of settings: what a value may be, and what is said of one that is not."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

__all__ = [
    "Kind",
    "boolean",
    "choice",
    "either",
    "memory_size",
    "names",
    "number",
    "text",
    "whole",
]

#: The value as it is held, or ValueError with what was expected.
Kind = Callable[[Any], Any]


def text(value: Any) -> str:
    """Text that is not empty and can be written."""
    if not isinstance(value, str) or not value:
        raise ValueError("text that is not empty")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("text that UTF-8 can hold") from None
    return value


def names(value: Any) -> tuple[str, ...]:
    """Several texts."""
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


def choice(*known: str) -> Kind:
    """One of some words."""

    def chosen(value: Any) -> str:
        if not isinstance(value, str) or value not in known:
            raise ValueError(f"one of {', '.join(known)}")
        return value

    return chosen


def whole(least: int, most: int | None = None) -> Kind:
    """A whole number in a range."""
    told = f"a whole number of at least {least}" if most is None else f"{least} to {most}"

    def counted(value: Any) -> int:
        is_whole = isinstance(value, int) and not isinstance(value, bool)
        if not is_whole or value < least or (most is not None and value > most):
            raise ValueError(told)
        return int(value)

    return counted


def number(*, least: float | None = None, above: float | None = None, most: float = 1e300) -> Kind:
    """A finite number in a range."""
    told = "a positive number" if above == 0 else f"a number of at least {least:g}"
    if most < 1e300:
        told = f"a number from {least:g} to {most:g}"

    def measured(value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(told)
        found = float(value) if abs(value) <= 1e300 else math.inf
        if not math.isfinite(found) or found > most:
            raise ValueError(told)
        if (least is not None and found < least) or (above is not None and found <= above):
            raise ValueError(told)
        return found

    return measured


def either(*kinds: Kind) -> Kind:
    """A value of any of the kinds."""

    def fitting(value: Any) -> Any:
        expected = []
        for kind in kinds:
            try:
                return kind(value)
            except ValueError as error:
                expected.append(str(error))
        raise ValueError(", or ".join(expected))

    return fitting


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
