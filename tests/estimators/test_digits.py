"""What the digits must reach: the floors that the documentation quotes."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import normalized_mutual_info_score

import viewhop as vh
from viewhop.kernels import Gaussian


def steepest():
    """Gaussians at the scales of Algorithm 1 around the steepest slope."""
    scales = vh.bandwidth.joint(vh.datasets.load_mfeat().views, rule="steepest").scales
    return {name: Gaussian(sigma) for name, sigma in scales.items()}


@pytest.mark.parametrize(
    ("kernel", "least"),
    [("adaptive", 0.88), (steepest, 0.80), (Gaussian("joint"), 0.70)],
    ids=["adaptive", "steepest", "joint"],
)
def test_nine_coordinates_of_six_views_tell_the_digits_apart(kernel, least):
    digits = vh.datasets.load_mfeat()
    kernel = kernel() if callable(kernel) else kernel
    Z = vh.MultiViewDiffusionMaps(9, kernel=kernel, random_state=0).fit_transform(digits.views)
    clusters = KMeans(10, n_init=20, random_state=0).fit_predict(Z)
    assert normalized_mutual_info_score(digits.target, clusters) >= least
    assert np.isfinite(Z).all()
