"""The recipe of a geometry: the parameters of an estimator, without the estimator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewhop.solvers import Rank
from viewhop.walks import Walk

__all__ = ["Recipe"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How a geometry is built from views: the parameters of an estimator, without the estimator.

    Attributes
    ----------
    walk : type of Walk
        How the views are combined into one walk.
    rank : Rank
        The rule for the number of coordinates.
    kernel : str, Kernel, list or dict
        As in `viewhop.MultiViewDiffusionMaps`.
    hops : (L, L) array or None
        The hop matrix, for a walk that takes one; None without weights is that of Eq. (13).
    weights : dict of float by view name, "auto" or None
        w of the hop matrix w wᵀ, instead of `hops`. Kernels are first divided by their mean degree.
        "auto" takes the agreement of the views.
    joint_view : bool or "auto"
        Whether a walk with weights has a joint view. "auto" adds it if the kernels are alike and
        every view observed most samples.
    connect : bool
        Whether neighbour kernels get more neighbours until the walk is in one piece.
    n_steps : float
        Diffusion time t.
    output : str
        A key of `viewhop.geometry.OUTPUTS`.
    solver : str or object
    tol : float or None
    max_memory : number, str or None
    n_jobs : int or None
    """

    walk: type[Walk]
    rank: Rank
    kernel: Any = "adaptive"
    hops: Floats | None = None
    weights: Mapping[str, float] | str | None = None
    joint_view: bool | str = False
    connect: bool = False
    n_steps: float = 1.0
    output: str = "auto"
    solver: Any = "auto"
    tol: float | None = None
    max_memory: float | str | None = None
    n_jobs: int | None = None

    @property
    def is_weighted(self) -> bool:
        """Whether the hop matrix is that of view weights."""
        return self.walk.takes_hops and self.weights is not None

    def expected_hops(self, n_blocks: int) -> Floats | None:
        """A hop matrix of the same rank as that of the walk, or None; weights may not be known yet.

        Parameters
        ----------
        n_blocks : int
            Number of views, and one more for a joint view.
        """
        return np.ones((n_blocks, n_blocks)) if self.is_weighted else self.hops
