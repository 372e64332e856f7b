"""The quote that keeps a spreadsheet from running a text as a formula."""

from __future__ import annotations

import re

__all__ = ["add_guard", "remove_guard"]

#: Text that a spreadsheet would run as a formula, with or without the quotes that prevent it.
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
#: A number: a spreadsheet shows it, and nothing is run.
_NUMBER = re.compile(r"[+-]([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def add_guard(text: str) -> str:
    """The text, after a single quote if a spreadsheet could run it; numbers are left alone.

    Parameters
    ----------
    text : str

    Examples
    --------
    >>> from viewhop.tables._cell_guard import add_guard, remove_guard
    >>> [add_guard(text) for text in ("-30", "+7.5e3", "-1+2", "=A1", "'-30")]
    ['-30', '+7.5e3', "'-1+2", "'=A1", "''-30"]
    >>> remove_guard("'=A1"), remove_guard("''-30"), remove_guard("-30")
    ('=A1', "'-30", '-30')
    """
    if _FORMULA.match(text) and not _NUMBER.fullmatch(text):
        return f"'{text}"
    return text


def remove_guard(text: str) -> str:
    """The text without the quote that `add_guard` put before it.

    Parameters
    ----------
    text : str
    """
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text
