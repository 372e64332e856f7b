"""Kernels: the similarity of two samples in one view.

A kernel object only holds parameters. Every distance kernel is a decreasing function of u = d/s:
the distance of two samples in the kernel's feature space, divided by their scale.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from viewhop._registry import KERNELS as NAMES
from viewhop._registry import METRICS, RULES, SEARCHES, load_home

if TYPE_CHECKING:
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
        Keep only pairs where one sample is among the k nearest of the other; None keeps all.
    alpha : float
        Divide the kernel by the density of both samples, raised to this power.
    """

    n_neighbors: int | None
    alpha: float
    #: Whether the rows of a view are kernel values, one column per training sample.
    is_pairwise: ClassVar[bool] = False

    def build(self, rows: ViewRows) -> Any:
        """A custom affinity on the rows of a view, or None.

        With None, viewhop stores the kernel itself, as a full matrix or on neighbours. A subclass
        may return its own `viewhop.affinity.Affinity` instead: a kernel that is computed on the
        fly, lives on another device, or is read from a file.

        Parameters
        ----------
        rows : ViewRows
            The observed rows of the view, with a random generator and the number of threads.
        """
        return None

    @property
    def needs_all_views(self) -> bool:
        """Whether its scale depends on other views as well as its own."""
        return False

    @property
    def builds_itself(self) -> bool:
        """Whether the class overrides `build`."""
        return type(self).build is not Kernel.build

    def check(self, name: str) -> None:
        """Raise ValueError, naming the view, unless every parameter is valid."""
        k = self.n_neighbors
        if k is not None and (not isinstance(k, Integral) or isinstance(k, bool) or k < 1):
            raise ValueError(
                f"kernel of view {name!r}: n_neighbors must be a positive integer or None, "
                f"not {k!r}"
            )
        if not _is_number(self.alpha) or not 0 <= self.alpha < np.inf:
            raise ValueError(
                f"kernel of view {name!r}: alpha must be a non-negative number, usually from 0 to "
                f"1, not {_shorten(self.alpha)}"
            )


class DistanceKernel(Kernel):
    """A kernel that depends on the distance of two samples relative to a scale.

    Parameters
    ----------
    bandwidth : {"max-min", "log-log", "local", "joint", "connected"} or float
        The scale sigma, or the rule that chooses it.
    factor : float
        C, which multiplies sigma squared, whatever the rule.
    n_neighbors, alpha
        See `Kernel`.
    metric : {"euclidean", "cosine", "centered-cosine", "correlation", "manhattan", "auto"}
        The distance d. Unless Euclidean or Manhattan, d² = 1 − similarity. "auto" also decides
        `standardize`, and never takes "manhattan".
    standardize : bool
        Divide each feature by its standard deviation over the training samples.
    search : {"auto", "exact", "faiss"}
        How neighbours are searched for.
    scale_neighbors : int or None
        Number of neighbours that set a local scale; None takes half of `n_neighbors`.
    taper : float
        Share of the neighbours over which the kernel falls to 0.
    """

    bandwidth: str | float
    factor: float
    metric: str
    standardize: bool
    search: str
    scale_neighbors: int | None = None
    taper: float = 0.0

    @staticmethod
    @abstractmethod
    def exponent(u: Any) -> Any:
        """−log of the kernel at u = d/s."""

    @classmethod
    def exponent_of_square(cls, square: Any) -> Any:
        """−log of the kernel at u² = (d/s)², an array that may be overwritten."""
        return cls.exponent(np.sqrt(square, out=square))

    @staticmethod
    @abstractmethod
    def slope(u: Any) -> Any:
        """Derivative of log kernel with respect to log s at u = d/s."""

    def check(self, name: str) -> None:
        """Raise ValueError, naming the view, unless every parameter is valid."""
        super().check(name)
        where = f"kernel of view {name!r}"
        if isinstance(self.bandwidth, str):
            if self.bandwidth not in RULES:
                raise ValueError(
                    f"{where}: unknown bandwidth {self.bandwidth!r}; choose from "
                    f"{', '.join(RULES)}, or pass a positive number"
                )
        elif not _is_number(self.bandwidth) or not 0 < self.bandwidth < np.inf:
            raise ValueError(f"{where}: bandwidth must be positive, not {_shorten(self.bandwidth)}")
        if not _is_number(self.factor) or not 0 < self.factor < np.inf:
            raise ValueError(f"{where}: factor must be positive, not {_shorten(self.factor)}")
        if not isinstance(self.metric, str) or self.metric not in METRICS:
            raise ValueError(
                f"{where}: unknown metric {_shorten(self.metric)}; choose from {', '.join(METRICS)}"
            )
        if not isinstance(self.search, str) or self.search not in SEARCHES:
            raise ValueError(
                f"{where}: unknown search {self.search!r}; choose from {', '.join(SEARCHES)}"
            )
        if self.search == "faiss" and not self.is_euclidean:
            raise ValueError(
                f"{where}: search={self.search!r} has no Manhattan distances; use search='exact' "
                "or 'auto', or another metric"
            )
        if not isinstance(self.standardize, bool | np.bool_):
            raise ValueError(
                f"{where}: standardize must be True or False, not {_shorten(self.standardize)}"
            )
        k = self.scale_neighbors
        if k is not None and (not isinstance(k, Integral) or isinstance(k, bool) or k < 1):
            raise ValueError(
                f"{where}: scale_neighbors must be a positive integer or None, not {k!r}"
            )
        if not _is_number(self.taper) or not 0 <= self.taper < 1:
            raise ValueError(
                f"{where}: taper must be at least 0 and below 1, not {_shorten(self.taper)}"
            )
        if self.taper and self.n_neighbors is None:
            raise ValueError(f"{where}: taper needs n_neighbors; a dense kernel has no edge")

    @property
    def needs_all_views(self) -> bool:
        """Whether its scale depends on other views as well as its own."""
        return self.bandwidth in ("joint", "connected")

    @property
    def is_euclidean(self) -> bool:
        """Whether its distance is Euclidean in some feature space."""
        return self.metric != "manhattan"

    @property
    def scale_rank(self) -> int:
        """k, where a sample's local scale is the distance to its k-th nearest neighbour."""
        if self.scale_neighbors is not None:
            return self.scale_neighbors
        return 7 if self.n_neighbors is None else max(2, self.n_neighbors // 2)

    @property
    def edge_ranks(self) -> tuple[int, int]:
        """Ranks of the neighbours up to which the kernel is whole, and from which it is 0.

        Without a taper both are `n_neighbors`, and neighbours at that distance count in full.
        """
        k = 0 if self.n_neighbors is None else int(self.n_neighbors)
        if not self.taper:
            return k, k
        return max(1, k - round(self.taper * k)), k + 1


class Gaussian(DistanceKernel):
    r"""The Gaussian kernel, :math:`\exp(-d^2 / 2\sigma^2)`.

    Parameters
    ----------
    bandwidth : {"max-min", "log-log", "local", "joint", "connected"} or float, default="max-min"
        The scale sigma, as a number or by a rule. "max-min": the largest distance of a sample to
        its nearest distinct neighbour. "log-log": the steepest point of the log-log plot of the
        kernel's sum. "local": one scale per sample, σ² = σ_iσ_j. "joint": Algorithm 1 over all
        views with this rule. "connected": the smallest scales at which every sample is connected
        in at least one view with this rule.
    factor : float, default=1.0
        C, which multiplies sigma squared, whatever the rule.
    n_neighbors : int or None, default=None
        Keep only pairs where one sample is among the k nearest of the other; None keeps all.
    metric : str, default="euclidean"
        The distance d: "euclidean"; "manhattan", the sum of absolute differences; or "cosine",
        "centered-cosine" (features are centred first) or "correlation", where
        d² = 1 − similarity, and a row without a direction is at d² = 1/2 from all that have one.
        "auto" chooses the metric, and whether to standardise, by agreement with the other views;
        see `viewhop.selection`.
    standardize : bool, default=False
        Divide each feature by its standard deviation over the training samples.
    alpha : float, default=0.0
        Divide the kernel by the densities at both samples, raised to this power (Coifman and
        Lafon).
    search : {"auto", "exact", "faiss"}, default="auto"
        How neighbours are searched for: "exact"; "faiss", an approximate index with a measured
        recall; or "auto", the faster of the two, which is "exact" up to 50,000 samples, and
        always for sparse views and for Manhattan distances, which the index does not have.
        Ignored without `n_neighbors`.
    scale_neighbors : int or None, default=None
        For ``bandwidth="local"``: a sample's scale is the distance to this neighbour. None takes
        half of `n_neighbors`, or 7 without neighbours.
    taper : float, default=0.0
        Share of the `n_neighbors` neighbours over which the kernel falls linearly to 0, which it
        reaches at the next neighbour. With a taper, coordinates are continuous in the sample;
        without one, they jump where a neighbour enters or leaves.

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
        scale_neighbors: int | None = None,
        taper: float = 0.0,
    ) -> None:
        self.bandwidth = bandwidth
        self.factor = factor
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.standardize = standardize
        self.alpha = alpha
        self.search = search
        self.scale_neighbors = scale_neighbors
        self.taper = taper

    @staticmethod
    def exponent(u: Any) -> Any:
        """−log of the kernel at u = d/s."""
        # Clip u so that its square does not overflow; the kernel is 0 there either way.
        most = 0.5 * np.sqrt(np.finfo(np.asarray(u).dtype).max)
        return 0.5 * np.square(np.minimum(u, most))

    @classmethod
    def exponent_of_square(cls, square: Any) -> Any:
        """−log of the kernel at u² = (d/s)², an array that may be overwritten."""
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
    bandwidth, factor, n_neighbors, metric, standardize, alpha, search, scale_neighbors, taper
        As in `Gaussian`; the effective scale is √factor · sigma.

    Notes
    -----
    Eq. (63), which does not say whether its norm is Euclidean or, with ``metric="manhattan"``, the
    sum of absolute differences. Both kernels are positive semi-definite.

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
        scale_neighbors: int | None = None,
        taper: float = 0.0,
    ) -> None:
        self.bandwidth = bandwidth
        self.factor = factor
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.standardize = standardize
        self.alpha = alpha
        self.search = search
        self.scale_neighbors = scale_neighbors
        self.taper = taper

    @staticmethod
    def exponent(u: Any) -> Any:
        """−log of the kernel at u = d/s."""
        return 1.0 * u

    @staticmethod
    def slope(u: Any) -> Any:
        """Derivative of log kernel with respect to log s at u = d/s."""
        return 1.0 * u


class Correlation(DistanceKernel):
    r"""The correlation kernel, :math:`\exp((T - 1) / 2\sigma^2)` for rows with correlation T.

    Parameters
    ----------
    bandwidth, factor, n_neighbors, standardize, alpha, search, scale_neighbors, taper
        As in `Gaussian`, with d² = 1 − T.

    Notes
    -----
    Eqs. (64)–(65). A constant row has no correlation and raises ValueError.

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
        scale_neighbors: int | None = None,
        taper: float = 0.0,
    ) -> None:
        self.bandwidth = bandwidth
        self.factor = factor
        self.n_neighbors = n_neighbors
        self.standardize = standardize
        self.alpha = alpha
        self.search = search
        self.scale_neighbors = scale_neighbors
        self.taper = taper


class Precomputed(Kernel):
    """A kernel matrix computed by the caller, passed in place of the view.

    In ``fit`` the view is the (n_samples, n_samples) kernel of the training samples, symmetric and
    non-negative; in ``transform`` it is the (n_new, n_samples) block.

    A sample that the view did not observe has a row and a column of NaN in ``fit``. In
    ``transform``, a new sample that the view did not observe is a row of NaN, and the columns of
    training samples that it did not observe may contain anything.

    Parameters
    ----------
    n_neighbors : int or None, default=None
        Keep a pair if its value is at least the (k+1)-th largest in one of its two rows.
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
    """The kernel that "adaptive" stands for: a Gaussian on 10 neighbours with a local scale.

    Its settings are chosen by evidence, which ``docs/quality.md`` shows.
    """
    return Gaussian(
        bandwidth="local",
        n_neighbors=10,
        metric="auto",
        alpha=1.0,
        scale_neighbors=10,
        taper=0.2,
    )


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
                f"kernel= needs one entry per view ({', '.join(names)}); "
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
        # A copy, so that changing the kernel object later does not change a fitted model.
        # scikit-learn has no types, here and elsewhere.
        return clone(entry)  # type: ignore[no-any-return]
    if isinstance(entry, str) and entry in NAMES:
        kernel = load_home(NAMES[entry].home)()
        if not isinstance(kernel, Kernel):
            raise TypeError(f"kernel {entry!r} is a {type(kernel).__name__}, not a Kernel")
        return kernel
    raise ValueError(
        f"unknown kernel {entry!r}; choose from {', '.join(NAMES)}, or pass a kernel object"
    )


def _is_number(value: object) -> bool:
    """Whether a value is a number that a float can hold."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True


def _shorten(value: object) -> str:
    """A value as text for an error message, shortened."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"
