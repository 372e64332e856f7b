"""The multi-view diffusion maps estimator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from viewhop import geometry
from viewhop._runtime.progress import Progress
from viewhop.estimators._base import choose_constraints
from viewhop.estimators._geometry_transformer import GeometryTransformer
from viewhop.estimators._hops_choice import check_fusion, choose_hops
from viewhop.geometry import Recipe
from viewhop.kernels import Gaussian
from viewhop.solvers import AccurateRank, DimensionRank, FixedRank, Rank
from viewhop.walks import walk_class

__all__ = ["MultiViewDiffusionMaps", "check_rank", "choose_rank"]

Floats = NDArray[np.floating]


class MultiViewDiffusionMaps(GeometryTransformer):
    """Multi-view diffusion maps: low-dimensional coordinates of samples measured in several views.

    A random walker hops between the views; the leading eigenvectors of its transition matrix
    place every sample, once per view, in a common space.

    Parameters
    ----------
    n_components : int or "auto", default=2
        Number r of coordinates, per view or of the consensus (see `output`). "auto" keeps as many
        as `accuracy` requires.
    n_steps : float, default=1
        Diffusion time t, any non-negative number: coordinates are λ^t ψ.
    kernel : str, kernel object, list or dict, default="adaptive"
        The similarity of two samples in a view: "adaptive" (a Gaussian on 10 neighbours, with a
        scale per sample, a metric chosen by agreement between the views, and densities divided
        out), "gaussian", "laplacian", "correlation", "precomputed", an object of
        `viewhop.kernels`, or one of these per view, as a list or a dict by view name.
    fusion : {"hop", "sum", "product", "concat", "alternating", "integrated", "composite"}, \
default="hop"
        How views are combined. "hop": a walk that hops between views, for any views, incomplete
        ones too. "sum": a walk on the sum of the kernels, a quick baseline that also takes
        incomplete views. "product": a walk on the product of the kernels, if samples are alike only
        when they are so in every view. "concat": a walk on one Gaussian kernel of all features
        side by side, if all views are of one kind. "alternating": one step in each view in turn,
        in the order of the views, for what all of them share. "integrated": the same with several
        steps in each view, as many as its spectral entropy suggests, for a few slow directions of
        noisy views; it smooths away small clusters. "composite": the symmetric operator
        P¹P²ᵀ + P²P¹ᵀ of two views, for what they share if neither should come first. It is no
        random walk: its eigenvalues may be above 1, and its leading eigenvector, which the others
        leave out as trivial, is the first coordinate.
    within_view_weight : float or None, default=None
        η, from 0 to 1: the weight of staying in the same view, in the walk of Eq. (49). 0 is the
        paper's walk; None leaves the walk to `hops` or `view_weights`.
    hops : (L, L) array, "auto" or None, default=None
        A symmetric, non-negative hop matrix: entry (l, m) is the weight of going from view l to
        view m. "auto", or None if neither η nor `view_weights` is given, is w wᵀ, where the weight
        w_l of a view is its agreement with the others (see `viewhop.selection`).
    view_weights : list or dict of float by view name, or None, default=None
        The weights w of the hop matrix w wᵀ by hand. Kernels are divided by their mean degrees
        first. At most one of `within_view_weight`, `hops` and `view_weights` may be given, for
        fusion "hop" only.
    joint_view : bool or "auto", default="auto"
        Whether a walk with view weights also visits a joint view: all views side by side, for
        samples that every view observed. "auto" adds it if all views have the same Gaussian kernel
        on neighbours with local scales (which "adaptive" is), and most samples are complete.
    connect : bool, default=False
        Whether kernels on nearest neighbours get more of them until the walk is in one piece: the
        first of 2, 4, 8, … times as many that suffice, in all views alike, up to all samples. The
        neighbour that sets a local scale moves out in proportion. `n_neighbors_` has the result,
        and `DisconnectedWarning` says why, if none suffices.
    accuracy : float, {"local_pca", "danco"} or None, default=None
        The rule for ``n_components="auto"``. A number δ keeps the coordinates with
        λ_k^t > δ λ_1^t; None is 0.1. A name keeps as many coordinates as that method estimates for
        the intrinsic dimension (see `viewhop.dimension`).
    output : {"auto", "concat", "mean", "consensus"}, default="auto"
        The embedding of a sample. "consensus": r coordinates of the sample itself, on which all of
        its views agree; needs view weights, or a hop matrix of rank one. "concat": its coordinates
        in all views side by side, Eq. (23), filled in by the walk where a view did not observe it.
        "mean": the mean over the views that observed it, in which each coordinate is centred and
        scaled to unit standard deviation, times λ_k^t; nothing is filled in. "auto" is "consensus"
        for a walk with view weights, otherwise "concat". Ignored
        by fusions other than "hop", which have one set of coordinates.
    views : int, list, dict, "from_column_transformer" or None, default=None
        Column groups, if X is one stacked array or DataFrame; see `Views.from_columns`.
    missing : {"error", "drop"}, default="error"
        What happens to a row of a view that is NaN, or masked, in part, in `fit` and `transform`:
        "error" refuses it, "drop" counts it as not observed, with a `DroppedRowsWarning`.
    solver : {"auto", "dense", "lanczos", "krylov", "inverse", "svd"} or object, default="auto"
        The eigensolver. An object needs a method ``solve(problem)``; see
        `viewhop.solvers.Solver`.
    tol : float or None, default=None
        Residual at which an eigenpair is accepted, relative to its eigenvalue; None iterates to
        machine precision.
    max_memory : int, str or None, default=None
        Memory budget of the fit, in bytes or as a string like "8GB"; None takes 80 % of the memory
        available to the machine or its cgroup.
    memory : str, path, joblib.Memory or None, default=None
        A folder in which fits keep what they can share, as for a pipeline of scikit-learn: the
        kernels, the eigenpairs, and the kernel rows of new samples. In a grid over `n_steps` and
        `n_components`, or over the clusters of `MultiViewSpectralClustering`, each fold then builds
        its kernels once; see Notes.
    n_jobs : int or None, default=None
        Number of threads; None uses as many as BLAS does (``OMP_NUM_THREADS``, or all cores), -1
        all cores.
    random_state : int, Generator, RandomState or None, default=None
        Seed for start vectors and row subsets.
    verbose : int or callable, default=0
        1 shows progress bars; a callable is called as ``progress(stage, done, total)``, from any
        thread.

    Attributes
    ----------
    geometry_ : Geometry
        The frozen result of the fit, from which all other fitted attributes are computed. Use it to
        build on viewhop.
    embedding_ : (n_samples, n_features_out) array
    eigenvalues_ : (r,) array
        λ_1 … λ_r, without the trivial λ_0 = 1; for "composite", which has none, from the largest.
    view_embeddings_ : dict of (n_samples, r) arrays by view name
        NaN if the view did not observe the sample. A view with several rows for some sample (see
        `Views.link`) has one row of coordinates per row.
    bandwidths_ : dict by view name
        Scale of each kernel: one number, one per sample for local scales, or NaN if precomputed.
    n_neighbors_ : dict of int or None by view name
        Neighbours that each kernel keeps, which `connect` may have raised; None if all.
    degrees_ : dict of (n_samples,) arrays by view name
        D̂, the row sums of the walk's kernel (of P¹P²ᵀ + P²P¹ᵀ for "composite"), with rows as in
        `view_embeddings_`.
    observed_ : (n_samples, n_views) bool array
        Which samples each view observed.
    metrics_ : dict of str by view name
        The metric of each view: "euclidean", "standardized", "cosine", "centered-cosine",
        "standardized-cosine" or "precomputed", or that of the kernel that was passed.
    metric_scores_ : dict of (dict of float by metric) by view name
        How far the neighbours by each metric that was tried agree with those in the other views,
        beyond chance; empty if there was nothing to choose.
    view_weights_ : dict of float by view name
        How willingly the walker goes to each view; the largest is 1.
    recall_ : dict of float by view name
        Recall of the neighbour search, measured on 500 samples; 1 if it was exact.
    spectrum_ : Spectrum
        Eigenpairs and their residuals.
    solver_ : str
        Name of the solver that was used.
    walk_ : Walk
    view_names_ : tuple of str
    n_views_, n_components_, n_pieces_, n_features_in_ : int
    memory_ : int
        Expected peak memory of the fit in bytes, not counting X.
    timings_ : dict of float
        Seconds per stage of the fit: "selection", "kernels", "solve", "extension"; empty for a
        loaded model, because a model file does not hold them.
    n_steps_ : float
        t of the fit; ``set_params`` only affects the next fit.

    See Also
    --------
    DiffusionMaps : The same for one view.

    Notes
    -----
    The kernel is Eq. (13), the walk Eq. (14), the coordinates Eq. (21) and their concatenation
    Eq. (23), with `hops` and η as in Eq. (49).

    With `memory`, kernels are kept by the content of the views and all that decides kernel values:
    kernels, fusion, hop matrix or weights, seed, number of threads, versions of the libraries. Fits
    solve for the first of 20, 40, 80, … eigenpairs that is enough, and keep those too. So a result
    is the same, bit for bit, whether it comes from the folder or not, and in whatever order or
    process; without `memory`, which solves for `n_components` pairs only, it is the same up to the
    accuracy of the solver (see `tol`), and bit for bit at 20, 40, 80, …. A kernel class or a solver
    object of one's own is not kept. Entries are arrays with checksums, not pickles: reading them
    runs no code, and a damaged one is computed again with a `CacheWarning`. A process also keeps
    recent results in memory, up to a quarter of `max_memory`. ``joblib.Memory(folder).clear()``
    removes all entries. Warnings about the choice of a scale or a search are given by the fit that
    computes it.

    References for the other fusions are in the classes of `viewhop.walks`: `SumWalk`,
    `ProductWalk`, `ConcatWalk`, `AlternatingWalk`, `IntegratedWalk` and `CompositeWalk`.

    Examples
    --------
    >>> import viewhop as vh
    >>> digits = vh.datasets.load_mfeat()
    >>> est = vh.MultiViewDiffusionMaps(9, random_state=0)
    >>> Z = est.fit_transform(digits.views)
    >>> Z.shape
    (2000, 9)
    >>> est.transform([None, digits.views["kar"][:5]] + [None] * 4).shape
    (5, 9)
    >>> est.view_embeddings_["kar"].shape
    (2000, 9)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = choose_constraints(
        "n_components",
        "n_steps",
        "kernel",
        "fusion",
        "within_view_weight",
        "hops",
        "view_weights",
        "joint_view",
        "connect",
        "accuracy",
        "output",
        "views",
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
        fusion: str = "hop",
        within_view_weight: float | None = None,
        hops: Any = None,
        view_weights: Any = None,
        joint_view: bool | str = "auto",
        connect: bool = False,
        accuracy: float | str | None = None,
        output: str = "auto",
        views: Any = None,
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
        self.fusion = fusion
        self.within_view_weight = within_view_weight
        self.hops = hops
        self.view_weights = view_weights
        self.joint_view = joint_view
        self.connect = connect
        self.accuracy = accuracy
        self.output = output
        self.views = views
        self.missing = missing
        self.solver = solver
        self.tol = tol
        self.max_memory = max_memory
        self.memory = memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @classmethod
    def paper_settings(cls, n_components: int | str = 2, **more: Any) -> Self:
        """An estimator with the settings of the paper, not fitted.

        A dense Gaussian kernel with the max-min scale of Eq. (24), the walk of Eq. (13), which
        never stays in a view, and the coordinates of all views side by side, Eq. (23).

        Parameters
        ----------
        n_components : int or "auto"
        **more
            Other parameters, which may replace those of the paper.

        Examples
        --------
        >>> import viewhop as vh
        >>> vh.MultiViewDiffusionMaps.paper_settings(3, n_steps=2)
        MultiViewDiffusionMaps(kernel=Gaussian(), n_components=3, n_steps=2,
                               output='concat', within_view_weight=0.0)
        """
        settings: dict[str, Any] = {"kernel": Gaussian(bandwidth="max-min"), "output": "concat"}
        if not {"within_view_weight", "hops", "view_weights"} & set(more):
            settings["within_view_weight"] = 0.0
        return cls(n_components, **{**settings, **more})

    def coordinates(self, n_steps: float) -> Floats:
        """The embedding of the training samples at another diffusion time, without a refit.

        Parameters
        ----------
        n_steps : float
            Diffusion time t, any non-negative number.
        """
        check_is_fitted(self)
        return self.geometry_.embedding(n_steps)

    def cross_view_distance(self, first: str, second: str) -> float:
        """The distance between the embeddings of two views: the square root of Eq. (30).

        Parameters
        ----------
        first, second : str
            Views.
        """
        return geometry.cross_view_distance(self, first, second)

    def disagreement(self) -> Floats:
        """How far each view places a sample from where the others do, (n_samples, n_views).

        In units of the median for the view. NaN if the view did not observe the sample, or no
        other view did.
        """
        return geometry.disagreement(self)

    def view_similarity(self) -> Floats:
        """How similarly two views place the samples that both observed, (n_views, n_views).

        1 if they place them identically, 0 if their coordinates are unrelated.
        """
        return geometry.view_similarity(self)

    def view_influence(self) -> dict[str, float]:
        """How much the geometry changes without each view, from 0 to 1, by view name.

        Each view is left out in turn, and the walk over the others is solved with the fitted
        kernels.
        """
        return geometry.view_influence(self, tol=self.tol, stacklevel=2)

    def transition_probabilities(
        self, n_steps: int, from_view: str, to_view: str, rows: Any
    ) -> NDArray[np.float64]:
        """Probabilities of going from samples in one view to all samples in another, Eq. (15).

        Parameters
        ----------
        n_steps : int
            Number of steps t.
        from_view, to_view : str
            Views.
        rows : int or (p,) array
            Samples to start from.

        Returns
        -------
        probabilities : (p, n_samples) array
            For fusion="hop", each row sums to 1 over all values of `to_view`, which include "joint"
            if the walk has a joint view.
        """
        return geometry.transition_probabilities(self, n_steps, from_view, to_view, rows)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_rank(self.n_components, self.accuracy, self.n_steps)
        check_fusion(self.fusion, self.hops, self.within_view_weight, self.view_weights)

    def _recipe(self, names: Sequence[str]) -> Recipe:
        hops, weights = choose_hops(
            self.fusion, self.hops, self.within_view_weight, self.view_weights, names
        )
        return Recipe(
            walk=walk_class(self.fusion),
            rank=choose_rank(self.n_components, self.accuracy, self.n_steps),
            kernel=self.kernel,
            hops=hops,
            weights=weights,
            joint_view=self.joint_view,
            connect=bool(self.connect),
            n_steps=self.n_steps,
            output=self.output,
            solver=self.solver,
            tol=self.tol,
            max_memory=self.max_memory,
            n_jobs=self.n_jobs,
        )


def check_rank(n_components: int | str, accuracy: float | str | None, n_steps: float) -> None:
    """Raise ValueError if `n_components`, `accuracy` and `n_steps` are invalid together.

    Parameters
    ----------
    n_components, accuracy, n_steps
        As in `MultiViewDiffusionMaps`.
    """
    if n_components == "auto" and not n_steps > 0:
        raise ValueError(f'n_components="auto" needs n_steps > 0, not {n_steps!r}')
    if n_components != "auto" and accuracy is not None:
        raise ValueError('accuracy is only used with n_components="auto"; omit it or pass None')


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
