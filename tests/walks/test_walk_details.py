"""Details of the walks that the contracts leave open: sizes, masks, rare rows and precision."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import viewhop as vh
from tests.support import cases
from viewhop.affinity import build_affinity
from viewhop.errors import UnreachedViewWarning
from viewhop.kernels import Gaussian, Precomputed
from viewhop.solvers import solve
from viewhop.views import RowMap
from viewhop.walks import HopWalk, SumWalk
from viewhop.walks._extension import mean_coverage
from viewhop.walks._hub import HubWalk
from viewhop.walks._walk import WalkSize

PATH = np.eye(9) + 0.5 * np.eye(9, k=1) + 0.5 * np.eye(9, k=-1)
ENDS = np.array([0, 1, 2, 6, 7, 8])


def path_walk():
    """A path of nine samples, of which the second view observed the first and last three."""
    affinities = [
        build_affinity("path", Precomputed(), PATH),
        build_affinity("ends", Precomputed(), PATH[np.ix_(ENDS, ENDS)]),
    ]
    return HopWalk(affinities, rows=RowMap([9, 6], [np.arange(9), ENDS], 9))


def affinities(n_views, dtype=np.float64):
    views = cases.views("generic", n_views, Gaussian(), dtype)
    return [build_affinity(f"v{l}", Gaussian(), X) for l, X in enumerate(views)]


def test_a_step_over_a_sample_that_cannot_be_left_joins_nothing():
    # Between samples 3 and 5, which the walk reaches from its two ends, lies 4, which it does not.
    expected = [0, 0, 0, 0, -1, 1, 1, 1, 1, 0, 0, 0, 1, 1, 1]
    assert_array_equal(path_walk().pieces(), expected)


def test_a_node_that_the_walk_does_not_reach_counts_as_not_observed():
    walk = path_walk()
    assert_array_equal(walk.nodes(0, np.array([3, 5])), [3, 5])
    assert_array_equal(walk.nodes(1, np.array([6])), [12])
    with pytest.raises(ValueError, match="view 'path' did not observe sample 4"):
        walk.nodes(0, np.array([3, 4]))


@pytest.mark.parametrize(
    ("n_rows", "hops", "expected"),
    [
        ([10, 8], None, WalkSize(18, 9)),
        ([10, 8], np.array([[0.0, 2.0], [2.0, 0.0]]), WalkSize(18, 9)),
        ([10, 8], np.array([[0.5, 1.0], [1.0, 0.0]]), WalkSize(18, 18)),
        ([10, 8], np.ones((2, 2)), WalkSize(18, 10, is_on_hub=True)),
        ([10], np.ones((1, 1)), WalkSize(10, 10)),
        ([10, 8, 9], None, WalkSize(27, 27)),
    ],
)
def test_a_solver_iterates_on_half_on_the_samples_or_on_all_nodes(n_rows, hops, expected):
    size = HopWalk.size(10, n_rows, hops=hops, is_dense=True)
    assert size == expected
    assert size.is_on_hub is expected.is_on_hub


def test_coverage_is_the_mean_over_the_views_of_a_sample():
    none = -np.inf
    one = SimpleNamespace(coverage=np.array([0.4, 3.0, 0.0]), peaks=np.array([0.0, 0.0, none]))
    two = SimpleNamespace(coverage=np.array([0.8, 0.0, 0.0]), peaks=np.array([0.0, none, none]))
    assert_allclose(mean_coverage([one, two]), [0.6, 1.0, 0.0], rtol=1e-15)
    assert_allclose(mean_coverage([one]), [0.4, 1.0, 0.0], rtol=1e-15)


@pytest.mark.parametrize("kind", [SumWalk, HopWalk])
def test_nothing_is_filled_where_every_view_observed_every_sample(kind):
    walk = kind(affinities(2))
    extension = walk.extension(solve(walk, 2))
    blocks, unreached = extension.fill()
    for block, expected in zip(blocks, extension.training(), strict=True):
        assert_array_equal(block, expected)
    assert unreached.shape == (cases.N, walk.n_blocks)
    assert unreached.dtype == bool
    assert not unreached.any()


@pytest.mark.parametrize("kind", [SumWalk, HopWalk])
def test_a_step_knows_which_samples_it_observed_and_is_in_double_precision(kind):
    walk = kind(affinities(2, np.float32))
    extension = walk.extension(solve(walk, 2))
    views = cases.views("generic", 2, Gaussian(), np.float32)
    step = extension.step(walk.against({"v0": views[0][:3], "v1": views[1][:3]}))
    assert step.observed.shape == (3, walk.n_blocks)
    assert step.observed.all()
    assert not step.lost.any()
    assert [block.dtype for block in step.blocks] == [np.float64] * walk.n_blocks


def test_pieces_are_indices_of_the_platform():
    for walk in (SumWalk(affinities(2)), HopWalk(affinities(2)), path_walk()):
        assert walk.pieces().dtype == np.intp


def test_a_rebuilt_walk_between_samples_keeps_the_rows_it_is_given():
    rows = RowMap([cases.N, cases.N - 2], [None, np.arange(2, cases.N)], cases.N)
    first, second = affinities(2)
    kernels = [first, second.subset(np.arange(2, cases.N))]
    weights = np.array([1.0, 0.5])
    rebuilt = HubWalk(affinities(2), weights).rebuild(kernels, rows)
    expected = first.degrees + 0.5 * rows.scattered(1, kernels[1].degrees)
    assert_allclose(rebuilt.mass, expected, rtol=1e-12)


def test_an_unreached_view_gets_the_mean_of_all_given_views():
    X = cases.views("generic", 4, Gaussian())
    chain = np.eye(4, k=1) + np.eye(4, k=-1)
    est = vh.MultiViewDiffusionMaps(2, kernel="gaussian", hops=chain).fit(X)
    with pytest.warns(UnreachedViewWarning, match="to view 'view4' for 3 samples") as caught:
        found = est.transform([X[0][:3], X[1][:3], None, None])
    assert [w.message.n_samples for w in caught] == [3]
    assert_allclose(found[:, 6:], (found[:, :2] + found[:, 2:4]) / 2, rtol=1e-12)


def test_a_model_of_three_samples_comes_back(tmp_path):
    X = [np.array([[0.0], [1.0], [2.5]]), np.array([[0.0], [1.5], [2.0]])]
    est = vh.MultiViewDiffusionMaps(1, kernel="gaussian").fit(X)
    est.save(tmp_path / "three.viewhop")
    found = vh.load(tmp_path / "three.viewhop")
    assert_allclose(found.embedding_, est.embedding_, rtol=0, atol=0)
