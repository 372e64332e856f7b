"""Fixtures that several files share."""

from __future__ import annotations

import signal
import sys
import types
from itertools import count
from pathlib import Path

import pytest

import viewhop
from tests.support.command_line import keep_streams_apart

keep_streams_apart()


@pytest.fixture(scope="session", autouse=True)
def signals_at_their_defaults():
    """A signal that whoever runs the tests ignores (``nohup``) would be ignored by commands too."""
    defaults = {"SIGINT": signal.default_int_handler, "SIGHUP": signal.SIG_DFL}
    for name, handler in defaults.items():
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)


@pytest.fixture
def small_tiles(monkeypatch):
    """Dense kernels of a few samples are cut into several tiles."""
    monkeypatch.setattr("viewhop.affinity._tiles.SIDE", 7)


@pytest.fixture
def reports(monkeypatch):
    """The calls of a report that only notes them and writes a line."""
    calls = []
    numbers = count()

    def write(path, estimator, **more):
        calls.append((estimator, more))
        Path(path).write_text(f"<html>{next(numbers)}</html>", encoding="utf-8")

    fake = types.ModuleType("viewhop.report")
    fake.write = write
    monkeypatch.setitem(sys.modules, "viewhop.report", fake)
    monkeypatch.setitem(vars(viewhop), "report", fake)
    return calls


@pytest.fixture
def no_reports(monkeypatch):
    """A viewhop that cannot write reports, as without plotly."""
    monkeypatch.delitem(vars(viewhop), "report", raising=False)
    monkeypatch.setitem(sys.modules, "viewhop.report", None)
