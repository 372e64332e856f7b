"""Solvers: every one finds the same pairs, repeated ones too, and stops when told."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.support import cases, oracles
from tests.walks.test_walks import affinities, dense
from viewhop.errors import ConvergenceError
from viewhop.kernels import Gaussian, Precomputed
from viewhop.solvers import _auto, choose_solver, solve, trivial_pairs
from viewhop.solvers import _krylov as block
from viewhop.solvers import _lanczos as arpack
from viewhop.solvers import _lapack as lapack
from viewhop.walks import ConcatWalk, HopWalk, ProductWalk, SumWalk, hop_matrix

TOLERANCE = {np.float64: 1e-8, np.float32: 1e-4}


def check_against_oracle(walk, spectrum, r, *, atol):
    """Values, eigenspaces and residuals against the dense matrix in double precision."""
    chain = oracles.Chain(dense(walk).astype(np.float64))
    assert_allclose(spectrum.eigenvalues, chain.eigenvalues[:r], atol=atol, rtol=0)
    unit = spectrum.eigenvectors * np.sqrt(spectrum.stationary)[:, None]
    assert_allclose(unit.T @ unit, np.eye(r), atol=max(atol, 1e-7))
    residual = np.linalg.norm(chain.A @ unit - unit * spectrum.eigenvalues, axis=0)
    assert_allclose(residual, 0, atol=10 * atol)
    assert_allclose(spectrum.residuals, 0, atol=10 * atol)
    gap = 1e-6 if atol < 1e-6 else 1e-2
    compared = oracles.assert_same_space(
        unit, chain.unit, chain.eigenvalues, r, atol=100 * atol, gap=gap
    )
    assert_allclose(np.sqrt(spectrum.stationary) @ unit, 0, atol=max(atol, 1e-7))
    return compared


@pytest.mark.filterwarnings("ignore::viewhop.errors.DisconnectedWarning")
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("data", cases.DATA)
@pytest.mark.parametrize("holding", cases.HOLDINGS)
@pytest.mark.parametrize("eta", cases.ETAS)
@pytest.mark.parametrize("n_views", [1, 2, 3, 4])
@pytest.mark.parametrize("solver", ["dense", "lanczos", "krylov"])
def test_hop_walk_spectrum_equals_the_dense_one(solver, n_views, eta, holding, data, dtype):
    kernel = Gaussian(factor=0.5, n_neighbors=cases.HOLDINGS[holding])
    arrays = cases.views(data, n_views, kernel, dtype)
    walk = HopWalk(affinities(kernel, arrays), hop_matrix(n_views, within_view_weight=eta))
    spectrum = solve(walk, 5, solver=solver)
    assert spectrum.solver == solver
    check_against_oracle(walk, spectrum, 5, atol=TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("data", cases.DATA)
@pytest.mark.parametrize("holding", cases.HOLDINGS)
def test_the_two_view_svd_gives_the_walk(holding, data, dtype):
    kernel = Gaussian(factor=0.5, n_neighbors=cases.HOLDINGS[holding])
    walk = HopWalk(affinities(kernel, cases.views(data, 2, kernel, dtype)))
    check_against_oracle(walk, solve(walk, 5, solver="svd"), 5, atol=TOLERANCE[dtype])


@pytest.mark.parametrize("holding", cases.HOLDINGS)
def test_the_iterative_svd_equals_the_dense_one(holding, monkeypatch):
    kernel = Gaussian(factor=0.5, n_neighbors=cases.HOLDINGS[holding])
    walk = HopWalk(affinities(kernel, cases.views("generic", 2, kernel)))
    monkeypatch.setattr(_auto, "DENSE_NODES", 0)
    spectrum = solve(walk, 5, solver="svd")
    check_against_oracle(walk, spectrum, 5, atol=1e-8)
    assert spectrum.n_products < 200


@pytest.mark.parametrize("fuse", [SumWalk, ProductWalk, ConcatWalk])
@pytest.mark.parametrize("solver", ["dense", "lanczos", "krylov", "inverse"])
def test_fused_walk_spectrum_equals_the_dense_one(solver, fuse):
    walk = fuse(affinities(Gaussian(), cases.views("generic", 2, Gaussian())))
    check_against_oracle(walk, solve(walk, 5, solver=solver), 5, atol=1e-8)


def ring(n):
    """A circle of samples whose eigenvalues come in equal pairs."""
    angle = 2 * np.pi * np.arange(n) / n
    return np.column_stack([np.cos(angle), np.sin(angle)])


@pytest.mark.parametrize("solver", ["lanczos", "krylov", "inverse", "svd"])
@pytest.mark.parametrize("k", [None, 6])
def test_double_eigenvalues_are_found_twice(solver, k, monkeypatch):
    monkeypatch.setattr(_auto, "DENSE_NODES", 0)
    n = 700
    kernel = Gaussian(bandwidth=6 / n, n_neighbors=k)
    walk = HopWalk(affinities(kernel, [ring(n), 2 * ring(n)]))
    values = solve(walk, 8, solver=solver).eigenvalues
    assert_allclose(values, oracles.Chain(dense(walk)).eigenvalues[:8], atol=1e-10)
    assert_allclose(values[::2], values[1::2], atol=1e-10)


@pytest.mark.parametrize("solver", ["dense", "lanczos", "krylov", "inverse", "svd"])
def test_repeated_ones_of_a_walk_in_pieces_are_exact(solver, monkeypatch):
    monkeypatch.setattr(_auto, "DENSE_NODES", 0)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2)) + 1e4 * np.repeat(np.arange(4), 15)[:, None]
    walk = HopWalk(affinities(Gaussian(1.0), [X, 0.5 * X]))
    spectrum = solve(walk, 6, solver=solver)
    assert_allclose(spectrum.eigenvalues[:3], 1.0, atol=0)
    assert spectrum.eigenvalues[3] < 0.999
    check_against_oracle(walk, spectrum, 6, atol=1e-8)
    psi = spectrum.eigenvectors[:, :3].reshape(2, 4, 15, 3)
    assert_allclose(psi, psi[:1, :, :1] + 0 * psi, atol=1e-10)  # constant on each piece


@pytest.mark.parametrize("r", [1, 2])
def test_fewer_coordinates_than_pieces_need_no_solver(r):
    X = np.concatenate([np.arange(6.0), 1e6 + np.arange(6.0), 2e6 + np.arange(6.0)])[:, None]
    walk = HopWalk(affinities(Gaussian(1.0), [X, X]))
    spectrum = solve(walk, r)
    assert_allclose(spectrum.eigenvalues, np.ones(r), atol=0)
    assert_allclose(spectrum.residuals, 0, atol=1e-14)


def test_known_pairs_are_orthonormal_eigenvectors():
    X = np.concatenate([np.arange(6.0), 1e6 + np.arange(9.0)])[:, None]
    walk = HopWalk(affinities(Gaussian(1.0), [X, X]))
    known = trivial_pairs(walk, walk.pieces())
    assert_allclose(known.T @ known, np.eye(2), atol=1e-14)
    assert_allclose(walk.normalized(known), known, atol=1e-14)
    assert_allclose(known[:, 0], np.sqrt(walk.stationary), atol=1e-14)


def test_converged_columns_are_no_longer_multiplied():
    # One eigenvalue far above the rest converges at once; the rest need many blocks.
    rng = np.random.default_rng(0)
    n = 400
    walk = SumWalk(affinities(Gaussian(factor=3.0), [rng.uniform(0, 1, (n, 1))]))
    widths = []
    walk_normalized = walk.normalized
    walk.normalized = lambda V: (widths.append(V.shape[1]), walk_normalized(V))[1]
    solve(walk, 6, solver="krylov")
    assert widths[0] == block.WIDTH
    assert min(widths[1:-1]) < block.WIDTH


@pytest.mark.parametrize("solver", ["lanczos", "krylov", "inverse", "svd"])
def test_a_solver_that_does_not_converge_says_so_with_what_it_has(solver, monkeypatch):
    monkeypatch.setattr(_auto, "DENSE_NODES", 0)
    monkeypatch.setattr(arpack, "MAX_RESTARTS", 1)
    monkeypatch.setattr(block, "MAX_BLOCKS", 2)
    X = np.random.default_rng(0).uniform(0, 1, (400, 1))
    walk = HopWalk(affinities(Gaussian(factor=0.3, n_neighbors=4), [X, X]))
    with pytest.raises(ConvergenceError, match="raise factor or n_neighbors") as caught:
        solve(walk, 12, solver=solver)
    partial = caught.value.spectrum
    assert len(partial) < 12
    assert partial.eigenvectors.shape == (walk.n_nodes, len(partial))
    assert_allclose(partial.residuals, 0, atol=1e-6)


def test_a_looser_tolerance_costs_fewer_products():
    X = np.random.default_rng(0).standard_normal((500, 3))
    walk = HopWalk(affinities(Gaussian(factor=0.2), [X, X**3]))
    for solver in ("lanczos", "krylov"):
        strict, loose = (solve(walk, 6, solver=solver, tol=tol) for tol in (None, 1e-3))
        assert loose.n_products < strict.n_products
        assert (loose.residuals <= 1e-3 * loose.eigenvalues).all()
        assert_allclose(loose.eigenvalues, strict.eigenvalues, rtol=1e-3)


def test_auto_chooses_by_size_and_storage():
    X = np.random.default_rng(0).standard_normal((600, 3))
    full, near = (affinities(Gaussian(n_neighbors=k), [X, X]) for k in (None, 8))
    assert choose_solver(HopWalk(full[:1]), 5) == "dense"
    assert choose_solver(HopWalk(full), 5) == "krylov"
    assert choose_solver(HopWalk(near), 5) == "svd"
    assert choose_solver(HopWalk(near, np.ones((2, 2))), 5) == "lanczos"
    assert choose_solver(HopWalk(near), 300) == "dense"


def test_a_solver_that_does_not_fit_is_refused():
    walk = SumWalk(affinities(Gaussian(), cases.views("generic", 2, Gaussian())))
    with pytest.raises(ValueError, match="unknown solver 'magic'; known are auto, dense"):
        solve(walk, 2, solver="magic")
    with pytest.raises(ValueError, match="two views"):
        solve(walk, 2, solver="svd")


def test_almost_all_pairs_can_be_asked_of_any_solver():
    X = cases.views("generic", 2, Gaussian())
    walk = HopWalk(affinities(Gaussian(factor=0.1), X))
    for solver in ("dense", "lanczos", "krylov", "svd"):
        spectrum = solve(walk, walk.max_coordinates, solver=solver)
        check_against_oracle(walk, spectrum, walk.max_coordinates, atol=1e-8)
    loops = HopWalk(walk.affinities, np.eye(2) + 0.1)
    spectrum = solve(loops, loops.n_nodes - 1, solver="lanczos")
    assert spectrum.solver == "dense"


def test_a_solver_error_in_the_side_thread_reaches_the_caller(monkeypatch):
    def broken(*args, **kwargs):
        raise np.linalg.LinAlgError("no")

    monkeypatch.setattr(lapack, "eigh", broken)
    walk = SumWalk(affinities(Precomputed(), [np.eye(4) + 0.1]))
    with pytest.raises(np.linalg.LinAlgError):
        solve(walk, 1, solver="dense")


@pytest.mark.skipif(os.name == "nt", reason="signals are sent the POSIX way")
@pytest.mark.parametrize("solver", ["dense", "krylov", "lanczos"])
def test_an_interrupt_stops_a_solve(solver):
    """The solves below would take minutes; the interrupt must end them at once."""
    code = f"""
        import numpy as np
        from viewhop import affinity
        from viewhop.kernels import Gaussian
        from viewhop.solvers import solve
        from viewhop.walks import HopWalk
        X = np.random.default_rng(0).uniform(0, 1, (4000, 2))
        make = lambda name: affinity.build_affinity(
            name, Gaussian(factor=0.01, n_neighbors={None if solver == "krylov" else 6}), X,
            generator=np.random.default_rng(0))
        walk = HopWalk([make("a"), make("b"), make("c")])
        walk.pieces()
        print("ready", flush=True)
        try:
            solve(walk, 400, solver={solver!r})
        except KeyboardInterrupt:
            print("stopped", flush=True)
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(2.0)
        assert process.poll() is None, "the solve ended before it was interrupted"
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=20)[0] == "stopped\n"
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("fuse", [HopWalk, SumWalk])
def test_a_tight_cluster_at_the_last_pair_converges(fuse):
    # Eigenvalues of a circle come in equal pairs; a slight bend sets each pair apart by little,
    # and an odd number of them ends between the two.
    n = 700
    X = ring(n) * (1 + 1e-7 * np.arange(n)[:, None])
    walk = fuse(affinities(Gaussian(bandwidth=60 / n), [X, X]))
    for r in (3, 5):
        spectrum = solve(walk, r, solver="krylov", tol=1e-8)
        expected = solve(walk, r + 1, solver="dense").eigenvalues
        assert expected[r - 1] - expected[r] < 1e-4 * expected[r]
        assert_allclose(spectrum.eigenvalues, expected[:r], rtol=1e-12)
        assert (spectrum.residuals <= 1e-8 * spectrum.eigenvalues).all()


def test_locked_columns_are_no_longer_multiplied():
    # Cosines on a segment: the first ones converge blocks before the last.
    X = np.random.default_rng(0).uniform(0, 1, (600, 1))
    walk = SumWalk(affinities(Gaussian(bandwidth=0.1), [X]))
    widths, locked = [], []
    normalized = walk.normalized
    walk.normalized = lambda V: (widths.append(V.shape[1]), normalized(V))[1]
    r = 24
    spectrum = solve(
        walk, r, solver="krylov", tol=1e-8, progress=lambda stage, done, total: locked.append(done)
    )
    assert spectrum.n_products == sum(widths)
    wanted = 32  # r + r // 4, in full lanes of 16
    for done, width in zip(locked, widths[1:-1], strict=False):
        assert width <= wanted - done
    assert 0 < locked[-2] < r
    assert widths[-2] < widths[1]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_small_eigenvalues_of_two_views_are_accurate_though_half_is_solved(dtype):
    # Wide kernels: λ falls to 1e-4 and less, whose square single precision cannot hold.
    rng = np.random.default_rng(0)
    X = rng.standard_normal((900, 4))
    Y = X + 0.5 * rng.standard_normal((900, 4))
    walk = HopWalk(affinities(Gaussian(bandwidth=9.0), [X.astype(dtype), Y.astype(dtype)]))
    spectrum = solve(walk, 4, solver="krylov", tol=1e-3)
    assert spectrum.eigenvalues[-1] < 2e-4
    limit = np.maximum(1e-3 * spectrum.eigenvalues, 2 * np.finfo(dtype).eps)
    assert (spectrum.residuals <= limit).all()
    expected = solve(walk, 4, solver="dense").eigenvalues
    assert_allclose(spectrum.eigenvalues, expected, rtol=1e-3)


def test_a_guess_that_is_right_is_kept():
    X = np.random.default_rng(0).standard_normal((700, 2))
    walk = HopWalk(affinities(Gaussian(factor=0.1), [X, X**3, X]))
    known = solve(walk, 5, solver="krylov", tol=1e-9)
    again = solve(walk, 5, solver="krylov", tol=1e-6, start=known.eigenvectors)
    assert again.n_products <= block.WIDTH + 5
    assert_allclose(again.eigenvalues, known.eigenvalues, rtol=1e-10)


def test_auto_takes_few_digits_of_many_samples_by_blocks(monkeypatch):
    X = np.random.default_rng(0).standard_normal((600, 3))
    monkeypatch.setattr(_auto, "MANY_SAMPLES", 600)
    near = affinities(Gaussian(n_neighbors=8), [X, X])
    single = affinities(Gaussian(n_neighbors=8), [X.astype(np.float32)] * 2)
    assert choose_solver(HopWalk(near), 5) == "svd"
    assert choose_solver(HopWalk(near), 5, 1e-4) == "krylov"
    assert choose_solver(HopWalk(near), 5, 1e-9) == "svd"
    assert choose_solver(HopWalk(single), 5) == "krylov"
