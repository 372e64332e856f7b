"""Methods that share kernels give what each gives by itself."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import viewhop as vh
from viewhop.errors import DisconnectedWarning, MemoryBudgetError
from viewhop.estimators import DeSaEmbedding
from viewhop.experiments._comparison import (
    PRODUCTS,
    Coordinates,
    de_sa_coordinates,
    fit_coordinates,
    list_products,
    pieces_remarks,
    products_remarks,
)
from viewhop.experiments._timed_methods import timed_methods
from viewhop.kernels import Gaussian, Laplacian, Precomputed


@pytest.fixture(scope="module")
def circles():
    return vh.datasets.make_circles(120, noise=0.1, random_state=0).views


@pytest.fixture(scope="module")
def hop(circles):
    est = vh.MultiViewDiffusionMaps.paper_settings(6, kernel=Gaussian(0.6), random_state=0)
    return est.fit(circles)


def test_first_coordinates_of_each_block_stand_side_by_side():
    blocks = (np.arange(6.0).reshape(2, 3), 10 + np.arange(6.0).reshape(2, 3))
    assert_array_equal(
        Coordinates(blocks).first(2), [[0.0, 1.0, 10.0, 11.0], [3.0, 4.0, 13.0, 14.0]]
    )


@pytest.fixture(scope="module")
def methods(circles):
    """Coordinates by method, at t = 1."""
    kernels = dict.fromkeys(circles.names, Gaussian(0.6))
    return {name: each.one_step for name, each in timed_methods(circles, kernels, 6, seed=0)}


def test_one_kernel_of_a_fit_gives_the_map_of_that_view(circles, methods):
    for name in circles.names:
        alone = vh.DiffusionMaps(6, kernel=Gaussian(0.6), random_state=0).fit(circles[name])
        assert_allclose(methods[name].first(6), alone.embedding_, atol=1e-9)


def test_all_kernels_of_a_fit_give_the_kernel_sum(circles, methods):
    total = vh.MultiViewDiffusionMaps(6, kernel=Gaussian(0.6), fusion="sum", random_state=0)
    assert_allclose(methods["kernel sum"].first(6), total.fit_transform(circles), atol=1e-9)


@pytest.mark.parametrize("r", [1, 2, 4, 7])
def test_rows_of_de_sa_need_no_fit_of_their_own(circles, hop, r):
    expected = DeSaEmbedding(r, kernel=Gaussian(0.6), random_state=0).fit(circles)
    found = de_sa_coordinates(hop).first(r)
    # The signs of eigenvectors are fixed after the fit of either, in its own scaling.
    sign = np.sign((found * expected.embedding_).sum(axis=0))
    assert_allclose(found * sign, expected.embedding_, rtol=1e-7)


def test_methods_come_in_order_with_as_many_coordinates_as_asked(circles, methods):
    found = methods
    assert list(found) == ["x", "y", "kernel sum", "de Sa", "multi-view", *PRODUCTS]
    widths = {method: each.first(5).shape for method, each in found.items()}
    assert set(widths.values()) == {(120, 5), (120, 10)}
    assert widths["multi-view"] == widths["de Sa"] == (120, 10)
    for name, fusion in {"kernel product": "product", "kernel product, concat": "concat"}.items():
        product = vh.MultiViewDiffusionMaps(5, kernel=Gaussian(0.6), fusion=fusion, random_state=0)
        assert_allclose(found[name].first(5), product.fit_transform(circles), atol=1e-9)
    wide = vh.DiffusionMaps(5, kernel=Gaussian(0.6 * 2**0.5), random_state=0)
    expected = wide.fit_transform(np.hstack(circles.arrays))
    assert_allclose(found["kernel product, concat"].first(5), expected, atol=1e-9)


@pytest.mark.parametrize(
    ("kernels", "products"),
    [
        ([Gaussian(), Gaussian(0.5)], ["kernel product", "kernel product, concat"]),
        ([Gaussian(n_neighbors=9)] * 2, ["kernel product", "kernel product, concat"]),
        ([Gaussian(), Laplacian()], ["kernel product"]),
        ([Gaussian(factor=2.0), Gaussian()], ["kernel product"]),
        ([Gaussian(n_neighbors=9), Laplacian(n_neighbors=9)], []),
        ([Gaussian(n_neighbors=9), Gaussian()], []),
        ([Precomputed(n_neighbors=9)] * 2, []),
    ],
)
def test_products_that_kernels_do_not_have_are_left_out_and_told(circles, kernels, products):
    by_view = dict(zip(circles.names, kernels, strict=True))
    assert list_products(by_view) == products
    told = products_remarks(by_view)
    left_out = [name for name in PRODUCTS if name not in products]
    assert [text.split(":")[0] for text in told] == [f"There is no {name}" for name in left_out]
    if not any(isinstance(kernel, Precomputed) for kernel in kernels):
        found = [name for name, _ in timed_methods(circles, by_view, 2, seed=0)]
        assert found[5:] == products


def test_a_product_beyond_memory_is_refused(circles, monkeypatch):
    kernels = dict.fromkeys(circles.names, Gaussian(0.6))
    methods = timed_methods(circles, kernels, 2, seed=0)
    assert [next(methods)[0] for _ in range(5)][-1] == "multi-view"
    monkeypatch.setattr("viewhop._runtime.memory.available_bytes", lambda: 10_000)
    with pytest.raises(MemoryBudgetError, match="a kernel product of 120 samples"):
        next(methods)


def test_three_views_have_no_rows_of_de_sa_and_the_product_can_be_left_out(circles):
    views = vh.Views({**dict(circles.items()), "z": circles["x"] + circles["y"]})
    kernels = dict.fromkeys(views.names, Gaussian(0.6))
    found = [name for name, _ in timed_methods(views, kernels, 3, seed=0, has_product=False)]
    assert found == ["x", "y", "z", "kernel sum", "multi-view"]


def test_pieces_are_counted_and_not_warned_of():
    far = np.vstack([np.random.default_rng(0).normal(size=(20, 2)) + shift for shift in (0, 500)])
    with warnings.catch_warnings():
        warnings.simplefilter("error", DisconnectedWarning)
        found = fit_coordinates(vh.DiffusionMaps(2, kernel=Gaussian(1.0)), far)
    assert found.n_pieces == 2
    assert pieces_remarks({"a": 1, "b": 2, "c": 1300}) == (
        "The walk falls into pieces for b (2), c (1,300).",
    )
    assert pieces_remarks({"a": 1}) == ()
