"""Seismic monitoring: from waveforms to views."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["classification", "events", "io", "simulate", "sonogram"]


def __getattr__(name: str) -> Any:
    """Load a module when it is first asked for: some need obspy, which takes a second."""
    if name not in __all__:
        raise AttributeError(f"module 'viewhop.seismic' has no attribute {name!r}")
    return import_module(f"viewhop.seismic.{name}")


def __dir__() -> list[str]:
    return __all__
