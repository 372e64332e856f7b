"""What missing views cost, on the digits: the tables and the picture of `make figures`."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.impute import SimpleImputer
from sklearn.metrics import adjusted_mutual_info_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

import viewhop as vh
from viewhop.experiments._demo_conditions import remove_pairs

SHARES = (0.1, 0.3, 0.5, 0.7)
SEEDS = range(5)
R = 10


def ami(embedding: np.ndarray, target: np.ndarray) -> float:
    clusters = KMeans(10, n_init=20, random_state=0).fit_predict(embedding)
    return float(adjusted_mutual_info_score(target, clusters))


def old_default() -> vh.MultiViewDiffusionMaps:
    """The default before metrics and weights were chosen by agreement."""
    return vh.MultiViewDiffusionMaps(
        R,
        kernel=vh.kernels.Gaussian("local", n_neighbors=10),
        within_view_weight=0.0,
        output="mean",
        random_state=0,
    )


def clusters() -> str:
    """Clusters of the digits with pairs removed, beside imputation of the mean."""
    data = vh.datasets.load_mfeat()
    rows = [
        "| removed | multi-view, the default | η = 0, mean over seen views | kernel sum | "
        "mean imputed, concatenated |",
        "|---|---|---|---|---|",
    ]
    for share in SHARES:
        scores = []
        for seed in SEEDS:
            seen = remove_pairs(2000, 6, share, np.random.default_rng(seed))
            views = vh.Views(data.views, observed=seen)
            stacked = SimpleImputer().fit_transform(np.hstack(views.arrays))
            embeddings = (
                vh.MultiViewDiffusionMaps(R, random_state=0).fit_transform(views),
                old_default().fit_transform(views),
                vh.MultiViewDiffusionMaps(R, fusion="sum", random_state=0).fit_transform(views),
                StandardScaler().fit_transform(stacked),
            )
            scores.append([ami(embedding, data.target) for embedding in embeddings])
        means = np.mean(scores, axis=0)
        rows.append(f"| {share:.0%} | {' | '.join(f'{mean:.3f}' for mean in means)} |")
    return "\n".join(rows)


def subsets() -> str:
    """New digits placed from some of the views: accuracy of the nearest training digit."""
    data = vh.datasets.load_mfeat()
    order = np.random.default_rng(0).permutation(2000)
    train, new = np.sort(order[:1000]), np.sort(order[1000:])
    est = vh.MultiViewDiffusionMaps(40, random_state=0).fit(data.views[train])
    nearest = KNeighborsClassifier(1).fit(est.embedding_, data.target[train])
    rows = ["| views given | accuracy, mean over subsets | worst subset |", "|---|---|---|"]
    for size in range(1, 7):
        scores = {}
        for names in combinations(data.views.names, size):
            Z = est.transform({name: data.views[name][new] for name in names})
            scores[", ".join(names)] = nearest.score(Z, data.target[new])
        worst = min(scores, key=lambda names: scores[names])
        mean = np.mean([*scores.values()])
        told = f"{scores[worst]:.3f} ({worst})" if size < 6 else f"{scores[worst]:.3f}"
        rows.append(f"| {size} | {mean:.3f} | {told} |")
    return "\n".join(rows)


def shuffled(pictures: Path) -> str:
    """Rows of one view given to the wrong samples, found by disagreement."""
    data = vh.datasets.load_mfeat()
    generator = np.random.default_rng(0)
    moved = generator.choice(2000, 200, replace=False)
    source = generator.permutation(moved)
    views = dict(data.views.items())
    views["fac"] = views["fac"].copy()
    views["fac"][moved] = data.views["fac"][source]
    wrong = moved[data.target[moved] != data.target[source]]
    est = vh.MultiViewDiffusionMaps(20, random_state=0).fit(views)
    found = est.disagreement()
    names = est.view_names_
    figure, axes = plt.subplots(
        1, 2, figsize=(12.5, 4.2), layout="constrained", width_ratios=[1, 1.35]
    )
    vh.plotting.view_similarity(est.view_similarity(), names, ax=axes[0])
    vh.plotting.disagreement(found, names, ax=axes[1])
    figure.savefig(pictures / "agreement.png", dpi=110)
    plt.close(figure)
    rows = [
        f"| view | of the {wrong.size} with a wrong row in fac, in the view's top decile |",
        "|---|---|",
    ]
    for name, column in zip(names, found.T, strict=True):
        top = (column[wrong] >= np.quantile(column, 0.9)).mean()
        rows.append(f"| {name} | {top:.1%} |")
    return "\n".join(rows)
