"""Coordinates of the methods that the paper compares, sharing as many kernels as possible."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewhop.errors import DisconnectedWarning
from viewhop.estimators import MultiViewDiffusionMaps
from viewhop.kernels import Kernel
from viewhop.solvers import keep_positive, solve_multilevel
from viewhop.views import Views
from viewhop.walks import SumWalk

__all__ = [
    "Coordinates",
    "compare_methods",
    "de_sa_coordinates",
    "fit_coordinates",
    "pieces_remarks",
    "sum_coordinates",
]

_Floats = NDArray[np.floating]

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
    views and, last, the kernel product. All but the last share the kernels of one fit.

    Parameters
    ----------
    views : Views
    kernels : dict by view name
    r : int
    seed : int
    tol : float or None
        As for the estimators.
    has_product : bool
        False if the kernels have no product; see `ProductWalk`.
    """
    hop = MultiViewDiffusionMaps.paper_settings(r, kernel=dict(kernels), tol=tol, random_state=seed)
    between = fit_coordinates(hop, views)
    for name in views.names:
        yield name, sum_coordinates(hop, [name], r, seed=seed)
    yield "kernel sum", sum_coordinates(hop, views.names, r, seed=seed)
    if views.n_views == 2:
        yield "de Sa", de_sa_coordinates(hop)
    yield "multi-view", between
    del hop, between  # Kernels are large.
    if has_product:
        product = MultiViewDiffusionMaps(
            r,
            kernel=dict(kernels),
            fusion="product",
            solver="dense" if len(views) <= _FEW else "auto",
            tol=tol,
            random_state=seed,
        )
        yield "kernel product", fit_coordinates(product, views)


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
    pieces = walk.pieces()
    spectrum = solve_multilevel(
        walk,
        r,
        solver="dense" if walk.n_samples <= _FEW else "auto",
        tol=estimator.tol,
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
