"""The sets: fourteen real ones that count for the means, and synthetic ones with a known truth."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.utils import Bunch

from viewhop import Views, datasets

__all__ = ["COUNTED", "CUT", "REAL", "SYNTHETIC", "Data", "load"]

DataHome = str | os.PathLike[str] | None

#: Samples of a real and of a synthetic set in a quick run.
SMALL, SMALL_SYNTHETIC = 1000, 600


@dataclass(frozen=True)
class Data:
    """One set, loaded.

    Attributes
    ----------
    name : str
    views : Views
    target : (n_samples,) int array or None
        Classes, if the set has any.
    truth : (n_samples,) array or None
        The parameter of each sample on a curve or surface.
    measure : {"classes", "order", "angle"}
        What a good embedding shows: the classes, `truth` in order, or `truth` as an angle.
    """

    name: str
    views: Views
    target: NDArray[np.int64] | None = None
    truth: NDArray[np.float64] | None = None
    measure: str = "classes"

    @property
    def n_classes(self) -> int:
        return 0 if self.target is None else int(self.target.max()) + 1


def _cut_digits() -> Bunch:
    """scikit-learn's 1,797 digits of 8 × 8 pixels, cut into their four quadrants."""
    digits = load_digits()
    halves = {"top": slice(0, 4), "bottom": slice(4, 8)}
    sides = {"left": slice(0, 4), "right": slice(4, 8)}
    views = {
        f"{half} {side}": digits.images[:, rows, columns].reshape(len(digits.images), -1)
        for half, rows in halves.items()
        for side, columns in sides.items()
    }
    return Bunch(views=Views(views), target=digits.target.astype(np.int64))


def _multiview(name: str) -> Callable[[DataHome], Bunch]:
    return lambda home: datasets.load_multiview(name, home)


#: The real sets by name; each is called with the folder of the data. All fourteen count.
REAL: dict[str, Callable[[DataHome], Bunch]] = {
    "mfeat": lambda home: datasets.load_mfeat(),
    "ORL": _multiview("ORL"),
    "LandUse": _multiview("LandUse"),
    "MNIST4": _multiview("MNIST4"),
    "scGEM": datasets.load_scgem,
    "PIE": _multiview("PIE"),
    "Wiki": _multiview("Wiki"),
    "Reuters": _multiview("Reuters"),
    "Prokaryotic": _multiview("Prokaryotic"),
    "Newsgroups": _multiview("Newsgroups"),
    "WebKB": _multiview("WebKB"),
    "BDGP": _multiview("BDGP"),
    "Movies": _multiview("Movies"),
    "BBC": _multiview("BBC"),
}
COUNTED = tuple(REAL)

#: One image cut into parts: shown beside the real sets, and not counted with them.
CUT: dict[str, Callable[[DataHome], Bunch]] = {"cut digits": lambda home: _cut_digits()}


def _rolls(noise: float) -> Callable[[int], Data]:
    def make(n_samples: int) -> Data:
        rolls = datasets.make_swiss_rolls(n_samples, noise=noise, random_state=0)
        return Data("", rolls.views, truth=rolls.theta, measure="order")

    return make


def _gapped_rolls(n_samples: int) -> Data:
    rolls = datasets.make_gapped_rolls(n_samples, random_state=0)
    return Data("", rolls.views, truth=rolls.theta, measure="order")


def _helices(kind: str) -> Callable[[int], Data]:
    def make(n_samples: int) -> Data:
        helices = datasets.make_helices(kind, n_samples=n_samples)  # type: ignore[arg-type]
        return Data("", helices.views, truth=helices.a, measure="angle")

    return make


def _circles(n_samples: int) -> Data:
    circles = datasets.make_circles(n_samples, random_state=0)
    return Data("", circles.views, circles.target)


def _mixtures(n_samples: int) -> Data:
    mixtures = datasets.make_mixtures(n_samples - n_samples % 6, random_state=0)
    return Data("", mixtures.views, mixtures.target)


#: The paper's synthetic sets by name, with their sizes; each is called with a number of samples.
SYNTHETIC: dict[str, tuple[int, Callable[[int], Data]]] = {
    "rolls (noise 0)": (1000, _rolls(0.0)),
    "rolls (noise 2)": (1000, _rolls(2.0)),
    "rolls (noise 5)": (1000, _rolls(5.0)),
    "gapped rolls": (1200, _gapped_rolls),
    "circles": (1600, _circles),
    "helix A": (1000, _helices("A")),
    "helix B": (1000, _helices("B")),
    "mixtures": (600, _mixtures),
}


def load(name: str, data_home: DataHome = None, *, small: bool = False) -> Data:
    """A set by name; a small one has at most `SMALL` or `SMALL_SYNTHETIC` samples.

    Raises
    ------
    DataMissingError
        If its file is not there.
    """
    if name in SYNTHETIC:
        size, make = SYNTHETIC[name]
        made = make(min(size, SMALL_SYNTHETIC) if small else size)
        return Data(name, made.views, made.target, made.truth, made.measure)
    loaded = {**REAL, **CUT}[name](data_home)
    data = Data(name, loaded.views, loaded.target)
    return _fewer(data, SMALL) if small and len(data.views) > SMALL else data


def _fewer(data: Data, size: int) -> Data:
    """A seeded part of the samples, with the same shares of the classes."""
    assert data.target is not None
    split = StratifiedShuffleSplit(1, train_size=size, random_state=0)
    rows = np.sort(next(split.split(data.target, data.target))[0])
    return Data(data.name, data.views[rows], data.target[rows])
