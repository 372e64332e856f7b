"""The limit of the number of coordinates: Σ_i n₊(H[O_i, O_i]) − 1, all of which can be had."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import viewhop as vh
from tests.support import oracles
from viewhop.kernels import Gaussian

N = 9
#: So narrow that no eigenvalue is lost to rounding.
KERNEL = Gaussian(bandwidth=0.6)
HOPS = {
    "eta 0": {"within_view_weight": 0.0},
    "eta 0.3": {"within_view_weight": 0.3},
    "eta 0.5": {"within_view_weight": 0.5},
    "eta 1": {"within_view_weight": 1.0},
    "weights": {"view_weights": (1.0, 0.5, 0.2)},
    "chain": {"hops": np.array([[0.5, 1.0, 0.0], [1.0, 0.1, 1.0], [0.0, 1.0, 0.0]])},
}
SOLVERS = ("auto", "dense", "lanczos", "krylov")


def make_views(n_views, *, missing=False):
    rng = np.random.default_rng(n_views)
    views = [rng.standard_normal((N, 2 + l)) for l in range(n_views)]
    if missing:
        for l, X in enumerate(views):
            X[2 * l : 2 * l + 2] = np.nan
    return views


def parameters(name, n_views):
    given = dict(HOPS[name])
    if "view_weights" in given:
        given["view_weights"] = given["view_weights"][:n_views]
    if "hops" in given:
        given["hops"] = given["hops"][:n_views, :n_views]
    return given


def dense_hop(views, given):
    """The whole multi-view matrix on observed nodes, and the hop matrix."""
    n_views = len(views)
    seen = [np.isfinite(X[:, 0]) for X in views]
    kernels = [oracles.View(KERNEL, X[rows]).K for X, rows in zip(views, seen, strict=True)]
    if "hops" in given:
        H = given["hops"]
    elif "view_weights" in given and n_views > 1:
        kernels = [K / K.sum(axis=1).mean() for K in kernels]
        H = np.outer(given["view_weights"], given["view_weights"])
    else:
        H = oracles.hop_matrix(n_views, given.get("within_view_weight"))
    scatter = [np.eye(N)[:, rows] for rows in seen]
    blocks = [
        [H[l, m] * (K @ scatter[l].T @ scatter[m] @ J) for m, J in enumerate(kernels)]
        for l, K in enumerate(kernels)
    ]
    observed = np.stack(seen, axis=1)
    limit = sum((np.linalg.eigvalsh(H[np.ix_(o, o)]) > 1e-12).sum() for o in observed) - 1
    return oracles.Chain(np.block(blocks)), limit


def check_limit(make, X, chain, limit, solver):
    """All coordinates agree with the dense spectrum, and one more is refused with their number."""
    assert (chain.eigenvalues > 1e-13).sum() == limit
    est = make(limit, solver).fit(X)
    assert_allclose(est.eigenvalues_, chain.eigenvalues[:limit], rtol=1e-9, atol=1e-11)
    unit = est.spectrum_.eigenvectors * np.sqrt(est.walk_.stationary)[:, None]
    own = chain.unit[:, :limit]
    assert_allclose(unit @ unit.T, own @ own.T, atol=1e-7)
    assert np.isfinite(est.transform(X)).all()
    for more in (limit + 1, 10**12):
        with pytest.raises(
            ValueError, match=rf"n_components={more} is more than the {limit} .* at most n_compo"
        ):
            make(more, solver).fit(X)


@pytest.mark.filterwarnings("ignore::viewhop.errors.DisconnectedWarning")
@pytest.mark.filterwarnings("ignore::viewhop.errors.UnreachedViewWarning")
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("n_views", [1, 2, 3])
@pytest.mark.parametrize("name", HOPS)
def test_every_positive_eigenvalue_of_a_hop_walk_gives_a_coordinate(name, n_views, missing):
    if n_views == 1 and (missing or name == "chain"):
        pytest.skip("one view has no hops and misses nothing")
    given = parameters(name, n_views)
    views = make_views(n_views, missing=missing)
    chain, limit = dense_hop(views, given)
    for solver in SOLVERS:
        check_limit(
            lambda r, solver: vh.MultiViewDiffusionMaps(
                r, kernel=KERNEL, solver=solver, joint_view=False, **given
            ),
            views,
            chain,
            limit,
            solver,
        )


def test_a_limit_counts_missing_views():
    views = make_views(3, missing=True)
    assert dense_hop(views, {"within_view_weight": 0.0})[1] == N - 1
    assert dense_hop(views, {"within_view_weight": 1.0})[1] == 3 * N - 6 - 1
    two = make_views(2, missing=True)  # four samples were observed by one view only
    assert dense_hop(two, {"within_view_weight": 0.0})[1] == N - 4 - 1


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("fusion", ["sum", "product", "concat", "alternating"])
@pytest.mark.parametrize("n_views", [1, 2, 3])
def test_fused_walks_have_a_coordinate_per_sample_but_one(fusion, n_views, solver):
    views = make_views(n_views)
    kernels = [oracles.View(KERNEL, X).K for X in views]
    if fusion == "alternating":
        P = np.linalg.multi_dot([np.eye(N), *(K / K.sum(axis=1, keepdims=True) for K in kernels)])
        zero = np.zeros((N, N))
        chain = oracles.Chain(np.block([[zero, P / N], [P.T / N, zero]]))
    else:
        fused = {
            "sum": np.sum(kernels, axis=0),
            "product": np.prod(kernels, axis=0),
            "concat": oracles.SideBySide([KERNEL] * n_views, views).K,
        }
        chain = oracles.Chain(fused[fusion])
    check_limit(
        lambda r, solver: vh.MultiViewDiffusionMaps(r, kernel=KERNEL, solver=solver, fusion=fusion),
        views,
        chain,
        N - 1,
        solver,
    )


@pytest.mark.parametrize("solver", ["svd", "krylov", "dense"])
def test_the_svd_finds_all_pairs_of_two_views(solver):
    views = make_views(2, missing=True)
    chain, limit = dense_hop(views, {"within_view_weight": 0.0})
    check_limit(
        lambda r, solver: vh.MultiViewDiffusionMaps(
            r, kernel=KERNEL, solver=solver, within_view_weight=0.0
        ),
        views,
        chain,
        limit,
        solver,
    )


def test_one_view_has_a_coordinate_per_sample_but_one():
    (X,) = make_views(1)
    assert vh.DiffusionMaps(N - 1, kernel=KERNEL).fit(X).n_components_ == N - 1
    with pytest.raises(ValueError, match=f"n_components={N} is more than the {N - 1} "):
        vh.DiffusionMaps(N, kernel=KERNEL).fit(X)


def test_the_trivial_vector_counts_for_de_sa():
    views = make_views(2)
    assert vh.DeSaEmbedding(N, kernel=KERNEL).fit(views).n_components_ == N
    with pytest.raises(ValueError, match=f"n_components={N + 1} is more than the {N} "):
        vh.DeSaEmbedding(N + 1, kernel=KERNEL).fit(views)


def test_kernel_cca_has_a_variate_per_sample_but_one():
    views = make_views(2)
    assert vh.KernelCCA(N - 1, kernel=KERNEL, rank=N).fit(views).embedding_.shape == (N, 2 * N - 2)
    with pytest.raises(ValueError, match=f"n_components={N} .* at most n_components={N - 1}"):
        vh.KernelCCA(N, kernel=KERNEL, rank=N).fit(views)


def test_three_samples_have_two_coordinates():
    rng = np.random.default_rng(0)
    views = [rng.standard_normal((3, 2)), rng.standard_normal((3, 2))]
    for kernel in ("gaussian", "adaptive", Gaussian(bandwidth=0.5)):
        est = vh.MultiViewDiffusionMaps(2, kernel=kernel, within_view_weight=0.0)
        assert est.fit_transform(views).shape == (3, 4)


def test_full_accuracy_takes_every_positive_eigenvalue():
    (X,) = make_views(1)
    est = vh.DiffusionMaps("auto", accuracy=0.0, kernel=KERNEL).fit(X)
    assert est.n_components_ == N - 1


@pytest.mark.filterwarnings("ignore::viewhop.errors.DisconnectedWarning")
@pytest.mark.parametrize("solver", ["auto", "dense", "krylov"])
@pytest.mark.parametrize("name", HOPS)
def test_eigenvalues_lost_to_rounding_are_refused_with_the_number_that_is_left(name, solver):
    given = parameters(name, 3)
    views = [X[:, :1] for X in make_views(3)]
    wide = Gaussian(bandwidth=300.0)
    limit = dense_hop(views, given)[1]
    with pytest.raises(ValueError, match="positive beyond rounding; pass at most n_components="):
        vh.MultiViewDiffusionMaps(limit, kernel=wide, solver=solver, joint_view=False, **given).fit(
            views
        )
