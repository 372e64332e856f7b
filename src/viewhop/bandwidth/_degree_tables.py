"""Row sums of a Gaussian kernel and of its derivative, over a grid of scales."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import factorial

__all__ = ["degree_tables"]

Floats = NDArray[np.float64]

#: Rows and columns of a tile of distances: few enough to stay in cache.
TILE = 256
#: Number of terms that give exp(−x) for x ≤ 1/2 to rounding.
TERMS = 15


def degree_tables(distances: Floats, grid: Floats) -> tuple[Floats, Floats]:
    """Row sums of K and of (d²/σ²) K at each scale, both (n_rows, n_scales).

    If the matrix is square, and hence symmetric, a tile also serves its mirror image.
    """
    n_rows, n = distances.shape
    sums, moments = np.zeros((2, n_rows, grid.size))
    symmetric = n_rows == n
    for top in range(0, n_rows, TILE):
        for left in range(top if symmetric else 0, n, TILE):
            row, column = slice(top, top + TILE), slice(left, left + TILE)
            squares = np.square(distances[row, column])
            # Below the first scale, the whole tile is negligible next to the 1 on the diagonal;
            # from the last one on, the exponential is a short power series.
            first = int(np.searchsorted(grid, np.sqrt(squares.min() / 80.0)))
            last = max(first, int(np.searchsorted(grid, np.sqrt(squares.max()))))
            near, far = slice(first, last), slice(last, grid.size)
            parts = [(near, _exponentials(squares, grid[near])), (far, _powers(squares, grid[far]))]
            for scales, (across, down) in parts:
                sums[row, scales] += across[0]
                moments[row, scales] += across[1]
                if symmetric and left > top:
                    sums[column, scales] += down[0]
                    moments[column, scales] += down[1]
    return sums, moments / grid**2


def _exponentials(squares: Floats, grid: Floats) -> tuple[Floats, Floats]:
    """Sums of K and of d² K over the columns and over the rows of a tile, at each scale.

    Returns
    -------
    across, down : (2, n_rows, n_scales) and (2, n_columns, n_scales) arrays
    """
    across, down = (np.empty((2, size, grid.size)) for size in squares.shape)
    kernel, weighted = np.empty_like(squares), np.empty_like(squares)
    for k, sigma in enumerate(grid):
        np.multiply(squares, -0.5 / sigma / sigma, out=kernel)
        np.maximum(kernel, -700.0, out=kernel)  # exp is slow if it underflows
        np.exp(kernel, out=kernel)
        np.multiply(squares, kernel, out=weighted)
        for row, values in enumerate((kernel, weighted)):
            # Not with BLAS: on tiles this small its threads only wait for each other.
            across[row, :, k] = np.einsum("ij->i", values)
            down[row, :, k] = values.sum(axis=0)
    return across, down


def _powers(squares: Floats, grid: Floats) -> tuple[Floats, Floats]:
    """The same for d² ≤ σ², from the series of exp(−x) with x = d²/2σ² ≤ 1/2."""
    largest = float(squares.max())
    shares = squares / largest if largest > 0 else squares
    power = np.ones_like(squares)
    across, down = (np.empty((size, TERMS + 1)) for size in squares.shape)
    for k in range(TERMS + 1):
        across[:, k] = np.einsum("ij->i", power)
        down[:, k] = power.sum(axis=0)
        np.multiply(power, shares, out=power)
    orders = np.arange(TERMS)
    series = (-0.5 * largest / grid**2) ** orders[:, None] / factorial(orders)[:, None]

    def evaluate(table: Floats) -> Floats:
        return np.stack([table[:, :-1] @ series, largest * (table[:, 1:] @ series)])

    return evaluate(across), evaluate(down)
