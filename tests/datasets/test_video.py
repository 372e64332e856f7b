"""The film of the train, and the pictures it is made of."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from viewhop.datasets import make_train_video
from viewhop.datasets._rendering import FINE, Box, Camera
from viewhop.datasets._video import _track, _track_points, _train

SMALL = (32, 24)


@pytest.fixture(scope="module")
def film():
    return make_train_video(220, size=SMALL, random_state=0)


def box(heading=0.7):
    return Box(np.array([3.0, -2.0, 4.0]), heading, np.array([8.0, 4.0, 6.0]), 100.0)


def is_inside(points, box):
    """Points in the box, by its three pairs of planes."""
    c, s = np.cos(box.heading), np.sin(box.heading)
    shifted = points - box.middle
    along = shifted[..., 0] * c + shifted[..., 1] * s
    across = -shifted[..., 0] * s + shifted[..., 1] * c
    local = np.stack([along, across, shifted[..., 2]], axis=-1)
    return (np.abs(local) <= box.sides / 2).all(axis=-1)


def test_rays_meet_a_box_where_small_steps_along_them_do():
    generator = np.random.default_rng(0)
    origin = np.array([-40.0, 10.0, 25.0])
    rays = box().middle + generator.normal(0, 5, (300, 3)) - origin
    distance, light = box().hits(origin, rays)
    steps = np.linspace(0, 3, 6001)
    inside = is_inside(origin + steps[:, None, None] * rays, box())
    met = inside.any(axis=0)
    assert 50 < met.sum() < 250
    # A ray that grazes an edge for less than a step is met by the formula alone.
    assert not np.any(met & np.isinf(distance))
    assert np.sum(~met & np.isfinite(distance)) < 5
    assert_allclose(distance[met], steps[inside.argmax(axis=0)][met], rtol=0, atol=steps[1])
    assert light.min() >= 0.45 - 1e-12
    assert light.max() <= 1


def test_rays_from_behind_a_box_miss_it():
    origin = np.array([-40.0, 10.0, 25.0])
    distance, _ = box().hits(origin, (origin - box().middle)[None, :])
    assert_array_equal(distance, [np.inf])


def test_corners_are_at_half_the_diagonal_and_inside_but_not_beyond():
    corners = box().corners()
    assert_allclose(np.linalg.norm(corners - box().middle, axis=1), np.sqrt(116) / 2, rtol=1e-12)
    towards = box().middle + 0.999 * (corners - box().middle)
    assert is_inside(towards, box()).all()
    assert not is_inside(box().middle + 1.001 * (corners - box().middle), box()).any()


def chequers(points):
    return 100.0 + 50.0 * ((np.floor(points / 7).sum(axis=1) % 2) == 0)


def test_points_of_the_table_are_seen_where_their_rays_pass():
    camera = Camera((-30, -90, 70), size=SMALL, lens=1.2, table=chequers)
    rows, columns = np.indices(camera.shape) + 0.5
    places = camera.project(camera.ground.reshape(-1, 3))
    assert_allclose(places, np.column_stack([rows.ravel(), columns.ravel()]), rtol=0, atol=1e-8)
    assert_allclose(camera.ground[..., 2], 0, rtol=0, atol=1e-9)


def test_an_empty_table_is_the_mean_over_the_rays_of_a_pixel():
    camera = Camera((-30, -90, 70), size=SMALL, lens=1.2, table=chequers)
    fine = chequers(camera.ground[..., :2].reshape(-1, 2)).reshape(camera.shape)
    blocks = [
        [fine[FINE * i : FINE * (i + 1), FINE * j : FINE * (j + 1)].mean() for j in range(SMALL[0])]
        for i in range(SMALL[1])
    ]
    assert_allclose(camera.picture([]), blocks, rtol=1e-12)


def test_the_nearer_box_hides_the_other_whatever_their_order():
    camera = Camera((0, -100, 60), size=SMALL, lens=1.2, table=lambda points: 0 * points[:, 0])
    near = Box(np.array([0.0, -10.0, 5.0]), 0.0, np.array([30.0, 5.0, 10.0]), 250.0)
    far = Box(np.array([0.0, 10.0, 5.0]), 0.0, np.array([30.0, 5.0, 10.0]), 50.0)
    picture = camera.picture([near, far])
    assert_array_equal(picture, camera.picture([far, near]))
    row, column = (camera.project(near.middle[None, :])[0] / FINE).astype(int)
    assert_allclose(picture[row, column], camera.picture([near])[row, column], rtol=1e-12)
    assert picture[row, column] > 100


def test_a_box_has_a_shadow_on_the_side_away_from_the_light():
    camera = Camera((0, -100, 90), size=(160, 120), lens=1.2, table=lambda at: 200 + 0 * at[:, 0])
    thing = Box(np.array([0.0, 0.0, 5.0]), 0.0, np.array([8.0, 8.0, 10.0]), 200.0)
    picture = camera.picture([thing])
    beside = np.array([[6.0, 2.0, 0.0], [-11.0, 0.0, 0.0]])
    rows, columns = (camera.project(beside) / FINE).astype(int).T
    assert_allclose(picture[rows, columns], [0.55 * 200, 200], rtol=1e-12)


def test_the_track_is_a_closed_eight_of_even_steps():
    stations, length = _track()
    steps = np.linalg.norm(np.roll(stations, -1, axis=0) - stations, axis=1)
    assert_allclose(steps, length / len(stations), rtol=1e-4)
    # Both branches pass the middle, at the start and half-way, in different directions.
    middle = len(stations) // 2
    assert_allclose(stations[[0, middle]], 0, rtol=0, atol=1e-2)
    first, second = stations[1] - stations[0], stations[middle + 1] - stations[middle]
    assert abs(first @ second) < 0.9 * np.linalg.norm(first) * np.linalg.norm(second)
    assert_allclose(
        _track_points(np.array([length + 5.0]), stations, length),
        _track_points(5.0, stations, length),
    )


def test_vehicles_follow_each_other_along_the_track():
    stations, length = _track()
    for front in (0.0, 0.3 * length, 0.8 * length):
        boxes = _train(front, stations, length, (60.0, 50.0, 60.0))
        bodies = [boxes[0], *boxes[3:]]
        for each in bodies:
            gap = np.min(np.linalg.norm(stations - each.middle[:2], axis=1))
            assert gap < 1.5
            assert each.middle[2] > 0
        places = np.array([each.middle[:2] for each in bodies])
        assert np.all(np.linalg.norm(np.diff(places, axis=0), axis=1) > 8)


def test_views_are_the_frames_and_phases_are_even(film):
    assert film.views.names == ("x", "y")
    for name in ("x", "y"):
        assert film.frames[name].shape == (220, 24, 32)
        assert_array_equal(film.views[name], film.frames[name].reshape(220, -1))
        assert film.frames[name].min() >= 0
        assert film.frames[name].max() <= 255
    assert_allclose(film.phase, 2 * pi * np.arange(220) / 220, rtol=1e-12)
    assert not film.missing.any()
    assert not film.noisy.any()


def test_the_nearest_frame_is_the_next_one_in_both_cameras(film):
    ahead = np.arange(220)
    apart = np.abs(np.subtract.outer(ahead, ahead))
    apart = np.minimum(apart, 220 - apart)
    for name in ("x", "y"):
        distances = cdist(film.views[name], film.views[name])
        np.fill_diagonal(distances, np.inf)
        assert_array_equal(apart[ahead, distances.argmin(axis=1)], 1)
        # At the crossing, too: frames half a round apart are no neighbours.
        assert distances[apart > 30].min() > 2 * distances[apart == 1].max()


def test_contrasting_waggons_make_consecutive_frames_less_alike(film):
    other = make_train_video(220, size=SMALL, waggons="contrasting", random_state=0)
    for name in ("x", "y"):
        step, all_pairs = zip(*map(spread, (film.views[name], other.views[name])), strict=True)
        assert step[1] / all_pairs[1] > 1.3 * step[0] / all_pairs[0]


def spread(frames):
    """The largest step from a frame to the next, and the median distance of all."""
    distances = cdist(frames, frames)
    return np.diag(distances, 1).max(), np.median(distances)


def test_only_the_train_changes_without_noise():
    still = make_train_video(12, size=SMALL, sensor_noise=0, random_state=0)
    for name in ("x", "y"):
        empty = np.median(still.frames[name], axis=0)
        share = np.mean(still.frames[name] != empty, axis=(1, 2))
        assert share.min() > 0.005
        assert share.max() < 0.3


def test_missing_frames_are_rows_of_nan_at_different_times():
    film = make_train_video(60, size=SMALL, gap=11, random_state=3)
    assert_array_equal(film.missing.sum(axis=0), [11, 11])
    assert not film.missing.all(axis=1).any()
    for l, name in enumerate(film.views.names):
        assert_array_equal(np.isnan(film.frames[name]).all(axis=(1, 2)), film.missing[:, l])
        assert_array_equal(np.isnan(film.frames[name]).any(axis=(1, 2)), film.missing[:, l])
        assert_array_equal(np.diff(np.flatnonzero(film.missing[:, l])), 1)
    assert_array_equal(film.views.observed, ~film.missing)


def test_noise_frames_have_mean_0_and_variance_10():
    film = make_train_video(40, size=SMALL, noise_frames=10, random_state=4)
    assert_array_equal(film.noisy.sum(axis=0), [10, 10])
    for l, name in enumerate(film.views.names):
        noise = film.frames[name][film.noisy[:, l]]
        # Four standard errors of 7,680 pixels.
        assert_allclose(noise.mean(), 0, rtol=0, atol=4 * np.sqrt(10 / noise.size))
        assert_allclose(noise.var(), 10, rtol=4 * np.sqrt(2 / noise.size))
        assert film.frames[name][~film.noisy[:, l]].mean() > 100


def test_same_seed_gives_the_same_film_and_another_another():
    first, again, other = (
        make_train_video(6, size=SMALL, gap=2, random_state=seed) for seed in (1, 1, 2)
    )
    assert_array_equal(first.views["x"], again.views["x"])
    assert np.nanmax(np.abs(first.views["x"] - other.views["x"])) > 1


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"n_frames": 1}, "n_frames"),
        ({"size": (10,)}, "size"),
        ({"size": (0, 10)}, "size"),
        ({"gap": 7}, "gap"),
        ({"noise_frames": -1}, "noise_frames"),
        ({"sensor_noise": np.inf}, "sensor_noise"),
        ({"waggons": "red"}, "waggons"),
    ],
)
def test_wrong_parameters_are_named(wrong, named):
    with pytest.raises(ValueError, match=named):
        make_train_video(**{"n_frames": 12, "size": SMALL, **wrong})
