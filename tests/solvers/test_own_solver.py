"""A solver may be an object: anybody's, as long as it solves."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import viewhop as vh
from tests.support import cases
from viewhop.kernels import Gaussian
from viewhop.solvers import Problem, Solution, Solver, solve
from viewhop.walks import SumWalk


class ByNumpy:
    """All pairs, of which the wanted ones are taken."""

    def solve(self, problem):
        n = problem.walk.n_nodes
        A = problem.project(problem.walk.normalized(problem.project(np.eye(n))))
        values, vectors = np.linalg.eigh((A + A.T) / 2)
        return values[::-1][: problem.r], vectors[:, ::-1][:, : problem.r]


class Named(ByNumpy, Solver):
    name = "by numpy"


class Wrong:
    def __init__(self, answer):
        self.answer = answer

    def solve(self, problem):
        return self.answer


def views():
    return cases.views("generic", 2, Gaussian())


def fit(**parameters):
    return vh.MultiViewDiffusionMaps(3, kernel="gaussian", **parameters).fit(views())


@pytest.mark.parametrize("solver", [ByNumpy(), Named()])
@pytest.mark.parametrize("fusion", ["hop", "sum", "alternating", "integrated", "composite"])
def test_an_object_finds_what_a_name_finds(solver, fusion):
    own, known = fit(solver=solver, fusion=fusion), fit(solver="dense", fusion=fusion)
    assert_allclose(own.eigenvalues_, known.eigenvalues_, atol=1e-10)
    assert_allclose(own.embedding_, known.embedding_, atol=1e-7)
    assert own.solver_ == ("by numpy" if isinstance(solver, Named) else "ByNumpy")
    assert own.memory_ > 0


def test_clusters_and_one_view_take_it_too():
    labels = vh.MultiViewSpectralClustering(3, solver=ByNumpy(), random_state=0).fit_predict(
        views()
    )
    assert {*labels} == {0, 1, 2}
    one = vh.DiffusionMaps(2, kernel="gaussian", solver=ByNumpy()).fit(views()[0])
    assert one.solver_ == "ByNumpy"


def test_a_model_saves_it_as_auto_with_a_warning(tmp_path):
    est = fit(solver=ByNumpy())
    with pytest.warns(UserWarning, match='solver object ByNumpy is saved as solver="auto"') as told:
        est.save(tmp_path / "model.viewhop")
    assert told[0].filename == __file__
    again = vh.load(tmp_path / "model.viewhop")
    assert again.solver == "auto"
    assert again.solver_ == "ByNumpy"
    assert_array_equal(again.embedding_, est.embedding_)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again.save(tmp_path / "model.viewhop")


def test_what_does_not_solve_is_refused():
    with pytest.raises(ValueError, match="'solver' parameter of MultiViewDiffusionMaps"):
        fit(solver=object())
    with pytest.raises(ValueError, match=r"a name or have a method solve\(problem\), not 3"):
        solve(walk(), 2, solver=3)
    with pytest.raises(ValueError, match="unknown solver 'fast'; known are auto, dense"):
        solve(walk(), 2, solver="fast")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ((np.ones(3), np.ones((5, 3))), r"Wrong returned vectors of shape \(5, 3\)"),
        ((np.ones((2, 2)), np.ones((cases.N, 2))), "Wrong returned vectors"),
        (None, "Wrong returned NoneType, expected a Solution or a pair"),
        (([0.5],), "Wrong returned tuple, expected a Solution or a pair"),
    ],
)
def test_an_answer_of_another_shape_is_refused(answer, message):
    with pytest.raises(ValueError, match=message):
        solve(walk(), 3, solver=Wrong(answer))


def test_fewer_pairs_than_wanted_have_not_converged():
    spectrum = solve(walk(), 1, solver="dense")
    unit = spectrum.eigenvectors * np.sqrt(spectrum.stationary)[:, None]
    few = Wrong((spectrum.eigenvalues, unit))
    with pytest.raises(vh.errors.ConvergenceError, match="found 1 of 3 eigenpairs"):
        solve(walk(), 3, solver=few)
    said = Wrong(Solution(spectrum.eigenvalues, unit, converged=False))
    with pytest.raises(vh.errors.ConvergenceError, match="solver 'Wrong'"):
        solve(walk(), 1, solver=said)


def test_a_problem_says_what_is_wanted():
    seen = []

    class Watch(ByNumpy):
        def solve(self, problem):
            seen.append(problem)
            return super().solve(problem)

    solve(walk(), 3, solver=Watch(), tol=1e-4)
    (problem,) = seen
    assert isinstance(problem, Problem)
    assert problem.r == 3
    assert problem.tol == 1e-4
    assert problem.known.shape == (cases.N, 1)


def walk():
    from viewhop.affinity import build_affinity

    return SumWalk([build_affinity("v", Gaussian(), views()[0])])
