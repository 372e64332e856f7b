"""Linear algebra of tall matrices, with many rows and few columns, in chunks of rows.

A chunk stays in the cache for a whole operation, and threads share the chunks. Matrices may be in
single precision; sums over chunks are in double precision.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from viewhop._runtime.threads import map_threads

__all__ = ["Tall"]

Floats = NDArray[np.float64]
Columns = NDArray[np.floating]

#: Number of rows of a chunk.
ROWS = 8192
#: Smallest eigenvalue of the Gram matrix of unit columns below which they are nearly dependent.
DEPENDENT = 1e-6
#: Below this many rows, threads cost more than they save.
FEW = 32_768


class Tall:
    """Operations on matrices of `n` rows.

    Parameters
    ----------
    n : int
    n_jobs : int
        Threads.
    """

    def __init__(self, n: int, n_jobs: int) -> None:
        self.n_jobs = n_jobs
        rows = ROWS if n >= FEW else max(n, 1)
        self.chunks = [slice(start, min(start + rows, n)) for start in range(0, n, rows)]

    def inner(self, A: Columns, B: Columns) -> Floats:
        """AᵀB."""

        def part(rows: slice) -> Columns:
            return np.asarray(A[rows].T @ B[rows])

        total = np.zeros((A.shape[1], B.shape[1]))
        for partial in map_threads(part, self.chunks, self.n_jobs):
            total += partial
        return total

    def product(self, A: Columns, C: Floats) -> Columns:
        """A times a small matrix, in the precision of A."""
        small = C.astype(A.dtype)
        out = np.empty((A.shape[0], C.shape[1]), dtype=A.dtype)

        def fill(rows: slice) -> None:
            np.matmul(A[rows], small, out=out[rows])

        map_threads(fill, self.chunks, self.n_jobs)
        return out

    def without(self, B: Columns, A: Columns) -> Columns:
        """B without its part along the orthonormal columns of A."""
        small = self.inner(A, B).astype(B.dtype)
        out = np.empty(B.shape, dtype=B.dtype)

        def fill(rows: slice) -> None:
            np.subtract(B[rows], A[rows] @ small, out=out[rows])

        map_threads(fill, self.chunks, self.n_jobs)
        return out

    def orthonormal(self, A: Columns) -> tuple[Floats, Floats]:
        """Q and the upper triangle R of A = QR.

        Two rounds of Cholesky on the Gram matrix need only products, and are as accurate as a QR
        unless columns are nearly dependent; a QR is used for those.
        """
        Q: Floats = A.astype(np.float64, copy=False)
        R = np.eye(A.shape[1])
        for _ in range(2):
            gram = self.inner(Q, Q)
            size = np.sqrt(np.diagonal(gram))
            size[size == 0] = 1.0
            cosines = gram / size / size[:, None]
            if np.linalg.eigvalsh(cosines).min(initial=1.0) < DEPENDENT:
                return np.linalg.qr(A.astype(np.float64, copy=False))
            triangle = np.linalg.cholesky(gram).T
            Q = np.asarray(self.product(Q, np.linalg.inv(triangle)), dtype=np.float64)
            R = triangle @ R
        return Q, R

    def turn(self, A: Columns, C: Floats) -> None:
        """Overwrite the first columns of A with A times a small matrix that has no more columns."""
        small = C.astype(A.dtype)

        def write(rows: slice) -> None:
            A[rows, : small.shape[1]] = A[rows] @ small

        map_threads(write, self.chunks, self.n_jobs)

    def residuals(
        self, AQ: Columns, Q: Columns, C: Floats, values: Floats
    ) -> tuple[Columns, Floats]:
        """AQ C − Q C diag(values), (n, b), and the norms of its columns, (b,)."""
        small, scaled = C.astype(Q.dtype), (C * values).astype(Q.dtype)
        out = np.empty((Q.shape[0], C.shape[1]), dtype=Q.dtype)

        def fill(rows: slice) -> Floats:
            part = out[rows]
            np.matmul(AQ[rows], small, out=part)
            part -= Q[rows] @ scaled
            return np.asarray(np.einsum("ij,ij->j", part, part), dtype=np.float64)

        squares = np.zeros(C.shape[1])
        for partial in map_threads(fill, self.chunks, self.n_jobs):
            squares += partial
        return out, np.sqrt(squares)
