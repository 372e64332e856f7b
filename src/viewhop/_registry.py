"""The names of kernels, fusions, solvers and other choices, one dict per kind.

Dicts are read at the time of use, so an entry that is added at run time is recognised everywhere:
in parameter and settings checks, in the help of commands, and in shell completion. Nothing heavy is
imported here: the object behind a name loads on first use.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

__all__ = [
    "FUSIONS",
    "KERNELS",
    "LINEAR_RANGES",
    "METRICS",
    "OUTPUTS",
    "RULES",
    "SEARCHES",
    "SOLVERS",
    "Entry",
    "load_home",
]


@dataclass(frozen=True)
class Entry:
    """A name that stands for an object.

    Attributes
    ----------
    home : str
        Import path of the object: ``"package.module:name"``.
    summary : str
        One line for help text.
    """

    home: str
    summary: str


#: Ways to combine the views into one walk.
FUSIONS: dict[str, Entry] = {
    "hop": Entry(
        "viewhop.walks._hop:HopWalk", "a walk that hops between views at every step, Eq. (13)"
    ),
    "sum": Entry("viewhop.walks._fused:SumWalk", "one walk on the sum of the kernels"),
    "product": Entry("viewhop.walks._fused:ProductWalk", "one walk on the product of the kernels"),
    "concat": Entry(
        "viewhop.walks._concat:ConcatWalk", "one walk on a Gaussian of all views side by side"
    ),
    "alternating": Entry(
        "viewhop.walks._alternating:AlternatingWalk", "alternating diffusion: the views in turn"
    ),
    "integrated": Entry(
        "viewhop.walks._integrated:IntegratedWalk",
        "integrated diffusion: the views in turn, as many steps in each as its spectrum suggests",
    ),
    "composite": Entry(
        "viewhop.walks._composite:CompositeWalk",
        "the composite operator: what two views have in common, in no order",
    ),
}

#: Similarities of two samples in one view.
KERNELS: dict[str, Entry] = {
    "adaptive": Entry(
        "viewhop.kernels:adaptive", "a Gaussian on nearest neighbours, with a scale per sample"
    ),
    "gaussian": Entry("viewhop.kernels:Gaussian", "exp(-d^2 / 2 sigma^2)"),
    "laplacian": Entry("viewhop.kernels:Laplacian", "exp(-d / sigma)"),
    "correlation": Entry(
        "viewhop.kernels:Correlation", "a Gaussian of the correlation of two samples"
    ),
    "precomputed": Entry("viewhop.kernels:Precomputed", "the file is the kernel matrix itself"),
}

#: Rules that choose the scale of a kernel.
RULES: dict[str, str] = {
    "max-min": "the largest distance of a sample to its nearest neighbour",
    "log-log": "the steepest point of the log-log plot of the kernel's sum",
    "local": "one scale per sample, by the distance to its neighbours",
    "joint": "the linear range of all views together, by Algorithm 1",
    "connected": "the smallest scales at which every sample is connected in some view",
}

#: Rules for the linear range of a slice in Algorithm 1.
LINEAR_RANGES: dict[str, str] = {
    "minimal": "the first range from below in which the slope is nearly constant, as in the paper",
    "steepest": "the range around the steepest point",
}

#: Distances between two samples.
METRICS: dict[str, str] = {
    "auto": "the one on which the views agree best about who is near whom",
    "euclidean": "the root of the summed squared differences",
    "cosine": "the root of 1 minus the cosine of the angle",
    "centered-cosine": "the same after the mean of each feature is subtracted",
    "correlation": "the root of 1 minus the correlation",
    "manhattan": "the sum of the absolute differences",
}

#: Methods of neighbour search.
SEARCHES: dict[str, str] = {
    "auto": "the faster of the two for the number of samples",
    "exact": "every neighbour, by comparing all pairs",
    "faiss": "an approximate index; its recall is measured and reported",
}

#: Eigensolvers; "auto" chooses one of these.
SOLVERS: dict[str, Entry] = {
    "dense": Entry("viewhop.solvers._lapack:DenseSolver", "LAPACK on the whole matrix"),
    "lanczos": Entry("viewhop.solvers._lanczos:LanczosSolver", "Lanczos iterations (ARPACK)"),
    "krylov": Entry(
        "viewhop.solvers._krylov:KrylovSolver", "block Krylov iterations from a coarse start"
    ),
    "inverse": Entry(
        "viewhop.solvers._inverse:InverseSolver",
        "shift and invert, for full kernels with eigenvalues close to each other",
    ),
    "svd": Entry(
        "viewhop.solvers._lanczos:SvdSolver",
        "Lanczos on half the problem: two views, alternating or integrated",
    ),
}

#: Forms of the embedding of several views.
OUTPUTS: dict[str, str] = {
    "auto": "consensus for a walk with view weights, otherwise concat",
    "concat": "the coordinates of all views side by side",
    "mean": "the mean over the views that observed a sample, each scaled to unit spread",
    "consensus": "one set of coordinates, on which all views agree",
}


def load_home(home: str) -> Any:
    """The object at an import path.

    Parameters
    ----------
    home : str
        ``"package.module:name"``.

    Examples
    --------
    >>> from viewhop._registry import KERNELS, load_home
    >>> load_home(KERNELS["gaussian"].home)
    <class 'viewhop.kernels.Gaussian'>
    """
    module, _, name = home.partition(":")
    return getattr(import_module(module), name)
