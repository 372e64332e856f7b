"""TOML text: what the settings of a run are written as; Python itself reads it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

__all__ = ["text"]

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPES = {
    '"': '\\"',
    "\\": "\\\\",
    "\b": "\\b",
    "\t": "\\t",
    "\n": "\\n",
    "\f": "\\f",
    "\r": "\\r",
}


def text(values: Mapping[str, Any]) -> str:
    r"""The TOML of plain data: what `tomllib.loads` gives back, to the last bit.

    Parameters
    ----------
    values : dict
        Of text, whole numbers, finite floats, booleans, lists of these, and dicts of the same
        kind, which become tables. None is not written.

    Raises
    ------
    ValueError
        For half of a surrogate pair, which no UTF-8 text has.
    TypeError
        For anything else.

    Examples
    --------
    >>> from viewhop.runs import toml
    >>> print(toml.text({"seed": 0, "views": {"rna": {"path": "a\\b.csv"}}}))
    seed = 0
    <BLANKLINE>
    [views.rna]
    path = "a\\b.csv"
    <BLANKLINE>
    """
    return "\n".join(_table(values, ()))


def _table(values: Mapping[str, Any], where: tuple[str, ...]) -> list[str]:
    """The lines of a table, and below them those of the tables in it."""
    own = {name: entry for name, entry in values.items() if not isinstance(entry, Mapping)}
    lines = [f"{_key(name)} = {_value(entry)}" for name, entry in own.items() if entry is not None]
    inner = {name: entry for name, entry in values.items() if isinstance(entry, Mapping)}
    if where and (lines or not inner):
        lines.insert(0, f"[{'.'.join(map(_key, where))}]")
    if lines:
        lines.append("")
    for name, entry in inner.items():
        lines += _table(entry, (*where, name))
    return lines


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _quoted(name)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float) and math.isfinite(value):
        # Python writes 1e+16 as TOML does, and the shortest text that is read as the same number.
        return repr(value)
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    raise TypeError(f"{value!r} is not written as TOML")


def _quoted(value: str) -> str:
    value.encode("utf-8")  # raises UnicodeEncodeError, a ValueError, for half of a pair
    return f'"{"".join(map(_mark, value))}"'


def _mark(mark: str) -> str:
    if mark in _ESCAPES:
        return _ESCAPES[mark]
    # TOML allows no control character in text, and an editor shows none.
    return mark if mark.isprintable() else f"\\U{ord(mark):08X}"
