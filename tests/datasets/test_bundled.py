"""The bundled digits, against what is known about them."""

import numpy as np
from numpy.testing import assert_array_equal
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from viewhop.datasets import load_mfeat


def test_mfeat_has_the_papers_views_in_the_papers_order():
    digits = load_mfeat()
    widths = [array.shape for array in digits.views.arrays]
    assert digits.views.names == ("fac", "kar", "zer", "mor", "pix", "fou")
    assert widths == [(2000, 216), (2000, 64), (2000, 47), (2000, 6), (2000, 240), (2000, 76)]
    assert {array.dtype for array in digits.views.arrays} == {np.dtype(np.float64)}


def test_mfeat_has_two_hundred_of_each_digit():
    digits = load_mfeat()
    assert np.issubdtype(digits.target.dtype, np.integer)
    assert_array_equal(np.bincount(digits.target), np.full(10, 200))
    assert digits.target_names == list("0123456789")


def test_mfeat_labels_belong_to_the_rows():
    digits = load_mfeat()
    order = np.random.default_rng(0).permutation(2000)
    for name, least in (("kar", 0.9), ("fou", 0.7), ("mor", 0.4)):
        scores = cross_val_score(
            KNeighborsClassifier(5), digits.views[name][order], digits.target[order], cv=3
        )
        assert scores.mean() > least


def test_mfeat_pixels_count_six_to_a_window():
    pixels = load_mfeat().views["pix"]
    assert_array_equal(np.unique(pixels), np.arange(7))


def test_only_zeros_are_hollow_and_ones_are_fullest_in_the_middle():
    digits = load_mfeat()
    middle = digits.views["pix"].reshape(2000, 16, 15)[:, 6:10, 6:9].mean(axis=(1, 2))
    ink = np.array([middle[digits.target == digit].mean() for digit in range(10)])
    assert_array_equal(np.flatnonzero(ink < 1), [0])
    assert np.argmax(ink) == 1


def test_mfeat_names_its_source_and_licence():
    text = load_mfeat().DESCR
    for words in ("R. P. W. Duin", "UCI Machine Learning Repository", "CC BY 4.0", "mfeat.npz"):
        assert words in text


def test_loading_twice_gives_separate_arrays():
    first = load_mfeat()
    first.views["mor"][:] = 0
    assert load_mfeat().views["mor"].max() > 0
