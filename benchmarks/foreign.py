"""Diffusion maps of other packages, run by an interpreter that has them and little else."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

__all__ = ["datafold", "pydiffmap"]


def pydiffmap(data: str, r: int, k: int) -> dict[str, Any]:
    """pyDiffMap on `k` neighbours, its scale by its own rule."""
    from pydiffmap.diffusion_map import DiffusionMap

    X = np.load(data)
    start = perf_counter()
    DiffusionMap.from_sklearn(n_evecs=r, k=k, epsilon="bgh", alpha=0.0).fit_transform(X)
    return {"seconds": perf_counter() - start}


def datafold(data: str, r: int, sigma: float) -> dict[str, Any]:
    """datafold on all pairs, at a given scale."""
    from datafold.dynfold import DiffusionMaps
    from datafold.pcfold import GaussianKernel

    X = np.load(data)
    start = perf_counter()
    model = DiffusionMaps(GaussianKernel(epsilon=sigma**2), n_eigenpairs=r + 1, alpha=0.0)
    model.fit_transform(X)
    seconds = perf_counter() - start
    return {"seconds": seconds, "eigenvalues": np.asarray(model.eigenvalues_)[1:].tolist()}
