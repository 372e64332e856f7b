"""Where views disagree, how alike they are, what one changes: each against brute force."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests.estimators.test_incomplete import KERNELS, fitted, linked, mask, rings, with_gaps
from viewhop import DiffusionMaps, MultiViewDiffusionMaps, Views, geometry
from viewhop.errors import DisconnectedWarning, GapWarning
from viewhop.kernels import Gaussian


def scaled(est):
    """Coordinates of each view, centred, of root mean square 1 over what it saw, times λ^t."""
    out = []
    for Z in est.view_embeddings_.values():
        Z = Z / est.eigenvalues_**est.n_steps_
        Z = Z - np.nanmean(Z, axis=0)
        out.append(Z / np.sqrt(np.nanmean(Z**2, axis=0)) * est.eigenvalues_**est.n_steps_)
    return out


@pytest.mark.parametrize("missing", [0.0, 0.4])
@pytest.mark.parametrize("n_steps", [1, 3])
def test_disagreement_is_the_distance_from_the_mean_of_the_others(missing, n_steps):
    views, seen = rings(60), mask(60, 3, missing)
    est = fitted(views, seen, KERNELS["local"], n_steps=n_steps)
    Z = scaled(est)
    expected = np.full((60, 3), np.nan)
    for i in range(60):
        for l in range(3):
            others = [Z[m][i] for m in range(3) if m != l and seen[i, m]]
            if seen[i, l] and others:
                expected[i, l] = np.linalg.norm(Z[l][i] - np.mean(others, axis=0))
    expected /= np.nanmedian(expected, axis=0)
    assert_allclose(est.disagreement(), expected, atol=1e-9)


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_similarity_is_one_less_the_share_of_the_cross_view_distance(missing):
    views, seen = rings(60), mask(60, 3, missing)
    est = fitted(views, seen, KERNELS["dense"])
    Z = scaled(est)
    expected = np.ones((3, 3))
    for l in range(3):
        for m in range(3):
            apart = size = 0.0
            for i in np.flatnonzero(seen[:, l] & seen[:, m]):
                apart += ((Z[l][i] - Z[m][i]) ** 2).sum()
                size += (Z[l][i] ** 2).sum() + (Z[m][i] ** 2).sum()
            expected[l, m] = 1 - apart / size
    found = est.view_similarity()
    assert_allclose(found, expected, atol=1e-9)
    assert_allclose(np.diagonal(found), 1.0, atol=1e-15)


def test_views_that_share_no_sample_have_no_similarity():
    views = rings(60)
    seen = np.ones((60, 3), dtype=bool)
    seen[:30, 2] = seen[30:, 1] = False
    found = fitted(views, seen, Gaussian(0.5)).view_similarity()
    assert_array_equal(np.isnan(found), [[0, 0, 0], [0, 0, 1], [0, 1, 0]])


def walk_of(views, weights):
    """Which walk it is: that with given weights, or the paper's."""
    if weights is None:
        return {"within_view_weight": 0.0}
    return {"view_weights": {name: weights[name] for name in views}}


def means(views, seen, r, weights):
    """The centred means over views of a walk that is fitted on its own."""
    est = fitted(views, seen, KERNELS["dense"], r=r, **walk_of(views, weights))
    return np.nanmean([Z / est.eigenvalues_ for Z in scaled(est)], axis=0)


@pytest.mark.parametrize("n_views", [2, 3])
@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("weights", [None, {"a": 1.0, "b": 2.0, "c": 0.5}], ids=["paper", "given"])
def test_influence_is_the_distance_between_two_fits(n_views, missing, weights):
    # Without a view, the samples that only it saw are not there: the others all have two views.
    views, seen = rings(50, n_views, seed=3), mask(50, n_views, missing)
    seen[seen.sum(axis=1) < 2] = True
    est = fitted(views, seen, KERNELS["dense"], r=2, **walk_of(views, weights))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GapWarning)
        found = est.view_influence()
    assert [*found] == [*views]
    whole = means(views, seen, 2, weights)
    for l, name in enumerate(views):
        rest = {other: X for other, X in views.items() if other != name}
        column = np.delete(seen, l, axis=1)
        kept = column.any(axis=1)
        if n_views == 2:
            X = next(iter(rest.values()))[kept]
            alone = MultiViewDiffusionMaps(2, kernel=KERNELS["dense"]).fit([X])
            Z = alone.view_embeddings_["view1"]
            mean = (Z - Z.mean(axis=0)) / Z.std(axis=0)
        else:
            mean = means({n: X[kept] for n, X in rest.items()}, column[kept], 2, weights)
        projectors = []
        for Z in (whole[kept], mean):
            Q = np.linalg.qr(Z - Z.mean(axis=0))[0]
            projectors.append(Q @ Q.T)
        expected = np.linalg.norm(projectors[0] - projectors[1]) / np.sqrt(4)
        assert_allclose(found[name], expected, atol=1e-6)
        assert 0 <= found[name] <= 1


def test_influence_computes_no_kernel(monkeypatch):
    from viewhop import affinity

    est = fitted(rings(60), mask(60, 3, 0.2), KERNELS["local"])
    monkeypatch.setattr(affinity, "build_affinity", None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GapWarning)
        assert est.view_influence().keys() == {"a", "b", "c"}


def test_a_view_that_tells_another_story_has_the_most_influence():
    views = rings(120)
    views["c"] = np.random.default_rng(1).standard_normal((120, 3))
    est = MultiViewDiffusionMaps(2, random_state=0).fit(views)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GapWarning)
        influence = est.view_influence()
    assert max(influence, key=influence.get) == "c"
    similarity = est.view_similarity()
    assert similarity[0, 1] > similarity[0, 2]


def test_eigenvalues_that_are_close_are_told():
    # A circle: eigenvalues come in pairs, and one coordinate cuts the first pair.
    angle = np.linspace(0, 2 * np.pi, 80, endpoint=False)
    X = np.c_[np.cos(angle), np.sin(angle)]
    est = MultiViewDiffusionMaps(1, kernel=Gaussian(0.5)).fit([X, 2 * X, X])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        est.view_influence()
    assert str(told[0].message).startswith("eigenvalues 1 and 2 of the walk are close")
    assert len(told) == 4
    assert all(abs(warning.message.gap) < 1e-8 for warning in told)
    whole = MultiViewDiffusionMaps(2, kernel=Gaussian(0.5)).fit([X, 2 * X, X])
    assert_allclose([*whole.view_influence().values()], 0, atol=1e-6)


def test_rows_of_a_linked_view_count_as_their_mean():
    one, many, ids = linked()
    views = Views.link({"a": one, "b": many}, ids={"a": np.arange(60), "b": ids})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedWarning)
        est = MultiViewDiffusionMaps(2, kernel=KERNELS["dense"], random_state=0).fit(views)
    found = est.disagreement()
    assert found.shape == (60, 2)
    assert_array_equal(np.isfinite(found).all(axis=1), np.isin(np.arange(60), ids))


@pytest.mark.parametrize("what", ["disagreement", "view_similarity", "view_influence"])
def test_one_geometry_has_nothing_to_compare(what):
    views = rings(40)
    message = 'fusion="hop" and at least two views'
    for est in (
        MultiViewDiffusionMaps(2, kernel="gaussian", fusion="sum").fit(views),
        MultiViewDiffusionMaps(2, kernel="gaussian").fit([views["a"]]),
        DiffusionMaps(2, kernel="gaussian").fit(views["a"]),
    ):
        with pytest.raises(ValueError, match=message):
            getattr(geometry, what)(est)


def test_a_view_that_nobody_could_leave_is_named():
    hops = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    est = MultiViewDiffusionMaps(2, kernel="gaussian", hops=hops).fit(rings(40))
    with pytest.raises(ValueError, match="without view 'b' the walker could not leave view 'a'"):
        est.view_influence()


def test_views_that_agree_wholly_disagree_nowhere():
    X = rings(40)["a"]
    est = MultiViewDiffusionMaps(2, kernel="gaussian").fit([X, X])
    assert_allclose(est.disagreement(), 0, atol=1e-6)
    assert_allclose(est.view_similarity(), 1, atol=1e-9)


def test_gaps_do_not_change_who_is_compared():
    views, seen = rings(60), mask(60, 3, 0.4)
    est = MultiViewDiffusionMaps(2, random_state=0).fit(with_gaps(views, seen))
    alone = seen.sum(axis=1) == 1
    found = est.disagreement()
    assert np.isnan(found[alone]).all()
    assert_array_equal(np.isfinite(found[~alone]), seen[~alone])
