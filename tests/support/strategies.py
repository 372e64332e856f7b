"""Hypothesis strategies: views of all shapes and scales, and parameters of estimators."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from viewhop.kernels import Gaussian, Laplacian

__all__ = ["DataSet", "clusterings", "data_sets", "invalid_parameters", "maps", "single_maps"]


class DataSet:
    """Views of the same samples, from a seed: a failing example prints as a short call.

    Parameters
    ----------
    seed : int
    widths : tuple of int
        Columns of each view.
    n_samples : int
    exponents : tuple of int
        View l is scaled by 10 to this power.
    n_doubled : int
        Samples that repeat an earlier one in every view.
    n_missing : int
        Samples that one view did not observe.
    constant : bool
        Whether the first column of the first view is constant.
    dtype : str
    """

    def __init__(
        self,
        seed,
        widths,
        n_samples,
        exponents=(),
        n_doubled=0,
        n_missing=0,
        constant=False,
        dtype="float64",
    ):
        self._given = (seed, widths, n_samples, exponents, n_doubled, n_missing, constant, dtype)

    def __repr__(self):
        return f"DataSet{self._given!r}"

    def views(self):
        """The views, as a new list of new arrays."""
        seed, widths, n, exponents, n_doubled, n_missing, constant, dtype = self._given
        rng = np.random.default_rng(seed)
        views = [rng.standard_normal((n, width)) for width in widths]
        if constant and widths[0] > 1:
            views[0][:, 0] = 1.0
        copies = rng.choice(n, (2, n_doubled)) if n_doubled else ((), ())
        for X, exponent in zip(views, exponents or (0,) * len(views), strict=True):
            X[copies[0]] = X[copies[1]]
            X *= 10.0**exponent
        for row in rng.choice(n, n_missing, replace=False):
            if len(views) > 1:
                views[rng.integers(len(views))][row] = np.nan
        with np.errstate(over="ignore"):  # infinite numbers are refused
            return [X.astype(dtype) for X in views]


@st.composite
def data_sets(draw, *, n_views=(1, 5), n_samples=(3, 60), exponent=0, missing=True, single=True):
    """Data sets of any number of views and samples in a range, with ragged widths.

    Parameters
    ----------
    n_views, n_samples : (int, int)
        Smallest and largest number.
    exponent : int
        Views are scaled by powers of ten from ``-exponent`` to ``exponent``.
    missing : bool
        Whether views may lack samples.
    single : bool
        Whether they may be of single precision.
    """
    widths = draw(st.lists(st.integers(1, 6), min_size=n_views[0], max_size=n_views[1]))
    n = draw(st.integers(*n_samples))
    powers = st.just(0) if not exponent else st.integers(-exponent, exponent)
    return DataSet(
        draw(st.integers(0, 2**16)),
        tuple(widths),
        n,
        tuple(draw(st.lists(powers, min_size=len(widths), max_size=len(widths)))),
        draw(st.integers(0, n // 2)),
        draw(st.integers(0, n // 4)) if missing else 0,
        draw(st.booleans()),
        draw(
            st.sampled_from(
                ("float64", "float64", "float64", "float32") if single else ("float64",)
            )
        ),
    )


# --- parameters ----------------------------------------------------------------------------------

KERNELS = st.sampled_from(
    (
        *("adaptive", "adaptive", "gaussian", "laplacian", "correlation"),
        *(Gaussian("local", n_neighbors=5), Gaussian("log-log"), Gaussian(factor=2.0, alpha=1.0)),
        *(Gaussian(metric="cosine"), Gaussian(metric="auto"), Laplacian(n_neighbors=6)),
    )
)
SHARED = {
    "n_steps": st.sampled_from((0, 0.5, 1, 2, 3)),
    "kernel": KERNELS,
    "solver": st.sampled_from(("auto", "auto", "dense", "lanczos", "krylov")),
    "tol": st.sampled_from((None, None, 1e-10)),
    "n_jobs": st.sampled_from((None, 1)),
    "random_state": st.integers(0, 3),
}
COMPONENTS = {"n_components": st.sampled_from((1, 2, 2, 3, "auto"))}
CLUSTERS = {
    "n_clusters": st.sampled_from((2, 2, 3, "auto")),
    "normalize": st.booleans(),
    "n_init": st.just(1),
    "max_clusters": st.just(4),
}


@st.composite
def _walks(draw):
    """Parameters of the walk, which go together nine times out of ten."""
    several = ("sum", "product", "concat", "alternating", "integrated", "composite")
    fusion = draw(st.sampled_from(("hop", "hop", "hop", *several)))
    weight, output = None, "auto"
    is_careless = draw(st.integers(0, 9)) == 9
    if fusion == "hop" or is_careless:
        weight = draw(st.sampled_from((None, None, 0.0, 0.3, 1.0)))
        outputs = ("auto", "concat", "mean", "consensus")
        output = draw(st.sampled_from(outputs if weight is None or is_careless else outputs[:3]))
    joint = draw(st.sampled_from(("auto", "auto", False)))
    return {
        "fusion": fusion,
        "within_view_weight": weight,
        "joint_view": joint,
        "output": output,
    }


def _together(own, walks):
    values = {**SHARED, **own}
    return st.builds(lambda one, two: {**one, **two}, st.fixed_dictionaries(values), walks)


single_maps = _together(COMPONENTS, st.just({}))
maps = _together(COMPONENTS, _walks())
clusterings = _together(CLUSTERS, _walks())
#: One parameter each that no fit accepts.
invalid_parameters = st.sampled_from(
    (
        *({"n_steps": -1}, {"n_steps": "x"}, {"kernel": "nope"}, {"kernel": 3}, {"tol": -1.0}),
        *({"solver": "x"}, {"max_memory": -1}, {"max_memory": "much"}, {"random_state": "x"}),
        *({"n_jobs": 1.5}, {"kernel": Gaussian(-1.0)}, {"kernel": Gaussian(metric="x")}),
    )
)
