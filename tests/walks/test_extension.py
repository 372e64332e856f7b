"""Extension: training samples map to themselves, and any subset of the views places a sample."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import viewhop as vh
from tests.support import cases, oracles
from viewhop.errors import FarSampleWarning, UnreachedViewWarning
from viewhop.kernels import Gaussian, Precomputed

pytestmark = [
    pytest.mark.usefixtures("small_tiles"),
    pytest.mark.filterwarnings("ignore::viewhop.errors.DisconnectedWarning"),
]

TOLERANCE = {np.float64: 1e-8, np.float32: 1e-4}


def new_rows(data, kernel, n_views):
    if isinstance(kernel, Precomputed):
        rng = np.random.default_rng(4)
        return [rng.uniform(0, 1, (6, cases.N)) for _ in range(n_views)]
    return [X[:6] for X in cases.views(data, n_views, kernel, seed=11)]


SETTINGS = [
    (fusion, name, holding)
    for fusion in ("hop", "sum", "product", "concat")
    for name in cases.KERNELS
    for holding in cases.HOLDINGS
    # A sparse product joins views side by side, and so does a concatenation.
    if name in cases.JOINED or (fusion != "concat" and (fusion, holding) != ("product", "sparse"))
]


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("data", cases.DATA)
@pytest.mark.parametrize(("fusion", "name", "holding"), SETTINGS)
def test_transform_of_the_training_samples_is_their_embedding(fusion, name, holding, data, dtype):
    kernel = cases.kernel(name, holding)
    X = cases.views(data, 3, kernel, dtype)
    est = vh.MultiViewDiffusionMaps(3, kernel=kernel, fusion=fusion, random_state=0).fit(X)
    assert est.embedding_.dtype == dtype
    again = est.transform(X)
    assert again.dtype == dtype
    size = np.abs(est.embedding_).max()
    assert_allclose(again, est.embedding_, atol=TOLERANCE[dtype] * size, rtol=0)


@pytest.mark.parametrize("data", cases.DATA)
@pytest.mark.parametrize("holding", cases.HOLDINGS)
@pytest.mark.parametrize("name", cases.KERNELS)
def test_one_by_one_equals_the_batch(name, holding, data):
    kernel = cases.kernel(name, holding)
    est = vh.MultiViewDiffusionMaps(3, kernel=kernel, random_state=0)
    est.fit(cases.views(data, 2, kernel))
    new = new_rows(data, kernel, 2)
    batch = est.transform(new)
    alone = np.vstack([est.transform([X[k : k + 1] for X in new]) for k in range(6)])
    assert_allclose(alone, batch, rtol=0, atol=1e-10)


def oracle_step(views, H, chain, r, new):
    """P̂ψ at new samples, {view: rows}, by the formulas with dense matrices."""
    n = len(views[0].K)
    psi = chain.psi[:, :r].reshape(len(views), n, r)
    B = [v.K @ p for v, p in zip(views, psi, strict=True)]
    b = [v.K.sum(axis=1) for v in views]
    rows = {l: views[l].rows(X) for l, X in new.items()}
    blocks = []
    for m in range(len(views)):
        if m in rows:
            G = sum(H[m, k] * B[k] for k in range(len(views)))
            g = sum(H[m, k] * b[k] for k in range(len(views)))
            blocks.append(rows[m] @ G / (rows[m] @ g)[:, None])
        else:
            top = sum(H[l, m] * rows[l] @ B[m] for l in rows)
            blocks.append(top / sum(H[l, m] * rows[l] @ b[m] for l in rows)[:, None])
    return blocks


@pytest.mark.parametrize("given", [(0,), (1,), (2,), (0, 2), (1, 2), (0, 1, 2)])
@pytest.mark.parametrize("holding", cases.HOLDINGS)
@pytest.mark.parametrize("name", cases.KERNELS)
@pytest.mark.parametrize("eta", [0.0, 0.3])
def test_any_subset_of_the_views_places_a_new_sample(eta, name, holding, given):
    kernel = cases.kernel(name, holding)
    X = cases.views("generic", 3, kernel)
    est = vh.MultiViewDiffusionMaps(3, kernel=kernel, within_view_weight=eta, n_steps=2)
    est.fit(X)
    views = [oracles.View(kernel, x, s) for x, s in zip(X, est.bandwidths_.values(), strict=True)]
    H = oracles.hop_matrix(3, eta)
    chain = oracles.Chain(oracles.hop_kernel([v.K for v in views], H))
    assert np.diff(chain.eigenvalues[:4]).max() < -1e-5, "eigenvectors must be unique here"
    new = new_rows("generic", kernel, 3)
    found = est.transform([new[l] if l in given else None for l in range(3)])
    blocks = oracle_step(views, H, chain, 3, {l: new[l] for l in given})
    expected = np.hstack([block * chain.eigenvalues[:3] for block in blocks])
    signs = np.sign((est.spectrum_.eigenvectors * chain.psi[:, :3]).sum(axis=0))
    assert_allclose(found, expected * np.tile(signs, 3), rtol=1e-6, atol=1e-7)


def test_training_points_map_to_themselves_and_not_as_printed():
    # Erratum 1: dividing by the destination's degree is off by tens of percent.
    X = cases.views("generic", 2, Gaussian())
    est = vh.MultiViewDiffusionMaps.paper_settings(2).fit(X)
    K = [oracles.View(Gaussian(), x).K for x in X]
    chain = oracles.Chain(oracles.hop_kernel(K, oracles.hop_matrix(2, 0)))
    psi_y = est.spectrum_.eigenvectors[cases.N :]
    product = K[0] @ K[1]
    ours = product @ psi_y / product.sum(axis=1)[:, None]
    printed = (product / chain.D[cases.N :]) @ psi_y
    assert_allclose(ours, est.view_embeddings_["view1"], atol=1e-13)
    worst = np.abs(printed - est.view_embeddings_["view1"]).max()
    assert worst > 0.05 * np.abs(est.view_embeddings_["view1"]).max()


def test_a_dict_or_views_object_may_leave_views_out():
    X = cases.views("generic", 2, Gaussian())
    est = vh.MultiViewDiffusionMaps(2).fit({"a": X[0], "b": X[1]})
    by_list = est.transform([None, X[1][:4]])
    assert_array_equal(est.transform({"b": X[1][:4]}), by_list)
    assert_array_equal(est.transform(vh.Views({"b": X[1][:4]})), by_list)
    assert np.isfinite(by_list).all()


@pytest.mark.parametrize(
    "kernel", [Gaussian(), Gaussian("local", n_neighbors=5), Gaussian(alpha=1.0)]
)
@pytest.mark.parametrize(
    ("fusion", "output"),
    [("hop", "concat"), ("hop", "consensus"), ("sum", "auto"), ("product", "auto")],
)
def test_a_far_sample_gets_its_nearest_samples_coordinates(kernel, fusion, output):
    rng = np.random.default_rng(0)
    X = [rng.standard_normal((40, 3)), rng.standard_normal((40, 2))]
    est = vh.MultiViewDiffusionMaps(2, kernel=kernel, fusion=fusion, output=output).fit(X)
    far = [np.full((1, 3), 1e6), np.full((1, 2), -1e7)]
    near = [x[:1] for x in X]
    with pytest.warns(FarSampleWarning, match="1 of 2 samples") as caught:
        found = est.transform([np.vstack(pair) for pair in zip(far, near, strict=True)])
    assert caught[0].message.n_samples == 1
    assert np.isfinite(found).all()
    assert_allclose(found[1], est.embedding_[0], atol=1e-8)
    # One step of the walk averages eigenvectors, so it stays among their values.
    psi = est.spectrum_.eigenvectors
    for coordinates in np.split(found[0], found.shape[1] // 2):
        assert (coordinates >= psi.min(axis=0) - 1e-9).all()
        assert (coordinates <= psi.max(axis=0) + 1e-9).all()


def test_a_very_far_sample_steps_from_its_nearest_one_alone():
    X = cases.views("generic", 2, Gaussian())
    est = vh.MultiViewDiffusionMaps.paper_settings(2).fit(X)
    far = X[0].mean(axis=0) + 1e5 * (X[0][7] - X[0].mean(axis=0))
    nearest = np.argmin(np.linalg.norm(X[0] - far, axis=1))
    K2 = oracles.View(Gaussian(), X[1]).K
    psi2 = est.spectrum_.eigenvectors[cases.N :]
    with pytest.warns(FarSampleWarning):
        found = est.transform([far[None], None])
    expected = K2[nearest] @ psi2 / K2[nearest].sum()
    assert_allclose(found[0, :2], expected, rtol=1e-9)


def test_a_view_that_no_given_one_hops_to_gets_the_mean_and_a_warning():
    X = cases.views("generic", 3, Gaussian())
    chain = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    est = vh.MultiViewDiffusionMaps(2, kernel="gaussian", hops=chain).fit(X)
    with pytest.warns(UnreachedViewWarning, match="no way from the given views to view 'view3'"):
        found = est.transform([X[0][:4], None, None])
    assert_allclose(found[:, 4:], found[:, :2], rtol=1e-12)


def test_a_precomputed_row_without_mass_counts_as_not_given():
    kernel = Precomputed()
    K = cases.views("generic", 2, kernel)
    est = vh.MultiViewDiffusionMaps(2, kernel=kernel).fit(K)
    new = [k[:3].copy() for k in K]
    new[0][1] = 0
    found = est.transform(new)
    assert_allclose(found[1], est.transform([None, new[1][1:2]])[0], rtol=1e-10)
    assert_allclose(found[[0, 2]], est.embedding_[[0, 2]], rtol=1e-10)
    new[1][1] = 0
    with pytest.raises(ValueError, match="row 1 has no positive kernel value"):
        est.transform(new)


@pytest.mark.parametrize("fusion", ["product", "concat"])
def test_a_product_needs_every_view(fusion):
    X = cases.views("generic", 2, Gaussian())
    est = vh.MultiViewDiffusionMaps(2, fusion=fusion).fit(X)
    with pytest.raises(ValueError, match=f'"{fusion}" needs every view .* missing: view2'):
        est.transform([X[0], None])


def test_a_sum_adds_the_views_it_is_given():
    X = cases.views("generic", 2, Gaussian())
    est = vh.MultiViewDiffusionMaps(2, fusion="sum", kernel="gaussian").fit(X)
    rows = oracles.View(Gaussian(), X[1]).rows(X[1][:5])
    expected = rows @ est.spectrum_.eigenvectors / rows.sum(axis=1)[:, None]
    assert_allclose(est.transform([None, X[1][:5]]), expected, atol=1e-10)


def test_batches_of_a_long_transform_join(monkeypatch):
    from viewhop._runtime import threads as blocks

    X = cases.views("generic", 2, Gaussian())
    est = vh.MultiViewDiffusionMaps(2).fit(X)
    whole = est.transform(X)
    monkeypatch.setattr(blocks, "BLOCK", 5 * cases.N)
    assert_allclose(est.transform(X), whole, rtol=1e-12)


@pytest.mark.parametrize("kernel", [Gaussian(), Gaussian(n_neighbors=8), Gaussian("local")])
def test_a_sample_at_any_distance_is_placed(kernel):
    # Its distance over the scale has a square that overflows.
    X = [x * 1e-60 for x in cases.views("generic", 2, kernel)]
    est = vh.MultiViewDiffusionMaps(2, kernel=kernel).fit(X)
    with pytest.warns(FarSampleWarning, match="1 of 1 samples"):
        found = est.transform([np.full((1, 3), 1e100), None])
    assert np.isfinite(found).all()


def test_a_warning_of_a_transform_names_the_line_that_called_it():
    X = cases.views("generic", 2, Gaussian())
    est = vh.MultiViewDiffusionMaps(2, kernel="gaussian").fit(X)
    with pytest.warns(FarSampleWarning) as caught:
        est.transform([np.full((1, 3), 1e6), None])
    assert caught[0].filename == __file__
