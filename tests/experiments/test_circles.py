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
from viewhop.experiments._results_store import as_stored


@pytest.fixture(scope="module")
def result():
    return as_stored(find("circles").run(Context(quick=True, trials=2)))


def accuracy(result, setting):
    return np.asarray(result.numbers["accuracy"][setting], dtype=float)


def test_accuracies_are_shares_of_the_right_size(result):
    for setting in ("max-min", "joint", "10 neighbours"):
        values = accuracy(result, setting)
        assert values.shape == (2, 2, 7)
        known = values[~np.isnan(values)]
        # The best match of two equal classes and two clusters is right for half at least.
        assert known.min() >= 0.5
        assert known.max() <= 1


def test_only_kernel_cca_has_no_neighbour_kernel(result):
    absent = np.isnan(accuracy(result, "10 neighbours")).any(axis=(0, 1))
    assert [name for name, no in zip(result.numbers["methods"], absent, strict=True) if no] == [
        "kernel CCA"
    ]
    assert not np.isnan(accuracy(result, "max-min")).any()


def test_the_hop_walk_finds_circles_of_little_noise(result):
    column = result.numbers["methods"].index("multi-view")
    for setting in ("max-min", "10 neighbours"):
        assert accuracy(result, setting)[0, :, column].mean() >= 0.95


def test_tables_are_means_over_trials(result):
    for table, setting in zip(result.tables, ("max-min", "joint", "10 neighbours"), strict=True):
        means = accuracy(result, setting).mean(axis=1)
        for column, row in enumerate(table.rows):
            shown = np.array(row[1:], dtype=float)
            assert_allclose(shown, means[:, column], rtol=1e-12)


def test_scales_are_those_of_eq_24():
    data = make_circles(200, random_state=0)
    kernels = circles._kernels(data.views, "max-min")
    for name, kernel in kernels.items():
        assert_allclose(kernel.bandwidth, bandwidth.max_min(data.views[name]), rtol=1e-12)


def test_the_kernel_product_is_that_of_concatenated_views():
    data = make_circles(120, random_state=0)
    kernels = circles._kernels(data.views, "max-min")
    found = circles._embeddings(data.views, kernels, 0)["kernel product"]()
    both = np.hstack([data.views["x"], data.views["y"]])
    variance = sum(kernel.bandwidth**2 for kernel in kernels.values())
    K = np.exp(-((both[:, None] - both[None]) ** 2).sum(axis=2) / (2 * variance))
    values, vectors = np.linalg.eig(K / K.sum(axis=1, keepdims=True))
    second = vectors[:, np.argsort(values.real)[-2]].real
    assert abs(np.corrcoef(found[:, 0], second)[0, 1]) > 1 - 1e-6


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


def test_levels_are_those_where_the_difference_is_more_than_a_little():
    assert circles._noise_list((0.1, 0.2, 0.3), np.array([0.5, 0.005, -0.5])) == "σ_n = 0.1"
    assert circles._noise_list((0.1, 0.2), np.array([0.0, -1.0])) == "no noise"


def test_the_same_seed_gives_the_same_numbers(result):
    again = as_stored(find("circles").run(Context(quick=True, trials=2)))
    assert again.numbers == result.numbers


def test_the_picture_has_a_panel_per_setting_and_one_legend(result):
    (picture,) = find("circles").draw(result).values()
    assert [len(ax.lines) for ax in picture.figure.axes] == [7, 7, 6]
    assert all("σ_n" in ax.get_xlabel() for ax in picture.figure.axes)
    (legend,) = picture.figure.legends
    assert [text.get_text() for text in legend.get_texts()] == result.numbers["methods"]
    looks = {(line.get_color(), line.get_marker()) for line in picture.figure.axes[0].lines}
    assert len(looks) == 7


def test_trials_of_the_paper_stand_beside_ours(result):
    assert find("circles").trials == (20, 2, 200)
    assert result.ran["trials"] == 2
    assert "200" in result.paper["trials"]
