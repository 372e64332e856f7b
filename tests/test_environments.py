"""The environments of the tests: lowest and newest versions, an audit, and the wheel alone."""

from __future__ import annotations

import importlib.util
import os
import re
import stat
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def table():
    with (ROOT / "pyproject.toml").open("rb") as file:
        return tomllib.load(file)


@pytest.fixture(scope="module")
def lowest():
    path = ROOT / ".ci" / "lowest_versions.py"
    spec = importlib.util.spec_from_file_location("lowest_versions", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def recipe(target):
    """The commands of a target of the Makefile, with continued lines joined."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
    found = re.search(rf"^{re.escape(target)}:.*\n((?:\t.*\n)+)", text, flags=re.M)
    assert found, f"no target {target}"
    return found[1]


def test_every_dependency_has_a_lower_bound_and_no_upper_one(table):
    extras = table["project"]["optional-dependencies"]
    groups = [table["project"]["dependencies"], *(extras[name] for name in extras if name != "all")]
    for group in groups:
        for requirement in group:
            assert re.fullmatch(r"[\w-]+>=[\d.]+", requirement), requirement


def test_the_lowest_versions_are_the_bounds_of_the_project(table, lowest):
    pinned = lowest.lowest_requirements(table)
    names = [lowest.package_name(entry) for entry in pinned]
    assert len(names) == len({*names})
    for entry in table["project"]["dependencies"]:
        assert entry.replace(">=", "==") in pinned
    extras = table["project"]["optional-dependencies"]
    for extra in (
        "plot",
        "report",
        "map",
        "ann",
        "dimension",
        "seismic",
        "vision",
        "data",
        "excel",
        "zarr",
    ):
        for entry in extras[extra]:
            assert entry.replace(">=", "==") in pinned
    tools = {lowest.package_name(entry) for entry in table["dependency-groups"]["test"]}
    assert tools - {*names} == {*lowest.LEFT_OUT}
    assert "h5py==3.10" in pinned
    assert "mudata" not in names


def test_bounds_of_tested_extras_are_those_of_the_extras(table):
    extras = {
        entry for group in table["project"]["optional-dependencies"].values() for entry in group
    }
    bounds = {entry.partition(">=")[0]: entry for entry in extras}
    for entry in table["dependency-groups"]["test"]:
        name = entry.partition(">=")[0]
        assert bounds.get(name, entry) == entry


def test_environments_are_installed_as_they_are_called():
    assert ".ci/lowest_versions.py" in recipe("$(VENV)-lowest/.ready")
    assert "--pre --upgrade --upgrade-strategy eager" in recipe("test-latest")
    assert "--strict" in recipe("audit")
    assert "pip freeze" in recipe("audit")


def test_pandas_2_sees_the_checks_that_are_not_yielded():
    assert "-k not_yielded tests/estimators/test_sklearn.py" in recipe("test-omics")


@pytest.mark.parametrize("name", ["run", "nightly"])
def test_scripts_run_targets_that_exist(name):
    path = ROOT / ".ci" / name
    assert path.stat().st_mode & stat.S_IXUSR
    assert os.access(path, os.X_OK)
    text = path.read_text(encoding="utf-8")
    lists = re.findall(r"^(?:make|for target in) ([\w -]+?)(?:;.*)?$", text, flags=re.M)
    targets = [target for list_ in lists for target in list_.split()]
    assert targets
    for target in targets:
        recipe(target)


def test_the_night_covers_slow_tests_lowest_and_newest_versions_and_the_audit():
    text = (ROOT / ".ci" / "nightly").read_text(encoding="utf-8")
    for target in ("test-all", "test-lowest", "test-latest", "audit", "release-check"):
        assert re.search(rf"\b{target}\b", text)


def test_every_change_tries_the_wheel_without_extras():
    text = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    _, _, after = text.partition("pip wheel --quiet --no-deps")
    assert '-m pip install --quiet "$scratch"/wheel/viewhop-*.whl' in after
    for line in (".ci/try_wheel.py", "viewhop --version", "viewhop fit ", "viewhop transform "):
        assert line in after


def run_in_ci(name, *arguments):
    """What a script of the folder .ci prints, in a process that imports the source tree."""
    return subprocess.run(
        [sys.executable, str(ROOT / ".ci" / name), *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "extra",
    ["plot", "report", "map", "ann", "dimension", "seismic", "vision", "data", "excel", "zarr"],
)
def test_an_extra_works_while_the_others_are_missing(extra):
    done = run_in_ci("try_extra.py", extra, "--block")
    if "ModuleNotFoundError" in done.stderr:
        pytest.skip(f"{extra} is not installed")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{extra}: works, and ")


def test_the_release_tries_every_extra(table):
    text = (ROOT / ".ci" / "check_release").read_text(encoding="utf-8")
    found = re.search(r"^for extra in ([\w ]+);", text, flags=re.M)
    assert {*found[1].split()} == {*table["project"]["optional-dependencies"]} - {"all"}
    assert "$(VENV)-release/$(IN)/python" in recipe("release-check")


def test_workflows_call_targets_and_scripts_that_exist():
    folder = ROOT / ".github" / "workflows"
    called = 0
    for path in folder.glob("*.yml"):
        text = path.read_text(encoding="utf-8")
        for target in re.findall(r"run: make ([\w-]+)", text):
            recipe(target)
            called += 1
        for script in re.findall(r"run: (\.ci/\w+)", text):
            assert os.access(ROOT / script, os.X_OK)
            called += 1
    assert called >= 5
