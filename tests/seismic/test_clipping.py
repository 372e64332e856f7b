"""Clipping: crests that were cut, and those that only look so."""

from __future__ import annotations

import numpy as np
import pytest

from viewhop.seismic._clipping import find_clipped_blocks, find_clipping


def test_a_smooth_crest_in_counts_is_not_clipped():
    smooth = np.round(1000 * np.sin(2 * np.pi * 0.1 * np.arange(4000) / 100))
    assert find_clipping(smooth) is None
    assert find_clipping(np.round(np.random.default_rng(0).normal(size=4000))) is None
    assert find_clipping(np.random.default_rng(0).normal(size=4000)) is None


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_crest_that_was_cut_is_clipped(level, sign):
    wave = 1e5 * np.sin(2 * np.pi * 1.3 * np.arange(4000) / 100)
    cut = np.round(sign * np.minimum(wave, level * 1e5))
    reason, detail = find_clipping(cut)
    assert reason == "clipped"
    assert f"{sign * level * 1e5:g}" in detail
    assert find_clipping(cut * 3.7e-9) is not None


def wave(frequency, *, noise=100.0, phase=0.0):
    time = np.arange(5031) / 40
    shaken = noise * np.random.default_rng(0).normal(size=5031)
    return 1e4 * np.sin(2 * np.pi * frequency * time + phase) + shaken


@pytest.mark.parametrize("level", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("frequency", [6.0, 7.0, 8.0, 12.0, 15.3])
def test_a_fast_wave_is_clipped_though_a_crest_has_one_sample_or_two(frequency, level):
    found = wave(frequency)
    assert find_clipping(np.round(found)) is None
    for low, high in ((-level, level), (-level, 9.0), (-9.0, level)):
        reason, detail = find_clipping(np.round(np.clip(found, 1e4 * low, 1e4 * high)))
        assert reason == "clipped"
        assert f"{1e4 * level:g}" in detail


@pytest.mark.parametrize("phase", [0.0, 0.3, np.pi / 8, np.pi / 2])
@pytest.mark.parametrize("frequency", [1.0, 2.5, 4.0, 5.0, 20 / 3, 8.0, 10.0])
@pytest.mark.parametrize("counts", [None, 3.0, 30.0, 1e3])
def test_a_tone_that_meets_the_same_phases_again_is_not_clipped(frequency, phase, counts):
    pure = np.sin(2 * np.pi * frequency * np.arange(5031) / 40 + phase)
    assert find_clipping(pure if counts is None else np.round(counts * pure)) is None


@pytest.mark.parametrize(
    ("frequency", "phase"), [(12.63659147869674, 0.0), (12.039598997493734, 0.5 * np.pi)]
)
def test_a_tone_that_meets_nearly_the_same_phases_has_values_just_within(frequency, phase):
    pure = np.sin(2 * np.pi * frequency * np.arange(5031) / 40 + phase)
    assert find_clipping(np.round(1e5 * pure)) is None


def test_a_few_cut_samples_on_both_sides_are_counted_together():
    data = np.random.default_rng(0).normal(size=2000)
    for at in range(100, 500, 100):
        data[at], data[at + 50] = 8.0, -8.0
    reason, detail = find_clipping(data)
    assert reason == "clipped"
    assert detail.startswith("8 of its 2,000 samples are -8 or 8,")


@pytest.mark.parametrize("size", [0.3, 0.5, 1.0, 2.0, 5.0, 50.0, 1e3, 1e6])
def test_noise_in_coarse_or_fine_steps_is_not_clipped(size):
    rng = np.random.default_rng(0)
    for _ in range(50):
        noise = rng.normal(size=5031)
        fading = rng.laplace(size=5031) * np.exp(-np.arange(5031) / 500)
        for each in (noise, np.cumsum(noise), fading):
            assert find_clipping(np.round(size * each)) is None


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_four_samples_in_a_row_are_a_crest_that_was_cut(size):
    """A coarse recorder has three in a row now and then."""
    data = np.round(5 * np.random.default_rng(0).normal(size=2000))
    data[700 : 700 + size] = 60
    assert (find_clipping(data) is None) == (size < 4)


def test_a_short_filled_gap_beside_an_offset_is_no_clipping():
    data = 5000 + 100 * np.random.default_rng(0).normal(size=2000)
    data[700:740] = 0.0
    assert find_clipping(data) == ("all zero", "40 consecutive samples are 0, next to a jump")


def test_few_values_say_nothing():
    assert find_clipping(np.zeros(100)) is None
    assert find_clipping(np.arange(100.0) % 2) is None


def test_a_long_trace_is_judged_in_parts():
    quiet = np.round(np.random.default_rng(0).normal(size=20000) * 100)
    assert find_clipped_blocks(quiet) == []
    quiet[9000:9400] = np.clip(np.round(wave(3.0)[:400]), -8000, 8000)
    ((first, detail),) = find_clipped_blocks(quiet)
    assert first == 8192
    assert "8000" in detail
