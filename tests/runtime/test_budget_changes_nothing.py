"""A budget refuses or allows; it never changes what is computed."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from viewhop import MultiViewDiffusionMaps
from viewhop.errors import MemoryBudgetError
from viewhop.kernels import Gaussian, Laplacian

KERNELS = {
    "adaptive": "adaptive",
    "dense": "gaussian",
    "dense, local": Gaussian("local"),
    "Laplacian": Laplacian(),
    "neighbours": Gaussian(n_neighbors=8),
    "one of each": ["gaussian", "adaptive"],
}


@pytest.fixture(scope="module")
def views():
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 5, 1500)
    noise = 0.03 * rng.standard_normal((1500, 4))
    return [np.c_[np.cos(angle), np.sin(angle)] + noise[:, :2], np.c_[angle, angle] + noise[:, 2:]]


@pytest.mark.parametrize("walk", [{}, {"within_view_weight": 0.0}], ids=["default", "paper"])
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_a_byte_less_than_needed_is_an_error_and_enough_gives_the_same_bits(views, kernel, walk):
    def fit(budget):
        est = MultiViewDiffusionMaps(
            3, kernel=kernel, max_memory=budget, tol=1e-6, random_state=0, n_jobs=1, **walk
        )
        return est.fit(views)  # a warning would be an error here

    with pytest.raises(MemoryBudgetError) as caught:
        fit(1)
    needed = caught.value.needed
    with pytest.raises(MemoryBudgetError):
        fit(needed - 1)
    free, bound = fit(None), fit(2 * needed)
    assert [K.is_dense for K in bound.walk_.affinities] == [
        K.is_dense for K in free.walk_.affinities
    ]
    assert bound.solver_ == free.solver_
    assert_array_equal(bound.embedding_, free.embedding_)


def test_a_refusal_names_the_storage_that_would_fit_and_what_it_needs(views):
    with pytest.raises(MemoryBudgetError, match=r"n_neighbors=…") as caught:
        MultiViewDiffusionMaps(3, kernel="gaussian", max_memory="1MB").fit(views)
    assert caught.value.needed > caught.value.budget == 10**6
