"""Checks of precomputed kernel values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from viewhop._runtime.threads import row_blocks
from viewhop.views import Describe, row_number

__all__ = [
    "check_kernel_matrix",
    "check_kernel_values",
    "density_power",
    "sparse_kernel_error",
]

Floats = NDArray[np.float64]


def density_power(name: str, density: Floats, alpha: float, dtype: np.dtype[np.floating]) -> Floats:
    """Densities raised to the power α, (n,); ValueError, naming the view, if they get too large.

    Parameters
    ----------
    name : str
        The view.
    density : (n,) array
        Row sums of the plain kernel.
    alpha : float
    dtype : dtype of the kernel
    """
    logs = np.log(density)
    if 2.0 * alpha * float(np.abs(logs).max()) > np.log(size_limit(dtype)):
        raise ValueError(
            f"alpha={alpha!r} of the kernel of view {name!r} is too large: densities from "
            f"{density.min():.3g} to {density.max():.3g}, raised to this power, overflow; pass a "
            "number from 0 to 1"
        )
    return np.asarray(density**alpha)


def size_limit(dtype: np.dtype[np.floating]) -> float:
    """The largest size of kernel values whose products neither overflow nor, inverted, vanish."""
    return float(np.cbrt(np.finfo(dtype).max))


def check_kernel_values(
    name: str, X: NDArray[np.floating], describe: Describe = row_number
) -> None:
    """Raise ValueError, naming the view and row, for a negative or missing precomputed value."""
    if not len(X):
        return
    lowest = X.min(axis=1)
    gaps = np.flatnonzero(np.isnan(lowest))
    if gaps.size:
        raise ValueError(
            f"{describe(int(gaps[0]))} of the precomputed kernel of view {name!r} has NaN in the "
            "column of a training sample that the view observed; pass the row of a sample without "
            "kernel values as NaN throughout"
        )
    negative = np.flatnonzero(lowest < 0)
    if negative.size:
        raise ValueError(
            f"{describe(int(negative[0]))} of the precomputed kernel of view {name!r} has a "
            "negative value; kernel values must be 0 or more"
        )


def check_kernel_matrix(
    name: str, values: NDArray[np.floating], describe: Describe = row_number
) -> None:
    """Raise ValueError unless a kernel is square, symmetric and positive on its diagonal."""
    n = values.shape[0]
    if values.shape != (n, n):
        raise ValueError(
            f"the precomputed kernel of view {name!r} must be square, "
            f"(n_samples, n_samples), but it is {values.shape}"
        )
    check_kernel_values(name, values, describe)
    alone = np.flatnonzero(np.diagonal(values) <= 0)
    if alone.size:
        raise ValueError(
            f"{describe(int(alone[0]))} of the precomputed kernel of view {name!r} has 0 on the "
            "diagonal; a sample's similarity to itself must be positive"
        )
    limit = size_limit(values.dtype)
    largest = values.max(axis=1)
    extreme = np.flatnonzero((largest > limit) | (largest < 1.0 / limit))
    if extreme.size:
        raise ValueError(
            f"{describe(int(extreme[0]))} of the precomputed kernel of view {name!r} has a largest "
            f"value of {largest[extreme[0]]:.3g}; products of kernels overflow or vanish unless it "
            f"is between {1.0 / limit:.0e} and {limit:.0e}: divide the kernel by a constant"
        )
    tolerance = np.sqrt(np.finfo(values.dtype).eps) * values.max()
    for block in row_blocks(n, n):
        gap = np.abs(values[block] - values[:, block].T)
        if gap.max() > tolerance:
            row, column = np.unravel_index(int(gap.argmax()), gap.shape)
            row += block.start
            raise ValueError(
                f"the precomputed kernel of view {name!r} is not symmetric: entries "
                f"({row}, {column}) and ({column}, {row}) are {values[row, column]:.6g} and "
                f"{values[column, row]:.6g}"
            )


def sparse_kernel_error(name: str) -> TypeError:
    """The error for a precomputed kernel that is a sparse matrix."""
    return TypeError(
        f"view {name!r} is a precomputed kernel, and it is sparse; pass its .toarray(), or "
        "features instead of a kernel"
    )
