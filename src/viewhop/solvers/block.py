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
    problem, n = operator.problem, operator.n
    r = problem.r
    room = n - problem.known.shape[1]
    wanted = min(r + max(4, r // 4), room)
    most = max(10 * wanted, 100)
    Q, AQ, gram = np.empty((n, 0)), np.empty((n, 0)), np.empty((0, 0))
    block = _first_block(operator, min(WIDTH, room))
    best, idle = np.inf, 0
    for _ in range(MAX_BLOCKS):
        block = _orthonormal(operator, Q, block[:, : room - Q.shape[1]])
        product = operator.apply(block)
        side = Q.T @ product
        gram = np.block([[gram, side], [side.T, block.T @ product]])
        Q, AQ = np.hstack([Q, block]), np.hstack([AQ, product])
        values, rotation = np.linalg.eigh(0.5 * (gram + gram.T))
        values, rotation = values[::-1], rotation[:, ::-1]
        lead = rotation[:, :wanted]
        residual = AQ @ lead - (Q @ lead) * values[:wanted]
        sizes = np.linalg.norm(residual, axis=0)
        excess = operator.excess(values[:wanted], sizes, stalled=idle > PATIENCE)
        ready = excess <= 1
        worst = float(excess[:r].max())
        best, idle = (worst, 0) if worst < 0.9 * best else (best, idle + 1)
        told = Stage("solve", f"residual {sizes[:r].max():.0e}")
        problem.progress(told, int(ready[:r].sum()), r)
        if (ready.size >= r and ready[:r].all()) or Q.shape[1] == room:
            return operator.pairs(values[:r], Q @ lead[:, :r]), True
        block = residual[:, np.flatnonzero(~ready)[:WIDTH]]
        if Q.shape[1] + block.shape[1] > most:
            kept = rotation[:, : 2 * wanted]
            Q, AQ, gram = Q @ kept, AQ @ kept, np.diag(values[: 2 * wanted])
    found = np.flatnonzero(ready[:r])
    return operator.pairs(values[found], Q @ lead[:, found]), False


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
