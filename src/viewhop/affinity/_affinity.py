"""The contract of an affinity: one view's kernel on the training samples."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from viewhop.affinity._kernel_rows import KernelRows

__all__ = ["Affinity", "check_not_identity"]

Floats = NDArray[np.float64]


class Affinity(ABC):
    """One view's symmetric kernel: it multiplies, and it knows new samples.

    Attributes
    ----------
    name : str
        The view.
    scale : float or (n,) array
        The scale in use, one number or one per sample; NaN where the kernel has none.
    dtype : numpy dtype of the kernel values
    n_jobs : int
        Threads that share a product and a search.
    recall : float
        Share of the true neighbours that the search found; 1 where it was exact.
    """

    name: str
    scale: float | Floats
    dtype: np.dtype[np.floating]
    n_jobs: int = 1
    recall: float = 1.0

    @property
    @abstractmethod
    def n_samples(self) -> int:
        """Number of training samples."""

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Bytes held, the rows that new samples are compared with included."""

    @abstractmethod
    def __matmul__(self, V: NDArray[np.floating]) -> NDArray[np.floating]:
        """The kernel times a vector (n,) or block (n, b), summed in the precision of `V`."""

    @abstractmethod
    def against(self, X: NDArray[np.floating]) -> KernelRows:
        """Kernel rows of new samples (q, d) against the n training samples."""

    @abstractmethod
    def pattern(self, live: NDArray[np.bool_] | None = None) -> csr_array:
        """An (n, n) sparse matrix of linear size, connected as the positive entries are.

        Parameters
        ----------
        live : (n,) bool array or None
            Columns that count; rows and columns are then joined as two sets. None is all, and
            row and column k are one.
        """

    @property
    def degrees(self) -> Floats:
        """Row sums of the kernel, (n,), in float64."""
        return np.asarray(self @ np.ones(self.n_samples))


def check_not_identity(
    name: str, largest: float, dtype: np.dtype[np.floating], scale: float | Floats, nearest: Floats
) -> None:
    """Raise ValueError if no sample sees a distinct other one.

    Parameters
    ----------
    name : str
        The view.
    largest : float
        The largest share that distinct other samples have in a row of the kernel.
    dtype : dtype of the kernel
    scale : float or (n,) array
        The scale in use.
    nearest : (n,) array
        Distance of each sample to its nearest distinct one.
    """
    if largest > np.finfo(dtype).eps:
        return
    sigma = float(np.median(scale))
    reach = float(nearest.max())
    raise ValueError(
        f"the kernel of view {name!r} underflows to the identity: at a scale of {sigma:.3g} no "
        f"sample sees another, though nearest samples lie up to {reach:.3g} apart; use a scale of "
        f"about {reach:.3g}, that is a factor {(reach / sigma) ** 2:.3g} times as large"
    )
