"""Difficulty of the simulated seismic records, calibrated on single channels alone.

    python -m benchmarks.seismic_calibration

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
5. Procedure: the noise levels from Table 3, at a spread of 5 km; the spread from Table 4, at these
   noise levels; then both once more. A level or a spread is read off where the mean accuracy over
   the draws, forced to fall, crosses the target; it is rounded to 0.01, or to 0.5 km.
6. Seeds are `SEED` and the number of the draw; the experiments have others. Chosen settings are
   checked on further draws.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewhop.kernels import Gaussian
from viewhop.seismic import (
    NORTH,
    QUARRIES,
    SOUTH,
    Quarry,
    Station,
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

TURN = 45.0
FIRST_SPREAD = 5.0
LEVELS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
SPREADS = (2.0, 4.0, 6.0, 8.0, 11.0, 15.0)

FULL: dict[str, Any] = {"sizes": (46, 62), "n_blasts": 602, "type_draws": 12, "quarry_draws": 2}


def turned_stations(levels: Mapping[str, Sequence[float]] | None = None) -> tuple[Station, Station]:
    """Both stations with turned axes, and noise levels by station name where they are given."""
    south, north = (replace(station, orientation=TURN) for station in (SOUTH, NORTH))
    if levels is None:
        return south, north
    return (
        replace(south, noise_levels=tuple(levels["SOUTH"])),
        replace(north, noise_levels=tuple(levels["NORTH"])),
    )


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


def accuracy_over_levels(
    spread: float, levels: Sequence[float], *, draws: Sequence[int], sizes: tuple[int, int]
) -> Floats:
    """Accuracy of event types by channel alone, (n_draws, 6 channels, n_levels, n_ranks)."""
    found = np.empty((len(draws), 6, len(levels), len(RANKS)))
    for place, draw in enumerate(draws):
        events = make_events(
            *sizes,
            noise=0.0,
            stations=turned_stations(),
            quarries=clusters(spread),
            random_state=_seed(draw),
        )
        for channel in range(6):
            for k, level in enumerate(levels):
                noise = _noise(level, len(events.target), _seed(draw, channel))
                found[place, channel, k] = channel_accuracy(
                    events.waveforms[:, channel] + noise, events.target
                )
    return found


def accuracy_over_spreads(
    spreads: Sequence[float],
    levels: Mapping[str, Sequence[float]],
    *,
    draws: Sequence[int],
    n_blasts: int,
) -> Floats:
    """Accuracy of quarries by channel alone, (n_draws, 3 channels, n_spreads, n_ranks)."""
    found = np.empty((len(draws), 3, len(spreads), len(RANKS)))
    for place, draw in enumerate(draws):
        for k, spread in enumerate(spreads):
            blasts = make_quarry_blasts(
                n_blasts,
                stations=turned_stations(levels)[:1],
                quarries=clusters(spread),
                random_state=_seed(draw),
            )
            for channel in range(3):
                found[place, channel, k] = channel_accuracy(
                    blasts.waveforms[:, channel], blasts.target
                )
    return found


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


def calibrate(
    *, sizes: tuple[int, int], n_blasts: int, type_draws: int, quarry_draws: int
) -> Iterator[str]:
    """Lines that tell what was tried and chosen; the last ones are the check on further draws."""
    spread = FIRST_SPREAD
    for number in (1, 2):
        curves = accuracy_over_levels(spread, LEVELS, draws=range(type_draws), sizes=sizes)
        means = curves.mean(axis=0)
        levels = [round(find_crossing(LEVELS, m.mean(axis=1), TYPE_TARGET), 2) for m in means]
        by_station = {"SOUTH": levels[:3], "NORTH": levels[3:]}
        yield f"round {number}, spread {spread:g} km, noise levels {LEVELS}:"
        for channel, mean, level in zip(_channels(), means, levels, strict=True):
            yield f"  {channel}: {_pairs(mean)}: level {level:.2f}"
        found = accuracy_over_spreads(
            SPREADS, by_station, draws=range(quarry_draws), n_blasts=n_blasts
        )
        mean = found.mean(axis=(0, 1, 3))
        spread = round(2 * find_crossing(SPREADS, mean, QUARRY_TARGET)) / 2
        yield f"round {number}, spreads {SPREADS} km:"
        for channel, row in zip(_channels(), found.mean(axis=0), strict=False):
            yield f"  {channel}: {_pairs(row)}"
        yield f"  all: {', '.join(f'{value:.1f}' for value in mean)}: spread {spread:g} km"
    yield from check_settings(
        by_station,
        spread,
        sizes=sizes,
        n_blasts=n_blasts,
        type_draws=range(type_draws, 3 * type_draws),
        quarry_draws=range(quarry_draws, 3 * quarry_draws),
    )


def check_settings(
    levels: Mapping[str, Sequence[float]],
    spread: float,
    *,
    sizes: tuple[int, int],
    n_blasts: int,
    type_draws: Sequence[int],
    quarry_draws: Sequence[int],
) -> Iterator[str]:
    """Lines with the single-channel accuracies of both tables at the chosen settings."""
    stations, quarries = turned_stations(levels), clusters(spread)
    for what, draws, channels, make in (
        ("types", type_draws, 6, lambda **more: make_events(*sizes, stations=stations, **more)),
        (
            "quarries",
            quarry_draws,
            3,
            lambda **more: make_quarry_blasts(n_blasts, stations=stations[:1], **more),
        ),
    ):
        found = np.empty((len(draws), channels, len(RANKS)))
        for place, draw in enumerate(draws):
            records = make(quarries=quarries, random_state=_seed(draw))
            for channel in range(channels):
                found[place, channel] = channel_accuracy(
                    records.waveforms[:, channel], records.target
                )
        mean = found.mean(axis=0)
        spans = ", ".join(f"{span:.1f}" for span in np.ptp(mean, axis=0))
        yield f"check of {what}, {len(draws)} further draws, spans {spans}:"
        for channel, row in zip(_channels(), mean, strict=False):
            yield f"  {channel}: r = 3: {row[0]:.1f}, r = 4: {row[1]:.1f}"


def _noise(level: float, n_events: int, seed: int) -> Floats:
    """Ground noise of one channel, (n_events, 5031)."""
    rng = np.random.default_rng(seed)
    return np.array(
        [ground_noise(5031, sampling_rate=40.0, level=level, rng=rng) for _ in range(n_events)]
    )


def _seed(*key: int) -> int:
    return int(np.random.default_rng([SEED, *key]).integers(2**31))


def _channels() -> list[str]:
    return [f"{station}.{part}" for station in ("SOUTH", "NORTH") for part in "ZNE"]


def _pairs(rows: Floats) -> str:
    return ", ".join("/".join(f"{value:.1f}" for value in row) for row in rows)


if __name__ == "__main__":
    for line in calibrate(**FULL):
        print(line, flush=True)
