"""Selecting the metric and the weight of every view by the agreement of neighbour lists."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from viewhop._runtime.progress import Progress, no_progress
from viewhop.kernels import DistanceKernel, Kernel
from viewhop.neighbours import FeatureMap
from viewhop.selection._list_agreement import (
    NEIGHBOURS,
    agreement_table,
    most_similar_lists,
    nearest_lists,
)
from viewhop.selection._metric_choice import FEATURES, choose_metrics, is_angular, plain_metric
from viewhop.selection._metric_names import CANDIDATES, metric_name, with_metric
from viewhop.selection._weights import agreement_weights
from viewhop.views import Rows, Views

__all__ = ["Evidence", "Selection", "needs_selection", "select"]

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

#: Largest number of samples whose lists are compared; if there are more, a random subset is.
SAMPLES = 3000
#: Fewest common samples of two views that count as evidence.
FEWEST = 50
#: Seed for the subset and for breaking ties, whatever `random_state` is: the choice of a metric
#: does not depend on it.
SEED = 20_230_817


@dataclass(frozen=True)
class Selection:
    """Metrics and weights of views, with the numbers behind them.

    Attributes
    ----------
    kernels : dict of Kernel by view name
        The kernels with their metrics decided.
    metrics : dict of str by view name
        As `viewhop.selection.metric_name` returns them.
    scores : dict of (dict of float by metric) by view name
        Mean agreement of each metric that was tried with the other views' chosen ones; empty
        without evidence.
    agreement : (L, L) array
        Agreement of the views with their chosen metrics: 1 on the diagonal, NaN without evidence.
    weights : dict of float by view name
        The largest is 1.
    """

    kernels: dict[str, Kernel]
    metrics: dict[str, str]
    scores: dict[str, dict[str, float]]
    agreement: Floats
    weights: dict[str, float]


def needs_selection(kernels: Mapping[str, Kernel]) -> bool:
    """Whether some kernel leaves its metric to be chosen."""
    return any(_is_open(kernel) for kernel in kernels.values())


def select(
    kernels: Mapping[str, Kernel],
    views: Views,
    *,
    n_jobs: int = 1,
    progress: Progress = no_progress,
) -> Selection:
    """The metric and the weight of every view, by the agreement of their neighbour lists.

    Parameters
    ----------
    kernels : dict of Kernel by view name
        Where the metric is "auto", it is chosen; other metrics are compared as they are.
    views : Views
    n_jobs : int
        Threads.
    progress : callable

    Examples
    --------
    >>> import viewhop as vh
    >>> from viewhop.kernels import kernels_by_view
    >>> from viewhop.selection import select
    >>> rolls = vh.datasets.make_gapped_rolls(300, random_state=0).views
    >>> selection = select(kernels_by_view("adaptive", rolls.names), rolls)
    >>> selection.metrics
    {'x': 'euclidean', 'y': 'euclidean'}
    >>> selection.weights
    {'x': 1.0, 'y': 1.0}
    """
    names = views.names
    candidates = {name: _candidates(kernels[name], views.rows(name)) for name in names}
    evidence = Evidence(views, candidates, n_jobs, progress)
    tables = evidence.tables()
    labels = [[*candidates[name]] for name in names]
    choice = choose_metrics(labels, tables)
    seen = {l for pair in tables for l in pair}
    for l, name in enumerate(names):
        if l not in seen and _is_open(kernels[name]):
            choice[l] = labels[l].index(plain_metric(views.rows(name)))
    agreement = np.full((len(names), len(names)), np.nan)
    np.fill_diagonal(agreement, 1.0)
    for (l, m), table in tables.items():
        agreement[l, m] = agreement[m, l] = table[choice[l], choice[m]]
    chosen = {name: candidates[name][labels[l][choice[l]]] for l, name in enumerate(names)}
    weights = agreement_weights(agreement)
    return Selection(
        chosen,
        {name: metric_name(kernel) for name, kernel in chosen.items()},
        {name: _scores(l, labels[l], choice, tables) for l, name in enumerate(names)},
        agreement,
        {name: float(weight) for name, weight in zip(names, weights, strict=True)},
    )


def _is_open(kernel: Kernel) -> bool:
    return isinstance(kernel, DistanceKernel) and kernel.metric == "auto"


def _candidates(kernel: Kernel, X: Rows) -> dict[str, Kernel]:
    """The kernels to choose from, by the names of their metrics."""
    if not isinstance(kernel, DistanceKernel) or kernel.metric != "auto":
        return {metric_name(kernel): kernel}
    return {
        name: with_metric(kernel, name)
        for name in CANDIDATES
        if X.shape[1] >= FEATURES or not is_angular(name)
    }


def _scores(
    view: int,
    labels: list[str],
    choice: list[int],
    tables: Mapping[tuple[int, int], Floats],
) -> dict[str, float]:
    """Mean agreement of the candidates of a view with the chosen ones of the others."""
    columns = [
        table[:, choice[m]] if l == view else table[choice[l]]
        for (l, m), table in tables.items()
        if view in (l, m)
    ]
    if not columns:
        return {}
    means = np.mean(columns, axis=0)
    return {label: float(mean) for label, mean in zip(labels, means, strict=True)}


class Evidence:
    """Neighbour lists of the candidates of all views, on samples that two views have in common.

    Parameters
    ----------
    views : Views
    candidates : dict of (dict of Kernel by metric) by view name
    n_jobs : int
    progress : callable
    """

    def __init__(
        self,
        views: Views,
        candidates: Mapping[str, Mapping[str, Kernel]],
        n_jobs: int,
        progress: Progress,
    ) -> None:
        self.views = views
        self.candidates = candidates
        self.n_jobs = n_jobs
        self.progress = progress
        n = len(views)
        self.drawn = np.arange(n)
        if n > SAMPLES:
            rng = np.random.default_rng(SEED)
            self.drawn = np.sort(rng.choice(n, SAMPLES, replace=False))
        # The first row of a sample stands for it, if a view has several.
        self.first_rows = [views.nodes.first_rows(l)[self.drawn] for l in range(views.n_views)]
        usable = [self._is_comparable(name) for name in views.names]
        self.common = {
            (l, m): common
            for l, m in combinations(range(len(usable)), 2)
            if usable[l] and usable[m]
            for common in [np.flatnonzero((self.first_rows[l] >= 0) & (self.first_rows[m] >= 0))]
            if common.size >= FEWEST
        }

    def tables(self) -> dict[tuple[int, int], Floats]:
        """Agreement of the candidates of each pair of views with enough common samples."""
        lists = self.lists()
        return {(l, m): agreement_table(lists[l, m], lists[m, l]) for l, m in self.common}

    def lists(self) -> dict[tuple[int, int], list[Indices]]:
        """Neighbour lists of the candidates of the first view of each pair, both ways round."""
        lists: dict[tuple[int, int], list[Indices]] = {pair: [] for pair in self._ordered()}
        for l, name in enumerate(self.views.names):
            self.progress("selection", l, len(self.views.names))
            partners = [m for view, m in self._ordered() if view == l]
            if not partners:
                continue
            for kernel in self.candidates[name].values():
                own: dict[bytes, Indices] = {}
                for m in partners:
                    common = self.common[min(l, m), max(l, m)]
                    key = common.tobytes()
                    if key not in own:
                        own[key] = self._lists(l, kernel, common)
                    lists[l, m].append(own[key])
        self.progress("selection", len(self.views.names), len(self.views.names))
        return lists

    def _ordered(self) -> list[tuple[int, int]]:
        """Each pair with evidence, both ways round."""
        return [*self.common, *((m, l) for l, m in self.common)]

    def _is_comparable(self, name: str) -> bool:
        """Whether neighbours can be read off the rows of a view."""
        kernel = next(iter(self.candidates[name].values()))
        if kernel.builds_itself:
            return False
        is_square = self.views.rows(name).shape[1] == len(self.views)
        return is_square if kernel.is_pairwise else isinstance(kernel, DistanceKernel)

    def _lists(self, view: int, kernel: Kernel, common: Indices) -> Indices:
        """Neighbour lists of drawn samples among themselves, by one candidate of a view."""
        name, seed = self.views.names[view], (SEED, view)
        k = min(NEIGHBOURS, common.size - 1)
        X = self.views.rows(name)
        rows = X[self.first_rows[view][common]]
        if not isinstance(kernel, DistanceKernel):
            # A precomputed kernel: its columns are samples.
            values = rows[:, self.drawn[common]]
            return most_similar_lists(values, k=k, seed=seed, n_jobs=self.n_jobs)
        # A row that the kernel does not accept is reported when the kernel is built.
        features = replace(FeatureMap.of(kernel, rows, name), needs_direction=False)
        return nearest_lists(
            features(rows, name), k=k, norm=features.norm, seed=seed, n_jobs=self.n_jobs
        )
