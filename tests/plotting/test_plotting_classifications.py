"""Pictures of confusion and of pairs, by what they hold."""

from __future__ import annotations

from io import BytesIO

import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from viewhop import plotting


@pytest.fixture
def ax():
    return Figure(layout="constrained").subplots()


def test_cells_have_counts_and_the_colours_of_shares(ax):
    counts = [[30, 10], [0, 5]]
    assert plotting.confusion(counts, ["a", "b"], ax=ax, title="T") is ax
    assert [text.get_text() for text in ax.texts] == ["30", "10", "0", "5"]
    (mesh,) = ax.collections
    assert_allclose(mesh.get_array().reshape(2, 2), [[0.75, 0.25], [0, 1]], rtol=1e-15)
    assert mesh.get_clim() == (0, 1)
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("class", "predicted")
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b"]
    assert ax.get_ylim() == (2, 0)  # the first class is above


def test_a_class_without_samples_is_hatched(ax):
    plotting.confusion([[3, 1], [0, 0]], ["a", "b"], ax=ax, legend=False)
    assert [text.get_text() for text in ax.texts] == ["3", "1", "–", "–"]
    assert len(ax.patches) == 2
    assert len(ax.figure.axes) == 1


def test_first_views_are_rows_and_percents_are_written(ax):
    pairs = np.array([[np.nan, 0.905], [0.731, np.nan]])
    plotting.pair_accuracy(pairs, ["Z", "N"], ax=ax)
    assert [text.get_text() for text in ax.texts] == ["–", "90.5", "73.1", "–"]
    assert ax.collections[0].get_clim() == (70, 100)
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("first view", "second view")


def test_colours_leave_room_where_all_are_right(ax):
    plotting.pair_accuracy([[np.nan, 1], [1, np.nan]], ["Z", "N"], ax=ax)
    assert ax.collections[0].get_clim() == (90, 100)


def test_names_are_no_formulas(ax):
    plotting.confusion(np.eye(2), ["$\\frac$", "<b>"], ax=ax)
    ax.figure.savefig(BytesIO())
    assert ax.get_yticklabels()[0].get_text() == "$\\frac$"


@pytest.mark.parametrize(
    ("draw", "values", "message"),
    [
        (plotting.confusion, [[1, 2]], "n_classes"),
        (plotting.confusion, [[0.5, 1], [1, 1]], "whole numbers"),
        (plotting.confusion, [[-1, 1], [1, 1]], "whole numbers"),
        (plotting.pair_accuracy, np.eye(3), "n_views"),
        (plotting.pair_accuracy, [[np.nan, 90], [91, np.nan]], "between 0 and 1"),
    ],
)
def test_bad_values_are_refused(ax, draw, values, message):
    with pytest.raises(ValueError, match=message):
        draw(values, ["a", "b"], ax=ax)
