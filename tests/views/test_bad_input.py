"""What bad input gets: a clear error that names the view, and nothing half-done."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError

from viewhop import DiffusionMaps, MultiViewDiffusionMaps, Views, errors
from viewhop.errors import DisconnectedWarning
from viewhop.kernels import Correlation, Gaussian, Laplacian, Precomputed

KERNELS = [
    "adaptive",
    "gaussian",
    "laplacian",
    Gaussian("log-log"),
    Gaussian("local"),
    Gaussian(1.0),
    Gaussian(1.0, n_neighbors=4),
    Laplacian("log-log", n_neighbors=4),
    Gaussian(metric="cosine"),
    Gaussian(standardize=True),
    Correlation(),
]


@pytest.fixture
def good():
    """A view of 30 samples that nothing is wrong with."""
    return np.random.default_rng(0).normal(size=(30, 3))


def other(good):
    return np.c_[good[:, :2] ** 2, good[:, 2]]


def fit(X, **params):
    return MultiViewDiffusionMaps(**{"random_state": 0, **params}).fit(X)


def spoilt(X, row, column, value):
    X = np.array(X)
    X[row, column] = value
    return X


def gram(X):
    return np.exp(-np.square(X[:, None] - X).sum(axis=2))


def test_views_of_different_length(good):
    with pytest.raises(ValueError, match="a has 30, b has 29"):
        fit({"a": good, "b": good[1:]})


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_value_that_is_not_finite_is_found_by_view_and_row(good, value):
    bad = spoilt(good, 7, 1, value)
    word = "NaN" if np.isnan(value) else "inf"
    with pytest.raises(ValueError, match=f"row 7 of view 'b' .*{word}.* column 1"):
        fit({"a": good, "b": bad})
    with pytest.raises(ValueError, match=f"row 7 of view 'view2' .*{word}"):
        fit(np.hstack([good, bad]), views=2)
    est = fit({"a": good, "b": good})
    with pytest.raises(ValueError, match=f"row 7 of view 'b' .*{word}"):
        est.transform({"b": bad})


def test_a_sample_that_no_view_saw_is_refused_by_its_row(good):
    bad = spoilt(good, [4, 9], slice(None), np.nan)
    with pytest.raises(ValueError, match=r"row 4 is NaN: it was observed by no view \(2 such rows"):
        fit({"a": bad, "b": bad})
    with pytest.raises(ValueError, match=r"row 4 of view 'b' is all NaN.*no view \(2 such rows"):
        fit({"b": bad})


def test_an_empty_view(good):
    with pytest.raises(ValueError, match="view 'b' is empty: it has 0 features"):
        fit({"a": good, "b": good[:, :0]})
    with pytest.raises(ValueError, match="view 'a' is empty: it has 0 samples"):
        fit({"a": good[:0], "b": good[:0]})


def test_no_view_at_all():
    for nothing in ([], (), {}, [None]):
        with pytest.raises(ValueError, match="at least one view"):
            fit(nothing)


@pytest.mark.parametrize("n_samples", [1, 2])
def test_fewer_than_three_samples(good, n_samples):
    with pytest.raises(ValueError, match=rf"at least 3 samples.*'a', 'b'.*n_samples = {n_samples}"):
        fit({"a": good[:n_samples], "b": good[:n_samples]})


@pytest.mark.parametrize("n_samples", [3, 4])
def test_one_sample_more_than_coordinates_is_enough(good, n_samples):
    for walk, n_columns in (({}, 2), ({"within_view_weight": 0.0}, 4)):
        est = fit([good[:n_samples], other(good)[:n_samples]], kernel="gaussian", **walk)
        assert est.embedding_.shape == (n_samples, n_columns)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("value", [0.0, 3.7])
def test_a_constant_view(good, kernel, value):
    flat = np.full((30, 2), value)
    with pytest.raises(ValueError, match=r"view 'b' is (constant|all zero)"):
        fit({"a": good, "b": flat}, kernel=kernel)


@pytest.mark.parametrize(("metric", "value"), [("cosine", 0), ("correlation", 2)])
def test_a_row_without_a_direction_is_equally_far_from_all_others(good, metric, value):
    for kernel in (Gaussian(metric=metric), Gaussian("local", metric=metric, n_neighbors=5)):
        est = fit({"a": good, "b": spoilt(good, 5, slice(None), value)}, kernel=kernel)
        assert np.isfinite(est.embedding_).all()
        assert est.metrics_ == {"a": metric, "b": metric}
    kernel = Gaussian(0.5, metric=metric)
    est = fit({"a": good, "b": spoilt(good, 5, slice(None), value)}, kernel=kernel)
    row = (est.walk_.affinities[1] @ np.eye(30))[5]
    # d² = 1/2
    assert_allclose(np.delete(row, 5), np.exp(-0.5 / (2 * 0.5**2)), rtol=1e-12)
    assert_allclose(row[5], 1.0, rtol=1e-12)


def test_a_row_without_a_correlation_is_named(good):
    with pytest.raises(ValueError, match="row 5 of view 'b' is constant"):
        fit({"a": good, "b": spoilt(good, 5, slice(None), 2)}, kernel=Correlation())


def test_a_new_row_is_counted_from_the_first_not_from_its_block(good, monkeypatch):
    est = fit({"a": good, "b": good}, kernel=Correlation())
    monkeypatch.setattr("viewhop._runtime.threads.BLOCK", 4 * 30)  # four rows at a time
    with pytest.raises(ValueError, match="row 17 of view 'b' is constant"):
        est.transform({"a": good, "b": spoilt(good, 17, slice(None), 2)})


@pytest.mark.parametrize("bandwidth", [0, 0.0, -1.0, np.nan, np.inf])
def test_a_scale_that_is_not_positive(good, bandwidth):
    with pytest.raises(ValueError, match="kernel of view 'b': bandwidth must be positive"):
        fit({"a": good, "b": good}, kernel={"a": "gaussian", "b": Gaussian(bandwidth)})


@pytest.mark.parametrize("n_neighbors", [None, 5])
def test_a_kernel_that_underflows_to_the_identity_suggests_a_factor(good, n_neighbors):
    tiny = Gaussian(factor=1e-8, n_neighbors=n_neighbors)
    with pytest.raises(ValueError, match=r"kernel of view 'b' underflows.*factor"):
        fit({"a": good, "b": good}, kernel={"a": "gaussian", "b": tiny})


@pytest.mark.parametrize("n_neighbors", [None, 5])
def test_precomputed_kernels_that_are_none(good, n_neighbors):
    K = gram(good)
    cases = [
        (spoilt(K, (3, 5), (5, 3), -0.1), "row 3 of the precomputed kernel of view 'b' has a neg"),
        (spoilt(K, 3, 5, 0.9), r"kernel of view 'b' is not symmetric: entries \(3, 5\)"),
        (K[:, :20], r"kernel of view 'b' must be square.*\(30, 20\)"),
        (spoilt(K, 6, 6, 0.0), "row 6 of the precomputed kernel of view 'b' has 0 on the diag"),
    ]
    for bad, message in cases:
        with pytest.raises(ValueError, match=message):
            fit({"a": K, "b": bad}, kernel=Precomputed(n_neighbors=n_neighbors))
    est = fit({"a": K, "b": K}, kernel=Precomputed(n_neighbors=n_neighbors))
    with pytest.raises(ValueError, match="row 2 of the precomputed kernel of view 'b' has a neg"):
        est.transform({"b": spoilt(K[:4], 2, 1, -1)})
    with pytest.raises(ValueError, match=r"row 2 has no positive kernel value"):
        est.transform({"b": spoilt(K[:4], 2, slice(None), 0)})


@pytest.mark.parametrize("kernel", [Precomputed(), Precomputed(n_neighbors=5)])
def test_a_walk_that_never_moves(kernel):
    with pytest.raises(ValueError, match="over view 'view1' falls into 30 pieces"):
        DiffusionMaps(kernel=kernel).fit(np.eye(30))


def test_a_walk_without_coordinates():
    for r in (2, "auto"):
        with pytest.raises(ValueError, match="no eigenvalue of the walk over view 'view1'"):
            DiffusionMaps(r, kernel="precomputed").fit(np.ones((30, 30)))


def test_more_coordinates_than_there_are_states_the_most():
    line = np.arange(30.0)[:, None]
    smooth = Gaussian(1e3)  # so wide that the kernel has a small numerical rank
    with pytest.raises(ValueError, match="pass at most n_components=") as caught:
        fit([line, line], n_components=12, kernel=smooth)
    most = int(str(caught.value).split("n_components=")[-1].split(",")[0])
    assert fit([line, line], n_components=most, kernel=smooth).n_components_ == most


def test_more_coordinates_than_the_hop_matrix_allows(good):
    est = MultiViewDiffusionMaps(29, kernel=Gaussian(factor=0.05))
    assert est.fit([good, other(good)]).eigenvalues_.shape == (29,)
    with pytest.raises(ValueError, match="n_components=30 is more than the 29 coordinates"):
        est.set_params(n_components=30).fit([good, other(good)])


@pytest.mark.parametrize(
    ("params", "known"),
    [
        ({"kernel": "cauchy"}, ["adaptive", "gaussian", "laplacian", "correlation", "precomputed"]),
        ({"kernel": ["cauchy", "gaussian"]}, ["adaptive", "gaussian", "laplacian"]),
        ({"kernel": Gaussian("silverman")}, ["max-min", "log-log", "local"]),
        ({"kernel": Gaussian(metric="chebyshev")}, ["euclidean", "cosine", "correlation"]),
        ({"fusion": "union"}, ["hop", "sum", "product", "concat"]),
        ({"output": "median"}, ["auto", "concat", "mean"]),
        ({"solver": "arpack"}, ["auto", "dense", "lanczos", "krylov", "svd"]),
        ({"n_components": "all"}, ["auto"]),
        ({"kernel": {"view1": "gaussian"}}, ["view1, view2", "missing: view2"]),
        ({"kernel": dict.fromkeys(("view1", "view2", "c"), "gaussian")}, ["unknown: c"]),
        ({"kernel": ["gaussian"]}, ["1 kernels for 2 views"]),
    ],
)
def test_an_unknown_name_lists_the_known_ones(good, params, known):
    with pytest.raises(ValueError, match=known[0]) as caught:
        fit([good, good], **params)
    assert all(name in str(caught.value) for name in known)


@pytest.mark.parametrize(
    "params",
    [
        {"n_components": 0},
        {"n_components": 2.5},
        {"n_steps": -1},
        {"n_steps": np.inf},
        {"n_steps": np.nan},
        {"n_components": "auto", "n_steps": 0},
        {"n_components": "auto", "accuracy": 1.0},
        {"accuracy": 0.1},
        {"within_view_weight": 1.5},
        {"within_view_weight": 0.5, "fusion": "sum"},
        {"within_view_weight": 0.5, "hops": [[0, 1], [1, 0]]},
        {"hops": [[0, 1], [1, 0]], "fusion": "product"},
        {"hops": [[0, 1], [2, 0]]},
        {"hops": [[0, -1], [-1, 0]]},
        {"hops": [[0, 0], [0, 1]]},
        {"hops": [[1]]},
        {"hops": [[np.nan, 1], [1, 0]]},
        {"tol": -1},
        {"max_memory": "plenty"},
        {"max_memory": -1},
        {"n_jobs": 1.5},
        {"n_jobs": 0},
        {"random_state": "seed"},
        {"verbose": "loud"},
        {"views": "ab"},
        {"solver": "svd", "within_view_weight": 0.5},
    ],
    ids=str,
)
def test_a_parameter_that_makes_no_sense_is_a_value_error(good, params):
    with pytest.raises(ValueError, match="|".join(params)):
        fit([good, good], **params)


def test_a_truncation_without_steps_is_refused_before_any_work(good):
    told = []
    with pytest.raises(ValueError, match='n_components="auto" needs n_steps > 0'):
        fit([good, good], n_components="auto", n_steps=0, verbose=lambda *args: told.append(args))
    assert told == []


def test_overlapping_groups(good):
    with pytest.raises(ValueError, match="column 1 is in view 'a' and again in view 'b'"):
        fit(good, views={"a": [0, 1], "b": [1, 2]})


@pytest.mark.parametrize("bad", [[["x"] * 2] * 30, np.ones((30, 2)) * 1j, np.ones(30), 5])
def test_what_is_no_matrix_of_numbers_is_refused_by_view(good, bad):
    with pytest.raises(ValueError, match="view 'b'"):
        fit({"a": good, "b": bad})


def test_one_view_is_what_diffusion_maps_takes(good):
    with pytest.raises(ValueError, match="takes one view, got 2; use MultiViewDiffusionMaps"):
        DiffusionMaps().fit([good, good])


@pytest.mark.parametrize("n_pieces", [2, 3])
@pytest.mark.parametrize("kernel", ["adaptive", Gaussian(1.0)])
def test_a_disconnected_walk_is_a_warning_with_the_number_of_pieces(n_pieces, kernel):
    rng = np.random.default_rng(0)
    far = np.repeat(np.arange(n_pieces) * 1e4, 20)[:, None]
    views = [far + rng.normal(size=(20 * n_pieces, 2)) for _ in range(2)]
    with pytest.warns(DisconnectedWarning, match=f"falls into {n_pieces} pieces") as caught:
        est = fit(views, kernel=kernel, n_components=n_pieces)
    assert [w.message.n_pieces for w in caught] == [n_pieces]
    assert est.n_pieces_ == n_pieces
    assert (est.eigenvalues_[: n_pieces - 1] == 1).all()
    assert est.eigenvalues_[n_pieces - 1] < 1 - 1e-6


@pytest.mark.parametrize("fusion", ["hop", "sum", "product", "concat"])
@pytest.mark.parametrize("kernel", ["adaptive", "gaussian", Gaussian("log-log"), Gaussian("local")])
def test_exact_duplicates_just_work(good, kernel, fusion):
    # alike, so that the product of the views is connected too
    views = [np.repeat(X, 2, axis=0) for X in (good, good + 0.1 * other(good))]
    est = fit(views, kernel=kernel, fusion=fusion)
    assert np.isfinite(est.embedding_).all()
    assert_allclose(est.embedding_[::2], est.embedding_[1::2], atol=1e-12)


def test_more_duplicates_than_a_local_scale_counts_just_work(good):
    views = [np.repeat(X, 9, axis=0) for X in (good, other(good))]
    est = fit(views, kernel=Gaussian("local"))
    assert np.isfinite(est.embedding_).all()
    assert_allclose(est.embedding_[::9], est.embedding_[8::9], atol=1e-12)


def test_views_that_do_not_meet_have_a_finite_mean(good):
    with pytest.warns(DisconnectedWarning, match="2 pieces"):
        est = fit([good, other(good)], within_view_weight=1.0, output="mean", kernel="gaussian")
    # The first coordinate only tells the views apart: it says nothing about samples.
    assert np.isfinite(est.embedding_).all()
    assert_array_equal(est.embedding_[:, 0], 0.0)


BREAKS = {
    "NaN": lambda good: ([good, spoilt(good, 3, 1, np.nan)], {}),
    "bandwidth must be positive": lambda good: ([good, good], {"kernel": Gaussian(-1)}),
    "hops": lambda good: ([good, good, good], {"hops": np.zeros((3, 3))}),
    "underflows": lambda good: ([good, good], {"kernel": Gaussian(1e-9)}),
    "pass at most": lambda good: (
        [good[:, :1]] * 2,
        {"n_components": 9, "kernel": Gaussian(1e2)},
    ),
    "'solver' parameter": lambda good: ([good, good], {"solver": "none"}),
    "constant": lambda good: (np.hstack([good, 0 * good]), {"views": 2}),
}


@pytest.mark.parametrize("message", BREAKS)
def test_a_fit_that_fails_leaves_the_earlier_fit_whole(good, message):
    X, params = BREAKS[message](good)
    est = fit({"a": good, "b": other(good)})
    plain = {**est.get_params(deep=False)}
    before = dict(vars(est))
    with pytest.raises(ValueError, match=message):
        est.set_params(**params).fit(X)
    est.set_params(**plain)
    assert vars(est).keys() == before.keys()
    assert all(vars(est)[name] is before[name] for name in before)
    assert_array_equal(
        est.transform({"a": good[:5]}),
        fit({"a": good, "b": other(good)}).transform({"a": good[:5]}),
    )


@pytest.mark.parametrize("message", BREAKS)
def test_a_first_fit_that_fails_leaves_the_estimator_unfitted(good, message):
    X, params = BREAKS[message](good)
    est = MultiViewDiffusionMaps(**params)
    with pytest.raises(ValueError, match=message):
        est.fit(X)
    assert vars(est).keys() == est.get_params(deep=False).keys()
    with pytest.raises(NotFittedError):
        est.transform(X)


def test_a_fit_that_is_interrupted_leaves_the_estimator_as_it_was(good):
    def interrupt(stage, done, total):
        raise KeyboardInterrupt

    est = MultiViewDiffusionMaps(verbose=interrupt)
    with pytest.raises(KeyboardInterrupt):
        est.fit([good, good])
    assert vars(est).keys() == est.get_params(deep=False).keys()


@pytest.mark.parametrize(
    "error",
    [
        errors.MemoryBudgetError("too much", 5, 3),
        errors.DisconnectedWarning("pieces", 3),
        errors.FarSampleWarning("far", 2),
        errors.UnreachedViewWarning("unreached", 4),
        errors.RecallWarning("missed", 0.9),
        errors.SlowSearchWarning("slow", 10**6),
        errors.ConvergenceError("stopped"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_come_back_whole_from_another_process(error):
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - its own bytes
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)


def test_views_themselves_are_checked_when_made(good):
    with pytest.raises(ValueError, match="row 7 of view 'view2' has NaN"):
        Views([good, spoilt(good, 7, 0, np.nan)])
    with pytest.raises(ValueError, match="a list or a dict of views, got ndarray"):
        Views(good)


def test_a_value_whose_distances_overflow_in_single_precision_is_named():
    X = np.linspace(0, 1, 60, dtype=np.float32).reshape(20, 3)
    X[4, 1] = 1e38
    with pytest.raises(ValueError, match=r"row 4 of view 'view1' has a value of 1e\+38.*float64"):
        MultiViewDiffusionMaps(2, kernel="gaussian").fit([X, X[:, :2]])
    Views([X.astype(np.float64)])  # double precision has room for it


def test_a_value_whose_square_overflows_is_named():
    X = np.random.default_rng(0).standard_normal((20, 3))
    X[7, 1] = -1e200
    with pytest.raises(ValueError, match=r"row 7 of view 'b' has a value of 1e\+200"):
        MultiViewDiffusionMaps(2).fit({"a": X[:, :1], "b": X})


def test_a_fit_needs_every_view():
    X = np.random.default_rng(0).standard_normal((20, 3))
    for views in ([X, None, X], {"a": X, "b": None}):
        with pytest.raises(ValueError, match="a view is None, and a fit needs every view"):
            MultiViewDiffusionMaps(2).fit(views)


def test_frames_in_another_order_are_refused_by_row():
    frame = pd.DataFrame(np.random.default_rng(0).standard_normal((20, 4)), index=range(100, 120))
    a, b = frame.iloc[:, :2], frame.iloc[::-1, 2:]
    with pytest.raises(ValueError, match="row 0 is 100 in view 'a' and 119 in view 'b'"):
        MultiViewDiffusionMaps(2).fit({"a": a, "b": b})
    MultiViewDiffusionMaps(2).fit({"a": a, "b": b.reset_index(drop=True).to_numpy()})
