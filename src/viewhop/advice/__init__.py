"""Advice: what to watch for in views, and which parameters to fit them with, without labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from viewhop._runtime.lazy import lazy_names

if TYPE_CHECKING:
    from viewhop.advice._advice import Advice, format_value
    from viewhop.advice._advise import advise
    from viewhop.advice._feature_findings import feature_findings
    from viewhop.advice._finding import Finding, Recommendation
    from viewhop.advice._graph_findings import agreement_findings, graph_findings
    from viewhop.advice._graph_health import graph_health, missing_samples
    from viewhop.advice._spectral_choice import entropy_knee

__all__ = [
    "Advice",
    "Finding",
    "Recommendation",
    "advise",
    "agreement_findings",
    "entropy_knee",
    "feature_findings",
    "format_value",
    "graph_findings",
    "graph_health",
    "missing_samples",
]

_HOMES = {
    "Advice": "viewhop.advice._advice",
    "Finding": "viewhop.advice._finding",
    "Recommendation": "viewhop.advice._finding",
    "advise": "viewhop.advice._advise",
    "agreement_findings": "viewhop.advice._graph_findings",
    "entropy_knee": "viewhop.advice._spectral_choice",
    "feature_findings": "viewhop.advice._feature_findings",
    "format_value": "viewhop.advice._advice",
    "graph_findings": "viewhop.advice._graph_findings",
    "graph_health": "viewhop.advice._graph_health",
    "missing_samples": "viewhop.advice._graph_health",
}

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
