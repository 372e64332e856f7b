"""scanpy and muon on our graph, and files of anndata and mudata: `make test-omics` has them."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import spearmanr
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score

import viewhop as vh
from tests.support.cells import make_cells, make_modalities
from viewhop.scverse import diffmap, place

sc = pytest.importorskip("scanpy", reason="make test-omics installs it")

pytestmark = [
    pytest.mark.filterwarnings(f"ignore::{kind}")
    # Of scanpy, anndata, mudata and numba about each other.
    for kind in ("DeprecationWarning", "FutureWarning", "RuntimeWarning", "UserWarning")
]


@pytest.fixture(scope="module")
def citeseq():
    cells = vh.datasets.make_citeseq(400, n_genes=500, n_proteins=20, random_state=0)
    cells.pca = PCA(20, random_state=0).fit_transform(cells.views["rna"])
    return cells


@pytest.fixture(scope="module", params=["AnnData", "MuData"])
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def mapped(citeseq, kind):
    """Cells with a map; in the MuData, each modality missed some."""
    rna, protein = citeseq.views.arrays
    if kind == "AnnData":
        data = make_cells(rna, obsm={"X_pca": citeseq.pca, "protein": protein})
        diffmap(data, use_rep=["X_pca", "protein"])
    else:
        names = np.array([f"c{k}" for k in range(len(rna))])
        parts = {
            "rna": make_cells(rna[10:], names[10:], obsm={"X_pca": citeseq.pca[10:]}),
            "protein": make_cells(protein[:-10], names[:-10], [f"p{k}" for k in range(20)]),
        }
        data = make_modalities(parts)
        diffmap(data)
    data.obs["type"] = pd.Categorical(np.array(citeseq.target_names)[citeseq.target][order(data)])
    data.obs["true"] = citeseq.pseudotime[order(data)]
    return data


def order(data):
    return np.array([int(name[1:]) for name in data.obs_names])


def assert_same(first, second, path=""):
    """Equal values in nested dicts, arrays and sparse matrices."""
    if hasattr(first, "keys"):
        assert {*first} == {*second}, path
        for key in first:
            assert_same(first[key], second[key], f"{path}/{key}")
    elif hasattr(first, "tocsr"):
        assert_array_equal(first.toarray(), second.toarray(), err_msg=path)
        assert first.nnz == second.nnz
    else:
        assert_array_equal(np.asarray(first), np.asarray(second), err_msg=path)


def test_the_graph_is_the_one_that_scanpy_makes_of_our_coordinates(mapped):
    plain = make_cells(np.zeros((mapped.n_obs, 1)), obsm={"X_viewhop": mapped.obsm["X_viewhop"]})
    sc.pp.neighbors(plain, use_rep="X_viewhop")
    assert plain.uns["neighbors"] == mapped.uns["neighbors"]
    for key, atol in (("distances", 1e-6), ("connectivities", 1e-4)):
        theirs, ours = plain.obsp[key], mapped.obsp[key]
        assert theirs.nnz == ours.nnz
        assert_allclose(theirs.toarray(), ours.toarray(), atol=atol)


def test_leiden_finds_the_types(mapped):
    data = mapped.copy()
    sc.tl.leiden(data, flavor="igraph", n_iterations=2, directed=False, random_state=0)
    is_type = np.isnan(data.obs["true"])
    score = adjusted_rand_score(data.obs["type"][is_type], data.obs["leiden"][is_type])
    assert score > 0.9


def test_pseudotime_runs_along_the_trajectory(mapped):
    data = mapped.copy()
    on = np.flatnonzero(~np.isnan(data.obs["true"]))
    data.uns["iroot"] = int(on[data.obs["true"].to_numpy()[on].argmin()])
    basis = data.obsm["X_diffmap"].copy()
    sc.tl.dpt(data)
    assert_array_equal(data.obsm["X_diffmap"], basis)  # ours was used, not replaced
    score = spearmanr(data.obs["dpt_pseudotime"].iloc[on], data.obs["true"].iloc[on])
    assert score.statistic > 0.9


def test_paga_joins_the_stages_of_the_trajectory(mapped, citeseq):
    data = mapped.copy()
    sc.tl.paga(data, groups="type")
    names = [*data.obs["type"].cat.categories]
    weights = data.uns["paga"]["connectivities"].toarray()
    early, middle, late = (names.index(name) for name in citeseq.target_names[:3])
    assert min(weights[early, middle], weights[middle, late]) > 3 * weights[early, late]


def test_umap_lays_types_apart(mapped):
    data = mapped.copy()
    sc.tl.umap(data, random_state=0)
    Z = data.obsm["X_umap"]
    assert np.isfinite(Z).all()
    is_type = np.isnan(data.obs["true"].to_numpy())
    types = data.obs["type"].to_numpy()
    D = np.linalg.norm(Z[:, None] - Z, axis=2) + np.diag(np.full(len(Z), np.inf))
    assert (types[D.argmin(axis=1)] == types)[is_type].mean() > 0.95


def test_a_graph_under_its_own_key_is_found_by_that_key(citeseq):
    data = make_cells(citeseq.views["rna"], obsm={"protein": citeseq.views["protein"]})
    diffmap(data, use_rep=["X", "protein"], key_added="joint")
    settings = {"flavor": "igraph", "n_iterations": 2, "directed": False}
    sc.tl.leiden(data, neighbors_key="joint", **settings)
    sc.tl.umap(data, neighbors_key="joint", maxiter=10)
    sc.tl.diffmap(data, neighbors_key="joint")
    assert data.obs["leiden"].nunique() > 3
    assert "neighbors" not in data.uns


def test_files_give_back_what_was_written(mapped, kind, tmp_path):
    path = tmp_path / ("some.h5ad" if kind == "AnnData" else "some.h5mu")
    mapped.write(path)
    if kind == "AnnData":
        import anndata

        read = anndata.read_h5ad(path)
    else:
        import mudata

        read = mudata.read(path)
    for part in ("obsm", "obsp", "uns"):
        assert_same(dict(getattr(mapped, part)), dict(getattr(read, part)), part)
    again, placed = (place(source, mapped, copy=True) for source in (mapped, read))
    assert_array_equal(placed.obsm["X_viewhop"], again.obsm["X_viewhop"])
    assert_allclose(placed.obsm["X_viewhop"], mapped.obsm["X_viewhop"], atol=1e-5)
    settings = {"flavor": "igraph", "n_iterations": 2, "directed": False}
    for data in (again, placed := read):
        sc.tl.leiden(data, **settings)
    assert_array_equal(again.obs["leiden"], placed.obs["leiden"])


def test_a_part_of_the_cells_is_mapped_as_cells_of_their_own(citeseq):
    whole = make_cells(citeseq.views["rna"], obsm={"protein": citeseq.views["protein"]})
    part = whole[:200]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a view becomes an AnnData of its own
        diffmap(part, 5, use_rep=["X", "protein"])
    assert part.obsm["X_viewhop"].shape == (200, 5)
    assert [*whole.obsm] == ["protein"]
