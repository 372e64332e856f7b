"""The layout of samples: reproducible, complete, and fixed while new samples are placed on it."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError

import viewhop as vh
from viewhop.geometry import _tsne as tsne

needs_tsne = pytest.mark.skipif(
    not tsne.has_tsne(), reason='openTSNE is not installed: pip install "viewhop[map]"'
)
N_GROUPS = 6


@pytest.fixture(scope="module")
def groups():
    """The group of each of 180 samples."""
    return np.arange(180) % N_GROUPS


@pytest.fixture(scope="module")
def views(groups):
    """Two views of six groups."""
    rng = np.random.default_rng(0)
    centres = [6 * np.eye(N_GROUPS), 5 * np.eye(N_GROUPS)[::-1]]
    return [C[groups] + rng.standard_normal((180, N_GROUPS)) for C in centres]


@pytest.fixture(scope="module")
def fitted(views):
    kernel = vh.kernels.Gaussian("local", n_neighbors=40)
    return vh.MultiViewDiffusionMaps(5, kernel=kernel, random_state=0).fit(views)


@pytest.fixture(scope="module")
def layout(fitted):
    return vh.lay_out(fitted)


@pytest.fixture
def without_tsne(monkeypatch):
    """A viewhop without the extra."""
    monkeypatch.setitem(sys.modules, "openTSNE", None)


def purity(positions, groups):
    """Share of the ten nearest points that are of the same group."""
    distances = np.linalg.norm(positions[:, None] - positions, axis=2)
    nearest = np.argsort(distances, axis=1)[:, 1:11]
    return np.mean(groups[nearest] == groups[:, None])


@pytest.fixture(scope="module")
def digits():
    data = vh.datasets.load_mfeat()
    est = vh.MultiViewDiffusionMaps(9, random_state=0).fit(data.views)
    return est, vh.lay_out(est), data.target


@needs_tsne
def test_the_map_separates_digits_that_two_coordinates_do_not(digits):
    est, layout, classes = digits
    assert (layout.method, layout.note, len(layout)) == ("tsne", "", 2000)
    mixed, by_coordinates = (
        1 - purity(positions, classes) for positions in (layout.positions, est.embedding_[:, :2])
    )
    assert mixed < 0.06
    assert mixed < by_coordinates / 2


@needs_tsne
def test_no_digit_is_placed_on_another_group(digits):
    est, layout, _ = digits
    placed = layout.place(est.embedding_)
    assert_allclose(placed, layout.positions, rtol=0, atol=0.01 * np.ptp(layout.positions))


@needs_tsne
def test_groups_are_apart_on_the_map(layout, groups):
    assert purity(layout.positions, groups) > 0.97


@needs_tsne
@pytest.mark.parametrize("many", [100, 5_000])
def test_a_seed_gives_the_same_bits_for_any_number_of_threads(fitted, monkeypatch, many):
    monkeypatch.setattr(tsne, "MANY", many)
    monkeypatch.setattr(tsne, "EARLY", 50)  # two threads on a busy core are slow
    monkeypatch.setattr(tsne, "LATE", 50)
    first = vh.lay_out(fitted, random_state=3, n_jobs=1)
    again = vh.lay_out(fitted, random_state=3, n_jobs=2)
    assert_array_equal(first.positions, again.positions)


@needs_tsne
def test_another_seed_gives_another_map(fitted, layout):
    other = vh.lay_out(fitted, random_state=4)
    assert np.abs(other.positions - layout.positions).max() > 0


@needs_tsne
def test_the_geometry_has_the_layout_of_its_estimator(fitted, layout):
    assert_array_equal(vh.lay_out(fitted.geometry_).positions, layout.positions)


@needs_tsne
@pytest.mark.parametrize("many", [100, 5_000])
def test_training_samples_are_placed_near_their_own_positions(fitted, monkeypatch, many):
    monkeypatch.setattr(tsne, "MANY", many)
    layout = vh.lay_out(fitted)
    before = layout.positions.copy()
    placed = layout.place(fitted.embedding_)
    size = np.ptp(layout.positions)
    assert_allclose(placed, layout.positions, rtol=0, atol=0.02 * size)
    assert_array_equal(layout.positions, before)
    # A second call finds the map where the first one left it.
    assert_allclose(layout.place(fitted.embedding_), placed, rtol=0, atol=1e-9 * size)


@needs_tsne
@pytest.mark.parametrize("many", [100, 5_000])
def test_new_samples_land_in_their_group_one_by_one_as_in_a_batch(views, groups, monkeypatch, many):
    monkeypatch.setattr(tsne, "MANY", many)
    kernel = vh.kernels.Gaussian("local", n_neighbors=40)
    est = vh.MultiViewDiffusionMaps(5, kernel=kernel, random_state=0)
    est.fit([rows[:150] for rows in views])
    layout = vh.lay_out(est)
    new = est.transform([views[0][150:], None])
    placed = layout.place(new)
    distances = np.linalg.norm(placed[:, None] - layout.positions, axis=2)
    assert np.mean(groups[distances.argmin(axis=1)] == groups[150:]) > 0.9
    alone = np.vstack([layout.place(row[None]) for row in new])
    assert_allclose(alone, placed, rtol=0, atol=1e-9 * np.ptp(layout.positions))
    assert layout.place(new[:0]).shape == (0, 2)


@needs_tsne
def test_beyond_the_limit_some_samples_are_laid_out_and_the_others_placed(
    fitted, groups, monkeypatch
):
    monkeypatch.setattr(tsne, "BATCH", 25)
    stages = []
    layout = vh.lay_out(fitted, max_samples=120, progress=lambda *stage: stages.append(stage))
    assert layout.note == "120 of 180 samples were laid out, and the others placed among them"
    assert np.isfinite(layout.positions).all()
    assert purity(layout.positions, groups) > 0.95
    assert ("map", 0, 750) in stages
    assert ("map", 750, 750) in stages
    assert [done for stage, done, _ in stages if stage != "map"] == [0, 25, 25, 50, 50, 60]
    again = vh.lay_out(fitted, max_samples=120)
    assert_array_equal(again.positions, layout.positions)
    whole = vh.lay_out(fitted, max_samples=None)
    assert whole.note == ""


@needs_tsne
def test_copies_of_a_sample_lie_together():
    rng = np.random.default_rng(0)
    rows = np.repeat(rng.standard_normal((30, 3)), 4, axis=0)
    est = vh.MultiViewDiffusionMaps(3, random_state=0).fit([rows, rows**3])
    layout = vh.lay_out(est)
    copies = layout.positions.reshape(30, 4, 2)
    assert np.isfinite(copies).all()
    spread = np.ptp(copies, axis=1).max()
    assert spread < 0.1 * np.ptp(layout.positions)


@needs_tsne
@pytest.mark.filterwarnings("ignore::viewhop.errors.DisconnectedWarning")
def test_pieces_of_a_walk_are_apart_on_the_map():
    rng = np.random.default_rng(0)
    piece = np.repeat([0, 1], [50, 40])
    rows = rng.standard_normal((90, 2)) + 1000 * piece[:, None]
    est = vh.MultiViewDiffusionMaps(2, random_state=0).fit([rows, rows + 1])
    layout = vh.lay_out(est)
    assert np.isfinite(layout.positions).all()
    assert purity(layout.positions, piece) == 1


@needs_tsne
def test_the_map_does_not_depend_on_the_scale_of_the_coordinates(fitted):
    rows = fitted.embedding_
    drawn = [
        tsne.draw_map(
            scale * rows,
            scale * rows[:, :2],
            generator=np.random.default_rng(0),
            n_jobs=1,
            progress=lambda *stage: None,
        ).positions
        for scale in (1.0, 2.0**-700, 2.0**500)
    ]
    assert_allclose(drawn[1], drawn[0], rtol=0, atol=1e-6 * np.ptp(drawn[0]))
    assert_allclose(drawn[2], drawn[0], rtol=0, atol=1e-6 * np.ptp(drawn[0]))


@needs_tsne
@pytest.mark.parametrize("output", ["concat", "mean"])
def test_float32_stays_float32_and_missing_views_have_a_place(views, output):
    first, second = (rows.astype(np.float32) for rows in views)
    first[:20] = np.nan
    est = vh.MultiViewDiffusionMaps(3, kernel="gaussian", output=output, random_state=0)
    est.fit([first, second])
    layout = vh.lay_out(est)
    assert layout.positions.dtype == layout.place(est.embedding_[:2]).dtype == np.float32
    assert np.isfinite(layout.positions).all()


def test_without_the_extra_it_is_the_first_two_coordinates_and_says_so(fitted, without_tsne):
    layout = vh.lay_out(fitted)
    assert layout.method == "coordinates"
    assert layout.note == 'a map needs openTSNE (pip install "viewhop[map]")'
    assert "viewhop[map]" in repr(layout)
    expected = fitted.embedding_[:, :2]
    assert_allclose(layout.positions, expected, rtol=0, atol=1e-12)
    assert_allclose(layout.place(fitted.embedding_[7:9]), expected[7:9], rtol=0, atol=1e-12)


def test_coordinates_of_views_side_by_side_are_averaged(views, without_tsne):
    est = vh.MultiViewDiffusionMaps(3, kernel="gaussian", output="concat", random_state=0)
    est.fit(views)
    blocks = [*est.view_embeddings_.values()]
    expected = (blocks[0][:, :2] + blocks[1][:, :2]) / 2
    assert_allclose(vh.lay_out(est).positions, expected, rtol=0, atol=1e-12)


def test_one_coordinate_has_zeros_next_to_it(views, without_tsne):
    est = vh.DiffusionMaps(1, kernel="gaussian", random_state=0).fit(views[0])
    layout = vh.lay_out(est)
    assert_allclose(layout.positions[:, 0], est.embedding_[:, 0], rtol=0, atol=1e-12)
    assert_allclose(layout.positions[:, 1], 0, atol=0)


@pytest.mark.filterwarnings("ignore::viewhop.errors.UnderflowWarning")
@pytest.mark.parametrize(
    ("n_samples", "n_steps", "note"),
    [(9, 1, "at least 10 samples"), (40, 1e9, "different coordinates")],
)
def test_where_no_map_is_possible_it_says_why(n_samples, n_steps, note):
    rows = np.random.default_rng(0).standard_normal((n_samples, 3))
    est = vh.MultiViewDiffusionMaps(2, n_steps=n_steps, kernel="gaussian", random_state=0)
    layout = vh.lay_out(est.fit([rows, rows[:, :2]]))
    assert layout.method == "coordinates"
    assert note in layout.note
    assert layout.positions.shape == (n_samples, 2)


@needs_tsne
def test_ten_samples_and_one_coordinate_are_enough_for_a_map():
    rows = np.random.default_rng(0).standard_normal((10, 3))
    est = vh.DiffusionMaps(1, kernel="gaussian", random_state=0).fit(rows)
    layout = vh.lay_out(est)
    assert layout.method == "tsne"
    assert np.isfinite(layout.positions).all()


def test_positions_cannot_be_written_by_accident(layout):
    with pytest.raises(ValueError, match="read-only"):
        layout.positions[0] = 0


@pytest.mark.parametrize(
    ("embedding", "message"),
    [
        (np.zeros((3, 4)), r"\(n_new, 5\), got an array of shape \(3, 4\)"),
        (np.zeros(5), "pass what transform returns"),
        (np.full((1, 5), np.nan), "not finite"),
    ],
)
def test_what_is_no_embedding_of_new_samples_is_refused(layout, embedding, message):
    with pytest.raises(ValueError, match=message):
        layout.place(embedding)


@pytest.mark.parametrize("max_samples", [0, 9, 2.5, "all"])
def test_a_limit_that_is_none_is_refused(fitted, max_samples):
    with pytest.raises(ValueError, match="max_samples must be None or an integer"):
        vh.lay_out(fitted, max_samples=max_samples)


def test_a_source_without_a_geometry_is_refused():
    with pytest.raises(NotFittedError):
        vh.lay_out(vh.MultiViewDiffusionMaps())
    with pytest.raises(TypeError, match="expected a Geometry"):
        vh.lay_out(np.zeros((20, 2)))
