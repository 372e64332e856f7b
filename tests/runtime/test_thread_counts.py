"""Numbers of threads: enough work for two of them, and no coordinate that differs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_allclose
from threadpoolctl import threadpool_info, threadpool_limits

from viewhop import DiffusionMaps, KernelCCA, MultiViewDiffusionMaps, MultiViewSpectralClustering
from viewhop.kernels import Gaussian

#: More rows than a tile has, so that tiles and blocks of products are shared among threads, and
#: matrices that BLAS splits among its own.
N = 800
SETTINGS = {
    "neighbours, lanczos": {"solver": "lanczos"},
    "neighbours, krylov": {"solver": "krylov"},
    "paper, svd": {"within_view_weight": 0.0, "solver": "svd"},
    "full, dense": {"kernel": Gaussian(factor=2.0), "solver": "dense"},
    "full, krylov": {"kernel": Gaussian(factor=2.0), "solver": "krylov"},
    "full, local": {"kernel": Gaussian("local")},
    "product": {"kernel": Gaussian(factor=20.0), "fusion": "product"},
    "concat": {"kernel": Gaussian(factor=20.0), "fusion": "concat"},
    "alternating": {"fusion": "alternating"},
    "integrated": {"fusion": "integrated"},
    "composite": {"fusion": "composite"},
}


@pytest.fixture(scope="module")
def views():
    """Two views of points on an open curve; no two eigenvalues are close."""
    rng = np.random.default_rng(3)
    angle = rng.uniform(0, 1.6 * np.pi, N)
    noise = rng.normal(scale=0.02, size=(N, 4))
    X = np.c_[np.cos(angle), np.sin(angle), angle, np.sin(angle)] + noise
    return [X[:, :2], X[:, 2:]]


def coordinates(views, **params):
    est = MultiViewDiffusionMaps(3, random_state=0, **params).fit(views)
    return est.embedding_, est.transform([X[::7] + 0.01 for X in views])


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
def test_one_and_two_jobs_agree(views, setting):
    one, two = (coordinates(views, n_jobs=n_jobs, **setting) for n_jobs in (1, 2))
    assert_allclose(two[0], one[0], atol=1e-10, rtol=0)
    assert_allclose(two[1], one[1], atol=1e-10, rtol=0)


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
def test_one_and_two_blas_threads_agree(views, setting):
    results = []
    for n_threads in (1, 2):
        with threadpool_limits(limits=n_threads, user_api="blas"):
            pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
            assert {pool["num_threads"] for pool in pools} == {n_threads}
            results.append(coordinates(views, **setting))
    one, two = results
    assert_allclose(two[0], one[0], atol=1e-10, rtol=0)
    assert_allclose(two[1], one[1], atol=1e-10, rtol=0)


OTHERS = {
    "one view": lambda n_jobs: DiffusionMaps(3, random_state=0, n_jobs=n_jobs),
    "clusters": lambda n_jobs: MultiViewSpectralClustering(4, random_state=0, n_jobs=n_jobs),
    "kernel CCA": lambda n_jobs: KernelCCA(2, rank=30, n_jobs=n_jobs),
}


@pytest.mark.parametrize("make", OTHERS.values(), ids=OTHERS)
def test_one_and_two_jobs_of_other_estimators_agree(views, make):
    def result(n_jobs):
        est = make(n_jobs)
        est.fit(views[0] if isinstance(est, DiffusionMaps) else views)
        return getattr(est, "labels_", None) if hasattr(est, "labels_") else est.embedding_

    assert_allclose(result(2), result(1), atol=1e-10, rtol=0)


def test_eight_threads_fit_as_one_does(views):
    expected = {name: coordinates(views, n_jobs=1, **how)[0] for name, how in SETTINGS.items()}
    with ThreadPoolExecutor(8) as pool:
        jobs = {
            name: pool.submit(coordinates, views, n_jobs=2, **how) for name, how in SETTINGS.items()
        }
        for name, job in jobs.items():
            assert_allclose(job.result()[0], expected[name], atol=1e-10, rtol=0, err_msg=name)
