"""Outputs: from one step of the walk at samples to the embedding that a user asked for."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from viewhop import diffusion
from viewhop.geometry import _agreement as agreement
from viewhop.walks import Walk
from viewhop.walks._extension import Extension, HopExtension

__all__ = ["Outputs"]

Floats = NDArray[np.float64]


class Outputs:
    """The embeddings of a fitted walk: of its training samples, and of any others.

    Parameters
    ----------
    walk : Walk
    extension : Extension
    eigenvalues : (r,) array
    is_mean : bool
        Whether a sample has the mean over its views, rather than all of them side by side.

    Attributes
    ----------
    stepped : list of (n_samples, r) arrays
        P̂ψ at the training samples, one per block, NaN where a view did not observe a sample.
    scaling : list of Scaling
        What puts the blocks on one scale.
    """

    def __init__(
        self, walk: Walk, extension: Extension, eigenvalues: Floats, *, is_mean: bool
    ) -> None:
        self._walk = walk
        self._extension = extension
        self.eigenvalues = eigenvalues
        self.is_mean = is_mean
        self.stepped = extension.training()
        self.scaling = [agreement.scaling(block, walk.dtype) for block in self.stepped]

    @cached_property
    def _filled(self) -> tuple[list[Floats], NDArray[np.bool_]]:
        """The training samples with what views missed, and where the walk could not fill it."""
        is_whole = self.is_mean or self._walk.rows.is_whole
        if isinstance(self._extension, HopExtension) and not is_whole:
            return self._extension.filled()
        return self.stepped, np.zeros((len(self.stepped[0]), len(self.stepped)), dtype=bool)

    @property
    def unreached(self) -> NDArray[np.bool_]:
        """Blocks of the training samples that the walk could not fill, (n_samples, n_blocks)."""
        return self._filled[1]

    def training(self, n_steps: float) -> Floats:
        """The embedding of the training samples after `n_steps` steps."""
        seen = np.isfinite(np.stack([block[:, 0] for block in self.stepped], axis=1))
        return self.of(self._filled[0], seen, n_steps)

    def of(self, stepped: list[Floats], seen: NDArray[np.bool_], n_steps: float) -> Floats:
        """The embedding of samples after `n_steps` steps.

        Parameters
        ----------
        stepped : list of (n, r) arrays
            P̂ψ at the samples, one per block.
        seen : (n, n_blocks) bool array
            Blocks that were observed; the others are filled.
        n_steps : float
            t.
        """
        blocks = stepped
        if self.is_mean:
            mean = agreement.mean_over_views(stepped, self.scaling, seen)
            blocks = [mean * self.eigenvalues]
        return np.hstack([diffusion.coordinates(b, self.eigenvalues, n_steps) for b in blocks])

    def by_sample(self, n_steps: float) -> list[Floats]:
        """Coordinates of the training samples in each block, NaN where it did not observe them."""
        return [diffusion.coordinates(b, self.eigenvalues, n_steps) for b in self.stepped]

    def by_row(self, n_steps: float) -> list[Floats]:
        """The same, but by row in a view that has several rows for some sample."""
        blocks, rows = self.stepped, self._walk.rows
        if isinstance(self._extension, HopExtension) and not rows.is_whole:
            nodes = self._extension.nodes()
            blocks = [nodes[l] if rows.is_repeated(l) else b for l, b in enumerate(blocks)]
        return [diffusion.coordinates(b, self.eigenvalues, n_steps) for b in blocks]
