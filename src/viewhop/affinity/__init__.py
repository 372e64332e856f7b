"""Affinities: how one view's kernel on the training samples is stored and multiplied.

`Affinity` is the contract. A custom kernel can build a custom affinity: see
`viewhop.kernels.Kernel.build`.
"""

from viewhop.affinity._affinity import Affinity
from viewhop.affinity._affinity_reader import AffinityReader
from viewhop.affinity._build import (
    AffinitySize,
    build_affinities,
    build_affinity,
    warn_of_recall,
)
from viewhop.affinity._common_kernel import common_gaussian
from viewhop.affinity._concatenation import (
    build_concatenation,
    concat_kernel,
    restore_concatenation,
)
from viewhop.affinity._edge import Edge
from viewhop.affinity._graph import MergedGraph
from viewhop.affinity._joint_view import (
    JointView,
    build_joint_view,
    complete_rows,
    joint_kernel,
    joint_name,
    lowest_precision,
)
from viewhop.affinity._kernel_codec import decode_kernel, encode_kernel
from viewhop.affinity._kernel_rows import KernelRows, Values
from viewhop.affinity._kernel_values import sparse_kernel_error
from viewhop.affinity._low_rank import LowRank, factorise_kernel
from viewhop.affinity._pivot_codec import decode_pivots, encode_pivots
from viewhop.affinity._pivots import Pivots
from viewhop.affinity._product import KernelProduct
from viewhop.affinity._side_by_side import SideBySide
from viewhop.affinity._tiles import LANES, in_lanes

__all__ = [
    "LANES",
    "Affinity",
    "AffinityReader",
    "AffinitySize",
    "Edge",
    "JointView",
    "KernelProduct",
    "KernelRows",
    "LowRank",
    "MergedGraph",
    "Pivots",
    "SideBySide",
    "Values",
    "build_affinities",
    "build_affinity",
    "build_concatenation",
    "build_joint_view",
    "common_gaussian",
    "complete_rows",
    "concat_kernel",
    "decode_kernel",
    "decode_pivots",
    "encode_kernel",
    "encode_pivots",
    "factorise_kernel",
    "in_lanes",
    "joint_kernel",
    "joint_name",
    "lowest_precision",
    "restore_concatenation",
    "sparse_kernel_error",
    "warn_of_recall",
]
