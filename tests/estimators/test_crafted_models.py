"""Crafted model files with right hashes: refused, or used without a raw error of NumPy."""

from __future__ import annotations

import random
from collections import Counter

import pytest

import viewhop as vh
from tests.support import crafted
from tests.support.model_files import put_together, taken_apart
from viewhop.errors import ModelFileError

#: Changes of each file that the suite tries; the long tail tries them all.
SAMPLED = 60


@pytest.fixture(scope="module")
def contents(tmp_path_factory):
    return crafted.write_models(tmp_path_factory.mktemp("models"))


def faults_of(path, content, changes):
    """The faults that changes of a file lead to, and how often each outcome occurs."""
    counts, faults = Counter(), []
    for change in changes:
        path.write_bytes(crafted.changed(content, change))
        found = crafted.outcome(path)
        counts[found if found in ("refused", "used") else "fault"] += 1
        if found not in ("refused", "used"):
            faults.append(f"{change[0]} {change[1]} {change[2]}: {found}")
    return faults, counts


@pytest.mark.parametrize("name", crafted.MODELS)
def test_a_file_put_together_again_is_used(tmp_path, contents, name):
    path = tmp_path / "same.viewhop"
    path.write_bytes(put_together(*taken_apart(contents[name])))
    assert crafted.outcome(path) == "used"


@pytest.mark.parametrize("name", crafted.MODELS)
def test_a_crafted_value_or_array_shows_no_raw_error(tmp_path, contents, name):
    changes = [*crafted.changes(contents[name])]
    some = random.Random(f"crafted {name}").sample(changes, SAMPLED)
    faults, counts = faults_of(tmp_path / "crafted.viewhop", contents[name], some)
    assert faults == []
    assert counts["refused"] > SAMPLED // 2


@pytest.mark.slow
@pytest.mark.parametrize("name", crafted.MODELS)
def test_no_crafted_value_or_array_shows_a_raw_error(tmp_path, contents, name):
    changes = [*crafted.changes(contents[name])]
    assert len(changes) > 2000
    faults, _ = faults_of(tmp_path / "crafted.viewhop", contents[name], changes)
    assert faults == []


def spoilt(tmp_path, content, *way, value):
    """The path of a file with another value in its manifest."""
    manifest, members = taken_apart(content)
    node = manifest["model"]
    for key in way[:-1]:
        node = node[key]
    assert way[-1] in node if isinstance(node, dict) else way[-1] < len(node)
    node[way[-1]] = value
    path = tmp_path / "spoilt.viewhop"
    path.write_bytes(put_together(manifest, members))
    return path


GEOMETRY = ("learned", "geometry")
KERNEL = (*GEOMETRY, "walk", "kernels", 0)


@pytest.mark.parametrize(
    ("way", "value", "expected"),
    [
        ((*KERNEL, "scale"), 0, "scale: 0 is too small"),
        ((*KERNEL, "scale"), 1e-300, "scale: 1e-300 is too small"),
        ((*KERNEL, "scale"), 1e308, r"scale: 1e\+308 is too small or too large"),
        ((*KERNEL, "recall"), 1.5, "recall: 1.5 is too small or too large"),
        ((*KERNEL, "kernel", "alpha"), 1e300, "alpha=1e.300 of the kernel .* is too large"),
        ((*GEOMETRY, "n_steps"), -1, "number of steps: -1 is too small"),
        ((*GEOMETRY, "record", "n_pieces"), 29, "number of pieces: expected a whole number"),
        ((*GEOMETRY, "record", "view_weights", "view1"), 1e308, "weights of the views"),
        ((*GEOMETRY, "record", "view_weights", "view1"), 0.25, "the largest of them 1"),
        ((*GEOMETRY, "schema", "widths", 0), 2**62, "width of a view"),
        (("parameters", "max_memory"), "x", "max_memory must be a number of bytes"),
        (("parameters", "max_memory"), -1, "max_memory"),
        (("parameters", "tol"), 1e308, "'tol' parameter"),
        (("parameters", "n_steps"), -1, "'n_steps' parameter"),
        (("parameters", "n_jobs"), 2**63, "is too large"),
        (("parameters", "n_jobs"), 0, "n_jobs must not be 0"),
    ],
)
def test_numbers_of_the_manifest_have_bounds(tmp_path, contents, way, value, expected):
    path = spoilt(tmp_path, contents["weights"], *way, value=value)
    with pytest.raises(ModelFileError, match=expected) as caught:
        vh.load(path)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize(
    ("which", "name", "number", "expected"),
    [
        ("weights", "spectrum/eigenvalues", 1e308, "eigenvalues has numbers .* too large"),
        ("weights", "spectrum/eigenvalues", 5e-324, "eigenvalues has numbers"),
        ("weights", "spectrum/eigenvectors", 1e100, "do not have their lengths"),
        ("weights", "spectrum/stepped", 1e100, "do not have their lengths"),
        ("weights", "spectrum/residuals", 3.0, "residuals has numbers"),
        ("weights", "spectrum/stationary", 0.9, "stationary distribution is not that of"),
        ("weights", "degrees", 1e100, "degrees are not the row sums|stationary"),
        ("weights", "hops", 1e308, "hops has numbers"),
        ("weights", "hops", 1e100, "hops must be symmetric|degrees are not|rank"),
        ("weights", "view0/density", 1e100, "densities are not the row sums"),
        ("weights", "view0/triangle", 1e100, "densities are not the row sums"),
        ("weights", "view0/rows", 1e200, "rows has numbers"),
        ("joint", "view0/scale", 0.0, "scale has numbers"),
        ("joint", "view0/radius", 1e200, "radius has numbers"),
        ("joint", "joint/rows", 1e100, "not those of the views side by side"),
        ("joint", "view0/values", 0.0, "densities are not the row sums"),
        ("dense product", "product/density", 1e50, "densities are not the row sums"),
        ("golden product", "view0/rows", float("inf"), "rows has numbers that are not finite"),
        ("golden product", "view0/rows", float("nan"), "rows has numbers that are not finite"),
        ("golden product", "product/rows", 1e30, "not those of the views side by side"),
        ("golden clusters", "centers", 1e308, "centers has numbers"),
    ],
)
def test_numbers_of_arrays_have_bounds(tmp_path, contents, which, name, number, expected):
    path = tmp_path / "spoilt.viewhop"
    path.write_bytes(crafted.with_first_number(contents[which], name, number))
    with pytest.raises(ModelFileError, match=expected):
        vh.load(path)
