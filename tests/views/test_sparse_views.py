"""Sparse matrices and frames as views: what is read, kept, cut, joined and refused."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from tests.support.documents import make_documents, make_numbers
from viewhop import Views
from viewhop.errors import DroppedRowsWarning
from viewhop.views import SparseRows

N = 12
X = make_documents(N, 9)
NUMBERS = make_numbers(N)


def as_frame(matrix, **options):
    return pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(matrix), **options)


FORMS = {
    "csr_array": X,
    "csr_matrix": sparse.csr_matrix(X),
    "csc_array": sparse.csc_array(X),
    "csc_matrix": sparse.csc_matrix(X),
    "frame": as_frame(X),
    "int64 indices": sparse.csr_array(
        (X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)), shape=X.shape
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_sparse_form_is_the_same_view(form):
    views = Views({"words": FORMS[form], "numbers": NUMBERS})
    assert isinstance(views.rows("words"), SparseRows)
    assert_array_equal(views["words"].toarray(), X.toarray())
    assert views.shape == (N, 15)
    assert repr(views) == "Views(12 samples: words (9 sparse), numbers (6))"


def test_counts_become_double_precision_and_single_precision_is_kept():
    counts = X.astype(bool).astype(np.int32)
    assert Views([counts]).dtype == np.float64
    assert_array_equal(Views([counts])["view1"].toarray(), counts.toarray())
    assert Views([X > 0]).dtype == np.float64
    assert Views([X.astype(np.float32)]).dtype == np.float32
    mixed = Views([X.astype(np.float32), NUMBERS])
    assert mixed.dtype == np.float64
    assert mixed.precision("view1") == np.float32


def test_the_input_is_not_changed_though_it_is_not_in_order():
    # Unsorted, with a duplicate and a stored zero, and none of it may be written to.
    parts = [np.array([1.0, 2.0, 3.0, 0.0]), np.array([2, 0, 2, 1]), np.array([0, 3, 4])]
    before = [part.copy() for part in parts]
    for part in parts:
        part.flags.writeable = False
    matrix = sparse.csr_array(tuple(parts), shape=(2, 3))
    rows = Views([matrix]).rows("view1")
    assert_array_equal(rows.matrix.toarray(), [[2.0, 0.0, 4.0], [0.0, 0.0, 0.0]])
    assert rows.nnz == 2
    for part, copy in zip((matrix.data, matrix.indices, matrix.indptr), before, strict=True):
        assert_array_equal(part, copy)


def test_what_a_view_returns_is_a_copy():
    matrix, before = X.copy(), X.toarray()
    views = Views([matrix])
    views["view1"].data[:] = 7.0
    assert_array_equal(views["view1"].toarray(), before)
    assert_array_equal(matrix.toarray(), before)


KEYS = {
    "slice": slice(2, 7),
    "every other": slice(None, None, 2),
    "list": [3, 3, 0],
    "mask": np.arange(N) % 3 == 0,
    "number": 4,
}


@pytest.mark.parametrize("key", KEYS)
def test_rows_are_selected_as_in_an_array(key):
    views = Views({"words": X, "numbers": NUMBERS})[KEYS[key]]
    chosen = Views({"words": X.toarray(), "numbers": NUMBERS})[KEYS[key]]
    assert_array_equal(views["words"].toarray(), chosen["words"])
    assert_array_equal(views["numbers"], chosen["numbers"])


def test_columns_are_cut_into_sparse_views():
    cut = Views.from_columns(X, {"a": [4, 0], "b": slice(5, 9)})
    assert_array_equal(cut["a"].toarray(), X.toarray()[:, [4, 0]])
    assert_array_equal(cut["b"].toarray(), X.toarray()[:, 5:9])
    named = as_frame(X, columns=[f"{'ab'[k % 2]}_{k}" for k in range(9)])
    for views in (Views.from_frame(named, ["a_", "b_"]), Views.from_columns(named, 3)):
        assert all(isinstance(views.rows(name), SparseRows) for name in views.names)
    views = Views.from_frame(named, ["a_", "b_"])
    assert_array_equal(views["b"].toarray(), X.toarray()[:, 1::2])
    assert views.feature_names[1] == ("b_1", "b_3", "b_5", "b_7")


def test_a_frame_may_have_sparse_and_full_views():
    frame = as_frame(X, columns=[f"w_{k}" for k in range(9)])
    frame["n_a"], frame["n_b"] = NUMBERS[:, 0], NUMBERS[:, 1]
    views = Views.from_frame(frame, ["w_", "n_"])
    assert repr(views) == "Views(12 samples: w (9 sparse), n (2))"


def test_frames_are_joined_by_index():
    ids = [f"d{k}" for k in range(N)]
    words = as_frame(X, index=ids).iloc[::-1]
    views = Views.from_frames({"numbers": pd.DataFrame(NUMBERS, ids), "words": words.iloc[:8]})
    assert_array_equal(views.observed[:, 1], np.arange(N) >= 4)
    order = views.samples("words")
    assert_array_equal(views["words"].toarray(), X.toarray()[order])
    assert views.describe_row("words", 0) == "sample 'd11' (row 11)"
    linked = Views.link(
        {"words": X[:3], "numbers": NUMBERS}, ids={"words": [5, 5, 2], "numbers": range(N)}
    )
    assert repr(linked) == "Views(12 samples: words (9 sparse; saw 2 in 3 rows), numbers (6))"


def test_observed_says_what_a_sparse_view_missed():
    mask = np.arange(N) != 5
    views = Views({"words": X, "numbers": NUMBERS}, observed={"words": mask})
    assert_array_equal(views.observed[:, 0], mask)
    assert_array_equal(views["words"].toarray(), X.toarray()[mask])
    assert repr(views) == "Views(12 samples: words (9 sparse; saw 11), numbers (6))"


def with_value(value, row=3):
    bad = X.copy()
    bad.data[bad.indptr[row]] = value
    return bad, int(bad.indices[bad.indptr[row]])


def test_a_stored_nan_is_refused_with_the_row_and_the_column():
    bad, column = with_value(np.nan)
    message = rf"row 3 of view 'words' stores NaN in column {column};.*observed= or ids"
    with pytest.raises(ValueError, match=message):
        Views({"words": bad, "numbers": NUMBERS})
    with pytest.warns(DroppedRowsWarning, match=r"1 of view 'words' \(first: row 3\)"):
        views = Views({"words": bad, "numbers": NUMBERS}, missing="drop")
    assert_array_equal(views.observed[:, 0], np.arange(N) != 3)
    # A row that was not observed may hold anything.
    seen = np.arange(N) != 3
    assert len(Views({"words": bad, "numbers": NUMBERS}, observed={"words": seen})["words"].data)


@pytest.mark.parametrize(
    ("value", "dtype", "message"),
    [
        (np.inf, float, "infinite value"),
        (-np.inf, float, "infinite value"),
        (1e200, float, "square overflows"),
        (1e36, np.float32, "single precision"),
    ],
)
def test_values_that_overflow_are_refused(value, dtype, message):
    bad, _ = with_value(value)
    with pytest.raises(ValueError, match=f"row 3 of view 'view1'.*{message}"):
        Views([bad.astype(dtype)])


def damaged(**parts):
    """A matrix whose arrays were overwritten, as one from a faulty file may be."""
    matrix = X.copy()
    for name, array in parts.items():
        setattr(matrix, name, array)
    return matrix


def overwritten(array, place, value):
    copy = array.copy()
    copy[place] = value
    return copy


DAMAGED = {
    "a column beyond the last": damaged(indices=overwritten(X.indices, 3, 9)),
    "a negative column": damaged(indices=overwritten(X.indices, 3, -1)),
    "a column that overflows": damaged(indices=overwritten(X.indices.astype(np.int64), 0, 2**40)),
    "rows that fall": damaged(indptr=overwritten(X.indptr, 4, X.indptr[3] - 1)),
    "rows that overflow": damaged(indptr=overwritten(X.indptr, 4, 2**31 - 1)),
    "rows that begin late": damaged(indptr=overwritten(X.indptr, 0, 1)),
    "rows that end late": damaged(indptr=overwritten(X.indptr, -1, X.nnz + 5)),
    "too few rows": damaged(indptr=X.indptr[:-2]),
    "too few values": damaged(data=X.data[:-3]),
}


@pytest.mark.parametrize("kind", DAMAGED)
@pytest.mark.parametrize("form", ["csr", "csc"])
def test_damaged_indices_are_refused_before_anything_reads_them(kind, form):
    matrix = DAMAGED[kind]
    if form == "csc":
        parts = matrix.data, matrix.indices, matrix.indptr
        matrix = X.T.copy()
        matrix.data, matrix.indices, matrix.indptr = parts
    with pytest.raises(ValueError, match="view 'view1' is a damaged sparse matrix"):
        Views([matrix])


@pytest.mark.parametrize("form", ["coo", "dok", "lil", "dia", "bsr"])
def test_other_formats_are_refused_with_the_call_to_make(form):
    message = rf"view 'view1' is a sparse {form}_array.*pass its \.tocsr\(\)"
    with pytest.raises(TypeError, match=message):
        Views([X.asformat(form)])
    with pytest.raises(TypeError, match="expected several views, got one sparse matrix"):
        Views(X.asformat(form))


def test_numbers_that_are_not_real_are_refused():
    with pytest.raises(ValueError, match="view 'view1': Complex data not supported"):
        Views([X.astype(complex)])
    frame = pd.DataFrame({"a": pd.arrays.SparseArray(["x", "y"], fill_value="x")})
    with pytest.raises(ValueError, match="view 'view1': column 'a' is not numeric"):
        Views([frame])


def test_views_of_different_length_and_empty_ones_are_refused():
    with pytest.raises(ValueError, match="words has 12, numbers has 11"):
        Views({"words": X, "numbers": NUMBERS[1:]})
    with pytest.raises(ValueError, match="view 'view1' is empty: it has 0 samples"):
        Views([X[:0]])
    with pytest.raises(ValueError, match="view 'view1' is empty: it has 0 features"):
        Views([sparse.csr_array((4, 0))])


def test_rows_that_must_be_full_are_refused_by_name():
    with pytest.raises(TypeError, match=r"this needs full rows, but view 'words' is sparse.*SVD"):
        Views({"words": X}).full_rows("words", "this")


def test_a_modality_of_sparse_features_stays_sparse():
    def modality(X, obs):
        names = {"obs_names": [*obs], "var_names": [f"g{k}" for k in range(X.shape[1])]}
        return SimpleNamespace(X=X, obsm={}, **names)

    parts = {
        "rna": modality(X[:4], "cbea"),
        "protein": modality(NUMBERS[:5], "abcde"),
        "other": modality(sparse.coo_array(X[:5]), "abcde"),
    }
    views = Views(SimpleNamespace(mod=parts, obs_names=[*"abcde"]))
    assert repr(views) == "Views(5 samples: rna (9 sparse; saw 4), protein (6), other (9))"
    assert_array_equal(views["rna"].toarray(), X.toarray()[:4])
    assert views.samples("rna").tolist() == [2, 1, 4, 0]
    assert views.feature_names[0] == tuple(f"g{k}" for k in range(9))
