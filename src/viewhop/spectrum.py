"""The leading eigenpairs of a walk, as one frozen object."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

__all__ = ["Spectrum", "fix_signs"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Spectrum:
    """Eigenvalues and right eigenvectors of a walk, without the trivial pair λ_0 = 1, ψ_0 ≡ 1.

    Pairs are sorted by eigenvalue, largest first. Eigenvectors are scaled so that
    Ψᵀ diag(π) Ψ = I, as ψ_0 is. Signs are fixed: the first entry whose magnitude is within a
    relative 1e-6 of the largest is positive.

    Attributes
    ----------
    eigenvalues : (r,) array
    eigenvectors : (n_nodes, r) array
    stepped : (n_nodes, r) array
        Pψ, the eigenvectors after one step of the walk: λψ up to the residuals. Coordinates are
        computed from it, because it is also what an extension gives at new samples.
    residuals : (r,) array
        ‖A u − λ u‖ of the unit eigenvectors u of A = D^{-1/2} K D^{-1/2}.
    stationary : (n_nodes,) array
        π, the stationary distribution.
    solver : str
        Name of the solver that computed the pairs.
    n_products : int
        Number of vectors that the walk's kernel was multiplied by.
    """

    eigenvalues: Floats
    eigenvectors: Floats
    stepped: Floats
    residuals: Floats
    stationary: Floats
    solver: str
    n_products: int

    @classmethod
    def from_symmetric(
        cls,
        eigenvalues: Floats,
        unit_vectors: Floats,
        images: Floats,
        *,
        stationary: Floats,
        solver: str,
        n_products: int,
    ) -> Spectrum:
        """The spectrum from orthonormal eigenvectors of A = D^{-1/2} K D^{-1/2}, in any order.

        Parameters
        ----------
        eigenvalues : (r,) array
        unit_vectors : (n_nodes, r) array
        images : (n_nodes, r) array
            A times the vectors; overwritten.
        stationary, solver, n_products
            As in the attributes.
        """
        order = np.argsort(-eigenvalues, kind="stable")
        residuals = np.linalg.norm(images - unit_vectors * eigenvalues, axis=0)
        # A node that the walk never reaches has weight 0, and is 0 in every eigenvector.
        root = np.sqrt(np.where(stationary > 0, stationary, np.inf))[:, None]
        vectors = unit_vectors[:, order] / root
        sign = fix_signs(vectors)
        vectors *= sign
        images /= root
        return cls(
            eigenvalues[order],
            vectors,
            images[:, order] * sign,
            residuals[order],
            stationary,
            solver,
            n_products,
        )

    def __len__(self) -> int:
        return self.eigenvalues.size

    def first(self, r: int) -> Spectrum:
        """The first `r` pairs."""
        return Spectrum(
            self.eigenvalues[:r],
            self.eigenvectors[:, :r],
            self.stepped[:, :r],
            self.residuals[:r],
            self.stationary,
            self.solver,
            self.n_products,
        )

    def at(self, nodes: NDArray[np.intp]) -> Spectrum:
        """The same pairs with the nodes reordered: new node k is old node ``nodes[k]``."""
        vectors, stepped = self.eigenvectors[nodes], self.stepped[nodes]
        sign = fix_signs(vectors)
        vectors *= sign
        stepped *= sign
        return replace(
            self, eigenvectors=vectors, stepped=stepped, stationary=self.stationary[nodes]
        )

    def with_trivial(self) -> Spectrum:
        """The same pairs with the trivial pair λ_0 = 1, ψ_0 ≡ 1 in front."""
        ones = np.ones((self.stationary.size, 1))
        return Spectrum(
            np.append(1.0, self.eigenvalues),
            np.hstack([ones, self.eigenvectors]),
            np.hstack([ones, self.stepped]),
            np.append(0.0, self.residuals),
            self.stationary,
            self.solver,
            self.n_products,
        )

    def __repr__(self) -> str:
        if not len(self):
            return f"Spectrum(empty, {self.solver})"
        return (
            f"Spectrum({len(self)} pairs of {self.stationary.size:,} nodes, "
            f"λ {self.eigenvalues[0]:.4g} … {self.eigenvalues[-1]:.4g}, "
            f"residual ≤ {self.residuals.max():.1e}, {self.solver})"
        )


def fix_signs(vectors: Floats) -> Floats:
    """Sign of each column, +1 or −1, (r,), that makes its first largest entry positive."""
    size = np.abs(vectors)
    first = np.argmax(size >= (1 - 1e-6) * size.max(axis=0, initial=0.0), axis=0)
    return np.where(vectors[first, np.arange(vectors.shape[1])] < 0, -1.0, 1.0)
