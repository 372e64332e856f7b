"""Settings of runs, their files, and the record of what came of them."""

from __future__ import annotations

import json
import os
import re
import sys
import tomllib
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import viewhop as vh
from viewhop.errors import RunFileError, SettingsError, TableError
from viewhop.kernels import Correlation, Gaussian, Laplacian, Precomputed
from viewhop.runs import _column_match as matching
from viewhop.runs import _configuration as configuration
from viewhop.runs import _estimator as building
from viewhop.runs import _record as record
from viewhop.runs import _toml as toml
from viewhop.runs import _verify as checking
from viewhop.runs._settings import KernelSettings, Settings, ViewSettings
from viewhop.tables import Options, write

# --- TOML --------------------------------------------------------------------------------------

TEXT = st.text(st.characters(codec="utf-8"))
HOSTILE = st.sampled_from(
    ['"', "\\", "'''", '"""', "\n", "\r\n", "\t", "\0", "\x7f", "\u2028", "\ufeff", "a.b", "[x]",
     "#", "= 1", "", " ", "é", "\U0001f600", "\\u0041", "1979-05-27", "true", "\x1b[0m"]
)  # fmt: skip
KEY = TEXT | HOSTILE
SCALAR = (
    TEXT
    | HOSTILE
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
)
VALUE = SCALAR | st.lists(SCALAR, max_size=4)
TABLE = st.recursive(
    st.dictionaries(KEY, VALUE, max_size=4),
    lambda inner: st.dictionaries(KEY, VALUE | inner, max_size=4),
    max_leaves=8,
)


def exact(value):
    """The value with its types and the sign of its zeros."""
    if isinstance(value, dict):
        return {key: exact(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [exact(entry) for entry in value]
    return type(value).__name__, repr(value)


@settings(deadline=None, max_examples=300)
@given(TABLE)
def test_toml_is_read_as_it_was_written(values):
    assert exact(tomllib.loads(toml.text(values))) == exact(values)


def test_toml_has_no_key_for_none():
    assert tomllib.loads(toml.text({"a": None, "b": {"c": None}})) == {"b": {}}


@pytest.mark.parametrize(
    ("value", "error"),
    [
        ("\ud800", ValueError),
        (float("nan"), TypeError),
        (float("inf"), TypeError),
        (b"", TypeError),
    ],
)
def test_what_toml_cannot_hold_is_refused(value, error):
    with pytest.raises(error):
        toml.text({"a": value})


# --- settings ----------------------------------------------------------------------------------


def two(**more):
    return Settings(
        views={"x": ViewSettings(path="x.csv"), "y": ViewSettings(path="y.csv")}, **more
    )


def test_kernel_of_a_view_is_its_own_before_that_of_all():
    found = Settings(
        kernel="gaussian",
        factor=0.5,
        standardize=True,
        views={
            "a": ViewSettings(path="a"),
            "b": ViewSettings(path="b", kernel="laplacian", factor=2.0, standardize=False),
            "c": ViewSettings(path="c", kernel="precomputed"),
            "d": ViewSettings(path="d", kernel="correlation", neighbors=5),
        },
    )
    found.check()
    kernels = {name: building.kernel(found.kernel_of(name)) for name in found.views}
    assert repr(kernels["a"]) == repr(Gaussian(factor=0.5, standardize=True))
    assert repr(kernels["b"]) == repr(Laplacian(factor=2.0))
    assert repr(kernels["c"]) == repr(Precomputed())
    assert repr(kernels["d"]) == repr(Correlation(factor=0.5, n_neighbors=5, standardize=True))


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ({"kernel": "adaptive"}, Gaussian("local", n_neighbors=10)),
        ({"kernel": "adaptive", "bandwidth": "local"}, Gaussian("local", n_neighbors=10)),
        ({"kernel": "gaussian", "bandwidth": 1.5}, Gaussian(1.5)),
        ({"kernel": "laplacian", "metric": "cosine"}, Laplacian(metric="cosine")),
        ({"kernel": "precomputed", "alpha": 1.0}, Precomputed(alpha=1.0)),
        ({"kernel": "gaussian", "neighbors": 3}, Gaussian(n_neighbors=3)),
        ({"kernel": "gaussian", "search": "exact"}, Gaussian(search="exact")),
    ],
)  # fmt: skip
def test_kernel_settings_are_the_kernels_of_the_library(given, made):
    assert repr(building.kernel(KernelSettings(**given))) == repr(made)


def test_adaptive_is_the_adaptive_of_the_library():
    (theirs,) = vh.kernels.kernels_by_view("adaptive", ["x"]).values()
    assert repr(building.kernel(KernelSettings(kernel="adaptive"))) == repr(theirs)


@pytest.mark.parametrize(
    ("given", "key"),
    [
        ({"bandwidth": "joint"}, "bandwidth"),
        ({"kernel": "correlation", "metric": "cosine"}, "metric"),
        ({"kernel": "precomputed", "standardize": True}, "standardize"),
        ({"kernel": "precomputed", "bandwidth": 1.0}, "bandwidth"),
        ({"accuracy": 0.1}, "accuracy"),
        ({"components": "auto", "steps": 0.0}, "steps"),
        ({"fusion": "sum", "within_view_weight": 0.5}, "within_view_weight"),
        ({"id": "a", "label": "a"}, "label"),
        ({"clusters": 3}, "clusters"),
        ({"command": "cluster", "components": "auto"}, "components"),
        ({"command": "cluster", "clusters": 3, "max_clusters": 5}, "max_clusters"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(given, key):
    with pytest.raises(SettingsError) as caught:
        two(**given).check()
    assert caught.value.key == key
    two().check()


def test_settings_of_one_view_that_need_another_are_refused():
    views = {"x": ViewSettings(path="x.csv")}
    Settings(views=views).check()
    with pytest.raises(SettingsError, match="two views"):
        Settings(views=views, fusion="sum").check()
    with pytest.raises(SettingsError, match="log-log"):
        Settings(views=views, kernel="gaussian", bandwidth="joint").check()
    with pytest.raises(SettingsError, match="at least one view"):
        Settings().check()
    with pytest.raises(SettingsError, match="'y' has no file"):
        Settings(views={**views, "y": ViewSettings()}).check()


def test_every_setting_of_the_estimators_can_be_set():
    est = building.estimator(
        two(components=3, steps=2.0, fusion="sum", output="mean", solver="dense", tol=1e-3,
            memory="1GB", jobs=1, seed=7)
    )  # fmt: skip
    told = {name: value for name, value in est.get_params(deep=False).items() if name != "kernel"}
    assert told == {
        "n_components": 3, "n_steps": 2.0, "fusion": "sum", "within_view_weight": 0.0, "hops": None,
        "accuracy": None, "output": "mean", "views": None, "solver": "dense", "tol": 1e-3,
        "max_memory": "1GB", "n_jobs": 1, "random_state": 7, "verbose": 0,
    }  # fmt: skip
    clusters = building.estimator(two(command="cluster", max_clusters=9, normalize=True))
    assert (clusters.n_clusters, clusters.max_clusters, clusters.normalize) == ("auto", 9, True)
    assert building.estimator(two(command="cluster", clusters=4, components=2)).n_components == 2
    one = building.estimator(Settings(views={"x": ViewSettings(path="x")}, components="auto"))
    assert type(one) is vh.DiffusionMaps
    est._validate_params()
    clusters._validate_params()


# --- configuration -----------------------------------------------------------------------------

FULL = Settings(
    kernel="gaussian", bandwidth=0.1 + 0.2, factor=2.0, neighbors=7, metric="cosine",
    standardize=True, alpha=0.5, search="exact", command="fit", format="csv", report=False,
    id='a "b"\n', label="é", keep=("x*",), drop=("\\", "]"), decimal=",", delimiter="\t",
    encoding="latin-1", fusion="hop", within_view_weight=0.25, components="auto",
    accuracy=1e-3, steps=2.5, output="mean", solver="lanczos", tol=1e-6, memory="2GB", jobs=2,
    seed=2**32 - 1,
    views={"rna one": ViewSettings(path="data/rna.csv", bandwidth="joint"),
           "b": ViewSettings(path="data/b.npz::x/y", kernel="precomputed", alpha=0.0)},
)  # fmt: skip


def test_configuration_is_read_as_it_was_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "deep" / "out"
    folder.mkdir(parents=True)
    (folder / "run.toml").write_text(configuration.written(FULL, folder), encoding="utf-8")
    found = configuration.merged(configuration.read(folder / "run.toml"), {})
    unset = [entry.name for entry in fields(Settings) if getattr(FULL, entry.name) is None]
    assert unset == ["out", "clusters", "max_clusters", "normalize"]
    for entry in fields(Settings):
        if entry.name not in ("views", "out"):
            assert getattr(found, entry.name) == getattr(FULL, entry.name), entry.name
    assert os.path.samefile(found.out, folder)
    for name, view in FULL.views.items():
        for entry in fields(ViewSettings):
            if entry.name != "path":
                assert getattr(found.views[name], entry.name) == getattr(view, entry.name)
        assert os.path.normpath(found.views[name].path) == str(tmp_path / view.path)


@pytest.mark.skipif(sys.platform == "win32", reason="links of POSIX")
def test_paths_lead_back_through_a_linked_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.csv").touch()
    real = tmp_path / "far" / "away"
    real.mkdir(parents=True)
    (tmp_path / "out").symlink_to(real)
    views = {"x": ViewSettings(path="x.csv")}
    Path("out/run.toml").write_text(configuration.written(Settings(views=views), Path("out")))
    assert Path(configuration.read("out/run.toml")["views"]["x"]["path"]).exists()


def test_what_is_given_comes_before_the_file():
    file = {
        "seed": 1,
        "kernel": "gaussian",
        "steps": 2.0,
        "views": {"x": {"path": "x", "kernel": "laplacian", "factor": 2.0}, "y": {"path": "y"}},
    }
    found = configuration.merged(
        file,
        {"seed": 3, "kernel": "correlation", "views": {"y": {"path": "z", "alpha": 1}}},
    )
    assert (found.seed, found.steps) == (3, 2.0)
    assert found.kernel_of("x").kernel == "correlation"
    assert found.kernel_of("x").factor == 2.0
    assert found.views["y"] == ViewSettings(path="z", alpha=1.0)


@pytest.mark.parametrize(
    ("text", "told", "key"),
    [
        ("sed = 1", "some.toml: sed: there is no such setting; known are kernel", "sed"),
        ("seed = 'one'", "some.toml: seed: expected 0 to 4294967295, got 'one'", "seed"),
        ("seed = true", "some.toml: seed: expected 0 to", "seed"),
        ("seed = 1.0", "some.toml: seed: expected 0 to", "seed"),
        ("steps = nan", "some.toml: steps: expected a number of at least 0, got nan", "steps"),
        ("steps = -1", "some.toml: steps: expected a number", "steps"),
        ("factor = 0", "some.toml: factor: expected a positive number, got 0", "factor"),
        ("kernel = 'cosine'", "some.toml: kernel: expected one of adaptive", "kernel"),
        ("bandwidth = 'wide'", "some.toml: bandwidth: expected one of max-min", "bandwidth"),
        ("neighbors = 0", "some.toml: neighbors: expected a whole number", "neighbors"),
        ("standardize = 1", "some.toml: standardize: expected true or false", "standardize"),
        ("keep = 'a'", "some.toml: keep: expected a list of texts", "keep"),
        ("keep = [1]", "some.toml: keep: expected a list of texts", "keep"),
        ("id = ''", "some.toml: id: expected text that is not empty", "id"),
        ("memory = 'lots'", "some.toml: memory: expected bytes, or text", "memory"),
        ("jobs = 0", "some.toml: jobs: expected a whole number", "jobs"),
        ("within_view_weight = 2", "expected a number from 0 to 1", "within_view_weight"),
        ("views = 1", "some.toml: views: expected a table of views", "views"),
        ("[views]\nx = 'x.csv'", "some.toml: views.x: expected a table with", "views.x"),
        ("[views.x]\nseed = 1", "some.toml: views.x.seed: there is no such", "views.x.seed"),
        ("[views.x]\npath = 1", "some.toml: views.x.path: expected text", "views.x.path"),
        ("[views.'a=b']\npath = 'x'", "without =", "views.a=b"),
        ("seed = 1\nseed = 2", "some.toml: it is not TOML: Cannot overwrite a value", ""),
        (b"\xff", "some.toml: it is not TOML", ""),
        ("seed", "some.toml: it is not TOML", ""),
    ],
)
def test_bad_configuration_is_told_with_file_and_key(tmp_path, monkeypatch, text, told, key):
    monkeypatch.chdir(tmp_path)
    Path("some.toml").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(SettingsError) as caught:
        configuration.read("some.toml")
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)
    assert (caught.value.path, caught.value.key) == ("some.toml", key)


def test_configuration_that_is_not_there_is_told(tmp_path):
    with pytest.raises(SettingsError, match="it cannot be read"):
        configuration.read(tmp_path / "none.toml")
    with pytest.raises(SettingsError, match="it cannot be read"):
        configuration.read(tmp_path)


def test_configuration_with_a_byte_order_mark_is_read(tmp_path):
    (tmp_path / "some.toml").write_bytes(b"\xef\xbb\xbfseed = 4\n")
    assert configuration.read(tmp_path / "some.toml") == {"seed": 4}


def test_configuration_of_the_guide_is_one():
    guide = Path(__file__).parents[2] / "docs" / "guide.md"
    (text,) = re.findall(r"```toml\n(.*?)```", guide.read_text(encoding="utf-8"), flags=re.S)
    found = configuration.merged(tomllib.loads(text), {})
    found.check()
    assert found.kernel_of("atac").bandwidth == "joint"
    assert found.kernel_of("rna").kernel == "correlation"


# --- records and folders -----------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    """A folder with a record, one output and one input."""
    out = tmp_path / "out"
    out.mkdir()
    (out / "model.viewhop").write_bytes(b"model")
    (tmp_path / "x.csv").write_bytes(b"x")
    made = {
        "format": "viewhop run",
        "version": 1,
        "command": "fit",
        "viewhop": "0",
        "settings": {},
        "inputs": {"x": {"path": "../x.csv", "sha256": record.digest(tmp_path / "x.csv")}},
        "outputs": record.outputs(out),
    }
    (out / "run.json").write_bytes(record.encoded(made))
    return out


def test_folder_as_recorded_is_whole(folder):
    found = checking.state(folder)
    assert found.is_whole
    assert found.outputs == {"model.viewhop": "as recorded"}
    assert found.inputs == {"x": "same"}
    assert found.left == ()


def test_changed_missing_and_strange_files_are_told(folder):
    (folder / "model.viewhop").write_bytes(b"other")
    (folder / "report.html").touch()
    (folder / ".abc.part").mkdir()
    (folder.parent / "x.csv").write_bytes(b"y")
    found = checking.state(folder)
    assert not found.is_whole
    assert found.outputs == {"model.viewhop": "changed", "report.html": "of another run"}
    assert found.inputs == {"x": "changed"}
    assert found.left == (".abc.part",)
    (folder / "model.viewhop").unlink()
    (folder / "report.html").unlink()
    (folder.parent / "x.csv").unlink()
    found = checking.state(folder)
    assert found.inputs == {"x": "gone"}
    (folder.parent / "x.csv").mkdir()
    found = checking.state(folder)
    assert not found.is_whole
    assert (found.outputs, found.inputs) == ({"model.viewhop": "missing"}, {"x": "changed"})


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (None, "it has no run.json"),
        (b"{", "it is not JSON"),
        (b"[" * 100_000, "it is not JSON"),
        (b"[]", "not the record of a run"),
        ({"version": 2}, "its version is 2"),
        ({"version": True}, "its version is True"),
        ({"outputs": None}, "outputs is missing"),
        ({"command": "rm"}, "the command is 'rm'"),
        ({"inputs": {"x": {"path": "x"}}}, "a file has no SHA-256"),
        ({"inputs": {"x": {"sha256": "0"}}}, "an input has no path"),
        ({"outputs": {"../x.csv": {"sha256": "0"}}}, "leads elsewhere"),
    ],
)
def test_record_that_is_none_is_refused(folder, change, told):
    path = folder / "run.json"
    if change is None:
        path.unlink()
    elif isinstance(change, bytes):
        path.write_bytes(change)
    else:
        path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(RunFileError, match=told):
        checking.state(folder)


# --- columns of a model ------------------------------------------------------------------------


@pytest.fixture
def fitted(tmp_path):
    made = vh.datasets.make_swiss_rolls(60, noise=0.1, random_state=0).views
    write(tmp_path / "x.csv", dict(zip("abc", made["x"].T, strict=True)))
    np.save(tmp_path / "y.npy", made["y"])
    paths = {"x": tmp_path / "x.csv", "y": tmp_path / "y.npy"}
    read = vh.tables.read_views(paths)
    return vh.MultiViewDiffusionMaps(2, random_state=0).fit(read.views), made


def test_columns_are_found_by_name_in_any_order(fitted, tmp_path):
    est, made = fitted
    new = tmp_path / "new.csv"
    a, b, c = made["x"].T
    write(new, {"type": ["t"] * 60, "c": c, "id": [str(k) for k in range(60)], "a": a, "b": b})
    options = Options(id="id")
    read = matching.read_for(est, {"x": str(new)}, options=options)
    assert_array_equal(read.views["x"], made["x"])
    assert matching.ignored(read.tables["x"], options) == ["type"]
    assert_array_equal(est.transform(read.views), est.transform({"x": made["x"]}))


def test_columns_without_names_go_by_their_number(fitted, tmp_path):
    est, made = fitted
    np.save(tmp_path / "x.npy", made["x"])
    write(tmp_path / "y.csv", dict(zip("rst", made["y"].T, strict=True)))
    paths = {"x": str(tmp_path / "x.npy"), "y": str(tmp_path / "y.csv")}
    read = matching.read_for(est, paths, options=Options())
    assert_array_equal(est.transform(read.views), est.transform(made))
    np.save(tmp_path / "x.npy", made["x"][:, :2])
    with pytest.raises(TableError, match=r"x\.npy: 2 columns of features.*fitted on 3"):
        matching.read_for(est, paths, options=Options())


def test_missing_columns_and_views_are_told(fitted, tmp_path):
    est, made = fitted
    new = tmp_path / "new.csv"
    write(new, {"a": made["x"][:, 0], "B": made["x"][:, 1], "c": made["x"][:, 2]})
    with pytest.raises(TableError, match=r"new\.csv: no column 'b'; there are 'B'"):
        matching.read_for(est, {"x": str(new)}, options=Options())
    write(new, {"a": made["x"][:, 0]})
    with pytest.raises(TableError, match=r"new\.csv, line 1: the columns 'b', 'c' are missing"):
        matching.read_for(est, {"x": str(new)}, options=Options())
    with pytest.raises(TableError, match="no view 'z'; it was fitted on x, y"):
        matching.read_for(est, {"z": str(new)}, options=Options())
    write(new, dict(zip("abc", made["x"].T, strict=True)))
    with pytest.raises(TableError, match="no label column 'kind'"):
        matching.read_for(est, {"x": str(new)}, options=Options(label="kind"))
