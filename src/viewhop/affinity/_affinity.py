"""The contract of an affinity: one view's kernel on the training samples."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from viewhop._storage.codec import Shelf
from viewhop.affinity._kernel_rows import KernelRows
from viewhop.errors import ModelFileError
from viewhop.kernels import Kernel

__all__ = ["Affinity", "check_not_identity", "row_number"]

Floats = NDArray[np.float64]
#: Names a row in a message: "row 4", or "sample 'c17' (row 4)".
Describe: TypeAlias = Callable[[int], str]


def row_number(row: int) -> str:
    """A row as messages name it where no id is known."""
    return f"row {row}"


class Affinity(ABC):
    """One view's symmetric kernel: it multiplies, and it compares new samples with its own.

    Five methods are required: `n_samples`, `nbytes`, ``@``, `against` and `pattern`. The others
    have defaults that any kernel can live with; a storage overrides them where it knows better.
    ``tests/contracts/affinity.py`` holds the suite that every affinity passes.

    Attributes
    ----------
    name : str
        The view.
    kernel : Kernel
        The rule that built it.
    scale : float or (n,) array
        The scale in use, one number or one per sample; NaN where the kernel has none.
    dtype : numpy dtype of the kernel values
    n_jobs : int
        Threads that share a product and a search.
    recall : float
        Share of the true neighbours that the search returned; 1 where it was exact.
    """

    name: str
    kernel: Kernel
    scale: float | Floats = float("nan")
    dtype: np.dtype[np.floating] = np.dtype(np.float64)
    n_jobs: int = 1
    recall: float = 1.0
    #: How a coarse solution may shrink it: by a subset of samples (`subset`), by merging
    #: neighbours (`merge`), or not at all.
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

    @property
    def density(self) -> Floats:
        """Row sums before the normalisation by density, (n,); the degrees if there is none."""
        return self.degrees

    @property
    def is_dense(self) -> bool:
        """Whether a product reads all n² pairs, so that wide blocks cost little more than one."""
        return False

    @property
    def stored_pairs(self) -> csr_array | None:
        """The kernel as an (n, n) matrix of stored pairs, or None if it stores all of them."""
        return None

    def check_new(self, X: NDArray[np.floating], describe: Describe = row_number) -> None:
        """Raise ValueError for a new row that the kernel is not defined on.

        Parameters
        ----------
        X : (q, d) array
            NaN rows are skipped: the view did not observe them.
        describe : callable
            Names a row in the message.
        """
        return

    def select_columns(
        self, X: NDArray[np.floating], samples: NDArray[np.intp]
    ) -> NDArray[np.floating]:
        """New rows (q, d) as `against` takes them, if the view observed `samples` alone.

        Parameters
        ----------
        X : (q, d) array
        samples : (n,) index array
            The samples that the view observed. They matter to kernels whose columns are samples.
        """
        return X

    def distances(
        self, rows: NDArray[np.intp], columns: NDArray[np.intp]
    ) -> NDArray[np.floating] | None:
        """Distances (p, q) between training samples, or None if the kernel is not one of those."""
        return None

    def subset(self, chosen: NDArray[np.intp]) -> Affinity:
        """The kernel on sorted chosen samples that stand for all; for ``coarsening = "subset"``."""
        raise TypeError(f"{type(self).__name__} has no subset")

    def subset_rows(self, block: int, chosen: NDArray[np.intp]) -> KernelRows:
        """Kernel rows of one of `n_row_blocks` blocks of samples against sorted chosen ones."""
        raise TypeError(f"{type(self).__name__} has no subset")

    @property
    def n_row_blocks(self) -> int:
        """Number of blocks that `subset_rows` cuts the samples into."""
        return 1

    def merge(self, label: NDArray[np.intp]) -> Affinity:
        """The kernel between groups of samples, summed over members; for ``coarsening = "merge"``.

        Parameters
        ----------
        label : (n,) array
            Number of the group of each sample; every number up to the largest occurs.
        """
        raise TypeError(f"{type(self).__name__} cannot merge samples")

    def reorder(self, order: NDArray[np.intp]) -> Affinity:
        """The kernel of the samples in another order: sample k was ``order[k]``."""
        raise TypeError(f"{type(self).__name__} cannot reorder samples")

    def state(self, shelf: Shelf) -> dict[str, Any]:
        """The affinity as plain data, for a model file; arrays go to the shelf."""
        raise ModelFileError(
            f"the kernel of view {self.name!r} is a {type(self.kernel).__name__} with a storage of "
            f"its own ({type(self).__name__}), which a model file cannot hold"
        )


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
