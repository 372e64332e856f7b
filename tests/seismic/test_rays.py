"""Travel times, against closed forms and against the best of all rays."""

from math import acos, asin, cos, hypot, pi

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from viewhop.seismic._rays import DEAD_SEA, Crust, Layer, rays

HALF_SPACE = Crust((Layer(0.0, 6.0, 3.5),))
TWO_LAYERS = Crust((Layer(0.0, 4.0, 2.3), Layer(5.0, 6.0, 3.5)))


@st.composite
def crusts(draw):
    tops = np.cumsum([0.0, *draw(st.lists(st.floats(0.5, 20), min_size=1, max_size=4))])
    speeds = [draw(st.floats(2.0, 8.0)) for _ in tops]
    return Crust(tuple(Layer(t, v, v / 1.75) for t, v in zip(tops, speeds, strict=True)))


def by_wave(crust, wave):
    return np.array([layer.speed(wave) for layer in crust.layers])


def legs_above(crust, depth):
    """How much of every layer lies above a depth."""
    tops = np.array([layer.top for layer in crust.layers])
    return np.clip(depth - tops, 0, np.append(np.diff(tops), np.inf))


@given(st.floats(0.1, 300), st.floats(0, 40))
def test_in_one_layer_rays_are_straight(distance, depth):
    (ray,) = rays(HALF_SPACE, wave="S", distance=distance, depth=depth)
    assert_allclose(ray.time, hypot(distance, depth) / 3.5, rtol=1e-12)
    assert_allclose(ray.take_off, pi - acos(depth / hypot(distance, depth)), atol=1e-6)


@pytest.mark.parametrize("distance", [20.0, 60.0, 150.0])
def test_two_layers_have_the_times_of_the_textbook(distance):
    found = rays(TWO_LAYERS, wave="P", distance=distance, depth=0.0)
    times = {ray.layer: ray.time for ray in found}
    critical = asin(4 / 6)
    assert_allclose(times[0], distance / 4, rtol=1e-14)
    assert_allclose(times[1], distance / 6 + 2 * 5 * cos(critical) / 4, rtol=1e-13)


def test_there_is_no_refracted_ray_before_the_critical_distance():
    critical = 2 * 5 * np.tan(asin(4 / 6))
    assert len(rays(TWO_LAYERS, wave="P", distance=0.999 * critical, depth=0.0)) == 1
    assert len(rays(TWO_LAYERS, wave="P", distance=1.001 * critical, depth=0.0)) == 2


def test_the_refracted_ray_overtakes_at_the_crossover_distance():
    crossover = 2 * 5 * np.sqrt((6 + 4) / (6 - 4))
    for factor, first in ((0.999, 0), (1.001, 1)):
        found = rays(TWO_LAYERS, wave="P", distance=factor * crossover, depth=0.0)
        assert found[0].layer == first


@given(crusts(), st.floats(1, 300), st.floats(0.01, 30))
def test_the_direct_time_is_the_best_over_all_ray_parameters(crust, distance, depth):
    # τ(p) + p x is concave, and largest at the slowness of the ray.
    legs = legs_above(crust, depth)
    speeds, legs = by_wave(crust, "P")[legs > 1e-12], legs[legs > 1e-12]
    angles = np.linspace(0, pi / 2, 200_001)
    p = np.sin(angles) / speeds.max()
    vertical = np.sqrt(np.maximum(1 / speeds[:, None] ** 2 - p**2, 0))
    best = (legs @ vertical + p * distance).max()
    direct = next(
        ray
        for ray in rays(crust, wave="P", distance=distance, depth=depth)
        if ray.take_off >= pi / 2
    )
    assert_allclose(direct.time, best, rtol=1e-8)


@given(crusts(), st.floats(1, 300), st.floats(0, 30))
def test_refracted_times_are_sums_over_their_legs(crust, distance, depth):
    speeds = by_wave(crust, "S")
    tops = np.array([layer.top for layer in crust.layers])
    for ray in rays(crust, wave="S", distance=distance, depth=depth):
        if ray.take_off < pi / 2:
            v, whole = speeds[: ray.layer], np.diff(tops)[: ray.layer]
            legs = 2 * whole - legs_above(crust, depth)[: ray.layer]
            sine = v / speeds[ray.layer]
            cosine = np.sqrt(1 - sine**2)
            along = distance - legs @ (sine / cosine)
            assert along >= -1e-9
            walked = legs / cosine
            assert_allclose(ray.time, walked @ (1 / v) + along / speeds[ray.layer], rtol=1e-10)


@given(crusts(), st.floats(5, 300), st.floats(0.5, 30))
def test_slowness_is_the_slope_of_the_travel_time(crust, distance, depth):
    def times(x):
        found = rays(crust, wave="P", distance=x, depth=depth)
        return {(ray.layer, ray.take_off < pi / 2): ray for ray in found}

    here, near, far = times(distance), times(distance - 1e-3), times(distance + 1e-3)
    for key in here.keys() & near.keys() & far.keys():
        slope = (far[key].time - near[key].time) / 2e-3
        assert_allclose(here[key].slowness, slope, atol=1e-6)


def test_every_angle_obeys_snell():
    for ray in rays(DEAD_SEA, wave="P", distance=180, depth=10):
        assert_allclose(np.sin(ray.take_off) / 6.0, ray.slowness, rtol=1e-9)
        assert_allclose(np.sin(ray.incidence) / 4.2, ray.slowness, rtol=1e-9)


def test_rays_are_in_order_and_reach_the_mantle():
    found = rays(DEAD_SEA, wave="P", distance=250, depth=10)
    assert [ray.time for ray in found] == sorted(ray.time for ray in found)
    assert found[0].layer == 3


def test_a_boundary_belongs_to_the_layer_above():
    assert [DEAD_SEA.layer_at(z) for z in (0, 2.5, 2.51, 18, 32, 50)] == [0, 0, 1, 1, 2, 3]


@pytest.mark.parametrize(("distance", "depth"), [(0, 5), (-1, 5), (10, -1), (np.nan, 1)])
def test_impossible_places_are_refused(distance, depth):
    with pytest.raises(ValueError, match="expected distance > 0 km and depth >= 0 km"):
        rays(DEAD_SEA, wave="P", distance=distance, depth=depth)


def test_impossible_crusts_are_refused():
    with pytest.raises(ValueError, match="layer tops that start at 0"):
        Crust((Layer(1.0, 5, 3),))
    with pytest.raises(ValueError, match="layer tops that start at 0 and increase"):
        Crust((Layer(0.0, 5, 3), Layer(0.0, 6, 3)))
    with pytest.raises(ValueError, match="expected P speed > S speed > 0"):
        Crust((Layer(0.0, 3, 5),))
