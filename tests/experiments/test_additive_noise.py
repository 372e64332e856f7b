"""Section 5.9: bias by noise of a view's own."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose

from tests.experiments.runs import check_pictures, quick, table
from viewhop.datasets import make_noisy_latents
from viewhop.experiments._findings import CONDITIONAL, FAILS, HOLDS
from viewhop.experiments._noise_findings import judge_bias, judge_curves, judge_product
from viewhop.experiments._noise_measures import (
    ProductCheck,
    check_product,
    coordinate_error,
    covariance_errors,
    principal_directions,
    shared_directions,
)


def test_the_covariance_of_one_view_is_off_by_that_of_the_noise():
    errors = covariance_errors(200_000, 1.0, np.random.default_rng(1))
    # ‖u uᵀ + 0.01 I‖ over ‖AAᵀ‖ = √2.
    assert_allclose(errors[0], np.sqrt(1.01**2 + 9 * 0.01**2) / np.sqrt(2), rtol=0.01)
    assert errors[1] < 0.01
    assert_allclose(errors[2], errors[0], rtol=0.01)  # theory
    assert 0.2 < errors[1] / errors[3] < 3


def test_principal_and_shared_directions_of_noiseless_views_are_the_latent_ones():
    rng = np.random.default_rng(2)
    latent = rng.standard_normal((500, 1))
    a, b = (np.linalg.qr(rng.standard_normal((10, 1)))[0] for _ in range(2))
    for found in (
        principal_directions(latent @ a.T + 7, 1),
        shared_directions(latent @ a.T - 3, latent @ b.T + 5, 1),
    ):
        assert_allclose(abs(found.T @ a), [[1.0]], rtol=1e-12)


def test_shared_directions_pass_over_what_one_view_has_alone():
    rng = np.random.default_rng(3)
    latent, own = rng.standard_normal((2, 20_000))
    X, Y = np.column_stack([latent, 3 * own]), np.column_stack([latent, latent])
    assert abs(principal_directions(X, 1)[1, 0]) > 0.99
    assert abs(shared_directions(X, Y, 1)[0, 0]) > 0.99


def test_what_is_lost_counts_neither_sign_nor_scale():
    coordinate = np.random.default_rng(4).standard_normal(200)
    assert_allclose(coordinate_error(coordinate, -3 * coordinate**3 + 1), 0, atol=1e-12)
    assert coordinate_error(coordinate, np.random.default_rng(5).standard_normal(200)) > 0.9


def test_bias_stays_with_more_samples_and_chance_does_not():
    rows = {row["samples"]: row for row in table(quick("additive-noise"), "Linear model, σ_n")}
    one, between, *theory = [*rows["exponent of M"].values()][1:]
    assert_allclose(theory, [0, -0.5], atol=0.05)
    assert abs(one) < 0.2
    assert -0.8 < between < -0.25


def test_two_views_lose_less_than_one_where_noise_is_as_strong_as_the_signal():
    result = quick("additive-noise")
    for row in table(result, "Curves: error"):
        if float(row["σ_n"]) >= 1:
            for one, two in (
                ("PCA", "CCA"),
                ("single-view, max-min", "multi-view, max-min"),
                ("single-view, 10 neighbours", "multi-view, 10 neighbours"),
            ):
                assert row[two] < row[one]
    for row in table(result, "Linear model, 1,000"):
        assert row["CCA"] < row["PCA"]
        assert row["CCA"] < row["CCA, bound"]
        assert_allclose(row["PCA"], row["PCA, limit of many samples"], atol=0.1)


def test_equation_52_holds_for_eigenvectors_only():
    found = check_product(make_noisy_latents(80, kind="curves", random_state=0))
    assert found.eigenvector < 1e-10
    assert found.singular_vector > 0.03
    assert found.correlation + 0.01 < found.kernel_cca <= 1


def test_the_bias_is_found_where_exponents_are_0_and_a_half():
    assert judge_bias(np.array([[0.0, -0.5], [0.02, -0.52]])).verdict == HOLDS
    for wrong in ([-0.5, -0.5], [0.0, 0.0]):
        assert judge_bias(np.array([wrong, wrong])).verdict == FAILS


def test_noise_is_cancelled_if_two_views_lose_less_at_every_noise():
    rng = np.random.default_rng(0)
    ahead = np.stack([np.full((5, 2), 0.8), np.full((5, 2), 0.1)], axis=2)
    ahead += 0.01 * rng.standard_normal(ahead.shape)
    sizes, more = (100, 400), np.tile([[[0.8, 0.1], [0.8, 0.02]]], (5, 1, 1))
    found = judge_curves((0.5, 1.0), ahead, sizes, more)
    assert found.verdict == HOLDS
    assert "from 0.100 to 0.020" in found.evidence
    some = ahead.copy()
    some[:, 0] = some[:, 0, ::-1]
    found = judge_curves((0.5, 1.0), some, sizes, more)
    assert (found.verdict, found.condition) == (CONDITIONAL, "σ_n of 1")
    assert judge_curves((0.5, 1.0), ahead[:, :, ::-1], sizes, more).verdict == FAILS


def test_the_product_is_cca_only_if_singular_vectors_satisfy_both():
    assert judge_product([ProductCheck(0.0, 1e-9, 0.99, 0.99)] * 2).verdict == HOLDS
    assert judge_product([ProductCheck(0.0, 0.2, 0.99, 0.99)] * 2).verdict == FAILS
    assert judge_product([ProductCheck(0.0, 1e-9, 0.8, 0.99)] * 2).verdict == FAILS


def test_findings_are_on_the_claims_of_section_5_9():
    found = {each.claim: each for each in quick("additive-noise").findings}
    assert [*found] == ["noise-bias-linear", "noise-bias-kernel", "kernel-cca"]
    assert found["noise-bias-linear"].verdict == HOLDS
    assert found["kernel-cca"].verdict == FAILS


def test_pictures_have_labels():
    check_pictures("additive-noise", quick("additive-noise"))
