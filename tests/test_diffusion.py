"""Diffusion: distances by every route, and truncation."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import viewhop as vh
from tests import cases, oracles
from viewhop import diffusion
from viewhop.kernels import Gaussian

PAIRS = (np.array([0, 3, 5, 7]), np.array([1, 2, 9, 7]))
pytestmark = pytest.mark.filterwarnings("ignore::viewhop.errors.DisconnectedWarning")


def fitted(n_views, eta, kernel, r=3, **parameters):
    X = cases.views("generic", n_views, kernel)
    est = vh.MultiViewDiffusionMaps(r, kernel=kernel, within_view_weight=eta, **parameters).fit(X)
    views = [oracles.View(kernel, x, s) for x, s in zip(X, est.bandwidths_.values(), strict=True)]
    H = oracles.hop_matrix(n_views, eta)
    return est, oracles.Chain(oracles.hop_kernel([v.K for v in views], H))


@pytest.mark.parametrize("t", [0, 1, 2, 3])
@pytest.mark.parametrize("holding", cases.HOLDINGS)
@pytest.mark.parametrize("eta", cases.ETAS)
@pytest.mark.parametrize("n_views", [1, 2, 3, 4])
def test_distance_by_products_by_powers_and_by_all_eigenvectors_agree(n_views, eta, holding, t):
    est, chain = fitted(n_views, eta, Gaussian(n_neighbors=cases.HOLDINGS[holding]))
    for place, name in enumerate(est.view_names_):
        found = diffusion.inner_view_distance(est, name, *PAIRS, n_steps=t)
        i, j = (place * cases.N + p for p in PAIRS)
        by_power = [chain.distance(a, b, t) for a, b in zip(i, j, strict=True)]
        # Eq. (18) over all eigenpairs, negative ones included.
        difference = chain.psi[i] - chain.psi[j]
        by_spectrum = np.sqrt((chain.eigenvalues ** (2 * t) * difference**2).sum(axis=1))
        assert_allclose(found, by_power, atol=1e-8)
        assert_allclose(found, by_spectrum, atol=1e-8)
        assert found[-1] == 0


def test_two_views_keep_half_of_the_squared_distance():
    # L = 2, η = 0: D_t is √2 times the embedding distance with all M − 1 coordinates.
    kernel = Gaussian(factor=0.05)
    est, _ = fitted(2, 0.0, kernel, r=cases.N - 2)
    chain = oracles.Chain(est.walk_ @ np.eye(est.walk_.n_nodes))
    exact = diffusion.inner_view_distance(est, "view1", *PAIRS)
    Z = chain.psi[: cases.N, : cases.N - 1] * chain.eigenvalues[: cases.N - 1]
    assert_allclose(
        exact, np.sqrt(2) * np.linalg.norm(Z[PAIRS[0]] - Z[PAIRS[1]], axis=1), rtol=1e-8
    )
    Z = est.view_embeddings_["view1"]
    shown = np.sqrt(2) * np.linalg.norm(Z[PAIRS[0]] - Z[PAIRS[1]], axis=1)
    assert (shown <= exact + 1e-12).all()
    assert_allclose(shown, exact, rtol=0.05)


def test_more_views_bound_the_distance_from_below():
    est, _ = fitted(3, 0.0, Gaussian(), r=10)
    Z = est.view_embeddings_["view2"]
    shown = np.linalg.norm(Z[PAIRS[0]] - Z[PAIRS[1]], axis=1)
    assert (shown <= diffusion.inner_view_distance(est, "view2", *PAIRS) + 1e-12).all()


def test_distances_do_not_shrink_with_the_number_of_samples():
    rng = np.random.default_rng(0)
    sizes = []
    for n in (200, 800):
        X = rng.uniform(0, 1, (n, 1))
        X[:2] = [[0.1], [0.9]]
        est = vh.DiffusionMaps(1, kernel=Gaussian(0.2)).fit(X)
        sizes.append(float(diffusion.inner_view_distance(est, "view1", 0, 1)[0]))
    assert_allclose(sizes[0], sizes[1], rtol=0.1)


def test_the_multi_view_distance_is_that_of_the_concatenation():
    est, _ = fitted(3, 0.0, Gaussian())
    Z = est.embedding_
    expected = np.linalg.norm(Z[PAIRS[0]] - Z[PAIRS[1]], axis=1)
    assert_allclose(diffusion.multi_view_distance(est, *PAIRS), expected, rtol=1e-12)
    fused = vh.MultiViewDiffusionMaps(3, fusion="sum").fit(cases.views("generic", 2, Gaussian()))
    expected = np.linalg.norm(fused.embedding_[0] - fused.embedding_[1])
    assert_allclose(diffusion.multi_view_distance(fused, 0, 1), [expected], rtol=1e-12)


@pytest.mark.parametrize("eta", [0.0, 0.3, 0.5])
def test_the_cross_view_distance_is_zero_under_a_rotation(eta):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    R = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    est = vh.MultiViewDiffusionMaps(4, kernel="gaussian", within_view_weight=eta)
    est.fit({"x": X, "turned": X @ R + 5.0})
    assert est.cross_view_distance("x", "turned") < 1e-7


def test_the_cross_view_distance_is_its_definition():
    est, _ = fitted(3, 0.0, Gaussian())
    Z = est.view_embeddings_
    total = sum(((Z["view1"][i] - Z["view3"][i]) ** 2).sum() for i in range(cases.N))
    assert_allclose(est.cross_view_distance("view1", "view3"), np.sqrt(total), rtol=1e-12)
    assert_allclose(
        diffusion.single_view_distance(Z["view1"], Z["view3"]), np.sqrt(total), rtol=1e-12
    )


def test_unknown_views_and_samples_are_named():
    est, _ = fitted(2, 0.0, Gaussian())
    with pytest.raises(ValueError, match="no view named 'z'; there are view1, view2"):
        est.cross_view_distance("view1", "z")
    with pytest.raises(ValueError, match="numbered 0 to 23, got 24"):
        diffusion.multi_view_distance(est, 0, 24)
    with pytest.raises(ValueError, match="whole number of steps"):
        diffusion.inner_view_distance(est, "view1", 0, 1, n_steps=0.5)
    with pytest.raises(ValueError, match="differ in shape"):
        diffusion.single_view_distance(np.ones((3, 2)), np.ones((4, 2)))


@pytest.mark.parametrize("t", [0.5, 1, 4])
@pytest.mark.parametrize("delta", [0.0, 0.05, 0.4])
def test_truncation_counts_by_its_definition(delta, t):
    values = np.array([0.9, 0.7, 0.7, 0.3, 0.01, 0.0, -0.2])
    expected = sum(1 for v in values if v > 0 and v**t > delta * 0.9**t)
    assert diffusion.truncation(values, accuracy=delta, n_steps=t) == expected


def test_truncation_refuses_what_has_no_meaning():
    assert diffusion.truncation([-0.1], accuracy=0.1) == 0
    with pytest.raises(ValueError, match="n_steps > 0"):
        diffusion.truncation([0.5], accuracy=0.1, n_steps=0)
    with pytest.raises(ValueError, match="accuracy"):
        diffusion.truncation([0.5], accuracy=1.0)
