"""Small data and kernels on which properties are tested."""

from __future__ import annotations

import numpy as np

from viewhop.kernels import Correlation, Gaussian, Laplacian, Precomputed

N = 24
ETAS = (0.0, 0.3, 1.0)

#: Every kernel, as functions of the neighbour count, so that each exists dense and sparse.
KERNELS = {
    "gaussian max-min": lambda k: Gaussian(n_neighbors=k),
    "gaussian factor": lambda k: Gaussian(factor=1.7, n_neighbors=k),
    "gaussian fixed": lambda k: Gaussian(bandwidth=2.5, n_neighbors=k),
    "gaussian log-log": lambda k: Gaussian(bandwidth="log-log", n_neighbors=k),
    "gaussian local": lambda k: Gaussian(bandwidth="local", factor=1.3, n_neighbors=k),
    "gaussian standardised": lambda k: Gaussian(standardize=True, n_neighbors=k),
    "gaussian cosine": lambda k: Gaussian(metric="cosine", n_neighbors=k),
    "gaussian centred cosine": lambda k: Gaussian(metric="centered-cosine", n_neighbors=k),
    "gaussian adaptive": lambda k: Gaussian(
        "local",
        metric="centered-cosine",
        standardize=True,
        alpha=1.0,
        scale_neighbors=3,
        n_neighbors=k,
        taper=0.3 if k else 0.0,
    ),
    "gaussian alpha": lambda k: Gaussian(alpha=1.0, n_neighbors=k),
    "gaussian local alpha": lambda k: Gaussian(bandwidth="local", alpha=0.5, n_neighbors=k),
    "laplacian": lambda k: Laplacian(factor=2.0, n_neighbors=k),
    "laplacian local": lambda k: Laplacian(bandwidth="local", n_neighbors=k),
    "correlation": lambda k: Correlation(n_neighbors=k),
    "gaussian manhattan": lambda k: Gaussian(metric="manhattan", alpha=1.0, n_neighbors=k),
    "laplacian manhattan": lambda k: Laplacian(metric="manhattan", n_neighbors=k),
    "laplacian manhattan local": lambda k: Laplacian(
        "local",
        metric="manhattan",
        standardize=True,
        alpha=0.5,
        n_neighbors=k,
        taper=0.3 if k else 0.0,
    ),
    "precomputed": lambda k: Precomputed(n_neighbors=k),
    "precomputed alpha": lambda k: Precomputed(n_neighbors=k, alpha=1.0),
}
HOLDINGS = {"dense": None, "sparse": 4}
#: Gaussians whose views can be joined side by side: their distances are Euclidean.
JOINED = [
    name
    for name, make in KERNELS.items()
    if type(make(None)) is Gaussian and make(None).is_euclidean
]


def kernel(name, holding):
    return KERNELS[name](HOLDINGS[holding])


def generic(rng, width):
    """Continuous data, shifted and scaled."""
    return 3.0 + 2.0 * rng.standard_normal((N, width))


def tied(rng, width):
    """Integer values, so that many distances are equal; no row is constant."""
    X = rng.integers(0, 4, (N, width)).astype(float)
    X[:, 0] = 5 + np.arange(N) % 5
    return X


def doubled(rng, width):
    """Every row twice."""
    return np.repeat(generic(rng, width)[: N // 2], 2, axis=0)[rng.permutation(N)]


DATA = {"generic": generic, "tied": tied, "doubled": doubled}


def views(data, n_views, kernel, dtype=np.float64, seed=0):
    """Views of the kind of data; for a precomputed kernel, kernels of such data."""
    rng = np.random.default_rng(seed)
    found = [DATA[data](rng, width) for width in (3, 5, 4, 6)[:n_views]]
    if isinstance(kernel, Precomputed):
        found = [np.exp(-np.abs(X[:, None] - X).sum(axis=-1) / 6.0) for X in found]
    return [X.astype(dtype) for X in found]
