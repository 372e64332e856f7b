"""A kernel of the user's own, held by an affinity of their own, goes all the way."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

import viewhop as vh
from tests.contracts.affinity import AffinityContract
from tests.support import cases
from viewhop.affinity import Affinity, KernelRows
from viewhop.errors import ModelFileError
from viewhop.kernels import Kernel, Precomputed
from viewhop.views import ViewRows

# --- the toy, as a user would write it ----------------------------------------------------------


class Cauchy(Kernel):
    """1 / (1 + d²/σ²), computed anew for every product and never stored."""

    n_neighbors, alpha = None, 0.0

    def __init__(self, sigma=3.0):
        self.sigma = sigma

    def build(self, rows):
        return CauchyOnTheFly(rows.values, self.sigma)


class CauchyOnTheFly(Affinity):
    def __init__(self, X, sigma):
        self.X, self.scale, self.dtype = X, sigma, X.dtype

    n_samples = property(lambda self: len(self.X))
    nbytes = property(lambda self: self.X.nbytes)

    def values(self, X):
        return 1 / (1 + np.square(X[:, None] - self.X).sum(axis=-1) / self.scale**2)

    def __matmul__(self, V):
        return self.values(self.X) @ V

    def against(self, X):
        return KernelRows.normalised(np.log(self.values(X)), self.degrees, alpha=0.0)

    def pattern(self, live=None):
        return csr_array(np.ones((self.n_samples,) * 2) * (1 if live is None else live))


# --- what it must do ----------------------------------------------------------------------------


def matrices():
    return {name: Cauchy().build(ViewRows(name, X)).values(X) for name, X in named_views().items()}


def named_views():
    return dict(zip("ab", cases.views("generic", 2, Cauchy()), strict=True))


class TestToy(AffinityContract):
    is_saved = False

    def affinity(self):
        affinity = Cauchy().build(ViewRows("a", self.training_rows()))
        affinity.name, affinity.kernel = "a", Cauchy()
        return affinity

    def matrix(self):
        return matrices()["a"]

    def training_rows(self):
        return named_views()["a"]

    def new(self):
        X = self.training_rows()
        return X[:4] + 0.5, self.affinity().values(X[:4] + 0.5)


@pytest.mark.parametrize("fusion", ["hop", "sum", "alternating", "integrated", "composite"])
def test_a_fit_equals_that_of_the_matrix(fusion):
    views = named_views()
    own = vh.MultiViewDiffusionMaps(3, kernel=Cauchy(), fusion=fusion).fit(views)
    given = vh.MultiViewDiffusionMaps(3, kernel="precomputed", fusion=fusion).fit(matrices())
    assert_allclose(own.eigenvalues_, given.eigenvalues_, rtol=1e-9)
    assert_allclose(own.embedding_, given.embedding_, atol=1e-7)
    assert_allclose(own.transform(views), own.embedding_, atol=1e-8)
    assert own.bandwidths_ == {"a": 3.0, "b": 3.0}


def test_new_samples_and_missing_views_are_placed():
    views = named_views()
    gaps = {"a": views["a"], "b": views["b"].copy()}
    gaps["b"][:4] = np.nan
    est = vh.MultiViewDiffusionMaps(2, kernel={"a": Cauchy(), "b": "gaussian"}).fit(gaps)
    assert np.isfinite(est.embedding_).all()
    assert_allclose(est.transform(gaps), est.embedding_, atol=1e-8)
    assert est.transform({"a": views["a"][:3] + 0.1}).shape == (3, 2)


def test_a_product_with_it_is_refused_by_name():
    with pytest.raises(ValueError, match=r'fusion="product" .* use dense kernels'):
        vh.MultiViewDiffusionMaps(2, kernel=Cauchy(), fusion="product").fit(named_views())


def test_saving_it_is_refused_and_says_why(tmp_path):
    est = vh.MultiViewDiffusionMaps(2, kernel=Cauchy()).fit(named_views())
    with pytest.raises(ModelFileError, match="Cauchy; a model file holds the kernels Gaussian"):
        est.save(tmp_path / "model.viewhop")
    est.set_params(kernel="gaussian")
    with pytest.raises(ModelFileError, match=r"'a' is a Cauchy .*\(CauchyOnTheFly\)"):
        est.save(tmp_path / "model.viewhop")
    assert not [*tmp_path.iterdir()]


def test_the_report_shows_it():
    pytest.importorskip("plotly")
    est = vh.MultiViewDiffusionMaps(3, kernel=Cauchy()).fit(named_views())
    assert vh.report.render(est, features=vh.Views(named_views())).startswith("<!doctype html>")


class Broken(Cauchy):
    def build(self, rows):
        return rows.values


class Shapeless(Kernel):
    n_neighbors, alpha = None, 0.0


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (Broken(), r"build of the kernel Broken \(view 'a'\) must return an Affinity or None"),
        (Shapeless(), r"Shapeless \(view 'a'\) is not a DistanceKernel, and its build"),
    ],
)
def test_a_kernel_that_builds_nothing_is_told_what_to_build(kernel, message):
    with pytest.raises(TypeError, match=message):
        vh.MultiViewDiffusionMaps(2, kernel=kernel).fit(named_views())


def test_a_kernel_of_viewhop_is_held_by_viewhop():
    assert Precomputed().build(ViewRows("a", np.eye(3))) is None
    assert not Precomputed().builds_itself
    assert Cauchy().builds_itself
