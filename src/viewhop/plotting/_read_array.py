"""Numbers to draw, read from what a caller passes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["read_array"]


def read_array(values: Any, expected: str) -> NDArray[np.float64]:
    """The values as an array of float64; TypeError if they are no numbers.

    Parameters
    ----------
    values : array-like
    expected : str
        What the values must be, for the message.
    """
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{expected}, got {type(values).__name__}: {error}") from error
