"""Fixtures that several files share."""

from __future__ import annotations

import pytest


@pytest.fixture
def small_tiles(monkeypatch):
    """Dense kernels of a few samples are cut into several tiles."""
    monkeypatch.setattr("viewhop.affinity.tiles.SIDE", 7)
