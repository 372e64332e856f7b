"""Block Krylov iteration: several vectors at a time, starting from guesses."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext

import numpy as np

from viewhop._runtime.progress import Stage
from viewhop._runtime.threads import single_blas
from viewhop.affinity import LANES
from viewhop.solvers._problem import (
    Floats,
    Operator,
    Problem,
    Solution,
    Solver,
    Whole,
    smallest_operator,
)
from viewhop.solvers._tall import Columns, Tall

__all__ = ["SPARSE_WIDTH", "WIDTH", "BlockKrylov", "KrylovSolver", "Outlook", "max_columns"]

#: Columns multiplied at a time: for full kernels, enough to make up for reading them from memory;
#: for neighbour kernels fewer, which need fewer products in total.
WIDTH, SPARSE_WIDTH = 2 * LANES, 10
#: Largest number of blocks.
MAX_BLOCKS = 1000
#: Blocks without progress after which small residuals are attributed to rounding.
PATIENCE = 3
#: Blocks before the first look ahead, and blocks whose decrease is extrapolated.
SETTLED, LOOK = 6, 4
#: Residuals below this many times their limit are about to converge, however slowly.
NEAR = 100.0


class Outlook:
    """A look ahead: whether an iteration will take more columns than it may.

    The residuals of a block Krylov iteration decrease by about the same factor in every block.

    Parameters
    ----------
    most : float
        Number of columns that it may still take.

    Attributes
    ----------
    was_poor : bool
        Whether `is_poor` has returned True.
    """

    def __init__(self, most: float) -> None:
        self.most = most
        self.was_poor = False
        self._logs: list[float] = []

    def is_poor(self, worst: float, width: int) -> bool:
        """Whether more columns are expected; called after every block.

        Parameters
        ----------
        worst : float
            The largest residual, divided by its limit.
        width : int
            Number of columns of the next block.
        """
        self._logs.append(float(np.log(worst)))
        if len(self._logs) < SETTLED or worst < NEAR:
            return False
        decrease = (self._logs[-1 - LOOK] - self._logs[-1]) / LOOK
        self.was_poor = self._logs[-1] * width > self.most * max(decrease, 0.0)
        return self.was_poor


class KrylovSolver(Solver):
    """Block Krylov iteration, on the smallest operator that gives the eigenpairs."""

    name = "krylov"
    takes_start = True

    def solve(self, problem: Problem) -> Solution:
        """The wanted pairs, or those that converged within the limit."""
        return BlockKrylov(smallest_operator(problem)).run()

    def polish(self, problem: Problem, solution: Solution) -> Solution | None:
        """More accurate pairs from the whole problem; half of it has squared eigenvalues."""
        if problem.walk.reduced is None:
            return None
        problem.start = solution.vectors
        return BlockKrylov(Whole(problem)).run()


class BlockKrylov:
    """Eigenpairs of A by block Krylov iteration on an operator.

    Rayleigh–Ritz on a growing basis, with thick restart and locking. The basis starts from the
    guesses, if any, and is extended by the residuals of the wanted pairs that have not converged,
    so that it spans the block Krylov space. Converged pairs stay in the basis and are not
    multiplied again. A block resolves eigenvalues of multiplicity up to its width.

    Parameters
    ----------
    operator : Operator
    """

    def __init__(self, operator: Operator) -> None:
        self.operator = operator
        problem = operator.problem
        self._room = operator.n - problem.known.shape[1]
        is_dense = problem.walk.is_dense
        self._wanted = min(_followed(problem.r, is_dense=is_dense), self._room)
        self._width = WIDTH if is_dense else SPARSE_WIDTH
        self._block = _first_block(operator, min(self._width, self._room))
        most = max_columns(problem.r, is_dense=is_dense)
        self._basis = _Basis(operator, max(most, self._block.shape[1] + self._width))
        self._values: Floats = np.empty(0)

    def is_clear(self, gap: float) -> bool:
        """Whether the last wanted eigenvalue seems to be at least `gap` below 1."""
        wanted = self._values[: self.operator.problem.r]
        return bool(wanted.size and 1.0 - wanted[-1] >= gap)

    def run(
        self,
        outlook: Outlook | None = None,
        sharpen: Callable[[Columns], Columns] | None = None,
    ) -> Solution:
        """The wanted pairs, or those that converged within the limit.

        Parameters
        ----------
        outlook : Outlook or None
            If it turns poor, the iteration pauses; another call goes on.
        sharpen : callable or None
            Returns better directions than the residuals (n, b) to extend the basis by.
        """
        # Our own threads share its many small steps, so BLAS must not start others.
        with single_blas if self.operator.problem.walk.n_jobs > 1 else nullcontext():
            return self._run(outlook, sharpen)

    def _run(
        self, outlook: Outlook | None, sharpen: Callable[[Columns], Columns] | None
    ) -> Solution:
        operator, basis, wanted = self.operator, self._basis, self._wanted
        problem = operator.problem
        r = problem.r
        best, idle = np.inf, 0
        if sharpen is not None and basis.size:  # it goes on from residuals
            self._block = sharpen(self._block)
        for _ in range(MAX_BLOCKS):
            block = self._block[:, : self._room - basis.size]
            if basis.size + block.shape[1] > basis.most:
                basis.restart(2 * wanted)
            basis.grow(block)
            values, rotation = basis.ritz()
            self._values, lead = values[:wanted], rotation[:, :wanted]
            residual, sizes = basis.residuals(self._values, lead)
            excess = operator.excess(self._values, sizes, stalled=idle > PATIENCE)
            ready = excess <= 1
            worst = float(excess[:r].max())
            best, idle = (worst, 0) if worst < 0.9 * best else (best, idle + 1)
            stage = Stage("solve", f"residual {sizes[:r].max():.0e}")
            problem.progress(stage, int(ready[:r].sum()), r)
            if (ready.size >= r and ready[:r].all()) or basis.size == self._room:
                return Solution(*operator.pairs(values[:r], basis.vectors(lead[:, :r])))
            self._block = residual[:, np.flatnonzero(~ready)[: self._width]]
            if outlook is not None and outlook.is_poor(worst, self._block.shape[1]):
                break
            if sharpen is not None:
                self._block = sharpen(self._block)
        done = np.flatnonzero(ready[:r])
        pairs = operator.pairs(values[done], basis.vectors(lead[:, done]))
        return Solution(*pairs, converged=False)


def max_columns(r: int, *, is_dense: bool) -> int:
    """Largest number of columns of the basis for `r` pairs before a restart.

    For full kernels, a product costs more than the algebra of a large basis.
    """
    wanted = _followed(r, is_dense=is_dense)
    return max(10 * wanted, 100) if is_dense else max(5 * wanted, 60)


def _followed(r: int, *, is_dense: bool) -> int:
    """Number of Ritz pairs to improve, more than `r`; whole lanes of a product with tiles."""
    wanted = r + max(4, r // 4)
    return wanted + -wanted % LANES if is_dense else wanted


def _first_block(operator: Operator, width: int) -> Columns:
    """The guesses, extended to a full block with random columns."""
    start = operator.start()
    if start is None:
        start = np.empty((operator.n, 0))
    missing = max(0, width - start.shape[1])
    fresh = operator.problem.generator.standard_normal((operator.n, missing))
    return np.hstack([start, fresh])


class _Basis:
    """An orthonormal basis Q, its products AQ, and QᵀAQ.

    Parameters
    ----------
    operator : Operator
    most : int
        Largest number of columns.
    """

    def __init__(self, operator: Operator, most: int) -> None:
        self.operator = operator
        self.most = min(most, operator.n)
        self.size = 0
        walk = operator.problem.walk
        self._tall = Tall(operator.n, walk.n_jobs)
        # Eigenvalues of a neighbour kernel are near 1, so the basis may be in single precision;
        # those of a full kernel can be as small as its rounding error.
        self._dtype = np.dtype(np.float64) if walk.is_dense else walk.dtype
        self._Q, self._AQ = (
            np.empty((operator.n, self.most), dtype=self._dtype, order="F") for _ in range(2)
        )
        self._gram = np.empty((self.most, self.most))
        #: Squared length below which a unit vector has been lost to rounding.
        self._negligible = 1e-20 if self._dtype == np.float64 else 1e-11

    def grow(self, block: Columns) -> None:
        """Append an orthonormal basis of the directions that the block adds, and multiply it."""
        old, new = slice(0, self.size), slice(self.size, self.size + block.shape[1])
        block = self._orthonormal(block)
        product = self.operator.apply(block)
        self._Q[:, new] = block
        self._AQ[:, new] = product
        side = self._tall.inner(self._Q[:, : new.stop], product)
        self._gram[: new.stop, new] = side
        self._gram[new, old] = side[old].T
        self.size = new.stop

    def ritz(self) -> tuple[Floats, Floats]:
        """Ritz values, largest first, and their coefficients in the basis."""
        gram = self._gram[: self.size, : self.size]
        values, rotation = np.linalg.eigh(0.5 * (gram + gram.T))
        self._ritz = values[::-1], rotation[:, ::-1]
        return self._ritz

    def residuals(self, values: Floats, coefficients: Floats) -> tuple[Columns, Floats]:
        """Residuals of Ritz pairs, (n, b), and their norms, (b,)."""
        Q, AQ = self._Q[:, : self.size], self._AQ[:, : self.size]
        return self._tall.residuals(AQ, Q, coefficients, values)

    def vectors(self, coefficients: Floats) -> Floats:
        """Ritz vectors from their coefficients."""
        vectors = self._tall.product(self._Q[:, : self.size], coefficients)
        return vectors.astype(np.float64, copy=False)

    def restart(self, kept: int) -> None:
        """Keep only the first Ritz vectors."""
        values, rotation = self._ritz
        for columns in (self._Q, self._AQ):
            self._tall.turn(columns[:, : self.size], rotation[:, :kept])
        self._gram[:kept, :kept] = np.diag(values[:kept])
        self.size = kept

    def _orthonormal(self, block: Columns) -> Columns:
        """An orthonormal basis of what the block adds to the span of Q and the known eigenvectors.

        Directions lost to rounding are replaced by random ones, so that the width does not change.
        """
        operator, tall = self.operator, self._tall
        Q = self._Q[:, : self.size]
        # The first round skips Q: residuals are orthogonal to it up to rounding, and for guesses it
        # is still empty. The second round, with lengths equalised, removes the rounding error.
        rounds = 0
        again = True
        block = block.astype(self._dtype, copy=False)
        while again:
            if rounds:
                block = tall.without(block, Q)
            block = operator.project(block)
            # By the Gram matrix, which needs only products; a QR would go column by column.
            gram = tall.inner(block, block)
            size = np.sqrt(np.diagonal(gram))
            even = 1.0 / np.where(size > 0, size, 1.0)
            kept, rotation = np.linalg.eigh(gram * even * even[:, None])
            lost = kept <= self._negligible
            scaled = even[:, None] * rotation / np.sqrt(np.where(lost, 1.0, kept))
            block = tall.product(block, scaled)
            if lost.any():
                fresh = operator.problem.generator.standard_normal((operator.n, int(lost.sum())))
                block[:, lost] = fresh
            # A direction that shrank needs another round: its error relative to its length grew.
            again = rounds == 0 or bool((kept < 0.25).any())
            rounds += 1
        return block
