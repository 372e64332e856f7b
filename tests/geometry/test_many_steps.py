"""Very many steps: exact probabilities and distances, typed warnings, clear refusals."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import viewhop as vh
from viewhop.errors import MemoryBudgetError, UnderflowWarning
from viewhop.geometry import _many_steps
from viewhop.geometry._many_steps import take_steps
from viewhop.kernels import Gaussian

RNG = np.random.default_rng(0)
A = RNG.standard_normal((40, 3))
B = RNG.standard_normal((40, 2))
WIDE = Gaussian(factor=2.0)
FUSIONS = {
    "weights": {},
    "eta 0": {"within_view_weight": 0.0},
    "eta 0.3": {"within_view_weight": 0.3},
    "sum": {"fusion": "sum"},
    "product": {"fusion": "product"},
    "concat": {"fusion": "concat"},
    "alternating": {"fusion": "alternating"},
    "integrated": {"fusion": "integrated"},
}


def fitted(name="weights", X=(A, B), **params):
    settings = {"kernel": WIDE, **FUSIONS[name], **params}
    return vh.MultiViewDiffusionMaps(2, random_state=0, **settings).fit([*X])


def by_spectrum(est, t):
    """P^t of a symmetric walk from all its eigenpairs, those of magnitude 1 exactly."""
    walk = est.walk_
    K = walk @ np.eye(walk.n_nodes)
    root = np.sqrt(K.sum(axis=1))
    values, vectors = np.linalg.eigh(K / np.outer(root, root))
    values[np.abs(np.abs(values) - 1) < 1e-12] = np.round(
        values[np.abs(np.abs(values) - 1) < 1e-12]
    )
    return (vectors * values**t) @ vectors.T / root[:, None] * root


@pytest.mark.parametrize("name", [*FUSIONS][:-2])
@pytest.mark.parametrize("t", [1001, 1024, 4097, 10**6, 10**6 + 1, 2**53])
def test_probabilities_after_very_many_steps_equal_the_matrix_power(name, t):
    est = fitted(name)
    n = est.walk_.n_samples
    start = 0 if est.walk_.is_fused else n  # nodes of the second view
    exact = by_spectrum(est, float(t))[start + np.arange(3), :n]
    assert_allclose(est.transition_probabilities(t, "view2", "view1", [0, 1, 2]), exact, atol=1e-10)


@pytest.mark.parametrize("name", FUSIONS)
def test_powers_of_two_continue_single_steps(name):
    est = fitted(name)
    walk = est.walk_
    P = walk.mass_after_step(np.eye(walk.n_nodes))
    for t in (5, 1000, 1001, 1500):
        power = np.linalg.matrix_power(P, t)[: walk.n_samples, :4].T
        found = est.transition_probabilities(t, "view1", "view1", np.arange(4))
        assert_allclose(found, power, atol=1e-10)


@pytest.mark.parametrize("name", FUSIONS)
def test_probabilities_sum_to_one_after_any_number_of_steps(name):
    est = fitted(name)
    for t in (10**3, 10**6, 2**53):
        parts = [est.transition_probabilities(t, "view1", view, [0, 5]) for view in est.view_names_]
        total = parts[0] if est.walk_.is_fused else np.hstack(parts)
        assert_allclose(total.sum(axis=1), 1.0, rtol=1e-12)


def test_pieces_keep_their_walkers():
    apart = [np.vstack([X[:20], X[20:] + 1000.0]) for X in (A, B)]
    with pytest.warns(vh.errors.DisconnectedWarning):
        est = fitted("eta 0.3", X=apart)
    P = est.transition_probabilities(10**6, "view1", "view2", [0, 39])
    assert_allclose(P[0, 20:], 0.0, atol=0)
    assert_allclose(P[1, :20], 0.0, atol=0)


def test_a_node_that_the_walk_leaves_out_gets_no_mass():
    X, Y = A.copy(), B.copy()
    X[30:], Y[:10] = np.nan, np.nan
    est = fitted("eta 0", X=[X, Y], kernel=Gaussian(n_neighbors=4))
    n = [
        np.nansum(est.transition_probabilities(10**6, "view1", view, [15, 20]), axis=1)
        for view in est.view_names_
    ]
    assert_allclose(np.sum(n, axis=0), 1.0, rtol=1e-12)


@pytest.mark.parametrize("name", FUSIONS)
def test_distances_after_many_steps_equal_those_of_the_spectrum(name):
    est = fitted(name)
    walk = est.walk_
    K = walk @ np.eye(walk.n_nodes)
    root = np.sqrt(walk.degrees)
    values, vectors = np.linalg.eigh(K / np.outer(root, root))
    psi = vectors / np.sqrt(walk.stationary)[:, None]
    for t in (1000, 1001, 10**5):
        found = vh.diffusion.inner_view_distance(est, "view1", [0, 1], [2, 3], n_steps=t)
        squares = values ** (2.0 * t) * np.square(psi[[0, 1]] - psi[[2, 3]])
        assert_allclose(found, np.sqrt(squares.sum(axis=1)), atol=1e-9)


@pytest.mark.parametrize("t", [-1, 0.5, 1e300, 2**53 + 2, 10**400, np.nan, np.inf, "3", None, True])
def test_other_numbers_of_steps_are_refused(t):
    est = fitted()
    with pytest.raises(ValueError, match=r"whole number of steps .* the largest is 9,007,199"):
        est.transition_probabilities(t, "view1", "view2", [0])
    with pytest.raises(ValueError, match=r"whole number of steps .* the largest is 1,000,000"):
        vh.diffusion.inner_view_distance(est, "view1", 0, 1, n_steps=t if t is not None else -1)


def test_more_nodes_than_can_be_squared_are_refused(monkeypatch):
    est = fitted()
    monkeypatch.setattr(_many_steps, "MOST_NODES", 79)
    with pytest.raises(ValueError, match="1,001 steps of a walk with 80 nodes take too long"):
        est.transition_probabilities(1001, "view1", "view2", [0])
    assert est.transition_probabilities(1000, "view1", "view2", [0]).shape == (1, 40)


def test_matrices_that_do_not_fit_are_refused_before_they_are_formed(monkeypatch):
    est = fitted()
    monkeypatch.setattr(_many_steps.memory, "parse_budget", lambda given: 1000)
    with pytest.raises(MemoryBudgetError, match="1,001 steps of a walk with 80 nodes would take"):
        est.transition_probabilities(1001, "view1", "view2", [0])


def test_a_limit_ends_the_powers(monkeypatch):
    count = []
    matrix = np.full((3, 3), 1 / 3)

    def step(V):
        count.append(V.shape[1])
        return matrix @ V

    assert_allclose(take_steps(step, np.eye(3), 2**53), matrix, rtol=1e-15)
    assert count == [3]


# --- coordinates that underflow -----------------------------------------------------------------


def has_negative_zero(Z):
    return bool((np.signbit(Z) & (Z == 0)).any())


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", [*FUSIONS])
@pytest.mark.parametrize("t", [1e6, 1e308])
def test_coordinates_that_underflow_are_zero_with_a_warning(name, dtype, t):
    X = [A.astype(dtype), B.astype(dtype)]
    with pytest.warns(UnderflowWarning, match=r"2 of 2 coordinates underflow to 0.*fewer") as seen:
        est = fitted(name, X=X, n_steps=t)
    assert seen[0].message.n_components == 2
    assert seen[0].filename == __file__
    assert est.embedding_.dtype == dtype
    for Z in (est.embedding_, *est.view_embeddings_.values()):
        assert not Z.any()
        assert not has_negative_zero(Z)
    with pytest.warns(UnderflowWarning) as seen:
        Z = est.transform(X)
    assert seen[0].filename == __file__
    assert not has_negative_zero(Z)
    assert not Z.any()


def test_other_times_warn_by_themselves():
    est = fitted()
    with pytest.warns(UnderflowWarning) as seen:
        Z = est.coordinates(1e6)
    assert not has_negative_zero(Z)
    one = vh.DiffusionMaps(2, kernel=WIDE).fit(A)
    with pytest.warns(UnderflowWarning):
        one.coordinates(1e6)
    assert len(seen) == 1
    assert est.coordinates(50).any()


def test_single_precision_underflows_after_fewer_steps():
    est = fitted(X=[A.astype(np.float32), B.astype(np.float32)])
    t = 60.0 / -np.log10(est.eigenvalues_[1])  # 1e-60 is no number in single precision
    with pytest.warns(UnderflowWarning, match="[12] of 2"):
        Z = est.coordinates(t)
    assert not has_negative_zero(Z)


def test_an_eigenvalue_of_one_never_underflows():
    apart = [np.vstack([X[:20], X[20:] + 1000.0]) for X in (A, B)]
    with pytest.warns(vh.errors.DisconnectedWarning):
        est = fitted("eta 0.3", X=apart)
    with pytest.warns(UnderflowWarning, match="1 of 2"):
        Z = est.coordinates(1e300)
    assert_allclose(np.abs(Z[:, 0]), np.abs(est.coordinates(1)[:, 0]), rtol=1e-10)


# --- fusions with one geometry ------------------------------------------------------------------


@pytest.mark.parametrize("fusion", ["sum", "product", "alternating", "integrated"])
def test_views_of_one_geometry_have_no_distance(fusion):
    est = fitted(fusion)
    for compare in (lambda: est.cross_view_distance("view1", "view2"), est.disagreement):
        with pytest.raises(ValueError, match='fusion="hop" and at least two'):
            compare()


def test_views_of_a_hop_walk_have_a_distance():
    assert fitted().cross_view_distance("view1", "view2") > 0
    assert fitted(X=[A, A]).cross_view_distance("view1", "view2") < 1e-10
    with pytest.raises(ValueError, match="no view named 'x'"):
        fitted().cross_view_distance("view1", "x")
