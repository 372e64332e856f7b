"""Text from the data is drawn as it is, whatever it says, and wrong arguments are named."""

from __future__ import annotations

import matplotlib
import numpy as np
import pytest

import viewhop as vh
from viewhop import plotting
from viewhop.kernels import Gaussian

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import pandas as pd

#: Text that is a broken formula, or has a meaning elsewhere in matplotlib, or no glyph.
TEXTS = (
    r"$\frac{$",
    "$$",
    "a_b^c",
    "^_{}",
    "_begins with an underscore",
    "two\nlines\r\n",
    "very long " * 400,
    "עברית العربية",
    "😀 emoji",
    "\x00\x07 control",
    "\ud800 alone",
    "100 % & #1 ~ \\",
    "",
)
# A font without the glyph draws a box and warns, which is no fault of the label.
pytestmark = pytest.mark.filterwarnings("ignore:Glyph:UserWarning", "ignore:.*glyph:UserWarning")


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def saved(ax, tmp_path):
    """Draw and save as a bitmap and as vectors, which measure text in different ways."""
    for suffix in ("png", "svg"):
        ax.figure.savefig(tmp_path / f"plot.{suffix}")
    assert (tmp_path / "plot.png").stat().st_size > 1000


@pytest.mark.parametrize("text", TEXTS)
def test_labels_and_column_names_of_an_embedding_are_drawn(text, tmp_path):
    points = np.random.default_rng(0).standard_normal((12, 2))
    # pandas holds no names that are not valid Unicode.
    frame = points if "\ud800" in text else pd.DataFrame(points, columns=[text, "b"])
    labels = [text, "other", None] * 4
    ax = plotting.embedding(frame, labels=labels, title=text)
    saved(ax, tmp_path)
    names = [entry.get_text() for entry in ax.get_legend().get_texts()]
    assert len(names) == 3
    assert max(map(len, names)) <= 60
    if text.isprintable() and len(text) < 40:
        assert ax.get_title(loc="left") == text


@pytest.mark.parametrize("text", TEXTS)
def test_labels_and_titles_of_a_map_are_drawn(text, tmp_path):
    places = np.random.default_rng(0).standard_normal((12, 2))
    saved(plotting.map(places, labels=[text, "b"] * 6, title=text), tmp_path)


@pytest.mark.parametrize("text", TEXTS)
def test_names_of_views_and_samples_are_drawn(text, tmp_path):
    names = [text, "other"]
    saved(plotting.view_similarity([[1, 0.4], [0.4, 1]], names, title=text), tmp_path)
    saved(plotting.confusion([[4, 2], [1, 6]], names, title=text), tmp_path)
    saved(plotting.pair_accuracy([[0.9, 0.8], [0.9, 1]], names, title=text), tmp_path)
    values = np.random.default_rng(0).uniform(0.5, 1.5, (20, 2))
    values[3, 1] = 9
    samples = [f"{text}{k}" for k in range(20)]
    saved(plotting.disagreement(values, names, labels=samples, title=text), tmp_path)


@pytest.mark.parametrize("text", TEXTS)
def test_titles_of_spectra_and_sonograms_are_drawn(text, tmp_path):
    saved(plotting.spectrum([0.9, 0.5], title=f"{text} and several more words {text}"), tmp_path)
    saved(plotting.sonogram(np.full((4, 20), 0.05), title=text), tmp_path)


@pytest.mark.parametrize("text", [text for text in TEXTS if text.isprintable() and text])
def test_names_of_views_beside_their_scales_are_drawn(text, tmp_path):
    rolls = vh.datasets.make_swiss_rolls(60, noise=0.1, random_state=0).views
    joint = vh.bandwidth.joint({text: rolls["x"], "y": rolls["y"]})
    saved(plotting.bandwidth_surface(joint, title=text), tmp_path)
    saved(plotting.bandwidth_slice(joint, title=text), tmp_path)


def test_a_dollar_sign_is_drawn_as_it_is():
    ax = plotting.embedding(np.eye(2), labels=["$x$", "$y$"], title="$5 and $6")
    assert [text.get_parse_math() for text in ax.get_legend().get_texts()] == [False, False]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["$x$", "$y$"]


# --- arguments --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def rolls():
    return vh.datasets.make_swiss_rolls(60, noise=0.1, random_state=0).views


def test_an_estimator_is_drawn_by_its_embedding(rolls):
    est = vh.MultiViewDiffusionMaps(2, random_state=0).fit(rolls)
    clusters = vh.MultiViewSpectralClustering(2, random_state=0).fit(rolls)
    for source, points in ((est, est.embedding_), (clusters, clusters.embedder_.embedding_)):
        if points.shape[1] < 2:
            continue
        drawn = np.asarray(plotting.embedding(source).collections[0].get_offsets())
        assert sorted(map(tuple, drawn)) == sorted(map(tuple, points[:, :2]))


def test_an_estimator_that_is_not_fitted_is_named():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError, match="MultiViewDiffusionMaps"):
        plotting.embedding(vh.MultiViewDiffusionMaps())


@pytest.mark.parametrize(
    ("draw", "expected"),
    [
        (lambda est: plotting.embedding(object()), "est.embedding_"),
        (lambda est: plotting.embedding(Gaussian()), "est.embedding_"),
        (lambda est: plotting.map(est), r"viewhop\.lay_out\(est\)"),
        (lambda est: plotting.disagreement(est, ["a"]), r"est\.disagreement\(\)"),
        (lambda est: plotting.view_similarity(est, ["a"]), r"est\.view_similarity\(\)"),
    ],
)
def test_what_cannot_be_drawn_is_named_with_what_to_pass(rolls, draw, expected):
    est = vh.MultiViewDiffusionMaps(2, random_state=0).fit(rolls)
    with pytest.raises(TypeError, match=rf"{expected}.*got"):
        draw(est)
