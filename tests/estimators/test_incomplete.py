"""Samples that some views never saw: the walk on what was observed, against dense brute force."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse.csgraph import connected_components
from scipy.stats import spearmanr
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from tests.support import oracles
from viewhop import DiffusionMaps, MultiViewDiffusionMaps, MultiViewSpectralClustering, Views
from viewhop.affinity import build_affinity
from viewhop.datasets import make_gapped_rolls
from viewhop.errors import DisconnectedWarning, FarSampleWarning, UnreachedViewWarning
from viewhop.kernels import Gaussian, Laplacian, Precomputed
from viewhop.solvers import _multilevel as coarse
from viewhop.views._rows import RowMap
from viewhop.walks import HopWalk, SumWalk

KERNELS = {
    "dense": Gaussian(factor=2.0),
    "local": Gaussian("local", n_neighbors=8),
    "density": Laplacian(n_neighbors=12, alpha=1.0),
}

#: Parameters that say which walk over the views it is.
WALKS = {"within_view_weight", "hops", "view_weights"}


def rings(n, n_views=3, seed=0, dtype=np.float64):
    """A noisy ring as several views bend it."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, n)
    views = {}
    for name in "abcd"[:n_views]:
        bend = rng.uniform(0.5, 2, 2)
        X = np.c_[bend[0] * np.cos(angle), bend[1] * np.sin(angle), 0.2 * np.sin(2 * angle)]
        views[name] = (X + 0.02 * rng.standard_normal(X.shape)).astype(dtype)
    return views


def mask(n, n_views, missing, seed=0):
    """Which samples each view saw; each was seen by some view."""
    rng = np.random.default_rng(seed)
    seen = rng.random((n, n_views)) >= missing
    seen[np.arange(n), rng.integers(0, n_views, n)] = True
    return seen


def with_gaps(views, seen):
    """The same views with NaN where they saw nothing."""
    return {
        name: np.where(column[:, None], X, X.dtype.type(np.nan))
        for (name, X), column in zip(views.items(), seen.T, strict=True)
    }


class Masked:
    """The walk on observed nodes by brute force: every matrix is formed."""

    def __init__(self, views, seen, kernel, eta=0.0, hops=None):
        self.seen = seen
        self.n, self.n_views = seen.shape
        self.H = oracles.hop_matrix(self.n_views, eta) if hops is None else hops
        self.views = [
            oracles.View(kernel, X[column])
            for X, column in zip(views.values(), seen.T, strict=True)
        ]
        # Gather, (n_l, n): from samples to the rows of a view.
        self.E = [np.eye(self.n)[column] for column in seen.T]
        K = [view.K for view in self.views]
        self.full = np.block(
            [
                [self.H[l, m] * K[l] @ self.E[l] @ self.E[m].T @ K[m] for m in range(self.n_views)]
                for l in range(self.n_views)
            ]
        )
        self.live = self.full.sum(axis=1) > 0
        self.chain = oracles.Chain(self.full[np.ix_(self.live, self.live)])

    def nodes(self, values):
        """Node values of each view at its samples, NaN where there is no node."""
        full = np.full((self.live.size, *values.shape[1:]), np.nan)
        full[self.live] = values
        ends = np.cumsum([E.shape[0] for E in self.E])[:-1]
        out = []
        for E, rows in zip(self.E, np.split(full, ends), strict=True):
            at = np.full((self.n, *values.shape[1:]), np.nan)
            at[E.argmax(axis=1)] = rows
            out.append(at)
        return out

    def filled(self, r):
        """P̂ψ with what views missed filled: the formula, sample by sample."""
        own = self.nodes(self.chain.psi[:, :r] * self.chain.eigenvalues[:r])
        psi = [np.nan_to_num(block) for block in self.nodes(self.chain.psi[:, :r])]
        out = [block.copy() for block in own]
        for i in range(self.n):
            for m in range(self.n_views):
                if np.isfinite(own[m][i, 0]):
                    continue
                K_m = self.E[m].T @ self.views[m].K @ self.E[m]  # zero where nothing was seen
                top = mass = 0.0
                for l in np.flatnonzero(self.seen[i]):
                    K_l = self.E[l].T @ self.views[l].K @ self.E[l]
                    top = top + self.H[l, m] * K_l[i] @ K_m @ psi[m]
                    mass = mass + self.H[l, m] * K_l[i] @ K_m.sum(axis=1)
                out[m][i] = top / mass
        return out


def fitted(views, seen, kernel, r=4, **how):
    """A fit of what was seen; of the paper's walk, unless `how` says which one."""
    if how.get("fusion", "hop") == "hop" and not WALKS & how.keys():
        how["within_view_weight"] = 0.0
    est = MultiViewDiffusionMaps(r, kernel=kernel, random_state=0, **how)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedWarning)
        return est.fit(with_gaps(views, seen))


def align(found, expected):
    """The expected columns with the signs of the found ones, where both are finite."""
    both = np.isfinite(found[:, 0]) & np.isfinite(expected[:, 0])
    return expected * np.sign((found[both] * expected[both]).sum(axis=0))


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("eta", [0.0, None], ids=["paper", "weighted"])
def test_what_was_observed_everywhere_is_the_complete_path_bit_for_bit(kernel, dtype, eta):
    views = rings(80, dtype=dtype)
    est = MultiViewDiffusionMaps(4, kernel=kernel, within_view_weight=eta, random_state=0)
    plain = clone(est).fit(views)
    masked = clone(est).fit(Views(views, observed=np.ones((80, 3), dtype=bool)))
    assert_array_equal(masked.embedding_, plain.embedding_)
    assert_array_equal(masked.eigenvalues_, plain.eigenvalues_)
    assert_array_equal(masked.transform(views), plain.transform(views))
    # And scattering to all samples in order changes no bit of the walk either.
    walk = plain.walk_
    n_blocks = walk.n_blocks  # one more with a joint view
    rows = RowMap([80] * n_blocks, [np.arange(80)] * n_blocks, 80)
    scattered = HopWalk(walk.affinities, walk.hops, rows, walk.joint)
    V = np.random.default_rng(0).standard_normal((80 * n_blocks, 5)).astype(dtype)
    assert_array_equal(scattered @ V, walk @ V)
    assert_array_equal(scattered.degrees, walk.degrees)
    assert scattered.max_coordinates == walk.max_coordinates
    assert_array_equal(scattered.pieces(), walk.pieces())


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("n_views", [2, 3, 4])
@pytest.mark.parametrize(("missing", "eta"), [(0.2, 0.0), (0.5, 0.3)])
def test_the_walk_is_the_dense_masked_one_without_its_zero_rows(kernel, n_views, missing, eta):
    views, seen = rings(60, n_views), mask(60, n_views, missing)
    est = fitted(views, seen, kernel, within_view_weight=eta, output="concat")
    oracle = Masked(views, seen, kernel, eta)
    assert_allclose(est.eigenvalues_, oracle.chain.eigenvalues[:4], atol=1e-10)
    degrees = oracle.nodes(oracle.chain.D)
    assert_allclose(np.stack([*est.degrees_.values()]), degrees, rtol=1e-10)
    expected = oracle.filled(4)
    assert_array_equal(est.observed_, seen)
    whole = np.vstack(expected)
    found = np.vstack(np.split(est.embedding_, n_views, axis=1))
    assert_allclose(found, align(found, whole), atol=1e-7)
    for name, column in zip(views, seen.T, strict=True):
        block = est.view_embeddings_[name]
        assert_array_equal(np.isfinite(block).all(axis=1), column)
        assert_array_equal(np.isnan(block).all(axis=1), ~column)


@pytest.mark.parametrize("n_views", [2, 3])
def test_hops_weigh_what_a_missing_view_is_filled_from(n_views):
    views, seen = rings(60, n_views), mask(60, n_views, 0.4)
    hops = np.array([[0.0, 2.0, 0.3], [2.0, 0.0, 0.7], [0.3, 0.7, 0.1]])[:n_views, :n_views]
    oracle = Masked(views, seen, KERNELS["dense"], hops=hops)
    whole = np.vstack(oracle.filled(4))
    for solver in ("dense", "krylov", "svd")[: 3 if n_views == 2 else 2]:
        est = fitted(views, seen, KERNELS["dense"], hops=hops, output="concat", solver=solver)
        assert_allclose(est.eigenvalues_, oracle.chain.eigenvalues[:4], atol=1e-9)
        found = np.vstack(np.split(est.embedding_, n_views, axis=1))
        assert_allclose(found, align(found, whole), atol=1e-7)
        placed = est.transform(with_gaps(views, seen))
        assert_allclose(placed, est.embedding_, atol=1e-8)


def test_the_mean_is_over_the_views_that_saw_a_sample_each_on_its_own_scale():
    views, seen = rings(60), mask(60, 3, 0.4)
    est = fitted(views, seen, KERNELS["local"], n_steps=2, output="mean")
    blocks = [*est.view_embeddings_.values()]
    scaled = [(Z - np.nanmean(Z, axis=0)) / np.nanstd(Z, axis=0) for Z in blocks]
    expected = np.nanmean(scaled, axis=0) * est.eigenvalues_**2
    assert est.embedding_.shape == (60, 4)
    assert_allclose(est.embedding_, expected, atol=1e-12)
    assert_allclose(est.coordinates(2), est.embedding_)
    assert est.get_feature_names_out().tolist() == [f"mean_{k}" for k in range(1, 5)]


@pytest.mark.parametrize(
    ("walk", "n_columns", "first"),
    [({}, 3, "consensus_1"), ({"view_weights": [1, 2, 1]}, 3, "consensus_1")]
    + [({"within_view_weight": eta}, 9, "a_1") for eta in (0.0, 0.3)]
    + [({"hops": 1 - np.eye(3)}, 9, "a_1"), ({"fusion": "sum"}, 3, "fused_1")],
    ids=["default", "view_weights", "paper", "eta", "hops", "sum"],
)
def test_the_columns_do_not_depend_on_whether_some_sample_misses_a_view(walk, n_columns, first):
    views, seen = rings(60), mask(60, 3, 0.3)
    gaps = with_gaps(views, seen)
    names = []
    for given in (views, gaps):
        est = MultiViewDiffusionMaps(3, random_state=0, **walk)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DisconnectedWarning)
            assert est.fit_transform(given).shape == (60, n_columns)
        for new in (views, gaps, {"b": views["b"]}):
            assert est.transform(new).shape == (60, n_columns)
        names.append(est.get_feature_names_out().tolist())
    assert names[0] == names[1]
    assert names[0][0] == first


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize(
    "how",
    [
        {"fusion": fusion, "output": output}
        for fusion in ("hop", "sum")
        for output in ("concat", "mean")
    ]
    + [{"hops": "auto", "output": output} for output in ("concat", "mean", "consensus")],
    ids=lambda how: "-".join(map(str, how.values())),
)
def test_training_samples_are_placed_where_the_fit_put_them(kernel, how):
    views, seen = rings(60), mask(60, 3, 0.4)
    est = fitted(views, seen, kernel, **how)
    found, coverage = est.transform(with_gaps(views, seen), return_coverage=True)
    assert_allclose(found, est.embedding_, atol=1e-9)
    assert coverage.shape == (60,)
    assert (coverage > 0.05).all()
    assert (coverage <= 1).all()


def test_a_batch_without_a_view_and_rows_in_any_order_are_placed_alike(monkeypatch):
    views, seen = rings(60), mask(60, 3, 0.4)
    seen[:20, 0] = False
    seen[:20, 1] = True
    gaps = with_gaps(views, seen)
    for kernel in (KERNELS["dense"], KERNELS["local"]):
        est = fitted(views, seen, kernel, output="concat")
        expected = est.transform(gaps)
        order = np.random.default_rng(0).permutation(60)
        found = est.transform({name: X[order] for name, X in gaps.items()})
        assert_allclose(found, expected[order], atol=1e-12)
        monkeypatch.setattr("viewhop.geometry._geometry.BATCH", 16 * 7)
        assert_allclose(est.transform(gaps), expected, atol=1e-12)
        monkeypatch.undo()


def test_new_samples_are_placed_from_any_views_by_the_formula():
    views, seen = rings(90), mask(90, 3, 0.4)
    train, new = slice(0, 60), slice(60, 90)
    known = {name: X[train] for name, X in views.items()}
    est = fitted(known, seen[train], KERNELS["dense"], output="concat")
    found = est.transform(with_gaps({name: X[new] for name, X in views.items()}, seen[new]))
    oracle = Masked(known, seen[train], KERNELS["dense"])
    own = oracle.nodes(oracle.chain.psi[:, :4])
    psi = [np.nan_to_num(block) for block in own]
    K = [E.T @ view.K @ E for E, view in zip(oracle.E, oracle.views, strict=True)]
    expected = np.full((30, 3, 4), np.nan)
    for i in range(30):
        rows = {}
        for l in np.flatnonzero(seen[60 + i]):
            X = [*views.values()][l][60 + i][None]
            rows[l] = (oracle.views[l].rows(X) @ oracle.E[l])[0]
        for m in range(3):
            hops = {m: rows[m]} if m in rows else rows
            if m in rows:
                G = sum(oracle.H[m, k] * K[k] @ psi[k] for k in range(3))
                g = sum(oracle.H[m, k] * K[k].sum(axis=1) for k in range(3))
                expected[i, m] = rows[m] @ G / (rows[m] @ g)
            else:
                top = sum(oracle.H[l, m] * row @ K[m] @ psi[m] for l, row in hops.items())
                mass = sum(oracle.H[l, m] * row @ K[m].sum(axis=1) for l, row in hops.items())
                expected[i, m] = top / mass
    found = found.reshape(30 * 3, 4)
    assert_allclose(found, align(found, expected.reshape(30 * 3, 4)), atol=1e-8)


def test_a_sample_far_from_all_training_samples_is_hardly_covered():
    views = rings(60)
    est = MultiViewDiffusionMaps(3, random_state=0).fit(views)
    new = {"a": np.vstack([views["a"][:3], [[50.0, 0.0, 0.0]]])}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FarSampleWarning)
        _, coverage = est.transform(new, return_coverage=True)
    assert (coverage[:3] > 0.3).all()
    assert coverage[3] < 1e-3


def test_the_sum_of_kernels_runs_over_what_was_observed():
    views, seen = rings(60), mask(60, 3, 0.4)
    est = fitted(views, seen, KERNELS["local"], fusion="sum")
    oracle = Masked(views, seen, KERNELS["local"])
    K = sum(E.T @ view.K @ E for E, view in zip(oracle.E, oracle.views, strict=True))
    chain = oracles.Chain(K)
    assert_allclose(est.eigenvalues_, chain.eigenvalues[:4], atol=1e-10)
    expected = chain.psi[:, :4] * chain.eigenvalues[:4]
    assert_allclose(est.embedding_, align(est.embedding_, expected), atol=1e-7)


@pytest.mark.parametrize("solver", ["dense", "lanczos", "krylov", "svd"])
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_every_solver_finds_the_walk_of_two_views_that_missed_different_samples(solver, kernel):
    views = rings(70, 2)
    seen = np.ones((70, 2), dtype=bool)
    seen[:25, 0] = False
    seen[60:, 1] = False
    est = fitted(views, seen, kernel, solver=solver)
    oracle = Masked(views, seen, kernel)
    assert_allclose(est.eigenvalues_, oracle.chain.eigenvalues[:4], atol=1e-9)
    assert_allclose(est.spectrum_.residuals, 0, atol=1e-9)


def precomputed(values, seen):
    return [
        build_affinity(f"v{l}", Precomputed(), K[np.ix_(column, column)], generator=None, n_jobs=1)
        for l, (K, column) in enumerate(zip(values, seen.T, strict=True))
    ]


def nodes_of(seen):
    samples = [np.flatnonzero(column) for column in seen.T]
    return RowMap([rows.size for rows in samples], samples, len(seen))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("n_neighbors", [None, 4])
def test_pieces_are_those_of_the_masked_matrix(seed, n_neighbors):
    # Kernels in blocks, so that pieces form, dead ends and hubs that nobody leaves among them.
    rng = np.random.default_rng(seed)
    n, n_views = 24, 3
    seen = rng.random((n, n_views)) < 0.5
    seen[np.arange(n), rng.integers(0, n_views, n)] = True
    hops = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.5 * (seed % 2)]])
    values = []
    for _ in range(n_views):
        group = rng.integers(0, 6, n)
        K = (group[:, None] == group) * rng.uniform(0.5, 1, (n, n))
        values.append((K + K.T) / 2 + np.eye(n))
    held = [K[np.ix_(column, column)] for K, column in zip(values, seen.T, strict=True)]
    affinities = [
        build_affinity(f"v{l}", Precomputed(n_neighbors=n_neighbors), K, generator=None, n_jobs=1)
        for l, K in enumerate(held)
    ]
    walk = HopWalk(affinities, hops, nodes_of(seen))
    full = walk @ np.eye(walk.n_nodes)
    live = full.sum(axis=1) > 0
    expected = connected_components(full[np.ix_(live, live)] > 0, directed=False)[1]
    found = walk.pieces()
    assert_array_equal(found >= 0, live)
    # The same partition: each number of one is one number of the other.
    assert len({*zip(found[live], expected, strict=True)}) == expected.max() + 1
    assert found.max() == expected.max()
    positive = np.linalg.eigvalsh((full + full.T) / 2) > 1e-10
    assert positive.sum() - 1 <= walk.max_coordinates
    if n_neighbors is None:  # no kernel is singular, so the bound is met
        assert positive.sum() - 1 == walk.max_coordinates


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("n_neighbors", [None, 2])
def test_pieces_of_chains_are_those_of_the_masked_matrix(seed, n_neighbors):
    # Samples in a chain, in another order in each view: where the walker cannot hop at a sample,
    # its two neighbours are not joined there. For two seeds of three, two pairs of views know
    # nothing of each other.
    rng = np.random.default_rng(seed)
    n = 18
    seen = rng.random((n, 4)) < 0.6
    seen[np.arange(n), rng.integers(0, 4, n)] = True
    hops = [1 - np.eye(4), np.kron(np.eye(2), 1 - np.eye(2)), np.fliplr(np.eye(4))][seed % 3]
    affinities = []
    for l, column in enumerate(seen.T):
        place = rng.permutation(n)[column]
        K = np.maximum(0.0, 1.5 - np.abs(place[:, None] - place))
        kernel = Precomputed(n_neighbors=n_neighbors)
        affinities.append(build_affinity(f"v{l}", kernel, K, generator=None, n_jobs=1))
    walk = HopWalk(affinities, hops, nodes_of(seen))
    full = walk @ np.eye(walk.n_nodes)
    live = full.sum(axis=1) > 0
    count, expected = connected_components(full[np.ix_(live, live)] > 0, directed=False)
    found = walk.pieces()
    assert_array_equal(found >= 0, live)
    assert len({*zip(found[live], expected, strict=True)}) == count == found.max() + 1
    assert count > 1 or seed % 3 == 0


def test_samples_that_the_walk_does_not_reach_are_refused_by_row_and_view():
    # Samples 0–7 are far from the others, and nobody but a saw them.
    views, seen = rings(40), np.ones((40, 3), dtype=bool)
    views["a"][:8] += 50.0
    seen[:8, 1:] = False
    with pytest.raises(ValueError, match=r"row 0 was observed by view 'a', but .* \(8 such rows"):
        fitted(views, seen, KERNELS["local"])
    # A walker that may stay reaches them, though not from another view.
    stays = {"within_view_weight": 0.1}
    est = fitted(views, seen, KERNELS["local"], output="mean", **stays)
    assert np.isfinite(est.embedding_).all()
    with pytest.warns(UnreachedViewWarning, match="to view '[bc]' for 8 samples"):
        est = fitted(views, seen, KERNELS["local"], output="concat", **stays)
    assert np.isfinite(est.embedding_).all()
    # So does one that chooses by weights, which is one piece of the walk more.
    est = MultiViewDiffusionMaps(2, kernel=KERNELS["local"], random_state=0)
    with pytest.warns(DisconnectedWarning, match="falls into 2 pieces"):
        est.fit(with_gaps(views, seen))
    assert np.isfinite(est.embedding_).all()


def test_a_dead_end_is_filled_from_another_view():
    # Two far groups. In a, samples 0–3 are seen by a and c only, and nobody hops from a to c.
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 2)) * 0.1
    X[:4] += 5.0
    views = {name: X + 0.01 * rng.standard_normal(X.shape) for name in "abc"}
    seen = np.ones((20, 3), dtype=bool)
    seen[:4, 1] = False
    hops = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    est = MultiViewDiffusionMaps(
        2, kernel=Gaussian(0.3, n_neighbors=3), hops=hops, output="concat", random_state=0
    )
    with pytest.warns(UnreachedViewWarning) as told, pytest.warns(DisconnectedWarning):
        est.fit(with_gaps(views, seen))
    assert {warning.message.n_samples for warning in told if hasattr(warning.message, "n_samples")}
    assert np.isfinite(est.embedding_).all()
    assert np.isnan(est.view_embeddings_["a"][:4]).all()
    assert np.isnan(est.view_embeddings_["b"][:4]).all()
    assert np.isfinite(est.view_embeddings_["c"]).all()
    # Nothing is left to fill them from but c itself.
    blocks = np.split(est.embedding_, 3, axis=1)
    assert_allclose(blocks[0][:4], blocks[2][:4], atol=1e-9)
    # A new sample of a alone that is like them has no way anywhere: it gets their coordinates.
    with pytest.warns(FarSampleWarning):
        found = est.transform({"a": views["a"][1:2]})
    assert_allclose(found, est.embedding_[1:2], atol=1e-9)


@pytest.mark.parametrize("kind", ["dense", "local"])
@pytest.mark.parametrize("n_views", [2, 3])
def test_a_coarse_start_finds_the_same_pairs(kind, n_views, monkeypatch, small_tiles):
    monkeypatch.setattr(coarse, "LEAST_SAMPLES", 100)
    monkeypatch.setattr(coarse, "FEWEST", 60)
    kernel = Gaussian(0.15) if kind == "dense" else KERNELS["local"]
    views, seen = rings(700, n_views), mask(700, n_views, 0.3)
    est = fitted(views, seen, kernel, solver="krylov", tol=1e-8)
    other = fitted(views, seen, kernel, solver="lanczos")
    assert_allclose(est.eigenvalues_, other.eigenvalues_, atol=1e-9)
    assert_allclose(est.embedding_, align(est.embedding_, other.embedding_), atol=1e-5)


def test_a_start_that_is_not_there_is_not_needed(monkeypatch):
    monkeypatch.setattr(coarse, "LEAST_SAMPLES", 100)
    monkeypatch.setattr(coarse, "FEWEST", 200)
    views, seen = rings(300), mask(300, 3, 0.9)
    for how in ({"fusion": "sum"}, {}):  # the subset of a fused walk, and one that is too small
        est = fitted(views, seen, Gaussian(0.2), solver="krylov", tol=1e-8, **how)
        other = fitted(views, seen, Gaussian(0.2), solver="lanczos", **how)
        assert_allclose(est.eigenvalues_, other.eigenvalues_, atol=1e-9)


def test_a_given_kernel_is_cut_along_rows_and_columns():
    views, seen = rings(60), mask(60, 3, 0.3)
    values = {name: np.exp(-np.square(X[:, None] - X).sum(axis=2)) for name, X in views.items()}
    est = MultiViewDiffusionMaps(
        3, kernel="precomputed", within_view_weight=0.0, random_state=0, output="concat"
    )
    est.fit(Views(values, observed=seen))
    kernel = Gaussian(np.sqrt(0.5))
    same = fitted(views, seen, kernel, r=3, output="concat")
    assert_allclose(est.eigenvalues_, same.eigenvalues_, atol=1e-12)
    assert_allclose(est.transform(values), same.transform(views), atol=1e-9)
    with pytest.raises(ValueError, match="needs a row and a column for each of the 60 samples"):
        est.fit(Views({name: K[:, :50] for name, K in values.items()}, observed=seen))


def test_views_that_share_nobody_are_refused_by_name():
    views, seen = rings(60), np.ones((60, 3), dtype=bool)
    seen[:30, 2] = False
    seen[30:, :2] = False
    with pytest.raises(ValueError, match="view 'c' shares no sample with another view"):
        fitted(views, seen, "adaptive")
    seen[30:32] = True
    seen[2:30, 1] = False
    seen[:, 1] = False
    seen[[0, 1], 1] = True
    with pytest.raises(ValueError, match=r"view 'b' observed fewer than 3 samples \(2\)"):
        fitted(views, seen, "adaptive")


@pytest.mark.parametrize("fusion", ["product", "concat", "alternating", "integrated", "composite"])
def test_a_fusion_that_needs_every_view_says_so(fusion):
    n_views = 2 if fusion == "composite" else 3
    views, seen = rings(40, n_views), mask(40, n_views, 0.3)
    with pytest.raises(ValueError, match=f'fusion="{fusion}" needs every view of every sample'):
        fitted(views, seen, "gaussian", fusion=fusion)
    est = MultiViewDiffusionMaps(2, kernel="gaussian", fusion=fusion).fit(views)
    with pytest.raises(ValueError, match=f'fusion="{fusion}" needs every view of every new sampl'):
        est.transform(with_gaps(views, seen))


def test_a_sample_that_the_only_view_missed_is_refused():
    X = rings(40, 1)["a"]
    X[7] = np.nan
    with pytest.raises(ValueError, match="row 7"):
        DiffusionMaps(2).fit(X)


# Few samples are complete: no scale is linear in all slices.
@pytest.mark.filterwarnings("ignore::viewhop.errors.ScaleWarning")
def test_scales_come_from_what_was_observed():
    views, seen = rings(60), mask(60, 3, 0.4)
    for rule in ("max-min", "log-log", "connected", "joint"):
        est = fitted(views, seen, Gaussian(rule))
        other = {n: X[c] for (n, X), c in zip(views.items(), seen.T, strict=True)}
        for name, X in other.items():
            if rule in ("max-min", "log-log"):
                alone = DiffusionMaps(2, kernel=Gaussian(rule), random_state=0).fit(X)
                assert_allclose(est.bandwidths_[name], alone.bandwidths_["view1"])
        if rule == "joint":
            common = {name: X[seen.all(axis=1)] for name, X in views.items()}
            alone = MultiViewDiffusionMaps(2, kernel=Gaussian(rule), within_view_weight=0.0)
            alone.fit(common)
            assert_allclose([*est.bandwidths_.values()], [*alone.bandwidths_.values()])
    local = fitted(views, seen, KERNELS["local"])
    assert_array_equal(np.isfinite(np.stack([*local.bandwidths_.values()], axis=1)), seen)
    few = np.zeros((60, 3), dtype=bool)
    few[:30, :2] = few[30:, 1:] = True
    with pytest.raises(ValueError, match="these are 0; use another rule"):
        fitted(views, few, Gaussian("joint"))


def test_memory_is_counted_by_what_was_observed():
    views, seen = rings(400), mask(400, 3, 0.0)
    whole = fitted(views, seen, Gaussian(factor=4.0), solver="krylov").memory_
    seen = mask(400, 3, 0.7)
    assert fitted(views, seen, Gaussian(factor=4.0), solver="krylov").memory_ < whole


def linked(n=60, seed=0):
    """A ring seen twice, once with every frame doubled or tripled and some dropped."""
    rng = np.random.default_rng(seed)
    views = rings(n, 2)
    copies = rng.integers(0, 4, n)
    ids = np.repeat(np.arange(n), copies)
    many = views["b"][ids] + 0.01 * rng.standard_normal((ids.size, 3))
    return views["a"], many, ids


@pytest.mark.parametrize("kernel", [KERNELS["dense"], KERNELS["local"]], ids=["dense", "local"])
def test_several_rows_of_a_view_on_one_sample_are_nodes_of_their_own(kernel):
    one, many, ids = linked()
    views = Views.link({"a": one, "b": many}, ids={"a": np.arange(60), "b": ids})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedWarning)
        est = MultiViewDiffusionMaps(
            3, kernel=kernel, within_view_weight=0.0, random_state=0, output="concat"
        ).fit(views)
    A, B = oracles.View(kernel, one), oracles.View(kernel, many)
    E = np.eye(60)[ids]  # gather
    cross = A.K @ E.T @ B.K
    full = np.block([[np.zeros((60, 60)), cross], [cross.T, np.zeros((ids.size, ids.size))]])
    live = full.sum(axis=1) > 0
    chain = oracles.Chain(full[np.ix_(live, live)])
    assert_allclose(est.eigenvalues_, chain.eigenvalues[:3], atol=1e-10)
    assert est.view_embeddings_["a"].shape == (60, 3)
    assert est.view_embeddings_["b"].shape == (ids.size, 3)
    assert est.embedding_.shape == (60, 6)
    whole = np.full((live.size, 3), np.nan)
    whole[live] = chain.psi[:, :3] * chain.eigenvalues[:3]
    found = np.vstack([*est.view_embeddings_.values()])
    assert_allclose(found, align(found, whole), atol=1e-7)
    # The coordinates of a sample in b are the mean over its rows.
    expected = align(found, whole)[60:]
    for i in np.unique(ids):
        assert_allclose(est.embedding_[i, 3:], expected[ids == i].mean(axis=0), atol=1e-7)


def test_a_view_whose_rows_are_doubled_has_the_geometry_of_the_plain_one():
    views = rings(60, 2)
    ids = np.repeat(np.arange(60), 2)
    doubled = Views.link(
        {"a": views["a"], "b": views["b"][ids]}, ids={"a": np.arange(60), "b": ids}
    )
    kernel = Gaussian(0.3)
    est = MultiViewDiffusionMaps(3, kernel=kernel, within_view_weight=0.0).fit(doubled)
    plain = MultiViewDiffusionMaps(3, kernel=kernel, within_view_weight=0.0).fit(views)
    assert_allclose(est.eigenvalues_, plain.eigenvalues_, atol=1e-12)
    found = est.embedding_
    scale = np.abs(found).max(axis=0) / np.abs(plain.embedding_).max(axis=0)
    assert_allclose(np.abs(found), np.abs(plain.embedding_) * scale, atol=1e-9)


def test_distances_and_probabilities_know_who_was_observed():
    from viewhop import diffusion

    views, seen = rings(50), mask(50, 3, 0.4)
    est = fitted(views, seen, KERNELS["dense"])
    oracle = Masked(views, seen, KERNELS["dense"])
    here = np.flatnonzero(seen[:, 1])
    start = seen[:, 0].sum()
    P = diffusion.transition_probabilities(est, 2, "b", "c", here[:3])
    expected = np.linalg.matrix_power(oracle.chain.P, 2)
    first = start + seen[:, 1].sum()
    rows = expected[start : start + 3, first:] @ oracle.E[2]
    assert_allclose(P, rows, atol=1e-10)
    found = diffusion.inner_view_distance(est, "b", here[0], here[1])
    assert_allclose(found, oracle.chain.distance(start, start + 1, 1), rtol=1e-8)
    low, high = diffusion.truncation_bounds(est, here[0], here[1], view="b")
    assert low <= found[0] <= high
    away = np.flatnonzero(~seen[:, 1])[0]
    with pytest.raises(ValueError, match=f"view 'b' did not observe sample {away}"):
        diffusion.inner_view_distance(est, "b", here[0], away)
    with pytest.raises(ValueError, match="views that observed every sample"):
        diffusion.multi_view_distance(est, 0, 1)
    both = seen[:, 0] & seen[:, 1]
    Z = est.view_embeddings_
    expected = np.linalg.norm(Z["a"][both] - Z["b"][both])
    assert_allclose(est.cross_view_distance("a", "b"), expected)


def test_a_sum_walk_knows_the_samples_of_its_kernels():
    seen = mask(30, 2, 0.4)
    rng = np.random.default_rng(0)
    values = []
    for _ in range(2):
        K = rng.uniform(0, 1, (30, 30))
        values.append((K + K.T) / 2 + np.eye(30))
    walk = SumWalk(precomputed(values, seen), nodes_of(seen))
    expected = sum(K * np.outer(c, c) for K, c in zip(values, seen.T, strict=True))
    assert_allclose(walk @ np.eye(30), expected)
    assert walk.pieces().max() == 0


def test_gapped_rolls_join_though_their_frames_only_nearly_correspond():
    # Figure 1, as two cameras see it: y has every third frame, and they are not in step; a frame
    # of x belongs to the frame of y that is nearest in time, so several belong to one.
    rolls = make_gapped_rolls(1200, random_state=0)
    rng = np.random.default_rng(0)
    kept = np.arange(1, 1200, 3)
    times = {
        "y": np.arange(1200.0)[kept] + rng.uniform(-0.4, 0.4, kept.size),
        "x": np.arange(1200.0) + rng.uniform(-0.4, 0.4, 1200),
    }
    views = Views.link({"y": rolls.views["y"][kept], "x": rolls.views["x"]}, times=times)
    assert len(views) == kept.size
    est = MultiViewDiffusionMaps(2, random_state=0).fit(views)
    assert est.n_pieces_ == 1
    for name in "xy":
        with pytest.warns(DisconnectedWarning):
            assert DiffusionMaps(2).fit(views.rows(name)).n_pieces_ > 1
    coordinate = est.view_embeddings_["x"][:, 0]
    assert coordinate.shape == (1200,)
    assert abs(spearmanr(coordinate, rolls.theta)[0]) > 0.995
    assert abs(spearmanr(est.embedding_[:, 0], rolls.theta[kept])[0]) > 0.995


def test_rows_by_index_and_by_mask_and_in_a_mudata_are_one_fit():
    mudata = pytest.importorskip("mudata")
    anndata = pytest.importorskip("anndata")
    views, seen = rings(60, 2), mask(60, 2, 0.3)
    est = MultiViewDiffusionMaps(3, random_state=0)
    expected = est.fit_transform(with_gaps(views, seen))
    assert_array_equal(est.fit_transform(Views(views, observed=seen)), expected)
    index = np.array([f"cell{i:02}" for i in range(60)])
    frames = {
        name: pd.DataFrame(X[c], index=index[c], columns=["x", "y", "z"])
        for (name, X), c in zip(views.items(), seen.T, strict=True)
    }
    joined = Views.from_frames(frames)
    order = np.argsort(joined.ids)  # the order of first appearance is another one
    found = est.fit_transform(joined[order])
    assert_array_equal(found, expected)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cells = mudata.MuData({name: anndata.AnnData(frame) for name, frame in frames.items()})
    names = np.array([*cells.obs_names])
    found = est.fit_transform(Views(cells)[np.argsort(names)])
    assert_allclose(found, expected, atol=1e-12)
    again = est.fit_transform(cells)[np.argsort(names)]
    assert_allclose(np.abs(again), np.abs(expected), atol=1e-5)


def test_scikit_learn_splits_incomplete_views():
    views, seen = rings(60), mask(60, 3, 0.3)
    target = views["a"][:, 0] > 0
    stacked = np.hstack([*with_gaps(views, seen).values()])
    model = make_pipeline(
        MultiViewDiffusionMaps(3, views=3, random_state=0), KNeighborsClassifier(3)
    )
    scores = cross_val_score(model, stacked, target, cv=3)
    assert scores.mean() > 0.85


def test_an_estimator_of_incomplete_views_can_be_pickled():
    views, seen = rings(60), mask(60, 3, 0.3)
    est = fitted(views, seen, KERNELS["local"], output="concat")
    again = pickle.loads(pickle.dumps(est))  # noqa: S301 - just written here
    gaps = with_gaps(views, seen)
    assert_array_equal(again.transform(gaps), est.transform(gaps))
    assert_array_equal(again.disagreement(), est.disagreement())


def test_clusters_are_found_where_views_missed_samples():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], 30)
    views = {
        name: 4.0 * np.eye(3)[labels] @ rng.standard_normal((3, 4)) + rng.standard_normal((90, 4))
        for name in "ab"
    }
    seen = mask(90, 2, 0.3)
    model = MultiViewSpectralClustering(3, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedWarning)
        found = model.fit_predict(with_gaps(views, seen))
    assert adjusted_rand_score(labels, found) > 0.8
    assert_array_equal(model.predict(with_gaps(views, seen)), found)


def test_theorems_are_about_views_that_observed_every_sample():
    from viewhop import theory

    views, seen = rings(40, 2), mask(40, 2, 0.3)
    est = fitted(views, seen, KERNELS["dense"])
    for statement in (
        lambda: theory.distance_sides(est, 0, 1),
        lambda: theory.objective_minimum(est),
        lambda: theory.singular_eigenpairs(est),
        lambda: theory.spectral_decay(est),
        lambda: theory.cross_view_symmetry(est, "a", "b"),
    ):
        with pytest.raises(ValueError, match="about views that observed every sample"):
            statement()
    low, high = theory.eigenvalue_range(est)
    assert_allclose([low, high], [-1, 1], atol=1e-9)


def test_a_row_that_left_the_walk_does_not_take_its_sample_along():
    # Samples 0–5 have two rows in a, the second of them far from all, where the walker cannot hop.
    views = rings(40, 2)
    rows = np.vstack([views["a"], views["a"][:6] + 50.0])
    ids = np.r_[np.arange(40), np.arange(6)]
    given = {"a": rows, "b": views["b"][6:]}
    linked_views = Views.link(given, ids={"a": ids, "b": np.arange(6, 40)})
    kernel = Gaussian("local", n_neighbors=4)
    for output in ("mean", "concat"):
        est = MultiViewDiffusionMaps(
            2, kernel=kernel, within_view_weight=0.0, output=output, random_state=0
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnreachedViewWarning)
            est.fit(linked_views)
        assert (est.walk_.degrees[40:46] == 0).all()
        assert np.isnan(est.view_embeddings_["a"][40:]).all()
        assert np.isfinite(est.embedding_).all()


def test_views_that_have_all_samples_in_another_order_are_complete():
    views = rings(50, 2)
    order = np.random.default_rng(0).permutation(50)
    frames = {
        "a": pd.DataFrame(views["a"]),
        "b": pd.DataFrame(views["b"][order], index=order),
    }
    joined = Views.from_frames(frames)
    assert joined.is_complete
    assert_array_equal(joined["b"], views["b"])
    est = MultiViewDiffusionMaps(2, kernel="gaussian", fusion="product")
    assert_array_equal(est.fit_transform(joined), est.fit_transform(views))
