"""The plot of distances between views."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest

from viewhop import plotting

mpl.use("Agg")


def test_every_pair_has_its_number_and_a_pair_without_one_a_dash():
    matrix = [[0, 1.25, np.nan], [1.25, 0, 12345.6], [np.nan, 12345.6, 0]]
    ax = plotting.view_distances(matrix, ["a", "b", "c"], title="apart")
    assert [text.get_text() for text in ax.texts] == [
        "0", "1.25", "–", "1.25", "0", "1.23e+04", "–", "1.23e+04", "0",
    ]  # fmt: skip
    assert ax.get_title(loc="left") == "apart"
    assert ax.collections[0].get_clim() == (0.0, 12345.6)
    ax.figure.canvas.draw()


def test_views_that_are_equal_are_drawn():
    assert plotting.view_distances(np.zeros((2, 2)), "xy").collections[0].get_clim() == (0.0, 1.0)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.zeros((2, 3)), r"got \(2, 3\)"),
        (np.zeros((3, 3)), "one entry per view: 3, got 2"),
        ([[0, -1], [-1, 0]], "at least 0"),
        ([[0, np.inf], [np.inf, 0]], "finite"),
    ],
    ids=["shape", "names", "negative", "infinite"],
)
def test_what_is_no_matrix_of_distances_is_refused(matrix, message):
    with pytest.raises(ValueError, match=message):
        plotting.view_distances(matrix, ["a", "b"])
