"""Pictures of what was computed: Axes in, Axes out."""

from __future__ import annotations

from viewhop.plotting.bandwidths import bandwidth_slice, bandwidth_surface
from viewhop.plotting.classifications import confusion, pair_accuracy
from viewhop.plotting.disagreements import disagreement
from viewhop.plotting.embeddings import embedding
from viewhop.plotting.similarities import view_similarity
from viewhop.plotting.sonograms import sonogram
from viewhop.plotting.spectra import spectrum

__all__ = [
    "bandwidth_slice",
    "bandwidth_surface",
    "confusion",
    "disagreement",
    "embedding",
    "pair_accuracy",
    "sonogram",
    "spectrum",
    "view_similarity",
]
