"""Coordinates of single methods, and which kernel products there are."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewhop.affinity import common_gaussian, concat_kernel
from viewhop.errors import DisconnectedWarning
from viewhop.estimators import MultiViewDiffusionMaps
from viewhop.kernels import Kernel
from viewhop.walks import ConcatWalk, ProductWalk

__all__ = [
    "PRODUCTS",
    "Coordinates",
    "de_sa_coordinates",
    "fit_coordinates",
    "list_products",
    "pieces_remarks",
    "products_remarks",
]

_Floats = NDArray[np.floating]

#: The two kernel products by their names in tables: element-wise, and one Gaussian of all views
#: side by side with σ∘² = Σ σ_l², which is that of the paper's experiments.
PRODUCTS: dict[str, type[ProductWalk] | type[ConcatWalk]] = {
    "kernel product": ProductWalk,
    "kernel product, concat": ConcatWalk,
}


@dataclass(frozen=True)
class Coordinates:
    """Coordinates of one method, truncated on request.

    Attributes
    ----------
    blocks : tuple of (n_samples, r) arrays
        One per view, or a single one if the method has one geometry for all views.
    n_pieces : int
        Number of connected pieces of the walk; 1 if it is connected.
    by_squares : bool
        Whether rows are divided by their sum of squares, as in de Sa's method.
    """

    blocks: tuple[_Floats, ...]
    n_pieces: int = 1
    by_squares: bool = False

    def first(self, r: int) -> _Floats:
        """First r coordinates of each block side by side, (n_samples, n_blocks · r)."""
        taken = [block[:, :r] for block in self.blocks]
        if self.by_squares:
            taken = [block / np.square(block).sum(axis=1, keepdims=True) for block in taken]
        return np.hstack(taken)


def list_products(kernels: Mapping[str, Kernel]) -> list[str]:
    """Names of those kernel products in `PRODUCTS` that kernels have.

    Dense kernels have an element-wise product, and kernels on neighbours if they are Gaussians that
    are alike; only Gaussians can be one kernel of all views side by side.

    Parameters
    ----------
    kernels : dict of Kernel by view name
    """
    return [name for name in PRODUCTS if not _explain_product(name, [*kernels.values()])]


def products_remarks(kernels: Mapping[str, Kernel]) -> tuple[str, ...]:
    """Remark on the kernel products that kernels do not have, if there are any.

    Parameters
    ----------
    kernels : dict of Kernel by view name
    """
    reasons = {name: _explain_product(name, [*kernels.values()]) for name in PRODUCTS}
    return tuple(f"There is no {name}: {why}." for name, why in reasons.items() if why)


def _explain_product(name: str, kernels: Sequence[Kernel]) -> str:
    """Reason why kernels do not have a product; empty if they do."""
    if PRODUCTS[name] is ConcatWalk:
        try:
            concat_kernel(kernels)
        except ValueError:
            return "features side by side have one kernel only for Gaussians that are alike"
        return ""
    if any(kernel.n_neighbors is not None for kernel in kernels) and (
        common_gaussian(kernels, 1.0) is None
    ):
        return "on neighbours it is defined only for Gaussians that are alike"
    return ""


def fit_coordinates(estimator: Any, data: Any) -> Coordinates:
    """Coordinates of an estimator after a fit; disconnected walks are counted, not warned about.

    Parameters
    ----------
    estimator : MultiViewDiffusionMaps, DiffusionMaps or KernelCCA
    data : as for its `fit`
    """
    with warnings.catch_warnings():
        # Disconnected walks are common on real data; each experiment reports them in its result.
        warnings.simplefilter("ignore", DisconnectedWarning)
        estimator.fit(data)
    blocks = tuple(estimator.view_embeddings_.values())
    walk = getattr(estimator, "walk_", None)
    if walk is not None and walk.is_fused:
        blocks = blocks[:1]
    return Coordinates(blocks, getattr(estimator, "n_pieces_", 1))


def de_sa_coordinates(estimator: MultiViewDiffusionMaps) -> Coordinates:
    """De Sa's rows from a fit of the paper's walk between two views.

    Parameters
    ----------
    estimator : MultiViewDiffusionMaps
        Fitted on two views, with the hops of Eq. (13).

    Notes
    -----
    Eq. (11). The unit eigenvectors of Ā are √π ψ, including the trivial one, so the walk of
    Eq. (21) gives them without another fit. The estimator is `viewhop.estimators.DeSaEmbedding`.
    """
    total = estimator.walk_.degrees.sum()
    blocks = []
    for name, block in estimator.view_embeddings_.items():
        psi = block / estimator.eigenvalues_**estimator.n_steps_
        root = np.sqrt(estimator.degrees_[name] / total)[:, None]
        blocks.append(root * np.hstack([np.ones_like(root), psi]))
    return Coordinates(tuple(blocks), estimator.n_pieces_, by_squares=True)


def pieces_remarks(n_pieces: Mapping[str, int]) -> tuple[str, ...]:
    """Remark on disconnected walks, if there are any.

    Parameters
    ----------
    n_pieces : dict of int by method
    """
    broken = [f"{name} ({pieces:,})" for name, pieces in n_pieces.items() if pieces > 1]
    return (f"The walk falls into pieces for {', '.join(broken)}.",) if broken else ()
