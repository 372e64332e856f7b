"""Dimension: the numerical rank of a kernel, and the intrinsic dimension of the data."""

from viewhop.dimension._intrinsic import danco, intrinsic, local_pca
from viewhop.dimension._numerical_rank import box_count, numerical_rank

__all__ = ["box_count", "danco", "intrinsic", "local_pca", "numerical_rank"]
