"""One Gaussian for several views, if their kernels are alike."""

from __future__ import annotations

from collections.abc import Sequence

from viewhop.kernels import Gaussian, Kernel

__all__ = ["common_gaussian"]

#: Parameters in which the kernels of views must not differ.
SHARED = ("factor", "n_neighbors", "alpha", "search", "scale_neighbors", "taper")


def common_gaussian(kernels: Sequence[Kernel], scale: float) -> Gaussian | None:
    """The Gaussian of several views side by side; None unless their kernels are alike.

    They are if all are Gaussians that differ in their metrics at most, and in their scales, which
    must be all local or all one number per view.

    Parameters
    ----------
    kernels : sequence of Kernel
    scale : float
        The scale of the result, factor included, unless scales are local.

    Examples
    --------
    >>> from viewhop.affinity import common_gaussian
    >>> from viewhop.kernels import Gaussian
    >>> common_gaussian([Gaussian(n_neighbors=5), Gaussian(n_neighbors=5, metric="cosine")], 2.0)
    Gaussian(bandwidth=2.0, n_neighbors=5)
    >>> common_gaussian([Gaussian(n_neighbors=5), Gaussian()], 2.0) is None
    True
    """
    rules = {
        (kernel.bandwidth == "local", *(getattr(kernel, key) for key in SHARED))
        for kernel in kernels
        if isinstance(kernel, Gaussian)
    }
    if len(rules) != 1 or not all(isinstance(kernel, Gaussian) for kernel in kernels):
        return None
    is_local, *values = rules.pop()
    kernel = Gaussian("local" if is_local else scale, **dict(zip(SHARED, values, strict=True)))
    return kernel if is_local else kernel.set_params(factor=1.0)
