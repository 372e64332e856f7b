"""Scales: from views to the sigma of each kernel."""

from __future__ import annotations

from viewhop.bandwidth._all_views import JointScales, Surface, connected, joint, resolve_scales
from viewhop.bandwidth._one_view import choose_scale, local, log_log, max_min, sample_rows

__all__ = [
    "JointScales",
    "Surface",
    "choose_scale",
    "connected",
    "joint",
    "local",
    "log_log",
    "max_min",
    "resolve_scales",
    "sample_rows",
]
