"""The examples in the documentation strings run and give what they print."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import viewhop

MODULES = ["viewhop", *(m.name for m in pkgutil.walk_packages(viewhop.__path__, "viewhop."))]


@pytest.mark.parametrize("name", [name for name in MODULES if not name.endswith("__main__")])
def test_examples_give_what_they_print(name):
    if name == "viewhop.plotting":
        pytest.importorskip("matplotlib").use("Agg")
    if name.startswith("viewhop.scverse"):
        pytest.importorskip("anndata", reason="make test-omics installs it")
    found = doctest.testmod(importlib.import_module(name))
    assert found.failed == 0


@pytest.mark.parametrize("name", ["DiffusionMaps", "MultiViewDiffusionMaps", "Views"])
def test_public_classes_have_an_example(name):
    assert ">>>" in getattr(viewhop, name).__doc__
