"""The experiments on two cameras."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from viewhop.errors import DataMissingError
from viewhop.experiments import Context, find
from viewhop.experiments import _films as films
from viewhop.experiments import _turntables as turntables
from viewhop.experiments._results_store import as_stored


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    empty = tmp_path_factory.mktemp("empty")
    return {
        name: as_stored(find(name).run(Context(quick=True, trials=2, data_home=empty)))
        for name in ("video-gap", "video-noise")
    }


def scores(result):
    """The least correlation and the widest gap of all films."""
    return {row[0]: (row[2], row[4]) for row in result.tables[0].rows}


@pytest.mark.parametrize("name", ["video-gap", "video-noise"])
@pytest.mark.parametrize("scale", ["max-min", "10 neighbours"])
def test_the_circle_is_recovered_in_both_cameras(results, name, scale):
    found = scores(results[name])
    for view in "xy":
        correlation, gap = found[f"multi-view, {view}; {scale}"]
        assert correlation >= 0.99
        assert gap < 60


@pytest.mark.parametrize("name", ["video-gap", "video-noise"])
def test_contrasting_waggons_need_a_narrow_kernel_and_the_page_says_so(results, name):
    found = scores(results[name])
    for view in "xy":
        assert found[f"multi-view, {view}; 10 neighbours; contrasting waggons"][0] >= 0.99
        assert found[f"multi-view, {view}; max-min; contrasting waggons"][0] < 0.9
    (remark,) = [text for text in results[name].remarks if "light and dark waggons" in text]
    assert "not recovered" in remark


def test_a_camera_with_a_gap_sees_a_bow(results):
    found = scores(results["video-gap"])
    for view in "xy":
        assert found[f"{view} alone; 10 neighbours"][1] > 80


def test_noise_frames_spoil_the_kernel_product_more_than_the_walk(results):
    found = scores(results["video-noise"])
    assert found["kernel product; max-min"][0] < 0.9
    assert found["kernel product; max-min"][1] > 90


def test_missing_rows_come_out_whole_where_the_walker_may_stay(results):
    result = results["video-gap"]
    correlation, gap = scores(result)["missing rows, η = 0.5; 10 neighbours"]
    assert correlation >= 0.99
    assert gap < 20
    assert len(result.numbers["embeddings"]["missing rows, η = 0.5; 10 neighbours"]) == 220
    assert len(result.numbers["embeddings"]["multi-view, x; 10 neighbours"]) == 200


def test_cameras_lose_as_many_frames_as_the_papers_at_different_times(results):
    for name, count in (("video-gap", 20), ("video-noise", 10)):
        lost = results[name].numbers["lost"]
        assert len(lost["x"]) == len(lost["y"]) == count
        assert not set(lost["x"]) & set(lost["y"])


def test_removed_frames_shift_the_partners_between_the_gaps():
    phase = 2 * np.pi * np.arange(12) / 12
    lost = np.zeros((12, 2), dtype=bool)
    lost[2:4, 0] = lost[8:10, 1] = True
    circle = np.column_stack([np.cos(phase), np.sin(phase)])
    film = films.Film(circle, circle, phase, lost)
    found = dict(films.all_methods(film, films.MAX_MIN, "gap", 0))
    x, y = (found[f"multi-view, {view}"].truth for view in "xy")
    late = np.round((x - y) / (2 * np.pi / 12)).astype(int)
    assert_array_equal(late, [0, 0, 2, 2, 2, 2, 2, 2, 0, 0])


def test_the_second_camera_sees_each_pose_a_quarter_turn_later():
    pictures = np.arange(72.0)[:, None] * np.ones(5)
    phase = 2 * np.pi * np.arange(72) / 72
    gap = turntables.film_turntable(pictures, phase, "gap", np.random.default_rng(0))
    assert_array_equal(gap.lost.sum(axis=0), [7, 7])
    seen = ~gap.lost.any(axis=1)
    assert_array_equal(gap.y[seen, 0], (gap.x[seen, 0] + 18) % 72)
    assert_array_equal(np.isnan(gap.x).all(axis=1), gap.lost[:, 0])
    assert_array_equal(pictures[:, 0], np.arange(72))
    noise = turntables.film_turntable(pictures, phase, "noise", np.random.default_rng(0))
    assert_array_equal(noise.lost.sum(axis=0), [3, 3])
    assert np.isfinite(noise.x).all()


def test_coil_comes_out_as_circles_where_poses_differ(monkeypatch):
    # Four "objects" whose 72 pictures lie on a closed curve in 4 dimensions: all are recovered.
    angles = 2 * np.pi * np.arange(72) / 72
    waves = [np.cos(angles), np.sin(angles), np.cos(2 * angles), np.sin(2 * angles)]
    images = 128 + 60 * np.stack(waves, axis=1).reshape(1, 72, 2, 2)

    class Coil:
        phase = angles

    Coil.images = np.tile(images, (4, 1, 1, 1))
    monkeypatch.setattr(turntables, "load_coil20", lambda home: Coil)
    (table,), remarks, count = turntables.compare_objects(Context(), "gap")
    found = {row[0]: row[1:] for row in table.rows}
    assert count == 4
    assert found["multi-view; two neighbours"][0] == 4
    assert_allclose(found["multi-view; two neighbours"][1], 1, rtol=0, atol=0.01)
    assert "4 objects" in remarks[0]


def test_without_coil_the_page_says_which_file_is_missing(results):
    for result in results.values():
        assert len(result.tables) == 1
        assert result.ran["objects of COIL-20"] == 0
        assert "coil20_64.npz" in result.remarks[-1]
        assert "Columbia" in result.remarks[-1]


def test_missing_data_are_no_error_of_the_train(monkeypatch):
    def missing(home):
        raise DataMissingError("there is no such file", "coil20_64.npz")

    monkeypatch.setattr(turntables, "load_coil20", missing)
    assert turntables.compare_objects(Context(), "noise") == (
        (),
        ("Without COIL-20: there is no such file.",),
        0,
    )


def test_the_stand_in_is_called_one(results):
    for result in results.values():
        assert "stand-in" in result.remarks[0]
        assert result.ran["film"] != result.paper["film"]
        assert result.ran["pixels"] != result.paper["pixels"]


@pytest.mark.parametrize("name", ["video-gap", "video-noise"])
def test_the_picture_has_two_frames_and_six_embeddings(results, name):
    (picture,) = find(name).draw(results[name]).values()
    frames = [ax for ax in picture.figure.axes if ax.images]
    panels = [ax for ax in picture.figure.axes if ax.get_xlabel() == "coordinate 1"]
    assert (len(frames), len(panels)) == (2, 6)
    assert len({ax.get_title(loc="left") for ax in panels}) == 6
    bars = [ax for ax in picture.figure.axes if "radians" in ax.get_ylabel()]
    assert len(bars) == 6
