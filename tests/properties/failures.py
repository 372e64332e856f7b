"""Failures that are injected into fits, and data that no fit accepts."""

from __future__ import annotations

from contextlib import contextmanager
from types import SimpleNamespace
from unittest import mock

import numpy as np
from hypothesis import strategies as st

from viewhop.errors import ConvergenceError

__all__ = ["FAILURES", "Injected", "wrong_data"]


class Injected(Exception):
    """A failure that no code of viewhop knows."""


class RaiseAt:
    """A callable that raises at its call number `count`, and tells whether it did.

    Clusters keep the callback and the solver of their fit, so it can be pickled.
    """

    def __init__(self, count, error):
        self.fired, self.left, self.armed, self.error = False, count, True, error

    def __call__(self, *given, **named):
        self.left -= 1
        if self.left < 0 and self.armed:
            self.fired = True
            raise self.error


@contextmanager
def _progress(est, count, error):
    """The callback raises: the user interrupts, or their own code is wrong."""
    call = RaiseAt(count, error)
    est.set_params(verbose=call)
    yield call
    call.armed = False  # clusters keep the callback of their fit


@contextmanager
def _patch(place, error):
    """A function of viewhop raises as if something beneath it had failed."""
    call = RaiseAt(0, error)
    with mock.patch(place, call):
        yield call


class Solver:
    """An eigensolver of the user's."""

    def __init__(self, solve):
        self.solve = solve


@contextmanager
def _solver(est, count, error):
    call = RaiseAt(0, error)
    est.set_params(solver=Solver(call))
    yield call


@contextmanager
def _memory(est, count):
    est.set_params(max_memory=1)
    yield SimpleNamespace(fired=True)


KERNELS = "viewhop.geometry._stages.build_affinities"
SOLVE = "viewhop.geometry._stages.solve_multilevel"
FUSE = "viewhop.geometry._stages.fuse_kernels"
EXTENSION = "viewhop.geometry._geometry.Geometry.prepare"

#: Contexts ``failure(est, count)`` by name; they may set parameters, which the caller sets back.
FAILURES = {
    "error in the callback": lambda est, count: _progress(est, count, Injected("callback")),
    "interrupt in the callback": lambda est, count: _progress(est, count, KeyboardInterrupt()),
    "error in kernels": lambda est, count: _patch(KERNELS, Injected("kernels")),
    "no memory for kernels": lambda est, count: _patch(KERNELS, MemoryError()),
    "interrupt in kernels": lambda est, count: _patch(KERNELS, KeyboardInterrupt()),
    "error in the walk": lambda est, count: _patch(FUSE, Injected("walk")),
    "error in the solver": lambda est, count: _solver(est, count, Injected("solver")),
    "interrupt in the solver": lambda est, count: _patch(SOLVE, KeyboardInterrupt()),
    "no convergence": lambda est, count: _solver(est, count, ConvergenceError("no convergence")),
    "error after the solver": lambda est, count: _patch(EXTENSION, Injected("extension")),
    "no memory": _memory,
}


def wrong_data(draw, X, *, fitted=False):
    """Views that no estimator accepts, made of good ones.

    Parameters
    ----------
    draw : callable
        Of hypothesis.
    X : list of arrays
    fitted : bool
        Whether the estimator has seen such views, so that other widths are wrong, too.
    """
    kinds = ["infinite", "text", "3-D", "objects", "nothing", "complex"]
    if len(X) > 1:
        kinds.append("other rows")
    if fitted:
        kinds += ["another width", "another number of views"]
    kind = draw(st.sampled_from(kinds))
    place = draw(st.integers(0, len(X) - 1))
    view = X[place]
    if kind == "nothing":
        return []
    if kind == "another number of views":
        return [*X, X[0]]
    if kind == "other rows":
        X[place] = view[:-1]
    elif kind == "infinite":
        view[0, 0] = draw(st.sampled_from((np.inf, -np.inf)))
    else:
        X[place] = {
            "text": lambda: np.full(view.shape, "a"),
            "3-D": lambda: view[:, :, None],
            "objects": lambda: np.full(view.shape, object()),
            "complex": lambda: view * 1j,
            "another width": lambda: np.column_stack([view, view[:, 0]]),
        }[kind]()
    return X
