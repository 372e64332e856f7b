"""Section 5.9: bias by noise of a view's own."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose

from tests.experiments.runs import check_pictures, quick, table
from viewhop.experiments._additive_noise import (
    coordinate_error,
    covariance_errors,
    principal_directions,
    shared_directions,
)
from viewhop.experiments._noise_models import curves, directional_noise


def test_noise_has_one_strong_direction():
    noise = directional_noise(200_000, 2.0, np.random.default_rng(0))
    variances = np.linalg.eigvalsh(noise.T @ noise / len(noise))
    # σ_n² (u uᵀ + 0.01 I) with σ_n = 2.
    assert_allclose(variances, [0.04] * 9 + [4.04], rtol=0.02)


def test_the_covariance_of_one_view_is_off_by_that_of_the_noise():
    errors = covariance_errors(200_000, 1.0, np.random.default_rng(1))
    # ‖u uᵀ + 0.01 I‖ over ‖AAᵀ‖ = √2.
    assert_allclose(errors[0], np.sqrt(1.01**2 + 9 * 0.01**2) / np.sqrt(2), rtol=0.01)
    assert errors[1] < 0.01


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


def test_curves_keep_the_order_of_the_latent_parameter():
    latent = np.linspace(0, 1, 50)
    arc, wave = curves(latent)
    assert_allclose(np.hypot(*arc.T), 1, rtol=1e-14)
    assert (np.diff(arc[:, 0]) < 0).all()
    assert (np.diff(wave[:, 0]) > 0).all()


def test_bias_stays_with_more_samples_and_chance_does_not():
    rows = {row["samples"]: row for row in table(quick("additive-noise"), "Linear model, σ_n")}
    one, between = [*rows["exponent of M"].values()][1:]
    assert abs(one) < 0.2
    assert -0.8 < between < -0.25


def test_two_views_lose_less_than_one_where_noise_is_as_strong_as_the_signal():
    result = quick("additive-noise")
    for row in table(result, "Curves"):
        if float(row["σ_n"]) >= 1:
            for one, two in (
                ("PCA", "CCA"),
                ("single-view, max-min", "multi-view, max-min"),
                ("single-view, 10 neighbours", "multi-view, 10 neighbours"),
            ):
                assert row[two] < row[one]
    for row in table(result, "Linear model, 1,000"):
        assert row["CCA"] < row["PCA"]


def test_pictures_have_labels():
    check_pictures("additive-noise", quick("additive-noise"))
