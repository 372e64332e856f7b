"""The ``viewhop`` command."""

from viewhop.cli._main import main

__all__ = ["main"]
