"""What every public estimator must do, whoever wrote it and whenever: the test finds them."""

from __future__ import annotations

import importlib
import inspect
import pickle
import pkgutil
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from sklearn import config_context
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import cross_validate
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.metadata_routing import get_routing_for_object

import viewhop
from viewhop import MultiViewDiffusionMaps, MultiViewSpectralClustering, Views

METHODS = ("fit", "fit_predict", "fit_transform", "partial_fit", "predict", "score", "transform")


def public_modules():
    """The names of all modules whose path has no underscore in front of a part."""
    walked = pkgutil.walk_packages(viewhop.__path__, "viewhop.")
    names = [module.name for module in walked]
    return ["viewhop", *(n for n in names if not any(p.startswith("_") for p in n.split(".")))]


def find_estimators():
    """The estimators that public modules export; a kernel has parameters, but no `fit`."""
    found = set()
    for name in public_modules():
        module = importlib.import_module(name)
        exported = [getattr(module, entry) for entry in module.__all__]
        found |= {
            entry
            for entry in exported
            if inspect.isclass(entry) and issubclass(entry, BaseEstimator) and hasattr(entry, "fit")
        }
    return sorted(found, key=lambda cls: cls.__name__)


ESTIMATORS = find_estimators()
every = pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)


def example(cls, **more):
    """An estimator that can be fitted on one array: of two views, if it takes several."""
    est = cls()
    valid = est.get_params(deep=False)
    wanted = {
        "views": 2,
        "kernel": "gaussian",
        "random_state": 0,
        "n_jobs": 1,
        "rank": None,
        **more,
    }
    return est.set_params(**{name: value for name, value in wanted.items() if name in valid})


def takes_views(cls):
    return "views" in cls().get_params(deep=False)


def frame(n=40):
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 5, n)
    columns = np.c_[np.cos(angle), np.sin(angle), angle, np.sin(2 * angle)]
    return pd.DataFrame(columns, columns=["a", "b", "c", "d"])


def result(est, X):
    return est.transform(X) if hasattr(est, "transform") else est.predict(X)


def test_all_estimators_are_found():
    # A few that must be among them; the others need no list.
    assert {MultiViewDiffusionMaps, MultiViewSpectralClustering} <= {*ESTIMATORS}
    assert len(ESTIMATORS) >= 5
    assert {cls for cls in ESTIMATORS if cls.__name__ not in viewhop.__all__} == set()


# Some checks put three tight clusters, between which a walk on neighbours has no way.
@pytest.mark.filterwarnings("ignore::viewhop.errors.DisconnectedWarning")
@parametrize_with_checks([example(cls) for cls in ESTIMATORS])
def test_every_check_of_scikit_learn_passes(estimator, check):
    check(estimator)


@every
def test_a_constructor_stores_every_argument_and_takes_only_one_by_place(cls):
    parameters = [*inspect.signature(cls).parameters.values()]
    assert all(parameter.kind is parameter.KEYWORD_ONLY for parameter in parameters[1:])
    marks = {parameter.name: object() for parameter in parameters}
    est = cls(**marks)
    assert vars(est) == marks
    assert {*cls._parameter_constraints} == {*marks}


@every
def test_every_parameter_and_attribute_is_in_the_docstring(cls):
    for name in inspect.signature(cls).parameters:
        assert re.search(rf"^    .*\b{name}\b.*", cls.__doc__, re.MULTILINE), name


INPUTS = {
    "array": (lambda X: X.to_numpy(), 4, None),
    "pandas": (lambda X: X, 4, ["a", "b", "c", "d"]),
    "polars": (pl.from_pandas, 4, ["a", "b", "c", "d"]),
    "numbered columns": (lambda X: X.set_axis(range(4), axis=1), 4, None),
    "list": (lambda X: [X.to_numpy()[:, :2], X.to_numpy()[:, 2:]], 4, None),
    "dict": (lambda X: {"x": X.to_numpy()[:, :2], "y": X.to_numpy()[:, 2:]}, 4, None),
    "views": (lambda X: Views({"x": X.to_numpy()[:, :1], "y": X.to_numpy()[:, 2:]}), 3, None),
    "list of frames": (lambda X: [X[["a", "b"]], X[["c", "d"]]], 4, None),
    "dict of polars": (
        lambda X: {"x": pl.from_pandas(X[["a"]]), "y": pl.from_pandas(X[["b", "c"]])},
        3,
        None,
    ),
}


@every
@pytest.mark.parametrize("kind", INPUTS)
def test_the_number_and_names_of_features_are_those_of_the_input(cls, kind):
    make, n_features, names = INPUTS[kind]
    X = make(frame())
    is_several = isinstance(X, list | dict | Views)
    if is_several and not takes_views(cls):
        X = [part.to_numpy() if hasattr(part, "to_numpy") else part for part in [*views_of(X)]]
        X, n_features = X[:1], X[0].shape[1]
    est = example(cls, views=None if is_several else 2)
    assert not hasattr(est, "n_features_in_")
    est.fit(X)
    assert est.n_features_in_ == n_features
    assert hasattr(est, "feature_names_in_") == (names is not None)
    if names is not None:
        assert [*est.feature_names_in_] == names
    again = pickle.loads(pickle.dumps(est))  # noqa: S301 - its own bytes
    assert_array_equal(result(again, X), result(est, X))
    assert again.n_features_in_ == n_features


def views_of(X):
    if isinstance(X, dict):
        return X.values()
    return X.arrays if isinstance(X, Views) else X


@every
def test_names_of_an_earlier_fit_are_forgotten(cls):
    est = example(cls).fit(frame())
    assert len(est.feature_names_in_) == est.n_features_in_ == 4
    est.fit(frame().to_numpy()[:, :3])
    assert est.n_features_in_ == 3
    assert not hasattr(est, "feature_names_in_")


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize(
    "cls", [cls for cls in ESTIMATORS if hasattr(cls, "transform")], ids=lambda cls: cls.__name__
)
def test_frames_come_out_as_they_were_asked_for(cls, library):
    X = frame().set_index(np.arange(40) + 100)
    est = example(cls).set_output(transform=library)
    plain = example(cls).fit(X)
    kind = pd.DataFrame if library == "pandas" else pl.DataFrame
    for given in (X, X.to_numpy(), pl.from_pandas(X)):
        Z = est.fit_transform(given)
        new = est.transform(given[:5])
        assert isinstance(Z, kind)
        assert isinstance(new, kind)
        assert [*Z.columns] == [*new.columns] == [*est.get_feature_names_out()]
        assert_array_equal(Z.to_numpy(), plain.embedding_)
        assert_array_equal(new.to_numpy(), plain.transform(X[:5]))
        assert set(map(str, Z.dtypes)) <= {"float64", "Float64"}
        if library == "pandas" and given is X:
            assert [*Z.index] == [*X.index]
    est.set_output(transform="default")
    assert isinstance(est.transform(X), np.ndarray)


@every
def test_nothing_is_requested_and_no_method_asks_for_metadata(cls):
    est = example(cls)
    assert [name for name in dir(cls) if re.fullmatch(r"set_\w+_request", name)] == []
    requests = get_routing_for_object(est)
    for method in METHODS:
        if hasattr(est, method):
            assert getattr(requests, method, None) is None or not getattr(requests, method).requests


@every
def test_routing_passes_weights_by_in_pipelines_and_meta_estimators(cls):
    X, weights = frame(), np.linspace(1, 2, 40)
    half = (X["c"] > 2.5).to_numpy().astype(int)
    with config_context(enable_metadata_routing=True):
        last = LogisticRegression().set_fit_request(sample_weight=True)
        scorer = make_scorer(accuracy_score).set_score_request(sample_weight=True)
        if hasattr(cls, "transform"):
            union = FeatureUnion([("one", example(cls)), ("two", MinMaxScaler())])
            pipe = make_pipeline(MinMaxScaler(), union, last)
            pipe.fit(X, half, sample_weight=weights)
            params = {"sample_weight": weights}
            scores = cross_validate(
                pipe, X, half, params=params, scoring=scorer, cv=2, error_score="raise"
            )
            assert np.isfinite(scores["test_score"]).all()
        else:
            pipe = make_pipeline(MinMaxScaler(), example(cls)).fit(X)
            assert pipe.predict(X).shape == (40,)
        with pytest.raises((TypeError, ValueError), match="sample_weight"):
            make_pipeline(MinMaxScaler(), example(cls)).fit(X, sample_weight=weights)


@every
def test_the_html_shows_the_views_of_a_fit_and_before_it_is_that_of_scikit_learn(cls):
    est = example(cls)
    plain = BaseEstimator._repr_mimebundle_(est)
    assert "viewhop-views" not in est._repr_html_()
    assert est._repr_mimebundle_().keys() == plain.keys()
    evil = '<script>alert("x")</script>'
    X = frame().to_numpy()
    views = {evil: X[:, :2], "y & z": X[:, 2:]} if takes_views(cls) else {evil: X}
    est.set_params(**({"views": None} if takes_views(cls) else {})).fit(views)
    for html in (est._repr_html_(), est._repr_mimebundle_()["text/html"]):
        assert html.count("viewhop-views") == 1
        assert evil not in html
        table = html[html.index('<table class="viewhop-views"') :]
        cells = re.findall(r"<td[^>]*>(.*?)</td>", table)
        escaped = "&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;"
        assert cells[0] == escaped
        assert cells[1] == ("2" if takes_views(cls) else "4")
        assert cls.__name__ in table
        assert "of 40 samples" in table
    with config_context(display="text"):
        assert not hasattr(est, "_repr_html_")
        assert [*est._repr_mimebundle_()] == ["text/plain"]
    assert "viewhop-views" in make_pipeline(est)[-1]._repr_html_()


@every
def test_an_estimator_that_is_not_fitted_says_so(cls):
    with pytest.raises(NotFittedError):
        result(example(cls), frame())


def test_the_html_tells_what_each_view_observed_its_metric_and_its_weight():
    rng = np.random.default_rng(0)
    angle = np.sort(rng.uniform(0, 6, 200))
    base = np.c_[np.cos(angle), np.sin(angle), angle]
    views = {"near": base + rng.normal(scale=0.01, size=base.shape), "far": base * 1.5}
    views["few"] = base.copy()
    views["few"][:120] = np.nan
    est = MultiViewDiffusionMaps(2, random_state=0).fit(views)
    html = est._repr_html_()
    table = html[html.index('<table class="viewhop-views"') :]
    assert re.findall(r"<th [^>]*>(.*?)</th>", table) == [
        "view", "features", "observed", "metric", "weight",
    ]  # fmt: skip
    cells = re.findall(r"<td[^>]*>(.*?)</td>", table)
    rows = [cells[k : k + 5] for k in range(0, len(cells), 5)]
    assert [row[:3] for row in rows] == [
        ["near", "3", "200"], ["far", "3", "200"], ["few", "3", "80"],
    ]  # fmt: skip
    assert [row[3] for row in rows] == [*est.metrics_.values()]
    assert [float(row[4]) for row in rows] == pytest.approx([*est.view_weights_.values()], rel=6e-3)
    assert "2 coordinates (consensus)" in table
    model = MultiViewSpectralClustering(3, random_state=0, n_init=1).fit(views)
    assert "of 200 samples: 3 clusters" in model._repr_html_()
