"""Canonical functions of several views, from low-rank kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, svd

from viewhop.affinity import LowRank, Pivots
from viewhop.spectrum import fix_signs
from viewhop.views import Schema, Views

__all__ = ["Canonical", "CanonicalMap", "solve_canonical"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Canonical:
    """Canonical functions of several views, in terms of the factors of their kernels.

    Attributes
    ----------
    correlations : (r,) array
    vectors : list of (n, r) arrays
        v_l, the eigenvectors of Eq. (8).
    centres : list of (k_l,) arrays
        Row subtracted from those of each factor: their mean, or 0 for kernels that are not centred.
    weights : list of (k_l, r) arrays
        Matrices that map centred factor rows of a view to its variates.
    regressions : dict of (k_l, r) arrays by pair (l, m)
        Matrices that predict the variates of view m from centred factor rows of view l.
    """

    correlations: Floats
    vectors: list[Floats]
    centres: list[Floats]
    weights: list[Floats]
    regressions: dict[tuple[int, int], Floats]

    def variates(self, m: int, centred: Mapping[int, Floats]) -> Floats:
        """Variates of view m, (q, r), from the centred factor rows of the available views."""
        if m in centred:
            return centred[m] @ self.weights[m]
        predicted = [rows @ self.regressions[l, m] for l, rows in centred.items()]
        return np.asarray(np.mean(predicted, axis=0))


@dataclass(frozen=True, eq=False)
class CanonicalMap:
    """The result of a fit: the pivots of each view's kernel, and the canonical functions.

    Attributes
    ----------
    schema : Schema
        Schema of the training views, which new samples must match.
    canonical : Canonical
    pivots : tuple of Pivots
        One per view.
    view_embeddings : dict of (n_samples, r) arrays by view name
        Variates of the training samples.
    embedding : (n_samples, n_views * r) array
        The same, views side by side.
    ranks : dict of int by view name
        Number of columns of each factor.
    left_out : dict of float by view name
        Fraction of each kernel's trace that its factor does not capture.
    """

    schema: Schema
    canonical: Canonical
    pivots: tuple[Pivots, ...]
    view_embeddings: dict[str, NDArray[np.floating]]
    embedding: NDArray[np.floating]
    ranks: dict[str, int]
    left_out: dict[str, float]

    @classmethod
    def from_kernels(
        cls, schema: Schema, kernels: Sequence[LowRank], canonical: Canonical
    ) -> CanonicalMap:
        """The map of canonical functions on low-rank kernels, one per view."""
        centred = {l: kernel.rows - canonical.centres[l] for l, kernel in enumerate(kernels)}
        blocks = [canonical.variates(l, centred).astype(schema.dtype) for l in centred]
        by_name = dict(zip(schema.names, kernels, strict=True))
        return cls(
            schema,
            canonical,
            tuple(kernel.pivots for kernel in kernels),
            dict(zip(schema.names, blocks, strict=True)),
            np.hstack(blocks),
            {name: kernel.rows.shape[1] for name, kernel in by_name.items()},
            {name: kernel.left_out for name, kernel in by_name.items()},
        )

    @cached_property
    def vectors(self) -> dict[str, NDArray[np.floating]]:
        """v_l, the eigenvectors of Eq. (8), (n_samples, r), by view name."""
        vectors = [v.astype(self.schema.dtype) for v in self.canonical.vectors]
        return dict(zip(self.schema.names, vectors, strict=True))

    @property
    def bandwidths(self) -> dict[str, float]:
        """The scale of each kernel, by view name."""
        scales = [pivots.scale for pivots in self.pivots]
        return dict(zip(self.schema.names, scales, strict=True))

    def place(self, views: Views) -> tuple[NDArray[np.floating], NDArray[np.bool_]]:
        """Variates of samples, (n, n_features_out), and which are similar to no pivot, (n,).

        Parameters
        ----------
        views : Views
            Any subset of the views, complete.
        """
        centred, far = {}, np.zeros(len(views), dtype=bool)
        for l, name in enumerate(self.schema.names):
            if name in views.names:
                rows, is_far = self.pivots[l].against(views.rows(name))
                centred[l] = rows - self.canonical.centres[l]
                far |= is_far
        blocks = [self.canonical.variates(m, centred) for m in range(len(self.pivots))]
        return np.hstack(blocks).astype(self.schema.dtype), far


def solve_canonical(
    kernels: Sequence[LowRank], regularization: float, n_components: int, *, center: bool = True
) -> Canonical:
    """The leading canonical functions of several views.

    Parameters
    ----------
    kernels : sequence of LowRank
        One per view, on the same samples.
    regularization : float
        γ.
    n_components : int
    center : bool
        Whether kernels are centred; Eq. (8) prints them as they are.

    Notes
    -----
    Eq. (8). With the (centred) factor G = UΣVᵀ and w = (K + γI)v, it becomes the eigenproblem of
    the symmetric matrix with blocks N^l N^m, l ≠ m, where N = K(K + γI)⁻¹ = U diag(σ²/(σ² + γ)) Uᵀ.
    A vector w with ρ ≠ 0 has the form U a, so the coefficients a solve an eigenproblem of the size
    of the factors.
    """
    n, n_views = kernels[0].rows.shape[0], len(kernels)
    centres = [
        kernel.rows.mean(axis=0) if center else np.zeros(kernel.rows.shape[1]) for kernel in kernels
    ]
    bases, inverses, damped, turns = [], [], [], []
    for kernel, centre in zip(kernels, centres, strict=True):
        U, sizes, V = svd(kernel.rows - centre, full_matrices=False)
        bases.append(U)
        inverses.append(1.0 / (np.square(sizes) + regularization))
        damped.append(np.square(sizes) * inverses[-1])
        turns.append(V.T * (sizes * inverses[-1]))  # V Σ (Σ² + γ)⁻¹
    ends = np.cumsum([0, *(d.size for d in damped)])
    parts = [slice(start, stop) for start, stop in pairwise(ends)]
    matrix = np.zeros((ends[-1], ends[-1]))
    for l in range(n_views):
        for m in range(l):
            cross = damped[l][:, None] * (bases[l].T @ bases[m]) * damped[m]
            matrix[parts[l], parts[m]], matrix[parts[m], parts[l]] = cross, cross.T
    first = max(0, ends[-1] - n_components)
    values, vectors = eigh(matrix, subset_by_index=[first, ends[-1] - 1])
    values, vectors = values[::-1], vectors[:, ::-1]
    positive = int((values > 8 * ends[-1] * np.finfo(np.float64).eps).sum())
    if positive < n_components:
        raise ValueError(
            f"n_components={n_components} is more than the {positive} canonical correlations of "
            f"these views that are positive beyond rounding; pass at most n_components={positive}, "
            "or raise rank"
        )
    vectors = vectors * np.sqrt(n * n_views)
    variates = [U @ (d[:, None] * vectors[p]) for U, d, p in zip(bases, damped, parts, strict=True)]
    flips = fix_signs(np.vstack(variates))
    vectors = vectors * flips
    return Canonical(
        values / (n_views - 1),
        [U @ (i[:, None] * vectors[p]) for U, i, p in zip(bases, inverses, parts, strict=True)],
        centres,
        [turn @ vectors[p] for turn, p in zip(turns, parts, strict=True)],
        {
            (l, m): turns[l] @ (bases[l].T @ (variates[m] * flips))
            for l in range(n_views)
            for m in range(n_views)
            if l != m
        },
    )
