"""A toy train on a figure-of-eight track, filmed by two cameras."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite, pi
from numbers import Integral, Real
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from sklearn.utils import Bunch

from viewhop.datasets._rendering import Box, Camera
from viewhop.views import Views

__all__ = ["make_train_video"]

Floats = NDArray[np.float64]

#: Positions of the cameras, in centimetres from the crossing, and their focal length in widths.
_PLACES = {"x": (-55.0, -195.0, 190.0), "y": (205.0, -95.0, 175.0)}
_LENS = 1.95
#: Half the length and half the width of the eight.
_REACH = np.array([62.0, 34.0])
#: Number of points that represent the track.
_STATIONS = 4000
#: Vehicles from the front: distance of the middle from the front of the train, and length.
_VEHICLES = ((5.5, 11.0), (17.0, 11.0), (28.5, 11.0), (40.0, 11.0))
#: Variance of the noise frames, as the paper gives it.
_NOISE_VARIANCE = 10.0


def make_train_video(
    n_frames: int = 220,
    *,
    size: tuple[int, int] = (160, 120),
    gap: int = 0,
    noise_frames: int = 0,
    sensor_noise: float = 1.0,
    waggons: Literal["alike", "contrasting"] = "alike",
    random_state: int | np.random.Generator | None = None,
) -> Bunch:
    """Frames of two cameras that film a toy train, once around a figure-of-eight track.

    Parameters
    ----------
    n_frames : int
        Number of frames per camera; the paper has 220. The train covers the same distance from
        each frame to the next, and from the last to the first.
    size : pair of int
        Width and height of a frame in pixels.
    gap : int
        Number of consecutive frames that each camera misses; the paper has 20.
    noise_frames : int
        Number of consecutive frames per camera that are pure noise: independent pixels of mean 0
        and variance 10. The paper has 10.
    sensor_noise : float
        Standard deviation of the noise in every pixel of every other frame.
    waggons : {"alike", "contrasting"}
        All dark, or light and dark in turn. More edges on the train make consecutive frames less
        similar, relative to unrelated frames: with contrasting waggons, a wide kernel does not
        recover the order.
    random_state : int, Generator or None
        Seed of the table, the missing and noisy frames, and the noise, drawn in this order.

    Returns
    -------
    Bunch
        ``views`` : Views ``x`` and ``y``, (n_frames, width · height) each, with grey values from
        0 to 255; frames that a camera misses are rows of NaN;
        ``phase`` : (n_frames,) array, position of the train along the track in [0, 2π);
        ``frames`` : dict of (n_frames, height, width) arrays, the same frames as images;
        ``missing``, ``noisy`` : (n_frames, 2) bool arrays that mark such frames of ``x`` and
        ``y``; ``DESCR`` : str.

    Notes
    -----
    A rendered stand-in for the paper's film, which is not public: a locomotive and three waggons
    with shadows, on sleepers and rails, in perspective. Each frame is rendered at four times its
    size and averaged, as the paper averages 640 × 480 to 160 × 120 pixels.

    The track crosses itself, but both cameras still distinguish all phases: at the crossing the
    train lies along one branch or the other, and it is longer than the crossing is wide. The
    missing frames of the two cameras are in different halves of the film, and so are the noisy
    ones.

    Examples
    --------
    >>> from viewhop.datasets import make_train_video
    >>> film = make_train_video(12, size=(40, 30), gap=2, random_state=0)
    >>> film.frames["x"].shape, film.missing.sum(axis=0).tolist()
    ((12, 30, 40), [2, 2])
    """
    _check(n_frames, size, gap, noise_frames, sensor_noise)
    if waggons not in _GREYS:
        raise ValueError(f"waggons must be 'alike' or 'contrasting', got {waggons!r}")
    rng = np.random.default_rng(random_state)
    stations, length = _track()
    table = _table(stations, length, rng)
    missing, noisy = (_mark_frames(n_frames, count, rng) for count in (gap, noise_frames))
    phase = 2 * pi * np.arange(n_frames) / n_frames
    trains = [_train(at / (2 * pi) * length, stations, length, _GREYS[waggons]) for at in phase]
    frames = {}
    for number, (name, place) in enumerate(_PLACES.items()):
        camera = Camera(place, size=size, lens=_LENS, table=table)
        film = np.stack([camera.picture(train) for train in trains])
        film += sensor_noise * rng.standard_normal(film.shape)
        np.clip(film, 0, 255, out=film)
        static = rng.standard_normal((noise_frames, *film.shape[1:]))
        film[noisy[:, number]] = np.sqrt(_NOISE_VARIANCE) * static
        film[missing[:, number]] = np.nan
        frames[name] = film
    return Bunch(
        views=Views({name: film.reshape(n_frames, -1) for name, film in frames.items()}),
        phase=phase,
        frames=frames,
        missing=missing,
        noisy=noisy,
        DESCR=(
            "Train: a rendered toy train on a figure-of-eight track, filmed by two cameras; stands "
            "in for the paper's film."
        ),
    )


def _track() -> tuple[Floats, float]:
    """Evenly spaced points on the track, (n_stations, 2), and its length."""
    fine = np.linspace(0, 2 * pi, 20 * _STATIONS + 1)
    points = _REACH * np.column_stack([np.sin(fine), np.sin(2 * fine)])
    walked = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    even = np.linspace(0, walked[-1], _STATIONS, endpoint=False)
    stations = np.column_stack([np.interp(even, walked, column) for column in points.T])
    return stations, float(walked[-1])


def _track_points(distances: Floats, stations: Floats, length: float) -> Floats:
    """Points on the track at given distances along it, (n, 2)."""
    grid = np.arange(len(stations)) / len(stations) * length
    return np.column_stack(
        [np.interp(distances, grid, column, period=length) for column in stations.T]
    )


def _train(front: float, stations: Floats, length: float, greys: tuple[float, ...]) -> list[Box]:
    """The vehicles of the train; the two axles of each are on the track."""
    boxes = []
    for number, (behind, long) in enumerate(_VEHICLES):
        axles = front - behind + 0.35 * long * np.array([-1.0, 1.0])
        rear, fore = _track_points(axles, stations, length)
        ahead = (fore - rear) / np.linalg.norm(fore - rear)
        heading = float(np.arctan2(ahead[1], ahead[0]))
        middle = (fore + rear) / 2
        for shift, low, sides, grey in (
            _LOCOMOTIVE if number == 0 else (_waggon(greys[number - 1]),)
        ):
            x, y = middle + shift * ahead
            box = Box(np.array([x, y, low + sides[2] / 2]), heading, np.array(sides), grey)
            boxes.append(box)
    return boxes


#: Boiler, cab and chimney: shift along the vehicle, height above the table, sides, grey value.
_LOCOMOTIVE = (
    (0.0, 1.0, (11.0, 6.0, 6.0), 40.0),
    (-3.2, 7.0, (4.5, 6.0, 4.0), 40.0),
    (3.6, 7.0, (1.6, 1.6, 3.5), 40.0),
)


#: Grey values of the waggons, from the front.
_GREYS = {"alike": (60.0, 50.0, 60.0), "contrasting": (235.0, 120.0, 200.0)}


def _waggon(grey: float) -> tuple[float, float, tuple[float, float, float], float]:
    return 0.0, 1.0, (11.0, 6.5, 6.5), grey


def _table(stations: Floats, length: float, rng: np.random.Generator) -> Callable[[Floats], Floats]:
    """A function that gives the grey values of the table: wood grain, sleepers and rails."""
    waves = rng.normal(0, [0.05, 0.35], (12, 2))
    shifts = rng.uniform(0, 2 * pi, 12)
    # Each of the two branches at the crossing has its own rails.
    turn = len(stations) // 4
    numbers = np.roll(np.arange(len(stations)), turn).reshape(2, -1)
    branches = [(cKDTree(stations[branch]), branch) for branch in numbers]

    def grey(points: Floats) -> Floats:
        shade = 185 + 3.5 * np.sin(points @ waves.T + shifts).sum(axis=1)
        nearest = [(*map(np.asarray, tree.query(points)), part) for tree, part in branches]
        for distance, station, part in nearest:
            walked = part[station] * length / len(stations)
            shade[(distance < 3.2) & (walked % 4 < 1.6)] = 140
        for distance, _, _ in nearest:
            shade[np.abs(distance - 1.8) < 0.45] = 225
        return np.asarray(shade)

    return grey


def _mark_frames(n_frames: int, count: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """A mask of consecutive frames, one run in each half of the film, (n_frames, 2)."""
    mask = np.zeros((n_frames, 2), dtype=bool)
    half = n_frames // 2
    for number in range(2):
        first = number * half + int(rng.integers(half - count + 1))
        mask[first : first + count, number] = True
    return mask


def _check(
    n_frames: int, size: tuple[int, int], gap: int, noise_frames: int, sensor_noise: float
) -> None:
    if not isinstance(n_frames, Integral) or n_frames < 2:
        raise ValueError(f"n_frames must be a whole number of at least 2, got {n_frames!r}")
    if len(size) != 2 or not all(isinstance(side, Integral) and side >= 1 for side in size):
        raise ValueError(f"size must be a width and a height in whole pixels, got {size!r}")
    for name, value in (("gap", gap), ("noise_frames", noise_frames)):
        if not isinstance(value, Integral) or not 0 <= value <= n_frames // 2:
            raise ValueError(
                f"{name} must be a whole number from 0 to half the frames, {n_frames // 2}, "
                f"got {value!r}"
            )
    if not isinstance(sensor_noise, Real) or not isfinite(sensor_noise) or sensor_noise < 0:
        raise ValueError(f"sensor_noise must be finite and at least 0, got {sensor_noise!r}")
