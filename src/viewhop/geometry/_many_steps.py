"""Many steps of a walk at once: by products up to a thousand, by powers of two beyond."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from viewhop._runtime import memory

__all__ = ["MOST_PRODUCTS", "MOST_STEPS", "take_steps"]

Floats = NDArray[np.float64]

#: Number of steps up to which each is one product.
MOST_PRODUCTS = 1000
#: Largest number of steps: larger ones are not whole numbers in double precision.
MOST_STEPS = 2**53
#: Largest matrix that is squared; it takes a minute or two.
MOST_NODES = 5000
#: Number of matrices in memory while one is squared.
MATRICES = 4
#: Change below which a squared matrix is the limit of all further powers.
LIMIT = 1e-16


def take_steps(
    step: Callable[[Floats], Floats], V: Floats, n_steps: int, *, keeps_mass: bool = False
) -> Floats:
    """The result of applying a linear step many times to a block, (n_nodes, b).

    Parameters
    ----------
    step : callable
        Takes and returns a block (n_nodes, b); its matrix has no eigenvalue of magnitude above 1.
    V : (n_nodes, b) array
    n_steps : int
    keeps_mass : bool
        Whether the step keeps the sum of each column, which is then restored after each squaring,
        so that rounding does not accumulate.

    Raises
    ------
    ValueError
        If there are too many steps for so many nodes.
    MemoryBudgetError
        If the matrix of the step does not fit into memory.
    """
    if n_steps <= MOST_PRODUCTS:
        for _ in range(n_steps):
            V = step(V)
        return V
    _check_size(len(V), n_steps)
    return _take_powers(step(np.eye(len(V))), V, n_steps, keeps_mass=keeps_mass)


def _check_size(n: int, n_steps: int) -> None:
    if n > MOST_NODES:
        raise ValueError(
            f"{n_steps:,} steps of a walk with {n:,} nodes take too long: beyond "
            f"{MOST_PRODUCTS:,} steps, a walk may have at most {MOST_NODES:,} nodes; pass fewer "
            "steps"
        )
    memory.require_bytes(
        MATRICES * 8 * n**2,
        memory.parse_budget(None),
        what=f"{n_steps:,} steps of a walk with {n:,} nodes",
        instead=f"pass at most {MOST_PRODUCTS:,} steps",
    )


def _take_powers(matrix: Floats, V: Floats, n_steps: int, *, keeps_mass: bool) -> Floats:
    """The matrix to a power, times V, by the binary digits of the power."""
    sums = matrix.sum(axis=0)
    # A node that the walk does not reach keeps no mass.
    kept = np.where(sums > 0.5, 1.0, 0.0)
    while n_steps:
        if n_steps % 2:
            V = matrix @ V
        n_steps //= 2
        if not n_steps:
            break
        square = matrix @ matrix
        if keeps_mass:
            total = square.sum(axis=0)
            square *= kept / np.where(total > 0, total, 1.0)
        if np.abs(square - matrix).max() <= LIMIT:
            return square @ V
        matrix = square
    return V
