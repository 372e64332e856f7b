"""New cells in an existing map: the same numbers as transform, by names, after files too."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError

import viewhop as vh
from tests.support.cells import make_cells, make_modalities
from viewhop.errors import ModelFileError
from viewhop.scverse import diffmap, place

FIT = {"n_components": 4, "n_neighbors": 10}


@pytest.fixture
def mapped(mdata):
    diffmap(mdata, **FIT)
    return mdata


@pytest.fixture
def model(mapped, tmp_path):
    """The fitted estimator that was kept."""
    path = tmp_path / "kept.viewhop"
    path.write_bytes(mapped.uns["viewhop"]["model"].tobytes())
    return vh.load(path)


@pytest.fixture
def new_arrays(arrays):
    rng = np.random.default_rng(7)
    rows = rng.choice(80, 12, replace=False)
    return {n: arrays[n][rows] + 0.05 * rng.normal(size=arrays[n][rows].shape) for n in FEATURES}


FEATURES = {"rna": 12, "protein": 6}


def labels(name, order=None):
    order = range(FEATURES[name]) if order is None else order
    return [f"{name}{j}" for j in order]


def new_modalities(new_arrays, **more):
    parts = {n: make_cells(X, features=labels(n)) for n, X in new_arrays.items()}
    return make_modalities(parts | more)


def test_new_cells_are_placed_where_transform_places_them(mapped, model, new_arrays):
    new = new_modalities(new_arrays)
    assert place(mapped, new) is None
    expected, coverage = model.transform(new_arrays, return_coverage=True)
    assert_allclose(new.obsm["X_viewhop"], expected, atol=1e-12)
    assert_allclose(new.obs["viewhop_coverage"], coverage, atol=1e-12)


def test_the_cells_of_the_map_keep_their_place(mapped):
    again = place(mapped, mapped, copy=True)
    assert_allclose(again.obsm["X_viewhop"], mapped.obsm["X_viewhop"], atol=1e-10)
    assert "viewhop_coverage" not in mapped.obs


def test_the_model_and_its_file_place_as_the_data_do(mapped, model, mdata, new_arrays, tmp_path):
    expected = place(mapped, new_modalities(new_arrays), copy=True).obsm["X_viewhop"]
    path = tmp_path / "m.viewhop"
    again = diffmap(mdata, model=path, copy=True, **FIT)
    assert "model" not in again.uns["viewhop"]
    for source in (model, path, str(path), again):
        new = new_modalities(new_arrays)
        place(source, new)
        assert_array_equal(new.obsm["X_viewhop"], expected)


def test_features_are_matched_by_name_and_others_ignored(mapped, new_arrays):
    expected = place(mapped, new_modalities(new_arrays), copy=True).obsm["X_viewhop"]
    order = np.random.default_rng(0).permutation(12)
    X = np.hstack([np.full((12, 1), 9.0), new_arrays["rna"][:, order]])
    rna = make_cells(X, features=["extra", *labels("rna", order)])
    new = new_modalities(new_arrays, rna=rna)
    place(mapped, new)
    assert_allclose(new.obsm["X_viewhop"], expected, atol=1e-12)


def test_features_that_are_missing_or_repeated_are_named(mapped, new_arrays):
    short = make_cells(new_arrays["rna"][:, 2:], features=labels("rna")[2:])
    message = "view 'rna' of the new data lacks 2 of the 12 features of the fit: 'rna0', 'rna1'$"
    with pytest.raises(ValueError, match=message):
        place(mapped, new_modalities(new_arrays, rna=short))
    other = make_cells(new_arrays["rna"], features=[f"gene{j}" for j in range(12)])
    with pytest.raises(ValueError, match=r"lacks 12 of the 12 features .* 'rna4', …$"):
        place(mapped, new_modalities(new_arrays, rna=other))
    twice = make_cells(new_arrays["rna"], features=["rna1", *labels("rna")[1:]])
    with pytest.raises(ValueError, match="has the feature 'rna1' several times"):
        place(mapped, new_modalities(new_arrays, rna=twice))


def test_a_modality_that_was_not_measured_is_left_out(mapped, model, new_arrays):
    expected = model.transform({"protein": new_arrays["protein"]})
    part = make_cells(new_arrays["protein"], features=labels("protein"))
    other = make_cells(np.ones((12, 2)))
    for new in (
        make_modalities({"protein": part.copy()}),
        make_modalities({"protein": part.copy(), "atac": other}),
    ):
        place(mapped, new)
        assert_allclose(new.obsm["X_viewhop"], expected, atol=1e-12)
    place(mapped, part, use_rep={"protein": "X"})
    assert_allclose(part.obsm["X_viewhop"], expected, atol=1e-12)
    new = new_modalities(new_arrays)
    place(mapped, new, modalities=["protein"])
    assert_allclose(new.obsm["X_viewhop"], expected, atol=1e-12)
    with pytest.raises(ValueError, match="have the modalities atac, but the map is of rna, protei"):
        place(mapped, make_modalities({"atac": other}))


def test_one_anndata_must_say_which_modality_it_is(mapped, new_arrays):
    cells = make_cells(new_arrays["rna"], features=labels("rna"))
    with pytest.raises(ValueError, match=r"of the views rna, protein, .*{'rna': 'X'}"):
        place(mapped, cells)
    with pytest.raises(ValueError, match="the map has no view 'atac'; it is of rna, protein"):
        place(mapped, cells, use_rep={"atac": "X"})


def test_cells_that_the_new_modalities_missed_are_placed_by_the_others(mapped, model, new_arrays):
    names = [f"n{k}" for k in range(12)]
    parts = {
        "rna": make_cells(new_arrays["rna"][3:], names[3:], labels("rna")),
        "protein": make_cells(new_arrays["protein"][:9], names[:9], labels("protein")),
    }
    new = make_modalities(parts)
    place(mapped, new)
    views = {name: X.copy() for name, X in new_arrays.items()}
    views["rna"][:3] = np.nan
    views["protein"][9:] = np.nan
    order = [names.index(name) for name in new.obs_names]
    assert_allclose(new.obsm["X_viewhop"], model.transform(views)[order], atol=1e-12)


def test_representations_of_an_anndata_are_those_of_the_fit(adata, new_arrays):
    diffmap(adata, use_rep={"rna": "X", "adt": "protein"}, key_added="joint", **FIT)
    new = make_cells(new_arrays["rna"], obsm={"protein": new_arrays["protein"]})
    place(adata, new, key_added="joint")
    assert new.obsm["X_joint"].shape == (12, 4)
    assert (new.obs["joint_coverage"] > 0).all()
    bare = make_cells(new_arrays["rna"])
    with pytest.raises(ValueError, match="the AnnData has no 'obsm/protein'"):
        place(adata, bare, key_added="joint")
    place(adata, bare, key_added="joint", use_rep={"rna": "X"})
    assert np.isfinite(bare.obsm["X_joint"]).all()


def test_the_only_view_need_not_be_named(adata, new_arrays, tmp_path):
    path = tmp_path / "m.viewhop"
    diffmap(adata, use_rep="layers/smooth", model=path, **FIT)
    expected = vh.load(path).transform([new_arrays["rna"]])
    for source, options in ((path, {}), (path, {"use_rep": "X"}), (adata, {"use_rep": "X"})):
        new = make_cells(new_arrays["rna"])
        place(source, new, **options)
        assert_allclose(new.obsm["X_viewhop"], expected, atol=1e-12)


def test_data_without_a_map_or_a_model_are_refused(mdata, new_arrays):
    new = new_modalities(new_arrays)
    with pytest.raises(ValueError, match=r"no \.uns\['viewhop'\] of viewhop.scverse.diffmap"):
        place(mdata, new)
    diffmap(mdata, model=False, **FIT)
    with pytest.raises(ValueError, match=r"\.uns\['viewhop'\] holds no model"):
        place(mdata, new)
    mdata.uns["viewhop"]["model"] = np.arange(50, dtype=np.uint8)
    with pytest.raises(ModelFileError):
        place(mdata, new)
    with pytest.raises(TypeError, match=r"model must be data that .*, not int"):
        place(3, new)
    with pytest.raises(TypeError, match="new must be an AnnData or a MuData, not list"):
        place(mdata, [1])
    with pytest.raises(NotFittedError):
        place(vh.MultiViewDiffusionMaps(), new)
