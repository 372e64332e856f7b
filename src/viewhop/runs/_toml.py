"""TOML text of plain data; the standard library only reads TOML."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

__all__ = ["format_toml"]

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


def format_toml(values: Mapping[str, Any]) -> str:
    r"""The TOML text of plain data, which `tomllib.loads` reads back bit for bit.

    Parameters
    ----------
    values : dict
        Of text, whole numbers, finite floats, booleans, lists of these, and dicts of the same
        kind, which become tables. A key with None is left out.

    Raises
    ------
    ValueError
        If text has a lone surrogate, which UTF-8 cannot encode.
    TypeError
        If a value is of any other type.

    Examples
    --------
    >>> from viewhop.runs._toml import format_toml
    >>> print(format_toml({"seed": 0, "views": {"rna": {"path": "a\\b.csv"}}}))
    seed = 0
    <BLANKLINE>
    [views.rna]
    path = "a\\b.csv"
    <BLANKLINE>
    """
    return "\n".join(_table(values, ()))


def _table(values: Mapping[str, Any], where: tuple[str, ...]) -> list[str]:
    """The lines of a table, followed by those of its inner tables."""
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
    return name if _BARE.fullmatch(name) else _quote(name)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float) and math.isfinite(value):
        # TOML reads 1e+16 as well; repr is the shortest text that gives the same number.
        return repr(value)
    if isinstance(value, str):
        return _quote(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    raise TypeError(f"{value!r} has no TOML form")


def _quote(value: str) -> str:
    value.encode("utf-8")  # raises UnicodeEncodeError, a ValueError, for a lone surrogate
    return f'"{"".join(map(_escape, value))}"'


def _escape(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    # TOML forbids control characters in text, and editors hide them.
    return character if character.isprintable() else f"\\U{ord(character):08X}"
