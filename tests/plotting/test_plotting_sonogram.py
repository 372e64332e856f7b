"""The picture of a sonogram, by what it holds."""

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from viewhop import plotting
from viewhop.seismic.sonogram import band_edges

matplotlib.use("Agg")


@pytest.fixture
def ax():
    return Figure(layout="constrained").subplots()


@pytest.fixture
def S():
    shares = np.random.default_rng(0).uniform(0, 1, (14, 192))
    return shares / shares.sum(axis=1, keepdims=True)


def test_every_share_is_drawn_at_its_time_and_band(ax, S):
    edges = band_edges()
    assert plotting.sonogram(S, edges=edges, ax=ax, title="P") is ax
    (mesh,) = ax.collections
    assert_allclose(mesh.get_array().reshape(14, 192), S, rtol=0, atol=0)
    corners = mesh.get_coordinates()
    middles = (corners[0, :-1, 0] + corners[0, 1:, 0]) / 2
    assert_allclose(middles, (np.arange(192) * 25 + 128) / 40, rtol=1e-12)
    assert_allclose(corners[:, 0, 1], edges, rtol=1e-15)
    assert ax.get_title(loc="left") == "P"


def test_bands_are_equal_steps_of_a_logarithmic_axis(ax, S):
    plotting.sonogram(S, ax=ax)
    heights = np.log2(ax.collections[0].get_coordinates()[:, 0, 1])
    assert_allclose(np.diff(heights), 0.5, rtol=1e-12)
    assert_allclose(2 ** heights[[0, -1]], [40 / 256, 20], rtol=1e-12)
    assert ax.get_yscale() == "log"
    ax.figure.draw_without_rendering()
    labels = {label.get_text() for label in ax.get_yticklabels()}
    assert {"0.2", "0.5", "1", "2", "5", "10", "20"} <= labels


def test_default_edges_are_those_of_the_bands_up_to_rounding(S):
    drawn = plotting.sonogram(S, ax=Figure().subplots()).collections[0].get_coordinates()[:, 0, 1]
    assert (np.abs(drawn - band_edges()) <= 40 / 256).all()


def test_another_rate_stretches_both_axes(ax, S):
    plotting.sonogram(S, sampling_rate=80, ax=ax)
    corners = ax.collections[0].get_coordinates()
    assert_allclose(corners[0, 0, 0], 115.5 / 80, rtol=1e-12)
    assert_allclose(corners[-1, 0, 1], 40, rtol=1e-12)


@pytest.mark.parametrize("legend", [True, False])
def test_the_colour_bar_can_be_left_out(ax, S, legend):
    plotting.sonogram(S, ax=ax, legend=legend)
    assert len(ax.figure.axes) == 1 + legend


def test_a_sonogram_without_energy_is_drawn(ax):
    plotting.sonogram(np.zeros((3, 5)), ax=ax)
    ax.figure.draw_without_rendering()


@pytest.mark.parametrize("bad", [np.ones(5), np.ones((2, 3, 4)), np.ones((0, 5))])
def test_only_one_trace_is_drawn(bad):
    with pytest.raises(ValueError, match="sonogram of one trace"):
        plotting.sonogram(bad)


def test_shares_must_be_shares(S):
    S[0, 0] = np.nan
    with pytest.raises(ValueError, match="finite and not negative"):
        plotting.sonogram(S)


@pytest.mark.parametrize("edges", [np.arange(15), np.arange(1, 15), np.ones(15)])
def test_edges_must_rise_and_fit(S, edges):
    with pytest.raises(ValueError, match="edges must be 15 increasing positive frequencies"):
        plotting.sonogram(S, edges=edges)
