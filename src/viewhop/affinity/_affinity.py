"""The contract of an affinity: one view's kernel on the training samples."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from viewhop._storage.codec import Shelf
from viewhop.affinity._kernel_rows import KernelRows
from viewhop.errors import ModelFileError
from viewhop.kernels import Kernel
from viewhop.views import Describe, row_number

__all__ = ["Affinity", "check_not_identity", "check_reach"]

Floats = NDArray[np.float64]

#: A kernel is 0 at all distances if its scale is below this share of the smallest one.
LEAST_REACH = 1e-3


class Affinity(ABC):
    """One view's symmetric kernel: multiplies vectors and compares new samples with its own.

    Five members are required: `n_samples`, `nbytes`, ``@``, `against` and `pattern`. The others
    have defaults that work for any kernel; subclasses override them where they can do better.
    Every affinity must pass the test suite in ``tests/contracts/affinity.py``.

    Attributes
    ----------
    name : str
        The view.
    kernel : Kernel
        The rule that built it.
    scale : float or (n,) array
        The scale in use, one number or one per sample; NaN for a kernel without a scale.
    dtype : numpy dtype of the kernel values
    n_jobs : int
        Threads that share a product and a search.
    recall : float
        Share of the true neighbours that the search returned; 1 if it was exact.
    """

    name: str
    kernel: Kernel
    scale: float | Floats = float("nan")
    dtype: np.dtype[np.floating] = np.dtype(np.float64)
    n_jobs: int = 1
    recall: float = 1.0
    #: How a coarse solve may shrink the kernel: to a subset of the samples (`subset`), by merging
    #: neighbours (`merge`), or not at all (None).
    coarsening: ClassVar[Literal["subset", "merge"] | None] = None

    @property
    @abstractmethod
    def n_samples(self) -> int:
        """Number n of training samples."""

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Bytes in use, including the rows that new samples are compared with."""

    @abstractmethod
    def __matmul__(self, V: NDArray[np.floating]) -> NDArray[np.floating]:
        """The kernel times a vector (n,) or block (n, b), summed in the precision of `V`."""

    @abstractmethod
    def against(self, X: NDArray[np.floating]) -> KernelRows:
        """Kernel rows of new samples (q, d) against the n training samples."""

    @abstractmethod
    def pattern(self, live: NDArray[np.bool_] | None = None) -> csr_array:
        """An (n, n) sparse matrix of linear size with the connectivity of the positive entries.

        Parameters
        ----------
        live : (n,) bool array or None
            Columns to include; rows and columns are then two separate sets of nodes. None
            includes all columns, and row k and column k are the same node.
        """

    @property
    def degrees(self) -> Floats:
        """Row sums of the kernel, (n,), in float64."""
        return np.asarray(self @ np.ones(self.n_samples))

    @property
    def density(self) -> Floats:
        """Row sums before density normalisation, (n,); equal to the degrees without it."""
        return self.degrees

    @property
    def is_dense(self) -> bool:
        """Whether a product reads all n² pairs, so a block costs little more than a vector."""
        return False

    def full(self, dtype: np.dtype[np.floating] | None = None) -> NDArray[np.floating]:
        """The full (n, n) matrix, a copy, in the given precision; None means that of the kernel."""
        return np.asarray(self @ np.eye(self.n_samples, dtype=self.dtype)).astype(
            self.dtype if dtype is None else dtype, copy=False
        )

    @property
    def stored_pairs(self) -> csr_array | None:
        """The kernel as an (n, n) matrix of stored pairs, or None if it stores all of them."""
        return None

    def check_new(self, X: NDArray[np.floating], describe: Describe = row_number) -> None:
        """Raise ValueError if the kernel is not defined for one of the new rows.

        Parameters
        ----------
        X : (q, d) array
            NaN rows are skipped: the view did not observe them.
        describe : callable
            Returns the name of a row for the message.
        """
        return

    def select_columns(
        self, X: NDArray[np.floating], samples: NDArray[np.intp]
    ) -> NDArray[np.floating]:
        """New rows (q, d) in the form that `against` expects, if the view observed only `samples`.

        Parameters
        ----------
        X : (q, d) array
        samples : (n,) index array
            The samples that the view observed; used by kernels that have samples as columns.
        """
        return X

    def distances(
        self, rows: NDArray[np.intp], columns: NDArray[np.intp]
    ) -> NDArray[np.floating] | None:
        """Distances between training samples, (p, q), or None if the kernel does not use any."""
        return None

    def subset(self, chosen: NDArray[np.intp]) -> Affinity:
        """The kernel on sorted chosen samples that represent all; for ``coarsening = "subset"``."""
        raise TypeError(f"{type(self).__name__} has no subset")

    def subset_rows(self, block: int, chosen: NDArray[np.intp]) -> KernelRows:
        """Kernel rows of one of the `n_row_blocks` blocks of samples against sorted chosen ones."""
        raise TypeError(f"{type(self).__name__} has no subset")

    @property
    def n_row_blocks(self) -> int:
        """Number of blocks into which `subset_rows` divides the samples."""
        return 1

    def merge(self, label: NDArray[np.intp]) -> Affinity:
        """The kernel between groups of samples, summed over members; for ``coarsening = "merge"``.

        Parameters
        ----------
        label : (n,) array
            Group of each sample, numbered from 0 without gaps.
        """
        raise TypeError(f"{type(self).__name__} cannot merge samples")

    def reorder(self, order: NDArray[np.intp]) -> Affinity:
        """The kernel with its samples reordered: new sample k is the old ``order[k]``."""
        raise TypeError(f"{type(self).__name__} cannot reorder samples")

    def state(self, shelf: Shelf) -> dict[str, Any]:
        """The affinity as plain data, for a model file; arrays go to the shelf."""
        raise ModelFileError(
            f"the kernel of view {self.name!r} is a {type(self.kernel).__name__} with a custom "
            f"affinity ({type(self).__name__}), which model files do not support"
        )


def check_not_identity(
    name: str, largest: float, dtype: np.dtype[np.floating], scale: float | Floats, nearest: Floats
) -> None:
    """Raise ValueError if no sample is similar to any distinct other sample.

    Parameters
    ----------
    name : str
        The view.
    largest : float
        The largest kernel value between distinct samples.
    dtype : dtype of the kernel
    scale : float or (n,) array
        The scale in use.
    nearest : (n,) array
        Distance from each sample to its nearest distinct one.
    """
    if largest > np.finfo(dtype).eps:
        return
    sigma = float(np.median(scale))
    reach = float(nearest.max())
    times = reach / sigma
    hint = f", that is, multiply factor by {times**2:.3g}" if times < 1e150 else ""
    raise ValueError(
        f"the kernel of view {name!r} underflows to the identity: at a scale of {sigma:.3g} all "
        f"samples are dissimilar, because nearest neighbours are up to {reach:.3g} apart; use a "
        f"scale of about {reach:.3g}{hint}"
    )


def check_reach(
    name: str, dtype: np.dtype[np.floating], scale: float | Floats, nearest: Floats
) -> None:
    """Raise ValueError if the scale is so small that all kernel values are 0 before computing them.

    Parameters
    ----------
    name, dtype, scale, nearest
        As in `check_not_identity`.
    """
    closest = float(nearest[nearest > 0].min())
    if float(np.max(scale)) < LEAST_REACH * closest:
        check_not_identity(name, 0.0, dtype, scale, nearest)
