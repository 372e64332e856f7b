"""The experiment on circles over noise."""

from __future__ import annotations

import warnings
from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_allclose

from viewhop import bandwidth
from viewhop.datasets import make_circles
from viewhop.errors import DisconnectedWarning
from viewhop.experiments import Context, find
from viewhop.experiments import _circles as circles
from viewhop.experiments._circles_methods import METHODS, SETTINGS, build_kernels, list_embeddings
from viewhop.experiments._findings import CONDITIONAL, FAILS, HOLDS
from viewhop.experiments._results_store import as_stored

TINY = Context(quick=True, trials=2)


@pytest.fixture(scope="module")
def result():
    return as_stored(find("circles").run(TINY))


def accuracy(result, setting):
    return np.asarray(result.numbers["accuracy"][setting], dtype=float)


def table(result, title):
    [found] = [each for each in result.tables if title in each.title]
    return {row[0]: row[1:] for row in found.rows}


def test_accuracies_are_shares_of_the_right_size(result):
    for setting in SETTINGS:
        values = accuracy(result, setting)
        assert values.shape == (2, 2, 8)
        known = values[~np.isnan(values)]
        # The best match of two equal classes and two clusters is right for half at least.
        assert known.min() >= 0.5
        assert known.max() <= 1


def test_only_kernel_cca_has_no_neighbour_kernel(result):
    absent = np.isnan(accuracy(result, "10 neighbours")).any(axis=(0, 1))
    assert [name for name, no in zip(METHODS, absent, strict=True) if no] == ["kernel CCA"]
    assert not np.isnan(accuracy(result, "max-min, C = 1")).any()


def test_the_hop_walk_finds_circles_of_little_noise(result):
    column = METHODS.index("multi-view")
    for setting in SETTINGS:
        assert accuracy(result, setting)[0, :, column].mean() >= 0.95


def test_tables_are_means_and_deviations_over_trials(result):
    for setting in SETTINGS:
        values = accuracy(result, setting)
        rows = table(result, f"over trials; {setting}")
        for column, method in enumerate(METHODS):
            for level, cell in enumerate(rows[method]):
                draws = values[level, :, column]
                expected = f"{draws.mean():.3f} ± {draws.std(ddof=1):.3f}"
                assert cell == (None if np.isnan(draws).any() else expected)
        draws = values.mean(axis=0)[:, METHODS.index("multi-view")]
        overall = table(result, "in the mean over all noise")["multi-view"]
        expected = f"{draws.mean():.3f} ± {draws.std(ddof=1):.3f}"
        assert overall[SETTINGS.index(setting)] == expected


def test_scales_are_those_of_their_rules():
    views = make_circles(200, random_state=0).views
    largest = {name: bandwidth.max_min(views[name]) for name in views.names}
    expected = {
        "max-min, C = 1": largest,
        "max-min, C = 0.1": {name: np.sqrt(0.1) * scale for name, scale in largest.items()},
        "connected": bandwidth.connected(views),
        "Algorithm 1": bandwidth.joint(views).scales,
    }
    for setting, scales in expected.items():
        kernels = build_kernels(views, setting)
        for name, kernel in kernels.items():
            assert_allclose(kernel.bandwidth, scales[name], rtol=1e-12)


def second_vector(K):
    """The first non-trivial eigenvector of the walk on a kernel."""
    values, vectors = np.linalg.eig(K / K.sum(axis=1, keepdims=True))
    return vectors[:, np.argsort(values.real)[-2]].real


@pytest.mark.parametrize("torn", [(), METHODS])
def test_both_kernel_products_are_what_they_are_called(torn):
    data = make_circles(120, random_state=0)
    kernels = build_kernels(data.views, "max-min, C = 1")
    found = list_embeddings(data.views, kernels, 0, torn=torn)
    squares = {name: ((X[:, None] - X[None]) ** 2).sum(axis=2) for name, X in data.views.items()}
    variances = {name: kernel.bandwidth**2 for name, kernel in kernels.items()}
    product = sum(squares[name] / variances[name] for name in squares)
    concat = sum(squares.values()) / sum(variances.values())
    for method, exponent in (("kernel product", product), ("kernel product, concat", concat)):
        first = found[method]()[:, 0]
        assert abs(np.corrcoef(first, second_vector(np.exp(-exponent / 2)))[0, 1]) > 1 - 1e-6


def test_isolated_shares_are_ordered_by_what_joins_more(result):
    for values in result.numbers["isolated"].values():
        x, y, hop, product, _ = np.moveaxis(np.asarray(values), -1, 0)
        assert (hop <= np.minimum(x, y)).all()
        assert (product >= np.maximum(x, y)).all()
    assert np.max(result.numbers["isolated"]["connected"], axis=(0, 1))[2] == 0


def scores(lead):
    """Accuracies of ten draws in which multi-view leads by so much, by setting."""
    noise = 0.001 * np.random.default_rng(0).standard_normal((1, 10, 8))
    values = {}
    for setting, by in lead.items():
        values[setting] = np.full((1, 10, 8), 0.7) + noise
        values[setting][:, :, -1] += by
    return values


def test_the_lead_is_judged_in_the_papers_setting_first():
    def judge(printed, other):
        [finding] = circles._findings(scores({"max-min, C = 1": printed, "connected": other}))
        return finding.verdict

    assert judge(0.1, 0.0) == HOLDS
    assert judge(0.0, 0.1) == CONDITIONAL
    assert judge(-0.1, -0.1) == FAILS
    assert circles._findings({"max-min, C = 1": np.zeros((1, 1, 8))}) == ()


def test_the_run_judges_its_claim(result):
    [finding] = result.findings
    assert finding.claim == "circles-ahead"
    assert all(setting in finding.evidence for setting in SETTINGS)


def test_expected_warnings_are_counted_once_and_others_come_through():
    seen = Counter()

    def work():
        with circles._count_warnings(seen):
            for warning in (DisconnectedWarning("in pieces"), DisconnectedWarning("in more")):
                warnings.warn(warning, stacklevel=1)
            warnings.warn("odd", RuntimeWarning, stacklevel=1)

    with pytest.warns(RuntimeWarning, match="odd"):
        work()
    assert seen == {DisconnectedWarning: 1}


@pytest.mark.parametrize(
    ("values", "expected"), [([1, 0.96, 0.7, 0.99], 0.2), ([0.5, 1, 1, 1], None), ([1] * 4, 0.4)]
)
def test_last_noise_is_where_all_smaller_ones_are_good_too(values, expected):
    assert circles._last_good_noise(values, (0.1, 0.2, 0.3, 0.4)) == expected


def test_the_same_seed_gives_the_same_numbers(result):
    again = as_stored(find("circles").run(TINY))
    assert again.numbers == result.numbers


def test_the_picture_has_a_panel_per_setting_and_one_legend(result):
    figure, _ = find("circles").draw(result)[""]
    assert [len(ax.lines) for ax in figure.axes] == [8, 8, 8, 8, 7]
    assert [ax.get_title(loc="left") for ax in figure.axes] == [*SETTINGS]
    assert all("σ_n" in ax.get_xlabel() for ax in figure.axes)
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == result.numbers["methods"]
    looks = {(line.get_color(), line.get_marker()) for line in figure.axes[0].lines}
    assert len(looks) == 8


def test_the_data_have_their_own_picture(result):
    figure, caption = find("circles").draw(result)["data"]
    assert [ax.get_xlabel() for ax in figure.axes] == ["x[1]", "y[1]"]
    assert "Fig. 21" in caption
    inner, outer = figure.axes[0].collections
    assert len(inner.get_offsets()) == len(outer.get_offsets()) == 150


def test_trials_of_the_paper_stand_beside_ours(result):
    assert find("circles").trials == (10, 2, 200)
    assert result.ran["trials"] == 2
    assert "200" in result.paper["trials"]
