"""Files that anndata and mudata themselves wrote; they have an environment of their own."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from viewhop.tables import Options, list_contents, read, read_views

anndata = pytest.importorskip("anndata")
mudata = pytest.importorskip("mudata")

RNG = np.random.default_rng(0)
NAMES = [f"cell-{k}" for k in range(30)]


@pytest.fixture
def cells():
    obs = pd.DataFrame(
        {
            "type": pd.Categorical(["T", "B", None] * 10),
            "code": [f"x{k}" for k in range(30)],
            "depth": np.arange(30) / 4,
            "count": pd.array([1, None, 3] * 10, dtype="Int64"),
            "good": np.arange(30) % 2 == 0,
        },
        index=pd.Index(NAMES, name="barcode"),
    )
    var = pd.DataFrame(index=[f"gene {k}" for k in range(7)])
    data = anndata.AnnData(RNG.standard_normal((30, 7)).astype("f4"), obs=obs, var=var)
    data.layers["rows"] = sp.random(30, 7, 0.3, format="csr", random_state=0)
    data.layers["columns"] = sp.csc_matrix(data.layers["rows"])
    data.layers["counts"] = RNG.integers(0, 9, (30, 7))
    data.obsm["X_pca"] = RNG.standard_normal((30, 4))
    data.obsm["scores"] = pd.DataFrame(RNG.random((30, 2)), index=NAMES, columns=["a", "b"])
    return data


@pytest.mark.parametrize("packing", [None, "gzip", "lzf"])
def test_a_file_of_anndata_is_what_anndata_has(cells, tmp_path, packing):
    path = tmp_path / "cells.h5ad"
    cells.write_h5ad(path, compression=packing)
    for key, expected in (
        ("X", cells.X),
        ("layers/rows", cells.layers["rows"].toarray()),
        ("layers/columns", cells.layers["columns"].toarray()),
        ("layers/counts", cells.layers["counts"]),
        ("obsm/X_pca", cells.obsm["X_pca"]),
        ("obsm/scores", cells.obsm["scores"].to_numpy()),
    ):
        table = read(f"{path}::{key}")
        assert_array_equal(table.matrix, expected)
        assert table.ids == tuple(NAMES)
    assert read(path).columns == tuple(cells.var_names)
    assert read(f"{path}::obsm/scores").columns == ("a", "b")
    labels = {name: read(path, options=Options(label=name)).labels for name in cells.obs}
    assert labels["type"] == ("T", "B", None) * 10
    assert labels["count"] == (1, None, 3) * 10
    assert labels["depth"] == tuple(np.arange(30) / 4)
    assert labels["good"] == (True, False) * 15
    assert read(path, options=Options(id="code")).ids == tuple(cells.obs["code"])
    assert read(path, options=Options(id="barcode")).ids == tuple(NAMES)
    listed = {entry.name: entry.shape for entry in list_contents(path)}
    assert listed["X"] == (30, 7)
    assert listed["layers/rows"] == (30, 7)


def test_a_file_of_mudata_gives_its_modalities(cells, tmp_path):
    path = tmp_path / "cells.h5mu"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # mudata announces changes of its defaults
        few = anndata.AnnData(RNG.standard_normal((12, 3)), obs=pd.DataFrame(index=NAMES[10:22]))
        mudata.MuData({"rna": cells, "adt": few}).write(path)
    paths = {name: f"{path}::{name}" for name in ("rna", "adt")}
    views = read_views(paths).views
    assert views.ids.tolist() == NAMES
    assert_array_equal(views["rna"], cells.X)
    assert_array_equal(views["adt"][10:22], few.X)
    assert views.observed[:, 1].tolist() == [10 <= k < 22 for k in range(30)]
    assert_array_equal(read(f"{path}::rna/obsm/X_pca").matrix, cells.obsm["X_pca"])
