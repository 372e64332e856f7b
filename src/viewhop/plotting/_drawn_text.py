"""Text from the data, as it is drawn: literally, on one line, and not too long."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["draw_literally", "plain_text"]

#: Characters of a label; longer ones are cut, because they would leave no room for the plot.
LONGEST = 36
#: Line breaks and other characters that no font draws.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def plain_text(text: object, longest: int = LONGEST) -> str:
    r"""Text on one line, cut where it is long, without characters that cannot be drawn.

    Parameters
    ----------
    text : object
        Anything; its ``str`` is used.
    longest : int
        Largest number of characters.

    Examples
    --------
    >>> plain_text("two\nlines")
    'two lines'
    >>> len(plain_text("x" * 1000))
    36
    """
    valid = str(text).encode("utf-8", "replace").decode("utf-8")
    line = _CONTROL.sub(" ", valid)
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def draw_literally(artist: Any, text: object) -> None:
    """Write text on an artist as it is: matplotlib would parse a formula between dollar signs.

    Parameters
    ----------
    artist : matplotlib Text
    text : object
    """
    artist.set_parse_math(False)
    artist.set_text(plain_text(text))
