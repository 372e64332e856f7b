"""Difficulty of the simulated seismic records, calibrated on single channels alone.

    python -m benchmarks.seismic_calibration [types | quarries]

The records of the paper's Tables 3 and 4 are not public, and the simulator's defaults are unlike
them: single channels span 17.5 points where the paper's span 1.3 (Table 3, r = 3), and channels
tell quarries apart in 93 to 99.8 per cent where the paper's do in 76 to 81 (Table 4). This script
chooses settings whose single channels are as accurate as the paper's.

The rule was written down before anything was run:

1. No fusion is run, here or before the settings are frozen. The kernel sum, both kernel products
   and the multi-view walk have no part in the choice.
2. These physical parameters may change, and no others:

   - the axes of both sensors, turned by 45°. All sources lie north or south of the stations, so N
     is radial and E transverse; turned, both horizontal components see both motions;
   - the noise level of each component of each station, `Station.noise_levels`;
   - the four western quarries, which in the paper are clusters of quarries: the standard deviation
     of their blasts' places, one for the four, and no common path. The eastern one stays a single
     quarry.

   If these cannot reach the targets, the next in line are the spread of the magnitudes and the
   similarity of the quarries' practice, and this text will say so.
3. Accuracy is that of the paper's procedure: one nearest neighbour among the others in the
   diffusion map of one channel, Gaussian kernel, max-min scale, one embedding of all events; 46
   earthquakes and 62 blasts, and 602 blasts.
4. Targets. Table 3: the mean of each channel over r = 3 and 4 is that of the paper's six channels,
   90.2 per cent; all six channels between about 88 and 93 per cent, spanning less than about 3
   points at each r. Table 4: the mean of the three channels over r = 3 and 4 is the paper's,
   78.9 per cent; each between about 76 and 81 per cent.
5. Procedure, as amended below. A level, a spread or an angle is read off where the mean accuracy
   over the draws, forced to fall, crosses the target; it is rounded to 0.01, 0.5 km or 5°.
6. Seeds are `SEED` and the number of the draw; the experiments have others. Chosen settings are
   checked on further draws.

The first run, with both sensors turned by 45° and one region for both tables, missed the targets
on single channels, before any fusion was run: the sources are not due north of SOUTH, so its N
stayed below 90 per cent without any noise, and the levels that Table 3 asks for put 20 points
between the channels of Table 4. Accuracies of single channels at five
angles of the sensors were also looked at outside this script. The procedure was then amended to
this one:

- The two tables are about different records of the paper, so each has settings of its own.
- Table 3 keeps the quarries as they are. NORTH is turned by 45°, SOUTH by the angle at which its N
  and E differ least at a noise level of 0.3; then the noise level of each channel is read off.
- Table 4 keeps the axes. The spread is read off at a noise level of 0.3 from the least accurate
  channel (from the mean of the channels at first: noise cannot make a channel better, and E stayed
  at 70 per cent); then the noise level of each channel is read off at that spread.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from viewhop.kernels import Gaussian
from viewhop.seismic import (
    NORTH,
    QUARRIES,
    SOUTH,
    Quarry,
    classify,
    make_events,
    make_quarry_blasts,
)
from viewhop.seismic._noise import ground_noise
from viewhop.seismic.sonogram import sonogram

Floats = NDArray[np.float64]

#: First part of every seed of the calibration.
SEED = 18_04
RANKS = (3, 4)
KERNEL = Gaussian(bandwidth="max-min")
#: Mean over r = 3 and 4 of the single channels in the paper, per cent.
TYPE_TARGET = (
    89.9 + 88.6 + 89.3 + 89.3 + 89.3 + 88.6 + 93.0 + 92.4 + 91.1 + 89.2 + 90.5 + 91.1
) / 12
QUARRY_TARGET = (80.3 + 79.1 + 76.4 + 80.6 + 79.2 + 77.8) / 6

NORTH_TURN = 45.0
ANGLES = (25.0, 30.0, 35.0, 40.0, 45.0)
LEVELS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
SPREADS = (6.0, 8.0, 10.0, 12.0)
BASE_LEVEL = 0.3

FULL: dict[str, Any] = {
    "types": {"sizes": (46, 62), "n_draws": 12},
    "quarries": {"n_blasts": 602, "n_draws": 3},
}


def clusters(spread: float) -> tuple[Quarry, ...]:
    """The quarries, the four western ones as clusters of pits with this standard deviation."""
    *west, east = QUARRIES
    return (*(replace(quarry, radius=spread, path=None) for quarry in west), east)


def channel_accuracy(waveforms: Floats, labels: Sequence[Any]) -> Floats:
    """Accuracy in per cent of one channel alone at r = 3 and 4, (2,).

    Parameters
    ----------
    waveforms : (n_events, n_samples) array
        Of one channel: there is nothing to fuse.
    labels : n_events labels
    """
    rows = sonogram(waveforms, sampling_rate=40.0).reshape(len(waveforms), -1)
    scores = classify(
        {"channel": rows},
        labels,
        n_components=RANKS,
        kernel=KERNEL,
        fusions=(),
        procedures=("transductive",),
    )
    return 100 * np.array([score.accuracy for score in scores])


def channel_accuracies(
    make: Callable[..., Bunch], levels: Sequence[float], draws: Sequence[int]
) -> Floats:
    """Accuracy of every channel alone at every noise level, (n_draws, n_channels, n_levels, 2).

    Parameters
    ----------
    make : callable
        ``make(noise=, random_state=)`` returns records.
    levels : list of float
    draws : list of int
    """
    found = []
    for draw in draws:
        records = make(noise=0.0, random_state=_seed(draw))
        found.append(
            [
                [
                    channel_accuracy(
                        waveforms + _noise(level, len(waveforms), _seed(draw, channel)),
                        records.target,
                    )
                    for level in levels
                ]
                for channel, waveforms in enumerate(records.waveforms.swapaxes(0, 1))
            ]
        )
    return np.array(found)


def find_crossing(values: Sequence[float], accuracy: Floats, target: float) -> float:
    """Value at which the accuracy, forced to fall, crosses the target; an end if it does not.

    Parameters
    ----------
    values : list of n floats
        Ascending.
    accuracy : (n,) array
    target : float
    """
    falling = np.minimum.accumulate(np.asarray(accuracy, dtype=np.float64))
    return float(np.interp(-target, -falling, values))


def calibrate_types(*, sizes: tuple[int, int], n_draws: int) -> Iterator[str]:
    """Lines that tell what was tried and chosen for Table 3, and the check on further draws."""
    gaps = []
    for angle in ANGLES:
        south = replace(SOUTH, orientation=angle)
        mean = channel_accuracies(
            partial(make_events, *sizes, stations=(south,)), (BASE_LEVEL,), range(n_draws)
        ).mean(axis=(0, 2, 3))
        gaps.append(mean[1] - mean[2])
        yield f"SOUTH turned by {angle:g}°: N {mean[1]:.1f}, E {mean[2]:.1f}"
    # N falls and E rises as the sensor turns.
    angle = 5 * round(find_crossing(ANGLES, np.array(gaps), 0.0) / 5)
    stations = (replace(SOUTH, orientation=angle), replace(NORTH, orientation=NORTH_TURN))
    make = partial(make_events, *sizes)
    curves = channel_accuracies(partial(make, stations=stations), LEVELS, range(n_draws))
    levels = yield from _read_levels(curves, TYPE_TARGET)
    stations = tuple(
        replace(station, noise_levels=tuple(levels[3 * k : 3 * k + 3]))
        for k, station in enumerate(stations)
    )
    yield f"chosen: {stations}"
    yield from check_settings(partial(make, stations=stations), range(n_draws, 3 * n_draws))


def calibrate_quarries(*, n_blasts: int, n_draws: int) -> Iterator[str]:
    """Lines that tell what was tried and chosen for Table 4, and the check on further draws."""
    lowest = []
    for spread in SPREADS:
        make = partial(make_quarry_blasts, n_blasts, quarries=clusters(spread))
        found = channel_accuracies(make, (BASE_LEVEL,), range(n_draws)).mean(axis=(0, 2))
        lowest.append(found.mean(axis=1).min())
        yield f"spread {spread:g} km: {_pairs(found)}; least {lowest[-1]:.1f}"
    spread = round(2 * find_crossing(SPREADS, np.array(lowest), QUARRY_TARGET)) / 2
    make = partial(make_quarry_blasts, n_blasts, quarries=clusters(spread))
    curves = channel_accuracies(make, LEVELS, range(n_draws))
    levels = yield from _read_levels(curves, QUARRY_TARGET)
    station = replace(SOUTH, noise_levels=tuple(levels))
    yield f"chosen: spread {spread:g} km, {station}"
    yield from check_settings(partial(make, stations=(station,)), range(n_draws, 3 * n_draws))


def _read_levels(curves: Floats, target: float) -> Generator[str, None, list[float]]:
    """The noise level of each channel, after a line about each."""
    levels = []
    for number, mean in enumerate(curves.mean(axis=0)):
        levels.append(round(find_crossing(LEVELS, mean.mean(axis=1), target), 2))
        yield f"channel {number + 1}, levels {LEVELS}: {_pairs(mean)}: level {levels[-1]:.2f}"
    return levels


def check_settings(make: Callable[..., Bunch], draws: Sequence[int]) -> Iterator[str]:
    """Lines with the accuracy of each channel alone, mean and deviation over draws."""
    found = []
    for draw in draws:
        records = make(random_state=_seed(draw))
        channels = records.waveforms.swapaxes(0, 1)
        found.append([channel_accuracy(each, records.target) for each in channels])
    mean, sd = np.mean(found, axis=0), np.std(found, axis=0, ddof=1)
    spans = ", ".join(f"{span:.1f}" for span in np.ptp(mean, axis=0))
    yield f"check on {len(draws)} further draws, spans at r = 3 and 4: {spans}"
    for name, row, spread in zip(records.channels, mean, sd, strict=True):
        cells = [f"r = {r}: {row[k]:.1f} ± {spread[k]:.1f}" for k, r in enumerate(RANKS)]
        yield f"  {name}: {', '.join(cells)}"


def _noise(level: float, n_events: int, seed: int) -> Floats:
    """Ground noise of one channel, (n_events, 5031)."""
    rng = np.random.default_rng(seed)
    return np.array(
        [ground_noise(5031, sampling_rate=40.0, level=level, rng=rng) for _ in range(n_events)]
    )


def _seed(*key: int) -> int:
    return int(np.random.default_rng([SEED, *key]).integers(2**31))


def _pairs(rows: Floats) -> str:
    return ", ".join("/".join(f"{value:.1f}" for value in row) for row in rows)


PARTS = {"types": calibrate_types, "quarries": calibrate_quarries}

if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        for line in PARTS[part](**FULL[part]):
            print(line, flush=True)
