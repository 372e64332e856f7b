"""A connected piece of a walk, as a walk of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray

from viewhop.affinity import Affinity
from viewhop.spectrum import Spectrum
from viewhop.views import RowMap
from viewhop.walks._walk import Walk, check_markov

__all__ = ["PieceWalk"]

Floats = NDArray[np.float64]


class PieceWalk(Walk):
    """The walk on one of its connected pieces, for solving only.

    No step leaves a piece, so the rows and columns of its nodes are a walk with the same transition
    probabilities. A product is one with the whole walk.

    Parameters
    ----------
    whole : Walk
    members : (p,) index array
        All nodes of a connected piece of it.
    """

    fusion: ClassVar[str] = "piece"

    def __init__(self, whole: Walk, members: NDArray[np.intp]) -> None:
        check_markov(whole, "walks on its pieces")
        self.whole = whole
        self.members = members
        self.affinities = whole.affinities
        self.rows = whole.rows

    @classmethod
    def build(
        cls, affinities: Sequence[Affinity], rows: RowMap, *, hops: Floats | None, n_jobs: int
    ) -> NoReturn:
        """Raise TypeError: a piece is built from a walk, not from kernels."""
        raise TypeError("a piece is built from a walk: PieceWalk(walk, nodes)")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the views of the whole walk."""
        return self.whole.names

    @property
    def n_blocks(self) -> int:
        """One: the nodes of the piece."""
        return 1

    @property
    def n_samples(self) -> int:
        """Number of nodes: each counts for itself."""
        return self.members.size

    @property
    def max_coordinates(self) -> int:
        """The largest possible number of positive eigenvalues, not counting the trivial 1."""
        return min(self.members.size - 1, self.whole.max_coordinates)

    @cached_property
    def degrees(self) -> Floats:
        """Row sums of the kernel, (n_nodes,), which are those of the whole walk."""
        return np.asarray(self.whole.degrees[self.members])

    def __matmul__(self, V: NDArray[np.floating]) -> NDArray[np.floating]:
        """The kernel of the piece times a vector (n_nodes,) or block (n_nodes, b)."""
        padded = np.zeros((self.whole.n_nodes, *V.shape[1:]), dtype=V.dtype)
        padded[self.members] = V
        return np.asarray((self.whole @ padded)[self.members])

    def pieces(self) -> NDArray[np.intp]:
        """One piece, (n_nodes,)."""
        return np.zeros(self.members.size, dtype=np.intp)

    def against(self, new: Mapping[str, NDArray[np.floating]]) -> NoReturn:
        """Raise TypeError: new samples are placed by the whole walk."""
        raise TypeError("new samples are placed by the whole walk, not by one of its pieces")

    def extension(self, spectrum: Spectrum) -> NoReturn:
        """Raise TypeError: samples are placed by the whole walk."""
        raise TypeError("samples are placed by the whole walk, not by one of its pieces")
