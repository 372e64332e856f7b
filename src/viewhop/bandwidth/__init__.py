"""Scales: from views to the sigma of each kernel."""

from __future__ import annotations

from viewhop.bandwidth._all_views import JointScales, Surface, across_views, connected, joint
from viewhop.bandwidth._one_view import local, log_log, max_min

__all__ = [
    "JointScales",
    "Surface",
    "across_views",
    "connected",
    "joint",
    "local",
    "log_log",
    "max_min",
]
