"""The names that settings, options and files may use: one list of each kind.

An entry is read when it is asked for, so one that is added while a program runs counts everywhere:
in the check of settings, in the help of the commands, and in what a shell completes. Nothing heavy
is imported here: the object behind a name loads on first use.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

__all__ = [
    "FUSIONS",
    "KERNELS",
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
        Where the object is: ``"package.module:name"``.
    summary : str
        One line for help texts.
    """

    home: str
    summary: str


#: How the views become one walk.
FUSIONS: dict[str, Entry] = {
    "hop": Entry(
        "viewhop.walks._hop:HopWalk", "a walk that hops between views at every step, Eq. (13)"
    ),
    "sum": Entry("viewhop.walks._fused:SumWalk", "one walk on the sum of the kernels"),
    "product": Entry("viewhop.walks._fused:ProductWalk", "one walk on the product of the kernels"),
    "alternating": Entry(
        "viewhop.walks._alternating:AlternatingWalk", "alternating diffusion: the views in turn"
    ),
}

#: How similar two samples of a view are.
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

#: How the scale of a kernel is chosen, where it is not a number.
RULES: dict[str, str] = {
    "max-min": "the largest distance of a sample to its nearest neighbour",
    "log-log": "the steepest point of the log-log plot of the kernel's sum",
    "local": "one scale per sample, by the distance to its neighbours",
    "joint": "the linear range of all views together, by Algorithm 1",
    "connected": "the smallest scales at which every sample is connected in some view",
}

#: How the distance of two samples is measured.
METRICS: dict[str, str] = {
    "euclidean": "the root of the summed squared differences",
    "cosine": "the root of 1 minus the cosine of the angle",
    "correlation": "the root of 1 minus the correlation",
}

#: How neighbours are found.
SEARCHES: dict[str, str] = {
    "auto": "the faster of the two for the number of samples",
    "exact": "every neighbour, by comparing all pairs",
    "faiss": "an approximate index; its recall is measured and reported",
}

#: How eigenpairs are computed; "auto" chooses among these.
SOLVERS: dict[str, Entry] = {
    "dense": Entry("viewhop.solvers._lapack:DenseSolver", "LAPACK on the whole matrix"),
    "lanczos": Entry("viewhop.solvers._lanczos:LanczosSolver", "Lanczos iterations (ARPACK)"),
    "krylov": Entry(
        "viewhop.solvers._krylov:KrylovSolver", "block Krylov iterations from a coarse start"
    ),
    "svd": Entry(
        "viewhop.solvers._lanczos:SvdSolver",
        "Lanczos on half the problem: two views, or alternating",
    ),
}

#: What the embedding of several views is.
OUTPUTS: dict[str, str] = {
    "auto": "concat if every view observed every sample, else mean",
    "concat": "the coordinates of all views side by side",
    "mean": "the mean of the coordinates of all views",
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
