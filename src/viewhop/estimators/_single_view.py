"""The diffusion maps estimator for one view."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from viewhop._registry import KERNELS, load_home
from viewhop._runtime.progress import Progress
from viewhop.estimators._base import choose_constraints
from viewhop.estimators._geometry_transformer import GeometryTransformer
from viewhop.estimators._multi_view import check_rank, choose_rank
from viewhop.geometry import Recipe
from viewhop.walks import SumWalk, Walk

__all__ = ["DiffusionMaps"]


class DiffusionMaps(GeometryTransformer):
    """Diffusion maps: low-dimensional coordinates of samples measured in one view.

    Parameters
    ----------
    n_components : int or "auto", default=2
        Number r of coordinates. "auto" keeps as many as `accuracy` requires.
    n_steps, kernel, connect, accuracy, missing, solver, tol, max_memory, memory, n_jobs, \
random_state, verbose
        As in `MultiViewDiffusionMaps`. With one view, a row that counts as not observed leaves a
        sample without any view, which is refused.

    Attributes
    ----------
    geometry_ : Geometry
        The frozen result of the fit, from which all other fitted attributes are computed.
    embedding_ : (n_samples, r) array
    eigenvalues_ : (r,) array
    bandwidths_, n_neighbors_, degrees_, spectrum_, solver_, walk_, n_components_, n_pieces_, \
memory_, timings_
        As in `MultiViewDiffusionMaps`.

    Notes
    -----
    The walk is Eq. (1) and the coordinates are Eq. (2), after Coifman and Lafon (2006); ``alpha``
    of the kernel is their density normalisation.

    Examples
    --------
    >>> import numpy as np
    >>> import viewhop as vh
    >>> angle = np.linspace(0, 2 * np.pi, 100, endpoint=False)
    >>> circle = np.c_[np.cos(angle), np.sin(angle)]
    >>> vh.DiffusionMaps(2, kernel="gaussian").fit_transform(circle).shape
    (100, 2)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = choose_constraints(
        "n_components",
        "n_steps",
        "kernel",
        "connect",
        "accuracy",
        "missing",
        "solver",
        "tol",
        "max_memory",
        "memory",
        "n_jobs",
        "random_state",
        "verbose",
    )

    def __init__(
        self,
        n_components: int | str = 2,
        *,
        n_steps: float = 1,
        kernel: Any = "adaptive",
        connect: bool = False,
        accuracy: float | str | None = None,
        missing: str = "error",
        solver: Any = "auto",
        tol: float | None = None,
        max_memory: float | str | None = None,
        memory: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int | Progress = 0,
    ) -> None:
        self.n_components = n_components
        self.n_steps = n_steps
        self.kernel = kernel
        self.connect = connect
        self.accuracy = accuracy
        self.missing = missing
        self.solver = solver
        self.tol = tol
        self.max_memory = max_memory
        self.memory = memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def coordinates(self, n_steps: float) -> NDArray[np.floating]:
        """The embedding of the training samples at another diffusion time, without a refit.

        Parameters
        ----------
        n_steps : float
            Diffusion time t, any non-negative number.
        """
        check_is_fitted(self)
        return self.geometry_.embedding(n_steps)

    def __sklearn_tags__(self) -> Any:
        """Tags for scikit-learn, which splits a precomputed kernel along rows and columns."""
        tags = super().__sklearn_tags__()
        kernel = self.kernel
        if isinstance(kernel, str) and kernel in KERNELS:
            kernel = load_home(KERNELS[kernel].home)
        tags.input_tags.pairwise = getattr(kernel, "is_pairwise", False)
        return tags

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_rank(self.n_components, self.accuracy, self.n_steps)

    def _recipe(self, names: Sequence[str]) -> Recipe:
        if len(names) > 1:
            raise ValueError(
                f"DiffusionMaps takes one view, got {len(names)}; use MultiViewDiffusionMaps"
            )
        return Recipe(
            walk=SumWalk,
            rank=choose_rank(self.n_components, self.accuracy, self.n_steps),
            kernel=self.kernel,
            connect=bool(self.connect),
            n_steps=self.n_steps,
            output="concat",
            solver=self.solver,
            tol=self.tol,
            max_memory=self.max_memory,
            n_jobs=self.n_jobs,
        )

    @classmethod
    def _accepts(cls, walk: Walk) -> bool:
        return walk.is_fused and len(walk.affinities) == 1
