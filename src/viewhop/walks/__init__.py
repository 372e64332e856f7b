"""Walks: from the kernels of several views to one random walk.

With K = blockdiag(K^1 … K^L) and a small hop matrix H, the multi-view kernel is one product,

    K̂ = K (H ⊗ I) K,      so that      (K̂ v)_l = K^l Σ_m H_lm K^m v_m .

A product with K̂ therefore costs 2L kernel products. K̂ itself is never formed, and neither is a
product of two kernels.
"""

from viewhop._registry import FUSIONS
from viewhop.walks._alternating import AlternatingWalk
from viewhop.walks._composite import CompositeWalk
from viewhop.walks._concat import ConcatWalk
from viewhop.walks._extension import Extension, Step, warn_of_unreached
from viewhop.walks._fused import ProductWalk, SumWalk
from viewhop.walks._hop import HopWalk
from viewhop.walks._hop_extension import HopExtension
from viewhop.walks._hop_matrix import check_hops, hop_matrix, low_rank_factor, rank_one_weights
from viewhop.walks._hub import HubWalk
from viewhop.walks._integrated import LEADING, IntegratedWalk
from viewhop.walks._piece import PieceWalk
from viewhop.walks._spectral_entropy import entropy_knee, spectral_entropy
from viewhop.walks._walk import CrossKernel, Walk, WalkSize, check_markov, walk_class
from viewhop.walks._walk_codec import check_degrees, read_walk, walk_state
from viewhop.walks._weighted import build_weighted_walk

__all__ = [
    "FUSIONS",
    "LEADING",
    "AlternatingWalk",
    "CompositeWalk",
    "ConcatWalk",
    "CrossKernel",
    "Extension",
    "HopExtension",
    "HopWalk",
    "HubWalk",
    "IntegratedWalk",
    "PieceWalk",
    "ProductWalk",
    "Step",
    "SumWalk",
    "Walk",
    "WalkSize",
    "build_weighted_walk",
    "check_degrees",
    "check_hops",
    "check_markov",
    "entropy_knee",
    "hop_matrix",
    "low_rank_factor",
    "rank_one_weights",
    "read_walk",
    "spectral_entropy",
    "walk_class",
    "walk_state",
    "warn_of_unreached",
]
