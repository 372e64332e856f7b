"""Clustering: the groups that were put in come out, and the same sample always gets the same."""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone, is_clusterer
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.model_selection import GridSearchCV
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from viewhop import MultiViewDiffusionMaps, Views
from viewhop.datasets import load_mfeat, make_circles
from viewhop.errors import DisconnectedWarning
from viewhop.estimators import MultiViewSpectralClustering, eigengap
from viewhop.estimators import _clustering as clustering
from viewhop.estimators import _clusters as clusters
from viewhop.kernels import Gaussian, Precomputed
from viewhop.solvers import UpToRank

# Separated clusters on neighbour kernels are pieces of the walk, which says so.
pieces_expected = pytest.mark.filterwarnings("ignore::viewhop.errors.DisconnectedWarning")

ESTIMATORS = {
    "one view": MultiViewSpectralClustering(),
    "one view, dense": MultiViewSpectralClustering(kernel="gaussian"),
    "two views": MultiViewSpectralClustering(views=2),
    "two views, dense": MultiViewSpectralClustering(views=2, kernel="gaussian"),
    "two views, three clusters": MultiViewSpectralClustering(3, views=2),
    "two views, unit length": MultiViewSpectralClustering(views=2, normalize=True),
    "two views, mean": MultiViewSpectralClustering(views=2, output="mean"),
    "sum": MultiViewSpectralClustering(views=2, fusion="sum"),
    "integrated": MultiViewSpectralClustering(views=2, fusion="integrated"),
    "composite": MultiViewSpectralClustering(views=2, fusion="composite"),
    "coordinates given": MultiViewSpectralClustering(2, views=2, n_components=2),
}

UNYIELDED = ("check_param_validation", "check_inplace_ensure_writeable")


@pieces_expected
@parametrize_with_checks([*ESTIMATORS.values()])
def test_every_common_check_passes(estimator, check):
    check(estimator)


@pieces_expected
@pytest.mark.parametrize("check", UNYIELDED)
@pytest.mark.parametrize("estimator", ESTIMATORS.values(), ids=ESTIMATORS)
def test_every_check_that_is_not_yielded_passes(estimator, check):
    getattr(estimator_checks, check)(type(estimator).__name__, clone(estimator))


def blobs(n_blobs, n_each=30, *, apart=6.0, seed=0):
    """Three views of tight groups on the corners of a simplex, in shuffled order."""
    rng = np.random.default_rng(seed)
    target = rng.permutation(np.repeat(np.arange(n_blobs), n_each))
    views = {}
    for name, width in (("a", 6), ("b", 8), ("c", 7)):
        corners = apart * np.linalg.qr(rng.standard_normal((width, width)))[0][:n_blobs]
        views[name] = corners[target] + rng.standard_normal((target.size, width)) + 4.0
    return views, target


@pytest.fixture(scope="module")
def circles():
    return make_circles(300, noise=0.03, random_state=0)


@pieces_expected
@pytest.mark.parametrize("kernel", ["adaptive", "gaussian"])
@pytest.mark.parametrize("fusion", ["hop", "sum", "product", "concat"])
def test_two_blobs_are_told_apart(fusion, kernel):
    views, target = blobs(2, apart=12.0)
    model = MultiViewSpectralClustering(2, fusion=fusion, kernel=kernel, random_state=0)
    assert adjusted_rand_score(target, model.fit_predict(views)) == 1.0
    assert sorted(set(model.labels_)) == [0, 1]


@pytest.mark.parametrize("kernel", ["adaptive", "gaussian"])
def test_coupled_circles_are_told_apart(circles, kernel):
    model = MultiViewSpectralClustering(2, kernel=kernel, random_state=0)
    assert adjusted_rand_score(circles.target, model.fit_predict(circles.views)) == 1.0
    assert model.n_components_ == 1


@pieces_expected
@pytest.mark.parametrize("kernel", ["adaptive", Gaussian(n_neighbors=25), Gaussian(factor=0.5)])
@pytest.mark.parametrize("n_blobs", [2, 3, 5])
def test_the_eigengap_finds_the_number_of_separated_blobs(n_blobs, kernel):
    views, target = blobs(n_blobs, apart=9.0)
    model = MultiViewSpectralClustering(kernel=kernel, random_state=0).fit(views)
    assert model.n_clusters_ == n_blobs
    assert model.n_components_ == n_blobs - 1
    assert model.embedder_.n_components_ == 20
    assert adjusted_rand_score(target, model.labels_) == 1.0


def test_pieces_of_a_walk_are_counted_and_announced():
    views, target = blobs(4, apart=60.0)
    with pytest.warns(DisconnectedWarning, match="falls into 4 pieces"):
        model = MultiViewSpectralClustering(random_state=0).fit(views)
    assert model.n_clusters_ == 4
    assert_allclose(model.embedder_.eigenvalues_[:3], 1.0, atol=1e-12)
    assert adjusted_rand_score(target, model.labels_) == 1.0


@pytest.mark.parametrize(
    ("eigenvalues", "expected"),
    [
        ([0.99, 0.3], 2),
        ([0.99, 0.98, 0.3, 0.2], 3),
        ([1.0, 1.0, 0.9, 0.1], 4),
        ([1.0, 1.0, 1.0, 0.4, 0.39], 4),
        ([0.5, 0.4, 0.1, 0.0], 3),
        ([0.75, 0.5, 0.25, 0.0], 2),  # equal gaps: the first
        ([0.2], 2),
    ],
)
def test_eigengap_counts_the_trivial_eigenvalue(eigenvalues, expected):
    assert eigengap(eigenvalues) == expected


@pytest.mark.parametrize(
    ("eigenvalues", "message"),
    [
        ([], "a non-empty 1-D array"),
        ([[0.5, 0.4]], "a non-empty 1-D array"),
        ([0.4, 0.5], "largest first"),
        ([0.5, np.nan], "finite"),
    ],
)
def test_eigengap_refuses_what_is_no_spectrum(eigenvalues, message):
    with pytest.raises(ValueError, match=message):
        eigengap(eigenvalues)


def test_max_clusters_bounds_the_search():
    views, _ = blobs(5, apart=9.0)
    model = MultiViewSpectralClustering(max_clusters=3, kernel="gaussian", random_state=0)
    assert model.fit(views).n_clusters_ <= 3
    assert model.embedder_.n_components_ == 3
    model.set_params(n_components=8).fit(views)
    assert model.n_clusters_ <= 3
    assert model.embedder_.n_components_ == 8


def test_a_walk_in_more_pieces_than_clusters_may_be_is_refused():
    views, _ = blobs(4, apart=60.0)
    model = MultiViewSpectralClustering(max_clusters=3)
    with (
        pytest.warns(DisconnectedWarning),
        pytest.raises(ValueError, match=r"falls into 4 pieces, more than max_clusters=3.*raise"),
    ):
        model.fit(views)
    assert not hasattr(model, "labels_")


def test_a_walk_with_few_positive_eigenvalues_is_clustered_by_those():
    # A kernel of rank 3: one positive eigenvalue per block beside the trivial one.
    block = np.repeat(np.arange(3), 8)
    K = np.where(block[:, None] == block, 1.0, 0.2)
    for n_clusters in ("auto", 3, 6):
        model = MultiViewSpectralClustering(n_clusters, kernel=Precomputed(), n_init=3)
        if n_clusters == 6:  # only three rows are distinct
            with pytest.warns(UserWarning, match="distinct clusters"):
                model.fit([K, K])
        else:
            model.fit([K, K])
            assert adjusted_rand_score(block, model.labels_) == 1.0
        assert model.n_components_ == model.embedder_.n_components_ == 2


@pieces_expected
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("params", [{}, {"normalize": True}, {"output": "mean"}, {"fusion": "sum"}])
@pytest.mark.parametrize("kernel", ["adaptive", "gaussian"])
def test_predict_of_the_training_samples_gives_their_labels(kernel, params, dtype):
    rng = np.random.default_rng(3)
    views = [rng.standard_normal((120, 3)).astype(dtype), rng.uniform(size=(120, 2)).astype(dtype)]
    for n_clusters in (2, 7, "auto"):
        model = MultiViewSpectralClustering(n_clusters, kernel=kernel, random_state=0, **params)
        model.fit(views)
        assert_array_equal(model.predict(views), model.labels_)
        some = [view[40:45] for view in views]
        assert_array_equal(model.predict(some), model.labels_[40:45])


@pytest.mark.parametrize(("dtype", "shift"), [(np.float64, 1e-8), (np.float32, 1e-4)])
def test_a_sample_between_two_centres_goes_to_the_first_whatever_the_rounding(dtype, shift):
    centers = np.array([[5.0, 5.0], [-1.0, 0.0], [1.0, 0.0]])
    between = np.array([[-shift, 0.0], [0.0, 0.0], [shift, 0.0]])
    assert_array_equal(clusters._nearest_centers(between, centers, np.dtype(dtype)), 1)
    beside = np.array([[-0.01, 0.0], [0.01, 0.0], [4.0, 4.0], [1.0, 0.0]])
    assert_array_equal(clusters._nearest_centers(beside, centers, np.dtype(dtype)), [1, 2, 0, 2])


def test_new_samples_from_any_subset_of_views_join_their_cluster():
    views, target = blobs(3, n_each=40, apart=9.0)
    train = {name: X[:80] for name, X in views.items()}
    model = MultiViewSpectralClustering(3, kernel="gaussian", random_state=0).fit(train)
    for names in ("abc", "ab", "c"):
        labels = model.predict({name: views[name][80:] for name in names})
        joined = np.concatenate([model.labels_, labels])
        assert adjusted_rand_score(target, joined) == 1.0
    labels = model.predict([None, views["b"][80:], None])
    assert adjusted_rand_score(target[80:], labels) == 1.0


@pytest.mark.parametrize("n_clusters", ["auto", 4])
def test_order_of_samples_does_not_change_the_clusters(n_clusters):
    views, _ = blobs(4, apart=5.0)
    order = np.random.default_rng(1).permutation(120)
    model = MultiViewSpectralClustering(n_clusters, kernel="gaussian", random_state=0)
    labels = clone(model).fit_predict(views)
    shuffled = clone(model).fit_predict({name: X[order] for name, X in views.items()})
    assert adjusted_rand_score(labels[order], shuffled) == 1.0


def test_clusters_are_those_of_k_means_on_the_embedding():
    rng = np.random.default_rng(0)
    views = [rng.uniform(size=(90, 2)), rng.uniform(size=(90, 3))]
    model = MultiViewSpectralClustering(8, random_state=7).fit(views)
    Z = MultiViewDiffusionMaps(7, random_state=7).fit_transform(views)
    kmeans = KMeans(8, n_init=10, random_state=7).fit(Z)
    assert_array_equal(model.labels_, kmeans.labels_)
    assert_allclose(model.cluster_centers_, kmeans.cluster_centers_, atol=1e-9)
    assert_allclose(model.embedder_.embedding_, Z, atol=1e-12)


@pytest.mark.parametrize(("output", "n_blocks"), [("concat", 3), ("auto", 1), ("mean", 1)])
def test_automatic_clusters_see_the_coordinates_of_their_number(output, n_blocks):
    views, _ = blobs(3, apart=9.0)
    how = {"kernel": "gaussian", "output": output, "random_state": 0}
    auto = MultiViewSpectralClustering(**how).fit(views)
    fixed = MultiViewSpectralClustering(3, **how).fit(views)
    assert auto.cluster_centers_.shape == fixed.cluster_centers_.shape == (3, n_blocks * 2)
    assert adjusted_rand_score(auto.labels_, fixed.labels_) == 1.0
    Z = auto.embedder_.embedding_.reshape(90, n_blocks, 20)[:, :, :2].reshape(90, -1)
    means = [Z[auto.labels_ == k].mean(axis=0) for k in range(3)]
    assert_allclose(auto.cluster_centers_, means, atol=1e-9)


@pytest.mark.parametrize(("output", "n_columns"), [("concat", 15), ("auto", 5)])
def test_given_coordinates_are_used_instead(output, n_columns):
    views, _ = blobs(3)
    how = {"kernel": "gaussian", "output": output, "max_clusters": 4, "random_state": 0}
    for n_clusters in (3, "auto"):
        model = MultiViewSpectralClustering(n_clusters, n_components=5, **how).fit(views)
        assert model.n_components_ == 5
        assert model.cluster_centers_.shape == (model.n_clusters_, n_columns)


def test_unit_length_leaves_directions_only():
    views, _ = blobs(3, apart=3.0)
    model = MultiViewSpectralClustering(3, normalize=True, kernel="gaussian", random_state=0)
    model.fit(views)
    Z = model.embedder_.embedding_
    unit = Z / np.linalg.norm(Z, axis=1, keepdims=True)
    means = [unit[model.labels_ == k].mean(axis=0) for k in range(3)]
    assert_allclose(model.cluster_centers_, means, atol=1e-9)


def test_one_cluster_holds_everything():
    views, _ = blobs(2)
    model = MultiViewSpectralClustering(1, kernel="gaussian").fit(views)
    assert model.n_components_ == 1
    assert_array_equal(model.labels_, 0)


@pytest.mark.parametrize("make", [lambda: 3, lambda: np.random.default_rng(3)])
def test_a_seed_repeats_the_clusters(make):
    rng = np.random.default_rng(0)
    X = [rng.uniform(size=(90, 2)), rng.uniform(size=(90, 3))]

    def fitted(seed):
        return MultiViewSpectralClustering(8, n_init=1, random_state=seed).fit(X)

    assert_array_equal(fitted(make()).labels_, fitted(make()).labels_)
    assert_array_equal(fitted(make()).cluster_centers_, fitted(make()).cluster_centers_)
    old = np.random.RandomState
    assert_array_equal(fitted(old(3)).labels_, fitted(old(3)).labels_)


def test_clone_and_pickle_keep_the_clusters():
    views, _ = blobs(3, apart=4.0)
    model = MultiViewSpectralClustering(3, kernel=Gaussian(n_neighbors=30), random_state=0)
    model.fit(views)
    again = pickle.loads(pickle.dumps(model))  # noqa: S301 - its own bytes
    assert_array_equal(again.predict(views), model.labels_)
    assert_array_equal(clone(model).fit(views).labels_, model.labels_)
    assert is_clusterer(model)


def test_grid_search_on_views_finds_the_number_of_clusters():
    views, target = blobs(3, n_each=40, apart=6.0)
    search = GridSearchCV(
        MultiViewSpectralClustering(kernel=Gaussian(), random_state=0),
        {"n_clusters": [2, 3, 5], "kernel__factor": [0.5, 1.0]},
        scoring="adjusted_rand_score",
        cv=3,
        error_score="raise",
    ).fit(Views(views), target)
    assert search.best_params_["n_clusters"] == 3
    assert search.best_score_ > 0.95
    assert search.predict(Views(views)).shape == (120,)


def test_stacked_columns_and_frames_are_clustered_as_their_views():
    pandas = pytest.importorskip("pandas")
    views, _ = blobs(3)
    stacked = np.hstack([*views.values()])
    names = [f"{name}{k}" for name, X in views.items() for k in range(X.shape[1])]
    frame = pandas.DataFrame(stacked, columns=names)
    model = MultiViewSpectralClustering(3, kernel="gaussian", views=[6, 8, 7], random_state=0)
    labels = clone(model).fit_predict(stacked)
    fitted = clone(model).fit(frame)
    assert_array_equal(fitted.labels_, labels)
    assert_array_equal(fitted.feature_names_in_, names)
    assert_array_equal(fitted.predict(frame), labels)
    plain = clone(model).set_params(views=None).fit_predict(views)
    assert_array_equal(plain, labels)
    assert not hasattr(fitted.fit(stacked), "feature_names_in_")


def test_progress_tells_of_k_means_last():
    stages = []
    views, _ = blobs(2)
    MultiViewSpectralClustering(
        2, kernel="gaussian", verbose=lambda stage, done, total: stages.append((stage, done, total))
    ).fit(views)
    assert stages[-2:] == [("k-means", 0, 1), ("k-means", 1, 1)]
    assert ("kernel of a", 1, 1) in stages


def test_constructor_validates_nothing_and_fit_does():
    names = [*inspect.signature(MultiViewSpectralClustering).parameters]
    wrong = object()
    model = MultiViewSpectralClustering(**dict.fromkeys(names, wrong))
    assert all(getattr(model, name) is wrong for name in names)
    with pytest.raises(ValueError, match="parameter of MultiViewSpectralClustering"):
        model.fit(np.eye(5))


def test_every_parameter_of_the_embedding_but_accuracy_is_passed_on():
    ours = {*inspect.signature(MultiViewSpectralClustering).parameters}
    theirs = {*inspect.signature(MultiViewDiffusionMaps).parameters}
    assert theirs - ours == {"accuracy"}
    assert {*clustering.SHARED} == theirs & ours - {"n_components", "random_state"}


def test_more_clusters_than_samples_are_refused_before_the_solve(monkeypatch):
    views, _ = blobs(2, n_each=3)

    def solved(*args, **kwargs):
        raise AssertionError("it was solved")

    monkeypatch.setattr(UpToRank, "choose", solved)
    with pytest.raises(ValueError, match="n_clusters=7 is more than the 6 samples"):
        MultiViewSpectralClustering(7, kernel="gaussian").fit(views)
    with pytest.raises(AssertionError, match="it was solved"):
        MultiViewSpectralClustering(6, kernel="gaussian").fit(views)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_clusters": 0}, "'n_clusters' parameter of MultiViewSpectralClustering"),
        ({"n_clusters": 2.5}, "'n_clusters' parameter"),
        ({"n_clusters": "many"}, "'n_clusters' parameter"),
        ({"n_clusters": 7}, "n_clusters=7 is more than the 6 samples of views 'a', 'b', 'c'"),
        ({"n_components": 0}, "'n_components' parameter"),
        ({"n_components": 30}, "n_components=30 is more than the 5 coordinates"),
        ({"max_clusters": 1}, "'max_clusters' parameter"),
        ({"n_init": 0}, "'n_init' parameter"),
        ({"normalize": "yes"}, "'normalize' parameter"),
        ({"fusion": "mix"}, "'fusion' parameter"),
        ({"kernel": "cubic"}, "'kernel' parameter"),
        ({"solver": "magic"}, "'solver' parameter"),
        ({"kernel": {"d": "gaussian"}}, "view"),
        ({"hops": np.ones((2, 2))}, r"hops must be \(3, 3\)"),
        (
            {"fusion": "sum", "within_view_weight": 0.5},
            'within_view_weight only applies to .*"hop"',
        ),
        ({"fusion": "sum", "hops": np.ones((3, 3))}, 'hops only applies to fusion="hop"'),
        ({"fusion": "sum", "view_weights": [1, 1, 1]}, 'view_weights only applies to fusion="hop"'),
        ({"view_weights": [1, 1]}, "view_weights has 2 entries for 3 views"),
        ({"view_weights": [1, 1, 1], "within_view_weight": 0.0}, "not both"),
    ],
)
def test_bad_parameters_are_refused(params, message):
    views, _ = blobs(2, n_each=3)
    with pytest.raises(ValueError, match=message):
        MultiViewSpectralClustering(**{"kernel": "gaussian", **params}).fit(views)


def test_bad_views_are_named():
    views, _ = blobs(2)
    model = MultiViewSpectralClustering(2, kernel="gaussian")
    with pytest.raises(ValueError, match="view 'b' is constant"):
        model.fit({**views, "b": np.ones((60, 2))})
    partly = views["c"].copy()
    partly[3, 0] = np.nan
    with pytest.raises(ValueError, match="row 3 of view 'c'"):
        model.fit({**views, "c": partly})
    with pytest.raises(ValueError, match="at least 3 samples, but views 'a', 'b', 'c' have n_sam"):
        model.fit({name: X[:2] for name, X in views.items()})
    model.fit(views)
    with pytest.raises(ValueError, match="unknown view 'd'"):
        model.predict({"d": views["a"]})
    with pytest.raises(ValueError, match="view 'a' has 2 features, but it had 6"):
        model.predict({"a": views["a"][:, :2]})


def test_a_kernel_that_sees_no_difference_is_refused():
    K = np.ones((10, 10))
    with pytest.raises(ValueError, match="positive beyond rounding"):
        MultiViewSpectralClustering(2, kernel=Precomputed()).fit([K, K])


def test_a_failed_fit_leaves_the_last_one():
    views, _ = blobs(2)
    model = MultiViewSpectralClustering(2, kernel="gaussian", random_state=0).fit(views)
    labels = model.labels_
    with pytest.raises(ValueError, match="more than the 60 samples"):
        model.set_params(n_clusters=61).fit(views)
    assert model.labels_ is labels
    assert_array_equal(model.predict(views), labels)


def test_digits_are_clustered():
    digits = load_mfeat()
    model = MultiViewSpectralClustering(10, random_state=0).fit(digits.views)
    assert normalized_mutual_info_score(digits.target, model.labels_) > 0.88
    assert_array_equal(model.predict(digits.views), model.labels_)


@pytest.mark.filterwarnings("ignore::viewhop.errors.DisconnectedWarning")
def test_labels_are_those_of_the_fit_whatever_is_done_to_arrays_later():
    views, _ = blobs(3, n_each=20)
    model = MultiViewSpectralClustering(3, random_state=0)
    expected = model.fit(views).labels_.copy()
    model.fit(views)
    model.cluster_centers_[:] = model.cluster_centers_[::-1].copy()
    model.embedder_.embedding_[:] = 7.0
    model.embedder_.fit({name: X[:30] for name, X in views.items()})
    assert_array_equal(model.labels_, expected)
    assert model.geometry_.n_samples == 60
