"""Six views of 2,000 digits, dense Gaussians: the library against LAPACK on the whole matrix.

The paper's recipe forms the LM × LM kernel and decomposes it. Here the same matrix is formed and
given to ``scipy.linalg.eigh``, and the library's fit is timed beside it.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from time import perf_counter

import numpy as np
from scipy.linalg import eigh

import viewhop as vh
from benchmarks.row import Row

R = 20


def views(n_views: int) -> vh.Views:
    data = vh.datasets.load_mfeat().views
    return vh.Views(dict([*data.items()][:n_views]))


def estimator() -> vh.MultiViewDiffusionMaps:
    return vh.MultiViewDiffusionMaps(R, kernel=vh.kernels.Gaussian(), random_state=0)


def fit(n_views: int) -> dict[str, float]:
    """Time and peak memory of a fit in this process."""
    data = views(n_views)
    start = perf_counter()
    estimator().fit(data)
    seconds = perf_counter() - start
    return {
        "seconds": seconds,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }


def fit_apart(n_views: int) -> dict[str, float]:
    """The same in a process of its own, so that the peak is the fit's alone."""
    code = f"import json; from benchmarks.digits import fit; print(json.dumps(fit({n_views})))"
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(out.stdout)
    return found


def lapack(n_views: int) -> tuple[float, float]:
    """Seconds of ``eigh`` on the whole matrix, and how far the library is from its eigenvalues."""
    est = estimator().fit(views(n_views))
    walk = est.walk_
    kernels = [affinity @ np.eye(walk.n_samples) for affinity in walk.affinities]
    n = walk.n_nodes
    A = np.zeros((n, n))
    for l, K in enumerate(kernels):
        for m, M in enumerate(kernels):
            if l != m:
                rows = slice(l * walk.n_samples, (l + 1) * walk.n_samples)
                columns = slice(m * walk.n_samples, (m + 1) * walk.n_samples)
                A[rows, columns] = K @ M
    root = np.sqrt(A.sum(axis=1))
    A /= root[:, None]
    A /= root
    start = perf_counter()
    values = eigh(A, overwrite_a=True, check_finite=False)[0]
    seconds = perf_counter() - start
    found = est.eigenvalues_
    return seconds, float(np.abs(values[::-1][1 : R + 1] - found).max())


def run(*, n_views: int = 3) -> list[Row]:
    """The library with 6 and with `n_views` views, and LAPACK with `n_views`."""
    whole = fit_apart(6)
    rows = [Row(f"viewhop, 6 views, {R} coordinates", whole["seconds"], peak=int(whole["peak"]))]
    ours = whole
    if n_views != 6:
        ours = fit_apart(n_views)
        rows.append(Row(f"viewhop, {n_views} views", ours["seconds"], peak=int(ours["peak"])))
    seconds, gap = lapack(n_views)
    n = 2000 * n_views
    rows.append(
        Row(
            f"eigh of {n:,} × {n:,}, {n_views} views (eigenvalues agree to {gap:.0e})",
            seconds,
            ratio=seconds / ours["seconds"],
            of=f"viewhop, {n_views} views",
        )
    )
    return rows
