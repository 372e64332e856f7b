"""Estimators: the whole way from views to coordinates, and what must not change it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import viewhop as vh
from tests.support import cases, oracles
from viewhop import affinity
from viewhop.errors import ConvergenceError, DisconnectedWarning, RecallWarning
from viewhop.kernels import Correlation, Gaussian, Laplacian, Precomputed

TOLERANCE = {np.float64: 1e-8, np.float32: 1e-4}
quiet = pytest.mark.filterwarnings("ignore::viewhop.errors.DisconnectedWarning")

#: The paper's walk, with the coordinates of two views, and the default.
WALKS = {"paper": {"within_view_weight": 0.0}, "default": {}}
#: The default kernel, but for its metric.
FIXED_ADAPTIVE = Gaussian("local", n_neighbors=10, alpha=1.0, scale_neighbors=10, taper=0.2)


def assert_same_columns(one, other):
    """Both have the same three columns per block, up to a sign that the blocks share."""
    signs = np.sign((one * other).sum(axis=0)[:3])
    assert_allclose(other * np.tile(signs, one.shape[1] // 3), one, atol=1e-6)


def oracle(est, kernel, X, eta=0.0):
    views = [oracles.View(kernel, x, s) for x, s in zip(X, est.bandwidths_.values(), strict=True)]
    H = oracles.hop_matrix(len(X), eta)
    return oracles.Chain(oracles.hop_kernel([v.K for v in views], H))


@quiet
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("data", cases.DATA)
@pytest.mark.parametrize("holding", cases.HOLDINGS)
@pytest.mark.parametrize("name", cases.KERNELS)
@pytest.mark.parametrize("eta", cases.ETAS)
@pytest.mark.parametrize("n_views", [1, 2, 3, 4])
def test_the_fit_equals_the_brute_force(n_views, eta, name, holding, data, dtype):
    kernel = cases.kernel(name, holding)
    X = cases.views(data, n_views, kernel, dtype)
    est = vh.MultiViewDiffusionMaps(4, kernel=kernel, within_view_weight=eta, random_state=0).fit(X)
    chain = oracle(est, kernel, X, eta)
    atol = TOLERANCE[dtype]
    assert_allclose(est.eigenvalues_, chain.eigenvalues[:4], atol=atol, rtol=0)
    assert est.n_pieces_ == chain.n_pieces()
    degrees = np.concatenate([*est.degrees_.values()])
    assert_allclose(degrees, chain.D, rtol=max(atol, 1e-8))
    # The coordinates are λψ: eigenvectors of the dense walk, of unit weighted length.
    Z = np.vstack([*est.view_embeddings_.values()]).astype(np.float64)
    assert_allclose(chain.P @ Z, Z * est.eigenvalues_, atol=10 * atol * np.abs(Z).max())
    gram = Z.T @ (chain.pi[:, None] * Z)
    assert_allclose(gram, np.diag(chain.eigenvalues[:4] ** 2), atol=10 * atol)
    unit = Z / est.eigenvalues_ * np.sqrt(chain.pi)[:, None]
    gap = 1e-6 if dtype == np.float64 else 0.02
    if est.eigenvalues_[-1] > gap:
        oracles.assert_same_space(unit, chain.unit, chain.eigenvalues, 4, atol=200 * atol, gap=gap)


@quiet
@pytest.mark.parametrize("data", cases.DATA)
@pytest.mark.parametrize("holding", cases.HOLDINGS)
@pytest.mark.parametrize(
    "walk",
    [{"within_view_weight": 0.0}, {"output": "concat"}, {"fusion": "sum"}, {"fusion": "product"}],
    ids=["hop", "weighted", "sum", "product"],
)
def test_a_permutation_of_samples_permutes_the_embedding(walk, holding, data):
    kernel = Gaussian(n_neighbors=cases.HOLDINGS[holding])
    X = cases.views(data, 3, kernel)
    order = np.random.default_rng(1).permutation(cases.N)
    fit = lambda arrays: vh.MultiViewDiffusionMaps(4, kernel=kernel, **walk).fit(arrays)  # noqa: E731
    one, other = fit(X), fit([x[order] for x in X])
    assert_allclose(other.eigenvalues_, one.eigenvalues_, atol=1e-10)
    # Repeated eigenvalues leave a rotation free: compare by Gram matrices of whole groups.
    Z, W = (
        np.vstack(np.split(z, one.walk_.n_blocks, axis=1))
        for z in (one.embedding_[order], other.embedding_)
    )
    values = oracles.Chain(one.walk_ @ np.eye(one.walk_.n_nodes)).eigenvalues
    compared = oracles.assert_same_space(W, Z, values, 4, atol=1e-8)
    assert compared >= 1


@pytest.mark.parametrize("holding", cases.HOLDINGS)
def test_a_permutation_of_views_permutes_the_blocks(holding):
    kernel = Gaussian(n_neighbors=cases.HOLDINGS[holding])
    X = dict(zip("abc", cases.views("generic", 3, kernel), strict=True))
    one = vh.MultiViewDiffusionMaps(3, kernel=kernel).fit(X)
    other = vh.MultiViewDiffusionMaps(3, kernel=kernel).fit({k: X[k] for k in "cab"})
    assert other.view_names_ == ("c", "a", "b")
    for name in "abc":
        Z, W = one.view_embeddings_[name], other.view_embeddings_[name]
        signs = np.sign((Z * W).sum(axis=0))
        assert_allclose(W * signs, Z, atol=1e-8)


@pytest.mark.parametrize(
    "kernel",
    [
        Gaussian(),
        Gaussian("local", n_neighbors=5),
        Laplacian(),
        Gaussian("log-log"),
        FIXED_ADAPTIVE,
    ],
)
@pytest.mark.parametrize("walk", WALKS.values(), ids=WALKS)
def test_a_rotation_and_a_shift_of_a_view_change_nothing(kernel, walk):
    rng = np.random.default_rng(0)
    X = cases.views("generic", 2, kernel)
    R = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    est = vh.MultiViewDiffusionMaps(3, kernel=kernel, **walk)
    one, other = est.fit_transform(X), est.fit_transform([X[0] @ R + 100.0, X[1]])
    assert_same_columns(one, other)


@pytest.mark.parametrize("factor", [1e-100, 1e-3, 1e100])
@pytest.mark.parametrize("walk", WALKS.values(), ids=WALKS)
def test_the_unit_of_a_view_changes_nothing(factor, walk):
    X = cases.views("generic", 2, Gaussian())
    for kernel in ("gaussian", "adaptive"):
        est = vh.MultiViewDiffusionMaps(3, kernel=kernel, **walk)
        one, metrics = est.fit_transform(X), est.metrics_
        other = est.fit_transform([X[0] * factor, X[1]])
        assert est.metrics_ == metrics
        assert_same_columns(one, other)


@pytest.mark.parametrize("eta", [0.0, 0.3, 0.5])
@pytest.mark.parametrize("n_views", [1, 2, 4])
def test_identical_views_give_the_walk_of_the_squared_kernel(n_views, eta):
    (X,) = cases.views("generic", 1, Gaussian())
    est = vh.MultiViewDiffusionMaps(5, kernel="gaussian", within_view_weight=eta)
    est.fit([X] * n_views)
    K = oracles.View(Gaussian(), X).K
    expected = oracles.Chain(K @ K)
    assert_allclose(est.eigenvalues_, expected.eigenvalues[:5], atol=1e-10)
    for Z in est.view_embeddings_.values():
        assert_allclose(Z, est.view_embeddings_["view1"], atol=1e-9)


def test_one_view_of_the_sum_is_the_ordinary_diffusion_map():
    (X,) = cases.views("generic", 1, Gaussian())
    est = vh.DiffusionMaps(4, kernel="gaussian").fit(X)
    chain = oracles.Chain(oracles.View(Gaussian(), X).K)
    assert_allclose(est.eigenvalues_, chain.eigenvalues[:4], atol=1e-12)
    summed = vh.MultiViewDiffusionMaps(4, kernel="gaussian", fusion="sum").fit([X])
    assert_array_equal(summed.embedding_, est.embedding_)
    assert [*est.get_feature_names_out()] == [f"view1_{k}" for k in range(1, 5)]


@pytest.mark.parametrize("t", [0, 0.5, 1, 3, 7.25])
@pytest.mark.parametrize("output", ["concat", "mean"])
@pytest.mark.parametrize("fusion", ["hop", "sum"])
def test_another_time_without_a_refit_equals_a_refit(fusion, output, t):
    X = cases.views("generic", 2, Gaussian())
    make = lambda n_steps: vh.MultiViewDiffusionMaps(  # noqa: E731
        3, kernel="gaussian", n_steps=n_steps, output=output, fusion=fusion
    ).fit(X)
    est = make(1)
    refit = make(t)
    assert_allclose(est.coordinates(n_steps=t), refit.embedding_, rtol=1e-10, atol=1e-12)
    psi = est.spectrum_.eigenvectors[: cases.N]
    assert_allclose(refit.view_embeddings_["view1"], psi * est.eigenvalues_ ** float(t), atol=1e-9)
    assert_allclose(refit.transform(X), refit.embedding_, atol=1e-8)


def test_the_mean_output_is_the_mean_of_scaled_views():
    X = cases.views("generic", 3, Gaussian())
    est = vh.MultiViewDiffusionMaps(2, kernel="gaussian", output="mean", n_steps=2).fit(X)
    psi = np.split(est.spectrum_.eigenvectors, 3)
    scaled = [(p - p.mean(axis=0)) / p.std(axis=0) * est.eigenvalues_**2 for p in psi]
    assert_allclose(est.embedding_, np.mean(scaled, axis=0), atol=1e-9)
    assert [*est.get_feature_names_out()] == ["mean_1", "mean_2"]
    alone = est.transform([None, X[1], None])
    assert_allclose(alone, scaled[1], atol=1e-8)


def test_called_twice_gives_the_same_bits_and_leaves_inputs_alone():
    X = cases.views("tied", 3, Gaussian())
    before = [x.copy() for x in X]
    for kernel in ("adaptive", "gaussian"):
        est = vh.MultiViewDiffusionMaps(3, kernel=kernel, random_state=5)
        first = est.fit_transform(X)
        assert_array_equal(est.fit_transform(X), first)
        assert_array_equal(est.transform(X), est.transform(X))
        assert_array_equal(est.coordinates(2), est.coordinates(2))
    for x, kept in zip(X, before, strict=True):
        assert_array_equal(x, kept)


@pytest.mark.parametrize("solver", ["lanczos", "krylov"])
def test_the_same_seed_gives_the_same_bits_from_iterative_solvers(solver):
    X = [np.random.default_rng(k).standard_normal((300, 3)) for k in range(2)]
    fits = [
        vh.MultiViewDiffusionMaps(3, solver=solver, random_state=7).fit_transform(X)
        for _ in range(2)
    ]
    assert_array_equal(*fits)
    other = vh.MultiViewDiffusionMaps(3, solver=solver, random_state=8).fit_transform(X)
    assert_allclose(other, fits[0], atol=1e-8)


@pytest.mark.parametrize("delta", [0.02, 0.2, None])
@pytest.mark.parametrize("t", [1, 3])
def test_auto_keeps_the_coordinates_that_the_accuracy_asks_for(delta, t):
    X = cases.views("generic", 2, Gaussian())
    est = vh.MultiViewDiffusionMaps.paper_settings("auto", accuracy=delta, n_steps=t).fit(X)
    values = oracle(est, Gaussian(), X).eigenvalues
    wanted = sum(1 for v in values if v > 0 and v**t > (delta or 0.1) * values[0] ** t)
    assert est.n_components_ == wanted == len(est.eigenvalues_)
    assert est.embedding_.shape == (cases.N, 2 * wanted)
    weighted = vh.MultiViewDiffusionMaps("auto", accuracy=delta, n_steps=t, kernel="gaussian")
    values = oracles.Chain((walk := weighted.fit(X).walk_) @ np.eye(walk.n_nodes)).eigenvalues
    wanted = sum(1 for v in values if v > 0 and v**t > (delta or 0.1) * values[0] ** t)
    assert weighted.embedding_.shape == (cases.N, wanted)


def test_auto_doubles_until_it_has_enough():
    X = np.random.default_rng(0).standard_normal((120, 6))
    est = vh.DiffusionMaps("auto", accuracy=0.01, kernel=Gaussian(factor=0.3)).fit(X)
    chain = oracles.Chain(oracles.View(Gaussian(factor=0.3), X).K)
    wanted = int((chain.eigenvalues > 0.01 * chain.eigenvalues[0]).sum())
    assert est.n_components_ == wanted > 32


def test_a_weighted_hop_matrix_equals_the_brute_force():
    X = cases.views("generic", 3, Gaussian())
    H = np.array([[0.2, 1.0, 0.0], [1.0, 0.0, 3.0], [0.0, 3.0, 0.5]])
    est = vh.MultiViewDiffusionMaps(3, kernel="gaussian", hops=H).fit(X)
    chain = oracles.Chain(oracles.hop_kernel([oracles.View(Gaussian(), x).K for x in X], H))
    assert_allclose(est.eigenvalues_, chain.eigenvalues[:3], atol=1e-10)


def test_each_view_may_have_its_own_kernel():
    X = cases.views("generic", 3, Gaussian())
    K = np.exp(-oracles.distances(X[2], X[2]))
    kernels = {"a": Gaussian(n_neighbors=6), "b": Correlation(), "c": Precomputed()}
    paper = {"within_view_weight": 0.0}
    est = vh.MultiViewDiffusionMaps(3, kernel=kernels, **paper)
    est.fit({"a": X[0], "b": X[1], "c": K})
    views = [oracles.View(k, x) for k, x in zip(kernels.values(), (X[0], X[1], K), strict=True)]
    chain = oracles.Chain(oracles.hop_kernel([v.K for v in views], oracles.hop_matrix(3, 0)))
    assert_allclose(est.eigenvalues_, chain.eigenvalues[:3], atol=1e-10)
    listed = vh.MultiViewDiffusionMaps(3, kernel=[*kernels.values()], **paper).fit([X[0], X[1], K])
    assert_array_equal(listed.embedding_, est.embedding_)
    assert np.isnan(est.bandwidths_["c"])


def test_the_adaptive_kernel_is_a_local_gaussian_on_ten_neighbours():
    X = cases.views("generic", 2, Gaussian())
    named = vh.MultiViewDiffusionMaps(3).fit_transform(X)
    kernel = clone(FIXED_ADAPTIVE).set_params(metric="auto")
    est = vh.MultiViewDiffusionMaps(3, kernel=kernel)
    assert_array_equal(named, est.fit_transform(X))
    # Too few samples for evidence: the metric that is chosen is the plain one.
    assert est.metrics_ == {"view1": "euclidean", "view2": "euclidean"}
    assert est.view_weights_ == {"view1": 1.0, "view2": 1.0}
    assert_array_equal(est.set_params(kernel=FIXED_ADAPTIVE).fit_transform(X), named)


def test_a_walk_in_pieces_warns_with_their_number():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((45, 2)) + 1e4 * np.repeat(np.arange(3), 15)[:, None]
    est = vh.MultiViewDiffusionMaps(4, kernel=Gaussian(1.0))
    with pytest.warns(DisconnectedWarning, match="falls into 3 pieces") as caught:
        est.fit([X, X])
    assert caught[0].message.n_pieces == est.n_pieces_ == 3
    assert caught[0].filename == __file__
    assert_allclose(est.eigenvalues_[:2], 1.0, atol=0)
    assert est.eigenvalues_[2] < 1 - 1e-6


def test_a_walk_that_never_leaves_a_sample_is_refused():
    # Each view alone is fine; their product leaves every sample on its own.
    n = 12
    x = np.repeat(np.arange(n // 2), 2)[:, None] * 1e3
    y = np.roll(x, 1, axis=0)
    x, y = x + np.tile([0.0, 1.0], n // 2)[:, None], y + np.tile([0.0, 1.0], n // 2)[:, None]
    with pytest.raises(ValueError, match="never leaves a sample"):
        vh.MultiViewDiffusionMaps(2, kernel=Gaussian(1.0), fusion="product").fit([x, y])


def test_more_coordinates_than_positive_eigenvalues_are_refused_with_their_number():
    X = cases.views("generic", 2, Gaussian())
    with pytest.raises(
        ValueError, match=r"the \d+ eigenvalues of this walk that are positive beyond"
    ):
        vh.MultiViewDiffusionMaps(20, kernel=Gaussian(factor=1e4)).fit(X)


def test_a_fit_that_does_not_converge_carries_what_it_has(monkeypatch):
    monkeypatch.setattr("viewhop.solvers._lanczos.MAX_RESTARTS", 1)
    X = np.random.default_rng(0).uniform(0, 1, (400, 1))
    est = vh.MultiViewDiffusionMaps(12, kernel=Gaussian(factor=0.1), solver="lanczos")
    with pytest.raises(ConvergenceError) as caught:
        est.fit([X, X])
    assert caught.value.spectrum is not None


@pytest.mark.parametrize("walk", WALKS.values(), ids=WALKS)
@pytest.mark.parametrize(
    "kernel",
    [
        "gaussian",
        Gaussian("local"),
        Laplacian(),
        "adaptive",
        FIXED_ADAPTIVE,
    ],
)
def test_an_offset_destroys_nothing(kernel, walk):
    # Integers survive an offset of 1e8 exactly, so the embedding must too.
    X = cases.views("tied", 2, Gaussian())
    plain = vh.MultiViewDiffusionMaps(3, kernel=kernel, **walk).fit(X)
    moved = vh.MultiViewDiffusionMaps(3, kernel=kernel, **walk).fit([x + 1e8 for x in X])
    assert_allclose(moved.eigenvalues_, plain.eigenvalues_, atol=1e-9)


@st.composite
def some_views(draw):
    n = draw(st.integers(6, 60))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    views = []
    for _ in range(draw(st.integers(1, 5))):
        X = rng.standard_normal((n, draw(st.integers(1, 6))))
        if draw(st.booleans()):
            X = np.round(X)
        if draw(st.booleans()):
            X[rng.integers(0, n, n // 2)] = X[0]
        if (X[0] == X).all():
            X[0] += 1
        scale = 10.0 ** draw(st.integers(-100, 100))
        views.append((X + draw(st.sampled_from([0.0, 10.0]))) * scale)
    return views


@quiet
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    views=some_views(),
    kernel=st.sampled_from(
        ["adaptive", "gaussian", "laplacian", Gaussian("local"), Gaussian(alpha=1.0)]
    ),
    fusion=st.sampled_from(["hop", "sum", "product", "concat"]),
)
def test_any_views_give_a_finite_embedding_that_transform_repeats(views, kernel, fusion):
    assume((kernel, fusion) != ("laplacian", "concat"))  # which takes Gaussians only
    est = vh.MultiViewDiffusionMaps(2, kernel=kernel, fusion=fusion, random_state=0)
    try:
        Z = est.fit_transform(views)
    except ValueError as refusal:
        message = str(refusal)
        assert "never leaves a sample" in message or "positive beyond rounding" in message
        return
    assert np.isfinite(Z).all()
    assert (est.eigenvalues_ > 0).all()
    assert (est.eigenvalues_ <= 1 + 1e-10).all()
    assert_allclose(est.transform(views), Z, atol=1e-8 * np.abs(Z).max())


@pytest.mark.parametrize("kernel", ["gaussian", {"x": "gaussian", "y": "adaptive"}])
def test_auto_can_take_the_intrinsic_dimension(kernel):
    rolls = vh.datasets.make_swiss_rolls(500, random_state=0)
    est = vh.MultiViewDiffusionMaps("auto", accuracy="local_pca", kernel=kernel).fit(rolls.views)
    assert est.n_components_ == vh.dimension.intrinsic(rolls.views) == 2
    assert est.embedding_.shape == (500, 2)
    est.set_params(within_view_weight=0.0).fit(rolls.views)
    assert est.embedding_.shape == (500, 4)


def test_the_dimension_of_precomputed_kernels_is_refused():
    K = cases.views("generic", 2, Precomputed())
    est = vh.MultiViewDiffusionMaps("auto", accuracy="local_pca", kernel="precomputed")
    with pytest.raises(ValueError, match="every view is a precomputed kernel"):
        est.fit(K)


def test_later_parameters_change_the_next_fit_only():
    X = cases.views("generic", 3, Gaussian())
    est = vh.MultiViewDiffusionMaps(2, kernel="gaussian", output="concat").fit(X)
    est.set_params(n_steps=3, output="mean", views=2, view_weights=[1, 2, 3])
    assert_allclose(est.transform(X), est.embedding_, atol=1e-10)
    assert len(est.get_feature_names_out()) == 6
    assert est.n_steps_ == 1
    exact = vh.diffusion.inner_view_distance(est, "view1", 0, 1)
    assert_array_equal(exact, vh.diffusion.inner_view_distance(est, "view1", 0, 1, n_steps=1))
    stacked = vh.MultiViewDiffusionMaps(2, kernel="gaussian", views=[3, 5, 4]).fit(np.hstack(X))
    stacked.set_params(views=None)
    assert_allclose(stacked.transform(np.hstack(X)), stacked.embedding_, atol=1e-10)


def test_transition_probabilities_are_powers_of_the_walk():
    X = cases.views("generic", 2, Gaussian())
    est = vh.MultiViewDiffusionMaps.paper_settings(2).fit(X)
    P = np.linalg.matrix_power(oracle(est, Gaussian(), X).P, 3)
    found = est.transition_probabilities(3, "view1", "view2", [0, 5])
    assert_allclose(found, P[[0, 5], cases.N :], atol=1e-12)


def test_the_embeddings_of_fused_views_are_not_one_array():
    X = cases.views("generic", 2, Gaussian())
    est = vh.MultiViewDiffusionMaps(2, fusion="sum").fit(X)
    est.view_embeddings_["view1"][:] = 0
    assert np.abs(est.view_embeddings_["view2"]).max() > 0


def test_many_pieces_cost_no_more_vectors_than_are_wanted():
    # 300 pairs of samples, each pair on its own.
    X = np.repeat(1e6 * np.arange(300.0), 2)[:, None] + np.tile([0.0, 1.0], 300)[:, None]
    with pytest.warns(DisconnectedWarning, match="300 pieces"):
        est = vh.MultiViewDiffusionMaps(3, kernel=Gaussian(1.0)).fit([X, X])
    assert_allclose(est.eigenvalues_, 1.0, atol=0)
    psi = est.spectrum_.eigenvectors
    assert_allclose(psi.T @ (est.walk_.stationary[:, None] * psi), np.eye(3), atol=1e-12)
    assert_allclose(est.walk_.stationary @ psi, 0, atol=1e-12)


@pytest.mark.parametrize("kernel", ["gaussian", "adaptive"])
def test_threads_and_batches_do_not_change_where_samples_are_placed(kernel, monkeypatch):
    X = cases.views("generic", 2, Gaussian())
    new = [x + 0.1 for x in X]
    one = vh.MultiViewDiffusionMaps(3, kernel=kernel, n_jobs=1).fit(X)
    two = vh.MultiViewDiffusionMaps(3, kernel=kernel, n_jobs=2).fit(X)
    assert_allclose(two.embedding_, one.embedding_, atol=1e-10)
    whole = one.transform(new)
    monkeypatch.setattr("viewhop.geometry._geometry.BATCH", 16 * 16)
    assert_allclose(one.transform(new), whole, atol=1e-12)
    assert_allclose(two.transform(new), whole, atol=1e-10)


def test_recall_is_told_for_every_view_and_a_low_one_is_warned_of(monkeypatch):
    X = cases.views("generic", 2, Gaussian())
    est = vh.MultiViewDiffusionMaps(2, kernel=[Gaussian(), Gaussian(n_neighbors=5)]).fit(X)
    assert est.recall_ == {"view1": 1.0, "view2": 1.0}
    build = affinity.build_affinity

    def poor(name, *args, **how):
        found = build(name, *args, **how)
        found.recall = 0.9 if name == "view2" else 0.96
        return found

    monkeypatch.setattr("viewhop.affinity._build.build_affinity", poor)
    with pytest.warns(RecallWarning, match=r"90.0% of the neighbours in view 'view2'") as caught:
        est.fit(X)
    assert [w.message.recall for w in caught] == [0.9]
    assert caught[0].filename == __file__
    assert est.recall_ == {"view1": 0.96, "view2": 0.9}


def test_a_fit_tells_the_seconds_of_its_stages_and_its_memory():
    est = vh.MultiViewDiffusionMaps(2).fit(cases.views("generic", 2, Gaussian()))
    assert [*est.timings_] == ["selection", "kernels", "solve", "extension"]
    assert all(seconds > 0 for seconds in est.timings_.values())
    assert est.memory_ > 0
