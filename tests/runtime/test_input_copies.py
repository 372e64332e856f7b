"""What a fit copies of its input: no more than its budget says, whatever the form of the arrays."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from viewhop import MultiViewDiffusionMaps
from viewhop.geometry._memory_plan import FIXED
from viewhop.kernels import Gaussian

N, WIDTH = 400, 5000
KERNELS = {
    "adaptive": "adaptive",
    "neighbours": Gaussian(n_neighbors=10),
    "dense": "gaussian",
    "dense, cosine": Gaussian(metric="cosine"),
}


def plain(X, path):
    return X.copy()


def fortran(X, path):
    return np.asfortranarray(X)


def read_only_memmap(X, path):
    np.save(path, X)
    return np.load(path, mmap_mode="r")


def read_only_memmap_in_fortran_order(X, path):
    np.save(path, np.asfortranarray(X))
    return np.load(path, mmap_mode="r")


FORMS = [plain, fortran, read_only_memmap, read_only_memmap_in_fortran_order]


@pytest.fixture(scope="module")
def wide():
    """Two views of a curve with many more features than samples, 16 MB each."""
    rng = np.random.default_rng(0)
    u = rng.uniform(0, 1, (N, 1))
    return [np.sin(u @ rng.standard_normal((1, WIDTH)) * 2) for _ in range(2)]


@pytest.mark.filterwarnings("ignore::viewhop.errors.DisconnectedWarning")
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_copies_of_the_input_stay_within_the_estimate(wide, tmp_path, form, kernel):
    views = [form(X, tmp_path / f"{k}.npy") for k, X in enumerate(wide)]
    layouts = [X.flags["F_CONTIGUOUS"] for X in views]
    est = MultiViewDiffusionMaps(3, kernel=kernel, random_state=0, n_jobs=1)
    tracemalloc.start()
    try:
        est.fit(views)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert_allclose(est.memory_ - FIXED, peak, rtol=0.25)
    assert [X.flags["F_CONTIGUOUS"] for X in views] == layouts
    for X, original in zip(views, wide, strict=True):
        assert_array_equal(X, original)
