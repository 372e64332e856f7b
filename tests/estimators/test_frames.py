"""DataFrames in: columns are matched by name, and DataFrames that come out keep the index."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from numpy.testing import assert_array_equal
from pandas.testing import assert_frame_equal, assert_index_equal

from viewhop import DiffusionMaps, MultiViewDiffusionMaps, MultiViewSpectralClustering, Views
from viewhop.estimators import DeSaEmbedding, KernelCCA
from viewhop.views import find_columns

N = 40
INDEX = pd.Index([f"c{k}" for k in range(N)], name="cell")


@pytest.fixture
def frames():
    rng = np.random.default_rng(0)
    return {
        "rna": pd.DataFrame(rng.normal(size=(N, 3)), columns=["g1", "g2", "g3"], index=INDEX),
        "protein": pd.DataFrame(rng.normal(size=(N, 2)), columns=["p1", "p2"], index=INDEX),
    }


ESTIMATORS = [
    MultiViewDiffusionMaps(2, random_state=0),
    MultiViewDiffusionMaps(2, fusion="sum", random_state=0),
    DeSaEmbedding(2, kernel="gaussian", random_state=0),
    KernelCCA(2, rank=20),
]


# --- columns -----------------------------------------------------------------------------------


@pytest.mark.parametrize("est", ESTIMATORS, ids=repr)
def test_columns_of_each_view_are_matched_by_name(frames, est):
    est.fit(frames)
    expected = est.transform(frames)
    moved = {"rna": frames["rna"][["g3", "g1", "g2"]], "protein": frames["protein"][["p2", "p1"]]}
    polars = {name: pl.from_pandas(frame) for name, frame in moved.items()}
    for X in (
        moved,
        [*moved.values()],
        tuple(moved.values()),
        polars,
        [*polars.values()],
        Views(moved),
        Views.from_frames(moved),
        {"rna": moved["rna"], "protein": frames["protein"].to_numpy()},
        dict(reversed(moved.items())),
    ):
        assert_array_equal(est.transform(X), expected)


def test_columns_are_matched_by_name_for_clusters_one_view_and_rows(frames):
    moved = {name: frame.iloc[:, ::-1] for name, frame in frames.items()}
    model = MultiViewSpectralClustering(3, random_state=0).fit(frames)
    assert_array_equal(model.predict(moved), model.labels_)
    one = DiffusionMaps(2, random_state=0).fit([frames["rna"]])
    assert_array_equal(one.transform([moved["rna"]]), one.transform([frames["rna"]]))
    est = MultiViewDiffusionMaps(2, random_state=0).fit(frames)
    rows = [est.transform({k: f.iloc[[i]] for k, f in moved.items()}) for i in range(N)]
    np.testing.assert_allclose(np.vstack(rows), est.transform(frames), rtol=1e-10, atol=1e-12)


def mudata(frames, order, *, names=None):
    """What viewhop needs of a MuData."""
    parts = {
        name: SimpleNamespace(
            X=frame.to_numpy()[:, ::order],
            obs_names=frame.index,
            var_names=frame.columns[::order] if names is None or name != "rna" else names,
            obsm={},
        )
        for name, frame in frames.items()
    }
    return SimpleNamespace(mod=parts, obs_names=INDEX)


def test_features_of_a_mudata_are_matched_by_name(frames):
    est = MultiViewDiffusionMaps(2, random_state=0).fit(mudata(frames, 1))
    expected = est.transform(mudata(frames, 1))
    assert_array_equal(est.transform(mudata(frames, -1)), expected)
    for Z in outputs(est, mudata(frames, 1)):
        assert_index_equal(Z.index, INDEX)


def test_columns_of_a_kernel_are_matched_by_name(frames):
    X = frames["rna"].to_numpy()
    K = np.exp(-np.square(X[:, None] - X).sum(axis=2))
    K[5], K[:, 5] = np.nan, np.nan
    kernel = pd.DataFrame(K, index=INDEX, columns=[*INDEX])
    kernels = {"a": kernel, "b": kernel.fillna(0.1)}
    est = MultiViewDiffusionMaps(2, kernel="precomputed", random_state=0).fit(kernels)
    moved = {name: frame.iloc[:10, ::-1] for name, frame in kernels.items()}
    expected = est.transform({name: frame.iloc[:10] for name, frame in kernels.items()})
    assert_array_equal(est.transform(moved), expected)


FORMS = [dict, lambda frames: [*frames.values()], Views, Views.from_frames]


@pytest.mark.parametrize("form", FORMS)
def test_missing_and_extra_columns_are_named(frames, form):
    est = MultiViewDiffusionMaps(2, random_state=0).fit(frames)
    rna, protein = frames.values()
    many = pd.DataFrame(np.zeros((N, 12)), columns=[f"x{k}" for k in range(12)], index=INDEX)
    cases = [
        (rna[["g1", "g3"]], r"view 'rna' are not those of the fit: it lacks 'g2'; columns are"),
        (rna.assign(g4=0.0), r"not those of the fit: it has 'g4', which the fit had not;"),
        (rna.rename(columns={"g1": "G1"}), r"it lacks 'g1' and it has 'G1', which the fit had"),
        (many, r"it lacks 'g1', 'g2', 'g3' and it has 'x0', .*'x7', … \(12 in all\)"),
    ]
    for frame, message in cases:
        with pytest.raises(ValueError, match=message):
            est.transform(form({"rna": frame, "protein": protein}))


def test_columns_without_names_are_matched_by_position(frames):
    est = MultiViewDiffusionMaps(2, random_state=0).fit(frames)
    expected = est.transform(frames)
    plain = {name: frame.to_numpy() for name, frame in frames.items()}
    numbered = {name: pd.DataFrame(X, index=INDEX) for name, X in plain.items()}
    for X in (plain, numbered, [*plain.values()]):
        assert_array_equal(est.transform(X), expected)
    unnamed = MultiViewDiffusionMaps(2, random_state=0).fit(plain)
    assert_array_equal(unnamed.transform(frames), expected)
    with pytest.raises(ValueError, match="view 'rna' has 2 features, but it had 3 in fit"):
        est.transform({"rna": plain["rna"][:, :2]})


def test_repeated_names_cannot_be_matched(frames):
    est = MultiViewDiffusionMaps(2, random_state=0).fit(mudata(frames, 1, names=["g", "g", "h"]))
    same = mudata(frames, 1, names=["g", "g", "h"])
    assert np.isfinite(est.transform(same)).all()
    for names in (["h", "g", "g"], ["g", "h", "h"]):
        with pytest.raises(ValueError, match="columns of view 'rna' have the same name, so they"):
            est.transform(mudata(frames, 1, names=names))


def test_a_stacked_frame_with_other_columns_stays_an_error(frames):
    stacked = pd.concat([*frames.values()], axis=1)
    est = MultiViewDiffusionMaps(2, views=[3, 2], random_state=0).fit(stacked)
    renamed, wider = stacked.rename(columns={"g1": "z"}), stacked.assign(z=0.0)
    for wrong in (stacked.iloc[:, ::-1], renamed, wider):
        with pytest.raises(ValueError, match="feature names should match"):
            est.transform(wrong)
    levels = pd.concat(frames, axis=1)
    est = MultiViewDiffusionMaps(2, random_state=0).fit(levels)
    with pytest.raises(ValueError, match="column 0 of view 'rna' is 'g2', but it was 'g1' in fit"):
        est.transform(levels.iloc[:, [1, 0, 2, 3, 4]])


def test_found_columns_tell_positions_missing_and_extra_ones():
    found = find_columns(["id", "c", "a"], ["a", "b", "c"])
    assert found == ([2, 1], ["b"], ["id"])
    assert find_columns(["a", "b"], ["a", "b"]) == ([0, 1], [], [])


# --- index -------------------------------------------------------------------------------------


def outputs(est, X):
    """What fit_transform and transform return, with pandas output."""
    return [est.set_output(transform="pandas").fit_transform(X), est.transform(X)]


@pytest.mark.parametrize("est", [sklearn.base.clone(est) for est in ESTIMATORS], ids=repr)
@pytest.mark.parametrize("form", ["list", "tuple", "dict", "beside an array"])
def test_pandas_output_keeps_the_index_of_frames(frames, est, form):
    rna, protein = frames.values()
    X = {
        "list": [rna, protein],
        "tuple": (rna, protein),
        "dict": frames,
        "beside an array": [rna.to_numpy(), protein],
    }[form]
    for Z in outputs(est, X):
        assert_index_equal(Z.index, INDEX)
        assert [*Z.columns] == [*est.get_feature_names_out()]
    expected = est.set_output(transform="default").transform(X)
    assert_array_equal(Z.to_numpy(), expected)


def test_pandas_output_keeps_ids_and_the_index_of_a_stacked_frame(frames):
    est = MultiViewDiffusionMaps(2, random_state=0)
    shuffled = {"rna": frames["rna"], "protein": frames["protein"].iloc[::-1]}
    for Z in outputs(est, Views.from_frames(shuffled)):
        assert [*Z.index] == [*INDEX]
    ids = {name: frame.reset_index() for name, frame in frames.items()}
    for Z in outputs(est, Views.from_frames(ids, id="cell")):
        assert [*Z.index] == [*INDEX]
    stacked = pd.concat([*frames.values()], axis=1)
    for Z in outputs(MultiViewDiffusionMaps(2, views=[3, 2], random_state=0), stacked):
        assert_index_equal(Z.index, INDEX)
    for Z in outputs(DiffusionMaps(2, random_state=0), frames["rna"]):
        assert_index_equal(Z.index, INDEX)


def test_pandas_output_keeps_several_levels_of_an_index(frames):
    levels = pd.MultiIndex.from_product([["a", "b"], range(N // 2)], names=["batch", "cell"])
    moved = {name: frame.set_axis(levels) for name, frame in frames.items()}
    for Z in outputs(MultiViewDiffusionMaps(2, random_state=0), moved):
        assert_index_equal(Z.index, levels)


def test_pandas_output_keeps_the_index_of_part_of_the_samples(frames):
    est = MultiViewDiffusionMaps(2, random_state=0).fit(frames).set_output(transform="pandas")
    part = {"protein": frames["protein"].iloc[[7, 3, 20]]}
    assert_index_equal(est.transform(part).index, INDEX[[7, 3, 20]])
    assert_index_equal(est.transform([None, part["protein"]]).index, INDEX[[7, 3, 20]])
    Z, coverage = est.transform(part, return_coverage=True)
    assert_index_equal(Z.index, INDEX[[7, 3, 20]])
    assert coverage.shape == (3,)
    views = Views.from_frames(frames)[[7, 3, 20]]
    assert [*est.transform(views).index] == [*INDEX[[7, 3, 20]]]


def test_arrays_and_polars_frames_have_no_index_to_keep(frames):
    est = MultiViewDiffusionMaps(2, random_state=0)
    plain = [frame.to_numpy() for frame in frames.values()]
    for X in (plain, [pl.from_pandas(frame) for frame in frames.values()], Views(plain)):
        for Z in outputs(est, X):
            assert_index_equal(Z.index, pd.RangeIndex(N))


def test_polars_output_of_frames_has_the_same_values(frames):
    est = MultiViewDiffusionMaps(2, random_state=0).set_output(transform="polars")
    Z = est.fit_transform(frames)
    assert isinstance(Z, pl.DataFrame)
    assert Z.columns == [*est.get_feature_names_out()]
    assert_array_equal(Z.to_numpy(), est.embedding_)
    assert isinstance(est.transform([*frames.values()]), pl.DataFrame)


def test_the_global_setting_keeps_the_index_as_well(frames):
    est = MultiViewDiffusionMaps(2, random_state=0)
    with sklearn.config_context(transform_output="pandas"):
        Z = est.fit_transform(frames)
        assert_index_equal(Z.index, INDEX)
        assert_frame_equal(est.transform(frames), Z, rtol=1e-8)
        model = MultiViewSpectralClustering(3, random_state=0).fit(frames)
        assert isinstance(model.predict(frames), np.ndarray)
    assert isinstance(est.transform(frames), np.ndarray)
