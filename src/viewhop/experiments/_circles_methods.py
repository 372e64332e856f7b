"""The settings and methods that cluster the coupled circles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from viewhop import bandwidth
from viewhop.estimators import DeSaEmbedding, DiffusionMaps, KernelCCA, MultiViewDiffusionMaps
from viewhop.experiments._local_scales import LOCAL_SCALES
from viewhop.kernels import Gaussian
from viewhop.views import Views

__all__ = ["METHODS", "PRINTED", "SCALED", "SETTINGS", "build_kernels", "list_embeddings"]

METHODS = (
    "x alone",
    "y alone",
    "kernel sum",
    "kernel product",
    "kernel product, concat",
    "kernel CCA",
    "de Sa",
    "multi-view",
)
#: The paper's setting, and those of its section on bandwidths: a smaller C, fixed at 0.1 before any
#: run and as small as `connected` allows; and Algorithm 1. The kernel on 10 neighbours is ours.
PRINTED = "max-min, C = 1"
SCALED = (PRINTED, "max-min, C = 0.1", "connected", "Algorithm 1")
SETTINGS = (*SCALED, "10 neighbours")
#: Residual of an eigenpair; smaller ones do not change K-means on one coordinate.
_TOL = 1e-5


def build_kernels(views: Views, setting: str) -> dict[str, Gaussian]:
    """Kernel of each view; scales are computed once and passed as numbers."""
    if setting == "10 neighbours":
        return dict.fromkeys(views.names, LOCAL_SCALES)
    if setting == "Algorithm 1":
        scales = bandwidth.joint(views).scales
    elif setting == "connected":
        scales = bandwidth.connected(views)
    else:
        factor = float(setting.rpartition("= ")[2])
        scales = {name: bandwidth.max_min(views[name], factor) for name in views.names}
    return {name: Gaussian(bandwidth=scale) for name, scale in scales.items()}


def list_embeddings(
    views: Views, kernels: dict[str, Gaussian], seed: int, *, is_torn: bool = False
) -> dict[str, Callable[[], Any] | None]:
    """Functions by method that compute the embedding to be clustered.

    At the smallest scales (`is_torn`) one geometry alone nearly falls into pieces: eigenvalues
    within 1e-7 of 1, on which iterations stop at any mixture of their vectors. LAPACK does not,
    and takes less time.
    """
    common: dict[str, Any] = {"tol": _TOL, "random_state": seed}
    of_one = {**common, "solver": "dense"} if is_torn else common
    is_dense = not any(isinstance(kernel.bandwidth, str) for kernel in kernels.values())

    def alone(name: str) -> Any:
        return DiffusionMaps(1, kernel=kernels[name], **of_one).fit_transform(views[name])

    def fused(fusion: str) -> Any:
        options = common if fusion == "hop" else of_one
        stay = 0.0 if fusion == "hop" else None
        est = MultiViewDiffusionMaps(
            1, kernel=kernels, fusion=fusion, within_view_weight=stay, **options
        )
        return est.fit_transform(views)

    def correlated() -> Any:
        return KernelCCA(1, kernel=kernels, regularization=0.01, rank=100).fit_transform(views)

    return {
        "x alone": lambda: alone("x"),
        "y alone": lambda: alone("y"),
        "kernel sum": lambda: fused("sum"),
        "kernel product": lambda: fused("product"),
        "kernel product, concat": lambda: fused("concat"),
        # Incomplete Cholesky factorisation needs a dense kernel.
        "kernel CCA": correlated if is_dense else None,
        "de Sa": lambda: DeSaEmbedding(2, kernel=kernels, **common).fit_transform(views),
        "multi-view": lambda: fused("hop"),
    }
