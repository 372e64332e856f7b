"""One finding in views, and one recommendation, each with its number and reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Finding", "Recommendation"]


@dataclass(frozen=True)
class Finding:
    """A property of the views that may matter for a fit.

    Attributes
    ----------
    kind : str
        "constant features", "duplicates", "scales", "no direction", "identity", "complete",
        "pieces", "hubs", "few samples", "no agreement" or "no evidence".
    view : str or None
        The view; None for all of them together.
    value : float
        The number that was measured, which the text explains.
    text : str
    severity : {"warning", "note"}
        A warning needs a decision; a note explains a number.

    Examples
    --------
    >>> from viewhop.advice import Finding
    >>> Finding("pieces", None, 2.0, "The walk falls into 2 pieces.", "warning").kind
    'pieces'
    """

    kind: str
    view: str | None
    value: float
    text: str
    severity: str


@dataclass(frozen=True)
class Recommendation:
    """A recommended value of a parameter.

    Attributes
    ----------
    parameter : str
        "metric", "n_neighbors", "bandwidth", "weight", "n_components", "n_steps" or "fusion".
    view : str or None
        The view; None if it applies to all of them.
    value : str or number
    text : str
        The reason, with the numbers behind it.
    is_override : bool
        Whether a fit with its default parameters would choose something else.

    Examples
    --------
    >>> from viewhop.advice import Recommendation
    >>> Recommendation("n_neighbors", None, 10, "The walk is connected.").value
    10
    """

    parameter: str
    view: str | None
    value: Any
    text: str
    is_override: bool = False
