"""Methods and sets that are computed in no time."""

from __future__ import annotations

import numpy as np
from benchmarks.quality.methods import DEFAULT, Method, Result
from benchmarks.quality.sets import Data

import viewhop as vh


def make_data(name="mfeat", n_classes=3, n_views=2):
    """Well separated classes of twelve samples."""
    target = np.repeat(np.arange(n_classes), 12)
    rng = np.random.default_rng(0)
    views = [10.0 * np.eye(n_classes)[target] + rng.normal(size=(len(target), n_classes))
             for _ in range(n_views)]  # fmt: skip
    return Data(name, vh.Views(views), target)


class Calls:
    """A method that returns the first view, and counts."""

    def __init__(self):
        self.count = 0

    def __call__(self, order):
        self.count += 1
        new = [] if order.new is None else [order.new.arrays[0]]
        return Result([order.views.arrays[0]], new, [])


def fail(order):
    raise RuntimeError("no such luck\nand more")


def make_method(run, name=DEFAULT, **options):
    options = {"family": "viewhop", "tasks": ("clusters",), "parameters": {"p": 1}} | options
    return Method(name, run=run, **options)
