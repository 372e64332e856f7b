"""De Sa's embedding and kernel CCA against their definitions, and as citizens of scikit-learn."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import eigh, qr
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.estimators.test_sklearn import UNYIELDED
from tests.support import cases, oracles
from viewhop.affinity._low_rank import LowRank
from viewhop.bandwidth import joint
from viewhop.bandwidth._all_views import RULE_OF_KERNELS
from viewhop.datasets import make_mixtures
from viewhop.errors import DisconnectedWarning, FarSampleWarning, MemoryBudgetError
from viewhop.estimators import DeSaEmbedding, KernelCCA
from viewhop.estimators._canonical import solve_canonical
from viewhop.kernels import Correlation, Gaussian, Laplacian, Precomputed

M = 60
WIDE = Gaussian(factor=4.0)
pieces_expected = pytest.mark.filterwarnings("ignore::viewhop.errors.DisconnectedWarning")


def curve(n_views=2, n_samples=M, seed=0, dtype=np.float64):
    """Noisy views of points on a curve, far from the origin and of unequal size."""
    rng = np.random.default_rng(seed)
    t = rng.uniform(0, 6, n_samples)
    views = [
        50 + 3 * np.c_[np.cos(t), np.sin(t), t],
        -700 + 20 * np.c_[t, np.sin(2 * t)],
        np.c_[t**2, np.cos(t), t, np.sin(t)],
        1e-3 * np.c_[np.cos(t / 2), t],
    ]
    sizes = (3.0, 20.0, 1.0, 1e-3)
    return [
        (X + 0.1 * size * rng.standard_normal(X.shape)).astype(dtype)
        for X, size in zip(views[:n_views], sizes, strict=False)
    ]


def aligned(found, expected):
    """`found` with the sign of each column that is nearer to `expected`."""
    return found * np.where((found * expected).sum(axis=0) < 0, -1.0, 1.0)


# --- scikit-learn -------------------------------------------------------------------------------

ESTIMATORS = {
    "de Sa": DeSaEmbedding(views=2),
    "de Sa, dense": DeSaEmbedding(views=2, kernel="gaussian"),
    "de Sa, three clusters": DeSaEmbedding(3, views={"first": [0], "rest": slice(1, None)}),
    "kernel CCA": KernelCCA(views=2, rank=5),
    "kernel CCA, one variate": KernelCCA(1, views=2, rank=1, kernel=Gaussian(factor=50.0)),
    "kernel CCA, log-log": KernelCCA(views=2, rank=None, kernel=Gaussian("log-log")),
    "kernel CCA, tolerance": KernelCCA(views=2, rank=None, tol=1e-6, kernel=Laplacian()),
    "kernel CCA, groups": KernelCCA(views={"first": [0], "rest": slice(1, None)}, rank=5),
}


@pieces_expected
@parametrize_with_checks([*ESTIMATORS.values()])
def test_every_common_check_passes(estimator, check):
    check(estimator)


@pieces_expected
@pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names:UserWarning")
@pytest.mark.parametrize("check", UNYIELDED)
@pytest.mark.parametrize("estimator", ESTIMATORS.values(), ids=ESTIMATORS)
def test_every_check_that_is_not_yielded_passes(estimator, check):
    getattr(estimator_checks, check)(type(estimator).__name__, clone(estimator))


def fitted(cls, n_views=2, n_components=2, **options):
    if cls is KernelCCA:
        options = {"rank": 30} | options
    else:
        options = {"kernel": WIDE, "random_state": 0} | options
    return cls(n_components, **options).fit(curve(n_views))


both = pytest.mark.parametrize("cls", [DeSaEmbedding, KernelCCA])


@both
def test_columns_are_named_by_view_and_number(cls):
    X, Y = curve()
    est = clone(fitted(cls)).set_output(transform="pandas")
    frame = est.fit_transform({"rna": X, "protein": Y})
    assert [*frame.columns] == ["rna_1", "rna_2", "protein_1", "protein_2"]
    assert [*est.transform({"protein": Y}).columns] == [*frame.columns]
    assert_array_equal(np.hstack([*est.view_embeddings_.values()]), est.embedding_)


@both
def test_stacked_array_and_its_views_give_the_same(cls):
    X, Y = curve()
    est = fitted(cls)
    stacked = clone(est).set_params(views=[3, 2]).fit(np.hstack([X, Y]))
    assert_array_equal(stacked.embedding_, est.embedding_)
    assert_array_equal(stacked.transform(np.hstack([X, Y])[:7]), est.transform([X[:7], Y[:7]]))


@both
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_precision_of_the_input_is_that_of_the_output(cls, dtype):
    views = curve(dtype=dtype)
    est = clone(fitted(cls)).fit(views)
    assert est.embedding_.dtype == est.transform(views).dtype == dtype
    assert all(block.dtype == dtype for block in est.view_embeddings_.values())
    assert_allclose(est.embedding_, fitted(cls).embedding_, rtol=1e-2, atol=1e-2)
    assert_allclose(
        est.transform(views), est.embedding_, rtol=1e-4 if dtype == np.float32 else 1e-8, atol=1e-4
    )


@both
def test_pickle_keeps_every_coordinate(cls):
    est = fitted(cls)
    again = pickle.loads(pickle.dumps(est))  # noqa: S301 - its own bytes
    assert_array_equal(again.embedding_, est.embedding_)
    assert_array_equal(again.transform(curve()), est.transform(curve()))


@both
def test_failed_fit_leaves_the_earlier_one(cls):
    est = fitted(cls)
    before = est.transform(curve())
    with pytest.raises(ValueError, match="constant"):
        est.set_params(kernel="gaussian").fit([np.ones((M, 3)), curve()[1]])
    assert_array_equal(est.transform(curve()), before)


@both
def test_called_twice_gives_the_same_and_leaves_the_input(cls):
    views = curve()
    copies = [X.copy() for X in views]
    est = fitted(cls)
    assert_array_equal(clone(est).fit(views).embedding_, est.embedding_)
    assert_array_equal(est.transform(views), est.transform(views))
    for X, copy in zip(views, copies, strict=True):
        assert_array_equal(X, copy)


@both
def test_parameter_of_the_kernel_is_a_parameter_of_the_estimator(cls):
    est = clone(fitted(cls)).set_params(kernel=Gaussian()).set_params(kernel__factor=4.0)
    direct = clone(fitted(cls)).set_params(kernel=WIDE)
    assert_array_equal(est.fit_transform(curve()), direct.fit_transform(curve()))


@both
def test_progress_is_told(cls):
    stages = []
    clone(fitted(cls)).set_params(verbose=lambda stage, *_: stages.append(stage)).fit(curve())
    assert {"kernel of view1", "kernel of view2"} <= set(stages)


@both
def test_clusters_are_found_from_the_rows(cls):
    data = make_mixtures(n_samples=300, random_state=0)
    k = int(data.target.max()) + 1
    views = dict([*data.views.items()][:2])
    est = cls(k, kernel="gaussian") if cls is DeSaEmbedding else cls(k - 1, rank=50)
    pipe = make_pipeline(est, KMeans(k, n_init=5, random_state=0)).fit(views)
    assert adjusted_rand_score(data.target, pipe[-1].labels_) > 0.9


# --- de Sa --------------------------------------------------------------------------------------


def de_sa(first, second, r):
    """Eqs. (9)–(11), literally, with column sums for the second view."""
    W = first @ second
    n = len(W)
    A = np.block([[np.zeros((n, n)), W], [W.T, np.zeros((n, n))]])
    D = np.diag(np.concatenate([W.sum(axis=1), W.sum(axis=0)]) ** -0.5)
    values, vectors = np.linalg.eigh(D @ A @ D)
    phi = vectors[:, ::-1][:, :r]
    s = np.array([sum(phi[i, j] ** 2 for j in range(r)) for i in range(2 * n)])
    Phi = phi / s[:, None]
    return values[::-1][:r], np.hstack([Phi[:n], Phi[n:]])


@pieces_expected
@pytest.mark.parametrize("holding", cases.HOLDINGS)
@pytest.mark.parametrize("name", cases.KERNELS)
@pytest.mark.parametrize("r", [1, 2, 4])
def test_de_sa_is_the_printed_mapping(name, holding, r):
    kernel = cases.kernel(name, holding)
    views = cases.views("generic", 2, kernel)
    est = DeSaEmbedding(r, kernel=kernel, random_state=0).fit(views)
    kernels = [
        oracles.View(kernel, X, sigma=est.bandwidths_[v]).K
        for v, X in zip(est.view_names_, views, strict=True)
    ]
    values, expected = de_sa(*kernels, r)
    assert_allclose(est.eigenvalues_, values, atol=1e-9)
    found = est.embedding_.reshape(-1, 2, r).swapaxes(0, 1).reshape(-1, r)
    expected = expected.reshape(-1, 2, r).swapaxes(0, 1).reshape(-1, r)
    assert_allclose(aligned(found, expected), expected, rtol=1e-6, atol=1e-6)


def test_de_sa_rows_are_divided_by_their_sum_of_squares():
    est = fitted(DeSaEmbedding, n_components=3)
    phi = est.spectrum_.eigenvectors * np.sqrt(est.spectrum_.stationary)[:, None]
    assert_allclose(np.linalg.norm(phi, axis=0), 1.0, rtol=1e-12)
    length = np.linalg.norm(np.vstack([*est.view_embeddings_.values()]), axis=1)
    assert_allclose(length, 1 / np.linalg.norm(phi, axis=1), rtol=1e-9)


@pytest.mark.parametrize("solver", ["dense", "lanczos", "krylov", "svd"])
def test_every_solver_gives_de_sas_rows(solver):
    est = fitted(DeSaEmbedding, n_components=4)
    found = fitted(DeSaEmbedding, n_components=4, solver=solver)
    assert_allclose(aligned(found.embedding_, est.embedding_), est.embedding_, rtol=1e-6)


@pieces_expected
@pytest.mark.parametrize("data", cases.DATA)
@pytest.mark.parametrize("holding", cases.HOLDINGS)
@pytest.mark.parametrize("name", cases.KERNELS)
def test_de_sa_of_training_samples_is_that_of_the_fit(name, holding, data):
    kernel = cases.kernel(name, holding)
    views = cases.views(data, 2, kernel)
    est = DeSaEmbedding(3, kernel=kernel, random_state=0).fit(views)
    assert_allclose(est.transform(views), est.embedding_, rtol=1e-8, atol=1e-8)
    single = [est.transform([X[i : i + 1] for X in views]) for i in range(cases.N)]
    assert_allclose(np.vstack(single), est.embedding_, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("kernel", [WIDE, Gaussian("local", n_neighbors=12), Laplacian()])
def test_de_sa_of_a_new_sample_is_the_limit_of_adding_it(kernel):
    X, Y = curve(n_samples=300)
    est = DeSaEmbedding(3, kernel=kernel, random_state=0).fit([X[:-1], Y[:-1]])
    whole = DeSaEmbedding(3, kernel=kernel, random_state=0).fit([X, Y]).embedding_[-1:]
    found = est.transform([X[-1:], Y[-1:]])
    assert np.linalg.norm(np.abs(found) - np.abs(whole)) < 0.1 * np.linalg.norm(whole)


def test_new_sample_of_de_sa_has_its_own_degree():
    """By the literal formulas, with the kernel rows of the sample and nothing else."""
    X, Y = curve()
    new = [X[:9] + 0.3, Y[:9] - 2.0]
    est = DeSaEmbedding(3, kernel=WIDE, random_state=0).fit([X, Y])
    held = [oracles.View(WIDE, A) for A in (X, Y)]
    psi = np.split(est.spectrum_.eigenvectors, 2)
    total = 2 * (held[0].K @ held[1].K).sum()
    blocks = []
    for l, m in ((0, 1), (1, 0)):
        step = held[l].rows(new[l]) @ held[m].K
        degree = step.sum(axis=1)
        phi = step @ psi[m] / degree[:, None] / est.eigenvalues_
        phi *= np.sqrt(degree / total)[:, None]
        blocks.append(phi / (phi**2).sum(axis=1, keepdims=True))
    assert_allclose(est.transform(new), np.hstack(blocks), rtol=1e-9)


@pytest.mark.parametrize("kernel", [WIDE, Gaussian("local", n_neighbors=12)])
def test_de_sa_fills_the_block_of_a_view_that_is_not_given(kernel):
    X, Y = curve(n_samples=200)
    est = DeSaEmbedding(2, kernel=kernel, random_state=0).fit([X, Y])
    for found, given, filled in (
        (est.transform([X, None]), slice(0, 2), slice(2, 4)),
        (est.transform([None, Y]), slice(2, 4), slice(0, 2)),
    ):
        assert_allclose(found[:, given], est.embedding_[:, given], rtol=1e-8)
        gap = np.linalg.norm(found[:, filled] - est.embedding_[:, filled])
        assert gap < 0.25 * np.linalg.norm(est.embedding_[:, filled])


def test_far_sample_of_de_sa_gets_rows_like_those_of_its_nearest():
    X, Y = curve()
    est = DeSaEmbedding(2, kernel=Gaussian(), random_state=0).fit([X, Y])
    with pytest.warns(FarSampleWarning, match="1 of 3 samples"):
        found = est.transform([np.vstack([X[:2], X[:1] + 1e4]), np.vstack([Y[:2], Y[:1]])])
    assert np.isfinite(found).all()
    assert_allclose(found[:2], est.embedding_[:2], rtol=1e-8)
    assert np.abs(found[2]).max() <= 1.5 * np.abs(est.embedding_).max()


def test_de_sa_takes_samples_that_one_view_does_not_link_to_any_other():
    X, Y = curve()
    held = [oracles.View(WIDE, A).K for A in (X, Y)]
    est = DeSaEmbedding(2, kernel="precomputed", random_state=0).fit(held)
    new = [held[0][:4].copy(), held[1][:4]]
    new[0][2] = 0.0
    found = est.transform(new)
    assert_allclose(found[[0, 1, 3]], est.embedding_[[0, 1, 3]], rtol=1e-8)
    assert_allclose(found[2], est.transform([None, held[1][2:3]])[0], rtol=1e-12)


def test_order_of_samples_changes_only_the_order_of_de_sas_rows():
    X, Y = curve()
    order = np.random.default_rng(1).permutation(M)
    est = fitted(DeSaEmbedding, n_components=3)
    found = clone(est).fit_transform([X[order], Y[order]])
    assert_allclose(aligned(found, est.embedding_[order]), est.embedding_[order], rtol=1e-6)


def test_trivial_pair_of_de_sa_comes_first():
    est = fitted(DeSaEmbedding, n_components=3)
    assert est.eigenvalues_[0] == 1.0
    assert_array_equal(est.spectrum_.eigenvectors[:, 0], np.ones(2 * M))
    assert len(est.spectrum_) == est.n_components_ == 3


def test_pieces_of_de_sas_graph_are_told_and_kept_apart():
    X, Y = curve()
    X[:20] += 1e4
    Y[:20] += 1e4
    with pytest.warns(DisconnectedWarning, match="2 pieces"):
        est = DeSaEmbedding(2, kernel=Gaussian("local", n_neighbors=12), random_state=0).fit([X, Y])
    assert_allclose(est.eigenvalues_, 1.0, rtol=1e-12)
    labels = KMeans(2, n_init=3, random_state=0).fit_predict(
        est.embedding_ / np.linalg.norm(est.embedding_, axis=1, keepdims=True)
    )
    assert adjusted_rand_score(np.arange(M) < 20, labels) == 1.0


@pytest.mark.parametrize("n_views", [1, 3])
def test_de_sa_refuses_another_number_of_views_than_two(n_views):
    with pytest.raises(ValueError, match=f"exactly two views, got {n_views}.*MultiViewDiffusion"):
        DeSaEmbedding().fit(curve(n_views))


def test_de_sa_has_no_diffusion_time():
    est = fitted(DeSaEmbedding)
    assert not hasattr(est, "coordinates")
    assert not hasattr(est, "cross_view_distance")
    assert "n_steps" not in est.get_params()


def test_de_sa_refuses_more_components_than_positive_eigenvalues():
    X = np.repeat(np.eye(3), 5, axis=0)
    with pytest.raises(ValueError, match=r"more than the 3 eigenvalues.*at most n_components=3"):
        DeSaEmbedding(6, kernel=Gaussian(1.0)).fit([X, 2 * X])


# --- kernel CCA ---------------------------------------------------------------------------------

SEMIDEFINITE = {
    "max-min": Gaussian(factor=2.0),
    "log-log": Gaussian("log-log"),
    "cosine": Gaussian(metric="cosine", factor=30.0),
    "standardized": Gaussian(1.0, standardize=True),
    "laplacian": Laplacian(factor=4.0),
    "correlation": Correlation(factor=30.0),
}


def centred(K):
    H = np.eye(len(K)) - 1.0 / len(K)
    return H @ K @ H


def dense_cca(kernels, gamma, r, center=True):
    """Eq. (8) with LAPACK's generalised solver, all blocks formed; ρ/(L − 1), K v, and v."""
    n, L = len(kernels[0]), len(kernels)
    K = [centred(values) if center else values for values in kernels]
    A, B = np.zeros((2, L * n, L * n))
    for l in range(L):
        rows = slice(l * n, (l + 1) * n)
        B[rows, rows] = (K[l] + gamma * np.eye(n)) @ (K[l] + gamma * np.eye(n))
        for m in range(L):
            if l != m:
                A[rows, m * n : (m + 1) * n] = K[l] @ K[m]
    values, vectors = eigh((A + A.T) / 2, (B + B.T) / 2)
    vectors = vectors[:, ::-1][:, :r] * np.sqrt(L * n)
    v = np.split(vectors, L)
    return values[::-1][:r] / (L - 1), [k @ b for k, b in zip(K, v, strict=True)], v


def kernels_of(est, kernel, views):
    return [
        oracles.View(kernel, X, sigma=est.bandwidths_[name]).K
        for name, X in zip(est.view_names_, views, strict=True)
    ]


@pytest.mark.parametrize("n_views", [2, 3, 4])
@pytest.mark.parametrize("gamma", [1e-3, 0.01, 1.0])
@pytest.mark.parametrize("name", ["max-min", "laplacian", "log-log"])
@pytest.mark.parametrize("center", [True, False])
def test_full_rank_kernel_cca_is_the_dense_generalised_problem(center, name, gamma, n_views):
    kernel, views = SEMIDEFINITE[name], curve(n_views)
    est = KernelCCA(3, kernel=kernel, regularization=gamma, rank=M, center=center).fit(views)
    held = kernels_of(est, kernel, views)
    correlations, variates, vectors = dense_cca(held, gamma, 3, center)
    assert_allclose(est.correlations_, correlations, atol=1e-6)
    found = np.vstack([*est.view_embeddings_.values()])
    expected = np.vstack(variates)
    assert_allclose(aligned(found, expected), expected, atol=1e-6)
    found = np.vstack([*est.canonical_vectors_.values()])
    expected = np.vstack(vectors)
    assert_allclose(aligned(found, expected), expected, atol=1e-5 * np.abs(expected).max())


def test_without_centring_the_leading_pair_is_nearly_constant_even_for_unrelated_views():
    rng = np.random.default_rng(0)
    views = [rng.standard_normal((200, 3)) for _ in range(2)]
    plain = KernelCCA(3, kernel=Gaussian(), center=False).fit(views)
    centred_est = KernelCCA(2, kernel=Gaussian()).fit(views)
    assert plain.correlations_[0] > 0.998
    assert_allclose(plain.correlations_[1:], centred_est.correlations_, atol=0.01)
    for name, variates in plain.view_embeddings_.items():
        assert variates[:, 0].std() < 0.03 * np.abs(variates[:, 0].mean())
        own = centred_est.view_embeddings_[name]
        assert_allclose(own.mean(axis=0), 0.0, atol=1e-10)
        for k in range(2):  # the pairs after it are about those of the centred problem
            assert abs(np.corrcoef(variates[:, k + 1], own[:, k])[0, 1]) > 0.98


@pytest.mark.parametrize("name", SEMIDEFINITE)
def test_uncentred_training_samples_map_to_themselves(name):
    views = curve(3)
    est = KernelCCA(2, kernel=SEMIDEFINITE[name], rank=M, center=False).fit(views)
    assert_allclose(est.transform(views), est.embedding_, atol=1e-8)
    singles = [est.transform([X[i : i + 1] for X in views]) for i in range(3)]
    assert_allclose(np.vstack(singles), est.embedding_[:3], atol=1e-8)


def test_without_centring_there_may_be_as_many_variates_as_samples():
    X = np.random.default_rng(0).standard_normal((3, 2))
    options = {"kernel": Gaussian(2.0), "rank": 3}
    assert KernelCCA(3, center=False, **options).fit([X, X + 1.0]).correlations_.size == 3
    with pytest.raises(ValueError, match=r"needs at least 4 samples.*pass at most n_components=2"):
        KernelCCA(3, **options).fit([X, X + 1.0])


@pytest.mark.parametrize("rank", [4, 15])
def test_low_rank_kernel_cca_is_the_dense_problem_of_the_factors(rank):
    views = curve(3)
    est = KernelCCA(2, kernel=Gaussian(factor=9.0), rank=rank).fit(views)
    products = []
    for name, X in zip(est.view_names_, views, strict=True):
        K = oracles.View(Gaussian(est.bandwidths_[name]), X).K
        pivots = np.arange(0)
        while pivots.size < rank:  # K[:, p] K[p, p]^-1 K[p], the pivots chosen greedily
            part = K[:, pivots] @ np.linalg.pinv(K[np.ix_(pivots, pivots)]) @ K[pivots]
            pivots = np.append(pivots, np.argmax(np.diag(K - part)))
        part = K[:, pivots] @ np.linalg.inv(K[np.ix_(pivots, pivots)]) @ K[pivots]
        products.append(part)
    correlations, variates, _ = dense_cca(products, 0.01, 2)
    assert_allclose(est.correlations_, correlations, atol=1e-6)
    found, expected = np.vstack([*est.view_embeddings_.values()]), np.vstack(variates)
    assert_allclose(aligned(found, expected), expected, atol=1e-6)
    assert est.ranks_ == dict.fromkeys(est.view_names_, rank)


def test_linear_kernels_give_the_canonical_correlations_of_the_features():
    """By the singular values of Q_xᵀ Q_y; a constant added to a kernel is taken out by centring."""
    X, Y = curve()
    bases = [qr(A - A.mean(axis=0), mode="economic")[0] for A in (X, Y)]
    expected = np.linalg.svd(bases[0].T @ bases[1], compute_uv=False)
    kernels = [A @ A.T + 1.0 + np.abs(A @ A.T).max() for A in (X, Y)]
    est = KernelCCA(2, kernel="precomputed", regularization=1e-10, rank=5).fit(kernels)
    assert_allclose(est.correlations_, expected, atol=1e-6)


def test_equal_views_have_the_damped_eigenvalues_as_correlations():
    """Eq. (8) with K¹ = K² has ρ = (μ/(μ + γ))², μ the eigenvalues of the centred kernel."""
    X = curve()[0]
    est = KernelCCA(5, kernel=Gaussian(2.0), regularization=0.5, rank=M).fit([X, X])
    mu = np.linalg.eigvalsh(centred(oracles.View(Gaussian(2.0), X).K))[::-1][:5]
    assert_allclose(est.correlations_, (mu / (mu + 0.5)) ** 2, atol=1e-12)


@pytest.mark.parametrize("name", SEMIDEFINITE)
@pytest.mark.parametrize("rank", [6, M])
def test_kernel_cca_of_training_samples_is_that_of_the_fit(name, rank):
    views = curve(3)
    est = KernelCCA(2, kernel=SEMIDEFINITE[name], rank=rank).fit(views)
    assert_allclose(est.transform(views), est.embedding_, atol=1e-8)
    single = [est.transform([X[i : i + 1] for X in views]) for i in range(M)]
    assert_allclose(np.vstack(single), est.embedding_, atol=1e-8)


def test_variates_of_new_samples_are_the_centred_kernel_times_the_vectors():
    X, new = curve(2), curve(2, n_samples=9, seed=1)
    kernel = SEMIDEFINITE["max-min"]
    est = KernelCCA(3, kernel=kernel, rank=M).fit(X)
    blocks = []
    for name, A, B in zip(est.view_names_, X, new, strict=True):
        held = oracles.View(kernel, A)
        rows = held.rows(B)
        rows = rows - rows.mean(axis=1, keepdims=True) - held.K.mean(axis=0) + held.K.mean()
        blocks.append(rows @ est.canonical_vectors_[name])
    assert_allclose(est.transform(new), np.hstack(blocks), atol=1e-7)


@pytest.mark.parametrize("n_views", [2, 3])
def test_view_that_is_not_given_is_predicted_by_kernel_ridge_regression(n_views):
    X, new = curve(n_views), curve(n_views, n_samples=9, seed=1)
    kernel = SEMIDEFINITE["max-min"]
    est = KernelCCA(3, kernel=kernel, regularization=0.1, rank=M).fit(X)
    predicted = []
    for A, B in zip(X[:-1], new[:-1], strict=True):
        held = oracles.View(kernel, A)
        rows = held.rows(B)
        rows = rows - rows.mean(axis=1, keepdims=True) - held.K.mean(axis=0) + held.K.mean()
        ridge = KernelRidge(alpha=0.1, kernel="precomputed")
        ridge.fit(centred(held.K), [*est.view_embeddings_.values()][-1])
        predicted.append(ridge.predict(rows))
    found = est.transform([*new[:-1], None])
    assert_allclose(found[:, -3:], np.mean(predicted, axis=0), atol=1e-7)
    assert_allclose(found[:, :-3], est.transform(new)[:, :-3], atol=1e-12)


def test_prediction_of_the_other_view_shrinks_by_the_correlation():
    """With two views N¹K²v_2 = ρ(K¹ + γI)v_1: the eigenvector equation itself."""
    X, Y = curve()
    est = KernelCCA(3, regularization=0.1, rank=M).fit([X, Y])
    expected = est.correlations_ * (
        est.view_embeddings_["view1"] + 0.1 * est.canonical_vectors_["view1"]
    )
    assert_allclose(est.transform([X, None])[:, 3:], expected, atol=1e-9)


def test_variates_are_centred_uncorrelated_and_of_regularised_unit_variance():
    est = fitted(KernelCCA, n_components=4, rank=M, regularization=0.05)
    for name, Z in est.view_embeddings_.items():
        assert_allclose(Z.mean(axis=0), 0.0, atol=1e-10)
        w = Z + 0.05 * est.canonical_vectors_[name]
        assert_allclose(w.T @ w / M, np.eye(4), atol=1e-9)
    first, second = est.view_embeddings_.values()
    assert_allclose(first.T @ second / M, np.diag(est.correlations_), atol=1e-9)


def test_correlations_fall_and_lie_between_0_and_1():
    for n_views in (2, 3, 4):
        found = fitted(KernelCCA, n_views, n_components=10).correlations_
        assert (np.diff(found) <= 0).all()
        assert 0 < found[-1] <= found[0] < 1


def test_order_of_samples_changes_only_the_order_of_full_rank_variates():
    X, Y = curve()
    order = np.random.default_rng(1).permutation(M)
    est = fitted(KernelCCA, n_components=3, rank=M)
    found = clone(est).fit_transform([X[order], Y[order]])
    assert_allclose(aligned(found, est.embedding_[order]), est.embedding_[order], atol=1e-8)


def test_order_of_views_changes_only_the_order_of_blocks():
    X, Y = curve()
    first = KernelCCA(2, rank=20).fit({"a": X, "b": Y})
    second = KernelCCA(2, rank=20).fit({"b": Y, "a": X})
    assert_allclose(second.correlations_, first.correlations_, atol=1e-12)
    for name in "ab":
        found, expected = second.view_embeddings_[name], first.view_embeddings_[name]
        assert_allclose(aligned(found, expected), expected, atol=1e-8)


def test_tolerance_ends_the_factors_before_the_rank():
    est = KernelCCA(2, kernel=WIDE, rank=None, tol=1e-2).fit(curve())
    exact = KernelCCA(2, kernel=WIDE, rank=M).fit(curve())
    assert max(est.ranks_.values()) < 40
    assert 0 < max(est.left_out_.values()) < 1e-2
    assert_allclose(est.correlations_, exact.correlations_, atol=1e-2)


def test_kernel_cca_resolves_scales_of_all_views_together():
    views = curve()
    est = KernelCCA(2, kernel=Gaussian("joint"), rank=20).fit(views)
    named = dict(zip(est.view_names_, views, strict=True))
    expected = joint(named, rule=RULE_OF_KERNELS).scales
    assert_allclose([*est.bandwidths_.values()], [*expected.values()], rtol=1e-12)


def test_many_samples_need_no_kernel_matrix():
    views = curve(n_samples=30_000)
    kernels = [Gaussian(3.0), Gaussian(20.0)]
    est = KernelCCA(2, kernel=kernels, rank=20, max_memory="60MB").fit(views)
    assert est.correlations_[0] > 0.9
    assert_allclose(est.transform([X[-5:] for X in views]), est.embedding_[-5:], atol=1e-8)


def test_memory_beyond_the_budget_is_refused_before_it_is_taken():
    with pytest.raises(MemoryBudgetError, match=r"kernel factors of 60 samples in 2 views.*rank"):
        KernelCCA(2, rank=30, max_memory="10KB").fit(curve())


def test_sample_like_no_pivot_is_told_and_gets_finite_variates():
    X, Y = curve()
    est = fitted(KernelCCA)
    with pytest.warns(FarSampleWarning, match="1 of 2 samples") as told:
        found = est.transform([np.vstack([X[:1], X[:1] + 1e4]), Y[:2]])
    assert told[0].message.n_samples == 1
    assert np.isfinite(found).all()
    assert_allclose(found[:1], est.embedding_[:1], atol=1e-8)


def test_training_samples_like_no_pivot_are_told():
    X = curve()[0]
    X[7:9] += 1e4
    with pytest.warns(FarSampleWarning, match="2 of 60 samples.*larger rank"):
        KernelCCA(1, kernel=Gaussian(3.0), rank=1).fit([X, X + 1.0])


def test_row_that_a_kernel_is_not_defined_on_is_named_by_its_number():
    X = curve(3)
    est = KernelCCA(2, kernel=Correlation(factor=30.0), rank=20).fit([X[0], X[2]])
    new = [X[0].copy(), X[2]]
    new[0][41] = 7.0
    with pytest.raises(ValueError, match="row 41 of view 'view1' is constant"):
        est.transform(new)


@pytest.mark.parametrize("gamma", [0, -0.1, np.inf, np.nan, "small"])
def test_regularisation_must_be_positive(gamma):
    with pytest.raises(ValueError, match="'regularization' parameter of KernelCCA must be"):
        KernelCCA(regularization=gamma, rank=5).fit(curve())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rank": M + 1}, "rank=61 is more than n_samples = 60; pass rank=60 or less"),
        ({"n_components": 9, "rank": 8}, "n_components=9 is more than rank=8.*raise rank"),
        ({"rank": 0}, "'rank' parameter of KernelCCA must be"),
        ({"tol": -1.0}, "'tol' parameter of KernelCCA must be"),
        ({"kernel": "adaptive"}, "'view1' keeps 10 neighbours.*Gaussian"),
        ({"kernel": Gaussian("local")}, "'view1' has a scale per sample.*Gaussian"),
        ({"kernel": [Gaussian(), Gaussian(alpha=1.0)]}, "'view2' divides by densities"),
        ({"kernel": Gaussian(1e-9)}, "'view1' underflows to the identity"),
    ],
)
def test_what_kernel_cca_cannot_do_is_refused_with_what_to_do(options, message):
    with pytest.raises(ValueError, match=message):
        KernelCCA(**{"rank": 20} | options).fit(curve())


def test_kernel_cca_of_one_view_is_refused():
    with pytest.raises(ValueError, match=r"at least two views, got 1.*views=2"):
        KernelCCA(rank=5).fit(curve()[0])


def test_more_variates_than_correlations_are_refused():
    X = np.repeat(np.eye(3), 5, axis=0)
    with pytest.raises(ValueError, match=r"more than the 2 canonical correlations.*n_components=2"):
        KernelCCA(4, kernel=Gaussian(1.0), rank=10).fit([X, 2 * X])


def test_given_kernel_with_negative_values_is_refused_in_transform():
    held = [oracles.View(WIDE, A).K for A in curve()]
    est = KernelCCA(2, kernel=Precomputed(), rank=20).fit(held)
    assert_allclose(est.transform(held), est.embedding_, atol=1e-8)
    with pytest.raises(ValueError, match=r"row 3 of the precomputed kernel.*negative"):
        est.transform([np.where(np.arange(M)[:, None] == 3, -1.0, held[0]), held[1]])


def test_kernel_cca_without_regularisation_is_that_of_cca_zoo():
    # cca-zoo shrinks by (1 − c) K² + c K, which is another problem than Eq. (8) unless c = γ = 0.
    zoo = pytest.importorskip("cca_zoo.nonparametric")
    rng = np.random.default_rng(0)
    common = rng.standard_normal((80, 2))
    X = [
        np.hstack(
            [common + [0.2, 0.9] * rng.standard_normal((80, 2)), rng.standard_normal((80, 2))]
        )
        @ rng.standard_normal((4, 4))
        + 3.0
        for _ in range(2)
    ]
    linear = [LowRank(x, None, 0.0, np.zeros(80, dtype=bool)) for x in X]  # K = x xᵀ
    found = solve_canonical(linear, 1e-9, 2)
    centred = {l: x - x.mean(axis=0) for l, x in enumerate(X)}
    expected = zoo.KCCA(2, kernel="linear", shrinkage=0.0).fit(X).transform(X)
    assert found.correlations[0] - found.correlations[1] > 0.1
    for l in range(2):
        for k in range(2):
            pair = found.variates(l, centred)[:, k], expected[l][:, k]
            assert abs(np.corrcoef(*pair)[0, 1]) > 1 - 1e-10
