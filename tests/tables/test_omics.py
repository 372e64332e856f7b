"""AnnData and MuData files: every matrix equals what was written, and faults are one line each."""

from __future__ import annotations

import h5py
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from tests.support.data_files import SharedParser, put_frame, write_h5ad, write_h5mu
from viewhop.errors import TableError
from viewhop.tables import Options, list_contents, read, read_views

RNG = np.random.default_rng(0)
X = RNG.standard_normal((9, 4))
COUNTS = sp.random(9, 4, 0.4, random_state=0, format="csr")
OBS = {"kind": ["T", "B", None] * 3, "depth": np.arange(9.0) / 2, "batch": np.arange(9) % 2}


@pytest.fixture(autouse=True)
def shared(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("viewhop.tables._foreign_files.Parser", SharedParser)


@pytest.fixture(scope="module", autouse=True)
def parser_ends():
    yield
    SharedParser.close()


@pytest.fixture
def cells():
    layers = {"counts": COUNTS, "columns": COUNTS.tocsc(), "single": X.astype("f4")}
    write_h5ad("cells.h5ad", X, layers=layers, obsm={"X_pca": X[:, :2]}, obs=OBS)


def refused(path, *fragments, **options):
    with pytest.raises(TableError) as caught:
        read(path, options=Options(**options))
    message = str(caught.value)
    assert "\n" not in message
    for fragment in (path.partition("::")[0], *fragments):
        assert fragment in message


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("", X),
        ("::X", X),
        ("::layers/counts", COUNTS.toarray()),
        ("::layers/columns", COUNTS.toarray()),
        ("::layers/single", X.astype("f4")),
        ("::obsm/X_pca", X[:, :2]),
    ],
)
def test_every_matrix_is_read_with_its_names(cells, key, expected):
    table = read(f"cells.h5ad{key}", options=Options(label="kind"))
    assert_array_equal(table.matrix, expected)
    assert table.matrix.dtype == (np.float32 if "single" in key else np.float64)
    assert table.ids == tuple(f"c{k}" for k in range(9))
    assert table.labels == ("T", "B", None) * 3
    assert table.columns == (None if "obsm" in key else ("g0", "g1", "g2", "g3"))


@settings(max_examples=12, deadline=None, suppress_health_check=[*HealthCheck])
@given(st.integers(1, 40), st.integers(1, 12), st.sampled_from(["csr", "csc"]), st.data())
def test_sparse_matrices_equal_dense_ones_in_any_blocks(n, width, kind, data):
    seed = data.draw(st.integers(0, 99))
    matrix = sp.random(n, width, 0.5, random_state=seed, format=kind)
    matrix.data[: len(matrix.data) // 3] = 0.0  # stored zeros
    kept = data.draw(st.lists(st.integers(0, width - 1), min_size=1, unique=True).map(sorted))
    write_h5ad("sparse.h5ad", matrix, chunks=True if matrix.nnz else None, compression=None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("viewhop.tables._omics_matrix._NUMBERS", data.draw(st.integers(1, 30)))
        patch.setattr("viewhop.tables._omics_matrix._CELLS", data.draw(st.integers(1, 30)))
        keep = tuple(f"g{k}" for k in kept)
        table = read("sparse.h5ad", options=Options(keep=keep))
    assert_array_equal(table.matrix, matrix.toarray()[:, kept])
    assert table.columns == keep


def test_columns_are_chosen_by_name_and_ids_by_a_column_of_obs(cells):
    table = read("cells.h5ad", options=Options(keep=("g*",), drop=("g1",)))
    assert_array_equal(table.matrix, X[:, [0, 2, 3]])
    table = read("cells.h5ad", options=Options(columns=("g3", "g0")))
    assert_array_equal(table.matrix, X[:, [3, 0]])
    write_h5ad("other.h5ad", X, obs={"barcode": [f"b{k}" for k in range(9)]})
    table = read("other.h5ad", options=Options(id="barcode"))
    assert table.ids == tuple(f"b{k}" for k in range(9))
    refused("other.h5ad", "no id column in obs 'bar'", "'barcode'", id="bar")
    refused("other.h5ad", "no label column in obs 'kind'", label="kind")
    labels = read("cells.h5ad", options=Options(label="depth")).labels
    assert labels == tuple(k / 2 for k in range(9))


def test_modalities_are_views_joined_by_their_names():
    first, second = [f"c{k}" for k in range(9)], [f"c{k}" for k in range(6, 9)]
    modalities = {
        "rna": {"X": X, "names": first, "obsm": {"X_pca": X[:, :2]}},
        "adt": {"X": sp.csr_matrix(X[6:, :2]), "names": second},
    }
    write_h5mu("cells.h5mu", modalities, obsm={"X_joint": X[:, 2:]})
    paths = {"rna": "cells.h5mu::rna", "adt": "cells.h5mu::adt"}
    views = read_views(paths).views
    assert views.ids.tolist() == first
    assert views.observed[:, 1].tolist() == [False] * 6 + [True] * 3
    assert_array_equal(views["adt"][6:], X[6:, :2])
    assert_array_equal(read("cells.h5mu::rna/obsm/X_pca").matrix, X[:, :2])
    assert_array_equal(read("cells.h5mu::obsm/X_joint").matrix, X[:, 2:])
    refused("cells.h5mu", "it has 2 modalities; choose one with PATH::NAME (cells.h5mu::adt")
    refused("cells.h5mu::rnaa", "no modality 'rnaa' (did you mean 'rna'?)")
    refused("cells.h5mu::rna/layers/none", "no layer 'none'")
    listed = {entry.name: entry.shape for entry in list_contents("cells.h5mu")}
    assert listed == {"adt/X": (3, 2), "rna/X": (9, 4), "rna/obsm/X_pca": (9, 2)}


def test_an_id_that_no_file_has_is_refused_and_one_of_another_file_is_not(cells, tmp_path):
    (tmp_path / "y.csv").write_text("cell,y\n" + "".join(f"c{k},{k}\n" for k in range(9)))
    paths = {"x": "cells.h5ad", "y": "y.csv"}
    assert len(read_views(paths, options=Options(id="cell")).views) == 9
    with pytest.raises(TableError, match="no column 'cell' in obs; without an id column"):
        read_views({"x": "cells.h5ad", "p": "cells.h5ad::obsm/X_pca"}, options=Options(id="cell"))


def test_contents_are_listed_with_types_and_columns_of_obs(cells):
    listed = {entry.name: entry for entry in list_contents("cells.h5ad")}
    assert [*listed] == ["X", "layers/columns", "layers/counts", "layers/single", "obsm/X_pca"]
    assert listed["layers/columns"].dtype == "csc_matrix of float64"
    assert {*listed["X"].ids} == {"kind", "depth", "batch"}
    assert all(entry.shape[0] == 9 for entry in listed.values())


# --- what is wrong -------------------------------------------------------------------------------


def test_repeated_names_no_observations_and_missing_parts_are_one_line_each(cells):
    write_h5ad("x.h5ad", X, names=[*"abcdefgha"])
    refused("x.h5ad", "the observations 1 and 9 have the same name 'a' in obs_names")
    write_h5ad("x.h5ad", X[:0])
    refused("x.h5ad", "it has no observations")
    write_h5mu("x.h5mu", {"rna": {"X": X}, "adt": {"X": X[:0]}})
    refused("x.h5mu::adt", "modality 'adt' has no observations")
    write_h5ad("x.h5ad", X[:, :0])
    refused("x.h5ad", "it has no variables")
    refused("cells.h5ad::layers/count", "no layer 'count' (did you mean 'counts'?)")
    refused("cells.h5ad::obsm/no", "no array of obsm 'no'; there are 'X_pca'")
    refused("cells.h5ad::obs/kind", "expected X, layers/NAME or obsm/NAME after ::")
    refused("cells.h5ad::obsm/X_pca", "its columns have no names", keep=("g0",))
    write_h5ad("x.h5ad", X, genes=["a", "a", "b", "c"])
    refused("x.h5ad", "columns 1 and 2 have the same name")
    with h5py.File("x.h5ad", "w") as file:
        put_frame(file.create_group("obs"), "ab")
        put_frame(file.create_group("var"), "ab")
    refused("x.h5ad", "X is empty; choose a layer or an array of obsm")
    with h5py.File("x.h5ad", "w") as file:
        file["a"] = 1.0
    refused("x.h5ad", "it is no AnnData or MuData file: it has no obs")
    with h5py.File("x.h5ad", "w") as file:
        file["obs"] = np.array([("a", 1)], dtype=[("index", "S3"), ("n", "i4")])
    refused("x.h5ad", "files from before anndata 0.7 must be written again")


@pytest.mark.parametrize(
    ("part", "values"),
    [
        ("indices", np.full(COUNTS.nnz, 4)),
        ("indices", np.full(COUNTS.nnz, -1)),
        ("indptr", np.zeros(10, dtype=int)),
        ("indptr", np.arange(10)[::-1]),
        ("indptr", np.arange(8)),
        ("indptr", np.array([0, 5, 2, *[COUNTS.nnz] * 7])),
        ("data", np.ones(3)),
    ],
)
def test_damaged_sparse_matrices_are_refused(part, values):
    write_h5ad("x.h5ad", COUNTS)
    with h5py.File("x.h5ad", "a") as file:
        del file[f"X/{part}"]
        file[f"X/{part}"] = values
    refused("x.h5ad", "is damaged")


def test_links_and_arrays_in_other_files_are_never_followed():
    write_h5ad("other.h5ad", X)
    write_h5ad("x.h5ad", X)
    with h5py.File("x.h5ad", "a") as file:
        del file["X"]
        file["X"] = h5py.ExternalLink("other.h5ad", "X")
    refused("x.h5ad", "X is a link, which is never followed")
    with h5py.File("x.h5ad", "a") as file:
        del file["X"]
        file.create_dataset("X", X.shape, "f8", external=[("other.h5ad", 0, 9 * 4 * 8)])
    refused("x.h5ad", "its values lie in other files, which are never opened")


def test_sizes_are_counted_before_they_are_read():
    with h5py.File("x.h5ad", "w") as file:
        put_frame(file.create_group("obs"), "ab")
        put_frame(file.create_group("var"), "abc")
        group = file.create_group("X")
        group.attrs["encoding-type"] = "csr_matrix"
        group.attrs["shape"] = (2, 3)
        for part in ("data", "indices", "indptr"):
            group.create_dataset(part, (10**10,), "f8" if part == "data" else "i8", chunks=(100,))
    with pytest.raises(TableError, match="the array 'X/indptr' takes 80 GB"):
        read("x.h5ad", max_memory="50MB")
    write_h5ad("x.h5ad", sp.csr_matrix((3000, 1000)))
    with pytest.raises(TableError, match="X as a dense table of 3,000 × 1,000 cells takes 24 MB"):
        read("x.h5ad", max_memory="20MB")
