"""Plots of how far views agree, by what they hold: texts, positions, colours."""

from itertools import combinations, pairwise

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal

from viewhop import plotting

matplotlib.use("Agg")

NAMES = ["sound", "image", "text"]
ORDINARY, HIGH, NAMED = "#c8c8c8", "#3f90da", "#bd1f01"


@pytest.fixture
def ax():
    return Figure(layout="constrained").subplots()


@pytest.fixture
def distances():
    """Distances of 200 samples in three views, with samples that stand out."""
    values = np.random.default_rng(0).uniform(0.5, 1.5, (200, 3))
    values[17, 0] = 9.0
    values[[17, 40], 1] = 5.0, 7.0
    values[90:100, 2] = np.nan
    return values


def written(ax):
    """The text at each place."""
    return {tuple(np.round(text.get_position(), 9)): text.get_text() for text in ax.texts}


def tick_labels(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def contrast(one, other):
    """The ratio of luminances by WCAG 2, from 1 to 21."""

    def luminance(colour):
        parts = [
            c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgba(colour)[:3]
        ]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2] + 0.05

    brighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return brighter / darker


# --- view_similarity ---------------------------------------------------------------------------


def test_every_similarity_is_written_in_its_cell_and_coloured_by_it(ax):
    similarity = np.array([[1.0, 0.4, 0.05], [0.31, 1.0, 0.126], [0.2, 0.7, 1.0]])
    assert plotting.view_similarity(similarity, NAMES, ax=ax) is ax
    (mesh,) = ax.collections
    assert_allclose(mesh.get_array(), similarity, rtol=0, atol=0)
    assert mesh.get_cmap().name == "viridis"
    assert written(ax) == {
        (column + 0.5, row + 0.5): f"{similarity[row, column]:.2f}"
        for row in range(3)
        for column in range(3)
    }


def test_views_keep_their_order_from_the_upper_left(ax):
    plotting.view_similarity(np.eye(3), NAMES, ax=ax)
    assert tick_labels(ax.xaxis) == tick_labels(ax.yaxis) == NAMES
    assert_allclose(ax.get_xticks(), [0.5, 1.5, 2.5], rtol=0, atol=0)
    assert_allclose(ax.get_yticks(), [0.5, 1.5, 2.5], rtol=0, atol=0)
    assert ax.yaxis_inverted()
    assert not ax.xaxis_inverted()


def test_numbers_are_legible_on_every_colour(ax):
    similarity = np.linspace(0, 1, 100).reshape(10, 10)
    plotting.view_similarity(similarity, range(10), ax=ax)
    viridis = matplotlib.colormaps["viridis"]
    for text in ax.texts:
        column, row = np.floor(text.get_position()).astype(int)
        assert contrast(text.get_color(), viridis(similarity[row, column])) >= 4.5


@pytest.mark.parametrize("n_views", [1, 2, 6, 12, 25])
def test_numbers_fit_into_their_cells(n_views):
    ax = plotting.view_similarity(np.full((n_views, n_views), -0.25), range(n_views))
    ax.figure.draw_without_rendering()
    cell = np.ptp(ax.transData.transform([[0, 0], [1, 1]]), axis=0)
    for text in ax.texts:
        assert text.get_window_extent().width < 0.95 * abs(cell[0])
        assert text.get_window_extent().height < 0.95 * abs(cell[1])
    plt.close(ax.figure)


def test_views_without_a_common_sample_are_a_hatched_cell_with_a_dash(ax):
    similarity = np.array([[1.0, np.nan, 0.3], [0.2, 1.0, 0.4], [0.3, 0.4, 1.0]])
    plotting.view_similarity(similarity, NAMES, ax=ax)
    assert written(ax)[1.5, 0.5] == "–"
    assert list(written(ax).values()).count("–") == 1
    (patch,) = ax.patches
    assert patch.get_hatch()
    assert_allclose(patch.get_center(), [1.5, 0.5], rtol=0, atol=1e-12)
    assert_array_equal(np.ma.getmaskarray(ax.collections[0].get_array()), np.isnan(similarity))


@pytest.mark.parametrize(("value", "low"), [(0.5, 0.0), (0.0, 0.0), (-0.3, -0.3), (np.nan, 0.0)])
def test_colours_run_from_0_to_1_or_from_what_is_lower(ax, value, low):
    plotting.view_similarity([[1, value], [value, 1]], ["a", "b"], ax=ax)
    assert_allclose(ax.collections[0].get_clim(), [low, 1], rtol=0, atol=0)
    assert_allclose(ax.figure.axes[1].get_ylim(), [low, 1], rtol=0, atol=0)


@pytest.mark.parametrize(
    ("value", "text"), [(-0.126, "−0.13"), (-0.004, "0.00"), (1 + 1e-15, "1.00")]
)
def test_negative_numbers_have_a_minus_and_zero_has_none(ax, value, text):
    plotting.view_similarity([[value]], ["a"], ax=ax)
    assert list(written(ax).values()) == [text]


@pytest.mark.parametrize("n_views", [2, 6, 12])
@pytest.mark.parametrize("length", [1, 8, 15, 25])
def test_names_that_would_meet_are_slanted(n_views, length):
    names = ["m" * length] * n_views
    ax = plotting.view_similarity(np.eye(n_views), names)
    ax.figure.draw_without_rendering()
    labels = ax.get_xticklabels()
    if length == 1:
        assert {label.get_rotation() for label in labels} == {0}
    if labels[0].get_rotation() == 0:
        boxes = [label.get_window_extent() for label in labels]
        assert not any(one.overlaps(other) for one, other in pairwise(boxes))
    plt.close(ax.figure)


def test_the_colour_bar_can_be_left_out(ax):
    plotting.view_similarity(np.eye(2), ["a", "b"], ax=ax, legend=False, title="two views")
    assert len(ax.figure.axes) == 1
    assert ax.get_title(loc="left") == "two views"


@pytest.mark.parametrize(
    ("similarity", "names", "message"),
    [
        (np.eye(3)[0], NAMES, r"similarity must be \(n_views, n_views\), got \(3,\)"),
        (np.eye(3)[:2], NAMES, r"similarity must be \(n_views, n_views\), got \(2, 3\)"),
        (np.zeros((0, 0)), [], r"similarity must be \(n_views, n_views\), got \(0, 0\)"),
        (np.eye(3), NAMES[:2], "names must have one entry per view: 3, got 2"),
        (np.full((3, 3), np.inf), NAMES, "finite, or NaN where it is unknown"),
    ],
)
def test_bad_arguments_of_view_similarity_are_refused(ax, similarity, names, message):
    with pytest.raises(ValueError, match=message):
        plotting.view_similarity(similarity, names, ax=ax)


# --- disagreement ------------------------------------------------------------------------------


def dots(ax, colour, view):
    """The values drawn in this colour in the strip of a view, in increasing order."""
    positions = [np.empty((0, 2))]
    for cloud in ax.collections:
        if len(cloud.get_offsets()) and matches(cloud.get_facecolor()[0], colour):
            positions.append(np.asarray(cloud.get_offsets()))
    for line in ax.lines:
        if line.get_marker() == "o" and matches(line.get_color(), colour):
            positions.append(line.get_xydata())
    x, y = np.vstack(positions).T
    return np.sort(x[np.abs(y - view) < 0.5])


def matches(colour, other):
    return np.abs(np.subtract(to_rgba(colour)[:3], to_rgba(other)[:3])).max() < 1e-9


def labels_of(ax, view):
    """Label and value of the samples named in the strip of a view."""
    return {text.get_text(): text.xy[0] for text in ax.texts if abs(text.xy[1] - view) < 0.5}


@pytest.mark.parametrize("top", [0, 2])
def test_every_known_value_is_drawn_in_the_strip_of_its_view(ax, distances, top):
    assert plotting.disagreement(distances, NAMES, top=top, ax=ax) is ax
    for view in range(3):
        drawn = [dots(ax, colour, view) for colour in (ORDINARY, HIGH, NAMED)]
        column = distances[:, view]
        assert_allclose(
            np.sort(np.concatenate(drawn)), np.sort(column[~np.isnan(column)]), rtol=0, atol=0
        )


def test_views_keep_their_order_from_top_to_bottom(ax, distances):
    plotting.disagreement(distances, NAMES, ax=ax)
    assert tick_labels(ax.yaxis) == NAMES
    assert_allclose(ax.get_yticks(), [0, 1, 2], rtol=0, atol=0)
    assert ax.yaxis_inverted()


def test_the_axis_is_logarithmic_with_the_median_marked(ax, distances):
    plotting.disagreement(distances, NAMES, ax=ax, top=0, title="who disagrees")
    assert ax.get_xscale() == "log"
    (median,) = ax.lines
    assert_allclose(median.get_xdata(), [1, 1], rtol=0, atol=0)
    assert "1" in tick_labels(ax.xaxis)
    assert ax.get_title(loc="left") == "who disagrees"


def test_the_highest_tenth_of_each_view_has_its_colour(ax, distances):
    plotting.disagreement(distances, NAMES, top=0, ax=ax)
    for view, count in enumerate((20, 20, 19)):
        expected = np.sort(distances[:, view][~np.isnan(distances[:, view])])[-count:]
        assert_allclose(dots(ax, HIGH, view), expected, rtol=0, atol=0)


def test_samples_that_stand_out_are_named_where_they_do(ax, distances):
    plotting.disagreement(distances, NAMES, top=2, ax=ax)
    assert labels_of(ax, 0) == {"17": 9.0}
    assert labels_of(ax, 1) == {"17": 5.0, "40": 7.0}
    assert labels_of(ax, 2) == {}
    for view, expected in enumerate(([9.0], [5.0, 7.0], [])):
        assert_allclose(dots(ax, NAMED, view), expected, rtol=0, atol=0)


def test_labels_name_the_samples(ax, distances):
    ids = [f"cell-{i}" for i in range(200)]
    plotting.disagreement(distances, NAMES, labels=ids, top=2, ax=ax)
    assert labels_of(ax, 1) == {"cell-17": 5.0, "cell-40": 7.0}


def test_nothing_is_named_within_the_median(ax):
    values = np.ones((50, 2))
    values[3, 1] = 2.0
    plotting.disagreement(values, ["a", "b"], top=50, ax=ax)
    assert labels_of(ax, 0) == {}
    assert labels_of(ax, 1) == {"3": 2.0}


def test_samples_stand_out_where_more_than_half_are_zero(ax):
    values = np.zeros((50, 2))
    values[3] = 0.5
    plotting.disagreement(values, ["a", "b"], ax=ax)
    assert labels_of(ax, 0) == labels_of(ax, 1) == {"3": 0.5}


@pytest.mark.parametrize("n_views", [2, 12])
def test_labels_meet_neither_each_other_nor_the_end_of_the_axis(n_views):
    values = np.random.default_rng(0).uniform(0.5, 1.5, (300, n_views))
    values[:5] = 20.0
    names = [f"view {view}" for view in range(n_views)]
    ids = [f"sample {i:03d}" for i in range(300)]
    ax = plotting.disagreement(values, names, labels=ids)
    ax.figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert len(boxes) == 5 * n_views
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    assert max(box.x1 for box in boxes) < ax.get_window_extent().x1 + 2
    plt.close(ax.figure)


def test_names_and_labels_are_no_formulas(ax, distances):
    ids = ["$\\nothing$"] * 200
    plotting.disagreement(distances, ["$\\none$", "b", "c"], labels=ids, top=1, ax=ax)
    ax.figure.draw_without_rendering()
    assert labels_of(ax, 0) == {"$\\nothing$": 9.0}


def test_many_ordinary_samples_are_thinned_and_the_highest_tenth_is_not(ax):
    values = np.random.default_rng(0).lognormal(sigma=0.5, size=(20_000, 1))
    plotting.disagreement(values, ["a"], top=3, ax=ax)
    order = np.sort(values[:, 0])
    assert_allclose(dots(ax, NAMED, 0), order[-3:], rtol=0, atol=0)
    assert_allclose(dots(ax, HIGH, 0), order[18_000:-3], rtol=0, atol=0)
    ordinary = dots(ax, ORDINARY, 0)
    assert len(ordinary) == 3000
    assert_allclose(ordinary[[0, -1]], order[[0, 17_999]], rtol=0, atol=0)
    assert_allclose(np.median(ordinary), np.median(order[:18_000]), rtol=0.01)
    assert all(cloud.get_rasterized() for cloud in ax.collections)


def test_few_samples_stay_vectors(ax, distances):
    plotting.disagreement(distances, NAMES, ax=ax)
    assert not any(cloud.get_rasterized() for cloud in ax.collections)


def test_zeros_are_drawn_at_the_end_of_the_axis_which_says_so(ax, distances):
    distances[:30, 1] = 0.0
    distances[30, 1] = 1e-14
    plotting.disagreement(distances, NAMES, ax=ax)
    assert_allclose(dots(ax, ORDINARY, 1)[:31], 0.02, rtol=0, atol=0)
    assert dots(ax, ORDINARY, 1)[31] > 0.02
    assert tick_labels(ax.xaxis)[0] == "≤ 0.02"
    assert_allclose(ax.get_xticks()[0], 0.02, rtol=0, atol=0)
    assert ax.get_xlim()[0] < 0.02


def test_without_zeros_the_axis_begins_at_the_smallest_value(ax, distances):
    plotting.disagreement(distances, NAMES, ax=ax)
    assert 0.4 < ax.get_xlim()[0] < 0.5
    assert not any("≤" in label for label in tick_labels(ax.xaxis))


def test_a_view_of_which_nothing_is_known_says_so(ax, distances):
    distances[:, 1] = np.nan
    plotting.disagreement(distances, NAMES, top=0, ax=ax)
    assert written(ax) == {(1, 1): "nothing known"}
    assert tick_labels(ax.yaxis) == NAMES
    assert [len(dots(ax, ORDINARY, view)) for view in range(3)] == [180, 0, 171]


@pytest.mark.parametrize("values", [np.full((50, 2), np.nan), np.zeros((50, 2)), [[1.0, 3.0]]])
def test_values_without_a_distribution_are_drawn(ax, values):
    plotting.disagreement(values, ["a", "b"], ax=ax)
    ax.figure.draw_without_rendering()
    low, high = ax.get_xlim()
    assert low < 1 < high


@pytest.mark.parametrize("largest", [3.0, 40.0, 1e4, 1e9, 1e40])
def test_the_numbers_on_the_axis_do_not_meet(ax, distances, largest):
    distances[5, 0] = largest
    plotting.disagreement(distances, NAMES, ax=ax)
    ax.figure.draw_without_rendering()
    boxes = [label.get_window_extent() for label in ax.get_xticklabels()]
    assert len(boxes) >= 3
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))


def test_dots_shrink_with_their_number(distances):
    sizes = []
    for count in (50, 200):
        ax = Figure().subplots()
        plotting.disagreement(distances[:count], NAMES, ax=ax)
        sizes.append(ax.collections[0].get_sizes()[0])
    assert sizes[0] > sizes[1]


def test_a_strip_is_highest_where_its_samples_are_dense(ax):
    values = np.random.default_rng(0).lognormal(sigma=0.5, size=(2000, 1))
    plotting.disagreement(values, ["a"], top=0, ax=ax)
    x, y = np.vstack([cloud.get_offsets() for cloud in ax.collections]).T
    assert 0.35 < np.abs(y[np.abs(np.log(x)) < 0.1]).max() <= 0.4
    assert np.abs(y[np.abs(np.log(x)) > 1.2]).max() < 0.1


def test_the_same_values_give_the_same_picture(distances):
    pictures = []
    for _ in range(2):
        ax = Figure().subplots()
        plotting.disagreement(distances, NAMES, ax=ax)
        pictures.append(np.vstack([cloud.get_offsets() for cloud in ax.collections]))
    assert_allclose(pictures[0], pictures[1], rtol=0, atol=0)


def test_the_highest_tenth_is_explained_unless_left_out(distances):
    shown, hidden = Figure().subplots(), Figure().subplots()
    plotting.disagreement(distances, NAMES, ax=shown)
    plotting.disagreement(distances, NAMES, ax=hidden, legend=False)
    (text,) = shown.get_legend().get_texts()
    assert text.get_text() == "highest tenth of a view"
    (handle,) = shown.get_legend().legend_handles
    assert matches(handle.get_color(), HIGH)
    assert hidden.get_legend() is None


def test_inputs_are_left_as_they_were(ax, distances):
    similarity = np.array([[1.0, np.nan], [np.nan, 1.0]])
    before = distances.copy(), similarity.copy()
    plotting.disagreement(distances, NAMES, ax=ax)
    plotting.view_similarity(similarity, NAMES[:2], ax=ax)
    assert_array_equal(distances, before[0])
    assert_array_equal(similarity, before[1])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"values": np.ones(5)}, r"values must be \(n_samples, n_views\)"),
        ({"values": np.ones((0, 3))}, "at least one sample and one view"),
        ({"values": np.ones((5, 2))}, "names must have one entry per view: 2, got 3"),
        ({"values": np.diag([1.0, -2.0, 1.0])}, "got -2.0 in row 1, column 1"),
        ({"values": np.full((4, 3), np.inf)}, "finite and not negative, or NaN where unknown"),
        ({"values": np.ones((5, 3)), "labels": [1, 2]}, r"one entry per sample: 5, got .* \(2,\)"),
        ({"values": np.ones((5, 3)), "top": -1}, "top must be 0 or more, got -1"),
    ],
)
def test_bad_arguments_of_disagreement_are_refused(ax, arguments, message):
    with pytest.raises(ValueError, match=message):
        plotting.disagreement(arguments.pop("values"), NAMES, ax=ax, **arguments)


@pytest.mark.parametrize(
    "draw",
    [
        lambda: plotting.view_similarity(np.eye(3), NAMES),
        lambda: plotting.disagreement(np.ones((5, 3)), NAMES),
    ],
)
def test_without_axes_a_new_figure_is_made(draw):
    ax = draw()
    assert plt.fignum_exists(ax.figure.number)
    plt.close(ax.figure)
