"""Details of the affinities that the contracts leave open: names, precision, padding, threads."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

import viewhop as vh
from tests.support import cases
from viewhop._runtime.progress import no_progress
from viewhop._storage.codec import Shelf
from viewhop.affinity import KernelProduct, KernelRows, build_affinity, in_lanes
from viewhop.affinity import _build as building
from viewhop.affinity import _graph as graphs
from viewhop.affinity._distance_tiles import ranked
from viewhop.affinity._kernel_values import check_kernel_matrix
from viewhop.affinity._sparse_precomputed import _largest
from viewhop.errors import ModelFileError, RecallWarning
from viewhop.kernels import Correlation, Gaussian, Kernel, Precomputed
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
    assert in_lanes(V.astype(np.float32)).dtype == np.float32


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


KERNELS = {
    "dense": Gaussian(),
    "sparse": Gaussian(n_neighbors=4),
    "precomputed": Precomputed(),
    "sparse precomputed": Precomputed(n_neighbors=4),
}


@pytest.mark.parametrize("name", KERNELS)
def test_an_affinity_keeps_its_number_of_threads(name):
    assert affinity(KERNELS[name], n_jobs=2).n_jobs == 2
    assert affinity(KERNELS[name]).n_jobs == 1


@pytest.mark.parametrize(
    ("name", "stage"), [("dense", "kernel of v"), ("sparse", "neighbours of v")]
)
def test_progress_ends_when_all_is_done(name, stage):
    steps = []
    affinity(KERNELS[name], progress=lambda *step: steps.append(step))
    assert {str(told) for told, _, _ in steps} == {stage}
    done, total = steps[-1][1:]
    assert done == total > 0


def test_a_kernel_that_is_no_distance_kernel_is_refused_by_name():
    class Own(Kernel):
        pass

    with pytest.raises(TypeError, match=r"Own \(view 'v'\) is not a DistanceKernel"):
        build_affinity("v", Own(), np.ones((4, 2)))


def test_density_is_divided_out_block_by_block(monkeypatch):
    expected = affinity(Gaussian(n_neighbors=4, alpha=1.0)).values.toarray()
    monkeypatch.setattr(graphs.threads, "BLOCK", 100)
    found = affinity(Gaussian(n_neighbors=4, alpha=1.0)).values.toarray()
    assert_array_equal(found, expected)


def test_an_error_names_the_row_as_it_is_told():
    K = np.eye(3)
    K[1, 2] = K[2, 1] = -1.0
    with pytest.raises(ValueError, match="sample 1 of the precomputed kernel of view 'v'"):
        check_kernel_matrix("v", K, lambda row: f"sample {row}")
    for kernel in (Correlation(), Correlation(n_neighbors=4)):
        with pytest.raises(ValueError, match="sample 0"):
            affinity(kernel).check_new(np.zeros((1, 3)), lambda row: f"sample {row}")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_put_elsewhere_keep_their_precision(dtype):
    logs = np.log(np.array([[0.5, 1.0]], dtype=dtype))
    placed = KernelRows.of(logs, np.ones(1)).placed(np.array([1]), 3)
    weights = placed.weights(np.zeros(3))
    assert weights.dtype == dtype
    assert_allclose(weights, [[0, 0], [0.5, 1.0], [0, 0]], rtol=1e-6)


@pytest.mark.parametrize("is_sparse", [False, True])
def test_rows_put_elsewhere_average_as_the_whole_matrix(is_sparse):
    rng = np.random.default_rng(0)
    logs = rng.standard_normal((4, 6))
    whole = np.zeros((9, 6))
    whole[[1, 3, 4, 8]] = np.exp(logs)
    stored = csr_array(logs) if is_sparse else logs.copy()
    rows = KernelRows.of(stored, np.ones(4)).placed(np.array([1, 3, 4, 8]), 9)
    V, zero = rng.standard_normal((6, 2)), np.zeros(9)
    assert rows.n_rows == 9
    assert_allclose(rows.weights(zero) @ V, whole @ V, rtol=1e-12)
    assert_allclose(rows.average(V, zero), whole @ V, rtol=1e-12)
    assert_allclose(rows.average(V[:, 0], zero), whole @ V[:, 0], rtol=1e-12)
    peaks = np.where(whole.any(axis=1), whole.max(axis=1), 1.0)
    assert_allclose(rows.average(V), whole @ V / peaks[:, None], rtol=1e-12)
    wanted = np.array([0, 1, 0, 1, 0, 1, 0, 1, 0], dtype=bool)
    some = rows.only(wanted)
    assert some.values.shape == (2, 6)
    assert_allclose(some.average(V, zero), whole @ V * wanted[:, None], rtol=1e-12)
    assert_array_equal(rows.largest(np.array([3, 8])), whole[[3, 8]].argmax(axis=1))
    assert rows.only(np.ones(9, dtype=bool)) is rows


def test_a_rank_beyond_the_last_is_the_last():
    distances = np.array([[0.0, 3.0, 1.0], [0.0, 2.0, 5.0]])
    assert_array_equal(ranked(distances, 1), [1.0, 2.0])
    assert_array_equal(ranked(distances, 9), [3.0, 5.0])
    assert_array_equal(_largest(distances, 9), [0.0, 0.0])
    assert_array_equal(_largest(distances, 1), [1.0, 2.0])


def test_a_copy_has_the_smallest_positive_distance_of_its_own_row():
    distances = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 5.0], [0.0, 0.0, 0.0]])
    assert_array_equal(ranked(distances, 1), [1.0, 5.0, 0.0])


def factors(kernel):
    views = cases.views("generic", 2, kernel)
    return [build_affinity(name, kernel, X) for name, X in zip("ab", views, strict=True)]


def test_the_kernel_of_a_product_tapers_like_its_factors():
    kernel = Gaussian("local", n_neighbors=6, scale_neighbors=3, taper=0.3)
    joint = KernelProduct(factors(kernel)).joint.kernel
    assert (joint.taper, joint.scale_neighbors, joint.n_neighbors) == (0.3, 3, 6)


def test_a_product_comes_back_with_its_threads_and_no_other_density():
    product = KernelProduct(factors(Gaussian()))
    shelf = Shelf()
    data = product.state(shelf)
    again = KernelProduct.restore(factors(Gaussian()), data, shelf, n_jobs=2)
    assert again.joint.n_jobs == 2
    assert_array_equal(again.joint.density, product.joint.density)
    shorter = Shelf()
    shorter.put("density", product.joint.density[:-1])
    with pytest.raises(ModelFileError):
        KernelProduct.restore(factors(Gaussian()), data, shorter, n_jobs=1)


def test_a_kernel_of_small_values_comes_back(tmp_path):
    K = [1e-3 * k for k in cases.views("generic", 2, Precomputed())]
    est = vh.MultiViewDiffusionMaps(2, kernel="precomputed").fit(K)
    est.save(tmp_path / "small.viewhop")
    assert_array_equal(vh.load(tmp_path / "small.viewhop").embedding_, est.embedding_)
