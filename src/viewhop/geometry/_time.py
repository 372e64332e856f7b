"""Checks of the diffusion time: any non-negative number, or an integer."""

from __future__ import annotations

from numbers import Real

import numpy as np

__all__ = ["check_time", "whole_steps"]


def check_time(n_steps: object) -> float:
    """The diffusion time as a float; ValueError unless it is a non-negative number."""
    if isinstance(n_steps, Real) and not isinstance(n_steps, bool):
        time = float(n_steps)
        if 0 <= time < np.inf:
            return time
    raise ValueError(f"n_steps must be a non-negative number, not {n_steps!r}")


def whole_steps(n_steps: object) -> int:
    """The number of steps as an int; ValueError unless it is a non-negative whole number."""
    if isinstance(n_steps, Real) and not isinstance(n_steps, bool):
        value = float(n_steps)
        if value >= 0 and value.is_integer():
            return int(value)
    raise ValueError(f"expected a whole number of steps of at least 0, not {n_steps!r}")
