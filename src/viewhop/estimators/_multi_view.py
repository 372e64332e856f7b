"""Multi-view diffusion maps: several views in, coordinates out."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from viewhop import geometry
from viewhop._runtime.progress import Progress
from viewhop.estimators._constraints import choose_constraints
from viewhop.estimators._geometry_transformer import GeometryTransformer
from viewhop.geometry import Recipe
from viewhop.solvers import AccurateRank, DimensionRank, FixedRank, Rank
from viewhop.walks import check_hops, hop_matrix, walk_class

__all__ = ["MultiViewDiffusionMaps", "check_fusion", "check_rank", "choose_hops", "choose_rank"]

Floats = NDArray[np.floating]


class MultiViewDiffusionMaps(GeometryTransformer):
    """Low-dimensional coordinates of samples that several views measured.

    A random walker hops between the views; the leading eigenvectors of its transition matrix
    place every sample, once per view, in one common space.

    Parameters
    ----------
    n_components : int or "auto", default=2
        Number r of coordinates per view. "auto" takes as many as `accuracy` asks for.
    n_steps : float, default=1
        Diffusion time t: coordinates are λ^t ψ. Any number of at least 0.
    kernel : str, kernel object, list or dict, default="adaptive"
        How similar two samples of a view are: "adaptive" (a Gaussian on 10 neighbours with a scale
        per sample), "gaussian", "laplacian", "correlation", "precomputed", an object of
        `viewhop.kernels`, or one of these per view, as a list or a dict by view name.
    fusion : {"hop", "sum", "product", "alternating"}, default="hop"
        The paper's walk between views; the walk of the summed or multiplied kernels; or one step
        in each view in turn, in the order given.
    within_view_weight : float, default=0.0
        η, how willingly the walker stays in its view, from 0 to 1 (hop only).
    hops : (L, L) array or None, default=None
        A symmetric, non-negative hop matrix in place of η: entry (l, m) says how willingly the
        walker goes from view l to view m (hop only).
    accuracy : float, {"local_pca", "danco"} or None, default=None
        How ``n_components="auto"`` counts. A number is δ: coordinates with λ_k^t > δ λ_1^t are
        kept; None is 0.1. A name is an estimate of the intrinsic dimension
        (`viewhop.dimension`), which is then the number of coordinates.
    output : {"auto", "concat", "mean"}, default="auto"
        The embedding of a sample: its coordinates in all views side by side, or the mean over
        the views that observed it, each centred and scaled to unit spread. Side by side, a view
        that did not observe the sample is filled by the walk. "auto" is "concat" where every view
        observed every sample in fit, and "mean" otherwise. A fusion with one geometry has one
        set of coordinates, whatever the output.
    views : int, list, dict or None, default=None
        Column groups, where X is one stacked array or DataFrame; see `Views.from_columns`.
    solver : {"auto", "dense", "lanczos", "krylov", "svd"} or object, default="auto"
        How eigenpairs are computed. An object needs a method ``solve(problem)``; see
        `viewhop.solvers.Solver`.
    tol : float or None, default=None
        Residual at which an eigenpair is accepted, relative to its eigenvalue; None is as far as
        the precision goes.
    max_memory : int, str or None, default=None
        Bytes, or text like "8GB", that the fit may take; None is 80 % of what the machine or its
        cgroup has left.
    n_jobs : int or None, default=None
        Threads; None is as many as BLAS takes by itself (``OMP_NUM_THREADS``, or all cores), -1 is
        all cores.
    random_state : int, Generator, RandomState or None, default=None
        Seed of start vectors and of row samples.
    verbose : int or callable, default=0
        1 shows progress bars; a callable gets ``progress(stage, done, total)``, from any thread.

    Attributes
    ----------
    geometry_ : Geometry
        What the fit learned, as one frozen object: the way to build on viewhop. All other
        attributes are read off it.
    embedding_ : (n_samples, n_features_out) array
    eigenvalues_ : (r,) array
        λ_1 … λ_r; the trivial λ_0 = 1 is left out.
    view_embeddings_ : dict of (n_samples, r) arrays by view name
        NaN where the view did not observe the sample. A view with several rows for some sample
        (`Views.link`) has a row for each of its own.
    bandwidths_ : dict by view name
        Scale of each kernel: a number, one per sample for local scales, NaN if precomputed.
    degrees_ : dict of (n_samples,) arrays by view name
        D̂, the row sums of the walk's kernel, as `view_embeddings_` has them.
    observed_ : (n_samples, n_views) bool array
        Which samples each view observed.
    recall_ : dict of float by view name
        Share of the true neighbours that the search returned, measured on 500 samples; 1 where
        it was exact.
    spectrum_ : Spectrum
        Eigenpairs with residuals.
    solver_ : str
        The solver that was used; what "auto" chose.
    walk_ : Walk
    view_names_ : tuple of str
    n_views_, n_components_, n_pieces_, n_features_in_ : int
    memory_ : int
        Bytes that the fit was expected to take at its worst moment, X not counted.
    timings_ : dict of float
        Seconds of the stages of the fit: "kernels", "solve", "extension".
    n_steps_ : float
        t of the fit; a later ``set_params`` changes the next one.

    See Also
    --------
    DiffusionMaps : One view.

    Notes
    -----
    The kernel is Eq. (13), the walk Eq. (14), the coordinates Eq. (21) and their concatenation
    Eq. (23), with `hops` and η as in Eq. (49).

    Examples
    --------
    >>> import viewhop as vh
    >>> digits = vh.datasets.load_mfeat()
    >>> est = vh.MultiViewDiffusionMaps(9, random_state=0)
    >>> Z = est.fit_transform(digits.views)
    >>> Z.shape
    (2000, 54)
    >>> est.transform([None, digits.views["kar"][:5]] + [None] * 4).shape
    (5, 54)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = choose_constraints(
        "n_components",
        "n_steps",
        "kernel",
        "fusion",
        "within_view_weight",
        "hops",
        "accuracy",
        "output",
        "views",
        "solver",
        "tol",
        "max_memory",
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
        fusion: str = "hop",
        within_view_weight: float = 0.0,
        hops: Any = None,
        accuracy: float | str | None = None,
        output: str = "auto",
        views: Any = None,
        solver: Any = "auto",
        tol: float | None = None,
        max_memory: float | str | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int | Progress = 0,
    ) -> None:
        self.n_components = n_components
        self.n_steps = n_steps
        self.kernel = kernel
        self.fusion = fusion
        self.within_view_weight = within_view_weight
        self.hops = hops
        self.accuracy = accuracy
        self.output = output
        self.views = views
        self.solver = solver
        self.tol = tol
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def coordinates(self, n_steps: float) -> Floats:
        """The embedding of the training samples at another diffusion time, without a refit.

        Parameters
        ----------
        n_steps : float
            t, any number of at least 0.
        """
        check_is_fitted(self)
        return self.geometry_.embedding(n_steps)

    def cross_view_distance(self, first: str, second: str) -> float:
        """How far apart two views put the same samples: the root of Eq. (30).

        Parameters
        ----------
        first, second : str
            Views.
        """
        return geometry.cross_view_distance(self, first, second)

    def disagreement(self) -> Floats:
        """How far each view puts a sample from where the others put it, (n_samples, n_views).

        1 is the median of a view; NaN where it, or every other view, did not observe the sample.
        """
        return geometry.disagreement(self)

    def view_similarity(self) -> Floats:
        """How alike two views place the samples that both observed, (n_views, n_views).

        1 where they place them alike, 0 where their coordinates have nothing in common.
        """
        return geometry.view_similarity(self)

    def view_influence(self) -> dict[str, float]:
        """How much the geometry changes without each view, from 0 to 1, by view name.

        The walk of the other views is solved for each; the kernels are those of the fit.
        """
        return geometry.view_influence(self, tol=self.tol, stacklevel=2)

    def transition_probabilities(
        self, n_steps: int, from_view: str, to_view: str, rows: Any
    ) -> NDArray[np.float64]:
        """Probabilities of going from samples in one view to all samples in another, Eq. (15).

        Parameters
        ----------
        n_steps : int
            t.
        from_view, to_view : str
            Views.
        rows : int or (p,) array
            Samples to start from.

        Returns
        -------
        probabilities : (p, n_samples) array
            Summed over all views that the walk may end in, each row is 1.
        """
        return geometry.transition_probabilities(self, n_steps, from_view, to_view, rows)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_rank(self.n_components, self.accuracy, self.n_steps)
        check_fusion(self.fusion, self.hops, self.within_view_weight)

    def _recipe(self, n_views: int) -> Recipe:
        return Recipe(
            walk=walk_class(self.fusion),
            rank=choose_rank(self.n_components, self.accuracy, self.n_steps),
            kernel=self.kernel,
            hops=choose_hops(self.fusion, self.hops, self.within_view_weight, n_views),
            n_steps=self.n_steps,
            output=self.output,
            solver=self.solver,
            tol=self.tol,
            max_memory=self.max_memory,
            n_jobs=self.n_jobs,
        )


def check_rank(n_components: int | str, accuracy: float | str | None, n_steps: float) -> None:
    """Raise ValueError for a number of coordinates and an accuracy that do not go together.

    Parameters
    ----------
    n_components, accuracy, n_steps
        As in `MultiViewDiffusionMaps`.
    """
    if n_components == "auto" and not n_steps > 0:
        raise ValueError(f'n_components="auto" needs n_steps > 0, not {n_steps!r}')
    if n_components != "auto" and accuracy is not None:
        raise ValueError('accuracy is used with n_components="auto" only; leave it None')


def choose_rank(n_components: int | str, accuracy: float | str | None, n_steps: float) -> Rank:
    """The rule for the number of coordinates that the parameters ask for.

    Parameters
    ----------
    n_components, accuracy, n_steps
        As in `MultiViewDiffusionMaps`.
    """
    if n_components != "auto":
        return FixedRank(int(n_components))
    if isinstance(accuracy, str):
        return DimensionRank(accuracy)
    return AccurateRank(0.1 if accuracy is None else float(accuracy), n_steps)


def check_fusion(fusion: str, hops: Any, within_view_weight: float) -> None:
    """Raise ValueError for hops that do not go with a fusion, or with each other.

    Parameters
    ----------
    fusion, hops, within_view_weight
        As in `MultiViewDiffusionMaps`.
    """
    if not walk_class(fusion).takes_hops and (hops is not None or within_view_weight):
        raise ValueError(f'hops and within_view_weight belong to fusion="hop", not {fusion!r}')
    if hops is not None and within_view_weight:
        raise ValueError("give hops or within_view_weight, not both")


def choose_hops(
    fusion: str, hops: Any, within_view_weight: float, n_views: int
) -> NDArray[np.float64] | None:
    """The hop matrix that the parameters ask for; None for a fusion without one.

    Parameters
    ----------
    fusion, hops, within_view_weight
        As in `MultiViewDiffusionMaps`.
    n_views : int
    """
    if not walk_class(fusion).takes_hops:
        return None
    if hops is not None:
        return check_hops(hops, n_views)
    return hop_matrix(n_views, within_view_weight=within_view_weight)
