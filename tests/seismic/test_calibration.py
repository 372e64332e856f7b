"""The calibration of the simulator: single channels only, and what it reads off."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from benchmarks import seismic_calibration as calibration
from numpy.testing import assert_allclose

from viewhop.experiments import Context
from viewhop.seismic import QUARRIES, SOUTH, _methods, make_events
from viewhop.seismic._noise import ground_noise

TINY = {"types": {"sizes": (8, 10), "n_draws": 1}, "quarries": {"n_blasts": 25, "n_draws": 1}}


@pytest.mark.parametrize("part", calibration.PARTS)
def test_calibration_runs_no_fusion(part, monkeypatch):
    def refuse(*_, **__):
        pytest.fail("a fusion was run")

    monkeypatch.setattr(_methods, "MultiViewDiffusionMaps", refuse)
    monkeypatch.setattr(calibration, "LEVELS", (0.3, 0.7))
    monkeypatch.setattr(calibration, "SPREADS", (2.0, 15.0))
    monkeypatch.setattr(calibration, "ANGLES", (30.0, 45.0))
    lines = list(calibration.PARTS[part](**TINY[part]))
    assert sum(line.startswith("chosen") for line in lines) == 1
    assert sum(line.startswith("check on 2 further draws") for line in lines) == 1


def test_seeds_of_the_calibration_are_not_those_of_the_experiments():
    ours = {calibration._seed(draw) for draw in range(1000)}
    theirs = {Context(seed=seed).integer(trial) for seed in range(3) for trial in range(100)}
    assert not ours & theirs


def test_targets_are_the_means_of_the_printed_tables():
    assert_allclose(calibration.TYPE_TARGET, 90.19, atol=0.01)
    assert_allclose(calibration.QUARRY_TARGET, 78.9, atol=0.01)


def test_crossing_is_interpolated_on_a_falling_curve():
    assert_allclose(calibration.find_crossing([1, 2, 3], np.array([90, 80, 70]), 75), 2.5)
    # A rise is noise of the draws: the curve stays where it was.
    assert_allclose(calibration.find_crossing([1, 2, 3, 4], np.array([90, 80, 85, 70]), 75), 3.5)
    assert calibration.find_crossing([1, 2], np.array([90, 80]), 95) == 1
    assert calibration.find_crossing([1, 2], np.array([90, 80]), 10) == 2


def test_noise_over_levels_is_that_of_the_simulator():
    found = calibration._noise(0.5, 300, 0)
    rng = np.random.default_rng(1)
    one = [ground_noise(5031, sampling_rate=40.0, level=0.5, rng=rng) for _ in range(300)]
    assert_allclose(found.std(), np.std(one), rtol=0.05)
    stations = [replace(SOUTH, noise_levels=(0.5, 0.5, 0.5))]
    events = [make_events(40, 0, noise=n, stations=stations, random_state=0) for n in (0.0, 1.0)]
    simulated = events[1].waveforms - events[0].waveforms
    assert_allclose(simulated.std(), found.std(), rtol=0.05)


def test_the_eastern_quarry_stays_a_single_one():
    *west, east = calibration.clusters(7.0)
    assert east == QUARRIES[-1]
    assert {(quarry.radius, quarry.path) for quarry in west} == {(7.0, None)}
