"""Diffusion maps of one view on all pairs, with a narrow Gaussian."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import viewhop as vh
from benchmarks import foreign
from benchmarks.apart import apart
from benchmarks.data import cube_views
from benchmarks.peers.lines import NAIVE, Peers, measure_repeatedly, plain_row
from benchmarks.row import Row

__all__ = ["run_all_pairs"]

R = 10
#: Share of the squared max-min scale: the kernel is narrow.
FACTOR = 0.1
#: Bounds against datafold by the number of samples, and against everything else.
DATAFOLD_BOUNDS = {5000: 0.5, 10_000: 0.5}
BOUND = 1.0


def write_view(data: str, n_samples: int) -> dict[str, Any]:
    """One view of the cube in float64, written to a file, and a narrow scale for it."""
    X = cube_views(n_samples, 1)[0].astype(np.float64)
    np.save(data, X)
    return {"sigma": float(vh.bandwidth.max_min(X, FACTOR))}


def ours(data: str, sigma: float) -> dict[str, Any]:
    """The library on all pairs, at a given scale."""
    est = vh.DiffusionMaps(R, kernel=vh.kernels.Gaussian(bandwidth=sigma), random_state=0)
    timing = measure_repeatedly(est, [np.load(data)])
    return timing | {"eigenvalues": est.eigenvalues_.tolist()}


def run_all_pairs(folder: Path, peers: Peers, n_samples: int, *, has_naive: bool) -> Iterator[Row]:
    """The library, datafold, and all eigenpairs of the whole matrix if `has_naive`."""
    data = str(folder / "view.npy")
    sigma = apart(write_view, {"data": data, "n_samples": n_samples})["sigma"]
    fit = apart(ours, {"data": data, "sigma": sigma})
    label = f"viewhop, all pairs, M = {n_samples:,}, r = {R}"
    yield plain_row(label, fit)
    order = {"data": data, "r": R, "sigma": sigma}
    yield from peers.compare(
        "datafold",
        foreign.datafold,
        order,
        {label: fit},
        work=f"all pairs, M = {n_samples:,}",
        at_most=DATAFOLD_BOUNDS.get(n_samples, BOUND),
    )
    if has_naive:
        yield from peers.compare(
            NAIVE,
            foreign.naive,
            order,
            {label: fit},
            work=f"all eigenpairs of the whole matrix, M = {n_samples:,}",
            at_most=BOUND,
        )
