"""Data to try viewhop on: the synthetic sets of the paper, and a real one."""

from viewhop.datasets.bundled import load_mfeat
from viewhop.datasets.coil import load_coil20
from viewhop.datasets.synthetic import (
    make_circles,
    make_gapped_rolls,
    make_helices,
    make_mixtures,
    make_swiss_rolls,
)
from viewhop.datasets.video import make_train_video

__all__ = [
    "load_coil20",
    "load_mfeat",
    "make_circles",
    "make_gapped_rolls",
    "make_helices",
    "make_mixtures",
    "make_swiss_rolls",
    "make_train_video",
]
