"""Advice, without labels: which parameters to fit views with, and how to read the result.

Before a fit, it is what to watch for in views and which parameters to choose; after a fit, which
features change along a coordinate, and whether the coordinate would come back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from viewhop._runtime.lazy import lazy_names

if TYPE_CHECKING:
    from viewhop.advice._advice import Advice, format_value
    from viewhop.advice._advise import advise
    from viewhop.advice._explain import Explanation, explain, explain_embedding
    from viewhop.advice._feature_findings import feature_findings
    from viewhop.advice._finding import Finding, Recommendation
    from viewhop.advice._graph_findings import agreement_findings, graph_findings
    from viewhop.advice._graph_health import graph_health, missing_samples
    from viewhop.advice._placed_samples import draw_samples
    from viewhop.advice._spectral_choice import entropy_knee
    from viewhop.advice._stability import Stability, stability

__all__ = [
    "Advice",
    "Explanation",
    "Finding",
    "Recommendation",
    "Stability",
    "advise",
    "agreement_findings",
    "draw_samples",
    "entropy_knee",
    "explain",
    "explain_embedding",
    "feature_findings",
    "format_value",
    "graph_findings",
    "graph_health",
    "missing_samples",
    "stability",
]

_HOMES = {
    "Advice": "viewhop.advice._advice",
    "Explanation": "viewhop.advice._explain",
    "Finding": "viewhop.advice._finding",
    "Recommendation": "viewhop.advice._finding",
    "Stability": "viewhop.advice._stability",
    "advise": "viewhop.advice._advise",
    "agreement_findings": "viewhop.advice._graph_findings",
    "draw_samples": "viewhop.advice._placed_samples",
    "entropy_knee": "viewhop.advice._spectral_choice",
    "explain": "viewhop.advice._explain",
    "explain_embedding": "viewhop.advice._explain",
    "feature_findings": "viewhop.advice._feature_findings",
    "format_value": "viewhop.advice._advice",
    "graph_findings": "viewhop.advice._graph_findings",
    "graph_health": "viewhop.advice._graph_health",
    "missing_samples": "viewhop.advice._graph_health",
    "stability": "viewhop.advice._stability",
}

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
