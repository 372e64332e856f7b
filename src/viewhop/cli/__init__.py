"""The ``viewhop`` command."""

from __future__ import annotations

from viewhop.cli._entry import main

__all__ = ["main"]
