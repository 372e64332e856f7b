"""Details of the affinities that the contracts leave open: names, precision, padding, threads."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests.support import cases
from viewhop._runtime.progress import no_progress
from viewhop.affinity import KernelProduct, build_affinity, in_lanes
from viewhop.affinity import _build as building
from viewhop.affinity import _graph as graphs
from viewhop.errors import RecallWarning
from viewhop.kernels import Gaussian
from viewhop.views import Views


def affinity(kernel, dtype=np.float64, **more):
    return build_affinity("v", kernel, cases.views("generic", 1, kernel, dtype)[0], **more)


def build(kernel, n_jobs=1):
    views = Views(dict(zip("ab", cases.views("generic", 2, kernel), strict=True)))
    return building.build_affinities(
        views,
        dict.fromkeys("ab", kernel),
        generator=np.random.default_rng(0),
        n_jobs=n_jobs,
        progress=no_progress,
        allowed=None,
        stacklevel=1,
    )


@pytest.mark.parametrize(("given", "padded"), [(1, 1), (5, 5), (7, 7), (8, 16), (12, 16), (16, 16)])
def test_columns_are_padded_to_whole_lanes_if_more_than_half_is_full(given, padded):
    V = np.random.default_rng(0).standard_normal((3, given))
    lanes = in_lanes(V)
    assert lanes.shape == (3, padded)
    assert lanes.flags.c_contiguous
    assert_array_equal(lanes[:, :given], V)
    assert_array_equal(lanes[:, given:], 0.0)


@pytest.mark.parametrize("n_neighbors", [None, 4])
def test_distances_between_training_samples_are_euclidean(n_neighbors):
    X = cases.views("generic", 1, Gaussian())[0]
    K = build_affinity("v", Gaussian(n_neighbors=n_neighbors), X)
    rows, columns = np.array([3, 0]), np.array([1, 2, 3])
    expected = np.linalg.norm(X[rows][:, None] - X[columns], axis=-1)
    assert_allclose(K.distances(rows, columns), expected, rtol=1e-12, atol=1e-12)


def test_an_affinity_has_the_metric_that_was_chosen():
    assert affinity(Gaussian(metric="auto")).kernel.metric in ("euclidean", "cosine")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_merged_and_reordered_kernels_keep_their_precision(dtype):
    K = affinity(Gaussian(n_neighbors=4), dtype)
    merged = K.merge(np.arange(cases.N) // 2)
    assert merged.dtype == dtype
    assert merged.values.dtype == dtype
    assert K.reorder(np.arange(cases.N)[::-1]).dtype == dtype


@pytest.mark.parametrize("n_neighbors", [None, 4])
def test_a_product_of_kernels_has_a_name_of_its_own(n_neighbors):
    views = cases.views("generic", 2, Gaussian())
    kernel = Gaussian(n_neighbors=n_neighbors)
    factors = [build_affinity(name, kernel, X) for name, X in zip("ab", views, strict=True)]
    assert KernelProduct(factors).joint.name == "product"


@pytest.mark.parametrize(("kernel", "vector"), [("f4", "f4"), ("f4", "f8"), ("f8", "f4")])
def test_threads_keep_the_precision_of_a_product(monkeypatch, kernel, vector):
    monkeypatch.setattr(graphs, "FEW", 1)
    V = np.ones((cases.N, 2), dtype=vector)
    one, two = (affinity(Gaussian(n_neighbors=4), np.dtype(kernel), n_jobs=j) for j in (1, 2))
    assert (two @ V).dtype == (one @ V).dtype == np.result_type(kernel, vector)
    assert_array_equal(two @ V, one @ V)


@pytest.mark.parametrize(("n_jobs", "few", "n_shared"), [(1, 1, 0), (2, 1, 1), (2, 2**30, 0)])
def test_threads_share_a_product_only_if_it_is_large(monkeypatch, n_jobs, few, n_shared):
    K = affinity(Gaussian(n_neighbors=4), n_jobs=n_jobs)
    products, shared = [], graphs.threads.map_threads

    def count(*given, **more):
        products.append(1)
        return shared(*given, **more)

    monkeypatch.setattr(graphs, "FEW", few)
    monkeypatch.setattr(graphs.threads, "map_threads", count)
    K @ np.ones(cases.N)
    assert len(products) == n_shared


@pytest.mark.parametrize(("n_neighbors", "at_once"), [(4, 2), (None, 1)])
def test_only_neighbour_kernels_are_built_at_once(monkeypatch, n_neighbors, at_once):
    shared, threads = building.map_threads, []

    def note(work, parts, n_jobs, *given, **more):
        threads.append(n_jobs)
        return shared(work, parts, n_jobs, *given, **more)

    monkeypatch.setattr(building, "map_threads", note)
    build(Gaussian(n_neighbors=n_neighbors), n_jobs=2)
    assert threads == [at_once]


def test_a_low_recall_is_told_as_a_number(monkeypatch):
    monkeypatch.setattr(building, "LEAST_RECALL", 1.5)
    with pytest.warns(
        RecallWarning, match="only 100.0% of the neighbours in view '[ab]'"
    ) as caught:
        build(Gaussian(n_neighbors=4))
    assert [warning.message.recall for warning in caught] == [1.0, 1.0]
