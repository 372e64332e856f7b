"""Baselines: the methods for several views that the paper compares its walk with."""

from __future__ import annotations

from viewhop.baselines.desa import DeSaEmbedding
from viewhop.baselines.kernel_cca import KernelCCA

__all__ = ["DeSaEmbedding", "KernelCCA"]
