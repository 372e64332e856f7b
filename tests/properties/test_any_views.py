"""Views of any number, width and scale: a finite embedding, or an error in words."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import viewhop as vh
from tests.support.strategies import data_sets

#: Warnings that tell the user something; any other is an error under pytest.
TOLD = tuple(
    kind
    for _, kind in inspect.getmembers(vh.errors, inspect.isclass)
    if issubclass(kind, UserWarning)
)
KERNELS = ("adaptive", "gaussian", "laplacian", vh.kernels.Gaussian("local", n_neighbors=4))


def embed(views, kernel, eta):
    """The embedding and its repetition by transform, or the refusal."""
    est = vh.MultiViewDiffusionMaps(1, kernel=kernel, within_view_weight=eta, random_state=0)
    with warnings.catch_warnings():
        for kind in TOLD:
            warnings.simplefilter("ignore", kind)
        Z = est.fit_transform(views)
        return Z, est.transform(views)


def check_finite_or_refused(data, kernel, eta):
    try:
        Z, again = embed(data.views(), kernel, eta)
    except ValueError:
        event("refused")
        return
    event("embedded")
    assert np.isfinite(Z).all()
    single = Z.dtype == np.float32
    assert_allclose(again, Z, rtol=0, atol=1e-3 if single else 1e-6 * max(1.0, np.abs(Z).max()))


DRAWN = {
    "data": data_sets(exponent=150),
    "kernel": st.sampled_from(KERNELS),
    "eta": st.sampled_from((None, 0.0, 0.3)),
}
PROFILE = {
    "derandomize": True,
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow],
}


@given(**DRAWN)
@settings(max_examples=60, **PROFILE)
def test_views_of_any_scale_are_embedded_or_refused(data, kernel, eta):
    check_finite_or_refused(data, kernel, eta)


@pytest.mark.slow
@given(**DRAWN)
@settings(max_examples=2000, **PROFILE)
def test_many_views_of_any_scale_are_embedded_or_refused(data, kernel, eta):
    check_finite_or_refused(data, kernel, eta)
