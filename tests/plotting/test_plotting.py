"""Plots, by what they hold: positions, colours, legends."""

import sys
from types import SimpleNamespace

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal

import viewhop as vh
from viewhop import plotting

matplotlib.use("Agg")


@pytest.fixture
def ax():
    return Figure(layout="constrained").subplots()


@pytest.fixture
def Z():
    return np.random.default_rng(0).standard_normal((60, 4))


def drawn_points(ax):
    """All scattered points, in order of their first coordinate."""
    points = np.vstack([np.asarray(cloud.get_offsets()) for cloud in ax.collections])
    return points[np.argsort(points[:, 0])]


def colour_at(ax, point):
    """The colour of the point drawn at this place."""
    for cloud in ax.collections:
        offsets = np.asarray(cloud.get_offsets())
        hit = np.flatnonzero(np.abs(offsets - point).max(axis=1, initial=0) < 1e-12)
        if len(hit):
            cloud.update_scalarmappable()
            colours = cloud.get_facecolors()
            return colours[hit[0] % len(colours)]
    raise AssertionError(f"nothing is drawn at {point}")


@pytest.mark.parametrize("labels", [None, np.arange(60) % 3, np.linspace(0, 1, 60)])
def test_embedding_draws_the_chosen_columns_of_every_sample(ax, Z, labels):
    returned = plotting.embedding(Z, labels=labels, dims=(3, 1), ax=ax)
    assert returned is ax
    expected = Z[:, [3, 1]]
    assert_allclose(drawn_points(ax), expected[np.argsort(expected[:, 0])], rtol=0, atol=0)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("coordinate 4", "coordinate 2")


def test_every_sample_has_the_colour_of_its_group(ax, Z):
    labels = np.arange(60) % 10
    plotting.embedding(Z, labels=labels, ax=ax)
    handles = ax.get_legend().legend_handles
    shown = {handle.get_label(): to_rgba(handle.get_color()) for handle in handles}
    assert list(shown) == list("0123456789")
    assert len(set(shown.values())) == 10
    for point, label in zip(Z[:, :2], labels, strict=True):
        assert_allclose(colour_at(ax, point)[:3], shown[str(label)][:3], rtol=0, atol=1e-12)


def test_more_groups_than_colours_differ_by_marker(ax, Z):
    plotting.embedding(Z, labels=[f"group {i % 30:02d}" for i in range(60)], ax=ax)
    handles = ax.get_legend().legend_handles
    looks = {(handle.get_color(), handle.get_marker()) for handle in handles}
    assert len(handles) == len(looks) == 30
    clouds = [len(cloud.get_offsets()) for cloud in ax.collections]
    assert [count for count in clouds if count] == [20, 20, 20]


def test_every_value_of_a_quantity_has_its_place_on_the_colour_bar(ax, Z):
    values = np.random.default_rng(1).uniform(3, 8, 60)
    plotting.embedding(Z, labels=values, ax=ax)
    assert ax.get_legend() is None
    bar = ax.figure.axes[1]
    assert_allclose(bar.get_ylim(), [values.min(), values.max()], rtol=0, atol=1e-12)
    scale = matplotlib.colormaps["viridis"]
    part = (values - values.min()) / (values.max() - values.min())
    for point, share in zip(Z[:, :2], part, strict=True):
        assert_allclose(colour_at(ax, point)[:3], scale(share)[:3], rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("labels", "is_quantity"),
    [
        (np.arange(60) % 20, False),
        (np.arange(60) % 21, True),
        ((np.arange(60) % 3).astype(float), True),
        (np.arange(60) % 2 > 0, False),
        (["a", "b", "c"] * 20, False),
        (pd.Series(["a", None, "c"] * 20, index=range(100, 160)), False),
    ],
)
def test_numbers_are_a_quantity_and_names_are_groups(ax, Z, labels, is_quantity):
    plotting.embedding(Z, labels=labels, ax=ax)
    assert (len(ax.figure.axes) == 2) is is_quantity
    assert (ax.get_legend() is None) is is_quantity


@pytest.mark.parametrize("present", [[1.5, 2.5, 3.5], ["a", "b", "c"]])
def test_samples_without_a_label_are_grey(ax, Z, present):
    labels = pd.Series([*present, None] * 15)
    plotting.embedding(Z, labels=labels, ax=ax)
    assert len(drawn_points(ax)) == 60
    for point in Z[3::4, :2]:
        assert_allclose(colour_at(ax, point)[:3], to_rgba("#c8c8c8")[:3], rtol=0, atol=1e-12)


def test_missing_labels_are_named_in_the_legend(ax, Z):
    plotting.embedding(Z, labels=["a", None] * 30, ax=ax)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "missing"]


def test_categories_keep_their_order_and_unused_ones_are_left_out(ax, Z):
    labels = pd.Categorical(["late", "early"] * 30, categories=["early", "never", "late"])
    plotting.embedding(Z, labels=labels, ax=ax)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["early", "late"]


@pytest.mark.parametrize("labels", [np.arange(60) % 3, np.linspace(0, 1, 60)])
def test_legend_and_colour_bar_can_be_left_out(ax, Z, labels):
    plotting.embedding(Z, labels=labels, ax=ax, legend=False)
    assert ax.get_legend() is None
    assert len(ax.figure.axes) == 1


def test_groups_are_drawn_in_mixed_order(ax):
    Z = np.column_stack([np.arange(200.0), np.zeros(200)])
    plotting.embedding(Z, labels=np.repeat([0, 1], 100), ax=ax)
    (cloud,) = (cloud for cloud in ax.collections if len(cloud.get_offsets()))
    late = np.asarray(cloud.get_offsets())[100:, 0] >= 100
    assert 30 < late.sum() < 70


def test_columns_of_a_dataframe_name_the_axes(ax, Z):
    frame = pd.DataFrame(Z, columns=["rna_1", "rna_2", "protein_1", "protein_2"])
    plotting.embedding(frame, dims=(0, 2), ax=ax, title="cells")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("rna_1", "protein_1")
    assert ax.get_title(loc="left") == "cells"


def test_both_coordinates_have_the_same_unit(ax):
    plotting.embedding(np.array([[0.0, 0.0], [10.0, 1.0]]), ax=ax)
    ax.figure.draw_without_rendering()
    corner = ax.transData.transform([[0, 0], [1, 0], [0, 1]])
    across, up = corner[1, 0] - corner[0, 0], corner[2, 1] - corner[0, 1]
    assert_allclose(across, up, rtol=1e-6)


def test_points_shrink_with_their_number_and_can_be_set(ax):
    sizes = []
    for count, point_size in ((10, None), (1000, None), (100_000, None), (10, 7.0)):
        axes = Figure().subplots()
        plotting.embedding(np.zeros((count, 2)), ax=axes, point_size=point_size)
        sizes.append(axes.collections[0].get_sizes()[0])
    assert sizes[0] > sizes[1] > sizes[2]
    assert_allclose(sizes[3], 7.0, rtol=0, atol=0)


def test_inputs_are_left_as_they_were(ax, Z):
    labels = pd.Series(["a", "b"] * 30, index=range(60, 0, -1))
    before = Z.copy(), labels.copy()
    plotting.embedding(Z, labels=labels, ax=ax)
    assert_array_equal(Z, before[0])
    pd.testing.assert_series_equal(labels, before[1])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"Z": np.zeros(5)}, r"Z must be \(n_samples, n_coordinates\)"),
        ({"Z": np.zeros((0, 2))}, "at least one sample"),
        ({"Z": np.zeros((5, 2)), "dims": (0, 2)}, "from 0 to 1"),
        ({"Z": np.zeros((5, 2)), "dims": (-1, 0)}, "from 0 to 1"),
        ({"Z": np.zeros((5, 3)), "dims": (0, 1, 2)}, "dims must be two columns"),
        ({"Z": np.zeros((5, 2)), "labels": [1, 2]}, "one entry per sample: 5, got 2"),
    ],
)
def test_bad_arguments_of_embedding_are_refused(ax, arguments, message):
    with pytest.raises(ValueError, match=message):
        plotting.embedding(arguments.pop("Z"), ax=ax, **arguments)


@pytest.mark.parametrize("wrap", ["array", "eigenvalues", "eigenvalues_"])
def test_spectrum_draws_every_eigenvalue_at_its_number(ax, wrap):
    values = np.array([0.9, 0.7, 0.2, 0.1])
    source = values if wrap == "array" else SimpleNamespace(**{wrap: values})
    assert plotting.spectrum(source, n_components=2, ax=ax) is ax
    assert_allclose(drawn_points(ax), np.column_stack([[1, 2, 3, 4], values]), rtol=0, atol=0)


def test_spectrum_marks_the_components_in_use(ax):
    plotting.spectrum([0.9, 0.7, 0.2, 0.1], n_components=2, ax=ax)
    assert [text.get_text() for text in ax.texts] == ["r = 2"]
    assert any(set(line.get_xdata()) == {2.5} for line in ax.lines)
    kept, left = (colour_at(ax, point)[:3] for point in ([2, 0.7], [3, 0.2]))
    assert np.abs(kept - left).max() > 0.2


def test_spectrum_marks_nothing_unless_asked(ax):
    plotting.spectrum([0.9, 0.7, 0.2], ax=ax)
    assert not ax.texts
    assert len(ax.lines) == 1


def test_negative_eigenvalues_stay_in_the_picture(ax):
    plotting.spectrum([0.9, 0.1, -0.6], ax=ax, title="all of them")
    assert ax.get_ylim()[0] < -0.6
    assert ax.get_title(loc="left") == "all of them"


@pytest.mark.parametrize("n_components", [0, 4])
def test_more_components_than_eigenvalues_are_refused(ax, n_components):
    with pytest.raises(ValueError, match="between 1 and the number of eigenvalues 3"):
        plotting.spectrum([0.9, 0.7, 0.2], n_components=n_components, ax=ax)


@pytest.mark.parametrize("values", [[], [[0.5, 0.1]], 0.5])
def test_what_is_no_list_of_eigenvalues_is_refused(ax, values):
    with pytest.raises(ValueError, match="a Spectrum or a fitted estimator"):
        plotting.spectrum(values, ax=ax)


@pytest.mark.parametrize(
    "draw", [lambda: plotting.embedding(np.eye(3)), lambda: plotting.spectrum([0.5, 0.1])]
)
def test_without_axes_a_new_figure_is_made(draw):
    import matplotlib.pyplot as plt

    ax = draw()
    assert plt.fignum_exists(ax.figure.number)
    plt.close(ax.figure)


def test_without_matplotlib_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r'pip install "viewhop\[plot\]"'):
        plotting.embedding(np.eye(3))


@pytest.fixture(scope="module")
def joint_scales():
    rolls = vh.datasets.make_swiss_rolls(200, noise=0.1, random_state=0)
    return vh.bandwidth.joint(rolls.views)


def test_the_bandwidth_surface_shows_log_s_and_marks_the_scales(joint_scales):
    ax = plotting.bandwidth_surface(joint_scales, pair=("y", "x"), title="Algorithm 1")
    mesh = ax.collections[0]
    surface = joint_scales.surfaces["y", "x"]
    assert_allclose(np.sort(mesh.get_array().ravel()), np.sort(surface.values.ravel()), rtol=1e-12)
    assert ax.get_xlabel() == "scale of y"
    assert ax.get_ylabel() == "scale of x"
    assert ax.get_xscale() == ax.get_yscale() == "log"
    (x,), (y,) = ax.lines[-1].get_data()
    assert_allclose([x, y], [joint_scales.scales["y"], joint_scales.scales["x"]], rtol=1e-12)


def test_the_bandwidth_slice_is_the_first_row_and_marks_the_scale(joint_scales):
    ax = plotting.bandwidth_slice(joint_scales)
    surface = joint_scales.surfaces["x", "y"]
    curve = ax.lines[2]
    assert_allclose(curve.get_xdata(), surface.scales, rtol=1e-12)
    assert_allclose(curve.get_ydata(), surface.values[:, 0], rtol=1e-12)
    assert_allclose(ax.lines[3].get_xdata(), [joint_scales.scales["x"]], rtol=1e-12)


@pytest.mark.parametrize("rule", ["minimal", "steepest"])
def test_the_bandwidth_slice_shades_its_linear_range_by_the_rule_in_use(rule):
    rolls = vh.datasets.make_swiss_rolls(200, noise=0.1, random_state=0)
    found = vh.bandwidth.joint(rolls.views, rule=rule)
    ax = plotting.bandwidth_slice(found, pair=("y", "x"))
    (band,) = ax.patches
    ends = band.get_x(), band.get_x() + band.get_width()
    assert_allclose(ends, found.ranges["y", "x"][0], rtol=1e-12)
    without = found._replace(ranges={pair: np.full((60, 2), np.nan) for pair in found.ranges})
    assert not plotting.bandwidth_slice(without).patches


def test_an_unknown_pair_of_views_is_named(joint_scales):
    with pytest.raises(ValueError, match="no surface for the pair"):
        plotting.bandwidth_surface(joint_scales, pair=("x", "z"))
