"""Algorithm 1 on six views of 2,000 digits against the exponentials that its grid names.

A direct evaluation takes one exponential of each distance matrix per scale, before any sum or any
product of kernels; that alone is the reference.
"""

from __future__ import annotations

from time import perf_counter

import numpy as np

import viewhop as vh
from benchmarks.row import Row

N_SCALES = 60


def run() -> list[Row]:
    """Algorithm 1, and the plain exponentials."""
    views = vh.datasets.load_mfeat().views
    table = np.random.default_rng(0).uniform(-5.0, 0.0, (len(views), len(views)))
    start = perf_counter()
    for _ in range(N_SCALES * views.n_views):
        np.exp(table)
    plain = perf_counter() - start
    start = perf_counter()
    vh.bandwidth.joint(views, N_SCALES)
    seconds = perf_counter() - start
    reference = f"{N_SCALES * views.n_views} exponentials of a 2,000 × 2,000 array"
    return [
        Row(reference, plain),
        Row(f"Algorithm 1, 6 views, {N_SCALES} scales", seconds, seconds / plain, reference),
    ]
