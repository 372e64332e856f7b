"""Affinities: how one view's kernel on the training samples is held and multiplied."""

from viewhop.affinity._affinity import Affinity
from viewhop.affinity._build import build, check_new_values
from viewhop.affinity._kernel_rows import KernelRows

__all__ = ["Affinity", "KernelRows", "build", "check_new_values"]
