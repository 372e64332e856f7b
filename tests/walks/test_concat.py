"""The concatenation: one Gaussian of all views side by side, the paper's kernel product."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import viewhop as vh
from tests.support import cases, oracles
from viewhop.affinity import build_affinity
from viewhop.kernels import Correlation, Gaussian, Laplacian, Precomputed
from viewhop.walks import ConcatWalk, ProductWalk

pytestmark = [
    pytest.mark.usefixtures("small_tiles"),
    pytest.mark.filterwarnings("ignore::viewhop.errors.DisconnectedWarning"),
]

GAUSSIANS = cases.JOINED
#: Rules of the scale that depend on all views.
ALL_VIEWS = ("joint", "connected")


def affinities(kernels, arrays):
    generator = np.random.default_rng(0)
    return [
        build_affinity(f"view{l}", kernel, X, generator=generator)
        for l, (kernel, X) in enumerate(zip(kernels, arrays, strict=True), start=1)
    ]


def dense(walk):
    return walk @ np.eye(walk.n_nodes)


def fitted(X, kernel, **params):
    est = vh.MultiViewDiffusionMaps(3, kernel=kernel, fusion="concat", random_state=0, **params)
    return est.fit(X)


# --- the kernel, against brute force -------------------------------------------------------------


@pytest.mark.parametrize("n_views", [1, 2, 3])
@pytest.mark.parametrize("data", cases.DATA)
@pytest.mark.parametrize("holding", cases.HOLDINGS)
@pytest.mark.parametrize("name", GAUSSIANS)
def test_concat_walk_is_one_gaussian_of_all_views(name, holding, data, n_views):
    kernel = cases.kernel(name, holding)
    arrays = cases.views(data, n_views, kernel)
    held = affinities([kernel] * n_views, arrays)
    walk = ConcatWalk(held)
    known = oracles.SideBySide([kernel] * n_views, arrays, [K.scale for K in held])
    assert_allclose(dense(walk), known.K, rtol=1e-8, atol=1e-300)
    assert walk.pieces().max() + 1 == oracles.Chain(known.K).n_pieces()
    new = [X[:6] for X in cases.views(data, n_views, kernel, seed=11)]
    (rows,) = walk.against(dict(zip(walk.names, new, strict=True)))
    weights = rows.weights(np.zeros(6)) @ np.eye(cases.N)
    assert_allclose(weights, known.rows(new), rtol=1e-7, atol=1e-300)


@pytest.mark.parametrize("holding", cases.HOLDINGS)
def test_views_may_differ_in_metric_and_rule(holding):
    k = cases.HOLDINGS[holding]
    kernels = [
        Gaussian("max-min", n_neighbors=k, standardize=True),
        Gaussian(2.5, n_neighbors=k, metric="centered-cosine"),
        Gaussian("log-log", n_neighbors=k, metric="cosine"),
    ]
    arrays = cases.views("generic", 3, kernels[0])
    held = affinities(kernels, arrays)
    known = oracles.SideBySide(kernels, arrays, [K.scale for K in held])
    assert_allclose(dense(ConcatWalk(held)), known.K, rtol=1e-8, atol=1e-300)


@pytest.mark.parametrize("n_views", [1, 2, 3])
def test_spectrum_and_embedding_are_those_of_the_dense_chain(n_views):
    X = cases.views("generic", n_views, Gaussian())
    est = fitted(X, Gaussian(factor=0.4))
    K = oracles.SideBySide([Gaussian(factor=0.4)] * n_views, X).K
    P = K / K.sum(axis=1, keepdims=True)
    values = np.sort(np.linalg.eigvals(P).real)[::-1]
    assert_allclose(est.eigenvalues_, values[1:4], rtol=1e-8)
    assert_allclose(P @ est.embedding_, est.embedding_ * est.eigenvalues_, atol=1e-8)
    assert_allclose(est.spectrum_.stationary, K.sum(axis=1) / K.sum(), rtol=1e-8)


def test_rows_of_one_direction_coincide_in_cosine_views():
    rng = np.random.default_rng(0)
    X = [np.repeat(rng.uniform(1, 2, (8, d)), 4, axis=0) for d in (3, 5)]
    X = [x * rng.uniform(1, 9, (32, 1)) for x in X]
    est = fitted(X, Gaussian("local", metric="cosine", n_neighbors=3))
    assert est.walk_.joined.affinity.scale.min() > 1e-3
    assert_allclose(est.transform(X), est.embedding_, atol=1e-8)


# --- one view, at the scale of all ---------------------------------------------------------------


@pytest.mark.parametrize("rule", ["max-min", "log-log", *ALL_VIEWS, 1.5])
@pytest.mark.parametrize("k", [None, 6])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_concat_is_the_diffusion_map_of_the_concatenation(dtype, k, rule):
    X = cases.views("generic", 3, Gaussian(), dtype)
    est = fitted(X, Gaussian(rule, factor=1.3, n_neighbors=k, alpha=0.5))
    sigma = np.sqrt(sum(scale**2 for scale in est.bandwidths_.values()))
    assert_allclose(est.walk_.joined.affinity.scale, sigma, rtol=1e-14)
    kernel = Gaussian(float(sigma), n_neighbors=k, alpha=0.5)
    one = vh.DiffusionMaps(3, kernel=kernel, random_state=0).fit(np.hstack(X))
    tolerance = 1e-9 if dtype == np.float64 else 1e-4
    assert est.embedding_.dtype == dtype
    assert_allclose(est.eigenvalues_, one.eigenvalues_, rtol=tolerance)
    assert_allclose(est.embedding_, one.embedding_, atol=tolerance)
    new = [x[:5] for x in cases.views("generic", 3, Gaussian(), dtype, seed=3)]
    assert_allclose(est.transform(new), one.transform(np.hstack(new)), atol=tolerance)


@pytest.mark.parametrize("k", [None, 6])
def test_local_scales_are_those_of_the_views_brought_to_one_spread(k):
    X = cases.views("generic", 3, Gaussian())
    X[1] *= 1e4
    kernel = Gaussian("local", factor=1.7, n_neighbors=k, alpha=1.0)
    est = fitted(X, kernel)
    spreads = [np.sqrt(np.square(x - x.mean(axis=0)).sum(axis=1).mean()) for x in X]
    joined = np.hstack([x / spread for x, spread in zip(X, spreads, strict=True)])
    one = vh.DiffusionMaps(3, kernel=kernel, random_state=0).fit(joined)
    assert_allclose(est.embedding_, one.embedding_, atol=1e-9)


@pytest.mark.parametrize("n_views", [1, 2, 3])
def test_with_one_scale_the_hadamard_product_is_the_gaussian_of_the_concatenation(n_views):
    # Eq. (6): exp(-Σ d_l² / 2σ²) has the scale of each view, concat that of all of them together.
    sigma = 1.5
    X = cases.views("generic", n_views, Gaussian())
    product = ProductWalk(affinities([Gaussian(sigma)] * n_views, X))
    narrow = [Gaussian(sigma / np.sqrt(n_views))] * n_views
    assert_allclose(dense(product), dense(ConcatWalk(affinities(narrow, X))), rtol=1e-9)
    wide = ConcatWalk(affinities([Gaussian(sigma)] * n_views, X))
    assert_allclose(dense(product), dense(wide) ** n_views, rtol=1e-8)


def test_rescaled_views_have_one_scale_and_the_same_product():
    X = cases.views("generic", 3, Gaussian())
    scales = [vh.bandwidth.max_min(x) for x in X]
    rescaled = [x / scale for x, scale in zip(X, scales, strict=True)]
    product = ProductWalk(affinities([Gaussian()] * 3, X))
    concat = ConcatWalk(affinities([Gaussian(factor=1 / 3)] * 3, rescaled))
    assert_allclose(dense(product), dense(concat), rtol=1e-8)


# --- new samples ---------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("holding", cases.HOLDINGS)
@pytest.mark.parametrize("name", GAUSSIANS)
def test_a_batch_is_its_rows_one_by_one(name, holding, dtype):
    kernel = cases.kernel(name, holding)
    est = fitted(cases.views("generic", 3, kernel, dtype), kernel)
    new = [X[:5] for X in cases.views("generic", 3, kernel, dtype, seed=8)]
    batch = est.transform(new)
    rows = np.vstack([est.transform([X[i : i + 1] for X in new]) for i in range(5)])
    assert_allclose(rows, batch, atol=1e-8 if dtype == np.float64 else 1e-4)


@pytest.mark.parametrize("kernel", [Gaussian(n_neighbors=5), Gaussian("local", n_neighbors=5)])
def test_training_rows_in_single_precision_keep_their_neighbours(kernel):
    # A grid of tenths: all distances are tied, and rounding to single precision breaks the ties.
    grid = 0.1 * np.stack(np.meshgrid(np.arange(7), np.arange(7)), axis=-1).reshape(-1, 2)
    X = [100 + grid, 3.3 * grid[:, ::-1]]
    est = fitted(X, kernel)
    found = est.transform([x.astype(np.float32) for x in X])
    assert_allclose(found, est.embedding_, atol=1e-4)


def test_approximate_search_is_seeded_and_places_its_training_samples():
    pytest.importorskip("faiss")
    rng = np.random.default_rng(0)
    X = [rng.standard_normal((300, d)) for d in (3, 4)]
    kernel = Gaussian("local", n_neighbors=8, search="faiss")
    one, two = fitted(X, kernel), fitted(X, kernel)
    assert one.walk_.joined.affinity.index is not None
    assert_array_equal(one.embedding_, two.embedding_)
    assert_allclose(one.transform(X), one.embedding_, atol=1e-8)


# --- refusals ------------------------------------------------------------------------------------

ARRAYS = cases.views("generic", 2, Gaussian())


@pytest.mark.parametrize("k", [None, 4])
@pytest.mark.parametrize(
    ("kernel", "name"),
    [(Laplacian(), "Laplacian"), (Correlation(), "Correlation"), (Precomputed(), "Precomputed")],
)
def test_other_kernels_are_refused_with_what_to_do(kernel, name, k):
    X = ARRAYS if name != "Precomputed" else cases.views("generic", 2, Precomputed())
    kernel.set_params(n_neighbors=k)
    message = rf'fusion="concat" needs the kernel Gaussian .* not {name}: .* use fusion="product"'
    with pytest.raises(ValueError, match=message):
        fitted(X, kernel)
    with pytest.raises(ValueError, match=message):
        fitted(X, [Gaussian(n_neighbors=k), kernel])
    with pytest.raises(ValueError, match=message):
        ConcatWalk(affinities([kernel] * 2, X))


@pytest.mark.parametrize(
    "other",
    [
        {"n_neighbors": 5},
        {"n_neighbors": None},
        {"alpha": 1.0},
        {"factor": 2.0},
        {"taper": 0.2},
        {"search": "exact"},
        {"scale_neighbors": 3},
        {"bandwidth": "local"},
    ],
    ids=str,
)
def test_unequal_kernels_are_refused_with_what_to_do(other):
    kernels = [Gaussian(n_neighbors=4), Gaussian(n_neighbors=4).set_params(**other)]
    with pytest.raises(ValueError, match=r'"concat" .* must be equal .* pass one kernel for all'):
        fitted(ARRAYS, kernels)


def test_unequal_kernels_are_refused_before_anything_is_computed(monkeypatch):
    def build(*args, **kwargs):
        raise AssertionError

    monkeypatch.setattr("viewhop.geometry._stages.build_affinities", build)
    with pytest.raises(ValueError, match="must be equal"):
        fitted(ARRAYS, [Gaussian(), Gaussian(alpha=1.0)])


@pytest.mark.parametrize("kernel", [Gaussian(), Gaussian("local", n_neighbors=5)])
def test_every_view_of_every_sample_is_needed(kernel):
    gaps = [X.copy() for X in ARRAYS]
    gaps[1][3] = np.nan
    with pytest.raises(ValueError, match=r'"concat" needs every view of every sample.*use fusion='):
        fitted(gaps, kernel)
    est = fitted(ARRAYS, kernel)
    with pytest.raises(ValueError, match=r'"concat" needs every view of every new sample'):
        est.transform(gaps)
    with pytest.raises(ValueError, match=r'"concat" needs every view of a new sample; .*: view2'):
        est.transform([ARRAYS[0], None])


@pytest.mark.parametrize("n_neighbors", [None, 5])
def test_manhattan_distances_are_refused(n_neighbors):
    X = np.random.default_rng(0).standard_normal((20, 3))
    kernels = [
        Gaussian(n_neighbors=n_neighbors),
        Gaussian(n_neighbors=n_neighbors, metric="manhattan"),
    ]
    with pytest.raises(ValueError, match=r'no view can have metric="manhattan"'):
        vh.MultiViewDiffusionMaps(1, kernel=kernels, fusion="concat").fit([X, X**3])
