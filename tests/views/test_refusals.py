"""What is often passed for an array: refused with its name and the call to make instead."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import viewhop as vh
from viewhop import DiffusionMaps, MultiViewDiffusionMaps, MultiViewSpectralClustering, Views
from viewhop.estimators import DeSaEmbedding, KernelCCA
from viewhop.views._refusals import is_foreign

N = 30
RNG = np.random.default_rng(0)
A, B = RNG.normal(size=(N, 3)), RNG.normal(size=(N, 2))


class AnnData:
    """What marks an AnnData."""

    def __init__(self, X):
        self.X, self.obsm = X, {}
        self.obs_names = [f"c{k}" for k in range(len(X))]
        self.var_names = [f"g{k}" for k in range(X.shape[1])]
        self.shape = X.shape


def sparse_frame():
    return pd.DataFrame(np.eye(N, 4)).astype(pd.SparseDtype(float, np.nan))


FITTED = {
    "several": MultiViewDiffusionMaps(random_state=0).fit([A, B]),
    "stacked": MultiViewDiffusionMaps(views=[3, 2], random_state=0).fit(np.c_[A, B]),
    "one": DiffusionMaps(random_state=0).fit(A),
    "clustering": MultiViewSpectralClustering(2, random_state=0).fit([A, B]),
    "KernelCCA": KernelCCA(rank=10).fit([A, B]),
    "DeSa": DeSaEmbedding(kernel="gaussian", random_state=0).fit([A, B]),
}
ENTRIES = {
    "fit": MultiViewDiffusionMaps().fit,
    "fit_transform": MultiViewDiffusionMaps().fit_transform,
    "fit of groups": MultiViewDiffusionMaps(views=2).fit,
    "transform": FITTED["several"].transform,
    "transform of a stack": FITTED["stacked"].transform,
    "Views": Views,
    "from_columns": lambda X: Views.from_columns(X, 2),
    "clustering": MultiViewSpectralClustering(2).fit,
    "predict": FITTED["clustering"].predict,
    "DiffusionMaps": DiffusionMaps().fit,
    "DiffusionMaps.transform": FITTED["one"].transform,
    "KernelCCA": KernelCCA().fit,
    "KernelCCA.transform": FITTED["KernelCCA"].transform,
    "DeSa": DeSaEmbedding().fit,
    "DeSa.transform": FITTED["DeSa"].transform,
    "advise": vh.advise,
}

FOREIGN = {
    "generator": (lambda: (X for X in (A, B)), r"X is a generator.*pass a list: list\(…\)"),
    "map": (lambda: map(np.asarray, (A, B)), r"X is a map.*pass a list"),
    "zip": (lambda: zip(A, B, strict=True), r"X is a zip.*pass a list"),
    "iterator": (lambda: iter([A, B]), r"X is a list_iterator.*pass a list"),
    "dict values": (lambda: {"a": A, "b": B}.values(), r"X is a dict_values.*pass a list"),
    "set": (lambda: {1.0, 2.0}, r"X is a set.*pass a list"),
    "path": (lambda: "rna.csv", r"X is 'rna.csv', a str;.*viewhop\.tables\.read_views"),
    "Path": (lambda: Path("rna.csv"), r"X is PosixPath\('rna.csv'\).*tables\.read_views"),
    "AnnData": (lambda: AnnData(A), r"X is an AnnData; pass its arrays: adata\.X .*adata\.obsm\["),
    "stack": (lambda: np.stack([A, A]), r"X has 3 dimensions, \(2, 30, 3\).*\[X\[0\], X\[1\], …\]"),
    "stack along the last axis": (
        lambda: np.stack([A, A], axis=-1),
        r"X has 3 dimensions, \(30, 3, 2\).*\[X\[\.\.\., 0\], X\[\.\.\., 1\], …\]",
    ),
}


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("kind", FOREIGN)
def test_what_is_no_array_is_refused_by_every_entry_with_what_to_do(entry, kind):
    make, message = FOREIGN[kind]
    with pytest.raises(ValueError, match=message):
        ENTRIES[entry](make())


#: Entries that take several views.
ONE = ("fit of groups", "from_columns", "DiffusionMaps.transform")
SEVERAL = [entry for entry in ENTRIES if entry not in ONE]


@pytest.mark.parametrize("entry", SEVERAL)
def test_a_view_that_is_no_array_is_refused_by_name(entry):
    cases = [
        ("rna.csv", r"view 'view1' is 'rna.csv', a str;.*viewhop\.tables\.read_views"),
        (Path("rna.csv"), r"view 'view1' is PosixPath.*viewhop\.tables\.read_views"),
        ((row for row in A), r"view 'view1' is a generator.*list"),
        (AnnData(A), r"view 'view1' is an AnnData; pass its arrays"),
        (A.reshape(N, 3, 1), r"view 'view1' has 3 dimensions, \(30, 3, 1\).*X\.reshape\(len\(X\)"),
        (A[0], r"view 'view1' has shape \(3,\).*x\.reshape\(1, -1\) for one sample"),
        (pd.Series(A[0]), r"view 'view1' has shape \(3,\)"),
    ]
    for bad, message in cases:
        for X in ([bad, B], {"view1": bad, "view2": B}, (bad, B)):
            with pytest.raises(ValueError, match=message):
                ENTRIES[entry](X)


def test_a_list_of_paths_is_refused_by_every_entry():
    for read in (ENTRIES[entry] for entry in SEVERAL):
        with pytest.raises(ValueError, match=r"view 'view1' is 'rna\.csv', a str"):
            read(["rna.csv", "protein.csv"])
    with pytest.raises(ValueError, match=r"view 'view1' is 'rna\.csv', a str"):
        FITTED["one"].transform(["rna.csv"])
    with pytest.raises(ValueError, match=r"an entry of X is 'rna\.csv', a str"):
        Views.from_columns(["rna.csv", "protein.csv"], 2)


@pytest.mark.parametrize("entry", ["fit", "transform", "Views", "clustering", "predict"])
def test_images_are_refused_by_view_and_not_as_one_stack(entry):
    with pytest.raises(ValueError, match=r"view 'view1' has 3 dimensions, \(10, 3, 3\), but"):
        ENTRIES[entry]([A.reshape(10, 3, 3), A.reshape(10, 3, 3)])


@pytest.mark.parametrize("entry", ["transform", "predict", "KernelCCA.transform", "DeSa.transform"])
def test_one_row_per_view_is_refused_with_reshape(entry):
    for X in ([A[0], B[0]], (A[0], B[0]), [A[0], A[1]], [A[0].tolist(), B[0].tolist()]):
        with pytest.raises(ValueError, match=r"view 'view1' has shape \(3,\).*x\.reshape\(1, -1\)"):
            ENTRIES[entry](X)
    row = [A[0].reshape(1, -1), B[0].reshape(1, -1)]
    assert len(ENTRIES[entry](row)) == 1


@pytest.mark.parametrize("entry", ["fit", "DiffusionMaps", "from_columns", "transform of a stack"])
def test_rows_of_different_lengths_are_refused_with_reshape(entry):
    for X in ([A[0], B[0]], [[1.0, 2.0], [3.0]]):
        with pytest.raises(ValueError, match=r"X is a list of rows with different lengths.*, -1"):
            ENTRIES[entry](X)


def test_rows_of_one_view_stay_a_list_of_rows():
    assert FITTED["one"].transform([A[0], A[1]]).shape == (2, 2)
    assert FITTED["stacked"].transform([[*A[0], *B[0]], [*A[1], *B[1]]]).shape == (2, 2)


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_sparse_frame_that_leaves_out_other_than_zeros_is_refused_with_what_to_do(entry):
    if entry != "Views":
        with pytest.raises(
            ValueError, match=r"X: the sparse column 0 leaves out .*nan.*to_dense\(\)"
        ):
            ENTRIES[entry](sparse_frame())
    if entry in SEVERAL:
        with pytest.raises(ValueError, match=r"view 'view1': the sparse column.*SparseDtype"):
            ENTRIES[entry]([sparse_frame(), B])


def test_only_frames_with_nothing_but_sparse_columns_are_sparse():
    frame = pd.DataFrame({"x": A[:, 0], "y": pd.arrays.SparseArray(A[:, 1])})
    with pytest.warns(UserWarning, match="sparse columns found"):
        np.testing.assert_array_equal(Views([frame])["view1"], A[:, :2])
    named = pd.DataFrame({"sparse": A[:, 0], "columns": A[:, 1], "X": A[:, 2]})
    np.testing.assert_array_equal(Views([named])["view1"], A)


def test_one_array_for_several_views_is_refused_with_both_ways_out():
    for X in (A, pd.DataFrame(A), pl.DataFrame(A)):
        with pytest.raises(ValueError, match=r"got (ndarray|DataFrame); pass \[X\].*from_columns"):
            Views(X)


def test_a_long_text_is_cut_in_the_message():
    with pytest.raises(ValueError, match=r"is 'x.*x', a str") as caught:
        Views(["x" * 10_000])
    assert len(str(caught.value)) < 300


def test_arrays_and_frames_are_not_foreign():
    frame = pd.DataFrame({"X": [1.0], "obs_names": [2.0], "var_names": [3.0]})
    for X in (A, frame, [1.0], {"a": A}, None, pl.DataFrame(A), Views([A])):
        assert not is_foreign(X)
