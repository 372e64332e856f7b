"""Advising on views: measure them, fit a subset, and recommend parameters."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from viewhop._runtime.progress import Progress, show_progress
from viewhop._runtime.threads import thread_count
from viewhop.advice._advice import Advice
from viewhop.advice._feature_findings import WIDE_SCALES, feature_findings, scale_ratio
from viewhop.advice._finding import Finding
from viewhop.advice._graph_findings import PER_NEIGHBOUR, agreement_findings, graph_findings
from viewhop.advice._reasons import (
    fusion_reason,
    metric_reasons,
    neighbours_reason,
    scale_reasons,
    spectral_reasons,
    weight_reasons,
)
from viewhop.advice._spectral_choice import choose_rank_by_spectrum, small_cluster_findings
from viewhop.advice._subset import draw_subset
from viewhop.geometry import Geometry, Recipe, fit_geometry
from viewhop.kernels import DistanceKernel, Kernel, kernels_by_view
from viewhop.selection import Selection, metric_name, select, shuffled_agreement, with_metric
from viewhop.solvers import UpToRank, quote_views
from viewhop.views import (
    RowReader,
    Views,
    cut_columns,
    frame_groups,
    is_collection,
    read_every_view,
    require_rows,
)
from viewhop.walks import hop_matrix, walk_class

__all__ = ["advise"]

#: Samples that a fit of one coordinate needs.
FEWEST = 3
#: Eigenvalues that are computed.
EIGENVALUES = 40
#: Numbers of neighbours to try until the walk is connected.
NEIGHBOURS = (10, 15, 20, 30)


def advise(
    views: Any,
    *,
    kernel: Any = "adaptive",
    random_state: Any = 0,
    n_jobs: int | None = None,
    verbose: int | Progress = 0,
) -> Advice:
    """What to watch for in some views, and which parameters to fit them with.

    No labels are used, and no parameter is tuned on a result: every recommendation comes with the
    number that it is based on.

    Parameters
    ----------
    views : list or dict of (n_samples, n_features) arrays, Views, MuData, array or DataFrame
        As in `viewhop.MultiViewDiffusionMaps`. A row of NaN is a sample that the view did not
        observe.
    kernel : str, kernel object, list or dict, default="adaptive"
        The kernels to examine, as in `viewhop.MultiViewDiffusionMaps`; pass "precomputed" for a
        view that is a kernel matrix.
    random_state : int, Generator, RandomState or None, default=0
        Draws the 3,000 samples that are examined if there are more.
    n_jobs : int or None, default=None
        Number of threads.
    verbose : int or callable, default=0
        1 shows progress bars; a callable is called as ``progress(stage, done, total)``.

    Returns
    -------
    advice : Advice
        Print it, or pass its parameters to an estimator:
        ``MultiViewDiffusionMaps(**advice.parameters)``.

    Raises
    ------
    ValueError
        If a fit would refuse the views.

    Notes
    -----
    Metrics and weights are those that a fit of all samples chooses. Constant features, duplicates,
    scales and rows without a direction are counted in all samples. Graphs, their pieces and the
    spectrum are those of at most 3,000 samples.

    Examples
    --------
    >>> import viewhop as vh
    >>> digits = vh.datasets.load_mfeat().views[::4]
    >>> advice = vh.advise(digits)
    >>> advice.parameters["n_components"], advice.metrics["mor"]
    (7, 'standardized-cosine')
    >>> est = vh.MultiViewDiffusionMaps(**advice.parameters, random_state=0).fit(digits)
    >>> est.metrics_ == advice.metrics
    True
    """
    samples = _read(views, kernel)
    if len(samples) < FEWEST:
        raise ValueError(
            f"advice needs at least {FEWEST} samples, but {quote_views(samples.names)} "
            f"{'has' if samples.n_views == 1 else 'have'} n_samples = {len(samples)}"
        )
    if isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(2**31, size=4)
    generator = np.random.default_rng(random_state)
    kernels = kernels_by_view(kernel, samples.names)
    threads = thread_count(n_jobs)
    with show_progress(verbose) as progress, warnings.catch_warnings():
        # What a fit of the subset would warn about is reported as a finding.
        warnings.simplefilter("ignore")
        subset = draw_subset(samples, kernels, generator)
        recipe = _recipe(samples, n_jobs)
        selection = select(kernels, samples, n_jobs=threads, progress=progress)
        selection, standardised = _standardise(selection, kernels, samples)
        bound = shuffled_agreement(selection.kernels, samples, n_jobs=threads, progress=progress)
        recipe = replace(
            recipe,
            kernel=selection.kernels,
            weights=selection.weights if samples.n_views > 1 else None,
        )
        geometry = fit_geometry(recipe, subset, generator=generator, progress=progress)
        chosen, tried = _connect(recipe, subset, geometry, generator)
        rank = choose_rank_by_spectrum(chosen.spectrum.eigenvalues)
        overlap = _overlap_with_sum(recipe, subset, chosen, rank.r, generator)
    findings = [
        *feature_findings(samples, selection.kernels, selection.scores),
        *agreement_findings(samples.names, selection.agreement, selection.weights, bound),
        *graph_findings(geometry),
        *small_cluster_findings(geometry, len(samples)),
    ]
    final = {K.name: K.kernel for K in chosen.walk.affinities}
    decided = _with_neighbours_of(selection.kernels, final)
    return Advice(
        {
            "n_components": rank.r,
            "n_steps": 1,
            "kernel": "adaptive" if _is_default(kernel, kernels, decided) else decided,
            "fusion": "hop",
        },
        sorted(findings, key=_order),
        [
            *metric_reasons(selection, standardised),
            neighbours_reason(chosen, tried),
            *scale_reasons(chosen),
            *weight_reasons(selection),
            *spectral_reasons(chosen, rank),
            fusion_reason(subset, rank.r, overlap),
        ],
        len(samples),
        len(subset),
        samples.names,
        {name: metric_name(one) for name, one in decided.items()},
        selection.weights,
    )


def _read(views: Any, kernel: Any) -> Views:
    """The views in any form that a fit accepts."""

    def pairwise(names: Sequence[str]) -> list[str]:
        return [name for name, own in kernels_by_view(kernel, names).items() if own.is_pairwise]

    reader = RowReader(pairwise=pairwise)
    if is_collection(views):
        return read_every_view(views, reader)
    groups = frame_groups(views)
    return require_rows(cut_columns(views, 1 if groups is None else groups, reader))


def _recipe(views: Views, n_jobs: int | None) -> Recipe:
    """The walk of the default estimator, with more eigenvalues."""
    is_single = views.n_views == 1
    return Recipe(
        walk=walk_class("hop"),
        rank=UpToRank(EIGENVALUES, 1),
        hops=hop_matrix(1) if is_single else None,
        joint_view="auto",
        n_jobs=n_jobs,
    )


def _standardise(
    selection: Selection, given: Mapping[str, Kernel], views: Views
) -> tuple[Selection, dict[str, float]]:
    """Standardise views whose scales differ by orders, if no agreement could decide it.

    Returns the selection, and the ratio of scales of each such view.
    """
    ratios = {}
    for name, kernel in selection.kernels.items():
        asked = given[name]
        is_open = isinstance(asked, DistanceKernel) and asked.metric == "auto"
        if is_open and not selection.scores[name] and metric_name(kernel) == "euclidean":
            ratio = scale_ratio(views.rows(name))
            if ratio >= WIDE_SCALES:
                ratios[name] = ratio
    kernels = {
        name: with_metric(kernel, "standardized")
        if name in ratios and isinstance(kernel, DistanceKernel)
        else kernel
        for name, kernel in selection.kernels.items()
    }
    metrics = {name: metric_name(kernel) for name, kernel in kernels.items()}
    return replace(selection, kernels=kernels, metrics=metrics), ratios


def _connect(
    recipe: Recipe, views: Views, geometry: Geometry, generator: np.random.Generator
) -> tuple[Geometry, dict[int, int]]:
    """The geometry with the recommended neighbours, and the pieces at each number tried."""
    kernels: Mapping[str, Kernel] = recipe.kernel
    counts = [one.n_neighbors for one in kernels.values() if one.n_neighbors is not None]
    if not counts:
        return geometry, {}
    k, n = min(counts), len(views)
    tried = {k: geometry.record.n_pieces}
    fewer = [max(2, n // PER_NEIGHBOUR)] if n < PER_NEIGHBOUR * k else []
    more = [m for m in NEIGHBOURS if k < m < n - 1] if tried[k] > 1 else []
    for m in (*(m for m in fewer if m < k), *more):
        changed = {
            name: _with_neighbours(one, m, k) if one.n_neighbors is not None else one
            for name, one in kernels.items()
        }
        try:
            other = fit_geometry(replace(recipe, kernel=changed), views, generator=generator)
        except ValueError:  # such a graph has no coordinates; the one at hand has
            continue
        tried[m] = other.record.n_pieces
        if tried[m] == 1:
            return other, tried
    return geometry, tried


def _with_neighbours(kernel: Kernel, m: int, k: int) -> Kernel:
    """The kernel with m neighbours instead of k; one that has more already keeps them."""
    own = kernel.n_neighbors
    if own is None or (own > k and own > m):
        return kernel
    return clone(kernel).set_params(n_neighbors=m)  # type: ignore[no-any-return]


def _with_neighbours_of(
    kernels: Mapping[str, Kernel], others: Mapping[str, Kernel]
) -> dict[str, Kernel]:
    """Kernels as they were asked for, with the neighbours of others.

    A fitted kernel may hold a scale that was resolved on the subset.
    """
    return {
        name: one
        if one.n_neighbors == others[name].n_neighbors
        else clone(one).set_params(n_neighbors=others[name].n_neighbors)
        for name, one in kernels.items()
    }


def _is_default(kernel: Any, given: Mapping[str, Kernel], decided: Mapping[str, Kernel]) -> bool:
    """Whether "adaptive" was asked for and nothing differs from Euclidean on its neighbours."""
    if not isinstance(kernel, str) or kernel != "adaptive":
        return False
    return all(
        metric_name(one) == "euclidean" and one.n_neighbors == given[name].n_neighbors
        for name, one in decided.items()
    )


def _overlap_with_sum(
    recipe: Recipe, views: Views, geometry: Geometry, r: int, generator: np.random.Generator
) -> float | None:
    """How much of the first r coordinates a walk on the sum of the kernels has, from 0 to 1."""
    if views.n_views < 2 or not views.is_complete:
        return None
    kernels = {K.name: K.kernel for K in geometry.walk.affinities}
    try:
        other = fit_geometry(
            replace(recipe, walk=walk_class("sum"), kernel=kernels, weights=None, joint_view=False),
            views,
            generator=generator,
        )
    except ValueError:  # the sum has no coordinates, so there is nothing to compare
        return None
    bases = []
    for one in (geometry, other):
        block = np.asarray(one.embedding(0.0), dtype=np.float64)[:, :r]
        bases.append(np.linalg.qr(block - block.mean(axis=0))[0])
    return float(np.square(bases[0].T @ bases[1]).sum() / r)


def _order(finding: Finding) -> int:
    return 0 if finding.severity == "warning" else 1
