"""Random numbers of ARPACK, which SciPy would draw without a seed."""

from __future__ import annotations

from functools import cache
from inspect import signature
from typing import Any

import numpy as np
from scipy.sparse.linalg import eigsh

__all__ = ["seed_restarts"]


def seed_restarts() -> dict[str, Any]:
    """Arguments of `scipy.sparse.linalg.eigsh` with which the same call gives the same bits.

    Where the iteration finds an invariant subspace, ARPACK continues with a random vector. SciPy
    1.17 draws it from fresh entropy unless it is told otherwise; before, ARPACK had a generator of
    its own, which cannot be seeded.
    """
    return {"rng": np.random.default_rng(0)} if _has_generator() else {}


@cache
def _has_generator() -> bool:
    return "rng" in signature(eigsh).parameters
