"""Names of metrics, which say whether features are standardised as well."""

from __future__ import annotations

from sklearn.base import clone

from viewhop.kernels import DistanceKernel, Kernel, Precomputed

__all__ = ["CANDIDATES", "metric_name", "with_metric"]

#: Metrics that "auto" chooses from, as values of `metric` and `standardize`.
CANDIDATES: dict[str, tuple[str, bool]] = {
    "euclidean": ("euclidean", False),
    "standardized": ("euclidean", True),
    "cosine": ("cosine", False),
    "centered-cosine": ("centered-cosine", False),
    "standardized-cosine": ("centered-cosine", True),
}


def metric_name(kernel: Kernel) -> str:
    """The name of the metric of a kernel, including whether it standardises.

    Parameters
    ----------
    kernel : Kernel

    Returns
    -------
    name : str
        "euclidean", "standardized", "cosine", "centered-cosine", "standardized-cosine" or
        "precomputed"; "auto" before the choice; otherwise the metric and whether features are
        standardised, or the class of a kernel without a metric.

    Examples
    --------
    >>> from viewhop.kernels import Gaussian
    >>> from viewhop.selection import metric_name
    >>> metric_name(Gaussian(standardize=True))
    'standardized'
    """
    if isinstance(kernel, Precomputed):
        return "precomputed"
    if not isinstance(kernel, DistanceKernel):
        return type(kernel).__name__
    if kernel.metric == "auto":
        return "auto"
    asked = kernel.metric, bool(kernel.standardize)
    known = [name for name, choice in CANDIDATES.items() if choice == asked]
    return known[0] if known else f"{kernel.metric}{', standardized' * asked[1]}"


def with_metric(kernel: DistanceKernel, name: str) -> DistanceKernel:
    """A copy of a kernel with one of the metrics that "auto" chooses from.

    Parameters
    ----------
    kernel : DistanceKernel
    name : str
        As `metric_name` returns it.

    Examples
    --------
    >>> from viewhop.kernels import Gaussian
    >>> from viewhop.selection import with_metric
    >>> with_metric(Gaussian(metric="auto"), "standardized-cosine")
    Gaussian(metric='centered-cosine', standardize=True)
    """
    metric, standardize = CANDIDATES[name]
    # scikit-learn has no types.
    return clone(kernel).set_params(  # type: ignore[no-any-return]
        metric=metric, standardize=standardize
    )
