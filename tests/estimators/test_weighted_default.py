"""The default, a walk with view weights and a joint view: what a caller may rely on."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests.estimators.test_incomplete import linked, mask, rings, with_gaps
from viewhop import MultiViewDiffusionMaps, MultiViewSpectralClustering, Views
from viewhop.errors import DisconnectedWarning
from viewhop.kernels import Correlation, Gaussian

TOLERANCE = {np.float64: 1e-8, np.float32: 1e-4}


def adaptive(**more):
    """The default kernel with some parameters of its own."""
    settings = {"n_neighbors": 10, "alpha": 1.0, "scale_neighbors": 10, "taper": 0.2}
    return Gaussian("local", **{"metric": "auto", **settings, **more})


def missing_a_view(share):
    return with_gaps(rings(80), mask(80, 3, share))


def duplicates():
    views = rings(80)
    again = np.random.default_rng(0).integers(0, 40, 80)
    return {name: X[again] for name, X in views.items()}


def in_single():
    return rings(80, dtype=np.float32)


GIVEN = {
    "complete": lambda: rings(80),
    "few gaps": lambda: missing_a_view(0.1),
    "many gaps": lambda: missing_a_view(0.5),
    "duplicates": duplicates,
    "float32": in_single,
    "float32 with gaps": lambda: with_gaps(in_single(), mask(80, 3, 0.2)),
}
METRICS = ["auto", "euclidean", "cosine", "centered-cosine", "correlation"]


def fitted(views, **how):
    est = MultiViewDiffusionMaps(3, random_state=0, **how)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedWarning)
        return est.fit(views)


def spread(est):
    return est.embedding_.std(axis=0).astype(np.float64)


# --- transform ---------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("make", GIVEN.values(), ids=GIVEN)
def test_transform_repeats_the_fit_and_one_by_one_the_batch(make, metric):
    views = make()
    est = fitted(views, kernel=adaptive(metric=metric))
    Z = est.embedding_
    assert Z.shape[1] == 3
    assert [*est.get_feature_names_out()] == ["consensus_1", "consensus_2", "consensus_3"]
    assert_array_equal(fitted(views, kernel=adaptive(metric=metric)).embedding_, Z)
    atol = TOLERANCE[Z.dtype.type] * np.abs(Z).max()
    found = est.transform(views)
    assert found.dtype == Z.dtype
    assert_allclose(found, Z, atol=atol, rtol=0)
    given = Views(views)
    alone = np.vstack([est.transform(given[[i]]) for i in range(len(given))])
    assert_allclose(alone, found, atol=atol, rtol=0)


@pytest.mark.parametrize("metric", METRICS)
def test_samples_with_one_row_per_view_are_placed_where_the_fit_put_them(metric):
    # The views are linked: some samples have several rows in b, some have none.
    one, many, ids = linked()
    views = Views.link({"a": one, "b": many}, ids={"a": np.arange(60), "b": ids})
    est = fitted(views, kernel=adaptive(metric=metric))
    assert est.embedding_.shape == (60, 3)
    count = np.bincount(ids, minlength=60)
    single = np.flatnonzero(count == 1)
    rows = {"a": one[single], "b": many[np.searchsorted(ids, single)]}
    found = est.transform(rows)
    assert_allclose(found, est.embedding_[single], atol=1e-8)
    alone = [est.transform({k: X[i : i + 1] for k, X in rows.items()}) for i in range(single.size)]
    assert_allclose(np.vstack(alone), found, atol=1e-10)
    found = est.transform({"a": one[count == 0]})
    assert_allclose(found, est.embedding_[count == 0], atol=1e-8)
    with pytest.raises(ValueError, match="several rows for one new sample; pass one row"):
        est.transform(views)


@pytest.mark.parametrize("make", [GIVEN["complete"], GIVEN["few gaps"]], ids=["complete", "gaps"])
def test_batches_that_miss_a_whole_view_are_placed_row_by_row_alike(make):
    views = make()
    est = fitted(views)
    for names in ("a", "b", "ab", "bc"):
        seen = np.isfinite(np.stack([views[name][:, 0] for name in names])).any(axis=0)
        given = {name: views[name][seen] for name in names}
        batch = est.transform(given)
        assert batch.shape == (seen.sum(), 3)
        assert np.isfinite(batch).all()
        alone = [
            est.transform({k: X[[i]] for k, X in given.items() if np.isfinite(X[i, 0])})
            for i in range(seen.sum())
        ]
        assert_allclose(np.vstack(alone), batch, atol=1e-10)
        # Beside complete samples, those that lack a view are placed as without it.
        both = {name: np.vstack([X, rings(80)[name]]) for name, X in given.items()}
        for name in {*"abc"} - {*names}:
            both[name] = np.vstack([np.full((seen.sum(), 3), np.nan), rings(80)[name]])
        assert_allclose(est.transform(both)[: seen.sum()], batch, atol=1e-10)


# --- weights -----------------------------------------------------------------------------------


def test_hops_auto_is_the_default():
    views = rings(80)
    default = fitted(views)
    spelt = fitted(views, hops="auto")
    assert_array_equal(spelt.embedding_, default.embedding_)
    assert spelt.view_weights_ == default.view_weights_
    for fusion in ("sum", "product"):  # nothing to choose, so nothing to refuse
        MultiViewDiffusionMaps(2, kernel="gaussian", fusion=fusion, hops="auto").fit(views)


@pytest.mark.parametrize("estimator", [MultiViewDiffusionMaps, MultiViewSpectralClustering])
@pytest.mark.parametrize(
    "given",
    [
        {"within_view_weight": 0.0, "hops": np.ones((3, 3))},
        {"within_view_weight": 0.0, "view_weights": [1, 1, 1]},
        {"hops": np.ones((3, 3)), "view_weights": [1, 1, 1]},
    ],
    ids="-".join,
)
def test_at_most_one_of_the_ways_to_weigh_views_is_taken(estimator, given):
    with pytest.raises(ValueError, match=r"pass \w+ or \w+, not both") as caught:
        estimator(2, **given).fit(rings(40))
    assert all(name in str(caught.value) for name in given)


def test_weights_are_given_by_place_or_by_name():
    views = rings(80)
    listed = fitted(views, view_weights=[1.0, 2.0, 0.5])
    assert listed.view_weights_ == {"a": 0.5, "b": 1.0, "c": 0.25}
    for weights in (
        {"c": 0.5, "a": 1, "b": 2.0},
        np.array([1.0, 2.0, 0.5]),
        (2, np.float32(4), 1),  # only their ratios matter
    ):
        found = fitted(views, view_weights=weights)
        assert_allclose(found.embedding_, listed.embedding_, atol=1e-10)
        assert found.view_weights_ == listed.view_weights_
    assert np.abs(fitted(views).embedding_ - listed.embedding_).max() > 1e-3


def test_weights_by_hand_are_those_that_the_fit_chose():
    views = rings(80)
    views["c"] = np.random.default_rng(0).standard_normal((80, 3))
    chosen = fitted(views)
    assert max(chosen.view_weights_.values()) == 1.0
    assert chosen.view_weights_["c"] < min(chosen.view_weights_[name] for name in "ab")
    again = fitted(views, view_weights=chosen.view_weights_)
    assert_allclose(again.embedding_, chosen.embedding_, atol=1e-10)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"a": 1, "b": 1}, "missing: c; unknown: none"),
        ({"a": 1, "b": 1, "c": 1, "d": 1}, "missing: none; unknown: d"),
        ({"a": 1, "b": 1, "x": 1}, "missing: c; unknown: x"),
        ([1.0, 2.0], "view_weights has 2 entries for 3 views"),
        ([1.0, 2.0, 0.0], "view_weights of view 'c' must be a positive number"),
        ([1.0, -2.0, 1.0], "view_weights of view 'b' must be a positive number"),
        ([np.nan, 2.0, 1.0], "view_weights of view 'a' must be a positive number"),
        ({"a": 1, "b": np.inf, "c": 1}, "view_weights of view 'b' must be a positive number"),
        ({"a": 1, "b": "2", "c": 1}, "view_weights of view 'b' must be a positive number"),
        ({"a": 1, "b": True, "c": 1}, "view_weights of view 'b' must be a positive number"),
    ],
)
def test_weights_that_are_none_are_refused_by_name(weights, message):
    with pytest.raises(ValueError, match=message):
        MultiViewDiffusionMaps(2, view_weights=weights).fit(rings(40))


# --- the joint view ----------------------------------------------------------------------------


def test_a_joint_view_is_there_by_default_and_can_be_left_out():
    views = rings(80)
    default = fitted(views)
    assert default.walk_.joint is not None
    assert_array_equal(fitted(views, joint_view=True).embedding_, default.embedding_)
    without = fitted(views, joint_view=False)
    assert without.walk_.joint is None
    assert without.embedding_.shape == default.embedding_.shape
    for est in (default, without):  # it is no view of the caller
        assert [*est.view_embeddings_] == [*est.metrics_] == [*est.view_weights_] == [*"abc"]
        assert [*est.degrees_] == [*est.bandwidths_] == [*est.recall_] == [*"abc"]
        assert est.observed_.shape == est.disagreement().shape == (80, 3)
        assert est.view_similarity().shape == (3, 3)
        assert est.n_views_ == 3


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"kernel": "gaussian"}, "the same Gaussian kernel on neighbours with local scales"),
        ({"kernel": Correlation("local", n_neighbors=5)}, "the same Gaussian kernel"),
        ({"kernel": ["adaptive", "adaptive", "gaussian"]}, "the same Gaussian kernel"),
        ({"kernel": [adaptive(), adaptive(), adaptive(taper=0.5)]}, "the same Gaussian kernel"),
    ],
)
def test_a_joint_view_of_other_kernels_is_refused(how, message):
    with pytest.raises(ValueError, match=rf"joint_view=True needs .*{message}.*joint_view=False"):
        MultiViewDiffusionMaps(2, joint_view=True, **how).fit(rings(40))
    assert MultiViewDiffusionMaps(2, random_state=0, **how).fit(rings(40)).walk_.joint is None


def test_a_joint_view_needs_samples_that_every_view_observed():
    views, seen = rings(60), np.ones((60, 3), dtype=bool)
    seen[:30, 0] = seen[30:, 1] = False
    message = "joint_view=True needs samples that every view observed; pass joint_view=False"
    with pytest.raises(ValueError, match=message):
        fitted(with_gaps(views, seen), joint_view=True)
    assert fitted(with_gaps(views, seen)).walk_.joint is None
    seen[25:35] = True  # some are enough if asked, but only most by default
    assert fitted(with_gaps(views, seen), joint_view=True).walk_.joint is not None
    assert fitted(with_gaps(views, seen)).walk_.joint is None


def test_a_view_may_be_named_joint():
    views = rings(80)
    plain = fitted(views)
    named = fitted({"joint": views["a"], "b": views["b"], "joint view": views["c"]})
    assert_array_equal(named.embedding_, plain.embedding_)
    assert named.view_names_ == ("joint", "b", "joint view")
    assert len({*named.walk_.names}) == 4
    assert_array_equal(named.view_embeddings_["joint"], plain.view_embeddings_["a"])
    found = named.transform({"joint": views["a"][:5]})
    assert_array_equal(found, plain.transform({"a": views["a"][:5]}))


# --- continuity --------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("make", [GIVEN["complete"], GIVEN["few gaps"]], ids=["complete", "gaps"])
def test_coordinates_are_continuous_in_the_sample(make, metric):
    views = make()
    est = fitted(views, kernel=adaptive(metric=metric))
    rng = np.random.default_rng(0)
    for name in views:
        # A step of 1e-9 of the local scale, which is one of distances between rows.
        X = views[name]
        near = np.sort(np.linalg.norm(X[:, None] - X, axis=2), axis=1)[:, 10]
        step = rng.standard_normal(X.shape)
        step *= 1e-9 * (near / np.linalg.norm(step, axis=1))[:, None]
        moved = est.transform({**views, name: X + step})
        assert (np.abs(moved - est.embedding_) < 1e-6 * spread(est)).all()


def normal_views():
    rng = np.random.default_rng(0)
    return rng.standard_normal((120, 3)), rng.standard_normal((120, 2))


@pytest.mark.parametrize(
    "kernel",
    [
        Gaussian("local", n_neighbors=10),
        Gaussian("local", n_neighbors=10, alpha=1.0, scale_neighbors=10),
        Gaussian(n_neighbors=10),
        adaptive(metric="euclidean"),
        adaptive(),
    ],
    ids=["local", "alpha", "one scale", "taper", "adaptive"],
)
@pytest.mark.parametrize("walk", [{}, {"within_view_weight": 0.0}], ids=["default", "paper"])
def test_rounding_of_a_training_row_does_not_take_its_neighbours_away(kernel, walk):
    A, B = normal_views()
    est = fitted([A, B], kernel=kernel, **walk)
    limit = 1e-6 * np.abs(est.embedding_).max()
    for factor in (1 + 1e-15, 1 - 1e-15):
        assert_allclose(est.transform([A * factor, B]), est.embedding_, atol=limit)


LOCAL = Gaussian("local", n_neighbors=10)
ALPHA = Gaussian("local", n_neighbors=10, alpha=1.0, scale_neighbors=10)


@pytest.mark.parametrize(
    ("kernel", "walk"),
    [
        (LOCAL, {}),
        (ALPHA, {}),
        (LOCAL, {"joint_view": False}),
        (ALPHA, {"joint_view": False}),
        (Gaussian(n_neighbors=10), {}),
        (LOCAL, {"within_view_weight": 0.0}),
        (ALPHA, {"within_view_weight": 0.0}),
        (Gaussian(n_neighbors=10), {"within_view_weight": 0.0}),
    ],
)
def test_copies_in_single_precision_keep_their_neighbours(kernel, walk):
    A, B = normal_views()
    est = fitted([A, B], kernel=kernel, **walk)
    found = est.transform([A.astype(np.float32), B.astype(np.float32)])
    assert_allclose(found, est.embedding_, atol=1e-6 * np.abs(est.embedding_).max())


@pytest.mark.parametrize(
    "kernel",
    [
        LOCAL,
        ALPHA,
        adaptive(metric="euclidean"),
        adaptive(),
    ],
)
def test_the_precision_that_rows_come_in_does_not_move_them(kernel):
    # The numbers are the same, so the coordinates must be, whatever the type that holds them.
    copies = [X.astype(np.float32) for X in normal_views()]
    est = fitted([X.astype(np.float64) for X in copies], kernel=kernel)
    limit = 1e-6 * np.abs(est.embedding_).max()
    assert_allclose(est.transform(copies), est.embedding_, atol=limit)


@pytest.mark.parametrize("walk", [{}, {"within_view_weight": 0.0}], ids=["default", "paper"])
@pytest.mark.parametrize(
    "kernel",
    [Gaussian(standardize=True), adaptive(metric="euclidean", standardize=True)],
    ids=["dense", "adaptive"],
)
def test_a_column_that_is_constant_but_for_rounding_has_no_say(kernel, walk):
    A, B = normal_views()
    C = np.abs(A) / np.abs(A).sum(axis=1, keepdims=True)
    more = np.column_stack([C, C.sum(axis=1)])
    assert 0 < np.ptp(more[:, -1]) < 1e-15  # 1, up to rounding
    plain = fitted([C, B], kernel=kernel, **walk)
    found = fitted([more, B], kernel=kernel, **walk)
    assert_allclose(found.embedding_, plain.embedding_, atol=1e-6 * np.abs(plain.embedding_).max())
