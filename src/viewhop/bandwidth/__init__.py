"""Bandwidths: the rules that choose the scale σ of each kernel."""

from __future__ import annotations

from viewhop.bandwidth._algorithm_1 import JointScales, Surface, joint
from viewhop.bandwidth._all_views import connected, resolve_scales
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
