"""Example data: the synthetic sets of the paper, and real data sets."""

from viewhop.datasets._bundled import load_mfeat
from viewhop.datasets._citeseq import make_citeseq
from viewhop.datasets._coil import load_coil20
from viewhop.datasets._deformation import deformed
from viewhop.datasets._multiview import load_multiview, load_scgem
from viewhop.datasets._noisy_latents import make_noisy_latents
from viewhop.datasets._remote import load_caltech101, load_isolet, load_mnist_2_3
from viewhop.datasets._synthetic import (
    make_circles,
    make_gapped_rolls,
    make_helices,
    make_mixtures,
    make_swiss_rolls,
)
from viewhop.datasets._video import make_train_video

__all__ = [
    "deformed",
    "load_caltech101",
    "load_coil20",
    "load_isolet",
    "load_mfeat",
    "load_mnist_2_3",
    "load_multiview",
    "load_scgem",
    "make_circles",
    "make_citeseq",
    "make_gapped_rolls",
    "make_helices",
    "make_mixtures",
    "make_noisy_latents",
    "make_swiss_rolls",
    "make_train_video",
]
