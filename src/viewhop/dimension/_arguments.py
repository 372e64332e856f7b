"""Checks of arguments that several estimates of dimension share."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from viewhop.views import Views

__all__ = ["check_number", "check_rows"]


def check_number(name: str, value: Any) -> float:
    """The value as a float; TypeError if it is not a number."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name} must be a number, got {value!r}")
    return float(value)


def check_rows(X: ArrayLike) -> NDArray[np.floating]:
    """The samples of one view, (n_samples, n_features); ValueError if there are fewer than 2."""
    rows = Views({"X": X}).full_rows("X", "an estimate of the dimension")
    if len(rows) < 2:
        raise ValueError("X has n_samples = 1; a dimension needs at least 2 samples")
    return rows
