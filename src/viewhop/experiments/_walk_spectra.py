"""Spectra of the paper's walks over two views, of one kernel step and of two."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from viewhop.errors import DisconnectedWarning
from viewhop.estimators import MultiViewDiffusionMaps
from viewhop.experiments._whole_spectrum import all_eigenvalues
from viewhop.kernels import Gaussian
from viewhop.views import Views
from viewhop.walks import ProductWalk, SumWalk

__all__ = [
    "BOTH_VIEWS",
    "CONCAT",
    "COUNTED",
    "DELTAS",
    "ONE_STEP",
    "OURS",
    "TWO_STEPS",
    "Spectra",
    "fit_paper",
    "is_first",
    "rank",
    "solve_walks",
    "spectra",
]

Floats = NDArray[np.float64]
#: Eigenvalues of each matrix, largest first.
Spectra = dict[str, Floats]

DELTAS = (0.1, 0.01, 0.001)
OURS = "multi-view"
CONCAT = "kernel product, concat"
ONE_STEP = ("x alone", "y alone", "kernel sum", "kernel product", CONCAT)
_SQUARED = ("kernel sum", "kernel product", CONCAT)
TWO_STEPS = tuple(f"{name}, two steps" for name in _SQUARED)
BOTH_VIEWS = "λ(x)·λ(y)"
#: Coordinates from which clusters are counted.
COUNTED = 20


def spectra(mixtures: Bunch, factor: float) -> Spectra:
    """All eigenvalues of each walk on one draw at the same scales.

    Parameters
    ----------
    mixtures : Bunch
        From `make_mixtures`.
    factor : float
        C of the max-min scale.

    Notes
    -----
    "kernel product" is the element-wise product of the kernels; "kernel product, concat" is the
    paper's, one Gaussian on the concatenated views with σ∘² = σx² + σy². A step of the multi-view
    walk is a step in each view, so the squares of the one-step walks are its fair rivals. Of the
    spectrum ±σ of P̂, the non-negative half is kept (erratum 4).
    """
    return solve_walks(mixtures, factor)[0]


def solve_walks(mixtures: Bunch, factor: float) -> tuple[Spectra, MultiViewDiffusionMaps]:
    """The result of `spectra`, and the fitted multi-view walk."""
    kernel = Gaussian(bandwidth="max-min", factor=factor)
    est = fit_paper(mixtures.views, kernel)
    walk = est.walk_
    x, y = walk.affinities
    side_by_side = MultiViewDiffusionMaps(2, kernel=kernel, fusion="concat", solver="dense")
    by_walk = {
        "x alone": all_eigenvalues(SumWalk([x])),
        "y alone": all_eigenvalues(SumWalk([y])),
        "kernel sum": all_eigenvalues(SumWalk([x, y])),
        "kernel product": all_eigenvalues(ProductWalk([x, y])),
        CONCAT: all_eigenvalues(side_by_side.fit(mixtures.views).walk_),
    }
    twice = {f"{name}, two steps": by_walk[name] ** 2 for name in _SQUARED}
    product = {BOTH_VIEWS: by_walk["x alone"] * by_walk["y alone"]}
    ours = {OURS: all_eigenvalues(walk)[: walk.n_samples]}
    return {**by_walk, **twice, **product, **ours}, est


def fit_paper(views: Views, kernel: Gaussian) -> MultiViewDiffusionMaps:
    """The paper's walk, fitted with as many coordinates as clusters are counted from."""
    est = MultiViewDiffusionMaps.paper_settings(COUNTED, kernel=kernel, solver="dense")
    with warnings.catch_warnings():
        # At the smaller scale some draws fall into pieces, which the spectrum shows.
        warnings.simplefilter("ignore", DisconnectedWarning)
        return est.fit(views)


def rank(eigenvalues: Floats, delta: float) -> int:
    """Number of eigenvalues above δ in absolute value."""
    return int(np.sum(np.abs(eigenvalues) > delta))


def is_first(each: Spectra, delta: float, rivals: Sequence[str]) -> bool:
    """Whether the multi-view walk has at most as many eigenvalues above δ as each rival."""
    ours = rank(each[OURS], delta)
    return all(ours <= rank(each[name], delta) for name in rivals)
