"""What every affinity must do: inherit `AffinityContract` and write its hooks."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import block_array, csr_array
from scipy.sparse.csgraph import connected_components

from viewhop._storage.codec import Shelf
from viewhop.affinity import AffinityReader
from viewhop.errors import ModelFileError


def same_groups(first, second):
    """Whether two labellings put the same members together."""
    pairs = {*zip(first.tolist(), second.tolist(), strict=True)}
    return len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})


class AffinityContract:
    """Three hooks: an affinity, its kernel as a matrix, and new samples with their kernel rows."""

    #: Relative tolerance against the dense oracle.
    rtol = 1e-9
    #: Whether a model file can hold it.
    is_saved = True

    def affinity(self):
        """An affinity on at least five samples, made anew."""
        raise NotImplementedError

    def matrix(self):
        """Its kernel, (n, n), by brute force."""
        raise NotImplementedError

    def new(self):
        """Rows of new samples, (q, d), and their kernel values, (q, n), by brute force."""
        raise NotImplementedError

    def training_rows(self):
        """The rows of the training samples, as `against` takes them."""
        raise NotImplementedError

    # --- products ---------------------------------------------------------------------------

    @pytest.mark.parametrize("shape", [(), (1,), (7,)])
    def test_a_product_is_that_of_the_matrix(self, shape):
        K, V = self.affinity(), self.vectors(shape)
        assert_allclose(K @ V, self.matrix() @ V, rtol=self.rtol, atol=self.rtol)

    def test_a_product_writes_neither_its_operand_nor_itself(self):
        K, V = self.affinity(), self.vectors((3,))
        V.flags.writeable = False
        first = np.array(K @ V)
        (K @ V)[:] = 0.0
        assert_array_equal(K @ V, first)

    def test_the_kernel_is_symmetric_not_negative_and_sees_itself(self):
        K = self.affinity() @ np.eye(len(self.matrix()))
        assert_allclose(K, K.T, rtol=1e-12, atol=1e-300)
        assert K.min() >= 0
        assert K.diagonal().min() > 0

    def test_degrees_are_row_sums_in_double_precision(self):
        K = self.affinity()
        assert K.degrees.dtype == np.float64
        assert_allclose(K.degrees, self.matrix().sum(axis=1), rtol=self.rtol)
        assert K.density.shape == K.degrees.shape
        assert K.density.min() > 0

    def test_it_says_how_large_it_is(self):
        K = self.affinity()
        assert K.n_samples == len(self.matrix())
        assert K.nbytes > 0
        assert 0 <= K.recall <= 1
        assert isinstance(K.name, str)
        assert np.shape(K.scale) in ((), (K.n_samples,))

    # --- new samples ------------------------------------------------------------------------

    def test_kernel_rows_of_new_samples_are_those_of_the_kernel(self):
        X, expected = self.new()
        rows = self.affinity().against(X)
        assert rows.n_rows == len(X)
        assert_allclose(plain(rows), expected, rtol=self.rtol, atol=1e-300)
        assert (rows.coverage >= 0).all()

    def test_training_samples_have_the_rows_of_the_matrix(self):
        rows = self.affinity().against(self.training_rows())
        assert_allclose(plain(rows), self.matrix(), rtol=self.rtol, atol=1e-300)

    def test_a_batch_is_its_rows_one_by_one(self):
        K, (X, _) = self.affinity(), self.new()
        whole = plain(K.against(X))
        parts = [plain(K.against(X[k : k + 1])) for k in range(len(X))]
        assert_allclose(np.vstack(parts), whole, rtol=1e-12, atol=1e-300)

    def test_rows_that_the_kernel_is_defined_on_pass_the_check(self):
        self.affinity().check_new(self.training_rows())
        self.affinity().check_new(self.new()[0], describe="sample {}".format)

    # --- connectivity -----------------------------------------------------------------------

    def test_the_pattern_is_connected_as_the_kernel_is(self):
        pattern = self.affinity().pattern()
        n = len(self.matrix())
        assert pattern.shape == (n, n)
        expected = connected_components(csr_array(self.matrix() > 0), directed=False)[1]
        assert same_groups(connected_components(pattern, connection="strong")[1], expected)

    def test_the_pattern_of_live_columns_joins_rows_and_columns_as_two_sets(self):
        K, matrix = self.affinity(), self.matrix()
        n, rng = len(matrix), np.random.default_rng(0)
        few = [np.isin(np.arange(n), rng.choice(n, 2, replace=False)) for _ in range(20)]
        for live in (np.arange(n) % 3 > 0, *few):
            reached = matrix * live > 0
            found, expected = (
                connected_components(block_array([[None, part], [part.T, None]]), directed=False)[1]
                for part in (csr_array(K.pattern(live)), csr_array(reached))
            )
            nodes = np.concatenate([reached.any(axis=1), live])
            assert same_groups(found[nodes], expected[nodes])

    # --- what a solver may use ---------------------------------------------------------------

    def test_stored_pairs_are_the_kernel_or_there_are_none(self):
        pairs = self.affinity().stored_pairs
        if pairs is not None:
            assert_allclose(pairs.toarray(), self.matrix(), rtol=self.rtol, atol=1e-300)

    def test_samples_can_be_merged_or_reordered_where_it_says_so(self):
        K, n = self.affinity(), len(self.matrix())
        order = np.random.default_rng(1).permutation(n)
        label = np.random.default_rng(2).permutation(np.arange(n) // 2)
        if K.coarsening != "merge":
            for attempt in (lambda: K.reorder(order), lambda: K.merge(label)):
                with pytest.raises(TypeError):
                    attempt()
            return
        moved = self.matrix()[np.ix_(order, order)]
        assert_allclose(K.reorder(order) @ np.eye(n), moved, rtol=self.rtol, atol=1e-300)
        groups = np.equal.outer(np.arange(label.max() + 1), label).astype(float)
        merged = groups @ self.matrix() @ groups.T
        found = K.merge(label) @ np.eye(label.max() + 1)
        assert_allclose(found, merged, rtol=self.rtol, atol=1e-300)

    def test_a_subset_stands_for_all_where_it_says_so(self):
        K, n = self.affinity(), len(self.matrix())
        chosen = np.arange(0, n, 2)
        if K.coarsening != "subset":
            for attempt in (lambda: K.subset(chosen), lambda: K.subset_rows(0, chosen)):
                with pytest.raises(TypeError):
                    attempt()
            return
        expected = self.matrix()[np.ix_(chosen, chosen)]
        expected[np.diag_indices(chosen.size)] *= chosen.size / n
        assert_allclose(K.subset(chosen) @ np.eye(chosen.size), expected, rtol=1e-8)
        blocks = [plain(K.subset_rows(block, chosen)) for block in range(K.n_row_blocks)]
        assert_allclose(np.vstack(blocks), self.matrix()[:, chosen], rtol=1e-8, atol=1e-300)

    # --- copies and files -------------------------------------------------------------------

    def test_a_copy_and_a_pickle_multiply_alike(self):
        K, V = self.affinity(), self.vectors((2,))
        expected = K @ V
        for other in (copy.deepcopy(K), pickle.loads(pickle.dumps(K))):  # noqa: S301
            assert_array_equal(other @ V, expected)

    def test_plain_data_give_it_back_or_are_refused(self):
        K, shelf = self.affinity(), Shelf()
        if not self.is_saved:
            with pytest.raises(ModelFileError, match=repr(K.name)):
                K.state(shelf)
            return
        state = K.state(shelf)
        width = self.training_rows().shape[1]
        reader = AffinityReader("it", K.name, K.n_samples, width, K.dtype, 1)
        again = reader.read(state, shelf)
        shelf.check_empty()
        V = self.vectors((2,))
        assert_array_equal(again @ V, K @ V)
        X, _ = self.new()
        assert_array_equal(plain(again.against(X)), plain(K.against(X)))

    def vectors(self, shape):
        """Random vectors, (n, *shape)."""
        n = len(self.matrix())
        return np.random.default_rng(0).standard_normal((n, *shape))


def plain(rows):
    """Kernel rows as a dense array of kernel values."""
    values = rows.weights(np.zeros(rows.n_rows))
    return values if isinstance(values, np.ndarray) else values.toarray()
