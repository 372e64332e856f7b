"""What every walk must do: inherit `WalkContract` and write its hooks."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests.contracts.affinity import same_groups
from tests.support import oracles
from viewhop._storage.codec import Shelf
from viewhop.solvers import solve
from viewhop.walks import read_walk, walk_state


class WalkContract:
    """Two hooks: a walk, and its kernel as a matrix."""

    rtol = 1e-8
    #: Pairs that are solved for.
    r = 3

    def walk(self):
        """A walk, made anew."""
        raise NotImplementedError

    def kernel(self):
        """Its kernel, (n_nodes, n_nodes), by brute force."""
        raise NotImplementedError

    def views(self):
        """What the views observed, by name, as the walk's affinities take it."""
        raise NotImplementedError

    # --- the walk itself ----------------------------------------------------------------------

    @pytest.mark.parametrize("shape", [(), (1,), (5,)])
    def test_a_product_is_that_of_the_matrix(self, shape):
        walk = self.walk()
        V = np.random.default_rng(0).standard_normal((walk.n_nodes, *shape))
        V.flags.writeable = False
        assert_allclose(walk @ V, self.kernel() @ V, rtol=self.rtol, atol=self.rtol)

    def test_degrees_and_the_stationary_distribution_are_those_of_the_matrix(self):
        walk, degrees = self.walk(), self.kernel().sum(axis=1)
        assert walk.degrees.dtype == np.float64
        assert_allclose(walk.degrees, degrees, rtol=self.rtol, atol=1e-300)
        weights = degrees if walk.is_markov else np.ones(walk.n_nodes)
        assert_allclose(walk.stationary, weights / weights.sum(), rtol=self.rtol, atol=1e-300)

    def test_the_normalised_kernel_has_the_walks_eigenvalues(self):
        walk = self.walk()
        A = walk.normalized(np.eye(walk.n_nodes))
        assert_allclose(A, A.T, atol=1e-10)
        values = np.linalg.eigvalsh(A)[::-1]
        assert np.abs(values).max() <= walk.largest_possible + 1e-10
        if not walk.is_markov:
            assert_allclose(A, self.kernel(), atol=1e-10)
            return
        chain = oracles.Chain(self.kernel())
        assert_allclose(values[0], 1.0, atol=1e-10)
        assert_allclose(values[1 : self.r + 1], chain.eigenvalues[: self.r], atol=1e-8)
        assert walk.largest_possible == 1.0

    def test_mass_moves_by_the_transposed_transition_matrix(self):
        walk, K = self.walk(), self.kernel()
        n = walk.n_samples
        V = np.random.default_rng(0).random((walk.n_nodes, 2))
        V /= V.sum(axis=0)
        if not walk.places_every_block:  # its mass starts where its samples start
            V[n:] = 0.0
        if not walk.is_markov:
            with pytest.raises(ValueError, match="no random walk"):
                walk.mass_after_step(V)
            return
        moved = walk.mass_after_step(V)
        assert moved.shape == V.shape
        if walk.places_every_block:
            degrees = np.where(walk.degrees > 0, walk.degrees, np.inf)
            assert_allclose(moved, K @ (V / degrees[:, None]), rtol=self.rtol, atol=1e-14)
        assert_allclose(moved.sum(axis=0), V[walk.degrees > 0].sum(axis=0), rtol=1e-10)

    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_its_matrix_is_what_it_multiplies_by(self, dtype):
        walk = self.walk()
        A = walk.matrix(np.dtype(dtype))
        assert A.dtype == dtype
        expected = walk.normalized(np.eye(walk.n_nodes))
        coarsest = max(np.finfo(dtype).eps, np.finfo(walk.dtype).eps)
        assert_allclose(A, expected, rtol=0, atol=20 * coarsest)
        assert 0 <= walk.matrix_flops <= walk.n_nodes * walk.product_flops

    def test_pieces_are_those_of_the_matrix(self):
        walk, K = self.walk(), self.kernel()
        pieces = walk.pieces()
        assert_array_equal(pieces >= 0, K.sum(axis=1) > 0)
        reached = pieces >= 0
        expected = oracles.pieces(K[np.ix_(reached, reached)])
        assert same_groups(pieces[reached], expected)
        assert {*pieces[reached]} == {*range(pieces.max() + 1)}

    def test_positive_eigenvalues_are_no_more_than_it_says(self):
        walk, K = self.walk(), self.kernel()
        values = oracles.Chain(K).eigenvalues if walk.is_markov else np.linalg.eigvalsh(K)
        assert (values > 1e-10).sum() <= walk.max_coordinates

    # --- nodes and blocks ---------------------------------------------------------------------

    def test_blocks_cut_the_nodes_in_order(self):
        walk = self.walk()
        numbers = np.arange(walk.n_nodes)
        blocks = walk.blocks(numbers)
        assert len(blocks) == walk.n_blocks
        assert_array_equal(np.concatenate(blocks), numbers)

    def test_a_node_knows_its_sample(self):
        walk = self.walk()
        for view in range(len(walk.affinities)):
            samples = np.flatnonzero(walk.rows.observed[:, view])
            nodes = walk.nodes(view, samples)
            places = [walk.where(int(node)) for node in nodes]
            assert [sample for _, sample in places] == samples.tolist()
            if not walk.is_fused:
                assert {block for block, _ in places} == {view}

    def test_a_smaller_problem_is_the_block_between_two_sets(self):
        walk = self.walk()
        if walk.reduced is None:
            assert not walk.is_cross
            return
        first, second = walk.reduced.shape
        A = walk.normalized(np.eye(walk.n_nodes))
        assert first + second == walk.n_nodes
        assert_allclose(A[:first, :first], 0, atol=1e-12)
        assert_allclose(A[first:, first:], 0, atol=1e-12)
        assert_allclose(walk.reduced.forward(np.eye(second)), A[:first, first:], atol=1e-10)
        assert_allclose(walk.reduced.backward(np.eye(first)), A[first:, :first], atol=1e-10)

    def test_its_size_is_known_before_it_is_built(self):
        walk = self.walk()
        size = type(walk).size(
            walk.n_samples,
            list(walk.rows.sizes),
            hops=walk.hops,
            is_dense=all(K.is_dense for K in walk.affinities),
        )
        assert size.n_nodes == walk.n_nodes
        solved = walk.n_nodes if walk.reduced is None else max(walk.reduced.shape)
        if walk.factored is not None:
            solved = walk.factored.shape[1]
        if walk.hub is not None:
            solved = walk.hub.n_nodes
        assert abs(size.n_solved - solved) <= 0.3 * solved

    def test_the_same_kernels_give_the_same_walk(self):
        walk = self.walk()
        same = walk.rebuild(walk.kernels, walk.rows) if len(walk.kernels) > 1 else walk
        V = np.random.default_rng(0).standard_normal((walk.n_nodes, 2))
        assert_array_equal(same @ V, walk @ V)

    # --- samples ------------------------------------------------------------------------------

    def test_training_samples_are_placed_by_one_step(self):
        walk = self.walk()
        spectrum = solve(walk, self.r)
        extension = walk.extension(spectrum)
        blocks = extension.training()
        degrees = np.where(walk.degrees > 0, walk.degrees, np.inf)
        if not walk.is_markov:
            degrees = np.ones(walk.n_nodes)
        stepped = walk.blocks((self.kernel() @ spectrum.eigenvectors) / degrees[:, None])
        assert len(blocks) == (walk.n_blocks if walk.places_every_block else 1)
        for view, (block, expected) in enumerate(zip(blocks, stepped, strict=False)):
            rows = np.isfinite(block[:, 0])
            samples = walk.rows.samples(view) if not walk.is_fused else np.arange(walk.n_samples)
            has_mass = np.isfinite(block[samples, 0])
            assert_allclose(block[samples][has_mass], expected[has_mass], rtol=1e-6, atol=1e-9)
            assert rows.sum() == has_mass.sum()

    def test_new_samples_that_are_training_samples_are_placed_where_they_are(self):
        walk = self.walk()
        if not walk.rows.is_whole:
            return
        extension = walk.extension(solve(walk, self.r))
        extension.prepare()
        step = extension.step(walk.against(self.views()))
        assert not step.lost.any()
        for block, expected in zip(step.blocks, extension.training(), strict=True):
            assert_allclose(block, expected, rtol=1e-7, atol=1e-9)

    # --- files --------------------------------------------------------------------------------

    def test_plain_data_give_it_back(self):
        walk, shelf = self.walk(), Shelf()
        state = walk_state(walk, shelf)
        again = read_walk(
            state,
            shelf,
            names=walk.names,
            widths=[X.shape[1] for X in self.views().values()],
            dtype=walk.dtype,
            n_jobs=1,
        )
        shelf.check_empty()
        assert type(again) is type(walk)
        V = np.random.default_rng(0).standard_normal((walk.n_nodes, 2))
        assert_array_equal(again @ V, walk @ V)
        assert_array_equal(again.degrees, walk.degrees)
