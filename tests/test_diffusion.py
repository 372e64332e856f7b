"""Diffusion: distances by every route, and truncation."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import NotFittedError

import viewhop as vh
from tests.support import cases, oracles
from viewhop import diffusion
from viewhop.kernels import Gaussian
from viewhop.solvers import _bounds as eigenvalues

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


@pytest.mark.parametrize("t", [0, 1, 2, 5])
@pytest.mark.parametrize("holding", cases.HOLDINGS)
@pytest.mark.parametrize("eta", cases.ETAS)
@pytest.mark.parametrize("n_views", [1, 2, 3, 4])
def test_the_exact_distance_lies_between_the_truncation_bounds(n_views, eta, holding, t):
    est, _ = fitted(n_views, eta, Gaussian(factor=0.5, n_neighbors=cases.HOLDINGS[holding]))
    i, j = np.triu_indices(cases.N, 1)
    for view in est.view_names_:
        exact = diffusion.inner_view_distance(est, view, i, j, n_steps=t)
        low, high = diffusion.truncation_bounds(est, i, j, view=view, n_steps=t)
        assert low.shape == high.shape == i.shape
        assert (low <= exact).all()
        assert (exact <= high).all()


@pytest.mark.parametrize(("n_views", "eta"), [(1, 0.0), (2, 0.0), (2, 0.3), (3, 0.0), (3, 1.0)])
def test_truncation_bounds_are_their_formula(n_views, eta):
    est, chain = fitted(n_views, eta, Gaussian(factor=0.5))
    is_cross = (n_views, eta) == (2, 0.0)
    c = 2 if is_cross else 1
    theta = est.eigenvalues_[-1]
    if not is_cross:
        theta = max(theta, abs(chain.eigenvalues.min()))
    i, j = PAIRS[0][:3], PAIRS[1][:3]
    squares = (chain.psi[i, :3] - chain.psi[j, :3]) ** 2
    S = (chain.eigenvalues[:3] ** 4 * squares).sum(axis=1)
    rest = 1 / chain.pi[i] + 1 / chain.pi[j] - c * squares.sum(axis=1)
    low, high = diffusion.truncation_bounds(est, i, j, n_steps=2)
    assert_allclose(low, np.sqrt(c * S), rtol=1e-7, atol=1e-10)
    assert_allclose(high, np.sqrt(c * S + theta**4 * rest), rtol=1e-7, atol=1e-10)


def test_the_bounds_close_as_coordinates_are_added():
    X = cases.views("generic", 3, Gaussian())
    widths = []
    for r in (1, 5, 20):
        est = vh.MultiViewDiffusionMaps(r, kernel=Gaussian(factor=0.1), within_view_weight=1.0)
        low, high = diffusion.truncation_bounds(est.fit(X), 0, 1, n_steps=3)
        widths.append(high - low)
    assert widths[0] > widths[1] > widths[2]


def test_the_bound_as_printed_is_broken_by_the_kept_coordinates():
    # Lemma 3 as printed: 2 [S_all − δ^{2t} / min D̂] ≤ S_r, with S_all over the M − 1 coordinates.
    est, chain = fitted(2, 0.0, Gaussian(factor=0.02), r=20)
    i, j, r = 0, 1, 20
    terms = chain.eigenvalues**2 * (chain.psi[i] - chain.psi[j]) ** 2
    delta = chain.eigenvalues[r]
    left = 2 * (terms[: cases.N - 1].sum() - delta**2 / min(chain.pi[i], chain.pi[j]))
    assert left > 1.1 * terms[:r].sum()
    low, high = diffusion.truncation_bounds(est, i, j)
    assert low <= diffusion.inner_view_distance(est, "view1", i, j)[0] <= high


@pytest.mark.parametrize(("n_views", "eta"), [(1, 0.0), (3, 0.0), (3, 0.3), (3, 1.0)])
def test_truncation_bounds_hold_with_the_other_end_found_by_iteration(n_views, eta, monkeypatch):
    est, _ = fitted(n_views, eta, Gaussian(factor=0.5), r=2)
    i, j = np.triu_indices(cases.N, 1)
    _, by_lapack = diffusion.truncation_bounds(est, i, j)
    monkeypatch.setattr(eigenvalues, "DENSE_NODES", 5)
    low, high = diffusion.truncation_bounds(est, i, j)
    exact = diffusion.inner_view_distance(est, "view1", i, j)
    assert (low <= exact).all()
    assert (exact <= high).all()
    assert_allclose(high, by_lapack, rtol=1e-3)


@pytest.mark.parametrize("tol", [None, 1e-3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_truncation_bounds_hold_for_inexact_eigenpairs(dtype, tol):
    X = [x.astype(dtype) for x in cases.views("generic", 3, Gaussian())]
    est = vh.MultiViewDiffusionMaps(3, kernel=Gaussian(), solver="lanczos", tol=tol).fit(X)
    i, j = np.triu_indices(cases.N, 1)
    exact = diffusion.inner_view_distance(est, "view1", i, j)
    low, high = diffusion.truncation_bounds(est, i, j)
    assert (low <= exact).all()
    assert (exact <= high).all()


@pytest.mark.parametrize("k", [None, 5])
def test_truncation_bounds_of_one_view_and_of_one_geometry(k):
    X = cases.views("generic", 2, Gaussian())
    kernel = Gaussian(factor=0.5, n_neighbors=k)
    ests = [vh.DiffusionMaps(2, kernel=kernel).fit(X[0])]
    ests += [
        vh.MultiViewDiffusionMaps(2, kernel=kernel, fusion=fusion).fit(X)
        for fusion in ("sum", "product", "alternating", "integrated", "composite")
    ]
    i, j = np.triu_indices(cases.N, 1)
    for est in ests:
        for view in est.view_names_:
            low, high = diffusion.truncation_bounds(est, i, j, view=view, n_steps=2)
            exact = diffusion.inner_view_distance(est, view, i, j, n_steps=2)
            assert (low <= exact).all()
            assert (exact <= high).all()


def test_truncation_bounds_of_one_pair_are_numbers():
    est, _ = fitted(3, 0.0, Gaussian(), n_steps=2)
    low, high = diffusion.truncation_bounds(est, 4, 9)
    assert isinstance(low, float)
    assert isinstance(high, float)
    assert_allclose(
        [[low], [high]], diffusion.truncation_bounds(est, [4], [9], n_steps=2), rtol=1e-14
    )
    assert diffusion.truncation_bounds(est, 4, 4) == (0.0, 0.0)
    lows, highs = diffusion.truncation_bounds(est, 4, [9, 2, 4])
    assert lows.shape == highs.shape == (3,)
    assert_allclose([lows[0], highs[0]], [low, high], rtol=1e-14)


@pytest.mark.parametrize("t", [0, 1, 2, 4])
@pytest.mark.parametrize("holding", cases.HOLDINGS)
@pytest.mark.parametrize("eta", cases.ETAS)
@pytest.mark.parametrize("n_views", [1, 2, 3, 4])
def test_transition_probabilities_are_rows_of_the_power(n_views, eta, holding, t):
    est, chain = fitted(n_views, eta, Gaussian(n_neighbors=cases.HOLDINGS[holding]))
    Pt = np.linalg.matrix_power(chain.P, t)
    rows = [3, 0, 17]
    for l, start in enumerate(est.view_names_):
        found = [
            diffusion.transition_probabilities(est, t, start, m, rows) for m in est.view_names_
        ]
        assert found[0].shape == (3, cases.N)
        assert_allclose(np.hstack(found), Pt[[l * cases.N + i for i in rows]], atol=1e-12)
        assert_allclose(np.hstack(found).sum(axis=1), 1, rtol=1e-12)
        assert min(part.min() for part in found) >= 0


def test_a_walk_that_must_change_views_returns_only_at_even_steps():
    est, _ = fitted(2, 0.0, Gaussian())
    assert not diffusion.transition_probabilities(est, 3, "view1", "view1", 0).any()
    found = diffusion.transition_probabilities(est, 4, "view1", "view1", 0)
    assert found.shape == (1, cases.N)
    assert_allclose(found.sum(), 1, rtol=1e-12)


def test_transition_probabilities_of_one_geometry_are_the_same_for_every_view():
    X = cases.views("generic", 3, Gaussian())
    K = [oracles.View(Gaussian(), x).K for x in X]
    P = [k / k.sum(axis=1)[:, None] for k in K]
    joined = oracles.SideBySide([Gaussian()] * 3, X).K
    steps = {
        "sum": sum(K) / sum(K).sum(axis=1)[:, None],
        "product": (K[0] * K[1] * K[2]) / (K[0] * K[1] * K[2]).sum(axis=1)[:, None],
        "concat": joined / joined.sum(axis=1)[:, None],
        "alternating": P[0] @ P[1] @ P[2],
    }
    for fusion, step in steps.items():
        est = vh.MultiViewDiffusionMaps(2, kernel=Gaussian(), fusion=fusion).fit(X)
        for start, stop in (("view1", "view1"), ("view3", "view2")):
            found = diffusion.transition_probabilities(est, 3, start, stop, [5, 1])
            assert_allclose(found, np.linalg.matrix_power(step, 3)[[5, 1]], atol=1e-12)
    one = vh.DiffusionMaps(2, kernel=Gaussian()).fit(X[0])
    found = diffusion.transition_probabilities(one, 2, "view1", "view1", [5, 1])
    assert_allclose(found, (P[0] @ P[0])[[5, 1]], atol=1e-12)


def test_bounds_and_probabilities_refuse_what_has_no_meaning():
    est, _ = fitted(2, 0.0, Gaussian())
    probabilities = diffusion.transition_probabilities
    for t in (0.5, -1, True):
        with pytest.raises(ValueError, match="whole number of steps of at least 0"):
            probabilities(est, t, "view1", "view2", 0)
    with pytest.raises(ValueError, match="no view named 'z'; there are view1, view2"):
        probabilities(est, 1, "z", "view2", 0)
    with pytest.raises(ValueError, match="no view named 'z'"):
        probabilities(est, 1, "view1", "z", 0)
    with pytest.raises(ValueError, match="numbered 0 to 23, got -1 to 24"):
        probabilities(est, 1, "view1", "view2", [24, -1])
    with pytest.raises(ValueError, match="whole numbers"):
        probabilities(est, 1, "view1", "view2", [0.5])
    with pytest.raises(ValueError, match="no view named 'z'"):
        diffusion.truncation_bounds(est, 0, 1, view="z")
    with pytest.raises(ValueError, match="numbered 0 to 23"):
        diffusion.truncation_bounds(est, 0, 24)
    with pytest.raises(ValueError, match="n_steps must be a non-negative number, not -1"):
        diffusion.truncation_bounds(est, 0, 1, n_steps=-1)
    with pytest.raises(NotFittedError):
        diffusion.truncation_bounds(vh.DiffusionMaps(2), 0, 1)
    with pytest.raises(NotFittedError):
        probabilities(vh.DiffusionMaps(2), 1, "view1", "view1", 0)
