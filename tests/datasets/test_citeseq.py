"""Simulated CITE-seq: counts, types that one modality cannot tell apart, a trajectory."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import spearmanr
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_val_predict, cross_val_score

from viewhop.datasets import make_citeseq


@pytest.fixture(scope="module")
def cells():
    return make_citeseq(1200, n_genes=500, n_proteins=25, random_state=0)


def kind(cells, name):
    return cells.target == cells.target_names.index(name)


def accuracy(X, first, second):
    """How well a linear rule tells two groups of cells apart; 0.5 is chance."""
    both = first | second
    Z = PCA(15, random_state=0).fit_transform(X[both])
    scores = cross_val_score(
        LinearDiscriminantAnalysis(), Z, first[both], scoring="balanced_accuracy"
    )
    return scores.mean()


def test_shapes_types_and_seeds(cells):
    assert cells.views.names == ("rna", "protein")
    assert cells.views["rna"].shape == (1200, 500)
    assert cells.views["protein"].shape == (1200, 25)
    assert cells.views.dtype == np.float32
    assert_array_equal(np.unique(cells.target), np.arange(8))
    assert len(cells.target_names) == 8
    again = make_citeseq(1200, n_genes=500, n_proteins=25, random_state=0)
    assert_array_equal(again.counts["rna"], cells.counts["rna"])
    other = make_citeseq(1200, n_genes=500, n_proteins=25, random_state=1)
    assert (other.counts["rna"] != cells.counts["rna"]).any()


@pytest.mark.parametrize(
    ("first", "second", "by_rna", "by_protein"),
    [("A1", "A2", False, True), ("B1", "B2", True, False), ("A1", "C", True, True)],
)
def test_pairs_of_types_differ_in_the_modalities_that_they_should(
    cells, first, second, by_rna, by_protein
):
    for name, differs in (("rna", by_rna), ("protein", by_protein)):
        score = accuracy(cells.views[name], kind(cells, first), kind(cells, second))
        assert score > 0.95 if differs else abs(score - 0.5) < 0.12


def test_both_modalities_follow_the_trajectory_and_its_stages_are_thirds(cells):
    on = np.isfinite(cells.pseudotime)
    assert_array_equal(on, cells.target < 3)
    assert_array_equal(cells.target[on], np.floor(3 * cells.pseudotime[on]))
    assert 0.3 < on.mean() < 0.5
    for X in cells.views.arrays:
        Z = PCA(10, random_state=0).fit_transform(X[on])
        found = cross_val_predict(LinearRegression(), Z, cells.pseudotime[on])
        assert spearmanr(found, cells.pseudotime[on]).statistic > 0.8


def test_views_are_normalised_logarithms_of_the_counts(cells):
    rna, protein = cells.counts["rna"], cells.counts["protein"]
    for counts in (rna, protein):
        assert counts.dtype == np.int32
        assert counts.min() >= 0
    expected = np.log1p(1e4 * rna / rna.sum(axis=1, keepdims=True))
    assert_allclose(cells.views["rna"], expected, rtol=1e-5)
    logs = np.log1p(protein)
    assert_allclose(cells.views["protein"], logs - logs.mean(axis=1, keepdims=True), atol=1e-5)


def test_counts_vary_more_than_poisson_and_rna_is_sparse_and_proteins_are_not(cells):
    same = kind(cells, "C")
    for name in ("rna", "protein"):
        counts = cells.counts[name][same]
        often = counts.mean(axis=0) > 2
        assert (counts.var(axis=0) > 1.3 * counts.mean(axis=0))[often].mean() > 0.9
    assert (cells.counts["rna"] == 0).mean() > 0.3
    assert (cells.counts["protein"] == 0).mean() < 0.05


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_samples": 5}, "n_samples must be an integer of at least 20, got 5"),
        ({"n_genes": 2.5}, r"n_genes must be an integer of at least 20, got 2\.5"),
        ({"n_proteins": 1}, "n_proteins must be an integer of at least 10, got 1"),
    ],
)
def test_sizes_that_hold_no_types_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        make_citeseq(**{"n_samples": 30} | options)
