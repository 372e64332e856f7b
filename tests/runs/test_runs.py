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
from viewhop._runtime.owner import HOST
from viewhop.errors import RunFileError, SettingsError, TableError
from viewhop.kernels import Correlation, Gaussian, Laplacian, Precomputed
from viewhop.runs import KernelSettings, Settings, ViewSettings, verify
from viewhop.runs._column_match import ignored_columns, read_model_views
from viewhop.runs._configuration import (
    format_configuration,
    merge_settings,
    read_configuration,
)
from viewhop.runs._estimator import build_estimator
from viewhop.runs._kernel_settings import build_kernel
from viewhop.runs._record import describe_files, digest, encode_record
from viewhop.runs._toml import format_toml
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
    assert exact(tomllib.loads(format_toml(values))) == exact(values)


def test_toml_has_no_key_for_none():
    assert tomllib.loads(format_toml({"a": None, "b": {"c": None}})) == {"b": {}}


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
        format_toml({"a": value})


# --- settings ----------------------------------------------------------------------------------


def two(**more):
    return Settings(
        views={"x": ViewSettings(path="x.csv"), "y": ViewSettings(path="y.csv")}, **more
    )


def test_kernel_of_a_view_is_its_own_before_that_of_all():
    chosen = Settings(
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
    chosen.check()
    kernels = {name: build_kernel(chosen.kernel_of(name)) for name in chosen.views}
    assert repr(kernels["a"]) == repr(Gaussian(factor=0.5, standardize=True))
    assert repr(kernels["b"]) == repr(Laplacian(factor=2.0))
    assert repr(kernels["c"]) == repr(Precomputed())
    assert repr(kernels["d"]) == repr(Correlation(factor=0.5, n_neighbors=5, standardize=True))


ADAPTIVE = Gaussian(
    "local", n_neighbors=10, metric="auto", alpha=1.0, scale_neighbors=10, taper=0.2
)


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ({"kernel": "adaptive"}, ADAPTIVE),
        ({"kernel": "adaptive", "bandwidth": "local"}, ADAPTIVE),
        ({"kernel": "gaussian", "taper": 0.5, "neighbors": 8}, Gaussian(n_neighbors=8, taper=0.5)),
        ({"kernel": "gaussian", "bandwidth": "local", "scale_neighbors": 4},
         Gaussian("local", scale_neighbors=4)),
        ({"kernel": "gaussian", "bandwidth": 1.5}, Gaussian(1.5)),
        ({"kernel": "laplacian", "metric": "cosine"}, Laplacian(metric="cosine")),
        ({"kernel": "precomputed", "alpha": 1.0}, Precomputed(alpha=1.0)),
        ({"kernel": "gaussian", "neighbors": 3}, Gaussian(n_neighbors=3)),
        ({"kernel": "gaussian", "search": "exact"}, Gaussian(search="exact")),
    ],
)  # fmt: skip
def test_kernel_settings_are_the_kernels_of_the_library(given, made):
    assert repr(build_kernel(KernelSettings(**given))) == repr(made)


def test_adaptive_is_the_adaptive_of_the_library():
    (theirs,) = vh.kernels.kernels_by_view("adaptive", ["x"]).values()
    assert repr(build_kernel(KernelSettings(kernel="adaptive"))) == repr(theirs)


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
        ({"fusion": "sum", "hops": ((0.0, 1.0), (1.0, 0.0))}, "hops"),
        ({"within_view_weight": 0.5, "hops": ((0.0, 1.0), (1.0, 0.0))}, "hops"),
        ({"hops": ((0.0, 1.0), (2.0, 0.0))}, "hops"),
        ({"hops": ((1.0,),)}, "hops"),
        ({"hops": ((0.0, 1.0), (1.0,))}, "hops"),
        ({"hops": ((0.0, -1.0), (-1.0, 0.0))}, "hops"),
        ({"command": "cluster", "picture": True}, "picture"),
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
    with pytest.raises(SettingsError, match="view 'y' has no file"):
        Settings(views={**views, "y": ViewSettings()}).check()


def test_every_setting_of_the_estimators_can_be_set():
    est = build_estimator(
        two(components=3, steps=2.0, fusion="sum", output="mean", solver="dense", tol=1e-3,
            memory="1GB", jobs=1, seed=7, connect=True)
    )  # fmt: skip
    parameters = {
        name: value for name, value in est.get_params(deep=False).items() if name != "kernel"
    }
    assert parameters == {
        "n_components": 3, "n_steps": 2.0, "fusion": "sum", "within_view_weight": None,
        "hops": None, "view_weights": None, "joint_view": "auto", "connect": True,
        "accuracy": None, "output": "mean", "views": None, "missing": "error",
        "solver": "dense", "tol": 1e-3,
        "max_memory": "1GB", "memory": None, "n_jobs": 1, "random_state": 7, "verbose": 0,
    }  # fmt: skip
    clusters = build_estimator(two(command="cluster", max_clusters=9, normalize=True))
    assert (clusters.n_clusters, clusters.max_clusters, clusters.normalize) == ("auto", 9, True)
    assert build_estimator(two(command="cluster", clusters=4, components=2)).n_components == 2
    one = build_estimator(Settings(views={"x": ViewSettings(path="x")}, components="auto"))
    assert type(one) is vh.DiffusionMaps
    est._validate_params()
    clusters._validate_params()


# --- configuration -----------------------------------------------------------------------------

FULL = Settings(
    kernel="gaussian", bandwidth=0.1 + 0.2, factor=2.0, neighbors=7, metric="cosine",
    standardize=True, alpha=0.5, search="exact", scale_neighbors=3, taper=0.3,
    command="fit", format="csv", report=False, picture=True,
    id='a "b"\n', label="é", keep=("x*",), drop=("\\", "]"), decimal=",", delimiter="\t",
    encoding="latin-1", id_strip=True, missing="drop", fusion="hop", within_view_weight=0.25,
    hops=((0.5, 1e-9), (1e-9, 2.0)),
    joint_view=False, connect=True, components="auto",
    accuracy=1e-3, steps=2.5, output="mean", solver="lanczos", tol=1e-6, memory="2GB", jobs=2,
    seed=2**32 - 1,
    views={"rna one": ViewSettings(path="data/rna.csv", bandwidth="joint", keep=("a*",),
                                      drop=("ab",), decimal=".", delimiter=";", encoding="utf-16"),
           "b": ViewSettings(path="data/b.npz::x/y", kernel="precomputed", alpha=0.0)},
)  # fmt: skip


def test_configuration_is_read_as_it_was_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "deep" / "out"
    folder.mkdir(parents=True)
    (folder / "run.toml").write_text(format_configuration(FULL, folder), encoding="utf-8")
    merged = merge_settings(read_configuration(folder / "run.toml"), {})
    unset = [entry.name for entry in fields(Settings) if getattr(FULL, entry.name) is None]
    assert unset == ["out", "clusters", "max_clusters", "normalize"]
    assert FULL.taper == 0.3
    for entry in fields(Settings):
        if entry.name not in ("views", "out"):
            assert getattr(merged, entry.name) == getattr(FULL, entry.name), entry.name
    assert os.path.samefile(merged.out, folder)
    for name, view in FULL.views.items():
        for entry in fields(ViewSettings):
            if entry.name != "path":
                assert getattr(merged.views[name], entry.name) == getattr(view, entry.name)
        assert os.path.normpath(merged.views[name].path) == str(tmp_path / view.path)


@pytest.mark.skipif(sys.platform == "win32", reason="links of POSIX")
def test_paths_lead_back_through_a_linked_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.csv").touch()
    real = tmp_path / "far" / "away"
    real.mkdir(parents=True)
    (tmp_path / "out").symlink_to(real)
    views = {"x": ViewSettings(path="x.csv")}
    Path("out/run.toml").write_text(format_configuration(Settings(views=views), Path("out")))
    assert Path(read_configuration("out/run.toml")["views"]["x"]["path"]).exists()


def test_what_is_given_comes_before_the_file():
    file = {
        "seed": 1,
        "kernel": "gaussian",
        "steps": 2.0,
        "views": {"x": {"path": "x", "kernel": "laplacian", "factor": 2.0}, "y": {"path": "y"}},
    }
    merged = merge_settings(
        file,
        {"seed": 3, "kernel": "correlation", "views": {"y": {"path": "z", "alpha": 1}}},
    )
    assert (merged.seed, merged.steps) == (3, 2.0)
    assert merged.kernel_of("x").kernel == "correlation"
    assert merged.kernel_of("x").factor == 2.0
    assert merged.views["y"] == ViewSettings(path="z", alpha=1.0)


@pytest.mark.parametrize(
    ("text", "message", "key"),
    [
        (
            "sed = 1",
            "some.toml: sed: there is no such setting (did you mean 'seed'?); the settings are ke",
            "sed",
        ),
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
        ("seed = 1\nseed = 2", "some.toml: not valid TOML: Cannot overwrite a value", ""),
        (b"\xff", "some.toml: not valid TOML", ""),
        ("seed", "some.toml: not valid TOML", ""),
    ],
)
def test_error_of_a_configuration_names_file_and_key(tmp_path, monkeypatch, text, message, key):
    monkeypatch.chdir(tmp_path)
    Path("some.toml").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(SettingsError) as caught:
        read_configuration("some.toml")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert (caught.value.path, caught.value.key) == ("some.toml", key)


def test_missing_configuration_is_an_error(tmp_path):
    with pytest.raises(SettingsError, match="cannot be read"):
        read_configuration(tmp_path / "none.toml")
    with pytest.raises(SettingsError, match="cannot be read"):
        read_configuration(tmp_path)


def test_configuration_with_a_byte_order_mark_is_read(tmp_path):
    (tmp_path / "some.toml").write_bytes(b"\xef\xbb\xbfseed = 4\n")
    assert read_configuration(tmp_path / "some.toml") == {"seed": 4}


def test_configuration_of_the_guide_is_one():
    guide = Path(__file__).parents[2] / "docs" / "guide.md"
    (text,) = re.findall(r"```toml\n(.*?)```", guide.read_text(encoding="utf-8"), flags=re.S)
    merged = merge_settings(tomllib.loads(text), {})
    merged.check()
    assert merged.kernel_of("atac").bandwidth == "joint"
    assert merged.kernel_of("rna").kernel == "correlation"


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
        "inputs": {"x": {"path": "../x.csv", "sha256": digest(tmp_path / "x.csv")}},
        "outputs": describe_files(out),
    }
    (out / "run.json").write_bytes(encode_record(made))
    return out


def test_folder_as_recorded_is_whole(folder):
    state = verify(folder)
    assert state.is_whole
    assert state.outputs == {"model.viewhop": "as recorded"}
    assert state.inputs == {"x": "same"}
    assert state.left == ()


def test_changed_missing_and_foreign_files_are_listed(folder):
    (folder / "model.viewhop").write_bytes(b"other")
    (folder / "report.html").touch()
    (folder / ".abc.part").mkdir()  # not one of ours
    stopped = folder / f".{HOST}-1-0123456789ab.part"
    stopped.mkdir()
    (stopped / "lock").touch()
    (folder.parent / "x.csv").write_bytes(b"y")
    state = verify(folder)
    assert not state.is_whole
    assert state.outputs == {"model.viewhop": "changed", "report.html": "of another run"}
    assert state.inputs == {"x": "changed"}
    assert state.left == (stopped.name,)
    (folder / "model.viewhop").unlink()
    (folder / "report.html").unlink()
    (folder.parent / "x.csv").unlink()
    state = verify(folder)
    assert state.inputs == {"x": "gone"}
    (folder.parent / "x.csv").mkdir()
    state = verify(folder)
    assert not state.is_whole
    assert (state.outputs, state.inputs) == ({"model.viewhop": "missing"}, {"x": "changed"})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (None, "there is no run.json"),
        (b"{", "not valid JSON"),
        (b"[" * 100_000, "not valid JSON"),
        (b"[]", "not the record of a run"),
        ({"version": 2}, "the version of the record is 2"),
        ({"version": True}, "the version of the record is True"),
        ({"outputs": None}, "outputs is missing"),
        ({"command": "rm"}, "unknown command 'rm'"),
        ({"inputs": {"x": {"path": "x"}}}, "a file has no SHA-256"),
        ({"inputs": {"x": {"sha256": "0"}}}, "an input has no path"),
        ({"outputs": {"../x.csv": {"sha256": "0"}}}, "named outside the folder"),
    ],
)
def test_invalid_record_is_refused(folder, change, message):
    path = folder / "run.json"
    if change is None:
        path.unlink()
    elif isinstance(change, bytes):
        path.write_bytes(change)
    else:
        path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(RunFileError, match=message):
        verify(folder)


# --- columns of a model ------------------------------------------------------------------------


@pytest.fixture
def fitted(tmp_path):
    made = vh.datasets.make_swiss_rolls(60, noise=0.1, random_state=0).views
    write(tmp_path / "x.csv", dict(zip("abc", made["x"].T, strict=True)))
    np.save(tmp_path / "y.npy", made["y"])
    paths = {"x": tmp_path / "x.csv", "y": tmp_path / "y.npy"}
    read = vh.tables.read_views(paths)
    return vh.MultiViewDiffusionMaps(2, random_state=0).fit(read.views), made


def test_columns_are_matched_by_name_in_any_order(fitted, tmp_path):
    est, made = fitted
    new = tmp_path / "new.csv"
    a, b, c = made["x"].T
    write(new, {"type": ["t"] * 60, "c": c, "id": [str(k) for k in range(60)], "a": a, "b": b})
    options = Options(id="id")
    read = read_model_views(est, {"x": str(new)}, options=options)
    assert_array_equal(read.views["x"], made["x"])
    assert ignored_columns(read.tables["x"], options) == ["type"]
    assert_array_equal(est.transform(read.views), est.transform({"x": made["x"]}))


def test_columns_without_names_go_by_their_number(fitted, tmp_path):
    est, made = fitted
    np.save(tmp_path / "x.npy", made["x"])
    write(tmp_path / "y.csv", dict(zip("rst", made["y"].T, strict=True)))
    paths = {"x": str(tmp_path / "x.npy"), "y": str(tmp_path / "y.csv")}
    read = read_model_views(est, paths, options=Options())
    assert_array_equal(est.transform(read.views), est.transform(made))
    np.save(tmp_path / "x.npy", made["x"][:, :2])
    with pytest.raises(
        TableError, match=r"x\.npy: it has 2 feature columns, but the model was fitted on 3"
    ):
        read_model_views(est, paths, options=Options())


def test_missing_columns_and_views_are_named(fitted, tmp_path):
    est, made = fitted
    new = tmp_path / "new.csv"
    write(new, {"a": made["x"][:, 0], "B": made["x"][:, 1], "c": made["x"][:, 2]})
    with pytest.raises(TableError, match=r"new\.csv: no column 'b' \(did you mean 'B'\?\)"):
        read_model_views(est, {"x": str(new)}, options=Options())
    write(new, {"a": made["x"][:, 0]})
    with pytest.raises(TableError, match=r"new\.csv, line 1: the columns 'b', 'c' are missing"):
        read_model_views(est, {"x": str(new)}, options=Options())
    with pytest.raises(TableError, match="no view 'z'; it was fitted on x, y"):
        read_model_views(est, {"z": str(new)}, options=Options())
    write(new, dict(zip("abc", made["x"].T, strict=True)))
    with pytest.raises(TableError, match="no label column 'kind'"):
        read_model_views(est, {"x": str(new)}, options=Options(label="kind"))
