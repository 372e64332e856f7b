"""Layouts: all samples of a fit on one two-dimensional map, where new samples can be placed."""

from viewhop.layout._layout import Layout, lay_out

__all__ = ["Layout", "lay_out"]
