"""Single cells: diffusion maps of AnnData and MuData, stored where scanpy looks for them."""

from viewhop.scverse._diffmap import diffmap
from viewhop.scverse._place_cells import place

__all__ = ["diffmap", "place"]
