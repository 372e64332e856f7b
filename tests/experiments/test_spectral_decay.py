"""Figs. 4 and 5: the spectra of five walks on clusters."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist

from tests.experiments.runs import check_pictures, quick, table
from viewhop.bandwidth import max_min
from viewhop.datasets import make_mixtures
from viewhop.experiments._spectral_decay import rank, spectra


def gaussian(rows, sigma):
    return np.exp(-cdist(rows, rows, "sqeuclidean") / (2 * sigma**2))


def transition_spectrum(kernel):
    """Eigenvalues of the kernel divided by its row sums, largest first."""
    return np.sort(np.linalg.eigvals(kernel / kernel.sum(axis=1, keepdims=True)).real)[::-1]


@pytest.fixture(scope="module")
def mixtures():
    return make_mixtures(48, random_state=1)


def test_spectra_are_those_of_the_paper_s_matrices(mixtures):
    x, y = mixtures.views["x"], mixtures.views["y"]
    scales = [np.sqrt(0.5) * max_min(rows) for rows in (x, y)]
    K, L = gaussian(x, scales[0]), gaussian(y, scales[1])
    zero = np.zeros_like(K)
    expected = {
        "x alone": K,
        "y alone": L,
        "kernel sum": K + L,
        # One Gaussian of both views side by side, σ∘² = σx² + σy².
        "kernel product": gaussian(np.hstack([x, y]), np.hypot(*scales)),
        "Kˣ∘Kʸ": K * L,
        "multi-view": np.block([[zero, K @ L], [L @ K, zero]]),
    }
    found = spectra(mixtures, 0.5)
    for name, kernel in expected.items():
        assert found[name].shape == (48,)
        assert_allclose(found[name], transition_spectrum(kernel)[:48], atol=1e-10)
    assert_allclose(found["λ(x)·λ(y)"], found["x alone"] * found["y alone"], rtol=1e-15)


def test_rank_counts_both_signs():
    assert rank(np.array([1.0, 0.2, 0.05, -0.3]), 0.1) == 3


def test_the_multi_view_walk_falls_fastest_at_the_max_min_scale():
    result = quick("spectral-decay")
    rivals = ("x alone", "y alone", "kernel sum", "kernel product")
    for case in ("6 and 6 clusters, C = 1:", "6 and 3 clusters, C = 1:"):
        rows = {row["matrix"]: row for row in table(result, case)}
        ours = rows.pop("multi-view")
        for column in [*ours][1:]:
            assert all(ours[column] <= rows[name][column] for name in rivals)
        assert ours["sum beyond the sixth"] < 0.1 * rows["kernel product"]["sum beyond the sixth"]


def test_the_knee_stands_at_the_number_of_clusters():
    for case, knee in (("6 and 6 clusters", 6), ("6 and 3 clusters", 3)):
        values = quick("spectral-decay").numbers["spectra"][case]["multi-view"][:12]
        assert np.argmax(-np.diff(np.log(values))) + 1 == knee


def test_pictures_have_labels():
    check_pictures("spectral-decay", quick("spectral-decay"))
