"""Affinities: how one view's kernel on the training samples is stored and multiplied.

`Affinity` is the contract. A custom kernel can build a custom affinity: see
`viewhop.kernels.Kernel.build`.
"""

from viewhop.affinity._affinity import Affinity
from viewhop.affinity._affinity_reader import AffinityReader
from viewhop.affinity._build import AffinitySize, build_affinities, build_affinity
from viewhop.affinity._kernel_codec import decode_kernel, encode_kernel
from viewhop.affinity._kernel_rows import KernelRows, Values
from viewhop.affinity._low_rank import LowRank, factorise_kernel
from viewhop.affinity._pivots import Pivots
from viewhop.affinity._product import KernelProduct
from viewhop.affinity._tiles import LANES, in_lanes

__all__ = [
    "LANES",
    "Affinity",
    "AffinityReader",
    "AffinitySize",
    "KernelProduct",
    "KernelRows",
    "LowRank",
    "Pivots",
    "Values",
    "build_affinities",
    "build_affinity",
    "decode_kernel",
    "encode_kernel",
    "factorise_kernel",
    "in_lanes",
]
