"""Coordinates of the methods that the paper compares, sharing as many kernels as possible."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewhop._runtime import memory
from viewhop.affinity import AffinitySize, common_gaussian, concat_kernel
from viewhop.errors import DisconnectedWarning
from viewhop.estimators import MultiViewDiffusionMaps
from viewhop.kernels import Kernel
from viewhop.solvers import keep_positive, solve_multilevel
from viewhop.views import Views
from viewhop.walks import ConcatWalk, ProductWalk, SumWalk, Walk

__all__ = [
    "PRODUCTS",
    "Coordinates",
    "compare_methods",
    "de_sa_coordinates",
    "fit_coordinates",
    "list_products",
    "pieces_remarks",
    "products_remarks",
    "sum_coordinates",
]

_Floats = NDArray[np.floating]

#: The two kernel products by their names in tables: element-wise, and one Gaussian of all views
#: side by side with σ∘² = Σ σ_l², which is that of the paper's experiments.
PRODUCTS: dict[str, type[ProductWalk] | type[ConcatWalk]] = {
    "kernel product": ProductWalk,
    "kernel product, concat": ConcatWalk,
}

#: Up to this many samples, walks are solved by LAPACK: iterations do not converge close to the
#: identity, where a product of narrow kernels lies.
_FEW = 3000


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


def compare_methods(
    views: Views,
    kernels: Mapping[str, Kernel],
    r: int,
    *,
    seed: int,
    tol: float | None = None,
    has_product: bool = True,
) -> Iterator[tuple[str, Coordinates]]:
    """Iterator over names of methods with their first `r` coordinates.

    The methods are each view alone, the kernel sum, de Sa's rows for two views, the walk between
    views and, last, those of `PRODUCTS` that the kernels have: see `list_products`. All share the
    kernels of one fit.

    Parameters
    ----------
    views : Views
    kernels : dict by view name
    r : int
    seed : int
    tol : float or None
        As for the estimators.
    has_product : bool
        False leaves out the kernel products.
    """
    hop = MultiViewDiffusionMaps.paper_settings(r, kernel=dict(kernels), tol=tol, random_state=seed)
    between = fit_coordinates(hop, views)
    for name in views.names:
        yield name, sum_coordinates(hop, [name], r, seed=seed)
    yield "kernel sum", sum_coordinates(hop, views.names, r, seed=seed)
    if views.n_views == 2:
        yield "de Sa", de_sa_coordinates(hop)
    yield "multi-view", between
    del between
    for name in list_products(kernels) if has_product else ():
        yield name, _product_coordinates(hop, PRODUCTS[name], r, seed=seed)


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


def _product_coordinates(
    estimator: MultiViewDiffusionMaps,
    kind: type[ProductWalk] | type[ConcatWalk],
    r: int,
    *,
    seed: int,
) -> Coordinates:
    """Coordinates of a kernel product, from the kernels of a fit."""
    affinities = estimator.walk_.affinities
    first = affinities[0]
    width = sum(estimator.geometry_.schema.widths)
    size = AffinitySize(first.kernel, first.n_samples, width, first.dtype, first.n_jobs)
    memory.require_bytes(
        int(size.peak_bytes),
        memory.parse_budget(estimator.max_memory),
        what=f"a kernel product of {first.n_samples:,} samples",
        instead="use fewer samples",
    )
    return _solve_fused(kind(affinities), r, tol=estimator.tol, seed=seed)


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


def sum_coordinates(
    estimator: MultiViewDiffusionMaps, names: Sequence[str], r: int, *, seed: int
) -> Coordinates:
    """Coordinates of the kernel sum of some views, from the kernels of a fit.

    Parameters
    ----------
    estimator : MultiViewDiffusionMaps
        Fitted on views without missing samples.
    names : list of str
        Views; a single one gives its ordinary diffusion map.
    r : int
    seed : int
    """
    walk = SumWalk([K for K in estimator.walk_.affinities if K.name in names])
    return _solve_fused(walk, r, tol=estimator.tol, seed=seed)


def _solve_fused(walk: Walk, r: int, *, tol: float | None, seed: int) -> Coordinates:
    """Coordinates of a walk with one geometry."""
    pieces = walk.pieces()
    spectrum = solve_multilevel(
        walk,
        r,
        solver="dense" if walk.n_samples <= _FEW else "auto",
        tol=tol,
        pieces=pieces,
        generator=np.random.default_rng(seed),
    )
    return Coordinates((keep_positive(walk, spectrum).stepped,), int(pieces.max()) + 1)


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
