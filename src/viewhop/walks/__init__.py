"""Walks: from the kernels of several views to one random walk.

With K = blockdiag(K^1 … K^L) and a small hop matrix H, the multi-view kernel is one product,

    K̂ = K (H ⊗ I) K,      so that      (K̂ v)_l = K^l Σ_m H_lm K^m v_m .

A product with K̂ therefore costs 2L kernel products. K̂ itself is never formed, and neither is a
product of two kernels.
"""

from viewhop.walks._alternating import AlternatingWalk
from viewhop.walks._fused import ProductWalk, SumWalk
from viewhop.walks._hop import HopWalk, check_hops, hop_matrix
from viewhop.walks._walk import Walk

__all__ = [
    "AlternatingWalk",
    "HopWalk",
    "ProductWalk",
    "SumWalk",
    "Walk",
    "check_hops",
    "hop_matrix",
]
