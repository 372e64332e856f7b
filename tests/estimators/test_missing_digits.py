"""Digits that views never saw, or gave to the wrong sample, or that are placed from few views."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.impute import SimpleImputer
from sklearn.metrics import adjusted_mutual_info_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from viewhop import MultiViewDiffusionMaps, Views
from viewhop.datasets import load_mfeat

DIGITS = load_mfeat()


def without(share, seed):
    """Which pairs are left where exactly a share is removed and each sample keeps a view."""
    seen = np.ones((2000, 6), dtype=bool)
    order = np.random.default_rng(seed).permutation(seen.size)
    for sample, view in zip(*np.unravel_index(order, seen.shape), strict=True):
        if seen.sum() == round((1 - share) * seen.size):
            break
        if seen[sample].sum() > 1:
            seen[sample, view] = False
    return seen


def ami(Z, n_init=10):
    found = KMeans(10, n_init=n_init, random_state=0).fit_predict(Z)
    return adjusted_mutual_info_score(DIGITS.target, found)


@pytest.mark.parametrize(
    ("share", "least"),
    [
        pytest.param(0.1, 0.86, marks=pytest.mark.slow),
        pytest.param(0.3, 0.83, marks=pytest.mark.slow),
        (0.5, 0.79),
        (0.7, 0.70),
    ],
)
def test_clusters_survive_what_views_missed(share, least):
    ours, imputed = [], []
    for seed in range(5):
        views = Views(DIGITS.views, observed=without(share, seed))
        est = MultiViewDiffusionMaps(10, output="mean", random_state=0)
        ours.append(ami(est.fit_transform(views)))
        filled = SimpleImputer().fit_transform(np.hstack(views.arrays))
        imputed.append(ami(StandardScaler().fit_transform(filled)))
    assert np.mean(ours) >= least
    assert np.mean(ours) > np.mean(imputed)


def test_more_views_place_new_digits_no_worse():
    order = np.random.default_rng(0).permutation(2000)
    train, new = np.sort(order[:1000]), np.sort(order[1000:])
    est = MultiViewDiffusionMaps(40, random_state=0).fit(DIGITS.views[train])
    nearest = KNeighborsClassifier(1).fit(est.embedding_, DIGITS.target[train])
    means = []
    for size in range(1, 7):
        scores = [
            nearest.score(
                est.transform({name: DIGITS.views[name][new] for name in names}),
                DIGITS.target[new],
            )
            for names in combinations(DIGITS.views.names, size)
        ]
        means.append(np.mean(scores))
    assert (np.diff(means) > -0.01).all()
    assert means[-1] >= 0.97


def test_rows_of_another_digit_stand_out_in_their_view():
    generator = np.random.default_rng(0)
    moved = generator.choice(2000, 200, replace=False)
    source = generator.permutation(moved)
    views = dict(DIGITS.views.items())
    views["fac"] = views["fac"].copy()
    views["fac"][moved] = DIGITS.views["fac"][source]
    wrong = moved[DIGITS.target[moved] != DIGITS.target[source]]
    est = MultiViewDiffusionMaps(20, random_state=0).fit(views)
    found = est.disagreement()[:, est.view_names_.index("fac")]
    assert (found[wrong] >= np.quantile(found, 0.9)).mean() >= 0.9
