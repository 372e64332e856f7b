"""Bandwidths: the rules that choose the scale σ of each kernel."""

from __future__ import annotations

from viewhop.bandwidth._algorithm_1 import JointScales, Surface, joint
from viewhop.bandwidth._all_views import connected, resolve_scales
from viewhop.bandwidth._log_log import Histogram
from viewhop.bandwidth._one_view import choose_scale, count_distances, local, log_log, max_min

__all__ = [
    "Histogram",
    "JointScales",
    "Surface",
    "choose_scale",
    "connected",
    "count_distances",
    "joint",
    "local",
    "log_log",
    "max_min",
    "resolve_scales",
]
