"""Metrics and weights that views choose for each other."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import viewhop as vh
from viewhop.kernels import Correlation, Gaussian, Precomputed, kernels_by_view
from viewhop.selection import agreement_weights, choose_metrics, plain_metric, select

AUTO = Gaussian("local", n_neighbors=10, metric="auto")


def word_counts(rng, n, width):
    """Two views of documents on mixed topics: words, with a length of its own in each view."""
    words = rng.dirichlet(np.full(5, 0.5), n) @ rng.dirichlet(np.full(width, 0.3), 5)
    lengths = np.exp(rng.normal(5, 1.2, (2, n))).astype(int) + 5
    return [
        np.array([rng.multinomial(m, p) for m, p in zip(length, words, strict=True)], dtype=float)
        for length in lengths
    ]


def selected(views, kernel=AUTO, **options):
    views = vh.Views(views)
    return select(kernels_by_view(kernel, views.names), views, **options)


def test_word_counts_choose_an_angle_and_spirals_do_not():
    documents = word_counts(np.random.default_rng(0), 400, 60)
    assert all("cosine" in name for name in selected(documents).metrics.values())
    rolls = vh.datasets.make_gapped_rolls(random_state=0).views
    assert set(selected(rolls).metrics.values()) == {"euclidean"}


def test_features_in_different_units_are_standardised():
    rng = np.random.default_rng(0)
    shared = rng.standard_normal((500, 4))
    views = [
        (shared + 0.2 * rng.standard_normal((500, 4))) * [1, 1, 1, 1],
        np.column_stack([shared[:, :3], 1e4 * rng.standard_normal(500)]),
    ]
    assert selected(views).metrics["view2"] == "standardized"


def test_views_of_few_features_are_not_compared_by_angles():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 4))
    assert set(selected([X, X[:, :2]]).scores["view1"]) == {"euclidean", "standardized"}


def test_a_view_of_noise_gets_next_to_no_weight():
    digits = vh.datasets.load_mfeat().views
    rng = np.random.default_rng(0)
    views = {name: digits[name] for name in ("fac", "kar", "zer")}
    selection = selected({**views, "noise": rng.standard_normal((2000, 30))})
    assert selection.weights["noise"] < 0.05
    assert min(selection.weights[name] for name in views) > 0.5
    assert max(selection.weights.values()) == 1.0


def test_two_views_have_equal_weights():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 3))
    assert selected([X, X + rng.standard_normal(X.shape)]).weights == {"view1": 1.0, "view2": 1.0}


def test_scores_are_the_agreement_with_the_chosen_metrics_of_the_others():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 6))
    selection = selected([X, X + 0.5 * rng.standard_normal(X.shape), X[:, ::-1]])
    agreement = selection.agreement
    for l, (name, metric) in enumerate(selection.metrics.items()):
        others = np.delete(agreement[l], l)
        assert_allclose(selection.scores[name][metric], others.mean(), rtol=1e-12)
    assert_array_equal(agreement, agreement.T)
    assert_array_equal(np.diagonal(agreement), 1.0)


def test_the_choice_ignores_random_state_and_threads():
    rng = np.random.default_rng(0)
    views = [rng.standard_normal((3500, 5)), rng.standard_normal((3500, 6))]
    first, second = (
        vh.MultiViewDiffusionMaps(2, random_state=seed, n_jobs=n_jobs).fit(views)
        for seed, n_jobs in ((0, 1), (1, 2))
    )
    assert first.metric_scores_ == second.metric_scores_
    assert first.view_weights_ == second.view_weights_


def test_a_permutation_of_samples_leaves_the_choice_and_about_the_numbers():
    digits = vh.datasets.load_mfeat().views[::4]
    order = np.random.default_rng(0).permutation(len(digits))
    first, second = selected(digits), selected(digits[order])
    assert first.metrics == second.metrics
    assert_allclose(first.agreement, second.agreement, atol=0.005)  # ties are broken otherwise


def test_a_pair_with_few_common_samples_carries_no_evidence():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    observed = np.ones((200, 3), dtype=bool)
    observed[40:, 2] = False  # 40 samples in common with each of the others
    selection = selected(vh.Views([X, X + 0.1, X], observed=observed))
    assert np.isnan(selection.agreement[2, :2]).all()
    assert selection.scores["view3"] == {}
    assert_allclose(selection.weights["view3"], np.mean([1.0, 1.0]))
    few = selected([X[:40], X[:40]])
    assert few.weights == {"view1": 1.0, "view2": 1.0}
    assert set(few.metrics.values()) == {"euclidean"}


def test_agreement_of_incomplete_views_is_that_of_their_common_samples():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3))
    Y = X + 0.3 * rng.standard_normal(X.shape)
    observed = rng.random((300, 2)) < 0.7
    observed[:, 0] |= ~observed.any(axis=1)
    both = observed.all(axis=1)
    kernel = Gaussian("local", n_neighbors=10)
    whole = selected(vh.Views([X, Y], observed=observed), kernel)
    part = selected([X[both], Y[both]], kernel)
    assert_allclose(whole.agreement, part.agreement, rtol=1e-12)


def test_a_precomputed_kernel_takes_part():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 3))
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=-1))
    kernels = {"x": AUTO, "k": Precomputed()}
    selection = selected({"x": X, "k": K}, kernels)
    assert selection.metrics == {"x": "euclidean", "k": "precomputed"}
    assert_allclose(selection.agreement[0, 1], 1.0)


def test_a_fixed_metric_is_kept_and_compared():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 6))
    kernels = {"a": Gaussian("local", n_neighbors=5, metric="cosine"), "b": AUTO}
    selection = selected({"a": X, "b": X}, kernels)
    assert selection.metrics == {"a": "cosine", "b": "cosine"}
    assert list(selection.scores["a"]) == ["cosine"]


def test_a_row_that_a_kernel_refuses_is_reported_by_the_kernel():
    X = np.random.default_rng(0).standard_normal((100, 5))
    flat = X.copy()
    flat[70] = 2.0
    with pytest.raises(ValueError, match="row 70 of view 'view2' is constant"):
        vh.MultiViewDiffusionMaps(2, kernel=["adaptive", Correlation()]).fit([X, flat])


@pytest.mark.parametrize(
    ("X", "metric"),
    [
        (np.eye(8), "cosine"),
        (np.eye(8)[:, :4], "euclidean"),  # too few features
        (np.eye(8) - 0.5, "euclidean"),  # negative values
        (np.eye(8) + 1.0, "euclidean"),  # few zeros
    ],
)
def test_a_view_without_company_is_compared_by_a_plain_rule(X, metric):
    assert plain_metric(X) == metric
    many = np.tile(X, (9, 1)) * np.random.default_rng(0).uniform(1, 2, (72, 1))
    assert selected([many]).metrics == {"view1": metric}


def test_euclidean_is_left_only_for_a_clearly_better_metric():
    names = [["euclidean", "cosine"], ["euclidean", "cosine"]]
    slightly = {(0, 1): np.array([[0.50, 0.2], [0.2, 0.60]])}
    clearly = {(0, 1): np.array([[0.50, 0.2], [0.2, 0.61]])}
    assert choose_metrics(names, slightly) == [0, 0]  # both would have to be 21 % better
    assert choose_metrics(names, clearly) == [1, 1]


def test_ties_go_to_the_earlier_candidate():
    names = [["euclidean", "standardized", "cosine"]] * 2
    assert choose_metrics(names, {(0, 1): np.zeros((3, 3))}) == [0, 0]
    assert choose_metrics(names, {}) == [0, 0]


def test_the_ascent_finds_the_best_of_all_assignments():
    rng = np.random.default_rng(0)
    labels = ["euclidean", "standardized", "cosine"]
    hits = 0
    for _ in range(40):
        tables = {(l, m): rng.uniform(0, 1, (3, 3)) for l, m in ((0, 1), (0, 2), (1, 2))}
        favour = np.array([1.1, 1.0, 1.0])
        totals = {
            choice: sum(
                table[choice[l], choice[m]] * favour[choice[l]] * favour[choice[m]]
                for (l, m), table in tables.items()
            )
            for choice in np.ndindex(3, 3, 3)
        }
        found = tuple(choose_metrics([labels] * 3, tables))
        hits += totals[found] >= max(totals.values()) - 1e-12
        assert totals[found] >= 0.8 * max(totals.values())
    assert hits >= 30  # a local search from each uniform start, not an exhaustive one


def test_weights_are_sums_of_agreements_with_a_floor():
    agreement = np.array([[1.0, 0.5, 0.3], [0.5, 1.0, -0.2], [0.3, -0.2, 1.0]])
    assert_allclose(agreement_weights(agreement), np.array([0.8, 0.3, 0.1]) / 0.8, rtol=1e-12)
    hostile = np.array([[1.0, 0.5, -0.3], [0.5, 1.0, -0.2], [-0.3, -0.2, 1.0]])
    assert_allclose(agreement_weights(hostile), [0.2 / 0.3, 1.0, 1e-4 / 0.3], rtol=1e-12)
    assert_array_equal(agreement_weights(np.full((3, 3), np.nan)), 1.0)
