"""The tasks: what is asked of a method on a set, and the scores of its answer."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.neighbors import KNeighborsClassifier
from threadpoolctl import threadpool_limits

from benchmarks.apart import first_line
from benchmarks.quality.cells import Cell, Record, source_digest
from benchmarks.quality.methods import Method, Order, Result
from benchmarks.quality.perturbations import MISSING, perturb
from benchmarks.quality.sets import Data
from viewhop.experiments._kmeans import find_clusters
from viewhop.experiments._rings import ring
from viewhop.scores import matched_share

__all__ = ["KMEANS_SEEDS", "MOST_COLUMNS", "N_INIT", "make_record", "run_cell", "score_clusters"]

#: K-means runs once per seed, from N_INIT starts; scores are means over the seeds.
KMEANS_SEEDS, N_INIT = (0, 1, 2), 3
#: Most columns for nearest neighbours.
MOST_COLUMNS = 20


def run_cell(cell: Cell, method: Method, data: Data) -> Record:
    """The record of a cell; an error of the method is its content, and raises nothing."""
    parameters = method.parameters_for(cell.task)
    return make_record(cell, parameters, lambda: TASKS[cell.task](cell, method, data))


def make_record(
    cell: Cell, parameters: Mapping[str, Any], work: Callable[[], dict[str, Any]]
) -> Record:
    """The record of some work on a cell, with its scores or its error."""
    with warnings.catch_warnings(record=True) as caught, threadpool_limits(1, user_api="openmp"):
        warnings.simplefilter("always")
        try:
            scores, error = work(), None
        except Exception as failure:
            scores, error = {}, f"{type(failure).__name__}: {first_line(str(failure))}"
    given = sorted({warning.category.__name__ for warning in caught})
    return Record(cell, parameters, scores, error, given, source_digest())


def clusters(cell: Cell, method: Method, data: Data) -> dict[str, Any]:
    """Clustering with K known: K-means on K − 1 coordinates, or the method's own clusters."""
    assert data.target is not None
    views = perturb(data.views, cell.perturbation, cell.seed)
    k = data.n_classes
    result = method.run(Order(views, max(1, k - 1), k, cell.seed))
    if result.labels:
        return score_labels(result.labels, data.target)
    scored = [score_clusters(embedding, data.target) for embedding in result.embeddings]
    scores: dict[str, Any] = {
        name: float(np.mean([one[name] for one in scored])) for name in scored[0]
    }
    if len(scored) > 1:
        scores |= {f"best {name}": max(one[name] for one in scored) for name in scored[0]}
    if cell.perturbation in MISSING:
        scores["missing"] = float(1 - views.observed.mean())
    return scores


def count(cell: Cell, method: Method, data: Data) -> dict[str, Any]:
    """Clustering with K unknown: the number of clusters that the method finds."""
    assert method.build_clusterer is not None
    assert data.target is not None
    labels = method.build_clusterer(cell.seed).fit(data.views).labels_
    return {
        "k": int(labels.max()) + 1,
        "ami": float(adjusted_mutual_info_score(data.target, labels)),
    }


def neighbours(cell: Cell, method: Method, data: Data) -> dict[str, Any]:
    """1-NN and 5-NN accuracy on a held-out half, placed by the fit to the other half."""
    assert data.target is not None
    split = StratifiedShuffleSplit(1, test_size=0.5, random_state=cell.seed)
    train, test = next(split.split(data.target, data.target))
    r = min(max(1, data.n_classes - 1), MOST_COLUMNS)
    order = Order(data.views[train], r, data.n_classes, cell.seed, data.views[test])
    result = method.run(order)
    scores = {}
    for k in (1, 5):
        classifier = KNeighborsClassifier(k).fit(result.embeddings[0], data.target[train])
        scores[f"{k}-NN"] = float(classifier.score(result.new[0], data.target[test]))
    return scores


def geometry(cell: Cell, method: Method, data: Data) -> dict[str, Any]:
    """How well the leading coordinates show the truth of a synthetic set."""
    if data.measure == "classes":
        scores = clusters(cell, method, data)
        return {"score": scores["ami"], "best": scores.get("best ami", scores["ami"])}
    assert data.truth is not None
    result: Result = method.run(Order(data.views, 2, 0, cell.seed))
    compare = _order if data.measure == "order" else _angle
    scored = [compare(embedding, data.truth) for embedding in result.embeddings]
    return {"score": float(np.mean(scored)), "best": max(scored)}


TASKS = {"clusters": clusters, "count": count, "neighbours": neighbours, "geometry": geometry}


def score_clusters(embedding: NDArray[np.floating], target: NDArray[np.int64]) -> dict[str, float]:
    """AMI, ARI and accuracy of K-means on an embedding, means over the seeds of K-means."""
    n_clusters = int(target.max()) + 1
    with threadpool_limits(1):
        labels = [
            find_clusters(embedding, n_clusters, seed=seed, n_init=N_INIT) for seed in KMEANS_SEEDS
        ]
    return score_labels(labels, target)


def score_labels(labels: list[NDArray[Any]], target: NDArray[np.int64]) -> dict[str, float]:
    """AMI, ARI and accuracy of clusters, means over several runs."""
    scored = {
        "ami": [adjusted_mutual_info_score(target, found) for found in labels],
        "ari": [adjusted_rand_score(target, found) for found in labels],
        "accuracy": [matched_share(target, found) for found in labels],
    }
    return {name: float(np.mean(values)) for name, values in scored.items()}


def _order(embedding: NDArray[np.floating], truth: NDArray[np.float64]) -> float:
    """|Spearman| of the first coordinate with the truth."""
    return abs(float(spearmanr(embedding[:, 0], truth).statistic))


def _angle(embedding: NDArray[np.floating], truth: NDArray[np.float64]) -> float:
    """Circular rank correlation of the angle in the first two coordinates with the truth."""
    return ring(embedding[:, :2], truth).correlation
