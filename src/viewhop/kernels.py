"""Kernels: how alike two samples of one view are.

A kernel object only says which rule to use. Every rule is a decreasing function of u = d/s,
the distance of two samples in the kernel's feature space over their scale.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from viewhop._registry import KERNELS as NAMES
from viewhop._registry import METRICS, RULES, SEARCHES, load_home
from viewhop.views import ViewRows

__all__ = [
    "METRICS",
    "NAMES",
    "RULES",
    "SEARCHES",
    "Correlation",
    "DistanceKernel",
    "Gaussian",
    "Kernel",
    "Laplacian",
    "Precomputed",
    "adaptive",
    "kernels_by_view",
]

Floats = NDArray[np.float64]


class Kernel(BaseEstimator):
    """A kernel with an optional neighbour count and density normalisation.

    Parameters
    ----------
    n_neighbors : int or None
        Keep only pairs where one is among the other's k nearest; None keeps all.
    alpha : float
        Divide the kernel by the density of both samples to this power.
    """

    n_neighbors: int | None
    alpha: float
    #: Whether rows are kernel values, with a column for each training sample.
    is_pairwise: ClassVar[bool] = False

    def build(self, rows: ViewRows) -> Any:
        """An affinity of the kernel's own on the rows of a view, or None.

        None leaves it to viewhop to hold the kernel, as a matrix or on neighbours. A class of
        your own may return a `viewhop.affinity.Affinity` instead: a kernel computed on the fly,
        on another device, or in another file.

        Parameters
        ----------
        rows : ViewRows
            What the view observed, with a source of randomness and the number of threads.
        """
        return None

    @property
    def builds_itself(self) -> bool:
        """Whether the class brings a storage of its own."""
        return type(self).build is not Kernel.build

    def check(self, name: str) -> None:
        """Raise ValueError, naming the view, unless every parameter makes sense."""
        k = self.n_neighbors
        if k is not None and (not isinstance(k, Integral) or isinstance(k, bool) or k < 1):
            raise ValueError(
                f"kernel of view {name!r}: n_neighbors is a positive whole number or None, "
                f"not {k!r}"
            )
        if not _is_number(self.alpha) or not 0 <= self.alpha < np.inf:
            raise ValueError(
                f"kernel of view {name!r}: alpha is a number of at least 0, not {self.alpha!r}"
            )


class DistanceKernel(Kernel):
    """A kernel of the distance between two samples, over a scale.

    Parameters
    ----------
    bandwidth : {"max-min", "log-log", "local", "joint", "connected"} or float
        The scale sigma, or the rule that chooses it.
    factor : float
        C; it multiplies sigma squared, whatever the rule.
    n_neighbors, alpha
        See `Kernel`.
    metric : {"euclidean", "cosine", "correlation"}
        How samples are compared. For the last two d² = 1 − similarity.
    standardize : bool
        Divide each feature by its standard deviation over the training samples.
    search : {"auto", "exact", "faiss"}
        How neighbours are found.
    """

    bandwidth: str | float
    factor: float
    metric: str
    standardize: bool
    search: str

    @staticmethod
    @abstractmethod
    def exponent(u: Any) -> Any:
        """−log of the kernel at u = d/s."""

    @classmethod
    def exponent_of_square(cls, square: Any) -> Any:
        """−log of the kernel at u² = (d/s)², an array that may be written over."""
        return cls.exponent(np.sqrt(square, out=square))

    @staticmethod
    @abstractmethod
    def slope(u: Any) -> Any:
        """Derivative of log kernel with respect to log s at u = d/s."""

    def check(self, name: str) -> None:
        """Raise ValueError, naming the view, unless every parameter makes sense."""
        super().check(name)
        where = f"kernel of view {name!r}"
        if isinstance(self.bandwidth, str):
            if self.bandwidth not in RULES:
                raise ValueError(
                    f"{where}: unknown bandwidth {self.bandwidth!r}; known are "
                    f"{', '.join(RULES)}, or a positive number"
                )
        elif not _is_number(self.bandwidth) or not 0 < self.bandwidth < np.inf:
            raise ValueError(f"{where}: bandwidth must be positive, not {self.bandwidth!r}")
        if not _is_number(self.factor) or not 0 < self.factor < np.inf:
            raise ValueError(f"{where}: factor must be positive, not {self.factor!r}")
        if self.metric not in METRICS:
            raise ValueError(
                f"{where}: unknown metric {self.metric!r}; known are {', '.join(METRICS)}"
            )
        if self.search not in SEARCHES:
            raise ValueError(
                f"{where}: unknown search {self.search!r}; known are {', '.join(SEARCHES)}"
            )

    @property
    def scale_neighbors(self) -> int:
        """Neighbours whose distance is a sample's local scale."""
        return 7 if self.n_neighbors is None else max(2, self.n_neighbors // 2)


class Gaussian(DistanceKernel):
    r"""The Gaussian kernel, :math:`\exp(-d^2 / 2\sigma^2)`.

    Parameters
    ----------
    bandwidth : {"max-min", "log-log", "local", "joint", "connected"} or float, default="max-min"
        The scale sigma: the largest distance to a nearest distinct sample; the steepest point of
        the log-log plot of the kernel's sum; one scale per sample, σ² = σ_iσ_j; Algorithm 1 over
        all views that say "joint"; the smallest scales at which every sample is connected in
        some view that says "connected"; or a number.
    factor : float, default=1.0
        C; it multiplies sigma squared, whatever the rule.
    n_neighbors : int or None, default=None
        Keep only pairs where one is among the other's k nearest; None keeps all.
    metric : {"euclidean", "cosine", "correlation"}, default="euclidean"
        How samples are compared. For the last two d² = 1 − similarity.
    standardize : bool, default=False
        Divide each feature by its standard deviation over the training samples.
    alpha : float, default=0.0
        Divide the kernel by the density of both samples to this power (Coifman and Lafon).
    search : {"auto", "exact", "faiss"}, default="auto"
        How neighbours are found: exactly; by an index of faiss, which may miss some and says how
        many; or by the faster of the two, which is the exact one up to 50,000 samples. Without
        `n_neighbors` nothing is searched.

    Notes
    -----
    Eq. (12), with the scale of Eq. (24) by default.

    Examples
    --------
    >>> from viewhop.kernels import Gaussian
    >>> Gaussian(bandwidth="local", n_neighbors=10)
    Gaussian(bandwidth='local', n_neighbors=10)
    """

    def __init__(
        self,
        bandwidth: str | float = "max-min",
        *,
        factor: float = 1.0,
        n_neighbors: int | None = None,
        metric: str = "euclidean",
        standardize: bool = False,
        alpha: float = 0.0,
        search: str = "auto",
    ) -> None:
        self.bandwidth = bandwidth
        self.factor = factor
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.standardize = standardize
        self.alpha = alpha
        self.search = search

    @staticmethod
    def exponent(u: Any) -> Any:
        """−log of the kernel at u = d/s."""
        # Beyond the root of the largest number all distances are alike: far.
        most = 0.5 * np.sqrt(np.finfo(np.asarray(u).dtype).max)
        return 0.5 * np.square(np.minimum(u, most))

    @classmethod
    def exponent_of_square(cls, square: Any) -> Any:
        """−log of the kernel at u² = (d/s)², an array that may be written over."""
        square *= 0.5
        return square

    @staticmethod
    def slope(u: Any) -> Any:
        """Derivative of log kernel with respect to log s at u = d/s."""
        return np.square(u)


class Laplacian(DistanceKernel):
    r"""The Laplacian kernel, :math:`\exp(-d / \sigma)`.

    Parameters
    ----------
    bandwidth, factor, n_neighbors, metric, standardize, alpha, search
        As in `Gaussian`; the scale in use is √factor · sigma.

    Notes
    -----
    Eq. (63).

    Examples
    --------
    >>> from viewhop.kernels import Laplacian
    >>> Laplacian(bandwidth=2.0)
    Laplacian(bandwidth=2.0)
    """

    def __init__(
        self,
        bandwidth: str | float = "max-min",
        *,
        factor: float = 1.0,
        n_neighbors: int | None = None,
        metric: str = "euclidean",
        standardize: bool = False,
        alpha: float = 0.0,
        search: str = "auto",
    ) -> None:
        self.bandwidth = bandwidth
        self.factor = factor
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.standardize = standardize
        self.alpha = alpha
        self.search = search

    @staticmethod
    def exponent(u: Any) -> Any:
        """−log of the kernel at u = d/s."""
        return 1.0 * u

    @staticmethod
    def slope(u: Any) -> Any:
        """Derivative of log kernel with respect to log s at u = d/s."""
        return 1.0 * u


class Correlation(DistanceKernel):
    r"""The correlation kernel, :math:`\exp((T - 1) / 2\sigma^2)`, T the correlation of two rows.

    Parameters
    ----------
    bandwidth, factor, n_neighbors, standardize, alpha, search
        As in `Gaussian`, with d² = 1 − T.

    Notes
    -----
    Eqs. (64)–(65). A row whose features are all equal has no correlation and is refused.

    Examples
    --------
    >>> from viewhop.kernels import Correlation
    >>> Correlation(n_neighbors=15)
    Correlation(n_neighbors=15)
    """

    metric = "correlation"
    exponent = staticmethod(Gaussian.exponent)
    exponent_of_square = Gaussian.exponent_of_square
    slope = staticmethod(Gaussian.slope)

    def __init__(
        self,
        bandwidth: str | float = "max-min",
        *,
        factor: float = 1.0,
        n_neighbors: int | None = None,
        standardize: bool = False,
        alpha: float = 0.0,
        search: str = "auto",
    ) -> None:
        self.bandwidth = bandwidth
        self.factor = factor
        self.n_neighbors = n_neighbors
        self.standardize = standardize
        self.alpha = alpha
        self.search = search


class Precomputed(Kernel):
    """A kernel that the caller computed: each view is its kernel matrix.

    In ``fit`` a view is the (n_samples, n_samples) kernel of the training samples, symmetric and
    non-negative; in ``transform`` it is the (new, training) block.

    Parameters
    ----------
    n_neighbors : int or None, default=None
        Keep a pair where its value reaches the (k+1)-th largest of one of the two rows.
    alpha : float, default=0.0
        As in `Gaussian`.

    Examples
    --------
    >>> from viewhop.kernels import Precomputed
    >>> Precomputed(alpha=1.0)
    Precomputed(alpha=1.0)
    """

    is_pairwise: ClassVar[bool] = True

    def __init__(self, *, n_neighbors: int | None = None, alpha: float = 0.0) -> None:
        self.n_neighbors = n_neighbors
        self.alpha = alpha


def adaptive() -> Gaussian:
    """The kernel that "adaptive" stands for: a Gaussian on 10 neighbours with a local scale."""
    return Gaussian(bandwidth="local", n_neighbors=10)


def kernels_by_view(kernel: Any, names: Sequence[str]) -> dict[str, Kernel]:
    """The kernel of each view.

    Parameters
    ----------
    kernel : str, Kernel, list of them, or dict of them by view name
    names : list of str
        Names of the views.
    """
    if isinstance(kernel, Mapping):
        missing = [name for name in names if name not in kernel]
        unknown = [name for name in kernel if name not in names]
        if missing or unknown:
            raise ValueError(
                f"kernel= needs one entry for each of the views {', '.join(names)}; "
                f"missing: {', '.join(missing) or 'none'}; "
                f"unknown: {', '.join(map(str, unknown)) or 'none'}"
            )
        chosen = {name: kernel[name] for name in names}
    elif isinstance(kernel, list | tuple):
        if len(kernel) != len(names):
            raise ValueError(f"kernel= lists {len(kernel)} kernels for {len(names)} views")
        chosen = dict(zip(names, kernel, strict=True))
    else:
        chosen = dict.fromkeys(names, kernel)
    kernels = {name: _resolve_kernel(entry) for name, entry in chosen.items()}
    for name, entry in kernels.items():
        entry.check(name)
    return kernels


def _resolve_kernel(entry: object) -> Kernel:
    if isinstance(entry, Kernel):
        # A copy: a kernel object that is changed later does not change what was fitted with it.
        # scikit-learn has no types, here and elsewhere.
        return clone(entry)  # type: ignore[no-any-return]
    if isinstance(entry, str) and entry in NAMES:
        kernel = load_home(NAMES[entry].home)()
        if not isinstance(kernel, Kernel):
            raise TypeError(f"the kernel {entry!r} is a {type(kernel).__name__}, not a Kernel")
        return kernel
    raise ValueError(
        f"unknown kernel {entry!r}; known are {', '.join(NAMES)}, or an object of viewhop.kernels"
    )


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
