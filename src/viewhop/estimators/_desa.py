"""De Sa's embedding of two views."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from viewhop._runtime.progress import Progress
from viewhop.affinity import KernelRows
from viewhop.estimators._base import choose_constraints
from viewhop.estimators._geometry_transformer import GeometryTransformer
from viewhop.geometry import Recipe
from viewhop.solvers import TrivialRank
from viewhop.spectrum import Spectrum
from viewhop.views import Schema, Views
from viewhop.walks import Extension, HopExtension, HopWalk, Step, Walk

__all__ = ["DeSaEmbedding"]

Floats = NDArray[np.float64]


class DeSaWalk(HopWalk):
    """The hop walk of two views, with de Sa's rows as coordinates."""

    is_timed: ClassVar[bool] = False

    def extension(self, spectrum: Spectrum) -> ClusterRows:
        """Rows of Eq. (11) in both views."""
        return ClusterRows(HopExtension(self, spectrum), spectrum)


class DeSaEmbedding(GeometryTransformer):
    """De Sa's spectral embedding of two views, as rows for K-means.

    The leading eigenvectors of the normalised product of the two kernels, including the trivial
    one, with each sample's row divided by its sum of squares.

    Parameters
    ----------
    n_components : int, default=2
        Number of eigenvectors, including the trivial one; the number of clusters to look for.
    kernel : str, kernel object, list or dict, default="adaptive"
    views, solver, tol, max_memory, n_jobs, random_state, verbose
        As in `MultiViewDiffusionMaps`.

    Attributes
    ----------
    geometry_ : Geometry
        The frozen result of the fit, from which all other fitted attributes are computed.
    embedding_ : (n_samples, 2 n_components) array
        Rows of the first view and rows of the second, side by side.
    eigenvalues_ : (n_components,) array
        Largest first, beginning with the trivial eigenvalue 1.
    view_embeddings_ : dict of (n_samples, n_components) arrays by view name
    bandwidths_, degrees_, spectrum_, solver_, walk_, view_names_, n_views_, n_components_
        As in `MultiViewDiffusionMaps`; the spectrum includes the trivial pair.

    See Also
    --------
    MultiViewDiffusionMaps : The walk of the same kernel, for any number of views.

    Notes
    -----
    Eqs. (9)–(11), with D̄ the row sums of W = K¹K² for the first view and its column sums for the
    second: Eq. (10) prints row sums for both. As printed, Eq. (11) divides by the sum of squares
    and not by its root, so a row's length is one over that of the eigenvectors at the sample.

    A unit eigenvector is φ = √π ψ, with ψ the walk's right eigenvector and π the degree of a node
    divided by the sum of all degrees. The degree of a new sample comes from its own kernel row. In
    a missing view, ψ is filled in as in `MultiViewDiffusionMaps`, and the degree is the mean over
    training samples, weighted by the kernel of the other view. A sample far from all others, with a
    degree of nearly 0, gets the mean degree of its nearest training samples.

    Examples
    --------
    >>> import viewhop as vh
    >>> from viewhop.estimators import DeSaEmbedding
    >>> circles = vh.datasets.make_circles(200, random_state=0)
    >>> est = DeSaEmbedding(2, kernel="gaussian", random_state=0)
    >>> est.fit_transform(circles.views).shape
    (200, 4)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = choose_constraints(
        "kernel",
        "views",
        "solver",
        "tol",
        "max_memory",
        "n_jobs",
        "random_state",
        "verbose",
        n_components=[Interval(Integral, 1, None, closed="left")],
    )

    _walk_classes: ClassVar[dict[str, type[Walk]]] = {"hop": DeSaWalk}

    def __init__(
        self,
        n_components: int = 2,
        *,
        kernel: Any = "adaptive",
        views: Any = None,
        solver: Any = "auto",
        tol: float | None = None,
        max_memory: float | str | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int | Progress = 0,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.views = views
        self.solver = solver
        self.tol = tol
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _recipe(self, names: Sequence[str]) -> Recipe:
        if len(names) != 2:
            raise ValueError(
                f"DeSaEmbedding takes exactly two views, got {len(names)}; use "
                "MultiViewDiffusionMaps for any other number, or views=2 to split one array in two"
            )
        return Recipe(
            walk=DeSaWalk,
            rank=TrivialRank(int(self.n_components)),
            kernel=self.kernel,
            output="concat",
            solver=self.solver,
            tol=self.tol,
            max_memory=self.max_memory,
            n_jobs=self.n_jobs,
        )

    def _read_training(self, X: Any) -> tuple[Views, Schema]:
        views, schema = super()._read_training(X)
        return _require_complete(views), schema

    def _read_new(self, X: Any) -> Views:
        return _require_complete(super()._read_new(X))

    @classmethod
    def _accepts(cls, walk: Walk) -> bool:
        return walk.is_cross and not walk.is_fused and walk.rows.is_whole


def _require_complete(views: Views) -> Views:
    if not views.is_complete:
        raise ValueError(
            "DeSaEmbedding needs both views of every sample, but some are NaN; use "
            "MultiViewDiffusionMaps"
        )
    return views


class ClusterRows(Extension):
    """Rows of unit eigenvectors of a two-view walk, divided by their sums of squares.

    Parameters
    ----------
    plain : HopExtension
        The extension of the plain walk, which gives P̂ψ.
    spectrum : Spectrum
        Including the trivial pair.

    Notes
    -----
    Eq. (11).
    """

    def __init__(self, plain: HopExtension, spectrum: Spectrum) -> None:
        self.plain = plain
        self.eigenvalues = spectrum.eigenvalues
        self.total = float(plain.walk.degrees.sum())

    def training(self) -> list[Floats]:
        """Rows of the training samples, (n_samples, r) per view."""
        degrees = self.plain.walk.blocks(self.plain.walk.degrees)
        return self._rows(self.plain.training(), [np.asarray(d) for d in degrees])

    def prepare(self) -> None:
        """Precompute what `step` needs."""
        self.plain.prepare()

    def step(self, rows: Sequence[KernelRows | None]) -> Step:
        """Rows of new samples, one block per view."""
        step = self.plain.step(rows)
        return replace(step, blocks=self._rows(step.blocks, self._degrees(rows)))

    def _rows(self, stepped: list[Floats], degrees: list[Floats]) -> list[Floats]:
        blocks = []
        for block, degree in zip(stepped, degrees, strict=True):
            unit = block / self.eigenvalues * np.sqrt(degree / self.total)[:, None]
            blocks.append(unit / np.square(unit).sum(axis=1, keepdims=True))
        return blocks

    def _degrees(self, rows: Sequence[KernelRows | None]) -> list[Floats]:
        """Degree of each new sample's node in each view."""
        known = self.plain.walk.blocks(self.plain.walk.degrees)
        n_rows = next(part.n_rows for part in rows if part is not None)
        degrees = [np.full(n_rows, np.nan) for _ in rows]
        for l, part in enumerate(rows):
            if part is None:
                continue
            peaks = part.peaks
            has_mass = np.isfinite(peaks)
            weights = part.weights(peaks)
            with np.errstate(invalid="ignore"):
                own = np.asarray(weights @ self.plain.weights[l]) * np.exp(peaks)
                mass = np.asarray(weights.sum(axis=1))
                like = [np.asarray(weights @ degree) / mass for degree in known]
            # A sample's own degree replaces the value filled in from the other view.
            degrees[l] = np.where(has_mass, np.where(part.far, like[l], own), degrees[l])
            other = 1 - l
            degrees[other] = np.where(np.isnan(degrees[other]), like[other], degrees[other])
        return degrees
