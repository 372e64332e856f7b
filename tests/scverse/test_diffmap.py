"""What diffmap writes into an AnnData or a MuData, and what it refuses."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix

import viewhop as vh
from tests.support.cells import make_cells, make_modalities
from viewhop.errors import DroppedRowsWarning
from viewhop.scverse import diffmap, place

N = 90
FIT = {"n_components": 4, "n_neighbors": 10}


def fitted(views, r=4, **settings):
    """The library on the arrays themselves."""
    return vh.MultiViewDiffusionMaps(r, random_state=0, **settings).fit(views)


def with_gaps(arrays, seen, mdata):
    """Both modalities in the order of the cells of the MuData, with rows of NaN."""
    order = np.array([int(name[1:]) for name in mdata.obs_names])
    views = {}
    for name, rows in seen.items():
        X = np.full_like(arrays[name], np.nan)
        X[rows] = arrays[name][rows]
        views[name] = X[order]
    return views


def written(data):
    """Everything that diffmap may write to."""
    return {
        f"{part} {key}": value
        for part in ("obsm", "obsp", "uns")
        for key, value in getattr(data, part).items()
        if key not in ("rna", "protein")  # masks of mudata
    }


def leaves(values, path=""):
    """All values of nested dicts, by path."""
    for key, value in values.items():
        assert isinstance(key, str)
        assert "/" not in key
        if isinstance(value, dict):
            yield from leaves(value, f"{path}/{key}")
        else:
            yield f"{path}/{key}", value


# --- coordinates -----------------------------------------------------------------------------


def test_coordinates_of_a_mudata_are_those_of_its_arrays(arrays, seen, mdata):
    assert diffmap(mdata, **FIT) is None
    est = fitted(with_gaps(arrays, seen, mdata))
    assert_allclose(mdata.obsm["X_viewhop"], est.embedding_, atol=1e-12)
    for name, Z in est.view_embeddings_.items():
        assert_allclose(mdata.obsm[f"X_viewhop_{name}"], Z, atol=1e-12)
    assert_allclose(mdata.uns["viewhop"]["eigenvalues"], est.eigenvalues_, atol=1e-12)


def test_cells_that_a_modality_missed_stay_missing_and_have_a_joint_place(mdata):
    diffmap(mdata, **FIT)
    for name, part in mdata.mod.items():
        missed = ~mdata.obs_names.isin(part.obs_names)
        assert missed.any()
        assert_array_equal(np.isnan(mdata.obsm[f"X_viewhop_{name}"]).all(axis=1), missed)
        assert np.isfinite(mdata.obsm[f"X_viewhop_{name}"][~missed]).all()
    assert np.isfinite(mdata.obsm["X_viewhop"]).all()
    assert mdata.uns["viewhop"]["n_observed"] == {"rna": N - 5, "protein": N - 8}


def test_rows_of_nan_are_missing_cells(arrays, adata):
    adata.obsm["protein"] = arrays["protein"].copy()
    adata.obsm["protein"][7] = np.nan
    diffmap(adata, use_rep=["X", "protein"], **FIT)
    assert_array_equal(np.flatnonzero(np.isnan(adata.obsm["X_viewhop_protein"][:, 0])), [7])
    assert np.isfinite(adata.obsm["X_viewhop"]).all()


def test_rows_that_are_nan_in_part_are_missing_cells_if_they_are_asked_to_be(arrays, adata):
    adata.obsm["protein"] = arrays["protein"].copy()
    adata.obsm["protein"][7, 0] = np.nan
    with pytest.raises(ValueError, match="sample 'c7'"):
        diffmap(adata, use_rep=["X", "protein"], **FIT)
    est = vh.MultiViewDiffusionMaps(4, missing="drop")
    with pytest.warns(DroppedRowsWarning):
        diffmap(adata, use_rep=["X", "protein"], estimator=est, n_neighbors=10)
    assert np.isnan(adata.obsm["X_viewhop_protein"][7]).all()
    with pytest.warns(DroppedRowsWarning):
        again = place(adata, adata, copy=True)
    assert_allclose(again.obsm["X_viewhop"], adata.obsm["X_viewhop"], atol=1e-10)


@pytest.mark.parametrize(
    ("use_rep", "keys"),
    [
        (["X", "protein"], {"X": "X", "protein": "obsm/protein"}),
        (["X_pca", "layers/smooth"], {"pca": "obsm/X_pca", "smooth": "layers/smooth"}),
        ({"rna": "smooth", "adt": "protein"}, {"rna": "layers/smooth", "adt": "obsm/protein"}),
        ("protein", {"protein": "obsm/protein"}),
        (None, {"pca": "obsm/X_pca"}),
    ],
)
def test_views_of_an_anndata_are_named_by_their_keys(adata, use_rep, keys):
    expected = {
        name: adata.X if key == "X" else getattr(adata, key.split("/")[0])[key.split("/")[1]]
        for name, key in keys.items()
    }
    diffmap(adata, use_rep=use_rep, **FIT)
    assert adata.uns["viewhop"]["use_rep"] == keys
    est = fitted({name: np.array(X) for name, X in expected.items()})
    assert_allclose(adata.obsm["X_viewhop"], est.embedding_, atol=1e-12)
    several = {f"X_viewhop_{name}" for name in keys} if len(keys) > 1 else set()
    assert {key for key in adata.obsm if key.startswith("X_viewhop_")} == several


@pytest.mark.parametrize(
    ("use_rep", "keys"),
    [
        (None, {"rna": "X", "protein": "X"}),
        ("X_short", {"rna": "obsm/X_short", "protein": "obsm/X_short"}),
        ({"rna": "double"}, {"rna": "layers/double", "protein": "X"}),
        ({"rna": "layers/both", "protein": "obsm/both"}, None),
    ],
)
def test_use_rep_chooses_by_modality(mdata, use_rep, keys):
    diffmap(mdata, use_rep=use_rep, **FIT)
    assert mdata.uns["viewhop"]["use_rep"] == (use_rep if keys is None else keys)


def test_principal_components_are_preferred_to_x(mdata):
    part = mdata.mod["rna"]
    part.obsm["X_pca"] = np.array(part.X)[:, :3]
    diffmap(mdata, **FIT)
    assert mdata.uns["viewhop"]["use_rep"] == {"rna": "obsm/X_pca", "protein": "X"}


def test_modalities_can_be_left_out(arrays, adata):
    rna = make_cells(arrays["rna"])
    parts = {"rna": rna, "protein": make_cells(arrays["protein"]), "noise": rna.copy()}
    mdata = make_modalities(parts)
    diffmap(mdata, modalities=["rna", "protein"], **FIT)
    est = fitted({name: arrays[name] for name in ("rna", "protein")})
    assert_allclose(mdata.obsm["X_viewhop"], est.embedding_, atol=1e-12)


def test_rows_are_in_the_order_of_the_data_whatever_that_of_the_modalities(arrays, seen, mdata):
    diffmap(mdata, modalities=["protein", "rna"], **FIT)
    views = with_gaps(arrays, seen, mdata)
    est = fitted({name: views[name] for name in ("protein", "rna")})
    assert_allclose(mdata.obsm["X_viewhop"], est.embedding_, atol=1e-12)
    assert_allclose(mdata.obsm["X_viewhop_rna"], est.view_embeddings_["rna"], atol=1e-12)


def test_single_precision_stays_single(adata):
    adata.obsm["X_pca"] = adata.obsm["X_pca"].astype(np.float32)
    diffmap(adata, **FIT)
    assert adata.obsm["X_viewhop"].dtype == np.float32


# --- where it is stored ----------------------------------------------------------------------


def test_names_are_those_that_scanpy_reads(mdata):
    diffmap(mdata, **FIT)
    assert {*written(mdata)} == {
        *(f"obsm X_viewhop{view}" for view in ("", "_rna", "_protein")),
        *("obsm X_diffmap", "uns diffmap_evals", "uns viewhop", "uns neighbors"),
        *("obsp distances", "obsp connectivities"),
    }
    for key in ("neighbors", "viewhop"):
        graph = mdata.uns[key]
        assert graph["params"]["n_neighbors"] == 10
        assert graph["params"]["method"] == "umap"
        assert graph["params"]["use_rep"] in mdata.obsm
        assert mdata.obsp[graph["distances_key"]].nnz == N * 9
        assert mdata.obsp[graph["connectivities_key"]].shape == (N, N)


def test_a_key_leaves_the_default_names_alone(mdata):
    mdata.uns["neighbors"] = {"of": "someone else"}
    diffmap(mdata, key_added="joint", **FIT)
    assert {*written(mdata)} == {
        *(f"obsm X_joint{view}" for view in ("", "_rna", "_protein")),
        *("uns joint", "uns neighbors", "obsp joint_distances", "obsp joint_connectivities"),
    }
    assert mdata.uns["neighbors"] == {"of": "someone else"}
    assert mdata.uns["joint"]["connectivities_key"] == "joint_connectivities"
    assert mdata.uns["joint"]["params"]["use_rep"] == "X_joint"


def test_a_copy_leaves_the_data_alone(mdata):
    copied = diffmap(mdata, copy=True, **FIT)
    assert not written(mdata)
    diffmap(mdata, **FIT)
    assert {*written(copied)} == {*written(mdata)}
    assert_array_equal(copied.obsm["X_viewhop"], mdata.obsm["X_viewhop"])


def test_twice_is_the_same(mdata):
    first = diffmap(mdata, copy=True, **FIT)
    second = diffmap(first, copy=True, **FIT)
    for key in ("X_viewhop", "X_viewhop_rna", "X_diffmap"):
        assert_array_equal(first.obsm[key], second.obsm[key])
    assert (first.obsp["connectivities"] != second.obsp["connectivities"]).nnz == 0
    assert_array_equal(first.uns["viewhop"]["model"], second.uns["viewhop"]["model"])


def test_only_types_that_hdf5_files_hold_are_stored(mdata):
    diffmap(mdata, **FIT)
    for path, value in leaves(mdata.uns):
        assert type(value) in (str, int, float, bool, np.ndarray), path
    results = mdata.uns["viewhop"]
    assert {*results["view_weights"]} == {"rna", "protein"}
    assert max(results["view_weights"].values()) == 1.0
    assert {*results["metrics"]} == {"rna", "protein"}
    assert results["version"] == vh.__version__
    assert results["parameters"]["n_components"] == 4


def test_the_diffusion_basis_has_the_trivial_pair_first(mdata):
    diffmap(mdata, **FIT)
    basis, values = mdata.obsm["X_diffmap"], mdata.uns["diffmap_evals"]
    assert basis.shape == (N, 5)
    assert_array_equal(basis[:, 0], 1.0)
    assert values[0] == 1.0
    assert_allclose(values[1:], mdata.uns["viewhop"]["eigenvalues"], rtol=1e-6)
    assert_allclose(basis[:, 1:] * values[1:], mdata.obsm["X_viewhop"], rtol=1e-4, atol=1e-6)


def test_the_diffusion_basis_is_that_of_the_walk(adata):
    """P ψ = λ ψ by the dense matrix of a walk that is fused."""
    est = vh.MultiViewDiffusionMaps(3, fusion="sum", kernel="gaussian")
    diffmap(adata, use_rep=["X", "protein"], estimator=est, n_neighbors=10)
    kernels = [
        vh.MultiViewDiffusionMaps(3, kernel="gaussian").fit([X]).walk_.affinities[0] @ np.eye(N)
        for X in (np.array(adata.X), adata.obsm["protein"])
    ]
    K = sum(kernels)
    P = K / K.sum(axis=1, keepdims=True)
    basis, values = adata.obsm["X_diffmap"], adata.uns["diffmap_evals"]
    assert_allclose(P @ basis, basis * values, atol=1e-5)


def test_coordinates_of_every_view_side_by_side_are_no_diffusion_basis(mdata):
    est = vh.MultiViewDiffusionMaps(4, output="concat")
    diffmap(mdata, estimator=est, n_neighbors=10)
    assert mdata.obsm["X_viewhop"].shape == (N, 8)
    assert "X_diffmap" not in mdata.obsm
    assert "diffmap_evals" not in mdata.uns


def test_a_fused_walk_has_no_coordinates_by_view(adata):
    est = vh.MultiViewDiffusionMaps(4, fusion="sum")
    diffmap(adata, use_rep=["X", "protein"], estimator=est)
    assert not [key for key in adata.obsm if key.startswith("X_viewhop_")]


# --- settings --------------------------------------------------------------------------------


def test_settings_are_those_of_the_estimator_which_is_not_changed(arrays, adata):
    kernel = vh.kernels.Gaussian("local", n_neighbors=7)
    est = vh.MultiViewDiffusionMaps(3, kernel=kernel, n_steps=2, random_state=5)
    diffmap(adata, use_rep=["X", "protein"], estimator=est, n_neighbors=10)
    expected = fitted([arrays["rna"], arrays["protein"]], 3, kernel=kernel, n_steps=2)
    assert_allclose(adata.obsm["X_viewhop"], expected.embedding_, atol=1e-12)
    assert not hasattr(est, "geometry_")
    assert adata.uns["viewhop"]["parameters"]["random_state"] == 5
    diffmap(adata, 2, estimator=est)
    assert adata.obsm["X_viewhop"].shape == (N, 2)
    assert est.n_components == 3


def test_the_default_number_of_coordinates_is_100_or_half_the_cells(adata):
    diffmap(adata)
    assert adata.obsm["X_viewhop"].shape == (N, 45)
    more = make_cells(np.random.default_rng(0).normal(size=(210, 3)))
    diffmap(more)
    assert more.obsm["X_viewhop"].shape == (210, 100)
    few = make_cells(np.eye(3))
    diffmap(few, n_neighbors=2)
    assert few.obsm["X_viewhop"].shape == (3, 1)
    assert few.obsp["distances"].nnz == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_neighbors": 1}, "n_neighbors must be an integer of at least 2, got 1"),
        ({"n_neighbors": 200}, "n_neighbors is 200, but there are only 90 observations"),
        ({"key_added": "a/b"}, "key_added must be a name without '/', or None, not 'a/b'"),
        ({"key_added": "neighbors"}, "key_added='neighbors' is what None writes as well"),
        ({"random_state": None}, "random_state must be an integer, got None"),
        ({"estimator": vh.DiffusionMaps()}, "must be a MultiViewDiffusionMaps, not DiffusionMaps"),
        ({"estimator": vh.MultiViewDiffusionMaps(views=2)}, "estimator has views="),
        ({"modalities": "rna"}, "modalities must be a list of names, not the string 'rna'"),
        ({"modalities": []}, "modalities is empty"),
        ({"modalities": ["rna", "atac"]}, "no modality named 'atac'; there are rna, protein"),
        ({"use_rep": {"rnaa": "X"}}, r"no modality named 'rnaa' \(did you mean 'rna'\?\)"),
        ({"use_rep": ["X"]}, r"use_rep must be a key, or a dict of keys by modality, not \['X'\]"),
        ({"use_rep": {"rna": 3}}, "use_rep of view 'rna' must be a string, not 3"),
        (
            {"use_rep": {"rna": "doubled"}},
            r"modality 'rna' has no 'doubled' \(did you mean 'double'\?\); there is X; "
            "in obsm: X_short, both; in layers: double, both",
        ),
        ({"use_rep": "layers/counts"}, "modality 'rna' has no 'layers/counts'"),
        ({"use_rep": "both"}, "in its obsm and in its layers; write 'obsm/both' or 'layers/both'"),
    ],
)
def test_bad_options_are_refused_in_a_line_and_change_nothing(mdata, options, message):
    with pytest.raises(ValueError, match=message) as raised:
        diffmap(mdata, **options)
    assert "\n" not in str(raised.value)
    assert not written(mdata)


@pytest.mark.parametrize(
    ("use_rep", "message"),
    [
        (["X", "nothing"], "the AnnData has no 'nothing'; there is X; in obsm: protein, X_pca; in"),
        (["obsm/X_pca", "layers/pca"], "both would be the view 'pca'; pass a dict by view name"),
        ([], "use_rep is empty"),
        ({"a/b": "X"}, "the view name 'a/b' contains '/'"),
    ],
)
def test_bad_keys_of_an_anndata_are_refused(adata, use_rep, message):
    with pytest.raises(ValueError, match=message):
        diffmap(adata, use_rep=use_rep)
    with pytest.raises(ValueError, match="modalities= chooses those of a MuData"):
        diffmap(adata, modalities=["rna"])


def test_a_modality_without_observations_is_named(arrays):
    parts = {"rna": make_cells(arrays["rna"]), "atac": make_cells(np.empty((0, 4)))}
    with pytest.raises(ValueError, match="modality 'atac' has no observations; leave it out"):
        diffmap(make_modalities(parts))
    with pytest.raises(ValueError, match=r"the AnnData has no observations$"):
        diffmap(parts["atac"])


def test_repeated_observation_names_are_named(arrays):
    twice = make_cells(arrays["rna"], ["c1", *(f"c{k}" for k in range(1, N))])
    message = r"'c1' 2 times; call obs_names_make_unique\(\)"
    with pytest.raises(ValueError, match=f"the AnnData has the observation name {message}"):
        diffmap(twice)
    mdata = make_modalities({"rna": twice, "protein": make_cells(arrays["protein"])})
    with pytest.raises(ValueError, match=f"modality 'rna' has the observation name {message}"):
        diffmap(mdata)


def test_no_x_is_an_error_that_lists_what_there_is(adata):
    del adata.obsm["X_pca"]
    adata.X = None
    with pytest.raises(ValueError, match="has no 'X'; there is no X; in obsm: protein; in layers"):
        diffmap(adata)


def test_a_cell_that_the_chosen_modalities_missed_is_named(mdata):
    with pytest.raises(ValueError, match=r"cell 'c\d' was observed by none of rna \(5 such cells"):
        diffmap(mdata, modalities=["rna"])


def test_observations_that_the_mudata_does_not_know_are_named(mdata):
    part = mdata.mod["rna"]
    part.obs.index = ["new", *part.obs_names[1:]]
    with pytest.raises(ValueError, match=r"observation 'new' of modality 'rna' is not in the MuDa"):
        diffmap(mdata)


def test_no_modalities_and_modalities_of_modalities_are_refused(mdata):
    with pytest.raises(ValueError, match="the MuData has no modalities"):
        diffmap(make_modalities({}))
    with pytest.raises(ValueError, match="modality 'inner' is itself a MuData"):
        diffmap(make_modalities({"inner": mdata}))


def test_sparse_counts_give_the_map_and_the_places_of_full_ones(adata):
    counts = np.round(np.abs(adata.X))
    assert (counts == 0).any()
    new = adata.copy()
    mapped = {}
    for name, layer in (("full", counts), ("sparse", csr_matrix(counts))):
        adata.layers["counts"] = new.layers["counts"] = layer
        diffmap(adata, 3, use_rep="counts")
        place(adata, new)
        mapped[name] = adata.obsm["X_viewhop"], new.obsm["X_viewhop"]
    for full, sparse in zip(*mapped.values(), strict=True):
        assert_allclose(sparse, full, atol=1e-8)


@pytest.mark.parametrize("data", [np.eye(4), pd.DataFrame(np.eye(4)), {"rna": np.eye(4)}, None])
def test_other_data_are_refused(data):
    message = f"data must be an AnnData or a MuData, not {type(data).__name__}"
    with pytest.raises(TypeError, match=re.escape(message)):
        diffmap(data)
