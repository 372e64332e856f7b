"""Integrated diffusion: several steps in each view in turn, as many as its spectrum suggests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from viewhop._storage.codec import Shelf, read_fields, read_integer
from viewhop.affinity import Affinity
from viewhop.errors import ModelFileError
from viewhop.views import RowMap
from viewhop.walks._alternating import AlternatingWalk
from viewhop.walks._spectral_entropy import MOST_STEPS, entropy_knee
from viewhop.walks._walk import WalkSize

__all__ = ["LEADING", "IntegratedWalk"]

Floats = NDArray[np.float64]

#: Eigenvalues of each view, the trivial 1 included, whose entropy decides the number of steps.
LEADING = 50


class IntegratedWalk(AlternatingWalk):
    """The walk that takes several steps in each view in turn.

    P = (P^1)^{t_1} … (P^L)^{t_L} with P^l the row-normalised kernel of view l, solved and extended
    as `AlternatingWalk`. In a fit, t_l is the number of steps at which the spectral entropy of P^l
    has its knee, over its 50 leading eigenvalues; see `entropy_knee`.

    Parameters
    ----------
    affinities : sequence of Affinity
        One per view, on the same samples, in the order of the steps.
    steps : sequence of int or None
        t_1, …, t_L, at least 1 each; None takes one step in each view.

    Attributes
    ----------
    steps : tuple of int

    Notes
    -----
    Integrated diffusion after Kuchroo, Godavarthi, Tong, Wolf and Krishnaswamy, "Multimodal data
    visualization and denoising with integrated diffusion", IEEE International Workshop on Machine
    Learning for Signal Processing, 2021. Their denoising of the rows of each view by local PCA is
    not part of it. Use it for a few slow directions of views that are noisy to different degrees;
    it smooths away small clusters, and many steps in many views leave few positive eigenvalues.
    """

    fusion: ClassVar[str] = "integrated"

    def __init__(self, affinities: Sequence[Affinity], steps: Sequence[int] | None = None) -> None:
        super().__init__(affinities)
        if steps is not None:
            self.steps = tuple(map(int, steps))
        if len(self.steps) != len(self.affinities) or min(self.steps) < 1:
            raise ValueError(
                f"steps must be a number of at least 1 for each of the {len(self.affinities)} "
                f"views, got {steps!r}"
            )

    def tuned(self, leading: Callable[[Affinity], Floats]) -> IntegratedWalk:
        """The walk with the numbers of steps at the knees of the spectral entropies."""
        return IntegratedWalk(self.affinities, [entropy_knee(leading(K)) for K in self.affinities])

    @classmethod
    def size(
        cls, n_samples: int, n_rows: Sequence[int], *, hops: Floats | None, is_dense: bool
    ) -> WalkSize:
        """As for one step in each view, after the leading eigenpairs of each."""
        return WalkSize(2 * n_samples, n_samples, n_leading=min(LEADING, n_samples) - 1)

    def rebuild(self, kernels: Sequence[Affinity], rows: RowMap | None = None) -> IntegratedWalk:
        """The same numbers of steps over other kernels and samples."""
        return IntegratedWalk(kernels, self.steps)

    @property
    def remark(self) -> str:
        """How many steps it takes in each view."""
        both = zip(self.names, self.steps, strict=True)
        taken = ", then ".join(f"{t} in {name!r}" for name, t in both)
        return f"One step of this walk is many, at the knees of the spectral entropies: {taken}."

    @property
    def product_flops(self) -> float:
        """Floating-point operations of a product with one column, for full kernels."""
        both = zip(self.affinities, self.steps, strict=True)
        return 2.0 * sum(t * K.n_samples**2 for K, t in both)

    def state(self, shelf: Shelf) -> dict[str, Any]:
        """The numbers of steps."""
        return {"steps": [*self.steps]}

    @classmethod
    def restore(
        cls,
        affinities: Sequence[Affinity],
        rows: RowMap,
        data: Any,
        shelf: Shelf,
        *,
        n_jobs: int,
    ) -> IntegratedWalk:
        """The walk from the data that `state` wrote."""
        (steps,) = read_fields(data, ("steps",), "the walk integrated")
        if not isinstance(steps, list) or len(steps) != len(affinities):
            raise ModelFileError(f"the walk integrated: expected steps in {len(affinities)} views")
        what = "the steps in a view"
        return cls(affinities, [read_integer(t, what, least=1, most=MOST_STEPS) for t in steps])
