"""Block Krylov: several vectors at a time, from a guess."""

from __future__ import annotations

import numpy as np

from viewhop.progress import Stage
from viewhop.solvers.problem import Floats, Found, Operator

__all__ = ["krylov"]

#: Columns multiplied at a time: enough to pay for reading a kernel from memory.
WIDTH = 16
#: Blocks before it gives up.
MAX_BLOCKS = 1000
#: Blocks without progress after which small residuals are taken to be rounding.
PATIENCE = 3


def krylov(operator: Operator) -> tuple[Found, bool]:
    """Eigenpairs of A by block Krylov iteration, and whether all converged.

    Rayleigh–Ritz on a growing basis, with thick restart and locking. The basis begins with the
    guesses, if there are any, and grows by the residuals of the wanted pairs that have not
    converged, which spans the block Krylov space; converged pairs stay in the basis and are not
    multiplied again. A block finds eigenvalues of any multiplicity up to its width.
    """
    problem = operator.problem
    r = problem.r
    room = operator.n - problem.known.shape[1]
    wanted = min(r + max(4, r // 4), room)
    block = _first_block(operator, min(WIDTH, room))
    basis = _Basis(operator, most_columns(r, block.shape[1]))
    best, idle = np.inf, 0
    for _ in range(MAX_BLOCKS):
        basis.grow(_orthonormal(operator, basis.Q, block[:, : room - basis.size]))
        values, rotation = basis.ritz()
        lead = rotation[:, :wanted]
        residual = basis.AQ @ lead - (basis.Q @ lead) * values[:wanted]
        sizes = np.linalg.norm(residual, axis=0)
        excess = operator.excess(values[:wanted], sizes, stalled=idle > PATIENCE)
        ready = excess <= 1
        worst = float(excess[:r].max())
        best, idle = (worst, 0) if worst < 0.9 * best else (best, idle + 1)
        told = Stage("solve", f"residual {sizes[:r].max():.0e}")
        problem.progress(told, int(ready[:r].sum()), r)
        if (ready.size >= r and ready[:r].all()) or basis.size == room:
            return operator.pairs(values[:r], basis.Q @ lead[:, :r]), True
        block = residual[:, np.flatnonzero(~ready)[:WIDTH]]
        if basis.size + block.shape[1] > basis.most:
            basis.restart(values[: 2 * wanted], rotation[:, : 2 * wanted])
    found = np.flatnonzero(ready[:r])
    return operator.pairs(values[found], basis.Q @ lead[:, found]), False


def most_columns(r: int, first: int = WIDTH) -> int:
    """Columns that the basis for `r` pairs may have before it restarts."""
    return max(10 * (r + max(4, r // 4)), 100, first + WIDTH)


class _Basis:
    """An orthonormal basis Q, its products AQ, and QᵀAQ.

    Columns lie one after another in memory, so that only those in use take any.
    """

    def __init__(self, operator: Operator, most: int) -> None:
        self.operator = operator
        self.most = min(most, operator.n)
        self.size = 0
        self._Q, self._AQ = (np.empty((operator.n, self.most), order="F") for _ in range(2))
        self._gram = np.empty((self.most, self.most))

    @property
    def Q(self) -> Floats:
        """The basis, (n, size)."""
        return self._Q[:, : self.size]

    @property
    def AQ(self) -> Floats:
        """Its products, (n, size)."""
        return self._AQ[:, : self.size]

    def grow(self, block: Floats) -> None:
        """Multiply orthonormal columns and append them."""
        old, new = slice(0, self.size), slice(self.size, self.size + block.shape[1])
        self._Q[:, new] = block
        self._AQ[:, new] = self.operator.apply(block)
        self._gram[old, new] = self.Q.T @ self._AQ[:, new]
        self._gram[new, old] = self._gram[old, new].T
        self._gram[new, new] = block.T @ self._AQ[:, new]
        self.size = new.stop

    def ritz(self) -> tuple[Floats, Floats]:
        """Ritz values, largest first, and their coefficients in the basis."""
        gram = self._gram[: self.size, : self.size]
        values, rotation = np.linalg.eigh(0.5 * (gram + gram.T))
        return values[::-1], rotation[:, ::-1]

    def restart(self, values: Floats, rotation: Floats) -> None:
        """Go on with some Ritz vectors only."""
        kept = values.size
        self._Q[:, :kept] = self.Q @ rotation
        self._AQ[:, :kept] = self.AQ @ rotation
        self._gram[:kept, :kept] = np.diag(values)
        self.size = kept


def _first_block(operator: Operator, width: int) -> Floats:
    """The guesses, or random columns."""
    start = operator.start()
    if start is None:
        return operator.problem.generator.standard_normal((operator.n, width))
    return start


def _orthonormal(operator: Operator, Q: Floats, block: Floats) -> Floats:
    """An orthonormal basis of what the block adds to Q and the known eigenvectors.

    Directions that are lost to rounding are replaced by random ones, so the width stays.
    """
    again = True
    while again:
        size = np.linalg.norm(block, axis=0)
        block = block / np.where(size > 0, size, 1.0)
        block = operator.project(block - Q @ (Q.T @ block))
        # Orthonormal by the Gram matrix: products only, where a QR would go column by column.
        kept, rotation = np.linalg.eigh(block.T @ block)
        lost = kept <= 1e-20
        block = block @ (rotation / np.sqrt(np.where(lost, 1.0, kept)))
        if lost.any():
            fresh = operator.problem.generator.standard_normal((operator.n, int(lost.sum())))
            block[:, lost] = fresh
        again = bool((kept < 0.25).any())  # a direction that shrank keeps too much of what it lost
    return np.asarray(block)
