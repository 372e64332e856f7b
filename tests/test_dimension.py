"""Dimension: ranks of known spectra, cubes of known grids, shapes of known dimension."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array
from scipy.sparse.linalg import aslinearoperator

from tests.support import cases
from tests.walks.test_walks import affinities, dense
from viewhop import Views
from viewhop.dimension import _numerical_rank as rank_module
from viewhop.dimension import box_count, danco, intrinsic, local_pca, numerical_rank
from viewhop.errors import ConvergenceError
from viewhop.kernels import Gaussian
from viewhop.walks import HopWalk, SumWalk

DELTAS = (0.5, 0.1, 1e-3)


def rotated(values, seed=0):
    """A symmetric matrix with these eigenvalues."""
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.standard_normal((len(values), len(values))))[0]
    matrix = (basis * values) @ basis.T
    return 0.5 * (matrix + matrix.T)


def gaussian(X, sigma):
    return np.exp(-np.square(X[:, None] - X).sum(axis=-1) / (2 * sigma**2))


def lifted(X, width, noise=0.0, seed=1):
    """The rows in a rotated, shifted space of `width` features."""
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.standard_normal((width, X.shape[1])))[0]
    return X @ basis.T + 5.0 + noise * rng.standard_normal((len(X), width))


def sphere(d, n, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, d + 1))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def cube(d, n, seed=0):
    return np.random.default_rng(seed).uniform(size=(n, d))


class Counted:
    """An operator that counts what it is multiplied by."""

    def __init__(self, matrix):
        self.matrix = matrix
        self.shape = matrix.shape
        self.n_products = 0

    def __matmul__(self, v):
        assert v.shape == self.shape[:1]
        self.n_products += 1
        return self.matrix @ v


SPECTRA = {
    "geometric": 0.9 ** np.arange(120),
    "repeated": np.repeat([3.0, 1.0, 0.2, 0.0], 30),
    "identity": np.ones(60),
    "low rank": np.r_[np.arange(5.0, 0.0, -1.0), np.zeros(75)],
    "indefinite": np.r_[np.linspace(1.0, 0.01, 40), np.linspace(-0.01, -2.0, 40)],
    "one": np.array([2.0]),
    "two": np.array([2.0, 0.3]),
    "zero": np.zeros(80),
    "negative": -np.arange(1.0, 13.0),
    "mostly negative": np.r_[1.0, -np.arange(1.0, 12.0)],
}
HOLD = {
    "array": lambda K: K,
    "list": lambda K: K.tolist(),
    "sparse": csr_array,
    "operator": aslinearoperator,
    "own": Counted,
}


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("hold", HOLD)
@pytest.mark.parametrize("spectrum", SPECTRA)
def test_rank_counts_the_eigenvalues_above_a_share_of_the_largest(spectrum, hold, delta):
    values = SPECTRA[spectrum]
    expected = int((values > delta * values.max()).sum()) if values.max() > 0 else 0
    assert numerical_rank(HOLD[hold](rotated(values)), delta) == expected


@pytest.mark.parametrize("spectrum", SPECTRA)
def test_a_large_array_has_the_rank_of_a_small_one(spectrum, monkeypatch):
    K = rotated(SPECTRA[spectrum])
    expected = numerical_rank(K, 0.1)
    monkeypatch.setattr(rank_module, "DENSE_ROWS", 0)
    assert numerical_rank(K, 0.1) == expected


def test_a_large_array_goes_to_lapack_once_its_rank_is_large(monkeypatch):
    sizes = []

    def counted(K):
        sizes.append(len(K))
        return np.linalg.eigvalsh(K)

    monkeypatch.setattr(rank_module, "DENSE_ROWS", 0)
    monkeypatch.setattr(rank_module, "eigvalsh", counted)
    assert numerical_rank(rotated(0.5 ** np.arange(400)), 0.1) == 4
    assert sizes == []
    assert numerical_rank(rotated(0.99 ** np.arange(400)), 0.1) == 230
    assert sizes == [400]


def test_lanczos_takes_few_products_and_no_blocks():
    values = 0.5 ** np.arange(400)
    K = Counted(rotated(values))
    assert numerical_rank(K, 0.1) == 4
    assert K.n_products < 200


def test_rank_that_exceeds_the_first_round_is_exact():
    values = np.r_[np.linspace(1.0, 0.5, 100), np.full(200, 1e-3)]
    assert numerical_rank(aslinearoperator(rotated(values)), 0.1) == 100


@pytest.mark.parametrize("holding", cases.HOLDINGS)
def test_affinities_and_walks_have_the_rank_of_their_dense_kernels(holding):
    kernel = Gaussian(factor=0.5, n_neighbors=cases.HOLDINGS[holding])
    views = affinities(kernel, cases.views("generic", 3, kernel))
    for operator in (views[0], SumWalk(views), HopWalk(views)):
        K = operator @ np.eye(operator.n_samples) if operator is views[0] else dense(operator)
        for delta in DELTAS:
            assert numerical_rank(operator, delta) == numerical_rank(0.5 * (K + K.T), delta)


def test_rank_ignores_the_order_of_samples_and_the_unit_of_the_kernel():
    K = gaussian(cube(2, 150), 0.2)
    order = np.random.default_rng(3).permutation(150)
    ranks = {numerical_rank(M, 0.1) for M in (K, K[np.ix_(order, order)], 1e-6 * K, 1e6 * K)}
    assert len(ranks) == 1
    assert ranks.pop() > 5


def test_single_precision_is_symmetric_enough():
    K = gaussian(cube(2, 100), 0.2).astype(np.float32)
    K[0, 1] += 1e-5
    assert numerical_rank(K, 0.1) == numerical_rank(K.astype(np.float64).T + K, 0.1)


def test_lanczos_that_reaches_its_limit_says_so_and_an_array_goes_to_lapack(monkeypatch):
    values = np.r_[1.0, np.linspace(0.2, 0.1, 199)]
    K = rotated(values)
    monkeypatch.setattr(rank_module, "MAX_RESTARTS", 1)
    with pytest.raises(ConvergenceError, match="of the next 16 eigenvalues within its limit"):
        numerical_rank(aslinearoperator(K), 0.15)
    monkeypatch.setattr(rank_module, "DENSE_ROWS", 0)
    assert numerical_rank(K, 0.15) == int((values > 0.15).sum())


@pytest.mark.parametrize("delta", [0, 1, -0.1, 2.0, np.nan])
def test_delta_outside_0_and_1_is_refused(delta):
    with pytest.raises(ValueError, match="delta must be a share"):
        numerical_rank(np.eye(3), delta)


@pytest.mark.parametrize(
    ("K", "error", "message"),
    [
        (np.ones((3, 2)), ValueError, r"square and not empty, got shape \(3, 2\)"),
        (np.ones(3), ValueError, r"square and not empty, got shape \(3,\)"),
        (np.empty((0, 0)), ValueError, "not empty"),
        (csr_array(np.ones((3, 2))), ValueError, r"square and not empty, got shape \(3, 2\)"),
        (np.diag([1.0, np.nan]), ValueError, r"entry \(1, 1\) of K is not finite"),
        (np.array([[1.0, 2.0], [3.0, 1.0]]), ValueError, r"not symmetric: .* are 2 and 3"),
        (np.eye(2) * 1j, TypeError, "real numbers, got complex128"),
        (object(), TypeError, "real numbers, got object"),
    ],
)
def test_what_is_no_symmetric_kernel_is_refused(K, error, message):
    with pytest.raises(error, match=message):
        numerical_rank(K, 0.1)


def test_an_operator_without_a_size_and_a_delta_that_is_no_number_are_refused():
    class Sizeless:
        def __matmul__(self, v):
            return v

    with pytest.raises(TypeError, match="an operator with @ and a shape, got Sizeless"):
        numerical_rank(Sizeless(), 0.1)
    with pytest.raises(TypeError, match="delta must be a number, got 'small'"):
        numerical_rank(np.eye(3), "small")


@pytest.mark.parametrize("sigma", [0.1, 0.3, 1.0, 7.0])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_a_grid_of_step_sigma_has_one_cube_per_point(d, sigma):
    grid = np.stack(np.meshgrid(*[np.arange(5)] * d), axis=-1).reshape(-1, d)
    assert box_count(grid * sigma, sigma) == 5**d
    assert box_count(np.round(grid * sigma, 12), sigma) == 5**d  # 0.3 / 0.1 is less than 3
    assert box_count(np.repeat(grid, 3, axis=0) * sigma, sigma) == 5**d
    assert box_count(grid * sigma, 5.001 * sigma) == 1
    assert box_count(grid * sigma, 2 * sigma) == 3**d


def test_cubes_ignore_offset_order_and_common_unit():
    X = cube(3, 200)
    count = box_count(X, 0.2)
    assert 100 < count <= 125
    assert box_count(X[::-1], 0.2) == count
    assert box_count(8.0 * X, 1.6) == count
    assert box_count(X - 3.07, 0.2) == count


@pytest.mark.parametrize(("d", "sigma", "share"), [(1, 0.02, 0.68), (2, 0.1, 0.37)])
def test_cubes_estimate_the_rank_at_a_tenth(d, sigma, share):
    # On a large cube the spectrum of the Gaussian is its Fourier transform: the share of the
    # frequencies with exp(-w²σ²/2) > 0.1 is the volume of a ball of radius √(2 log 10) / (2π).
    X = cube(d, 1000)
    rank = numerical_rank(gaussian(X, sigma), 0.1)
    assert share - 0.1 < rank / box_count(X, sigma) < share + 0.15


@pytest.mark.parametrize("sigma", [0, -1.0, np.inf, np.nan])
def test_a_side_that_is_no_length_is_refused(sigma):
    with pytest.raises(ValueError, match="positive and finite"):
        box_count([[0.0], [1.0]], sigma)


def test_bad_samples_are_refused_by_box_count():
    with pytest.raises(ValueError, match="the cubes overflow"):
        box_count([[0.0], [1.0]], 1e-320)
    with pytest.raises(ValueError, match="row 1 of view 'X'"):
        box_count([[0.0], [np.nan]], 1.0)
    with pytest.raises(TypeError, match="sigma must be a number, got None"):
        box_count([[0.0], [1.0]], None)
    with pytest.raises(ValueError, match="n_samples = 1"):
        box_count([[0.0]], 1.0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("noise", [0.0, 0.01])
@pytest.mark.parametrize(
    ("shape", "d", "n"),
    [(sphere, 1, 300), (sphere, 2, 400), (sphere, 3, 600), (cube, 2, 300), (cube, 4, 600)],
)
def test_local_pca_finds_the_dimension_of_a_noisy_shape(shape, d, n, noise, dtype):
    X = lifted(shape(d, n), 8, noise).astype(dtype)
    assert local_pca(X) == d


def test_local_pca_ignores_unit_offset_and_order():
    X = lifted(sphere(2, 200), 6, 0.02)
    order = np.random.default_rng(2).permutation(200)
    for same in (X, 1e-7 * X, 1e7 * X, X - 40.0, X[order], X[:, ::-1]):
        assert local_pca(same, n_neighbors=20) == 2


def test_local_pca_counts_components_above_the_threshold():
    # A long box of sides 1, 0.5 and 0.1, seen whole by every sample.
    X = cube(3, 200) * [1.0, 0.5, 0.1]
    assert local_pca(X, n_neighbors=199, threshold=0.7) == 1
    assert local_pca(X, n_neighbors=500, threshold=0.3) == 2
    assert local_pca(X, n_neighbors=199, threshold=0.05) == 3


def test_local_pca_finds_no_more_components_than_neighbours():
    assert local_pca(cube(6, 200), n_neighbors=2, threshold=1e-6) == 2


def test_local_pca_takes_the_median_sample():
    # 60 samples on a line and 40 in a plane far from it.
    line = np.c_[np.linspace(0, 1, 60), np.zeros(60)]
    assert local_pca(np.vstack([line, 9 + cube(2, 40)]), n_neighbors=12) == 1
    assert local_pca(np.vstack([line[:30], 9 + cube(2, 40)]), n_neighbors=12) == 2


def test_an_even_number_of_samples_has_the_lower_median():
    line = np.c_[np.linspace(0, 1, 50), np.zeros(50)]
    assert local_pca(np.vstack([line, 9 + cube(2, 50)]), n_neighbors=12) == 1


def test_equal_rows_do_not_hide_their_neighbourhood():
    X = np.repeat(lifted(sphere(2, 200), 5), 6, axis=0)
    assert local_pca(X, n_neighbors=4) == 1  # the nearest distinct sample: a line
    assert local_pca(X, n_neighbors=120) == 2


@pytest.mark.parametrize("n_neighbors", [0, -3, 2.5, "all"])
def test_neighbour_counts_that_are_none_are_refused(n_neighbors):
    with pytest.raises(ValueError, match="n_neighbors must be an integer of at least"):
        local_pca(cube(2, 30), n_neighbors=n_neighbors)


def test_bad_samples_and_thresholds_are_refused_by_local_pca():
    with pytest.raises(ValueError, match="all 30 samples of X are equal"):
        local_pca(np.full((30, 2), 3.0))
    with pytest.raises(ValueError, match="row 4 of view 'X'"):
        local_pca(np.where(np.arange(30)[:, None] == 4, np.inf, cube(2, 30)))
    with pytest.raises(ValueError, match="n_samples = 1"):
        local_pca([[1.0, 2.0]])
    for threshold in (0, 1, np.nan):
        with pytest.raises(ValueError, match="threshold must be a share"):
            local_pca(cube(2, 30), threshold=threshold)


def test_danco_without_its_extra_says_what_to_install(monkeypatch):
    for name in ("skdim", "skdim.id"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r'pip install "viewhop\[dimension\]"'):
        danco(cube(2, 50))
    with pytest.raises(ImportError, match=r'pip install "viewhop\[dimension\]"'):
        intrinsic(cube(2, 50), method="danco")


class Stub:
    """Stands for skdim.id.DANCo where it is not installed: it knows what it was given."""

    seen: ClassVar[list] = []
    answer = 2.25

    def __init__(self, **params):
        self.params = params

    def fit(self, X):
        sys.stdout.write("a remark")
        self.seen.append((self.params, X))
        self.dimension_ = self.answer
        return self


@pytest.fixture
def stub(monkeypatch):
    monkeypatch.setattr(Stub, "seen", [])
    monkeypatch.setitem(sys.modules, "skdim", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "skdim.id", SimpleNamespace(DANCo=Stub))
    return Stub


def test_danco_hands_on_distinct_rows_in_their_order_and_its_parameters(stub, capsys):
    X = cube(3, 30)
    assert danco(np.vstack([X, X[::-1]]), random_state=4) == 2.25
    danco(X, n_neighbors=6, max_dimension=2, random_state=np.random.default_rng(1))
    (first, rows), (second, _) = stub.seen
    assert first == {"k": 10, "D": 3, "random_state": 4}
    assert (second["k"], second["D"]) == (6, 2)
    assert second["random_state"] == int(np.random.default_rng(1).integers(2**31))
    assert_array_equal(rows, X)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(("answer", "expected"), [(2.25, 2), (2.75, 3), (0.2, 1)])
def test_intrinsic_rounds_danco_to_at_least_one(stub, monkeypatch, answer, expected):
    monkeypatch.setattr(stub, "answer", answer)
    assert intrinsic(cube(3, 30), method="danco", random_state=0) == expected


def test_danco_without_an_estimate_says_why(stub, monkeypatch):
    monkeypatch.setattr(stub, "answer", np.nan)
    with pytest.raises(ValueError, match="exactly on a line; use local_pca"):
        danco(cube(3, 30))


@pytest.mark.parametrize(("shape", "d"), [(sphere, 1), (sphere, 2), (cube, 3)])
def test_danco_is_that_of_scikit_dimension(shape, d):
    skdim_id = pytest.importorskip("skdim").id
    X = lifted(shape(d, 200), 5, 0.001)
    with np.errstate(all="ignore"):  # it divides by 0 where three samples are almost on a line
        default = skdim_id.DANCo(random_state=4).fit(X).dimension_
        narrow = skdim_id.DANCo(k=7, D=4, random_state=4).fit(X).dimension_
    assert danco(X, random_state=4) == default
    assert danco(X, n_neighbors=7, max_dimension=4, random_state=4) == narrow
    assert abs(default - d) < 0.6


def test_danco_counts_equal_rows_once_and_prints_nothing(capsys):
    pytest.importorskip("skdim")
    X = lifted(sphere(2, 150), 4, 0.01)
    once = danco(X, random_state=0)
    assert danco(np.vstack([X, X[::-1]]), random_state=0) == once
    assert capsys.readouterr() == ("", "")


def test_danco_with_a_generator_is_repeatable():
    pytest.importorskip("skdim")
    X = lifted(sphere(2, 150), 4, 0.01)
    first = danco(X, random_state=np.random.default_rng(5))
    assert danco(X, random_state=np.random.default_rng(5)) == first


@pytest.mark.parametrize(
    ("X", "params", "message"),
    [
        (cube(1, 40), {}, "needs at least 2 features; X has 1"),
        (cube(2, 11), {}, "at least 12 distinct samples; X has 11"),
        (np.repeat(cube(2, 11), 2, axis=0), {}, "at least 12 distinct samples; X has 11"),
        (cube(2, 40), {"n_neighbors": 1}, "an integer of at least 2, got 1"),
        (cube(2, 40), {"max_dimension": 3}, "an integer from 2 to 2, the number of features"),
        (cube(2, 40), {"max_dimension": 1}, "an integer from 2 to 2, the number of features"),
    ],
)
def test_what_danco_cannot_measure_is_refused(stub, X, params, message):
    with pytest.raises(ValueError, match=message):
        danco(X, random_state=0, **params)


def test_danco_refuses_samples_on_a_line():
    pytest.importorskip("skdim")
    with pytest.raises(ValueError, match="exactly on a line; use local_pca"):
        danco(np.outer(np.linspace(0, 1, 40), [1.0, 2.0]), random_state=0)


def test_intrinsic_dimension_of_views_is_their_lower_median():
    surface, curve = lifted(sphere(2, 300), 5), lifted(sphere(1, 300), 5)
    solid = cube(4, 300)
    assert intrinsic(surface) == 2
    assert intrinsic([curve, surface, solid]) == 2
    assert intrinsic({"a": solid, "b": curve, "c": curve}) == 1
    assert intrinsic(Views([surface, solid])) == 2


def test_intrinsic_dimension_by_danco_is_rounded():
    pytest.importorskip("skdim")
    X = lifted(sphere(2, 200), 4, 0.01)
    estimate = intrinsic([X, X], method="danco", random_state=1)
    assert estimate == round(danco(X, random_state=1)) == 2


def test_intrinsic_names_the_method_or_the_view_that_is_wrong():
    with pytest.raises(ValueError, match="unknown method 'pca'; there are local_pca, danco"):
        intrinsic(cube(2, 30), method="pca")
    with pytest.raises(ValueError, match="view 'b': all 30 samples"):
        intrinsic({"a": cube(2, 30), "b": np.ones((30, 2))})
