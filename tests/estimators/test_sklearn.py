"""The estimators are citizens of scikit-learn."""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.fixes import parse_version

from viewhop import DiffusionMaps, MultiViewDiffusionMaps, Views
from viewhop.kernels import Correlation, Gaussian, Laplacian

# scikit-learn checks transformers on three tight clusters, where a walk on neighbours really does
# fall into pieces and says so. Every other warning stays an error.
pieces_expected = pytest.mark.filterwarnings("ignore::viewhop.errors.DisconnectedWarning")

#: All columns but the last, and the last: a value of NaN never makes a whole row of the first view.
GROUPS = {"first": slice(0, -1), "last": slice(-1, None)}
NEIGHBOURS = Gaussian(n_neighbors=5, alpha=1.0)

ESTIMATORS = {
    "diffusion maps": DiffusionMaps(),
    "diffusion maps, dense": DiffusionMaps(kernel="gaussian"),
    "one view": MultiViewDiffusionMaps(),
    "one view, dense": MultiViewDiffusionMaps(kernel="gaussian"),
    "two views": MultiViewDiffusionMaps(views=2),
    "two views, dense": MultiViewDiffusionMaps(views=2, kernel="gaussian"),
    "two views, neighbours of max-min": MultiViewDiffusionMaps(views=2, kernel=NEIGHBOURS),
    "two views, log-log": MultiViewDiffusionMaps(views=2, kernel=Gaussian("log-log")),
    "two views, standardized": MultiViewDiffusionMaps(views=2, kernel=Gaussian(standardize=True)),
    "two views, staying": MultiViewDiffusionMaps(views=2, within_view_weight=0.3),
    "two views, mean": MultiViewDiffusionMaps(views=2, output="mean"),
    "two views, auto": MultiViewDiffusionMaps("auto", views=2),
    "two views, half a step": MultiViewDiffusionMaps(views=2, n_steps=0.5),
    "groups by name": MultiViewDiffusionMaps(views=GROUPS),
    "groups by name, dense": MultiViewDiffusionMaps(views=GROUPS, kernel="gaussian"),
    "listed groups": MultiViewDiffusionMaps(views=[*GROUPS.values()], kernel="laplacian"),
    "a kernel per view": MultiViewDiffusionMaps(
        views=GROUPS, kernel={"first": NEIGHBOURS, "last": "gaussian"}
    ),
    "sum": MultiViewDiffusionMaps(views=2, fusion="sum"),
    "sum, dense": MultiViewDiffusionMaps(views=2, fusion="sum", kernel="gaussian"),
    "product": MultiViewDiffusionMaps(views=2, fusion="product"),
    "concat": MultiViewDiffusionMaps(views=2, fusion="concat"),
    "integrated": MultiViewDiffusionMaps(views=2, fusion="integrated"),
    "composite": MultiViewDiffusionMaps(views=2, fusion="composite"),
    "composite, dense": MultiViewDiffusionMaps(views=2, fusion="composite", kernel="gaussian"),
    "product, dense": MultiViewDiffusionMaps(views=2, fusion="product", kernel="gaussian"),
    "block Krylov": MultiViewDiffusionMaps(views=2, solver="krylov", kernel="gaussian"),
    "Lanczos": MultiViewDiffusionMaps(views=2, solver="lanczos"),
    "SVD": MultiViewDiffusionMaps(views=2, within_view_weight=0.0, solver="svd"),
    "paper": MultiViewDiffusionMaps.paper_settings(views=2),
    "two views, side by side": MultiViewDiffusionMaps(views=2, output="concat", joint_view=False),
    "view weights": MultiViewDiffusionMaps(views=2, view_weights=[1.0, 0.5]),
}

#: Checks that scikit-learn runs on its own estimators and does not yield to others.
UNYIELDED = (
    "check_set_output_transform",
    "check_set_output_transform_pandas",
    "check_global_output_transform_pandas",
    "check_set_output_transform_polars",
    "check_global_set_output_transform_polars",
    "check_transformer_get_feature_names_out",
    "check_transformer_get_feature_names_out_pandas",
    "check_get_feature_names_out_error",
    "check_dataframe_column_names_consistency",
    "check_param_validation",
    "check_inplace_ensure_writeable",
)


@pieces_expected
@parametrize_with_checks([*ESTIMATORS.values()])
def test_every_common_check_passes(estimator, check):
    check(estimator)


@pieces_expected
# Some of these checks fit a DataFrame and transform its array, or the other way round, on purpose.
@pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names:UserWarning")
@pytest.mark.parametrize("check", UNYIELDED)
@pytest.mark.parametrize("estimator", ESTIMATORS.values(), ids=ESTIMATORS)
def test_every_check_that_is_not_yielded_passes(estimator, check):
    getattr(estimator_checks, check)(type(estimator).__name__, clone(estimator))


@pytest.fixture
def data():
    """Two views of points on an open curve, and which half of it a point is on."""
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 1.8 * np.pi, 80)
    X1 = np.c_[np.cos(angle), np.sin(angle)]
    X2 = np.c_[angle, np.sin(2 * angle), np.cos(angle)]
    noise = rng.normal(scale=0.03, size=(80, 5))
    return X1 + noise[:, :2], X2 + noise[:, 2:], (angle > 0.9 * np.pi).astype(int)


def test_clone_gives_the_same_embedding(data):
    X1, X2, _ = data
    est = MultiViewDiffusionMaps(
        3, kernel=[Gaussian(n_neighbors=9), Correlation()], hops=np.array([[0.1, 1], [1, 0.2]])
    )
    first = clone(est).set_params(random_state=0).fit_transform([X1, X2])
    second = clone(clone(est)).set_params(random_state=0).fit_transform([X1, X2])
    assert_array_equal(first, second)


def test_fit_leaves_parameters_and_kernel_objects_alone(data):
    X1, X2, _ = data
    est = MultiViewDiffusionMaps(2, kernel=Gaussian(n_neighbors=9), random_state=0)
    before = repr(est.get_params())
    est.fit([X1, X2])
    assert repr(est.get_params()) == before


def test_a_parameter_of_the_kernel_is_a_parameter_of_the_estimator(data):
    X1, X2, _ = data
    est = MultiViewDiffusionMaps(kernel=Gaussian(n_neighbors=5), random_state=0)
    assert est.get_params()["kernel__n_neighbors"] == 5
    est.set_params(kernel__n_neighbors=9)
    direct = MultiViewDiffusionMaps(kernel=Gaussian(n_neighbors=9), random_state=0)
    assert_array_equal(est.fit_transform([X1, X2]), direct.fit_transform([X1, X2]))


def test_a_kernel_changed_after_fit_does_not_change_the_fit(data):
    X1, X2, _ = data
    kernel = Gaussian("local", n_neighbors=9)
    est = MultiViewDiffusionMaps(kernel=kernel, random_state=0).fit([X1, X2])
    before = est.transform([X1[:9], X2[:9]])
    kernel.set_params(factor=25.0, n_neighbors=3)
    assert_array_equal(est.transform([X1[:9], X2[:9]]), before)


@pytest.mark.parametrize("cls", [MultiViewDiffusionMaps, DiffusionMaps])
def test_constructor_validates_nothing_and_fit_does(cls):
    names = [*inspect.signature(cls).parameters]
    wrong = object()
    est = cls(**dict.fromkeys(names, wrong))
    assert all(getattr(est, name) is wrong for name in names)
    with pytest.raises(ValueError, match="parameter of"):
        est.fit(np.eye(5))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", ["adaptive", "gaussian"])
def test_precision_of_the_input_is_that_of_the_output(data, dtype, kernel):
    X1, X2, _ = data
    exact = MultiViewDiffusionMaps(2, kernel=kernel, random_state=0).fit([X1, X2])
    views = [X1.astype(dtype), X2.astype(dtype)]
    est = MultiViewDiffusionMaps(2, kernel=kernel, random_state=0).fit(views)
    assert est.embedding_.dtype == est.transform(views).dtype == dtype
    assert all(block.dtype == dtype for block in est.view_embeddings_.values())
    assert_allclose(est.embedding_, exact.embedding_, atol=1e-3)


def test_pipeline_cuts_the_columns_of_a_scaled_array_into_views(data):
    X1, X2, _ = data
    stacked = np.hstack([X1, X2])
    pipe = make_pipeline(
        StandardScaler(),
        MultiViewDiffusionMaps(2, views={"a": [0, 1], "b": slice(2, 5)}, random_state=0),
        KMeans(2, n_init=3, random_state=0),
    ).fit(stacked)
    assert [*pipe[:-1].get_feature_names_out()] == ["consensus_1", "consensus_2"]
    scaled = StandardScaler().fit_transform(stacked)
    direct = MultiViewDiffusionMaps(2, random_state=0).fit({"a": scaled[:, :2], "b": scaled[:, 2:]})
    assert_array_equal(pipe[1].embedding_, direct.embedding_)


@pytest.mark.parametrize("kind", ["stacked", "views"])
def test_grid_search_over_the_kernel_works(data, kind):
    X1, X2, half = data
    X = np.hstack([X1, X2]) if kind == "stacked" else Views({"a": X1, "b": X2})
    groups = [2, 3] if kind == "stacked" else None
    pipe = make_pipeline(
        MultiViewDiffusionMaps(3, views=groups, kernel=Gaussian("local", n_neighbors=9)),
        KNeighborsClassifier(3),
    )
    search = GridSearchCV(
        pipe,
        {
            "multiviewdiffusionmaps__kernel__n_neighbors": [10, 20],
            "multiviewdiffusionmaps__n_steps": [1, 2],
            "multiviewdiffusionmaps__random_state": [0],
        },
        cv=3,
        error_score="raise",
    ).fit(X, half)
    assert search.best_score_ > 0.9
    assert search.predict(X[:5]).shape == (5,)


def test_a_stacked_array_and_its_views_score_the_same(data):
    X1, X2, half = data
    classify = KNeighborsClassifier(3)
    stacked = cross_val_score(
        make_pipeline(MultiViewDiffusionMaps(3, views=[2, 3], random_state=0), classify),
        np.hstack([X1, X2]),
        half,
        cv=4,
    )
    views = cross_val_score(
        make_pipeline(MultiViewDiffusionMaps(3, random_state=0), classify),
        Views([X1, X2]),
        half,
        cv=4,
    )
    assert_array_equal(stacked, views)
    assert stacked.mean() > 0.9


def test_precomputed_kernel_is_split_along_rows_and_columns(data):
    X1, _, half = data
    square = np.square(X1[:, None] - X1).sum(axis=2)
    classify = KNeighborsClassifier(3)
    given = cross_val_score(
        make_pipeline(DiffusionMaps(3, kernel="precomputed", random_state=0), classify),
        np.exp(-square / 2),
        half,
        cv=4,
    )
    own = cross_val_score(
        make_pipeline(DiffusionMaps(3, kernel=Gaussian(1.0), random_state=0), classify),
        X1,
        half,
        cv=4,
    )
    assert_array_equal(given, own)


def test_train_test_split_keeps_the_rows_of_all_views_together(data):
    X1, X2, half = data
    views = Views({"a": X1, "b": X2})
    train, test, i, j = train_test_split(views, np.arange(80), random_state=0, stratify=half)
    assert isinstance(train, Views)
    for name, X in (("a", X1), ("b", X2)):
        assert_array_equal(train[name], X[i])
        assert_array_equal(test[name], X[j])
    est = MultiViewDiffusionMaps(2, random_state=0).fit(train)
    assert est.transform(test).shape == (20, 2)
    est = MultiViewDiffusionMaps(2, within_view_weight=0.0, random_state=0).fit(train)
    assert est.transform(test).shape == (20, 4)


class Weighed(ClassifierMixin, BaseEstimator):
    """A classifier that asks for sample weights."""

    def fit(self, X, y, sample_weight):
        self.model_ = LogisticRegression().fit(X, y, sample_weight=sample_weight)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.model_.predict(X)


def own_scorer():
    """A scorer that asks for the weights itself."""
    return make_scorer(accuracy_score).set_score_request(sample_weight=True)


@pytest.mark.parametrize("scoring", [own_scorer, lambda: None], ids=["scorer", "own score"])
def test_metadata_routing_passes_by_the_embedding(data, scoring):
    X1, X2, half = data
    with config_context(enable_metadata_routing=True):
        asks = Weighed().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        pipe = make_pipeline(MultiViewDiffusionMaps(2, random_state=0), asks)
        weight = np.ones(80)
        pipe.fit(Views([X1, X2]), half, sample_weight=weight)
        scorer = scoring()
        if scorer is None and parse_version(sklearn.__version__) < parse_version("1.7"):
            pytest.skip("scikit-learn 1.6 routes nothing to the score of a pipeline in a search")
        search = GridSearchCV(
            pipe,
            {"multiviewdiffusionmaps__n_steps": [1, 2]},
            cv=2,
            error_score="raise",
            scoring=scorer,
        )
        search.fit(Views([X1, X2]), half, sample_weight=weight)
    assert search.predict(Views([X1, X2])).shape == (80,)


@pytest.mark.parametrize("fusion", ["hop", "sum", "product", "concat", "integrated", "composite"])
@pytest.mark.parametrize("kernel", ["adaptive", "gaussian", Laplacian()])
def test_pickle_keeps_every_coordinate(data, fusion, kernel):
    X1, X2, _ = data
    if fusion == "concat" and isinstance(kernel, Laplacian):
        kernel = Gaussian("local")  # concat takes Gaussians only
    est = MultiViewDiffusionMaps(2, kernel=kernel, fusion=fusion, random_state=0).fit([X1, X2])
    again = pickle.loads(pickle.dumps(est))  # noqa: S301 - its own bytes
    assert_array_equal(again.embedding_, est.embedding_)
    assert_array_equal(again.transform([X1[:7], X2[:7]]), est.transform([X1[:7], X2[:7]]))


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({}, ["consensus_1", "consensus_2"]),
        ({"view_weights": [2, 1]}, ["consensus_1", "consensus_2"]),
        ({"within_view_weight": 0.0}, ["rna_1", "rna_2", "protein_1", "protein_2"]),
        ({"hops": [[0, 1], [1, 0]]}, ["rna_1", "rna_2", "protein_1", "protein_2"]),
        ({"output": "concat"}, ["rna_1", "rna_2", "protein_1", "protein_2"]),
        ({"output": "mean"}, ["mean_1", "mean_2"]),
        ({"fusion": "sum"}, ["fused_1", "fused_2"]),
        ({"fusion": "product"}, ["fused_1", "fused_2"]),
        ({"fusion": "integrated"}, ["fused_1", "fused_2"]),
        ({"fusion": "composite"}, ["fused_1", "fused_2"]),
    ],
)
def test_columns_are_named_by_view_and_number(data, params, expected):
    X1, X2, _ = data
    est = MultiViewDiffusionMaps(2, random_state=0, **params).set_output(transform="pandas")
    frame = est.fit_transform({"rna": X1, "protein": X2})
    assert [*frame.columns] == expected
    assert [*est.get_feature_names_out()] == expected
    assert est.embedding_.shape[1] == len(expected)


def test_one_view_names_its_columns_by_the_view(data):
    X1, _, _ = data
    est = DiffusionMaps(2, random_state=0)
    assert [*est.fit({"rna": X1}).get_feature_names_out()] == ["rna_1", "rna_2"]
    assert [*est.fit(X1).get_feature_names_out()] == ["view1_1", "view1_2"]


def test_wrong_input_features_are_refused(data):
    X1, X2, _ = data
    est = MultiViewDiffusionMaps(2, random_state=0).fit([X1, X2])
    assert len(est.get_feature_names_out([f"x{k}" for k in range(5)])) == 2
    with pytest.raises(ValueError, match="should have length equal to number of features"):
        est.get_feature_names_out(["a", "b"])


@pytest.mark.parametrize("seed", [0, np.int64(3), np.random.RandomState, np.random.default_rng])
def test_random_state_takes_what_scikit_learn_and_numpy_take(data, seed):
    X1, X2, _ = data

    def embedding():
        state = seed(5) if callable(seed) else seed
        est = MultiViewDiffusionMaps(2, random_state=state, solver="lanczos")
        return est.fit_transform([X1, X2])

    assert_array_equal(embedding(), embedding())


def test_feature_names_of_an_earlier_fit_are_forgotten(data):
    X1, X2, _ = data
    est = MultiViewDiffusionMaps(2, random_state=0).fit(pd.DataFrame(X1, columns=["x", "y"]))
    assert [*est.feature_names_in_] == ["x", "y"]
    est.fit([X1, X2])
    assert not hasattr(est, "feature_names_in_")
    assert est.n_features_in_ == 5
