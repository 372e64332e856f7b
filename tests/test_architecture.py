"""The house rules that a reader relies on: who may know whom, and which names are public."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from collections import Counter
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator

import viewhop as vh
from viewhop import estimators
from viewhop.affinity import Affinity
from viewhop.walks import Walk

ROOT = Path(vh.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
#: Paths inside packages that are public although the module is: DESIGN names them, or they are
#: packages of their own.
PUBLIC_MODULES = {"viewhop.seismic.sonogram", "viewhop.seismic.events", "viewhop.seismic.io"}


def module_name(path):
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in FILES}
TREES = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in MODULES.items()}


def package(name):
    """The entry of `src/viewhop` that a module belongs to."""
    return name.split(".")[1] if "." in name else ""


def subclasses(kind):
    found = set()
    for child in kind.__subclasses__():
        if child.__module__.startswith("viewhop."):
            found |= {child, *subclasses(child)}
    return found


def estimator_classes():
    names = [name for name in estimators.__all__ if name[0].isupper()]
    kinds = [getattr(estimators, name) for name in names]
    return [kind for kind in kinds if issubclass(kind, BaseEstimator)]


# --- estimators ---------------------------------------------------------------------------------


def test_no_estimator_inherits_another():
    kinds = estimator_classes()
    assert len(kinds) == 5
    for kind in kinds:
        others = [other for other in kinds if other is not kind]
        assert not issubclass(kind, tuple(others)), kind


def test_nothing_outside_the_estimators_reads_their_private_attributes():
    private = {
        name
        for kind in estimator_classes()
        for base in kind.__mro__
        if base.__module__.startswith("viewhop.")
        for name in {**vars(base), **vars(base).get("__annotations__", {})}
        if name.startswith("_") and not name.startswith("__") and not name.startswith("_abc")
    }
    assert {"_schema", "_recipe", "_read_new"} <= private
    pokes = [
        f"{name}:{node.lineno} {node.attr}"
        for name, tree in TREES.items()
        if package(name) != "estimators"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in private
        if not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"))
    ]
    assert not pokes


def test_a_fit_assigns_one_attribute():
    """Every method of an estimator but `__init__` assigns at most the one result of its fit."""
    results = {"geometry_", "clusters_", "canonical_"}
    assigned = {}
    for name, tree in TREES.items():
        if package(name) != "estimators":
            continue
        for function in [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]:
            if function.name == "__init__":
                continue
            for node in ast.walk(function):
                targets = node.targets if isinstance(node, ast.Assign) else []
                for target in targets:
                    if isinstance(target, ast.Attribute) and target.attr.endswith("_"):
                        assigned.setdefault(target.attr, set()).add(function.name)
    assert set(assigned) == results
    for attribute, functions in assigned.items():
        assert "fit" in functions, attribute


@pytest.mark.parametrize("kind", estimator_classes(), ids=lambda kind: kind.__name__)
def test_a_fit_that_fails_leaves_the_estimator_as_it_was(kind):
    est = kind()
    before = dict(vars(est))
    with pytest.raises((TypeError, ValueError)):
        est.fit([[1.0, float("inf")]])
    assert vars(est) == before


# --- contracts ----------------------------------------------------------------------------------


def test_few_ask_for_a_concrete_affinity_or_walk_and_each_says_why():
    concrete = {kind.__name__ for kind in subclasses(Affinity) | subclasses(Walk)}
    assert {"HopWalk", "SumWalk", "SparseAffinity", "DenseAffinity"} <= concrete
    concrete |= {"Affinity", "Walk"}
    asked = []
    for name, tree in TREES.items():
        if package(name) in ("affinity", "walks"):
            continue
        lines = MODULES[name].read_text(encoding="utf-8").splitlines()
        for node in ast.walk(tree):
            is_test = isinstance(node, ast.Call) and getattr(node.func, "id", "") in (
                "isinstance",
                "issubclass",
            )
            if is_test and concrete & {
                part.id for part in ast.walk(node.args[1]) if isinstance(part, ast.Name)
            }:
                near = lines[max(0, node.lineno - 3) : node.lineno]
                asked.append((f"{name}:{node.lineno}", any("#" in line for line in near)))
    assert len(asked) <= 5, asked
    assert all(has_reason for _, has_reason in asked), asked


# --- names and modules --------------------------------------------------------------------------


def test_the_tree_is_seen_at_a_glance():
    entries = [path for path in ROOT.iterdir() if path.name not in ("__pycache__", "py.typed")]
    assert len(entries) <= 30


def test_modules_inside_packages_are_private_but_for_those_that_the_design_names():
    public = {
        name
        for name in MODULES
        if name.count(".") >= 2
        and not any(part.startswith("_") for part in name.split("."))
        and name not in PUBLIC_MODULES
    }
    assert not public


def test_one_basename_is_one_file():
    counts = Counter(path.name.lstrip("_") for path in FILES if path.name != "__init__.py")
    assert {name: n for name, n in counts.items() if n > 1} == {}


def test_packages_import_from_each_other_what_is_exported():
    """A module of another package is private: its package's `__init__` says what is not.

    The command line is the shell of runs, seismic and experiments, and may know their insides.
    """
    wrong = []
    for name, tree in TREES.items():
        if package(name) == "cli":
            continue
        for node in ast.walk(tree):
            if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith(
                "viewhop."
            ):
                continue
            inside = package(name) == package(node.module)
            if inside or package(node.module).startswith("_"):
                continue
            private = [part for part in node.module.split(".") if part.startswith("_")]
            private += [alias.name for alias in node.names if alias.name.startswith("_")]
            if private:
                wrong.append(f"{name}:{node.lineno} {node.module}")
    assert not wrong


@pytest.mark.parametrize("name", MODULES)
def test_all_lists_what_is_there(name):
    pytest.importorskip("obspy") if name.startswith("viewhop.seismic") else None
    module = importlib.import_module(name)
    listed = getattr(module, "__all__", None)
    if listed is None:
        return
    assert len({*listed}) == len(listed)
    for entry in listed:
        assert getattr(module, entry, None) is not None, entry


def test_every_module_lists_what_others_take_from_it():
    taken = {}
    for name, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module != name:
                taken.setdefault(node.module, set()).update(alias.name for alias in node.names)
    missing = {}
    for name, path in MODULES.items():
        if path.stem == "__init__":
            continue
        body = TREES[name].body
        listed = {
            entry
            for node in body
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__"
            for entry in ast.literal_eval(node.value)
        }
        defined = {
            node.name
            for node in body
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_")
        }
        if left_out := (taken.get(name, set()) & defined) - listed:
            missing[name] = sorted(left_out)
    assert not missing


def test_public_packages_export_what_the_library_lists():
    for entry in pkgutil.iter_modules([str(ROOT)]):
        module = importlib.import_module(f"viewhop.{entry.name}")
        if not entry.name.startswith("_") and entry.name not in ("cli", "experiments"):
            assert getattr(module, "__all__", None), entry.name
    for name in vh.__all__:
        assert getattr(vh, name) is not None
    assert {*vh.__all__} <= {*dir(vh), "__version__"}
