"""Model files of KernelCCA: every bit comes back, and commands can use them."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose, assert_array_equal

import viewhop as vh
from tests.support.model_files import put_together, taken_apart
from viewhop.cli._main import main
from viewhop.errors import ModelFileError
from viewhop.kernels import Correlation, Gaussian, Laplacian, Precomputed

N = 40

KERNELS = {
    "gaussian": Gaussian(),
    "standardised": Gaussian(standardize=True),
    "log-log": Laplacian("log-log"),
    "joint": Gaussian("joint"),
    "manhattan": Laplacian(metric="manhattan", factor=4.0),
    "centred cosine": Gaussian(metric="centered-cosine", standardize=True),
    "auto": Gaussian(metric="auto"),
    "correlation": Correlation(factor=30.0),
}

ATTRIBUTES = ("correlations_", "embedding_", "n_components_", "n_features_in_", "n_views_")
BY_VIEW = ("view_embeddings_", "canonical_vectors_", "bandwidths_", "ranks_", "left_out_")


def views(n=N, dtype=np.float64, seed=0, n_views=2):
    rng = np.random.default_rng(seed)
    hidden = rng.standard_normal((n, 2))
    turns = np.random.default_rng(9).standard_normal((n_views, 2, 5))
    return [
        (np.tanh(hidden @ turn) + 0.1 * rng.standard_normal((n, 5)) + 2.0).astype(dtype)
        for turn in turns
    ]


def loaded(est, tmp_path):
    est.save(tmp_path / "m.viewhop")
    return vh.load(tmp_path / "m.viewhop")


def assert_same(again, est, *samples):
    assert type(again) is type(est)
    assert again.view_names_ == est.view_names_
    for name in ATTRIBUTES:
        assert_array_equal(getattr(again, name), getattr(est, name))
    for name in BY_VIEW:
        own, other = getattr(est, name), getattr(again, name)
        assert [*own] == [*other]
        for view in own:
            assert_array_equal(other[view], own[view])
    assert_array_equal(again.get_feature_names_out(), est.get_feature_names_out())
    for new in samples:
        assert_array_equal(again.transform(new), est.transform(new))


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", KERNELS)
def test_every_attribute_and_transform_come_back_bit_for_bit(tmp_path, name, dtype, center):
    X, new = views(dtype=dtype), views(7, dtype, seed=1)
    est = vh.KernelCCA(2, kernel=KERNELS[name], rank=15, center=center).fit(X)
    again = loaded(est, tmp_path)
    assert_same(again, est, X, new, [new[0], None], [None, new[1]])
    assert again.center is center


def test_precomputed_kernels_and_three_views_come_back(tmp_path):
    X = views(n_views=3)
    kernels = [np.exp(-np.square(x[:, None] - x).sum(axis=-1) / 4) for x in X]
    est = vh.KernelCCA(2, kernel=Precomputed(), rank=20).fit(kernels)
    again = loaded(est, tmp_path)
    new = [K[:3] for K in kernels]
    assert_array_equal(again.transform(new), est.transform(new))
    assert_array_equal(again.embedding_, est.embedding_)
    assert np.isnan([*again.bandwidths_.values()]).all()
    est = vh.KernelCCA(2, kernel=dict(zip("abc", KERNELS.values(), strict=False)), rank=9)
    est.fit(dict(zip("abc", X, strict=True)))
    assert_same(loaded(est, tmp_path), est, dict(zip("abc", X, strict=True)))


def test_a_stacked_frame_keeps_its_columns(tmp_path):
    frame = pd.DataFrame(np.hstack(views()), columns=[f"f{k}" for k in range(10)])
    est = vh.KernelCCA(1, rank=12, views={"x": slice(0, 5), "y": slice(5, 10)}).fit(frame)
    again = loaded(est, tmp_path)
    assert_same(again, est, frame)
    assert_array_equal(again.feature_names_in_, est.feature_names_in_)
    assert again.views == est.views


@pytest.mark.parametrize("gamma", [1e-100, 1e-12, 1e6])
def test_any_regularisation_can_be_read_back(tmp_path, gamma):
    X = views()
    est = vh.KernelCCA(2, rank=None, tol=1e-12, regularization=gamma).fit(X)
    assert_same(loaded(est, tmp_path), est, X)


def test_a_loaded_estimator_can_be_fitted_again(tmp_path):
    X = views()
    est = vh.KernelCCA(2, kernel="laplacian", rank=15).fit(X)
    again = loaded(est, tmp_path)
    assert again.get_params(deep=False) == est.get_params(deep=False)
    assert_array_equal(again.fit(X).embedding_, est.embedding_)


def test_saving_twice_writes_the_same_bytes(tmp_path):
    est = vh.KernelCCA(2, rank=15).fit(views())
    again = loaded(est, tmp_path)
    again.save(tmp_path / "n.viewhop")
    assert (tmp_path / "n.viewhop").read_bytes() == (tmp_path / "m.viewhop").read_bytes()


def learned(manifest):
    return manifest["model"]["learned"]["canonical"]


EDITS = {
    "neighbours": (("kernel", "n_neighbors"), 5, "not positive semi-definite"),
    "local scales": (("kernel", "bandwidth"), "local", "a scale per sample"),
    "densities": (("kernel", "alpha"), 1.0, "divides by densities"),
    "an open metric": (("kernel", "metric"), "auto", "cannot be auto"),
    "a Gaussian of L1": (("kernel", "metric"), "manhattan", "not positive semi-definite"),
    "another class": (("kernel", "class"), "Laplacian", "not the factor of its pivots"),
    "another scale": (("scale",), 0.1, "not the factor of its pivots"),
    "no scale": (("scale",), None, "scale"),
    "a share above 1": (("left_out",), 2.0, "left_out"),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edited_kernel_is_refused(tmp_path, name):
    way, value, message = EDITS[name]
    vh.KernelCCA(2, rank=8).fit(views()).save(tmp_path / "m.viewhop")
    manifest, members = taken_apart((tmp_path / "m.viewhop").read_bytes())
    node = learned(manifest)["views"][0]
    for key in way[:-1]:
        node = node[key]
    node[way[-1]] = value
    (tmp_path / "m.viewhop").write_bytes(put_together(manifest, members))
    with pytest.raises(ModelFileError, match=message):
        vh.load(tmp_path / "m.viewhop")


def test_views_that_are_missing_or_of_another_class_are_refused(tmp_path):
    vh.KernelCCA(2, rank=8).fit(views()).save(tmp_path / "m.viewhop")
    content = (tmp_path / "m.viewhop").read_bytes()
    manifest, members = taken_apart(content)
    learned(manifest)["views"].pop()
    (tmp_path / "m.viewhop").write_bytes(put_together(manifest, members))
    with pytest.raises(ModelFileError, match="expected at least two views"):
        vh.load(tmp_path / "m.viewhop")
    manifest, members = taken_apart(content)
    manifest["model"]["class"] = "DiffusionMaps"
    (tmp_path / "m.viewhop").write_bytes(put_together(manifest, members))
    with pytest.raises(ModelFileError):
        vh.load(tmp_path / "m.viewhop")


def test_a_sample_too_many_deviations_away_is_refused(tmp_path):
    X = views()
    X[0][:, 0] = 1e-140 * np.arange(N)
    est = vh.KernelCCA(1, kernel=Gaussian(standardize=True), rank=8).fit(X)
    new = [np.full((1, 5), 1e140), X[1][:1]]
    with pytest.raises(ValueError, match="standard deviations"):
        est.transform(new)


@pytest.fixture
def model(tmp_path):
    X = views()
    est = vh.KernelCCA(2, rank=15).fit(
        {name: pd.DataFrame(x, columns=[*"abcde"]) for name, x in zip("xy", X, strict=True)}
    )
    est.save(tmp_path / "m.viewhop")
    for name, x in zip("xy", X, strict=True):
        frame = pd.DataFrame(x[:6], columns=[*"abcde"])
        frame.insert(0, "id", [f"s{k}" for k in range(6)])
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    return est


def run(*arguments):
    return CliRunner().invoke(main, [*map(str, arguments)])


def test_info_describes_a_kernel_cca(tmp_path, model):
    result = run("info", tmp_path / "m.viewhop", "--json")
    assert result.exit_code == 0, result.output
    facts = json.loads(result.stdout)
    assert facts["class"] == "KernelCCA"
    assert facts["n_samples"] == N
    assert facts["ranks"] == model.ranks_
    assert facts["views"]["x"]["observed"] == N
    assert_allclose(facts["correlations"], model.correlations_, rtol=1e-15)
    assert "eigenvalues" not in facts
    text = run("info", tmp_path / "m.viewhop")
    assert "correlations" in text.stdout


@pytest.mark.parametrize("names", ["xy", "y"])
def test_transform_places_new_samples_with_a_kernel_cca(tmp_path, model, names):
    files = [f"{name}={tmp_path / name}.csv" for name in names]
    out = tmp_path / "new.csv"
    result = run("transform", tmp_path / "m.viewhop", *files, "--id", "id", "-o", out)
    assert result.exit_code == 0, result.output
    table = pd.read_csv(out, index_col="id")
    assert [*table.columns] == model.get_feature_names_out().tolist()
    new = {name: pd.read_csv(tmp_path / f"{name}.csv", index_col="id") for name in names}
    assert_allclose(table.to_numpy(), np.asarray(model.transform(new)), rtol=1e-9)


def test_a_report_of_a_kernel_cca_is_refused_in_one_line(tmp_path, model):
    result = run("report", tmp_path / "m.viewhop", "-o", tmp_path / "r.html")
    assert result.exit_code != 0
    assert "is a KernelCCA, which has no walk to report on" in result.stderr
    assert "Traceback" not in result.stderr
