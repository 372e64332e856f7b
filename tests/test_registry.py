"""One list each: a name that is added counts everywhere."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import viewhop as vh
from tests.support import cases
from tests.support.command_line import invoked
from viewhop import _registry, kernels, solvers, walks
from viewhop._registry import FUSIONS, KERNELS, OUTPUTS, RULES, SOLVERS, Entry, load_home
from viewhop.kernels import Gaussian
from viewhop.runs import Settings
from viewhop.solvers import Solver
from viewhop.walks import SumWalk, Walk

HERE = __name__


class MeanWalk(SumWalk):
    """A fusion of somebody's own: the mean of the kernels, which is the walk of their sum."""

    fusion = "mean"


class Tent(Gaussian):
    """A kernel of somebody's own: max(0, 1 - u) on [0, 1), by its logarithm."""

    @staticmethod
    def exponent(u):
        with np.errstate(divide="ignore"):
            return -np.log(np.maximum(1.0 - np.asarray(u), 1e-300))

    @classmethod
    def exponent_of_square(cls, square):
        return cls.exponent(np.sqrt(square, out=square))


@pytest.fixture
def added(monkeypatch):
    monkeypatch.setitem(FUSIONS, "mean", Entry(f"{HERE}:MeanWalk", "the mean of the kernels"))
    monkeypatch.setitem(KERNELS, "tent", Entry(f"{HERE}:Tent", "1 - d/sigma"))


def views():
    return cases.views("generic", 2, Gaussian())


@pytest.mark.parametrize("names", [FUSIONS, KERNELS, SOLVERS], ids=["fusion", "kernel", "solver"])
def test_every_entry_leads_to_its_object(names):
    kinds = {"fusion": Walk, "kernel": kernels.Kernel, "solver": Solver}
    for name, entry in names.items():
        thing = load_home(entry.home)
        made = thing() if not isinstance(thing, type) else thing
        kind = kinds["fusion" if names is FUSIONS else "kernel" if names is KERNELS else "solver"]
        assert issubclass(made if isinstance(made, type) else type(made), kind), name
        assert entry.summary
    if names is FUSIONS:
        assert all(load_home(entry.home).fusion == name for name, entry in names.items())


def test_packages_show_the_same_lists():
    assert walks.FUSIONS is FUSIONS
    assert kernels.NAMES is KERNELS
    assert kernels.RULES is RULES
    assert solvers.SOLVERS is SOLVERS
    assert vh.geometry.OUTPUTS is OUTPUTS
    assert {"metric", "search"} <= {*Gaussian().get_params()}
    assert Gaussian().metric in _registry.METRICS
    assert Gaussian().search in _registry.SEARCHES


def test_names_that_are_not_listed_are_refused():
    for parameter in ({"fusion": "mean"}, {"kernel": "tent"}):
        with pytest.raises(ValueError, match="must be"):
            vh.MultiViewDiffusionMaps(2, **parameter).fit(views())


@pytest.mark.usefixtures("added")
def test_an_added_fusion_and_kernel_fit_place_and_come_back(tmp_path):
    est = vh.MultiViewDiffusionMaps(2, fusion="mean", kernel="tent").fit(views())
    known = vh.MultiViewDiffusionMaps(2, fusion="sum", kernel=Tent()).fit(views())
    assert type(est.walk_) is MeanWalk
    assert_allclose(est.embedding_, known.embedding_, atol=1e-10)
    assert_allclose(est.transform(views()), est.embedding_, atol=1e-8)
    est.save(tmp_path / "model.viewhop")
    again = vh.load(tmp_path / "model.viewhop")
    assert type(again.walk_) is MeanWalk
    assert type(again.geometry_.kernels["view1"]) is Tent
    assert_array_equal(again.embedding_, est.embedding_)


@pytest.mark.usefixtures("added")
def test_an_added_name_is_in_the_constraints_the_settings_and_the_help():
    with pytest.raises(ValueError, match="'mean'"):
        vh.MultiViewDiffusionMaps(2, fusion="no such").fit(views())
    with pytest.raises(ValueError, match="'tent'"):
        vh.MultiViewSpectralClustering(2, kernel="no such").fit(views())
    settings = Settings.from_values({"fusion": "mean", "kernel": "tent"}, where=str)
    assert (settings.fusion, settings.kernel) == ("mean", "tent")
    for command in ("fit", "cluster"):
        text = " ".join(invoked(command, "--help").stdout.split())
        assert "alternating, integrated, composite, mean" in text
        assert "precomputed, tent" in text


@pytest.mark.usefixtures("added")
def test_an_added_name_runs_on_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, X in zip("xy", views(), strict=True):
        header = ",".join("abcdefgh"[: X.shape[1]])
        np.savetxt(f"{name}.csv", X, delimiter=",", header=header, comments="")
    done = invoked(
        *("fit", "x=x.csv", "y=y.csv", "--fusion", "mean", "--kernel", "tent"),
        *("--no-report", "-o", "out"),
    )
    assert done.exit_code == 0, done.stderr
    assert 'fusion = "mean"' in (tmp_path / "out" / "run.toml").read_text(encoding="utf-8")
