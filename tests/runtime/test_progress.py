"""Progress, repeatability and company: what a fit tells, and what it leaves alone."""

from __future__ import annotations

import re
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from threadpoolctl import threadpool_info, threadpool_limits

from viewhop import DiffusionMaps, MultiViewDiffusionMaps
from viewhop._runtime.progress import Stage, no_progress, show_progress
from viewhop.bandwidth import joint
from viewhop.kernels import Gaussian

DENSE = Gaussian("log-log")
SETTINGS = {
    "neighbours, dense": {"solver": "dense"},
    "neighbours, lanczos": {"solver": "lanczos"},
    "neighbours, svd": {"within_view_weight": 0.0, "solver": "svd"},
    "paper, lanczos": {"within_view_weight": 0.0, "solver": "lanczos"},
    "full, dense": {"kernel": DENSE, "solver": "dense"},
    "full, lanczos": {"kernel": DENSE, "solver": "lanczos"},
    "full, krylov": {"kernel": DENSE, "solver": "krylov"},
    "sum": {"fusion": "sum", "solver": "lanczos"},
    "product": {"fusion": "product", "kernel": DENSE, "solver": "krylov"},
    "concat": {"fusion": "concat", "kernel": DENSE, "solver": "krylov"},
}


@pytest.fixture
def views():
    """Two views of points on an open curve; no two eigenvalues are close."""
    rng = np.random.default_rng(3)
    angle = rng.uniform(0, 1.6 * np.pi, 120)
    noise = rng.normal(scale=0.02, size=(120, 4))
    X = np.c_[np.cos(angle), np.sin(angle), angle, np.sin(angle)] + noise
    return [X[:, :2], X[:, 2:]]


def estimator(seed=0, **params):
    return MultiViewDiffusionMaps(3, random_state=seed, **params)


def test_nothing_is_shown_by_default(views, capfd):
    estimator().fit(views).transform(views)
    assert capfd.readouterr() == ("", "")
    with show_progress(0) as progress:
        assert progress is no_progress
        assert progress("stage", 1, 2) is None
    with show_progress(False) as progress:
        assert progress is no_progress


def test_bars_are_shown_on_standard_error(views, capfd):
    estimator(verbose=1).fit(views)
    out, err = capfd.readouterr()
    assert out == ""
    assert "neighbours of view1" in err
    assert "neighbours of view2" in err
    assert "extension" in err
    estimator(verbose=1, kernel="gaussian", solver="krylov").fit(views)
    err = capfd.readouterr().err
    assert "kernel of view1" in err
    assert re.search(r"solve.*residual \de-\d\d", err)


def test_a_stage_is_its_name_and_carries_a_detail():
    stage = Stage("solve", "residual 1e-03")
    assert stage == "solve"
    assert {stage: 1}["solve"] == 1
    assert stage.detail == "residual 1e-03"
    assert Stage("solve").detail == ""


def test_a_stage_of_unknown_length_can_be_shown(capfd):
    with show_progress(True) as progress:
        progress("search", 1, None)
        progress("search", 5, 9)
    assert "search" in capfd.readouterr().err


@pytest.mark.parametrize("solver", ["lanczos", "krylov", "svd"])
def test_a_callable_hears_every_stage(views, solver):
    calls = []
    walk = {"within_view_weight": 0.0} if solver == "svd" else {}
    est = estimator(solver=solver, verbose=lambda *args: calls.append(args), **walk).fit(views)
    est.transform(views)
    stages = {stage for stage, _, _ in calls}
    assert {"neighbours of view1", "neighbours of view2", "solve", "extension"} <= stages
    assert all(total is None or 0 <= done <= total for _, done, total in calls)
    assert [t for t in calls if t[0] == "extension"][-1] == ("extension", 120, 120)


def test_a_callable_is_passed_on_as_it_is():
    def progress(stage, done, total):
        raise AssertionError

    with show_progress(progress) as callback:
        assert callback is progress


def test_an_error_inside_the_bars_is_passed_on():
    with pytest.raises(KeyError, match="mine"), show_progress(1):
        raise KeyError("mine")


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_same_seed_gives_the_same_bits(views, setting):
    first = estimator(**SETTINGS[setting]).fit(views)
    second = estimator(**SETTINGS[setting]).fit(views)
    again = first.embedding_.copy()
    assert_array_equal(first.fit(views).embedding_, again)
    assert_array_equal(second.embedding_, again)
    assert_array_equal(second.eigenvalues_, first.eigenvalues_)
    assert_array_equal(second.transform(views), first.transform(views))
    assert_array_equal(second.transform(views), second.transform(views))


@pytest.mark.parametrize("setting", SETTINGS)
def test_another_seed_gives_the_same_coordinates(views, setting):
    first = estimator(**SETTINGS[setting]).fit(views)
    second = estimator(seed=1, **SETTINGS[setting]).fit(views)
    assert_allclose(second.embedding_, first.embedding_, atol=1e-8)


@pytest.mark.parametrize("setting", SETTINGS)
def test_threads_change_no_coordinate(views, setting, monkeypatch):
    monkeypatch.setattr("viewhop._runtime.threads.BLOCK", 2**10)  # many small blocks to share
    one = estimator(n_jobs=1, **SETTINGS[setting]).fit(views)
    two = estimator(n_jobs=2, **SETTINGS[setting]).fit(views)
    assert_allclose(two.embedding_, one.embedding_, atol=1e-10, rtol=0)
    assert_allclose(two.transform(views), one.transform(views), atol=1e-10, rtol=0)


@pytest.mark.parametrize("setting", SETTINGS)
def test_threads_of_linear_algebra_change_no_coordinate(views, setting):
    embeddings = []
    for limit in (1, 2):
        with threadpool_limits(limits=limit, user_api="blas"):
            embeddings.append(estimator(**SETTINGS[setting]).fit_transform(views))
    assert_allclose(embeddings[1], embeddings[0], atol=1e-10, rtol=0)


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_fit_leaves_the_world_alone(views, setting):
    def world():
        return (
            str(np.random.get_state(legacy=False)),  # noqa: NPY002 - the state that must not move
            [*warnings.filters],
            [(pool["filepath"], pool["num_threads"]) for pool in threadpool_info()],
            np.geterr(),
        )

    np.random.random(7)  # noqa: NPY002 - so that seeding it anew would show
    before = world()
    estimator(n_jobs=2, **SETTINGS[setting]).fit(views).transform(views)
    assert world() == before


def test_estimators_fitted_in_eight_threads_agree_with_one(views):
    expected = {name: estimator(**params).fit_transform(views) for name, params in SETTINGS.items()}
    with ThreadPoolExecutor(8) as pool:
        jobs = [
            (name, pool.submit(estimator(**params).fit_transform, views))
            for name, params in SETTINGS.items()
            for _ in range(2)
        ]
        for name, job in jobs:
            assert_allclose(job.result(), expected[name], atol=1e-10, rtol=0)


@pytest.mark.parametrize("fusion", ["hop", "sum", "product", "concat"])
def test_one_estimator_transforms_in_eight_threads(views, fusion):
    est = estimator(fusion=fusion).fit(views)
    parts = [[X[k : k + 30] for X in views] for k in range(0, 120, 5)]
    expected = [est.transform(part) for part in parts]
    with ThreadPoolExecutor(8) as pool:
        for result, wanted in zip(pool.map(est.transform, parts), expected, strict=True):
            assert_array_equal(result, wanted)


def test_a_generator_moves_on_between_fits(views):
    generator = np.random.default_rng(0)
    state = generator.bit_generator.state
    DiffusionMaps(2, solver="lanczos", random_state=generator).fit(views[0])
    assert generator.bit_generator.state != state


def test_scales_found_in_many_threads_leave_the_blas_threads_alone():
    X = [np.random.default_rng(k).standard_normal((120, 3)) for k in range(2)]
    before = [pool["num_threads"] for pool in threadpool_info()]
    with ThreadPoolExecutor(8) as executor:
        results = [*executor.map(lambda _: joint(X, 20).scales, range(16))]
    assert all(scales == results[0] for scales in results)
    assert [pool["num_threads"] for pool in threadpool_info()] == before
