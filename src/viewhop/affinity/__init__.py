"""Affinities: how one view's kernel on the training samples is held and multiplied."""

from viewhop.affinity._affinity import Affinity
from viewhop.affinity._build import build_affinity, check_kernel_values
from viewhop.affinity._kernel_rows import KernelRows

__all__ = ["Affinity", "KernelRows", "build_affinity", "check_kernel_values"]
