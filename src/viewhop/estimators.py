"""Estimators: views in, coordinates out.

A fit is the way of the data through the house: read the views, build one affinity per view, fuse
them into a walk, solve for its spectrum, and keep the extension that places samples.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from numbers import Integral
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from viewhop import affinity, diffusion, memory
from viewhop.affinity import Affinity
from viewhop.distances import row_blocks
from viewhop.errors import DisconnectedWarning, FarSampleWarning, UnreachedViewWarning
from viewhop.extension import Stepped, extension
from viewhop.kernels import Kernel, Precomputed, per_view
from viewhop.progress import Progress, shown
from viewhop.solvers import SOLVERS, solve
from viewhop.spectrum import Spectrum
from viewhop.views import Views, column_groups, frame_groups, is_collection, split_columns
from viewhop.walks import HopWalk, ProductWalk, SumWalk, Walk, hop_matrix

__all__ = ["DiffusionMaps", "MultiViewDiffusionMaps"]

Floats = NDArray[np.floating]
FUSIONS = ("hop", "sum", "product")
OUTPUTS = ("auto", "concat", "mean")


class MultiViewDiffusionMaps(TransformerMixin, BaseEstimator):
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
        How alike two samples of a view are: "adaptive" (a Gaussian on 10 neighbours with a scale
        per sample), "gaussian", "laplacian", "correlation", "precomputed", an object of
        `viewhop.kernels`, or one of these per view, as a list or a dict by view name.
    fusion : {"hop", "sum", "product"}, default="hop"
        The paper's walk between views, or the walk of the summed or multiplied kernels.
    within_view_weight : float, default=0.0
        η, how willingly the walker stays in its view, from 0 to 1 (hop only).
    hops : (L, L) array or None, default=None
        A symmetric, non-negative hop matrix in place of η: entry (l, m) says how willingly the
        walker goes from view l to view m (hop only).
    accuracy : float or None, default=None
        δ for ``n_components="auto"``: coordinates with λ_k^t > δ λ_1^t are kept; None is 0.1.
    output : {"auto", "concat", "mean"}, default="auto"
        The embedding of a sample: its coordinates in all views side by side, or the mean over its
        views, each centred and scaled to unit spread. "auto" is "concat". A fusion with one geometry
        has one set of coordinates, whatever the output.
    views : int, list, dict or None, default=None
        Column groups, where X is one stacked array or DataFrame; see `Views.from_columns`.
    solver : {"auto", "dense", "lanczos", "krylov", "svd"}, default="auto"
    tol : float or None, default=None
        Residual at which an eigenpair is accepted, relative to its eigenvalue; None is as far as
        the precision goes.
    max_memory : int, str or None, default=None
        Bytes, or text like "8GB", that dense kernels may take; None is 80 % of what is left.
    n_jobs : int or None, default=None
        Threads for kernels and neighbours; None is 1, -1 is all cores.
    random_state : int, Generator, RandomState or None, default=None
        Seed of start vectors and of row samples.
    verbose : int or callable, default=0
        1 shows progress bars; a callable gets ``progress(stage, done, total)``.

    Attributes
    ----------
    embedding_ : (n_samples, n_features_out) array
    eigenvalues_ : (r,) array
        λ_1 … λ_r; the trivial λ_0 = 1 is left out.
    view_embeddings_ : dict of (n_samples, r) arrays by view name
    bandwidths_ : dict by view name
        Scale of each kernel: a number, one per sample for local scales, NaN if precomputed.
    degrees_ : dict of (n_samples,) arrays by view name
        D̂, the row sums of the walk's kernel.
    spectrum_ : Spectrum
        Eigenpairs with residuals.
    solver_ : str
        The solver that was used; what "auto" chose.
    walk_ : Walk
    view_names_ : tuple of str
    n_views_, n_components_, n_pieces_, n_features_in_ : int

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

    walk_: Walk
    spectrum_: Spectrum
    view_names_: tuple[str, ...]
    view_embeddings_: dict[str, Floats]

    def __init__(
        self,
        n_components: int | str = 2,
        *,
        n_steps: float = 1,
        kernel: Any = "adaptive",
        fusion: str = "hop",
        within_view_weight: float = 0.0,
        hops: Any = None,
        accuracy: float | None = None,
        output: str = "auto",
        views: Any = None,
        solver: str = "auto",
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

    def fit(self, X: Any, y: object = None) -> Self:
        """Learn the geometry of the training samples.

        Parameters
        ----------
        X : list or dict of (n_samples, n_features) arrays, Views, stacked array or DataFrame
        y : ignored

        Returns
        -------
        self
        """
        self._check_parameters()
        views = self._read(X, reset=True)
        _check_size(views, self.n_components)
        generator = np.random.default_rng(self.random_state)
        with shown(self.verbose) as progress:
            affinities = self._affinities(views, generator, progress)
            self.walk_ = self._fuse(affinities)
            self.spectrum_ = self._solve(self.walk_, generator, progress)
            self._extension = extension(self.walk_, self.spectrum_)
            self._stepped = self._extension.training()
        self._keep(affinities)
        return self

    def fit_transform(self, X: Any, y: object = None) -> Floats:
        """The embedding of the training samples, (n_samples, n_features_out).

        Parameters
        ----------
        X : as in `fit`
        y : ignored
        """
        return self.fit(X).embedding_

    def transform(self, X: Any) -> Floats:
        """The embedding of samples, new or not, (n_samples, n_features_out).

        Parameters
        ----------
        X : as in `fit`
            Any subset of the views: None in a list, or a dict without some of them.

        Warns
        -----
        FarSampleWarning
            If samples are far from every training sample; they get the coordinates of the nearest.
        UnreachedViewWarning
            If the hop matrix has no way from the given views to another one.
        """
        check_is_fitted(self)
        views = self._read(X, reset=False)
        n_rows = len(views)
        parts = []
        with shown(self.verbose) as progress:
            for block in row_blocks(n_rows, self.walk_.n_samples):
                rows = {name: array[block] for name, array in views.items()}
                parts.append(self._extension.step(self.walk_.against(rows)))
                progress("transform", block.stop, n_rows)
        stepped = _joined(parts)
        self._warn(stepped)
        blocks = self._blocks(stepped.blocks, self.n_steps)
        given = [name in views.names for name in self.view_names_]
        return self._output(blocks, given)

    def coordinates(self, n_steps: float) -> Floats:
        """The embedding of the training samples at another diffusion time, without a refit.

        Parameters
        ----------
        n_steps : float
            t, any number of at least 0.
        """
        check_is_fitted(self)
        return self._output(self._blocks(self._stepped, n_steps), [True] * self.n_views_, n_steps)

    def cross_view_distance(self, first: str, second: str) -> float:
        """How far apart two views put the same samples: the root of Eq. (30).

        Parameters
        ----------
        first, second : str
            Views.
        """
        check_is_fitted(self)
        return diffusion.cross_view_distance(self, first, second)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the embedding's columns: ``<view>_<k>``, k from 1.

        Parameters
        ----------
        input_features : list of str or None
            Checked against the columns of `fit`, and not used otherwise.
        """
        check_is_fitted(self)
        if input_features is not None:
            known = getattr(self, "feature_names_in_", None)
            if known is not None and [*input_features] != [*known]:
                raise ValueError("input_features is not equal to feature_names_in_")
            if len(input_features) != self.n_features_in_:
                raise ValueError(
                    "input_features should have length equal to number of features "
                    f"({self.n_features_in_}), got {len(input_features)}"
                )
        return np.array(
            [f"{name}_{k}" for name in self._column_names() for k in self._numbers()], dtype=object
        )

    def __sklearn_tags__(self) -> Any:
        """Tags for scikit-learn."""
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _check_parameters(self) -> None:
        """Raise ValueError for what can be wrong before any data is seen."""
        _check_choice("fusion", self.fusion, FUSIONS)
        _check_choice("output", self.output, OUTPUTS)
        _check_choice("solver", self.solver, ("auto", *SOLVERS))
        r = self.n_components
        if isinstance(r, str):
            _check_choice("n_components", r, ("auto",))
            accuracy = 0.1 if self.accuracy is None else self.accuracy
            diffusion.truncation([1.0], accuracy=accuracy, n_steps=self.n_steps)
        elif not isinstance(r, Integral) or isinstance(r, bool) or r < 1:
            raise ValueError(f'n_components is a positive whole number or "auto", not {r!r}')
        elif self.accuracy is not None:
            raise ValueError('accuracy is used with n_components="auto" only; leave it None')
        diffusion.coordinates(np.ones((1, 1)), np.ones(1), self.n_steps)
        if not 0 <= self.within_view_weight <= 1:
            raise ValueError(
                f"within_view_weight is a number from 0 to 1, not {self.within_view_weight!r}"
            )
        if self.fusion != "hop" and (self.hops is not None or self.within_view_weight):
            raise ValueError(f'hops and within_view_weight belong to fusion="hop", not {self.fusion!r}')
        if self.hops is not None and self.within_view_weight:
            raise ValueError("give hops or within_view_weight, not both")
        if self.tol is not None and not self.tol >= 0:
            raise ValueError(f"tol is a number of at least 0 or None, not {self.tol!r}")

    def _read(self, X: Any, *, reset: bool) -> Views:
        """The views in `X`; with `reset`, what later calls are held to is stored."""
        if is_collection(X):
            if self.views is not None and not isinstance(self.views, Mapping | list | int):
                raise ValueError("views= takes an int, a list or a dict")
            if self.views is not None:
                raise ValueError("views= cuts one stacked X into views; X is several views already")
            views = Views(X if reset else self._named(X))
            if reset:
                self.n_features_in_ = views.shape[1]
                vars(self).pop("feature_names_in_", None)
        else:
            groups = frame_groups(X) if self.views is None else self.views
            matrix = validate_data(
                self, X, reset=reset, dtype=(np.float64, np.float32), ensure_all_finite=False
            )
            labels = getattr(self, "feature_names_in_", None)
            width = matrix.shape[1]
            positions = column_groups(1 if groups is None else groups, width, labels)
            if not reset and tuple(positions) != self.view_names_:
                raise ValueError(
                    f"this estimator was fitted on the views {', '.join(self.view_names_)}; pass "
                    "them as a list or a dict, or one stacked array as in fit"
                )
            views = Views(split_columns(matrix, positions))
        if reset:
            self.view_names_ = views.names
            self.n_views_ = views.n_views
            self._widths = {name: array.shape[1] for name, array in views.items()}
            self._dtype = views.dtype
        else:
            self._check_new(views)
        return views

    def _named(self, X: Any) -> Any:
        """New views under the names of the fitted ones."""
        if isinstance(X, Views | Mapping):
            given = dict(X.items())
            unknown = [name for name in given if name not in self.view_names_]
            if unknown:
                raise ValueError(
                    f"unknown view {unknown[0]!r}; this estimator was fitted on "
                    f"{', '.join(self.view_names_)}"
                )
            return {name: given[name] for name in self.view_names_ if given.get(name) is not None}
        if len(X) != self.n_views_:
            raise ValueError(
                f"expected {self.n_views_} views ({', '.join(self.view_names_)}), None for one that "
                f"is missing, but got {len(X)}"
            )
        return {n: x for n, x in zip(self.view_names_, X, strict=True) if x is not None}

    def _check_new(self, views: Views) -> None:
        kernels = per_view(self.kernel, self.view_names_)
        for name, array in views.items():
            if array.shape[1] != self._widths[name]:
                raise ValueError(
                    f"view {name!r} has {array.shape[1]} features, but it had "
                    f"{self._widths[name]} in fit"
                )
            if isinstance(kernels[name], Precomputed):
                affinity.check_new_values(name, array)

    def _affinities(
        self, views: Views, generator: np.random.Generator, progress: Progress
    ) -> list[Affinity]:
        """One affinity per view, if memory allows."""
        kernels = per_view(self.kernel, views.names)
        self._check_memory(kernels, views)
        n_jobs = effective_n_jobs(self.n_jobs)
        return [
            affinity.build(
                name, kernels[name], X, generator=generator, n_jobs=n_jobs, progress=progress
            )
            for name, X in views.items()
        ]

    def _check_memory(self, kernels: Mapping[str, Kernel], views: Views) -> None:
        each = [affinity.dense_bytes(kernel, len(views), views.dtype) for kernel in kernels.values()]
        memory.require(
            sum(each) + (max(each) if self.fusion == "product" else 0),
            memory.budget(self.max_memory),
            what=f"dense kernels of {len(views):,} samples in {views.n_views} views",
            instead="use neighbour kernels (n_neighbors=…) or raise max_memory",
        )

    def _fuse(self, affinities: list[Affinity]) -> Walk:
        """The walk over the views."""
        if self.fusion == "sum":
            return SumWalk(affinities)
        if self.fusion == "product":
            return ProductWalk(affinities, n_jobs=effective_n_jobs(self.n_jobs))
        hops = self.hops
        if hops is None:
            hops = hop_matrix(len(affinities), within_view_weight=self.within_view_weight)
        return HopWalk(affinities, hops)

    def _solve(self, walk: Walk, generator: np.random.Generator, progress: Progress) -> Spectrum:
        """The eigenpairs that `n_components` asks for."""
        pieces = walk.pieces()
        self.n_pieces_ = int(pieces.max()) + 1
        if self.n_pieces_ > 1:
            _warn_pieces(walk, pieces, self.n_pieces_)

        def pairs(r: int) -> Spectrum:
            return solve(
                walk,
                r,
                solver=self.solver,
                tol=self.tol,
                pieces=pieces,
                generator=generator,
                progress=progress,
            )

        if self.n_components == "auto":
            return self._solve_auto(walk, pairs)
        r = int(self.n_components)
        if r > walk.max_coordinates:
            raise ValueError(
                f"n_components={r} is more than the {walk.max_coordinates} positive eigenvalues "
                "that this walk can have"
            )
        spectrum = pairs(r)
        usable = _n_positive(spectrum, walk.dtype)
        if usable < r:
            raise ValueError(
                f"n_components={r}, but only {usable} eigenvalues are positive beyond rounding; "
                f"pass n_components={max(usable, 1)} or a smaller bandwidth"
            )
        return spectrum

    def _solve_auto(self, walk: Walk, pairs: Any) -> Spectrum:
        """As many pairs as the accuracy asks for, found by doubling."""
        accuracy = 0.1 if self.accuracy is None else self.accuracy
        most = min(walk.max_coordinates, walk.n_nodes - 2)
        r = min(16, most)
        while True:
            spectrum: Spectrum = pairs(r)
            usable = _n_positive(spectrum, walk.dtype)
            values = spectrum.eigenvalues[:usable]
            wanted = diffusion.truncation(values, accuracy=accuracy, n_steps=self.n_steps)
            if wanted < r or r == most:
                break
            r = min(2 * r, most)
        if wanted == 0:
            raise ValueError("no eigenvalue is positive beyond rounding; use a smaller bandwidth")
        return spectrum.first(wanted)

    def _keep(self, affinities: list[Affinity]) -> None:
        """Store what the fit is asked about."""
        walk = self.walk_
        self.eigenvalues_ = self.spectrum_.eigenvalues
        self.n_components_ = len(self.spectrum_)
        self.solver_ = self.spectrum_.solver
        self.bandwidths_ = {a.name: a.scale for a in affinities}
        copies = self.n_views_ // walk.n_blocks
        self.degrees_ = dict(zip(self.view_names_, walk.blocks(walk.degrees) * copies, strict=True))
        self._centres = [block.mean(axis=0) for block in self._stepped]
        self._spreads = [block.std(axis=0) for block in self._stepped]
        blocks = self._blocks(self._stepped, self.n_steps)
        self.view_embeddings_ = dict(
            zip(self.view_names_, [b.astype(self._dtype) for b in blocks] * copies, strict=True)
        )
        self.embedding_ = self._output(blocks, [True] * self.n_views_)

    def _blocks(self, stepped: list[NDArray[np.float64]], n_steps: float) -> list[Any]:
        return [diffusion.coordinates(block, self.eigenvalues_, n_steps) for block in stepped]

    def _output(self, blocks: list[Any], given: list[bool], n_steps: float | None = None) -> Floats:
        """The embedding from the coordinates of each block."""
        if len(blocks) == 1 or self.output != "mean":
            return np.hstack(blocks).astype(self._dtype)
        t = self.n_steps if n_steps is None else n_steps
        scaled = []
        for block, centre, spread, is_given in zip(
            blocks, self._centres, self._spreads, given, strict=True
        ):
            if is_given:
                # Centre and spread of λψ, so the quotient is ψ centred and at unit spread.
                stepped = block * self.eigenvalues_ ** (1.0 - t)
                scaled.append((stepped - centre) / spread * self.eigenvalues_**t)
        return np.mean(scaled, axis=0).astype(self._dtype)

    def _column_names(self) -> list[str]:
        if self.walk_.n_blocks < self.n_views_:
            return ["fused"]
        return ["mean"] if self.output == "mean" and self.n_views_ > 1 else [*self.view_names_]

    def _numbers(self) -> range:
        return range(1, self.n_components_ + 1)

    def _warn(self, stepped: Stepped) -> None:
        """Say what a transform could not do as usual."""
        lost = np.flatnonzero(stepped.lost)
        if lost.size:
            raise ValueError(
                f"row {lost[0]} has no positive kernel value in any given view ({lost.size} such "
                "rows); a new sample needs at least one training sample that it is like"
            )
        far = int(stepped.far.sum())
        if far:
            warnings.warn(
                FarSampleWarning(
                    f"{far} of {stepped.far.size} samples lie far from every training sample in some "
                    "view; they get the coordinates of their nearest training samples",
                    far,
                ),
                stacklevel=3,
            )
        for name, rows in zip(self.view_names_, stepped.unreached.T, strict=False):
            if rows.any():
                warnings.warn(
                    UnreachedViewWarning(
                        f"the hop matrix has no way from the given views to view {name!r} for "
                        f"{rows.sum()} samples; their coordinates there are the mean over the "
                        "given views",
                        int(rows.sum()),
                    ),
                    stacklevel=3,
                )


class DiffusionMaps(MultiViewDiffusionMaps):
    """Diffusion coordinates of samples that one view measured.

    Parameters
    ----------
    n_components : int or "auto", default=2
        Number r of coordinates. "auto" takes as many as `accuracy` asks for.
    n_steps, kernel, accuracy, solver, tol, max_memory, n_jobs, random_state, verbose
        As in `MultiViewDiffusionMaps`.

    Attributes
    ----------
    embedding_ : (n_samples, r) array
    eigenvalues_ : (r,) array

    Notes
    -----
    The walk is Eq. (1) and the coordinates are Eq. (2), after Coifman and Lafon (2006); ``alpha`` of
    the kernel is their density normalisation.

    Examples
    --------
    >>> import numpy as np
    >>> import viewhop as vh
    >>> angle = np.linspace(0, 2 * np.pi, 100, endpoint=False)
    >>> circle = np.c_[np.cos(angle), np.sin(angle)]
    >>> vh.DiffusionMaps(2, kernel="gaussian").fit_transform(circle).shape
    (100, 2)
    """

    def __init__(
        self,
        n_components: int | str = 2,
        *,
        n_steps: float = 1,
        kernel: Any = "adaptive",
        accuracy: float | None = None,
        solver: str = "auto",
        tol: float | None = None,
        max_memory: float | str | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int | Progress = 0,
    ) -> None:
        self.n_components = n_components
        self.n_steps = n_steps
        self.kernel = kernel
        self.accuracy = accuracy
        self.solver = solver
        self.tol = tol
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    # What the parent would take as parameters: one view, summed with nothing.
    fusion = "sum"
    within_view_weight = 0.0
    hops = None
    output = "concat"
    views = None

    def _read(self, X: Any, *, reset: bool) -> Views:
        views = super()._read(X, reset=reset)
        if views.n_views > 1:
            raise ValueError(
                f"DiffusionMaps takes one view, got {views.n_views}; use MultiViewDiffusionMaps"
            )
        return views


def _check_choice(name: str, value: object, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ValueError(f"unknown {name} {value!r}; known are {', '.join(known)}")


def _check_size(views: Views, n_components: int | str) -> None:
    n = len(views)
    least = 3 if isinstance(n_components, str) else int(n_components) + 2
    if n < least:
        raise ValueError(
            f"n_components={n_components!r} needs at least {least} samples, but there "
            f"{'is' if n == 1 else 'are'} n_samples = {n}"
        )


def _n_positive(spectrum: Spectrum, dtype: np.dtype[np.floating]) -> int:
    """How many eigenvalues are positive beyond rounding."""
    return int((spectrum.eigenvalues > 8 * np.finfo(dtype).eps).sum())


def _warn_pieces(walk: Walk, pieces: NDArray[np.intp], n_pieces: int) -> None:
    sizes = np.bincount(pieces)
    small = int(np.argmin(sizes))
    node = int(np.flatnonzero(pieces == small)[0])
    block, sample = divmod(node, walk.n_samples)
    where = f"in view {walk.names[block]!r}" if walk.n_blocks > 1 else "of the samples"
    if n_pieces >= walk.n_samples:
        raise ValueError(
            f"the walk never leaves a sample: it falls into {n_pieces} pieces; raise the bandwidth "
            "(factor) or n_neighbors"
        )
    warnings.warn(
        DisconnectedWarning(
            f"the walk falls into {n_pieces} pieces, so the first {n_pieces - 1} coordinates only "
            f"tell pieces apart; the smallest has {sizes[small]} nodes (row {sample} {where} is "
            "one); a larger bandwidth, more neighbours or within_view_weight below 1 may join them",
            n_pieces,
        ),
        stacklevel=5,
    )


def _joined(parts: list[Stepped]) -> Stepped:
    """The steps of consecutive rows as one."""
    return Stepped(
        [np.concatenate(blocks) for blocks in zip(*(p.blocks for p in parts), strict=True)],
        np.concatenate([p.far for p in parts]),
        np.concatenate([p.unreached for p in parts]),
        np.concatenate([p.lost for p in parts]),
    )
