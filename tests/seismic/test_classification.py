"""Classification of events: votes, scores, leaving out, and what is refused."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import accuracy_score, balanced_accuracy_score, confusion_matrix
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from viewhop import DiffusionMaps, MultiViewDiffusionMaps, Views
from viewhop.kernels import Correlation, Gaussian, kernels_by_view
from viewhop.seismic import Score, classify, classify_pairs
from viewhop.seismic._fewer_features import with_fewer_features
from viewhop.seismic._nearest_labels import vote

KIND = np.array(["blast"] * 14 + ["earthquake"] * 18)


@pytest.fixture
def heard():
    """Three views of 32 events in more features than events, which overlap."""
    rng = np.random.default_rng(4)
    far = 0.5 * (KIND == "blast")[:, None]
    return Views({name: far + rng.normal(size=(32, 60)) for name in ("x", "y", "z")})


@pytest.fixture
def patchy(heard):
    """The same, where x missed four events and y two others."""
    arrays = {name: array.copy() for name, array in heard.items()}
    arrays["x"][[0, 1, 20, 21]] = np.nan
    arrays["y"][[5, 25]] = np.nan
    return Views(arrays)


def neighbours(n_neighbors=1):
    return KNeighborsClassifier(n_neighbors, algorithm="brute")


def paper_walk(kernel=None):
    kernel = Gaussian("local", n_neighbors=10) if kernel is None else kernel
    return MultiViewDiffusionMaps.paper_settings(3, kernel=kernel, random_state=0)


@pytest.mark.parametrize("procedure", ["transductive", "refitted"])
def test_steps_scale_the_coordinates_of_every_method(heard, procedure):
    steps = 3.0
    found = classify(
        heard, KIND, kernel="gaussian", n_components=3, n_steps=steps, procedures=[procedure]
    )
    plain = classify(heard, KIND, kernel="gaussian", n_components=3, procedures=[procedure])
    assert [score.method for score in found] == [score.method for score in plain]
    assert any((a.predicted != b.predicted).any() for a, b in zip(found, plain, strict=True))
    if procedure == "refitted":
        return
    # The embedding at t = 1, each column times λ^(t − 1).
    walk = MultiViewDiffusionMaps.paper_settings(3, random_state=0).fit(heard)
    single = DiffusionMaps(3, kernel="gaussian", random_state=0).fit(heard["x"])
    for name, fitted, repeats in (("multi-view", walk, 3), ("x", single, 1)):
        weights = np.tile(fitted.eigenvalues_ ** (steps - 1), repeats)
        rows = fitted.embedding_ * weights
        told = cross_val_predict(neighbours(), rows, KIND, cv=LeaveOneOut())
        assert found.find(name, procedure=procedure).labels == tuple(told)


def test_weight_within_views_is_that_of_the_walk(heard):
    settings = {"kernel": "gaussian", "n_components": range(1, 6), "procedures": ["transductive"]}
    found = classify(heard, KIND, within_view_weight=0.9, **settings)
    plain = classify(heard, KIND, **settings)
    walk = MultiViewDiffusionMaps.paper_settings(5, within_view_weight=0.9, random_state=0)
    rows = walk.fit(heard).embedding_
    told = cross_val_predict(neighbours(), rows, KIND, cv=LeaveOneOut())
    assert found.find("multi-view", procedure="transductive").labels == tuple(told)
    changed = {
        score.method
        for score, other in zip(found, plain, strict=True)
        if (score.predicted != other.predicted).any()
    }
    assert changed == {"multi-view"}


def test_pairs_take_steps_and_the_weight_within_views(heard):
    found = classify_pairs(
        heard, KIND, kernel="gaussian", n_components=3, n_steps=2, within_view_weight=0.3
    )
    walk = MultiViewDiffusionMaps.paper_settings(
        3, n_steps=2, within_view_weight=0.3, random_state=0
    ).fit(Views({name: heard[name] for name in ("x", "z")}))
    for first, second in (("x", "z"), ("z", "x")):
        rows = walk.view_embeddings_[first]
        told = cross_val_predict(neighbours(), rows, KIND, cv=LeaveOneOut())
        [l, m] = [heard.names.index(name) for name in (first, second)]
        assert_allclose(found.accuracy[l, m], (told == KIND).mean(), rtol=1e-12)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"n_steps": -1}, "n_steps must be a non-negative number, got -1"),
        ({"n_steps": np.nan}, "n_steps must be a non-negative number, got nan"),
        ({"within_view_weight": 1.5}, "within_view_weight must be a number from 0 to 1, got 1.5"),
        ({"within_view_weight": None}, "within_view_weight must be a number from 0 to 1"),
    ],
)
@pytest.mark.parametrize("function", [classify, classify_pairs])
def test_wrong_walks_are_refused_before_any_fit(heard, function, wrong, told):
    with pytest.raises(ValueError, match=told):
        function(heard, KIND, **wrong)


def test_some_events_left_out_are_predicted_as_among_all(patchy):
    settings = {"kernel": "gaussian", "n_components": 3, "procedures": ["refitted"]}
    every = classify(patchy, KIND, **settings)
    some = classify(patchy, KIND, left_out=[20, 3, 3, 0], **settings)
    for score, whole in zip(some, every, strict=True):
        assert score.method == whole.method
        chosen = np.isin(np.arange(32), [0, 3, 20])
        assert_array_equal(score.predicted[chosen], whole.predicted[chosen])
        assert set(score.predicted[~chosen]) == {-1}


@pytest.mark.parametrize("wrong", [[], [32], [-1], [0.5]])
def test_events_left_out_must_exist(heard, wrong):
    with pytest.raises(ValueError, match="left_out must hold event indices from 0 to 31"):
        classify(heard, KIND, left_out=wrong)


def test_both_kernel_products_have_their_names(heard):
    found = classify(
        heard,
        KIND,
        kernel="gaussian",
        n_components=3,
        fusions=["product", "concat"],
        singles=False,
        procedures=["transductive"],
    )
    assert [score.method for score in found] == ["kernel product", "kernel product, concat"]
    for fusion, score in zip(("product", "concat"), found, strict=True):
        maps = MultiViewDiffusionMaps(3, kernel="gaussian", fusion=fusion, random_state=0)
        told = cross_val_predict(neighbours(), maps.fit(heard).embedding_, KIND, cv=LeaveOneOut())
        assert score.labels == tuple(told)


def test_the_refitted_way_is_a_pipeline_under_leave_one_out(heard):
    found = classify(heard, KIND, kernel="gaussian", n_components=3, procedures=["refitted"])
    for fusion, name in (
        ("hop", "multi-view"),
        ("sum", "kernel sum"),
        ("product", "kernel product"),
    ):
        stay = 0.0 if fusion == "hop" else None
        maps = MultiViewDiffusionMaps(
            3,
            kernel="gaussian",
            fusion=fusion,
            within_view_weight=stay,
            output="concat",
            views=3,
        )
        stacked = np.hstack(heard.arrays)
        expected = cross_val_predict(
            make_pipeline(maps, neighbours()), stacked, KIND, cv=LeaveOneOut()
        )
        assert found.find(name, procedure="refitted").labels == tuple(expected)
    maps = DiffusionMaps(3, kernel="gaussian")
    expected = cross_val_predict(
        make_pipeline(maps, neighbours()), heard["y"], KIND, cv=LeaveOneOut()
    )
    assert found.find("y", procedure="refitted").labels == tuple(expected)


def test_the_transductive_way_leaves_an_event_out_of_the_neighbours_only(heard):
    found = classify(heard, KIND, n_components=3, n_neighbors=3, procedures=["transductive"])
    embedding = paper_walk().fit(heard).embedding_
    expected = cross_val_predict(neighbours(3), embedding, KIND, cv=LeaveOneOut())
    assert found.find("multi-view", procedure="transductive").labels == tuple(expected)


def test_fewer_coordinates_are_those_of_a_fit_of_their_own(heard):
    both = classify(heard, KIND, n_components=(4, 2), kernel="gaussian")
    alone = classify(heard, KIND, n_components=2, kernel="gaussian")
    assert sorted({score.n_components for score in both}) == [2, 4]
    for score in alone:
        again = both.find(score.method, procedure=score.procedure, n_components=2)
        assert_array_equal(score.predicted, again.predicted)
    differ = [
        (score.predicted != both.find(score.method, procedure=score.procedure).predicted).any()
        for score in alone
    ]
    assert any(differ)


def test_what_an_event_is_does_not_depend_on_its_own_label(heard):
    """Neither way may see the label that it is asked for."""
    first = classify(heard, KIND, n_components=3)
    hidden = KIND.astype(object)
    hidden[7] = None
    second = classify(heard, hidden, n_components=3)
    for score in first.scores:
        again = second.find(score.method, procedure=score.procedure)
        assert again.predicted[7] == score.predicted[7]
        assert again.n_events == score.n_events - 1


def test_an_event_without_label_is_classified():
    rng = np.random.default_rng(0)
    near = rng.normal(size=(20, 3))
    near[1] = near[0] + 1e-6
    kind = np.array(["a", None, *["a", "b"] * 9], dtype=object)
    for column in (kind, np.roll(kind, 1)):
        for score in classify([near, near[:, :2]], column, n_components=2):
            assert None not in score.labels
            assert_array_equal(score.target >= 0, [label is not None for label in column])


def test_an_event_without_label_has_no_vote(heard):
    """In one embedding: an event without label is in it, and votes for none."""
    hidden = KIND.astype(object)
    hidden[::3] = None
    found = classify(heard, hidden, n_components=3, n_neighbors=3, procedures=["transductive"])
    embedding = paper_walk().fit(heard).embedding_
    known = np.flatnonzero(np.arange(32) % 3)
    expected = cross_val_predict(neighbours(3), embedding[known], KIND[known], cv=LeaveOneOut())
    score = found.find("multi-view", procedure="transductive")
    assert tuple(score.labels[k] for k in known) == tuple(expected)


def test_fewer_features_keep_every_distance(patchy):
    kernels = kernels_by_view("gaussian", patchy.names)
    reduced = with_fewer_features(patchy, kernels)
    assert_array_equal(reduced.observed, patchy.observed)
    for name in patchy.names:
        rows, turned = patchy.rows(name), reduced.rows(name)
        assert turned.shape[1] == len(rows) < rows.shape[1]
        assert_allclose(turned @ turned.T, rows @ rows.T, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("kernel", [Correlation(), Gaussian(standardize=True)])
def test_features_stay_where_inner_products_are_not_enough(heard, kernel):
    reduced = with_fewer_features(heard, kernels_by_view(kernel, heard.names))
    assert_array_equal(reduced["x"], heard["x"])
    fitted = DiffusionMaps(2, kernel=kernel).fit(heard["x"]).embedding_
    found = classify({"x": heard["x"]}, KIND, kernel=kernel, n_components=2, fusions=[])
    expected = cross_val_predict(neighbours(), fitted, KIND, cv=LeaveOneOut())
    assert found.find("x", procedure="transductive").labels == tuple(expected)


def test_most_votes_win_and_of_equals_the_nearest():
    codes = np.array([2, 0, 1, 1, 0])
    distances = np.array([[1.0, 2, 3, 4, 5], [5.0, 4, 3, 2, 1]])
    assert_array_equal(vote(distances, codes, 1), [2, 0])
    assert_array_equal(vote(distances, codes, 2), [2, 0])
    assert_array_equal(vote(distances, codes, 4), [1, 0])
    assert_array_equal(vote(distances, codes, 5), [0, 0])


def test_those_as_near_as_the_last_vote_too():
    codes = np.array([0, 1, 1, 0])
    assert_array_equal(vote(np.array([[1.0, 1.0, 1.0, 2.0]]), codes, 1), [1])
    # Rounding is no difference.
    assert_array_equal(vote(np.array([[1.0, 1 + 1e-13, 1 + 1e-13, 2.0]]), codes, 1), [1])
    assert_array_equal(vote(np.array([[1.0, 1 + 1e-6, 1 + 1e-6, 2.0]]), codes, 1), [0])
    # As many votes, as near: the first class.
    assert_array_equal(vote(np.array([[3.0, 3.0, 9.0, 9.0]]), codes, 1), [0])
    assert_array_equal(vote(np.zeros((2, 4)), codes, 3), [0, 0])


@settings(deadline=None, max_examples=400)
@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(-1, 1)), min_size=3, max_size=9),
    st.integers(1, 3),
    st.randoms(use_true_random=False),
)
def test_votes_do_not_depend_on_the_order_of_events(known, n_neighbors, random):
    assume(sum(code >= 0 for _, code in known) >= n_neighbors)
    answers = set()
    for _ in range(4):
        random.shuffle(known)
        distances, codes = np.array(known, dtype=float).T
        answers.add(int(vote(distances[None], codes.astype(np.intp), n_neighbors)[0]))
    assert len(answers) == 1
    (answer,) = answers
    # By brute force: all as near as the last, the most of one class, the nearest, the first.
    near = sorted((distance, code) for distance, code in known if code >= 0)
    near = [each for each in near if each[0] <= near[n_neighbors - 1][0]]
    rank = {
        code: (-sum(other == code for _, other in near), min(d for d, c in near if c == code), code)
        for _, code in near
    }
    assert answer == min(rank, key=rank.__getitem__)


def test_scores_are_those_of_scikit_learn():
    rng = np.random.default_rng(3)
    target, predicted = rng.integers(0, 3, (2, 200))
    predicted[:150] = target[:150]
    score = Score("m", "refitted", 2, ("a", "b", "c"), target, predicted)
    assert_array_equal(score.confusion, confusion_matrix(target, predicted))
    assert_allclose(score.accuracy, accuracy_score(target, predicted), rtol=1e-15)
    assert_allclose(score.balanced_accuracy, balanced_accuracy_score(target, predicted), rtol=1e-15)
    unknown = np.where(np.arange(200) < 20, -1, target)
    silent = np.where(np.arange(200) > 190, -1, predicted)
    part = slice(20, 191)
    score = Score("m", "refitted", 2, ("a", "b", "c"), unknown, silent)
    assert score.n_events == 171
    assert_array_equal(score.confusion, confusion_matrix(target[part], predicted[part]))
    assert score.labels[-1] is None


def test_views_that_missed_events_work_but_for_the_product(patchy):
    found = classify(patchy, KIND, n_components=3)
    assert "needs every event in every view, and 6 of 32" in found.refused["kernel product"]
    assert [*found.refused] == ["kernel product"]
    assert {score.method for score in found} == {"x", "y", "z", "kernel sum", "multi-view"}
    for score in found:
        expected = {"x": 28, "y": 30}.get(score.method, 32)
        assert score.n_events == expected
    single = found.find("x", procedure="transductive")
    assert [single.labels[k] for k in (0, 1, 20, 21)] == [None] * 4
    frame = found.to_frame()
    assert len(frame) == 10
    assert_allclose(frame["accuracy"], [score.accuracy for score in found], rtol=0)


def seeing(heard, name, events):
    """The views, of which one saw some events only."""
    arrays = {each: array.copy() for each, array in heard.items()}
    arrays[name][np.setdiff1d(np.arange(len(heard)), events)] = np.nan
    return Views(arrays)


def test_a_view_that_saw_too_little_is_refused_alone(heard):
    views = seeing(heard, "x", np.arange(4))
    found = classify(views, KIND, n_components=3, procedures=["transductive"])
    assert "recorded 4 labelled events, but 5 are needed" in found.refused["x"]
    assert found.find("multi-view", procedure="transductive").n_events == 32


@pytest.mark.parametrize("events", [[0], [0, 31], [0, 1, 2, 30, 31]])
def test_a_view_that_saw_too_little_leaves_the_fusions_as_if_it_were_not_there(heard, events):
    found = classify(seeing(heard, "x", events), KIND, n_components=3)
    assert [*found.refused] == ["x"]
    assert "x, alone and in the fusions: it recorded" in found.refused["x"]
    expected = classify({name: heard[name] for name in ("y", "z")}, KIND, n_components=3)
    assert len(found) == len(expected) == 10
    for score, other in zip(found, expected, strict=True):
        assert score.method == other.method
        assert_array_equal(score.predicted, other.predicted)


def test_an_event_that_only_a_refused_view_saw_has_no_prediction(heard):
    arrays = {each: array.copy() for each, array in seeing(heard, "x", [0, 31]).items()}
    arrays["y"][31] = arrays["z"][31] = np.nan
    found = classify(Views(arrays), KIND, n_components=3)
    for score in found:
        assert score.labels[31] is None
        assert score.n_events == 31


@pytest.mark.parametrize("extra", [0, 1])
def test_exactly_as_many_events_as_a_fit_without_one_needs(heard, extra):
    """r + 2 are enough for one embedding of all; r + 3, where one is left out."""
    few = np.r_[np.arange(3), np.arange(28, 31 + extra)]
    views, kind = heard[few], KIND[few]
    found = classify(views, kind, n_components=4, procedures=["transductive"])
    assert not found.refused
    if extra:
        assert not classify(views, kind, n_components=4, procedures=["refitted"]).refused
    else:
        with pytest.raises(ValueError, match="at least 7 labelled events for 4"):
            classify(views, kind, n_components=4, procedures=["refitted"])
    # The same of one view among full ones.
    views = seeing(heard, "x", few)
    found = classify(views, KIND, n_components=4, procedures=["refitted"], fusions=["sum"])
    assert [*found.refused] == ([] if extra else ["x"])
    assert found.find("kernel sum", procedure="refitted").n_events == 32


def test_a_view_that_saw_one_class_is_not_scored_alone_and_stays_in_the_fusions(heard):
    views = seeing(heard, "x", np.arange(14))
    found = classify(views, KIND, n_components=3)
    assert found.refused["x"] == "x, alone: it recorded events of one class only, blast"
    assert found.find("multi-view", procedure="refitted").n_events == 32
    assert "x" not in {score.method for score in found}
    assert found.find("kernel sum", procedure="refitted").predicted.min() >= 0
    without = classify({name: heard[name] for name in ("y", "z")}, KIND, n_components=3)
    assert any(
        (score.predicted != without.find(score.method, procedure=score.procedure).predicted).any()
        for score in found
        if score.method == "kernel sum"
    )


def test_a_score_of_one_class_is_no_balanced_accuracy():
    score = Score("m", "refitted", 2, ("a", "b"), np.zeros(5, int), np.zeros(5, int))
    assert np.isnan(score.balanced_accuracy)
    assert score.absent == ("b",)


def test_remarks_say_what_scores_cannot_be_compared_for(heard):
    kind = np.r_[["a"] * 10, ["b"] * 12, ["c"] * 10]
    assert not classify(heard, kind, n_components=2).remarks
    remarks = classify(seeing(heard, "x", np.arange(22)), kind, n_components=2).remarks
    assert len(remarks) == 3
    assert remarks[0].startswith("which views recorded an event predicts its class")
    assert remarks[1].startswith("x recorded no event of c")
    assert "scored on different events" in remarks[2]


@pytest.mark.parametrize(
    ("missed", "told"),
    [
        (np.arange(14), "1.000"),  # all blasts
        (np.r_[np.arange(14), [14]], "0.972"),  # and an earthquake: 17 of 18 are told
        (np.r_[np.arange(7), np.arange(14, 23)], None),  # half of each class
        ([3], None),  # one: that may be chance
    ],
)
def test_how_much_is_told_by_what_is_missing_is_remarked(heard, missed, told):
    seen = np.setdiff1d(np.arange(32), missed)
    remarks = classify(seeing(heard, "x", seen), KIND, n_components=2).remarks
    found = [each for each in remarks if each.startswith("which views recorded an event predicts")]
    assert len(found) == (told is not None)
    assert all(f"balanced accuracy {told}, by chance 0.5" in each for each in found)


def test_what_is_missing_at_random_is_not_remarked():
    rng = np.random.default_rng(0)
    remarked = 0
    for _ in range(20):
        arrays = {name: rng.normal(size=(60, 2)) for name in "abc"}
        for array in arrays.values():
            array[rng.random(60) < 0.3] = np.nan
        arrays["a"][np.isnan(np.hstack([*arrays.values()])).all(axis=1)] = 0.0
        kind = np.where(rng.random(60) < 0.2, "rare", "common")
        found = classify(
            Views(arrays), kind, n_components=2, kernel="gaussian", procedures=["transductive"]
        )
        remarked += any(each.startswith("which views") for each in found.remarks)
    assert remarked <= 2


def doubled(heard):
    """Every event twice, a little apart, and labels that mean nothing."""
    rng = np.random.default_rng(1)
    arrays = {name: np.repeat(array, 2, axis=0) for name, array in heard.items()}
    for array in arrays.values():
        array += 0.01 * rng.normal(size=array.shape)
    kind = np.repeat(np.where(rng.random(32) < 0.5, "a", "b"), 2)
    return Views(arrays), kind, [(2 * k, 2 * k + 1) for k in range(32)]


def test_events_that_share_samples_do_not_judge_each_other(heard):
    views, kind, overlaps = doubled(heard)
    blind = classify(views, kind, n_components=3)
    assert min(score.accuracy for score in blind) > 0.9
    found = classify(views, kind, n_components=3, overlaps=overlaps)
    assert max(score.accuracy for score in found) < 0.85
    assert "64 of 64 events share samples with others" in found.remarks[0]
    # As if the other were not there.
    score = found.find("multi-view", procedure="refitted")
    others = np.delete(np.arange(64), 9)
    alone = classify(views[others], kind[others], n_components=3, procedures=["refitted"])
    assert score.predicted[8] == alone.find("multi-view", procedure="refitted").predicted[8]
    pairs = classify_pairs(views, kind, n_components=3, overlaps=overlaps)
    assert np.nanmax(pairs.accuracy) < 0.85
    for wrong in ((0, 64), (3, 3), (-1, 2)):
        with pytest.raises(ValueError, match="pairs of two event indices from 0 to 63, got"):
            classify(views, kind, overlaps=[wrong])


@pytest.mark.parametrize("n_others", [28, 31])
def test_an_event_that_most_others_overlap_has_no_prediction(heard, n_others):
    """Three others may judge it, which is no fit, or none; the rest goes on."""
    overlaps = [(0, k) for k in range(1, n_others + 1)]
    found = classify(heard, KIND, n_components=3, overlaps=overlaps)
    assert not found.refused
    for score in found:
        is_judged = n_others == 28 and score.procedure == "transductive"
        assert (score.labels[0] is not None) == is_judged
        assert score.n_events == 31 + is_judged


def test_an_event_without_label_is_placed_by_a_fit_without_those_that_overlap_it(heard):
    hidden = KIND.astype(object)
    hidden[[3, 9, 20]] = None
    found = classify(heard, hidden, n_components=3, procedures=["refitted"], overlaps=[(9, 10)])
    score = found.find("multi-view", procedure="refitted")
    assert None not in score.labels
    known = np.array([k for k in range(32) if k not in (3, 9, 20)])
    for event, fitted in ((3, known), (20, known), (9, known[known != 10])):
        est = paper_walk().fit(heard[fitted])
        told = neighbours().fit(est.embedding_, KIND[fitted])
        assert score.labels[event] == told.predict(est.transform(heard[[event]]))[0]


def test_fits_are_as_few_as_can_be(heard, monkeypatch):
    """One for each labelled event, one for each that overlaps one, one for all others."""
    fits = []
    fit = MultiViewDiffusionMaps.fit

    def counted(self, X, y=None):
        fits.append(len(X))
        return fit(self, X, y)

    monkeypatch.setattr(MultiViewDiffusionMaps, "fit", counted)
    hidden = KIND.astype(object)
    hidden[1::4] = None  # eight
    classify(
        heard,
        hidden,
        n_components=3,
        procedures=["refitted"],
        fusions=["hop"],
        singles=False,
        overlaps=[(1, 2), (9, 10)],
    )
    assert len(fits) == 24 + 2 + 1


def test_warnings_of_the_fits_are_remarked(heard):
    far = {name: array + 1e4 * (np.arange(32) % 2)[:, None] for name, array in heard.items()}
    found = classify(far, KIND, n_components=3)
    told = [remark for remark in found.remarks if remark.startswith("fits raised Disconnected")]
    assert len(told) == 1
    assert "x, transductive (1)" in told[0]
    assert "multi-view, refitted (32)" in told[0]


def test_a_class_whose_events_all_overlap_is_remarked(heard):
    kind = np.r_[["odd", "odd"], KIND[2:]]
    assert not any("odd" in each for each in classify(heard, kind, n_components=2).remarks)
    remarks = classify(heard, kind, n_components=2, overlaps=[(0, 1)]).remarks
    assert any("a class with one event (odd)" in each for each in remarks)


def test_what_a_refused_view_missed_is_not_remarked(heard):
    # x saw six blasts, too few for ten coordinates.
    views = seeing(heard, "x", np.arange(6))
    found = classify(views, KIND, n_components=10, procedures=["transductive"])
    assert "x" in found.refused
    assert not any(each.startswith("which views") for each in found.remarks)
    views = seeing(heard, "x", np.arange(14))
    alone = classify(views, KIND, n_components=2, fusions=(), procedures=["transductive"])
    assert not any(each.startswith("which views") for each in alone.remarks)


def test_pairs_that_saw_one_class_are_refused_and_warnings_remarked(heard):
    arrays = {name: array.copy() for name, array in heard.items()}
    arrays["x"][14:] = arrays["y"][14:] = np.nan
    pairs = classify_pairs(Views(arrays), KIND, n_components=3, kernel="gaussian")
    assert pairs.refused == {"x and y": "x and y: it recorded events of one class only, blast"}
    assert np.isnan(pairs.accuracy[0, 1])
    far = {name: array + 1e4 * (np.arange(32) % 2)[:, None] for name, array in heard.items()}
    (remark,) = classify_pairs(far, KIND, n_components=3).remarks
    assert remark.startswith("fits raised DisconnectedWarning: x and y, transductive (1)")


def test_a_class_with_one_event_is_remarked(heard):
    kind = np.r_[["odd"], KIND[1:]]
    (remark,) = classify(heard, kind, n_components=2).remarks
    assert remark.startswith("a class with one event (odd) cannot be predicted")


def test_events_with_the_same_features_are_remarked(heard):
    arrays = {name: array.copy() for name, array in heard.items()}
    arrays["y"][5:8] = arrays["y"][4]
    (remark,) = classify(arrays, KIND, n_components=2).remarks
    assert remark == "y: 3 of 32 events have the same features as another"


def test_a_method_whose_fit_fails_is_refused_and_the_others_go_on(heard):
    # x and y have four events in common: too few walks from one to the other for four coordinates.
    arrays = {name: heard[name].copy() for name in ("x", "y")}
    arrays["x"][:14] = np.nan
    arrays["y"][18:] = np.nan
    kind = np.where(np.arange(32) % 2, "a", "b")
    found = classify(Views(arrays), kind, n_components=4, kernel="gaussian")
    assert [*found.refused] == [
        "kernel product",
        "multi-view, transductive",
        "multi-view, refitted",
    ]
    assert "positive eigenvalue" in found.refused["multi-view, refitted"]
    assert {score.method for score in found} == {"x", "y", "kernel sum"}
    with pytest.raises(ValueError, match=r"no pair can be used: x and y: .*eigenvalue"):
        classify_pairs(Views(arrays), kind, n_components=4, kernel="gaussian")
    with pytest.raises(ValueError, match="no method can be used: multi-view, transductive"):
        classify(
            Views(arrays), kind, n_components=4, kernel="gaussian", singles=False, fusions=["hop"]
        )


def test_pairs_with_a_view_that_saw_too_little_are_refused(heard):
    pairs = classify_pairs(seeing(heard, "y", [0, 31]), KIND, n_components=3, n_neighbors=2)
    told = "y, in every pair: it recorded 2 labelled events, but 5 are needed"
    assert pairs.refused == {"y": told}
    expected = classify_pairs(
        {name: heard[name] for name in "xz"}, KIND, n_components=3, n_neighbors=2
    )
    assert_array_equal(np.isfinite(pairs.accuracy), [[0, 0, 1], [0, 0, 0], [1, 0, 0]])
    assert pairs.accuracy[0, 2] == expected.accuracy[0, 1]


def test_many_neighbours_need_as_many_other_events(heard):
    few = np.r_[np.arange(6), np.arange(26, 32)]
    found = classify(heard[few], KIND[few], n_components=2, n_neighbors=11)
    # Eleven others: six of the other class, five of its own.
    for score in found:
        assert score.accuracy == 0.0
    with pytest.raises(ValueError, match="at least 13 labelled events"):
        classify(heard[few], KIND[few], n_components=2, n_neighbors=12)
    with pytest.raises(ValueError, match="12 labelled events, but 13 are needed"):
        classify_pairs(heard[few], KIND[few], n_components=2, n_neighbors=12)


@pytest.mark.parametrize("procedure", ["transductive", "refitted"])
def test_pairs_are_the_coordinates_of_the_first_view_beside_the_second(heard, procedure):
    pairs = classify_pairs(heard, KIND, n_components=3, kernel="gaussian", procedure=procedure)
    assert pairs.names == ("x", "y", "z")
    assert np.isnan(np.diag(pairs.accuracy)).all()
    maps = paper_walk("gaussian")
    pair = {name: heard[name] for name in ("y", "z")}
    for row, column, columns in ((1, 2, slice(0, 3)), (2, 1, slice(3, 6))):
        if procedure == "transductive":
            embedding = maps.fit(pair).embedding_[:, columns]
            expected = cross_val_predict(neighbours(), embedding, KIND, cv=LeaveOneOut())
        else:
            expected = []
            for k in range(len(KIND)):
                others = np.arange(len(KIND)) != k
                maps.fit({name: array[others] for name, array in pair.items()})
                placed = maps.transform({name: array[[k]] for name, array in pair.items()})
                told = neighbours().fit(maps.embedding_[:, columns], KIND[others])
                expected.append(told.predict(placed[:, columns])[0])
        assert_allclose(
            pairs.accuracy[row, column], np.mean(np.array(expected) == KIND), rtol=1e-12
        )
        assert_allclose(
            pairs.balanced_accuracy[row, column],
            balanced_accuracy_score(KIND, expected),
            rtol=1e-12,
        )
    assert pairs.to_frame().loc["y", "z"] == pairs.accuracy[1, 2]


def test_pairs_take_the_events_that_one_of_them_saw(patchy):
    pairs = classify_pairs(patchy, KIND, n_components=3)
    assert np.isfinite(pairs.accuracy[~np.eye(3, dtype=bool)]).all()


def test_warnings_are_counted_and_do_not_escape(heard):
    far = {name: array.copy() for name, array in heard.items()}
    for array in far.values():
        array[3] += 1e3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = classify(far, KIND, n_components=2, fusions=["hop"], singles=False)
    score = found.find("multi-view", procedure="refitted")
    assert score.warned["FarSampleWarning"] == 1


def test_progress_ends_with_all_events_of_every_method(heard):
    said = []
    classify(heard, KIND, n_components=2, singles=False, progress=lambda *at: said.append(at))
    assert said[-1] == ("refitted, multi-view", 32, 32)
    assert ("transductive, kernel sum", 1, 1) in said


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"labels": KIND[:-1]}, "for each of 32 events, got 31"),
        ({"labels": ["a"] * 32}, "at least two classes, got a"),
        ({"labels": ["a", "b"] + [None] * 30}, "at least 7 labelled events"),
        ({"n_neighbors": 0}, "n_neighbors must be a positive integer"),
        ({"n_components": (3, 0)}, "n_components must be a positive integer"),
        ({"kernel": "precomputed"}, "expected views with features"),
        ({"fusions": ["mean"]}, "unknown fusion 'mean'"),
        ({"procedures": ["guess"]}, "unknown procedure 'guess'"),
    ],
)
def test_bad_requests_say_what_was_expected(heard, change, told):
    with pytest.raises(ValueError, match=told):
        classify(heard, **{"labels": KIND, "singles": False} | change)


def test_one_view_has_no_pairs(heard):
    with pytest.raises(ValueError, match="at least two views"):
        classify_pairs([heard["x"]], KIND)
