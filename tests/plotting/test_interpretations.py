"""Plots of explanations and of stability."""

from __future__ import annotations

import matplotlib
import numpy as np
import pytest

import viewhop as vh

matplotlib.use("Agg")
KERNEL = vh.kernels.Gaussian(factor=30.0)


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    s = rng.uniform(size=90)
    views = {
        "a": np.column_stack([s, -s, rng.standard_normal(90) / 20]),
        "$b$": np.column_stack([3 * s]),
    }
    return vh.MultiViewDiffusionMaps(2, kernel=KERNEL, fusion="sum").fit(views), views


def test_strips_are_the_profiles_of_the_strongest_features(fitted):
    explained = vh.explain(*fitted)
    ax = vh.plotting.explanation(explained, "fused_1", n_features=2)
    (image,) = ax.images
    np.testing.assert_array_equal(image.get_array(), explained.profiles[:2])
    names = explained.frame[["view", "feature"]].head(2).agg(": ".join, axis=1)
    assert [label.get_text() for label in ax.get_yticklabels()] == [*names]
    assert [text.get_text() for text in ax.texts] == [
        f"{strength:.2f}" for strength in explained.frame["strength"].head(2)
    ]
    assert ax.get_title(loc="left") == "fused_1"
    assert ax.images[0].colorbar is not None
    ax.figure.draw_without_rendering()


def test_a_coordinate_by_number_with_title_and_without_legend(fitted):
    _, given = matplotlib.pyplot.subplots()
    ax = vh.plotting.explanation(vh.explain(*fitted), 0, ax=given, title="$t$", legend=False)
    assert ax is given
    assert ax.get_title(loc="left") == "$t$"
    assert ax.images[0].colorbar is None


def test_noise_has_no_strips():
    X = [np.random.default_rng(0).standard_normal((60, 2))]
    est = vh.DiffusionMaps(1, kernel=KERNEL).fit(X)
    explained = vh.explain(est, [np.random.default_rng(1).standard_normal((60, 2))])
    explained.frame["shape"] = "none"
    ax = vh.plotting.explanation(explained)
    assert [text.get_text() for text in ax.texts] == ["no feature changes along it"]


def test_intervals_are_drawn_in_the_order_of_the_samples(fitted):
    found = vh.stability(*fitted, n_repeats=3)
    ax = vh.plotting.stability(found, 1)
    (line,) = ax.lines
    np.testing.assert_array_equal(line.get_ydata(), np.sort(found.embedding[:, 1]))
    assert ax.get_title(loc="left") == "fused_2"
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["90 % of the subsamples", "all samples"]
    assert vh.plotting.stability(found, "fused_1", title="x").get_title(loc="left") == "x"


@pytest.mark.parametrize("draw", ["explanation", "stability"])
def test_unknown_coordinates_are_refused(fitted, draw):
    found = vh.explain(*fitted) if draw == "explanation" else vh.stability(*fitted, n_repeats=2)
    plot = getattr(vh.plotting, draw)
    with pytest.raises(ValueError, match="there is no 'x'; choose from fused_1, fused_2"):
        plot(found, "x")
    with pytest.raises(ValueError, match="there are 2, numbered from 0, got 2"):
        plot(found, 2)
