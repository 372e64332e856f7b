"""Plots of results; each function takes an optional Axes and returns the Axes it drew on."""

from __future__ import annotations

from viewhop.plotting._bandwidths import bandwidth_slice, bandwidth_surface
from viewhop.plotting._classifications import confusion, pair_accuracy
from viewhop.plotting._disagreements import disagreement
from viewhop.plotting._distances_of_views import view_distances
from viewhop.plotting._embeddings import embedding
from viewhop.plotting._interpretations import explanation, stability
from viewhop.plotting._maps import map
from viewhop.plotting._similarities import view_similarity
from viewhop.plotting._sonograms import sonogram
from viewhop.plotting._spectra import spectrum
from viewhop.plotting._style import INK, PALE, PALETTE, make_axes, tidy_axes

__all__ = [
    "INK",
    "PALE",
    "PALETTE",
    "bandwidth_slice",
    "bandwidth_surface",
    "confusion",
    "disagreement",
    "embedding",
    "explanation",
    "make_axes",
    "map",
    "pair_accuracy",
    "sonogram",
    "spectrum",
    "stability",
    "tidy_axes",
    "view_distances",
    "view_similarity",
]
