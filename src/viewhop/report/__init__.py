"""Reports: a fitted estimator as one HTML file that needs no network."""

from viewhop.report._report import render, write

__all__ = ["render", "write"]
