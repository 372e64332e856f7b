"""Model files: a fitted estimator comes back to the last bit, and nothing else comes in."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tracemalloc
import warnings
from io import BytesIO
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError

import viewhop as vh
from tests.support import cases, make_golden
from tests.support.model_files import as_member, put_together, taken_apart
from viewhop.errors import ModelDamagedError, ModelFileError, ModelSizeError, ModelVersionError
from viewhop.estimators import _version1
from viewhop.kernels import Correlation, Gaussian, Kernel, Laplacian, Precomputed

FUSIONS = ("hop", "sum", "product", "concat", "alternating", "integrated", "composite")
PLAIN = bool | int | float | str | slice | np.number | np.bool_
DATA = Path(__file__).parents[1] / "data"


def again(est, folder):
    """The estimator, saved and loaded."""
    path = folder / "model.viewhop"
    est.save(path)
    return vh.load(path)


def assert_same(found, known, where="it"):
    """Equal to the last bit, in whatever it holds."""
    if isinstance(known, np.ndarray):
        assert_array_equal(found, known, strict=True, err_msg=where)
    elif isinstance(known, dict):
        assert [*found] == [*known], where
        for key in known:
            assert_same(found[key], known[key], f"{where}[{key!r}]")
    elif isinstance(known, list | tuple):
        assert len(found) == len(known), where
        for k, part in enumerate(known):
            assert_same(found[k], part, f"{where}[{k}]")
    elif isinstance(known, Kernel):
        assert type(found) is type(known), where
        assert_same(found.get_params(), known.get_params(), where)
    elif isinstance(known, float) and np.isnan(known):
        assert np.isnan(found), where
    elif known is None or isinstance(known, PLAIN):
        assert found == known, where
    else:
        assert type(found) is type(known), where


#: What a fit says of itself, beside what it answers.
ATTRIBUTES = (
    *("embedding_", "eigenvalues_", "view_embeddings_", "bandwidths_", "degrees_", "observed_"),
    *("recall_", "solver_", "view_names_", "n_views_", "n_components_", "n_pieces_", "memory_"),
    *("n_steps_", "n_features_in_", "n_clusters_", "labels_", "cluster_centers_"),
    *("feature_names_in_", "metrics_", "metric_scores_", "view_weights_"),
)


def assert_same_model(found, known):
    """Every attribute, every parameter, and the geometry."""
    assert type(found) is type(known)
    assert set(vars(found)) == set(vars(known))
    assert_same(found.get_params(), known.get_params(), "parameters")
    for name in ATTRIBUTES:
        assert hasattr(found, name) == hasattr(known, name), name
        if hasattr(known, name):
            assert_same(getattr(found, name), getattr(known, name), name)
    one, other = found.geometry_, known.geometry_
    assert_same(vars(one.spectrum), vars(other.spectrum), "spectrum")
    assert_same(vars(one.schema), vars(other.schema), "schema")
    assert_same(one.kernels, other.kernels, "kernels")
    assert (one.n_steps, one.output) == (other.n_steps, other.output)
    # Seconds are not saved; see the test of timings below.
    assert_same(
        {**vars(one.record), "timings": {}}, {**vars(other.record), "timings": {}}, "record"
    )
    assert type(one.walk) is type(other.walk)
    assert one.walk.n_jobs == other.walk.n_jobs
    if hasattr(known, "get_feature_names_out"):
        assert_array_equal(found.get_feature_names_out(), known.get_feature_names_out())


def quiet(call, *given, **named):
    """What a call gives; far and unreached samples are not the point here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return call(*given, **named)


def assert_same_answers(found, known, new):
    """What a fitted estimator is asked, on training samples and on new ones."""
    for X in new:
        for both in zip(
            quiet(found.transform, X, return_coverage=True),
            quiet(known.transform, X, return_coverage=True),
            strict=True,
        ):
            assert_array_equal(*both, strict=True)
    if hasattr(known, "coordinates"):
        assert_array_equal(found.coordinates(3.5), known.coordinates(3.5), strict=True)
    if known.walk_.is_fused or known.n_views_ == 1 or not hasattr(known, "disagreement"):
        return
    for question in ("disagreement", "view_similarity", "view_influence"):
        assert_same(quiet(getattr(found, question)), quiet(getattr(known, question)), question)


def fitted(X, **parameters):
    return quiet(vh.MultiViewDiffusionMaps(2, random_state=0, **parameters).fit, X)


# --- what is saved comes back ------------------------------------------------------------------


def fits(fusion, name, holding):
    """Whether a fusion takes the kernel: a product of neighbours, or concat, joins the views."""
    is_joined = name in cases.JOINED
    return is_joined or (fusion != "concat" and (fusion != "product" or holding == "dense"))


@pytest.mark.parametrize(
    ("fusion", "name", "holding"),
    [case for case in product(FUSIONS, cases.KERNELS, cases.HOLDINGS) if fits(*case)],
)
def test_every_kernel_and_fusion_comes_back_to_the_last_bit(tmp_path, fusion, name, holding):
    kernel = cases.kernel(name, holding)
    views = cases.views("generic", 2 if fusion == "composite" else 3, kernel)
    known = fitted(views, fusion=fusion, kernel=kernel)
    found = again(known, tmp_path)
    assert_same_model(found, known)
    new = [views, [X[:1] for X in views], [X[3:9] * 1.01 for X in views]]
    if fusion in ("hop", "sum"):
        new.append([views[0][:4] * 1.01, None, None])
    assert_same_answers(found, known, new)


@pytest.mark.parametrize("kernel", [Gaussian(), Gaussian("local", n_neighbors=5)])
@pytest.mark.parametrize("fusion", FUSIONS)
@pytest.mark.usefixtures("small_tiles")
def test_single_precision_and_many_tiles_come_back(tmp_path, fusion, kernel):
    views = cases.views("tied", 2, kernel, np.float32)
    known = fitted(views, fusion=fusion, kernel=kernel, n_steps=0.5)
    found = again(known, tmp_path)
    assert found.embedding_.dtype == np.float32
    assert_same_model(found, known)
    assert_same_answers(found, known, [views])


def missing(kernel):
    """Three views, some rows of which are NaN."""
    views = cases.views("generic", 3, kernel)
    views[0][:5] = np.nan
    views[1][[3, 9, 20]] = np.nan
    return views


@pytest.mark.parametrize("output", ["auto", "concat", "mean"])
@pytest.mark.parametrize(
    "kernel",
    [
        Gaussian(),
        Gaussian("local", n_neighbors=5),
        [Precomputed(n_neighbors=6), Precomputed(alpha=1.0), Precomputed()],
    ],
    ids=["dense", "neighbours", "precomputed"],
)
@pytest.mark.parametrize("fusion", ["hop", "sum"])
def test_missing_samples_come_back(tmp_path, fusion, kernel, output):
    views = missing(kernel[0] if isinstance(kernel, list) else kernel)
    known = fitted(views, fusion=fusion, kernel=kernel, output=output)
    found = again(known, tmp_path)
    assert_same_model(found, known)
    assert_same(found.observed_, known.observed_)
    new = [X.copy() for X in views]
    new[2][4] = np.nan
    new[1][4] = 1.0
    assert_same_answers(found, known, [views, new])


def test_linked_rows_come_back(tmp_path):
    rng = np.random.default_rng(0)
    arrays = {"a": rng.standard_normal((20, 3)), "b": rng.standard_normal((31, 4))}
    ids = {"a": [*range(20)], "b": [*rng.integers(0, 22, 31)]}
    views = vh.Views.link(arrays, ids=ids)
    known = fitted(views, kernel=Gaussian(n_neighbors=6))
    found = again(known, tmp_path)
    assert_same_model(found, known)
    assert found.view_embeddings_["b"].shape == (31, 2)
    assert_same_answers(found, known, [{"a": arrays["a"][:4]}])


def test_hops_that_do_not_reach_all_come_back_without_a_warning(tmp_path):
    views = missing(Gaussian())
    hops = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], dtype=np.float32)
    known = fitted(views, kernel="gaussian", hops=hops, output="concat")
    found = again(known, tmp_path)
    assert_array_equal(found.hops, hops.astype(np.float64))
    assert_array_equal(found.embedding_, known.embedding_)


@pytest.mark.parametrize("n", [40, 300])
def test_the_lists_of_faiss_come_back(tmp_path, n):
    pytest.importorskip("faiss")
    rng = np.random.default_rng(0)
    views = [rng.standard_normal((n, width)) for width in (3, 4)]
    for fusion in ("hop", "product", "concat"):
        kernel = Gaussian("local", n_neighbors=5, search="faiss")
        known = fitted(views, kernel=kernel, fusion=fusion)
        found = again(known, tmp_path)
        assert found.walk_.kernels[0].index is not None
        assert_same_model(found, known)
        assert_same_answers(found, known, [views, [X[:9] * 1.1 for X in views]])


def test_a_kernel_for_each_view_comes_back(tmp_path):
    views = dict(zip("abcd", cases.views("generic", 4, Gaussian()), strict=True))
    kernel = {
        "a": "adaptive",
        "b": Laplacian("log-log"),
        "c": Correlation(n_neighbors=np.int64(6)),
        "d": Gaussian("connected", standardize=np.True_),
    }
    known = fitted(views, kernel=kernel, within_view_weight=0.25)
    found = again(known, tmp_path)
    assert_same_model(found, known)
    assert_same_answers(found, known, [views, {"b": views["b"][:3]}])


PARAMETERS = {
    "views: a number": {"views": 2},
    "views: numbers of columns": {"views": [3, 5]},
    "views: a tuple": {"views": (4, np.int64(4))},
    "views: positions": {"views": {"x": [0, 2, 4], "y": np.array([1, 3])}},
    "views: slices": {"views": [slice(0, 3), slice(3, None, 2)]},
    "views: a mask": {"views": {"x": np.arange(8) < 3, "y": [False] * 5 + [True] * 3}},
    "views: names": {"views": {"x": ["c0", "c1"], "y": pd.Index(["c5", "c6", "c7"])}},
    "views: a range": {"views": {"x": range(3), "y": range(3, 8)}},
    "views: an array of names": {"views": {"x": np.array(["c0", "c1"]), "y": "c4"}},
    "automatic": {"views": 2, "n_components": "auto", "accuracy": 0.3},
    "dimension": {"views": 2, "n_components": "auto", "accuracy": "local_pca"},
    "numbers": {"views": 2, "tol": np.float64(1e-3), "max_memory": "2GB", "n_jobs": 1},
    "infinite": {"views": 2, "max_memory": 2**40, "n_steps": np.float32(0.1)},
    "hops": {"views": 2, "hops": [[0, 1], [1, 0.5]]},
    "weight": {"views": 2, "within_view_weight": 0.5, "solver": "lanczos"},
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_parameters_come_back(tmp_path, name):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((30, 8)), columns=[f"c{k}" for k in range(8)])
    known = vh.MultiViewDiffusionMaps(random_state=3).set_params(**PARAMETERS[name])
    quiet(known.fit, X)
    found = again(known, tmp_path)
    assert set(vars(found)) == set(vars(known))
    assert_array_equal(found.feature_names_in_, known.feature_names_in_, strict=True)
    assert_array_equal(found.transform(X[:4]), known.transform(X[:4]), strict=True)
    assert_array_equal(quiet(found.fit_transform, X), known.embedding_, strict=True)
    with pytest.raises(ValueError, match="feature names"):
        found.transform(X.rename(columns={"c0": "other"}))


def test_views_named_by_columns_of_two_levels_come_back(tmp_path):
    rng = np.random.default_rng(0)
    columns = pd.MultiIndex.from_product([["näme", "</script>"], ["p", "q"]])
    X = pd.DataFrame(rng.standard_normal((20, 4)), columns=columns)
    known = fitted(X)
    found = again(known, tmp_path)
    assert found.view_names_ == ("näme", "</script>")
    assert_same_model(found, known)
    assert_array_equal(found.transform(X), known.transform(X), strict=True)


def test_what_is_not_learnt_is_left_out(tmp_path):
    views = cases.views("generic", 2, Gaussian())
    for random_state in (np.random.default_rng(0), np.random.RandomState(0)):
        known = vh.MultiViewDiffusionMaps(
            random_state=random_state, verbose=lambda stage, done, total: None
        ).fit(views)
        found = again(known, tmp_path)
        assert found.random_state is None
        assert found.verbose == 0
        assert_array_equal(found.embedding_, known.embedding_, strict=True)


def test_parameters_that_changed_after_the_fit_do_not_change_what_was_fitted(tmp_path):
    views = cases.views("generic", 2, Gaussian())
    known = fitted(views, kernel="gaussian", n_steps=2)
    answer = known.transform(views)
    known.set_params(n_steps=7, output="mean", kernel="laplacian", fusion="sum")
    found = again(known, tmp_path)
    assert found.n_steps_ == 2
    assert found.get_params() == known.get_params()
    assert_same_model(found, known)
    assert_array_equal(found.transform(views), answer, strict=True)


def test_one_view_comes_back(tmp_path):
    X = cases.views("generic", 1, Gaussian())[0]
    for kernel in ("adaptive", Gaussian(alpha=1.0)):
        known = vh.DiffusionMaps(2, kernel=kernel, random_state=0).fit(X)
        found = again(known, tmp_path)
        assert_same_model(found, known)
        assert_same_answers(found, known, [X, X[:3] * 1.01])


def test_rows_for_clusters_come_back(tmp_path):
    views = cases.views("generic", 2, Gaussian())
    for r in (1, 3):
        known = vh.DeSaEmbedding(r, kernel="gaussian", random_state=0).fit(views)
        found = again(known, tmp_path)
        assert_same_model(found, known)
        for X in (views, [views[0][:4] * 1.01, None]):
            assert_array_equal(found.transform(X), known.transform(X), strict=True)


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("n_clusters", ["auto", 3])
def test_clusters_come_back(tmp_path, n_clusters, normalize):
    X = pd.DataFrame(np.hstack(cases.views("generic", 2, Gaussian()))).rename(columns=str)
    known = vh.MultiViewSpectralClustering(
        n_clusters, views=[3, 5], kernel="gaussian", normalize=normalize, random_state=0
    ).fit(X)
    known.set_params(normalize=not normalize)
    found = again(known, tmp_path)
    assert_same_model(found, known)
    assert_same_model(found.embedder_, known.embedder_)
    assert_array_equal(found.predict(X * 1.01), known.predict(X * 1.01), strict=True)


def test_the_embedding_of_clusters_keeps_its_parameters(tmp_path):
    views = cases.views("generic", 2, Gaussian())
    known = vh.MultiViewSpectralClustering(3, kernel="gaussian", random_state=0).fit(views)
    parameters = known.embedder_.get_params()
    known.set_params(n_clusters=8, kernel="laplacian", n_steps=7)
    found = again(known, tmp_path)
    assert found.embedder_.get_params() == parameters
    assert_array_equal(found.labels_, known.labels_)


def test_a_loaded_model_is_saved_as_the_same_bytes(tmp_path):
    est = make_golden.hop()
    for name in ("one", "two"):
        est.save(tmp_path / name)
    vh.load(tmp_path / "one").save(tmp_path / "three")
    contents = [(tmp_path / name).read_bytes() for name in ("one", "two", "three")]
    assert contents[0] == contents[1] == contents[2]


def test_what_was_used_before_it_is_saved_gives_the_same_bytes(tmp_path):
    est = make_golden.hop()
    est.save(tmp_path / "one")
    make_golden.expected(est)  # fills what is kept for the next question
    est.save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


# --- what cannot be saved ----------------------------------------------------------------------


class OwnKernel(Gaussian):
    pass


class OwnMaps(vh.MultiViewDiffusionMaps):
    pass


def test_what_cannot_be_loaded_cannot_be_saved(tmp_path):
    views = cases.views("generic", 2, Gaussian())
    path = tmp_path / "model.viewhop"
    with pytest.raises(NotFittedError):
        vh.MultiViewDiffusionMaps().save(path)
    with pytest.raises(NotFittedError):
        vh.MultiViewSpectralClustering().save(path)
    with pytest.raises(ModelFileError, match="OwnMaps is not an estimator of viewhop"):
        OwnMaps().fit(views).save(path)
    with pytest.raises(ModelFileError, match="OwnKernel; a model file holds the kernels Gaussian"):
        fitted(views, kernel=OwnKernel()).save(path)
    with pytest.raises(NotFittedError):
        vh.KernelCCA().save(path)
    est = fitted(views, kernel="gaussian")
    with pytest.raises(ModelFileError, match="changed after the fit"):
        est.set_params(fusion="nothing").save(path)
    est.set_params(fusion="hop", views={"x": [object()]})
    with pytest.raises(ModelFileError, match="the parameter views is a object"):
        est.save(path)
    est.set_params(views=None, hops=np.ones((2, 2), dtype=complex))
    with pytest.raises(ModelFileError, match="complex128"):
        est.save(path)
    est.set_params(hops=[[0.0, float("inf")], [1.0, 0.0]])
    with pytest.raises(ModelFileError, match="finite numbers"):
        est.save(path)
    assert not [*tmp_path.iterdir()]


# --- the golden files --------------------------------------------------------------------------


@pytest.mark.parametrize("path", sorted(DATA.glob("golden-*.viewhop")), ids=lambda path: path.name)
def test_golden_files_always_load(path):
    known = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    found = make_golden.expected(vh.load(path))
    assert [*found] == [*known]
    for name in known:
        assert_allclose(found[name], known[name], rtol=1e-9, atol=1e-12, err_msg=name)


@pytest.mark.parametrize(("version", "later"), [(1, {"-consensus", "-connected"}), (2, set())])
def test_golden_files_are_there_and_small(version, later):
    paths = [*DATA.glob(f"golden-{version}*.viewhop")]
    names = {path.stem.removeprefix(f"golden-{version}") for path in paths}
    assert names == {*make_golden.MODELS} - later
    assert max(path.stat().st_size for path in paths) < 100_000
    for path in paths:
        assert taken_apart(path.read_bytes())[0]["version"] == version


def test_version_1_means_what_it_meant():
    est = vh.load(DATA / "golden-1-product.viewhop")
    manifest, _ = taken_apart((DATA / "golden-1-product.viewhop").read_bytes())
    assert manifest["model"]["parameters"]["kernel"] == "adaptive"
    assert_same(est.kernel, Gaussian("local", n_neighbors=10), "kernel")
    assert est.within_view_weight == 0.0
    clusters = vh.load(DATA / "golden-1-clusters.viewhop")
    assert clusters.embedder_.random_state == 0
    for part in ("list", "dict"):
        kernel = ["adaptive", {"kernel": {"class": "Precomputed"}}]
        spelt = _version1._spell_out(kernel if part == "list" else {"dict": [["a", "adaptive"]]})
        inner = spelt[0] if part == "list" else spelt["dict"][0][1]
        assert inner["kernel"]["n_neighbors"] == 10
        assert inner["kernel"]["metric"] == "euclidean"


def test_a_version_1_file_is_saved_as_version_2_and_means_the_same(tmp_path):
    for path in DATA.glob("golden-1*.viewhop"):
        known = vh.load(path)
        known.save(tmp_path / "new")
        assert taken_apart((tmp_path / "new").read_bytes())[0]["version"] == 2
        assert_same_model(vh.load(tmp_path / "new"), known)


def test_what_came_after_a_file_was_written_has_its_default(tmp_path):
    manifest, members = taken_apart((DATA / "golden-2.viewhop").read_bytes())
    del manifest["model"]["parameters"]["tol"]
    del manifest["model"]["learned"]["geometry"]["walk"]["kernels"][1]["kernel"]["search"]
    (tmp_path / "old").write_bytes(put_together(manifest, members))
    est = vh.load(tmp_path / "old")
    assert est.tol is None
    assert est.geometry_.kernels["waves"].search == "auto"
    assert_same(est.embedding_, vh.load(DATA / "golden-2.viewhop").embedding_)


@pytest.mark.parametrize("name", make_golden.NEWEST)
def test_golden_files_are_what_their_script_makes(tmp_path, name):
    make_golden.make(tmp_path, name)
    new, _ = taken_apart((tmp_path / f"golden-2{name}.viewhop").read_bytes())
    old, _ = taken_apart((DATA / f"golden-2{name}.viewhop").read_bytes())
    assert [*new["arrays"]] == [*old["arrays"]]
    # Parameters that came after the file was written have their defaults.
    defaults = getattr(vh, new["model"]["class"])().get_params()
    added = {key: defaults[key] for key in defaults if key not in old["model"]["parameters"]}
    assert new["model"]["parameters"] == {**old["model"]["parameters"], **added}


# --- what is refused ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def contents():
    """Small files of several kinds, by version."""
    return {
        version: {
            path.stem.replace(f"golden-{version}", "golden"): path.read_bytes()
            for path in sorted(DATA.glob(f"golden-{version}*.viewhop"))
        }
        for version in (1, 2)
    }


#: Where version 2 has what version 1 has under "fitted".
MOVED = {
    "views": ("schema",),
    "n_features_in": ("schema", "n_columns"),
    "feature_names_in": ("schema", "columns"),
    "groups": ("schema", "groups"),
    "is_mean": ("output",),
    **{key: ("record", key) for key in ("n_pieces", "timings", "memory")},
}


def current(keys):
    """The way of version 2 to what version 1 has at `keys`."""
    if keys[:1] != ("fitted",):
        return keys
    if keys[1] in ("n_components", "normalized", "x"):
        return "learned", "normalize" if keys[1] == "normalized" else keys[1]
    inside = keys[3:] if keys[1] == "embedder" else keys[1:]
    if inside[:2] == ("walk", "product"):
        return "learned", "geometry", "walk", "own", *inside[1:]
    return "learned", "geometry", *MOVED.get(inside[0], inside[:1]), *inside[1:]


def at(*keys, value, which="golden"):
    """The file with another value somewhere in the model; keys are those of version 1."""

    def spoil(contents):
        manifest, members = taken_apart(contents[which])
        *way, last = keys if manifest["version"] == 1 else current(keys)
        model = manifest["model"]
        for key in way:
            model = model[key]
        if value is KeyError:
            del model[last]
        else:
            model[last] = value
        return put_together(manifest, members)

    return spoil


def array(name, change, which="golden"):
    """The file with another array, of which the manifest knows."""

    def spoil(contents):
        manifest, members = taken_apart(contents[which])
        if change is None:
            del manifest["arrays"][name], members[f"{name}.npy"]
            return put_together(manifest, members)
        known = np.zeros(1)
        if name in manifest["arrays"]:
            text = members[f"{name}.npy"]
            entry = manifest["arrays"][name]
            known = np.frombuffer(
                text[-np.prod(entry["shape"]) * int(entry["dtype"][2]) :], entry["dtype"]
            )
            known = known.reshape(entry["shape"], order=entry["order"]).copy(order="C")
        made = np.ascontiguousarray(change(known))
        manifest["arrays"][name] = {
            "dtype": made.dtype.str,
            "shape": [*made.shape],
            "order": "C",
        }
        members[f"{name}.npy"] = as_member(made)
        return put_together(manifest, members)

    return spoil


def entry(place, value):
    """A change of one entry."""

    def change(known):
        known.flat[place] = value
        return known

    return change


FITTED = "fitted"
WALK = "fitted", "walk"
KERNEL = "fitted", "walk", "kernels", 0
VIEWS = "fitted", "views"
REFUSED = {
    "an unknown class": (at("class", value="os.system"), "class of the model"),
    "a class of another kind": (at("class", value=["x"]), "class of the model"),
    "a model with more": (at("code", value="print()"), "expected class, parameters, fitted"),
    "a model with less": (at("parameters", value=KeyError), "expected class, parameters, fitted"),
    "a parameter more": (at("parameters", "x", value=1), "parameters of"),
    "a parameter less": (at("parameters", "tol", value=KeyError), "parameters of"),
    "a parameter out of range": (at("parameters", "n_components", value=-1), "n_components"),
    "a parameter of another kind": (at("parameters", "solver", value=[]), "solver"),
    "a parameter with a tag": (at("parameters", "tol", value={"code": "x"}), "expected one of"),
    "a parameter with two tags": (
        at("parameters", "tol", value={"tuple": [], "dict": []}),
        "expected one of",
    ),
    "a slice of text": (at("parameters", "views", value=[{"slice": ["a", 1, 2]}]), "slice"),
    "a slice of two": (at("parameters", "views", value=[{"slice": [1, 2]}]), "list of 3"),
    "a dict of numbers": (at("parameters", "views", value={"dict": [[1, 2]]}), "expected text"),
    "a dict with a name twice": (
        at("parameters", "views", value={"dict": [["a", 1], ["a", 2]]}),
        "twice",
    ),
    "an array that is nowhere": (at("parameters", "hops", value={"array": "9"}), "is missing"),
    "a kernel that is unknown": (
        at("parameters", "kernel", value={"kernel": {"class": "Popen"}}),
        "expected one of Gaussian",
    ),
    "a kernel that is none": (at("parameters", "kernel", value={"kernel": 3}), "expected one of"),
    "a kernel with more": (at(*KERNEL, "kernel", "x", value=1), "expected class, alpha"),
    "a kernel out of range": (at(*KERNEL, "kernel", "factor", value=-1), "factor"),
    "a kernel of lists": (at(*KERNEL, "kernel", "factor", value=[1]), "numbers and text"),
    "a kernel of nonsense": (at(*KERNEL, "kernel", "metric", value="x"), "metric"),
    "a kernel that half standardises": (at(*KERNEL, "kernel", "standardize", value=1), "true or"),
    "a kernel without neighbours": (at(*KERNEL, "kernel", "n_neighbors", value=None), "triangle"),
    "a kernel without deviations": (
        at(*KERNEL, "kernel", "standardize", value=False),
        "nothing is known of the array view0/deviation",
    ),
    "a local scale as a number": (at(*KERNEL, "scale", value=1.0), "local scales are an array"),
    "a scale that is missing": (at(*WALK, "kernels", 1, "scale", value=None), "expected a number"),
    "a scale of 0": (at(*WALK, "kernels", 1, "scale", value=0), "too small"),
    "a given kernel with a scale": (at(*WALK, "kernels", 2, "scale", value=1.0), "no scale"),
    "a dense kernel with lists": (at(*WALK, "kernels", 1, "n_probe", value=1), "searches nothing"),
    "lists without centres": (at(*KERNEL, "n_probe", value=1), "centres is missing"),
    "a recall below 0": (at(*KERNEL, "recall", value=-1), "recall"),
    "an unknown fusion": (at(*WALK, "fusion", value="x"), "expected one of hop"),
    "a fusion that needs all": (at(*WALK, "fusion", value="alternating"), "every view"),
    "a product of a sum": (at(*WALK, "product", value={}), "has no product"),
    "another number of samples": (at(*WALK, "n_samples", value=31), "each sample is in one"),
    "very many samples": (at(*WALK, "n_samples", value=2**40), "each sample is in one"),
    "very many whole samples": (
        at(FITTED, "embedder", *WALK, "n_samples", value=2**40, which="golden-clusters"),
        "has 24 rows",
    ),
    "a given kernel that is narrow": (at(*VIEWS, "widths", value=[3, 5, 29]), "30 wide"),
    "fewer samples": (at(*WALK, "n_samples", value=7), "beyond 7 rows"),
    "samples of text": (at(*WALK, "n_samples", value="30"), "whole number"),
    "fewer kernels": (at(*WALK, "kernels", value=[]), "kernels of 3 views"),
    "a walk with more": (at(*WALK, "x", value=1), "the walk: expected"),
    "views without names": (at(*VIEWS, "names", value=[]), "names of the views"),
    "views with one name": (at(*VIEWS, "names", value=["a", "a", "b"]), "each of them once"),
    "views named by numbers": (at(*VIEWS, "names", value=[1, 2, 3]), "expected text"),
    "views without widths": (at(*VIEWS, "widths", value=[3]), "widths"),
    "views of other widths": (at(*VIEWS, "widths", value=[4, 5, 30]), "shape"),
    "views of no width": (at(*VIEWS, "widths", value=[0, 5, 30]), "at least 1"),
    "feature names of numbers": (
        at(*VIEWS, "feature_names", value=[[1, 2, 3], None, None]),
        "expected text",
    ),
    "feature names too few": (at(*VIEWS, "feature_names", value=[["a"], None, None]), "list of 3"),
    "another dtype": (at(*VIEWS, "dtype", value="object"), "dtype"),
    "a dtype of single precision": (at(*VIEWS, "dtype", value="float32"), "expected float32"),
    "no features": (at(FITTED, "n_features_in", value=0), "number of features"),
    "names of other features": (at(FITTED, "feature_names_in", value=["a"]), "names of the"),
    "a step of text": (at(FITTED, "n_steps", value="1"), "steps"),
    "a step back": (at(FITTED, "n_steps", value=-1), "steps"),
    "a mean that is unsure": (at(FITTED, "is_mean", value=1), "true or false"),
    "no pieces": (at(FITTED, "n_pieces", value=0), "pieces"),
    "no timings": (at(FITTED, "timings", value={}), "timings"),
    "negative memory": (at(FITTED, "memory", value=-1), "memory"),
    "a spectrum with more": (at(FITTED, "spectrum", "x", value=1), "the spectrum"),
    "a solver of a number": (at(FITTED, "spectrum", "solver", value=1), "solver"),
    "columns of nothing": (at(FITTED, "groups", value={"x": 1}), "column groups"),
    "an array more": (array("view0/more", lambda known: known), "nothing is known of the array"),
    "an array less": (array("view0/rows", None), "view0/rows is missing"),
    "no hops": (array("hops", None), "hops is missing"),
    "hops of another shape": (array("hops", lambda known: known[:2]), "shape"),
    "hops one way": (array("hops", entry(1, 0.7)), "symmetric"),
    "hops below 0": (array("hops", entry(0, -1.0)), "too small"),
    "rows of NaN": (array("view0/rows", entry(5, np.nan)), "not finite"),
    "rows of integers": (array("view0/rows", lambda known: known.astype(int)), "expected float32"),
    "rows too few": (array("view0/rows", lambda known: known[1:]), "shape"),
    "rows of bytes in a line": (array("view0/rows", np.ravel), "shape"),
    "infinite values": (array("view0/values", entry(3, np.inf)), "not finite"),
    "negative values": (array("view0/values", entry(3, -0.1)), "too small"),
    "values in single": (
        array("view0/values", lambda known: known.astype("f4")),
        "expected float64",
    ),
    "values too few": (array("view0/values", lambda known: known[1:]), "shape"),
    "pairs beyond the samples": (array("view0/indices", entry(9, 28)), "point beyond 28"),
    "pairs before the samples": (array("view0/indices", entry(0, -1)), "point beyond"),
    "pairs far beyond": (array("view0/indices", entry(9, 2**31 - 1)), "point beyond"),
    "pairs out of order": (array("view0/indices", entry(1, 0)), "not in order"),
    "rows that begin late": (array("view0/indptr", entry(0, 1)), "begin and end"),
    "rows that end late": (array("view0/indptr", entry(-1, 10**6)), "begin and end"),
    "rows that go back": (array("view0/indptr", entry(3, 10**6)), "begin and end"),
    "rows of another kind": (
        array("view0/indptr", lambda known: known.astype("i8")),
        "expected int32",
    ),
    "samples beyond the last": (array("view0/samples", entry(0, 30)), "beyond 30 rows"),
    "samples before the first": (array("view0/samples", entry(0, -1)), "beyond 30 rows"),
    "a given kernel with a sample twice": (array("view2/samples", entry(4, 3)), "each sample once"),
    "no density": (array("view0/density", entry(0, 0.0)), "too small"),
    "a radius below 0": (array("view0/radius", entry(0, -1.0)), "too small"),
    "a threshold of NaN": (array("view2/threshold", entry(0, np.nan)), "not finite"),
    "a deviation of 0": (array("view0/deviation", entry(0, 0.0)), "too small"),
    "a triangle that is no triangle": (array("view1/triangle", lambda known: known[1:]), "shape"),
    "a triangle of NaN": (array("view1/triangle", entry(7, np.nan)), "not finite"),
    "eigenvalues in disorder": (
        array("spectrum/eigenvalues", lambda known: known[::-1]),
        "largest",
    ),
    "eigenvalues below 0": (array("spectrum/eigenvalues", entry(-1, -0.1)), "too small"),
    "no eigenvalues": (array("spectrum/eigenvalues", lambda known: known[:0]), "largest first"),
    "fewer eigenvectors": (array("spectrum/eigenvectors", lambda known: known[:, 1:]), "shape"),
    "eigenvectors of NaN": (array("spectrum/eigenvectors", entry(0, np.nan)), "not finite"),
    "steps of NaN": (array("spectrum/stepped", entry(0, np.nan)), "not finite"),
    "degrees below 0": (array("degrees", entry(0, -1.0)), "too small"),
    "no degrees": (array("degrees", np.zeros_like), "reaches no sample"),
    "one view of three": (
        at("class", value="DiffusionMaps"),
        "parameters of DiffusionMaps",
    ),
    "a product of dense kernels": (
        at(*WALK, "product", value=None, which="golden-product"),
        "the product",
    ),
    "a product without lists": (
        array("product/centres", lambda known: known, "golden-product"),
        "nothing is known of the array product/centres",
    ),
    "clusters with more": (at(FITTED, "x", value=1, which="golden-clusters"), "the clusters"),
    "clusters of too many coordinates": (
        at(FITTED, "n_components", value=10**6, which="golden-clusters"),
        "coordinates of clusters",
    ),
    "clusters of other coordinates": (
        array("centers", lambda known: known[:, 1:], "golden-clusters"),
        "shape",
    ),
    "no clusters": (array("centers", lambda known: known[:0], "golden-clusters"), "between 1"),
    "clusters of NaN": (array("centers", entry(0, np.nan), "golden-clusters"), "not finite"),
    "unsure clusters": (
        at(FITTED, "normalized", value=None, which="golden-clusters"),
        "true or false",
    ),
}


GEOMETRY = ("learned", "geometry")
JOINT = (*GEOMETRY, "walk", "own", "joint")


def inside(*keys, value):
    """The file of the default with another value somewhere in the model of version 2."""

    def spoil(contents):
        manifest, members = taken_apart(contents["golden-consensus"])
        *way, last = keys
        model = manifest["model"]
        for key in way:
            model = model[key]
        model[last] = value
        return put_together(manifest, members)

    return spoil


def in_consensus(name, change):
    return array(name, change, "golden-consensus")


#: What the default writes since it chooses metrics and weights.
REFUSED_SINCE = {
    "a factor below 0": (inside(*JOINT, "factors", "curve", value=-1.0), "too small"),
    "a factor of text": (inside(*JOINT, "factors", "curve", value="1"), "expected a number"),
    "a factor of another view": (
        inside(*JOINT, "factors", value={"curve": 1.0, "x": 1.0}),
        "a factor for each of the views",
    ),
    "factors in another order": (
        inside(*JOINT, "factors", value={"waves": 1.0, "curve": 1.0}),
        "a factor for each of the views",
    ),
    "a joint view that is no object": (inside(*JOINT, value=[1]), "the joint view"),
    "a joint view with more": (inside(*JOINT, "x", value=1), "expected factors, kernel"),
    "a joint view by angles": (
        inside(*JOINT, "kernel", "kernel", "metric", value="cosine"),
        "Euclidean distances",
    ),
    "no joint view, but its nodes": (
        inside(*GEOMETRY, "walk", "own", value={}),
        "shape|nothing is known",
    ),
    "joint rows of NaN": (in_consensus("joint/rows", entry(0, np.nan)), "not finite"),
    "joint rows too few": (in_consensus("joint/rows", lambda known: known[1:]), "shape"),
    "joint pairs beyond the samples": (
        in_consensus("joint/indices", entry(9, 10**6)),
        "point beyond",
    ),
    "a joint radius below 0": (in_consensus("joint/radius", entry(0, -1.0)), "too small"),
    "an inner radius beyond the radius": (
        in_consensus("view0/inner", entry(0, 1e9)),
        "larger than the radius",
    ),
    "an inner radius of NaN": (in_consensus("view0/inner", entry(0, np.nan)), "not finite"),
    "hops of two blocks of three": (in_consensus("hops", lambda known: known[:2, :2]), "shape"),
    "a consensus of a hop matrix of full rank": (
        in_consensus("hops", lambda known: known + np.eye(3)),
        "rank one",
    ),
    "a metric that is not chosen": (
        inside(*GEOMETRY, "walk", "kernels", 0, "kernel", "metric", value="auto"),
        "cannot be auto",
    ),
    "a taper of 1": (
        inside(*GEOMETRY, "walk", "kernels", 0, "kernel", "taper", value=1.0),
        "taper must be",
    ),
    "a taper of text": (
        inside(*GEOMETRY, "walk", "kernels", 0, "kernel", "taper", value="1"),
        "taper must be",
    ),
    "a scale by no neighbour": (
        inside(*GEOMETRY, "walk", "kernels", 0, "kernel", "scale_neighbors", value=0),
        "scale_neighbors must be",
    ),
    "weights of other views": (
        inside(*GEOMETRY, "record", "view_weights", value={"x": 1.0}),
        "one for each view",
    ),
    "weights of text": (
        inside(*GEOMETRY, "record", "view_weights", value={"curve": "1", "waves": 1.0}),
        "expected a number",
    ),
    "weights in a list": (inside(*GEOMETRY, "record", "view_weights", value=[1.0]), "object"),
    "scores in a list": (inside(*GEOMETRY, "record", "metric_scores", value=[]), "object"),
    "scores of text": (
        inside(*GEOMETRY, "record", "metric_scores", value={"curve": {"cosine": "x"}}),
        "expected a number",
    ),
    "an agreement of other views": (
        inside(*GEOMETRY, "record", "agreement", value=[[1.0]]),
        "2 rows of 2 numbers",
    ),
    "an agreement of text": (
        inside(*GEOMETRY, "record", "agreement", value=[["a", 1], [1, 1]]),
        "expected a number",
    ),
}


@pytest.mark.parametrize("name", REFUSED_SINCE)
def test_what_no_default_fit_can_have_written_is_refused(tmp_path, contents, name):
    spoil, reason = REFUSED_SINCE[name]
    (tmp_path / "spoilt.viewhop").write_bytes(spoil(contents[2]))
    with pytest.raises(ModelFileError, match=reason):
        vh.load(tmp_path / "spoilt.viewhop")


#: Where version 2 says something else; None where it means something.
OTHERWISE = {
    "a model with more": "expected class, parameters, learned",
    "a model with less": "expected class, parameters, learned",
    "a parameter less": None,
    "a product of a sum": "the walk hop: expected joint, got product",
    "a mean that is unsure": "expected one of concat, mean",
    "clusters with more": "the clusters",
}


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("name", REFUSED)
def test_what_no_fit_can_have_written_is_refused(tmp_path, contents, name, version):
    spoil, match = REFUSED[name]
    if version == 2:
        match = OTHERWISE.get(name, match)
    path = tmp_path / "spoilt.viewhop"
    path.write_bytes(spoil(contents[version]))
    if match is None:
        vh.load(path)
        return
    with pytest.raises(ModelFileError, match=match) as caught:
        vh.load(path)
    assert str(path) in str(caught.value)


def test_the_recall_of_a_search_comes_back(tmp_path, contents):
    path = tmp_path / "other.viewhop"
    path.write_bytes(at(*KERNEL, "recall", value=0.875)(contents[2]))
    assert vh.load(path).recall_ == {"curve": 0.875, "waves": 1.0, "given": 1.0}


def test_a_walk_of_another_estimator_is_refused(tmp_path):
    views = cases.views("generic", 2, Gaussian())
    known = vh.DeSaEmbedding(2, kernel="gaussian", random_state=0).fit(views)
    known.save(tmp_path / "one")
    manifest, members = taken_apart((tmp_path / "one").read_bytes())
    members["hops.npy"] = as_member(np.ones((2, 2)))
    (tmp_path / "two").write_bytes(put_together(manifest, members))
    with pytest.raises(ModelFileError, match="not one of DeSaEmbedding"):
        vh.load(tmp_path / "two")


def test_lists_around_samples_that_are_not_there_are_refused(tmp_path):
    pytest.importorskip("faiss")
    rng = np.random.default_rng(0)
    views = [rng.standard_normal((450, 2)) for _ in range(2)]
    fitted(views, kernel=Gaussian(n_neighbors=4, search="faiss")).save(tmp_path / "one")
    contents = {"one": (tmp_path / "one").read_bytes()}
    for change, match in (
        (entry(0, 450), "beyond 450 rows"),
        (lambda known: known[::-1], "in order"),
        (lambda known: known[:0], "around some samples"),
    ):
        (tmp_path / "two").write_bytes(array("view0/centres", change, "one")(contents))
        with pytest.raises(ModelFileError, match=match):
            vh.load(tmp_path / "two")
    (tmp_path / "two").write_bytes(at(*KERNEL, "n_probe", value=9, which="one")(contents))
    with pytest.raises(ModelFileError, match="n_probe"):
        vh.load(tmp_path / "two")


def test_products_that_are_none_are_refused(tmp_path):
    for kernel in (Gaussian(), Gaussian(n_neighbors=5), Laplacian(n_neighbors=5)):
        fusion = "sum" if isinstance(kernel, Laplacian) else "product"
        known = fitted(cases.views("generic", 2, kernel), kernel=kernel, fusion=fusion)
        known.save(tmp_path / "one")
        contents = {"one": (tmp_path / "one").read_bytes()}
        spoil, match = {
            "Gaussian()": (at(*WALK, "product", value={}, which="one"), "computed from them"),
            "Gaussian(n_neighbors=5)": (
                at(*WALK, "product", "kernel", "metric", value="cosine", which="one"),
                "is a neighbour kernel",
            ),
            "Laplacian(n_neighbors=5)": (
                lambda contents: at(*WALK, "fusion", value="product", which="one")(
                    {"one": at(*WALK, "product", value=None, which="one")(contents)}
                ),
                "expected dense kernels, or Gaussians",
            ),
        }[str(kernel)]
        (tmp_path / "two").write_bytes(spoil(contents))
        with pytest.raises(ModelFileError, match=match):
            vh.load(tmp_path / "two")


def test_a_mean_over_one_geometry_is_refused(tmp_path):
    fitted(cases.views("generic", 2, Gaussian()), fusion="sum").save(tmp_path / "one")
    contents = {"one": (tmp_path / "one").read_bytes()}
    (tmp_path / "two").write_bytes(at(FITTED, "is_mean", value="mean", which="one")(contents))
    with pytest.raises(ModelFileError, match="no mean"):
        vh.load(tmp_path / "two")


def test_refusals_are_of_one_family_and_say_what_to_do(tmp_path):
    for kind in (ModelVersionError, ModelDamagedError, ModelSizeError):
        assert issubclass(kind, vh.errors.ModelFileError)
    path = DATA / "golden-1.viewhop"
    with pytest.raises(ModelSizeError, match="raise max_memory"):
        vh.load(path, max_memory=1000)
    with pytest.raises(FileNotFoundError):
        vh.load(tmp_path / "nobody.viewhop")


def test_numbers_that_end_in_another_error_are_refused_too(monkeypatch):
    def fail(*args, **kwargs):
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr("viewhop.estimators._load.decode_geometry", fail)
    with pytest.raises(ModelFileError, match="no fitted model could have written them: by zero"):
        vh.load(DATA / "golden-2.viewhop")


def test_loading_runs_and_imports_nothing():
    code = (
        "import sys, viewhop as vh\n"
        "path = sys.argv[1]\n"
        "vh.load(path)  # what viewhop itself imports is there now\n"
        "def watch(event, given):\n"
        "    if event.split('.')[0] in ('import', 'exec', 'compile', 'pickle', 'marshal', 'os',\n"
        "            'subprocess', 'socket', 'ctypes', 'shutil', 'urllib') or event in BAD:\n"
        "        if event not in ('os.listdir',):\n"
        "            print(event, given)\n"
        "BAD = {'code.__new__', 'function.__new__'}\n"
        "sys.addaudithook(watch)\n"
        "est = vh.load(path)\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, str(DATA / "golden-1.viewhop")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == ""


# --- the fuzz ----------------------------------------------------------------------------------

VALUES = [
    *(None, True, False, 0, 1, -1, 2, 7, 10**6, 2**31, 2**62, -(2**62), 10**19),
    *(0.5, -0.5, 1e308, -1e308, 1e-320, "", "x", "hop", "sum", "product", "alternating"),
    *("Gaussian", "Precomputed", "local", "auto", "mean", "float32", "float64", "precomputed"),
    *([], [[]], {}, [0], ["a"], {"array": "0"}, {"tuple": [1]}, {"slice": [0, 1, None]}),
    *({"number": "nan"}, {"dict": [["a", 0]]}, {"kernel": {"class": "Gaussian"}}),
]
NUMBERS = (0.0, -1.0, np.nan, np.inf, -np.inf, 1e300, 1e-320, 1.0, 2**31 - 1, -(2**31), 10**6)


def places(value, way=()):
    """Ways to everything in plain data."""
    yield way
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*way, key))
    elif isinstance(value, list):
        for k, part in enumerate(value):
            yield from places(part, (*way, k))


def mutated_manifest(rng, manifest):
    """Something else somewhere in the manifest."""
    *way, last = rng.choice([way for way in places(manifest) if way])
    inside = manifest
    for key in way:
        inside = inside[key]
    kind = rng.randrange(4)
    if kind == 0:
        del inside[last]
    elif kind == 1 and isinstance(inside, dict):
        inside[rng.choice(["x", "class", last + "x"])] = inside[last]
    elif kind == 2 and isinstance(inside[last], int | float):
        inside[last] = inside[last] * rng.choice([-1, 2, 0.5]) + rng.choice([-1, 0, 1])
    else:
        inside[last] = rng.choice(VALUES)


def mutated_array(rng, manifest, members):
    """Other numbers, another shape or another dtype of an array, told honestly or not."""
    name = rng.choice([*manifest["arrays"]])
    entry, data = manifest["arrays"][name], members[f"{name}.npy"]
    array = np.load(BytesIO(data)).copy()
    kind = rng.randrange(6)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if kind <= 2 and array.size:
            for _ in range(rng.choice([1, 1, 3, 50])):
                array.flat[rng.randrange(array.size)] = np.array(rng.choice(NUMBERS)).astype(
                    array.dtype
                )
        elif kind == 3:
            array = array[: rng.randrange(len(array) + 1)]
        elif kind == 4:
            array = array.astype(rng.choice(["<f4", "<f8", "<i4", "<i8", "|b1", "<f2"]))
        else:
            other = rng.choice([*manifest["arrays"]])
            array = np.load(BytesIO(members[f"{other}.npy"]))
    members[f"{name}.npy"] = as_member(array)
    if rng.random() < 0.9:
        order = "F" if array.ndim > 1 and not array.flags.c_contiguous else "C"
        entry |= {"dtype": array.dtype.str, "shape": [*array.shape], "order": order}


def mutated_bytes(rng, content):
    """Bits flipped, bytes cut out, put in, or put elsewhere."""
    found = bytearray(content)
    kind = rng.randrange(5)
    start, size = rng.randrange(len(found)), rng.randrange(1, 200)
    if kind == 0:
        for _ in range(rng.randrange(1, 9)):
            found[rng.randrange(len(found))] ^= 1 << rng.randrange(8)
    elif kind == 1:
        del found[start:]
    elif kind == 2:
        del found[start : start + size]
    elif kind == 3:
        found[start:start] = found[start : start + size]
    else:  # at the ends, where the directory and the manifest are
        place = rng.choice([rng.randrange(60), len(found) - 1 - rng.randrange(1500)])
        found[place] = rng.choice([0, 1, 255, found[place] ^ 1, found[place] ^ 128])
    return bytes(found)


def mutated(rng, content):
    kind = rng.randrange(10)
    if kind < 3:
        return mutated_bytes(rng, content)
    manifest, members = taken_apart(content)
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        if kind < 6:
            mutated_manifest(rng, manifest)
        elif kind < 9:
            mutated_array(rng, manifest, members)
        else:
            one, two = rng.sample([*members], 2)
            members[one], members[two] = members[two], members[one]
    honest = isinstance(manifest.get("arrays"), dict) and rng.random() < 0.9
    return put_together(manifest, members, honest=honest, method=rng.choice([0, 0, 8]))


@pytest.mark.parametrize("seed", range(6))
def test_two_thousand_mutants_raise_only_typed_errors_in_little_memory(tmp_path, contents, seed):
    rng = random.Random(seed)
    path = tmp_path / "mutant.viewhop"
    loaded, peak = 0, 0
    kinds = [content for files in contents.values() for content in files.values()]
    for _ in range(350):
        path.write_bytes(mutated(rng, rng.choice(kinds)))
        tracemalloc.start()
        try:
            est = vh.load(path)
            loaded += 1
            assert type(est).__module__.startswith("viewhop.")
        except ModelFileError:
            pass
        finally:
            peak = max(peak, tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
    assert loaded < 175  # a change of a number that says nothing is none of our business
    assert peak < 200e6


@pytest.mark.skipif(os.name == "nt", reason="peaks of memory are asked of POSIX")
def test_bombs_do_not_fill_the_memory(tmp_path):
    import zipfile

    from tests.support.model_files import zipped

    bombs = {
        "zeros": zipped([("manifest.json", b"\0" * 60_000_000)], method=zipfile.ZIP_DEFLATED),
        "brackets": zipped([("manifest.json", b"[" * 7_900_000)], method=zipfile.ZIP_STORED),
        "lists": zipped([("manifest.json", b"[" + b"[]," * 2_600_000 + b"0]")]),
    }
    for name, bomb in bombs.items():
        (tmp_path / name).write_bytes(bomb)
    code = (
        "import resource, sys, viewhop as vh\n"
        "from viewhop.estimators import load\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "for path in sys.argv[1:]:\n"
        "    try:\n"
        "        load(path)\n"
        "    except vh.errors.ModelFileError:\n"
        "        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *(str(tmp_path / name) for name in bombs)],
        capture_output=True,
        text=True,
        check=True,
    )
    grown = [*map(int, done.stdout.split())]
    assert len(grown) == len(bombs)
    assert max(grown) < 200_000  # kB
