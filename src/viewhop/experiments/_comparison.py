"""Coordinates by the methods that the paper compares, from as few kernels as possible."""

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
from viewhop.solvers import _multilevel as coarse
from viewhop.solvers import keep_positive
from viewhop.views import Views
from viewhop.walks import SumWalk

__all__ = ["Coordinates", "compared", "de_sa", "fitted", "pieces_told", "summed"]

_Floats = NDArray[np.floating]

#: Up to this many samples a walk on them is solved by LAPACK: next to the identity, where a
#: product of narrow kernels is, an iteration has no end.
_FEW = 3000


@dataclass(frozen=True)
class Coordinates:
    """Coordinates, of which any number of the first can be taken.

    Attributes
    ----------
    blocks : tuple of (n_samples, r) arrays
        One per view, or a single one where the method has one geometry for all.
    n_pieces : int
        Pieces that the walk falls into; 1 is a connected one.
    by_squares : bool
        Whether rows are divided by their sum of squares, as de Sa's are.
    """

    blocks: tuple[_Floats, ...]
    n_pieces: int = 1
    by_squares: bool = False

    def first(self, r: int) -> _Floats:
        """The first r coordinates of each block side by side, (n_samples, n_blocks · r)."""
        taken = [block[:, :r] for block in self.blocks]
        if self.by_squares:
            taken = [block / np.square(block).sum(axis=1, keepdims=True) for block in taken]
        return np.hstack(taken)


def compared(
    views: Views,
    kernels: Mapping[str, Kernel],
    r: int,
    *,
    seed: int,
    tol: float | None = None,
    has_product: bool = True,
) -> Iterator[tuple[str, Coordinates]]:
    """Names of methods with their first `r` coordinates, one after the other.

    Each view alone, the kernel sum, de Sa's rows where there are two views, the walk between views
    and, last, the kernel product. All but the last share the kernels of one fit.

    Parameters
    ----------
    views : Views
    kernels : dict by view name
    r : int
    seed : int
    tol : float or None
        As estimators take it.
    has_product : bool
        False where the kernels have no product (`ProductWalk` says which).
    """
    hop = MultiViewDiffusionMaps(r, kernel=dict(kernels), tol=tol, random_state=seed)
    between = fitted(hop, views)
    for name in views.names:
        yield name, summed(hop, [name], r, seed=seed)
    yield "kernel sum", summed(hop, views.names, r, seed=seed)
    if views.n_views == 2:
        yield "de Sa", de_sa(hop)
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
        yield "kernel product", fitted(product, views)


def fitted(estimator: Any, data: Any) -> Coordinates:
    """The coordinates of an estimator, fitted here; pieces are counted instead of warned of.

    Parameters
    ----------
    estimator : MultiViewDiffusionMaps, DiffusionMaps or KernelCCA
    data : as its `fit` takes it
    """
    with warnings.catch_warnings():
        # On real data pieces are common: each experiment tells them with its result.
        warnings.simplefilter("ignore", DisconnectedWarning)
        estimator.fit(data)
    blocks = tuple(estimator.view_embeddings_.values())
    walk = getattr(estimator, "walk_", None)
    if walk is not None and walk.is_fused:
        blocks = blocks[:1]
    return Coordinates(blocks, getattr(estimator, "n_pieces_", 1))


def summed(
    estimator: MultiViewDiffusionMaps, names: Sequence[str], r: int, *, seed: int
) -> Coordinates:
    """Coordinates of the kernel sum of some views, from the kernels of a fit.

    Parameters
    ----------
    estimator : MultiViewDiffusionMaps
        Fitted, and every view observed every sample.
    names : list of str
        Views; one alone gives its ordinary diffusion map.
    r : int
    seed : int
    """
    walk = SumWalk([K for K in estimator.walk_.affinities if K.name in names])
    pieces = walk.pieces()
    spectrum = coarse.solve_multilevel(
        walk,
        r,
        solver="dense" if walk.n_samples <= _FEW else "auto",
        tol=estimator.tol,
        pieces=pieces,
        generator=np.random.default_rng(seed),
    )
    return Coordinates((keep_positive(walk, spectrum).stepped,), int(pieces.max()) + 1)


def de_sa(estimator: MultiViewDiffusionMaps) -> Coordinates:
    """De Sa's rows, from the fit of the paper's walk between two views.

    Parameters
    ----------
    estimator : MultiViewDiffusionMaps
        Fitted on two views, with the hops of Eq. (13).

    Notes
    -----
    Eq. (11). The unit eigenvectors of Ā are √π ψ, the trivial one included, so the walk that
    gives Eq. (21) gives them without another fit; `viewhop.estimators.DeSaEmbedding` is the
    estimator.
    """
    total = estimator.walk_.degrees.sum()
    blocks = []
    for name, block in estimator.view_embeddings_.items():
        psi = block / estimator.eigenvalues_**estimator.n_steps_
        root = np.sqrt(estimator.degrees_[name] / total)[:, None]
        blocks.append(root * np.hstack([np.ones_like(root), psi]))
    return Coordinates(tuple(blocks), estimator.n_pieces_, by_squares=True)


def pieces_told(found: Mapping[str, int]) -> tuple[str, ...]:
    """A remark on the walks that fall into pieces, or none.

    Parameters
    ----------
    found : dict of int by method
        Numbers of pieces.
    """
    broken = [f"{name} ({pieces:,})" for name, pieces in found.items() if pieces > 1]
    return (f"The walk falls into pieces for {', '.join(broken)}.",) if broken else ()
