"""Walks with fewer eigenpairs than are asked for: repeated samples, and all pairs but one."""

from __future__ import annotations

import pytest
from numpy.testing import assert_allclose, assert_array_equal

import viewhop as vh
from tests.support.strategies import DataSet

#: Twenty-four samples, some of them repeated: the walk has eigenvalues of 0.
REPEATED = DataSet(28078, (5,), 24, n_doubled=6)


@pytest.mark.parametrize("solver", ["auto", "dense", "lanczos", "krylov"])
def test_vectors_of_the_eigenvalue_0_leave_the_others_alone(solver):
    (X,) = REPEATED.views()
    est = vh.DiffusionMaps("auto", n_steps=0.5, solver=solver, random_state=0).fit(X)
    few = vh.DiffusionMaps(3, n_steps=0.5, solver="dense", random_state=0).fit(X)
    assert est.n_components_ > 5
    assert_allclose(est.eigenvalues_[:3], few.eigenvalues_, atol=1e-12)
    assert est.spectrum_.residuals.max() < 1e-12
    assert_allclose(est.embedding_[:, :3], few.embedding_, atol=1e-9)


def test_lanczos_gives_the_same_bits_where_it_has_to_restart():
    (X,) = REPEATED.views()
    est = vh.DiffusionMaps("auto", n_steps=0.5, solver="lanczos", random_state=0)
    fits = [est.fit_transform(X) for _ in range(6)]
    for other in fits[1:]:
        assert_array_equal(other, fits[0])
