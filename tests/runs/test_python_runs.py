"""Runs from Python: without the command line, and independent of later defaults."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import viewhop as vh
from tests.support.command_line import environment, invoked
from viewhop import runs
from viewhop._registry import FUSIONS, KERNELS, METRICS, OUTPUTS, SEARCHES, SOLVERS, Entry
from viewhop.errors import RunFileError, SettingsError, TableError
from viewhop.runs import Settings, ViewSettings
from viewhop.tables import Options, write

N = 60
COMPLETE = {
    "kernel", "bandwidth", "factor", "neighbors", "metric", "standardize", "alpha", "search",
    "scale_neighbors", "taper", "weight",
}  # fmt: skip


@pytest.fixture
def rolls(tmp_path, monkeypatch):
    """Two files of a view each, in the current folder."""
    monkeypatch.chdir(tmp_path)
    views = vh.datasets.make_swiss_rolls(N, noise=0.1, random_state=0).views
    ids = [f"s{k}" for k in range(N)]
    kinds = ["a" if k % 2 else "b" for k in range(N)]
    for name, rows in views.items():
        write(f"{name}.csv", {"id": ids, "kind": kinds, **dict(zip("uvw", rows.T, strict=True))})
    return views


def settings_of(**more):
    views = {name: ViewSettings(path=f"{name}.csv") for name in "xy"}
    values = {"id": "id", "label": "kind", "format": "csv", "report": False, "out": "out", **more}
    return Settings(views=values.pop("views", views), **values)


# --- without click -----------------------------------------------------------------------------

WITHOUT_CLICK = """
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("click", "rich"):
            raise ImportError(f"{name} is blocked")

sys.meta_path.insert(0, Refuse())
from viewhop.runs import Settings, ViewSettings, execute, read_record, transform_files, verify
from viewhop.runs import write_report
from viewhop.tables import Options

views = {name: ViewSettings(path=f"{name}.csv") for name in "xy"}
shared = dict(views=views, id="id", label="kind", format="csv")
stages = []
fit = execute(Settings(out="out", **shared), progress=lambda stage, *more: stages.append(stage))
assert "reading" in stages
assert [path.name for path in fit.written][-1] == "run.json"
groups = execute(Settings(command="cluster", clusters=2, out="groups", **shared))
assert groups.scores is not None
for folder in ("out", "groups"):
    placed = transform_files(
        f"{folder}/model.viewhop", {"y": "y.csv"}, f"{folder}.csv", options=Options(id="id")
    )
    assert placed.ignored == {"y.csv": ["kind"]}
    assert verify(folder).is_whole
    assert read_record(folder)["outputs"]["report.html"]
    assert write_report(folder).path.name == "report.html"
    assert verify(folder).is_whole
assert not [name for name in sys.modules if name.startswith("viewhop.cli")]
assert "click" not in sys.modules
"""


def test_fit_cluster_transform_and_report_need_no_click(rolls):
    pytest.importorskip("plotly")
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_CLICK],
        capture_output=True,
        text=True,
        env=environment(),
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for name in ("out/embedding.csv", "groups/clusters.csv", "out.csv", "groups.csv"):
        assert Path(name).stat().st_size > 0


def test_only_the_command_line_imports_click():
    source = Path(vh.__file__).parent
    importing = {
        path.relative_to(source).parts[0]
        for path in source.rglob("*.py")
        if "import click" in (text := path.read_text(encoding="utf-8")) or "from click" in text
    }
    assert importing == {"cli"}


# --- results and errors ------------------------------------------------------------------------


def test_execute_is_the_fit_of_the_library(rolls):
    result = runs.execute(settings_of(components=3, seed=4))
    est = vh.MultiViewDiffusionMaps(3, random_state=4).fit(rolls)
    assert_array_equal(result.model.embedding_, est.embedding_)
    assert result.model.verbose == 0
    assert result.folder == Path("out")
    assert [path.name for path in result.written] == [
        "embedding.csv", "model.viewhop", "run.toml", "embedding.png", "run.json",
    ]  # fmt: skip
    assert result.record == json.loads(Path("out/run.json").read_text())
    assert result.record == runs.read_record("out")
    assert (result.notes, result.warnings, result.scores) == ((), (), None)


def test_transform_takes_an_estimator_or_its_file(rolls):
    model = runs.execute(settings_of()).model
    for given, out in ((model, "a.csv"), ("out/model.viewhop", "b.csv")):
        result = runs.transform_files(given, {"x": "x.csv"}, out, options=Options(id="id"))
        assert result.n_samples == N
    assert Path("a.csv").read_bytes() == Path("b.csv").read_bytes()
    assert model.verbose == 0


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"kernel": "nearest"}, SettingsError, "kernel: expected one of adaptive"),
        ({"views": {"x": ViewSettings(path="x.csv", factor=-1)}}, SettingsError, "views.x.factor"),
        ({"out": None}, SettingsError, "missing output folder"),
        ({"delimiter": "abc"}, SettingsError, "one character"),
        ({"views": {"x": ViewSettings(path="none.csv")}}, TableError, "none.csv"),
        ({"out": "x.csv"}, runs.OutputError, "cannot write to x.csv: "),
        ({"views": {"x": ViewSettings(path="out/run.json")}}, SettingsError, "written over"),
    ],
)
def test_execute_raises_errors_of_the_library(rolls, change, error, message):
    with pytest.raises(error) as caught:
        runs.execute(settings_of(**change))
    assert message in str(caught.value)
    assert not Path("out/run.json").exists()


def test_transform_and_report_raise_errors_of_the_library(rolls):
    runs.execute(settings_of())
    model = "out/model.viewhop"
    with pytest.raises(SettingsError, match="no view 'z'; it was fitted on x, y"):
        runs.transform_files(model, {"z": "x.csv"}, "new.csv")
    with pytest.raises(SettingsError, match="--keep and --drop apply to arrays only"):
        runs.transform_files(model, {"x": "x.csv"}, "new.csv", options=Options(drop=("u",)))
    with pytest.raises(SettingsError, match="tables are written as"):
        runs.transform_files(model, {"x": "x.csv"}, "new.xlsx")
    with pytest.raises(FileNotFoundError):
        runs.transform_files("none.viewhop", {"x": "x.csv"}, "new.csv")
    with pytest.raises(SettingsError, match="missing output file: pass -o FILE"):
        runs.write_report(model)
    with pytest.raises(SettingsError, match="table options cannot be combined with a run folder"):
        runs.write_report("out", options=Options(id="id"))
    with pytest.raises(SettingsError, match="the run has no view 'z'; its views are x, y"):
        runs.write_report("out", {"z": "x.csv"})
    record = json.loads(Path("out/run.json").read_text())
    record["settings"]["seed"] = "one"
    Path("out/run.json").write_text(json.dumps(record))
    with pytest.raises(RunFileError, match=r"run\.json: seed: expected"):
        runs.write_report("out")
    with pytest.raises(RunFileError, match=r"there is no run\.json"):
        runs.write_report(".")


# --- one list of names -------------------------------------------------------------------------


def test_names_that_are_added_are_accepted_by_the_settings(rolls, monkeypatch):
    with pytest.raises(SettingsError, match="kernel: expected one of"):
        settings_of(kernel="tent").check()
    with pytest.raises(SettingsError, match="fusion: expected one of"):
        settings_of(fusion="braid").check()
    monkeypatch.setitem(KERNELS, "tent", Entry("viewhop.kernels:Laplacian", "a tent"))
    monkeypatch.setitem(FUSIONS, "braid", Entry("viewhop.walks._hop:HopWalk", "a braid"))
    settings_of(kernel="tent", fusion="braid").check()
    assert Settings.from_values({"kernel": "tent", "fusion": "braid"}).fusion == "braid"
    run = runs.execute(settings_of(kernel="tent", factor=4.0))
    est = vh.MultiViewDiffusionMaps(kernel=vh.kernels.Laplacian(factor=4.0), random_state=0)
    assert_array_equal(run.model.embedding_, est.fit(rolls).embedding_)


@pytest.mark.parametrize(
    ("key", "names"),
    [
        ("kernel", KERNELS),
        ("metric", METRICS),
        ("search", SEARCHES),
        ("fusion", FUSIONS),
        ("output", OUTPUTS),
        ("solver", SOLVERS),
    ],
)
def test_every_name_of_the_library_is_a_setting(key, names):
    for name in names:
        assert getattr(Settings.from_values({key: name}), key) == name
    with pytest.raises(SettingsError, match=", ".join(names)):
        Settings.from_values({key: "none of them"})


def test_settings_that_a_kernel_lacks_are_refused_whatever_the_kernel(monkeypatch):
    monkeypatch.setitem(KERNELS, "given", Entry("viewhop.kernels:Precomputed", "given"))
    with pytest.raises(SettingsError) as caught:
        settings_of(kernel="given", metric="cosine").check()
    assert str(caught.value) == "--metric does not apply to kernel \"given\" (view 'x')"


# --- runs that later defaults do not change ----------------------------------------------------


def test_run_toml_states_every_default(rolls):
    runs.execute(settings_of())
    written = tomllib.loads(Path("out/run.toml").read_text())
    assert written["viewhop"] == vh.__version__
    stated = {
        "fusion": "hop", "joint_view": True, "output": "consensus", "components": 2,
        "steps": 1.0, "solver": "auto",
    }  # fmt: skip
    assert {key: written[key] for key in stated} == stated
    assert "within_view_weight" not in written
    for view in written["views"].values():
        assert {*view} == {"path", *COMPLETE}
        assert (view["kernel"], view["bandwidth"], view["neighbors"]) == ("gaussian", "local", 10)
        assert (view["metric"], view["standardize"], view["search"]) == ("euclidean", False, "auto")
        assert (view["alpha"], view["scale_neighbors"], view["taper"]) == (1.0, 10, 0.2)
        assert view["weight"] == 1.0


def test_run_toml_of_the_papers_walk_states_no_weights(rolls):
    runs.execute(settings_of(within_view_weight=0.0))
    written = tomllib.loads(Path("out/run.toml").read_text())
    assert (written["within_view_weight"], written["output"]) == (0.0, "concat")
    assert written["joint_view"] is False
    for view in written["views"].values():
        assert {*view} == {"path", *COMPLETE} - {"weight"}


def test_kernels_are_stated_with_the_parameters_that_they_have(rolls):
    views = {
        "x": ViewSettings(path="x.csv", kernel="correlation", neighbors=20),
        "y": ViewSettings(path="y.csv", kernel="gaussian", bandwidth=2.5),
    }
    model = runs.execute(settings_of(views=views)).model
    written = tomllib.loads(Path("out/run.toml").read_text())["views"]
    assert {*written["x"]} == {"path", *COMPLETE} - {"metric", "scale_neighbors"}
    assert (written["x"]["neighbors"], written["x"]["bandwidth"]) == (20, "max-min")
    assert (written["y"]["neighbors"], written["y"]["bandwidth"]) == ("all", 2.5)
    again = runs.execute(runs.merge_settings(runs.read_configuration("out/run.toml"), {})).model
    assert repr(again.kernel) == repr(model.kernel)
    assert_array_equal(again.embedding_, model.embedding_)


@pytest.mark.parametrize("command", ["fit", "cluster"])
def test_a_later_default_changes_no_earlier_run(rolls, monkeypatch, command):
    first = runs.execute(settings_of(command=command)).model
    name = "embedding.csv" if command == "fit" else "clusters.csv"
    table, toml = (Path("out", each).read_bytes() for each in (name, "run.toml"))
    later = Entry("viewhop.kernels:Laplacian", "what adaptive may mean one day")
    monkeypatch.setitem(KERNELS, "adaptive", later)
    fresh = runs.execute(settings_of(command=command, out="fresh")).model
    inner = [getattr(model, "embedder_", model) for model in (first, fresh)]
    assert np.abs(inner[0].embedding_ - inner[1].embedding_).max() > 1e-3
    assert invoked(command, "--config", "out/run.toml", "-o", "again").exit_code == 0
    assert Path("again", name).read_bytes() == table
    assert Path("again", "run.toml").read_bytes() == toml


def test_output_of_samples_with_missing_views_is_stated(rolls):
    lines = Path("y.csv").read_text().splitlines(keepends=True)
    Path("y.csv").write_text("".join(lines[:-10]))
    runs.execute(settings_of())
    assert tomllib.loads(Path("out/run.toml").read_text())["output"] == "consensus"
    runs.execute(settings_of(within_view_weight=0.0))
    assert tomllib.loads(Path("out/run.toml").read_text())["output"] == "concat"


def test_accuracy_that_is_stated_is_the_default_of_the_estimator(rolls):
    first = runs.execute(settings_of(components="auto")).model
    written = tomllib.loads(Path("out/run.toml").read_text())
    assert (written["components"], written["accuracy"]) == ("auto", 0.1)
    again = runs.execute(settings_of(components="auto", accuracy=0.1)).model
    assert_array_equal(again.embedding_, first.embedding_)


def test_a_kernel_given_later_starts_from_its_own_defaults(rolls):
    runs.execute(settings_of(standardize=True))
    file = runs.read_configuration("out/run.toml")
    merged = runs.merge_settings(file, {"views": {"y": {"kernel": "correlation"}}})
    merged.check()
    assert merged.kernel_of("x").bandwidth == "local"
    assert merged.kernel_of("y") == runs.KernelSettings(kernel="correlation", standardize=True)
    merged = runs.merge_settings(file, {"kernel": "gaussian", "neighbors": 7})
    for name in "xy":
        expected = runs.KernelSettings(kernel="gaussian", neighbors=7, standardize=True)
        assert merged.kernel_of(name) == expected
    merged = runs.merge_settings(file, {"neighbors": 7})
    assert (merged.kernel_of("x").bandwidth, merged.kernel_of("x").neighbors) == ("local", 7)


def test_numbers_given_later_replace_what_went_with_them(rolls):
    runs.execute(settings_of(command="cluster"))
    file = runs.read_configuration("out/run.toml")
    assert file["max_clusters"] == 20
    merged = runs.merge_settings(file, {"clusters": 4})
    merged.check()
    assert (merged.clusters, merged.components, merged.max_clusters) == (4, None, None)
    runs.execute(settings_of(components="auto"))
    merged = runs.merge_settings(runs.read_configuration("out/run.toml"), {"components": 3})
    merged.check()
    assert merged == replace(merged, components=3, accuracy=None)
