"""The plot of a map: every sample, in its colour, on axes that claim nothing."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from tests.plotting.test_plotting import drawn_points
from viewhop import plotting


@pytest.fixture
def ax():
    return Figure(layout="constrained").subplots()


@pytest.fixture
def positions():
    return np.random.default_rng(0).standard_normal((60, 2))


@pytest.mark.parametrize("labels", [None, np.arange(60) % 3, np.linspace(0, 1, 60)])
@pytest.mark.parametrize("wrapped", [False, True])
def test_map_draws_every_sample_of_a_layout_or_of_positions(ax, positions, labels, wrapped):
    layout = SimpleNamespace(positions=positions) if wrapped else positions
    assert plotting.map(layout, labels=labels, ax=ax) is ax
    expected = positions[np.argsort(positions[:, 0])]
    assert_allclose(drawn_points(ax), expected, rtol=0, atol=0)


def test_axes_of_a_map_have_one_scale_and_neither_ticks_nor_names(ax, positions):
    plotting.map(positions, ax=ax, title="digits")
    assert [*ax.get_xticks(), *ax.get_yticks()] == []
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("", "")
    assert ax.get_aspect() == 1
    assert ax.get_title(loc="left") == "digits"


def test_groups_have_a_legend_and_a_quantity_has_a_colour_bar(ax, positions):
    plotting.map(positions, labels=["a", "b"] * 30, ax=ax)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b"]
    plain = Figure(layout="constrained").subplots()
    plotting.map(positions, labels=np.linspace(0, 1, 60), ax=plain)
    assert plain.get_legend() is None
    assert len(plain.figure.axes) == 2
    bare = Figure(layout="constrained").subplots()
    plotting.map(positions, labels=np.linspace(0, 1, 60), ax=bare, legend=False)
    assert len(bare.figure.axes) == 1


@pytest.mark.parametrize("shape", [(0, 2), (5, 3), (5,)])
def test_what_is_no_layout_is_refused(ax, shape):
    with pytest.raises(ValueError, match="expected a Layout, or positions"):
        plotting.map(np.zeros(shape), ax=ax)


def test_labels_of_other_samples_are_refused(ax, positions):
    with pytest.raises(ValueError, match="one entry per sample: 60, got 3"):
        plotting.map(positions, labels=[1, 2, 3], ax=ax)
