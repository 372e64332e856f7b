"""Fits that share kernels, eigenpairs and kernel rows through a folder."""

from __future__ import annotations

import os
import re
from pathlib import Path

import joblib
import numpy as np
import pytest
from joblib import Memory
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import viewhop as vh
from tests.support.model_files import put_together, taken_apart
from viewhop import (
    DiffusionMaps,
    KernelCCA,
    MultiViewDiffusionMaps,
    MultiViewSpectralClustering,
    Views,
)
from viewhop._storage.store import KEPT
from viewhop.affinity import _build as building
from viewhop.errors import CacheWarning, ConvergenceError, ModelFileError, RecallWarning
from viewhop.estimators import _kernel_cca as canonical
from viewhop.geometry import Geometry, _stages
from viewhop.kernels import Gaussian
from viewhop.solvers._lapack import DenseSolver


@pytest.fixture(autouse=True)
def _forget():
    KEPT.clear()
    yield
    KEPT.clear()


def curve(n=90, dtype=np.float64):
    """Three views of points on an open curve, and which half of it a point is on."""
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 1.8 * np.pi, n)
    noise = rng.normal(scale=0.02, size=(n, 6))
    X1 = np.c_[np.cos(angle), np.sin(angle)] + noise[:, :2]
    X2 = np.c_[angle, np.sin(2 * angle)] + noise[:, 2:4]
    X3 = np.c_[angle**2, np.cos(angle)] + noise[:, 4:]
    half = (angle > 0.9 * np.pi).astype(int)
    return {"a": X1.astype(dtype), "b": X2.astype(dtype), "c": X3.astype(dtype)}, half


def incomplete():
    views, _ = curve()
    views["b"][::4] = np.nan
    views["c"][1::5] = np.nan
    return views


def two_views():
    views, _ = curve()
    return {name: views[name] for name in "ab"}


def sparse_views():
    views, _ = curve()
    words = np.maximum(np.tile(views["a"], 6) - np.linspace(-1, 1, 12), 0)
    return {**views, "c": csr_array(words)}


#: Settings, and the views that they take.
CASES = {
    "defaults": ({}, curve()[0]),
    "incomplete": ({}, incomplete()),
    "dense": ({"kernel": "gaussian"}, curve()[0]),
    "single precision": ({"kernel": "gaussian"}, curve(dtype=np.float32)[0]),
    "paper": ({"kernel": Gaussian("max-min"), "within_view_weight": 0.0}, curve()[0]),
    "scales by all views": ({"kernel": Gaussian("connected")}, curve()[0]),
    "weights": ({"view_weights": {"a": 1.0, "b": 0.5, "c": 0.2}}, curve()[0]),
    "hops": ({"hops": [[0, 1, 2], [1, 0, 1], [2, 1, 0.5]], "kernel": "laplacian"}, incomplete()),
    "connect": ({"connect": True, "kernel": Gaussian(n_neighbors=2)}, curve()[0]),
    "sum": ({"fusion": "sum"}, incomplete()),
    "product": ({"fusion": "product"}, curve()[0]),
    "dense product": ({"fusion": "product", "kernel": "gaussian"}, curve()[0]),
    "concat": ({"fusion": "concat"}, curve()[0]),
    "alternating": ({"fusion": "alternating"}, curve()[0]),
    "integrated": ({"fusion": "integrated", "kernel": Gaussian(0.05)}, curve()[0]),
    "composite": ({"fusion": "composite"}, two_views()),
    "sparse": ({}, sparse_views()),
    "sparse and dense": ({"kernel": "gaussian", "fusion": "concat"}, sparse_views()),
    "as many as needed": ({"n_components": "auto", "accuracy": 0.3}, curve()[0]),
    "Lanczos": ({"solver": "lanczos", "tol": 1e-12}, curve()[0]),
    "mean": ({"output": "mean"}, curve()[0]),
}


def embedder(folder, r=3, **settings):
    settings = {"n_components": r, "random_state": 0, **settings}
    return MultiViewDiffusionMaps(memory=folder, **settings)


def some(views, rows):
    return {name: X[rows] for name, X in views.items()}


@pytest.mark.parametrize("case", CASES)
def test_a_fit_is_the_same_whatever_the_folder_holds(tmp_path, case):
    settings, views = CASES[case]
    train, new = some(views, slice(0, 70)), some(views, slice(70, 90))
    new["a"][:3] += 0.01
    plain = embedder(None, **settings).fit(train)
    expected = plain.transform(new)
    results = []
    for forget in (False, False, True):  # computed, kept in memory, read from the files
        if forget:
            KEPT.clear()
        est = embedder(tmp_path, **settings).fit(train)
        if forget:
            KEPT.clear()
        results.append((est.embedding_, est.transform(new), est))
    (first, first_new, est), *others = results
    for embedding, placed, other in others:
        assert_array_equal(embedding, first)
        assert_array_equal(placed, first_new)
        assert repr(other.geometry_.kernels) == repr(plain.geometry_.kernels)
        assert other.memory_ == est.memory_
    exact = 1e-10 if plain.walk_.dtype == np.float64 else 1e-5
    assert_allclose(first, plain.embedding_, atol=exact)
    assert_allclose(first_new, expected, atol=exact)
    for name in plain.degrees_:
        assert_array_equal(est.degrees_[name], plain.degrees_[name])
        assert_array_equal(est.bandwidths_[name], plain.bandwidths_[name])
    assert est.view_weights_ == plain.view_weights_
    assert est.metric_scores_ == plain.metric_scores_
    assert est.n_components_ == plain.n_components_


@pytest.mark.parametrize("case", [case for case in CASES if case != "as many as needed"])
def test_at_a_rung_a_fit_is_the_one_without_memory_bit_for_bit(tmp_path, case):
    settings, views = CASES[case]
    if case == "single precision":
        settings = {**settings, "kernel": Gaussian("max-min", factor=0.02)}
    plain = embedder(None, 20, **settings).fit(views)
    for _ in range(2):
        est = embedder(tmp_path, 20, **settings).fit(views)
        assert_array_equal(est.embedding_, plain.embedding_)
        assert_array_equal(est.transform(views), plain.transform(views))
        assert_array_equal(est.eigenvalues_, plain.eigenvalues_)
        KEPT.clear()


@pytest.mark.parametrize("solver", ["lanczos", "krylov"])
def test_the_order_of_fits_does_not_matter(tmp_path, solver):
    views, _ = curve()
    results = []
    for name, order in (("up", (3, 20, 25)), ("down", (25, 20, 3))):
        fits = {r: embedder(tmp_path / name, r, solver=solver).fit(views) for r in order}
        results.append({r: fits[r].embedding_ for r in sorted(order)})
    for up, down in zip(*(result.values() for result in results), strict=True):
        assert_array_equal(up, down)


class Counts:
    """How often kernels were built, eigenproblems solved, and kernel rows computed."""

    def __init__(self, monkeypatch):
        self.kernels = self.solves = self.rows = 0
        build, solve, rows = (
            _stages.build_affinities,
            _stages.solve_multilevel,
            Geometry._kernel_rows,
        )

        def counted_build(*args, **kwargs):
            self.kernels += 1
            return build(*args, **kwargs)

        def counted_solve(*args, **kwargs):
            self.solves += 1
            return solve(*args, **kwargs)

        def counted_rows(*args, **kwargs):
            self.rows += 1
            return rows(*args, **kwargs)

        monkeypatch.setattr(_stages, "build_affinities", counted_build)
        monkeypatch.setattr(_stages, "solve_multilevel", counted_solve)
        monkeypatch.setattr(Geometry, "_kernel_rows", counted_rows)


@pytest.fixture
def counts(monkeypatch):
    return Counts(monkeypatch)


def pipeline(memory):
    embed = MultiViewDiffusionMaps(random_state=0, memory=memory, n_jobs=1)
    return make_pipeline(embed, KNeighborsClassifier(3))


GRID = {
    "multiviewdiffusionmaps__n_steps": [*range(1, 9)],
    "multiviewdiffusionmaps__n_components": [*range(2, 21)],
}


def search(memory, grid, **more):
    views, half = curve()
    found = GridSearchCV(pipeline(memory), grid, cv=3, error_score="raise", **more)
    return found.fit(Views(views), half)


@pytest.mark.parametrize("forget", [False, True], ids=["kept", "from files"])
def test_a_grid_over_steps_and_coordinates_builds_kernels_once_per_fold(
    tmp_path, counts, monkeypatch, forget
):
    if forget:
        monkeypatch.setattr("viewhop.estimators._open_cache.KEPT_SHARE", 0.0)
    search(tmp_path, {name: values[::6] for name, values in GRID.items()} if forget else GRID)
    # Three folds, and the refit on all samples, whose rows nobody asked for.
    assert (counts.kernels, counts.solves, counts.rows) == (4, 4, 3)


def test_a_grid_over_kernels_builds_them_once_per_fold_and_setting(tmp_path, counts):
    kernels = {"multiviewdiffusionmaps__kernel": ["gaussian", Gaussian("max-min", factor=0.5)]}
    few = {name: values[:3] for name, values in GRID.items()}
    for _ in range(2):  # the second search finds all of it
        search(tmp_path, {**few, **kernels})
        assert (counts.kernels, counts.solves, counts.rows) == (7, 7, 6)
    search(tmp_path, {**few, **kernels}, return_train_score=True)
    assert (counts.kernels, counts.solves, counts.rows) == (7, 7, 12)


def test_a_grid_chooses_and_scores_as_without_memory(tmp_path):
    few = {name: values[::4] for name, values in GRID.items()}
    with_, without = search(tmp_path, few), search(None, few)
    assert_array_equal(with_.cv_results_["mean_test_score"], without.cv_results_["mean_test_score"])
    assert with_.best_params_ == without.best_params_
    assert with_.best_score_ > 0.9


def test_a_grid_over_clusters_builds_kernels_once_per_fold(tmp_path, counts):
    views, half = curve()
    model = MultiViewSpectralClustering(2, random_state=0, memory=tmp_path, n_init=1)
    grid = {
        "n_clusters": [2, "auto"],
        "n_components": [None, 5],
        "n_steps": [1, 2],
        "max_clusters": [6],
    }
    found = GridSearchCV(model, grid, cv=3, error_score="raise", scoring="rand_score")
    found.fit(Views(views), half)
    assert (counts.kernels, counts.solves, counts.rows) == (4, 4, 3)
    assert found.best_score_ > 0.6
    again = clone(model).set_params(memory=None, **found.best_params_).fit(views)
    assert_array_equal(again.labels_, found.best_estimator_.labels_)


def test_a_grid_over_one_view_builds_its_kernel_once_per_fold(tmp_path, counts):
    views, half = curve()
    pipe = make_pipeline(
        DiffusionMaps(random_state=0, memory=str(tmp_path)), KNeighborsClassifier(3)
    )
    grid = {"diffusionmaps__n_steps": [1, 2], "diffusionmaps__n_components": [2, 3, 20]}
    GridSearchCV(pipe, grid, cv=3, error_score="raise").fit(views["b"], half)
    assert (counts.kernels, counts.solves, counts.rows) == (4, 4, 3)


@pytest.mark.parametrize("kernel", ["gaussian", Gaussian("log-log"), "precomputed"])
def test_a_grid_over_canonical_variates_factorises_kernels_once(tmp_path, monkeypatch, kernel):
    views, _ = curve()
    if kernel == "precomputed":
        views = {n: np.exp(-((X[:, None] - X) ** 2).sum(axis=2)) for n, X in views.items()}
    factorise, calls = canonical.factorise_kernel, []

    def counted(name, *args, **kwargs):
        calls.append(name)
        return factorise(name, *args, **kwargs)

    monkeypatch.setattr(canonical, "factorise_kernel", counted)
    for r, regularization in ((2, 0.1), (3, 0.1), (2, 1.0)):
        settings = {"n_components": r, "regularization": regularization, "rank": 30}
        settings |= {"kernel": kernel, "random_state": 0}
        plain = KernelCCA(**settings).fit(views)
        for forget in (False, True):
            if forget:
                KEPT.clear()
            est = KernelCCA(memory=tmp_path, **settings).fit(views)
            assert_array_equal(est.embedding_, plain.embedding_)
            assert_array_equal(est.transform(views), plain.transform(views))
            assert est.left_out_ == plain.left_out_
    assert calls == ["a", "b", "c"] * 4  # three fits without memory, and the first with it
    KernelCCA(memory=tmp_path, kernel=kernel, rank=20).fit(views)
    assert len(calls) == 15
    est.save(tmp_path / "m.viewhop")
    assert vh.load(tmp_path / "m.viewhop").memory is None


def log_kernels(stage, done, total):
    """Append a line to a file when a kernel has been built, from any process."""
    if stage.startswith(("kernel", "neighbour")) and done == total:
        with open(os.environ["VIEWHOP_TEST_LOG"], "a") as log:
            log.write(f"{os.getpid()} {stage}\n")


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_two_workers_build_kernels_once_per_fold(tmp_path, monkeypatch, backend):
    log = tmp_path / "log"
    monkeypatch.setenv("VIEWHOP_TEST_LOG", str(log))
    few = {name: values[:2] for name, values in GRID.items()}
    noisy = {"multiviewdiffusionmaps__verbose": [log_kernels]}
    with joblib.parallel_backend(backend, n_jobs=2):
        found = search(tmp_path / "store", {**few, **noisy})
    lines = log.read_text().splitlines()
    stages = [line.split(maxsplit=1)[1] for line in lines]
    assert {stages.count(stage) for stage in stages} == {4}
    alone = search(None, few)
    assert_array_equal(found.cv_results_["mean_test_score"], alone.cv_results_["mean_test_score"])
    entries = [*(tmp_path / "store" / "joblib" / "viewhop").iterdir()]
    assert len(entries) == 4 + 4 + 3


CHANGES = {
    "one bit of the data": lambda est, views: views["b"].__setitem__(
        (7, 1), views["b"][7, 1] * (1 + 3e-16)
    ),
    "which sample a view missed": lambda est, views: views["b"].__setitem__(7, np.nan),
    "another precision": lambda est, views: views.update(
        {name: X.astype(np.float32) for name, X in views.items()}
    ),
    "another name": lambda est, views: views.update(z=views.pop("c")),
    "the order of the views": lambda est, views: views.update(a=views.pop("a")),
    "a parameter of a kernel": lambda est, views: est.set_params(kernel__factor=2.0),
    "another kernel": lambda est, views: est.set_params(kernel="laplacian"),
    "another fusion": lambda est, views: est.set_params(fusion="sum"),
    "weights": lambda est, views: est.set_params(view_weights=[1, 1, 0.5]),
    "hops": lambda est, views: est.set_params(hops=np.ones((3, 3))),
    "a joint view": lambda est, views: est.set_params(joint_view=False),
    "connecting": lambda est, views: est.set_params(connect=True),
    "the seed": lambda est, views: est.set_params(random_state=1),
    "no seed": lambda est, views: est.set_params(random_state=None),
    "the number of threads": lambda est, views: est.set_params(n_jobs=2),
    "a version": "version",
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_may_change_a_kernel_builds_it_again(tmp_path, counts, monkeypatch, change):
    views, _ = curve()
    est = embedder(tmp_path, kernel=Gaussian("local", n_neighbors=8), n_jobs=1).fit(views)
    if change == "a version":
        monkeypatch.setattr("viewhop.geometry._fit_cache.__version__", "99")
    else:
        CHANGES[change](est, views)
    est.fit(views)
    assert counts.kernels == 2
    est.fit(views)
    assert counts.kernels == 2


def test_what_cannot_change_a_kernel_does_not_build_it_again(tmp_path, counts):
    views, _ = curve()
    est = embedder(tmp_path, n_jobs=1).fit(views)
    KEPT.clear()
    est.set_params(n_components=5, n_steps=3, output="mean", max_memory="1GB", verbose=0)
    est.fit(Views({name: np.asfortranarray(X) for name, X in views.items()}))
    stacked = np.hstack([*views.values()])
    groups = {"a": [0, 1], "b": [2, 3], "c": slice(4, None)}
    est.set_params(views=groups, memory=Memory(str(tmp_path), verbose=0)).fit(stacked)
    assert (counts.kernels, counts.solves) == (1, 1)
    est.set_params(solver="dense", n_components=7).fit(stacked)
    est.set_params(tol=1e-3).fit(stacked)
    est.set_params(n_components=21).fit(stacked)
    est.set_params(n_components=40).fit(stacked)
    assert (counts.kernels, counts.solves) == (1, 4)


def test_fits_without_a_seed_share_the_draws_of_the_first(tmp_path, counts):
    views, _ = curve()
    fits = [embedder(tmp_path, random_state=None).fit(views) for _ in range(2)]
    assert_array_equal(fits[0].embedding_, fits[1].embedding_)
    model = MultiViewSpectralClustering(2, memory=tmp_path, n_init=1)
    model.fit(views)
    assert (counts.kernels, counts.solves) == (1, 1)


def test_a_generator_keeps_nothing_and_says_so(tmp_path, counts):
    views, _ = curve()
    for _ in range(2):
        est = embedder(tmp_path, random_state=np.random.default_rng(0))
        with pytest.warns(CacheWarning, match="random_state is a Generator.*pass an int") as told:
            est.fit(views)
        assert told[0].filename == __file__
    assert counts.kernels == 2
    assert_array_equal(est.embedding_, embedder(None).fit(views).embedding_)


class Own(Gaussian):
    """A kernel class of one's own."""


def test_a_kernel_class_of_ones_own_keeps_nothing_and_says_so(tmp_path, counts):
    views, _ = curve()
    with pytest.warns(CacheWarning, match="view 'a' is a Own") as told:
        est = embedder(tmp_path, kernel=Own()).fit(views)
    assert told[0].filename == __file__
    assert_array_equal(est.embedding_, embedder(None, kernel=Own()).fit(views).embedding_)
    assert counts.kernels == 2


def test_canonical_variates_of_ones_own_kernels_keep_nothing_and_say_so(tmp_path):
    views, _ = curve()
    with pytest.warns(CacheWarning, match="view 'a' is a Own") as told:
        KernelCCA(memory=tmp_path, kernel=Own(), rank=20).fit(views)
    assert told[0].filename == __file__
    with pytest.warns(CacheWarning, match="random_state is a Generator") as told:
        KernelCCA(memory=tmp_path, rank=20, random_state=np.random.default_rng(0)).fit(views)
    assert told[0].filename == __file__


def test_a_solver_object_is_asked_in_every_fit(tmp_path, counts):
    views, _ = curve()
    for _ in range(2):
        est = embedder(tmp_path, solver=DenseSolver()).fit(views)
    assert (counts.kernels, counts.solves) == (1, 2)
    plain = embedder(None, solver=DenseSolver()).fit(views)
    assert_array_equal(est.embedding_, plain.embedding_)


def test_a_memory_without_a_location_keeps_nothing(counts):
    views, _ = curve()
    for _ in range(2):
        embedder(Memory(location=None), 3).fit(views).transform(views)
    assert (counts.kernels, counts.rows) == (2, 2)


class NoFolder:
    def cache(self, func):
        return func


def test_what_is_no_folder_is_refused(tmp_path):
    views, _ = curve()
    with pytest.raises(ValueError, match=r"a folder, a joblib\.Memory or None, not NoFolder"):
        embedder(NoFolder()).fit(views)
    with pytest.raises(ValueError, match="The 'memory' parameter"):
        embedder(3).fit(views)
    away = Memory(tmp_path, verbose=0)
    away.backend = "cloud"
    with pytest.raises(ValueError, match="backend 'cloud'; use a folder of this machine"):
        embedder(away).fit(views)


def test_clearing_the_memory_of_joblib_forgets_all(tmp_path, counts):
    views, _ = curve()
    memory = Memory(tmp_path, verbose=0)
    embedder(memory).fit(views)
    memory.clear(warn=False)
    embedder(memory).fit(views)
    assert counts.kernels == 2
    memory.reduce_size(bytes_limit=0)
    assert not [*Path(tmp_path).rglob("*.viewhop")]
    embedder(memory).fit(views)
    assert counts.kernels == 3


def test_entries_are_archives_and_no_pickles(tmp_path):
    search(tmp_path, {name: values[:1] for name, values in GRID.items()})
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {path.name for path in files} <= {"entry.viewhop", "lock", ".gitignore"}
    with pytest.raises(vh.errors.ModelFileError):
        vh.load(next(path for path in files if path.name == "entry.viewhop"))


def test_a_damaged_entry_is_computed_again_with_a_warning_at_the_callers_line(tmp_path, counts):
    views, _ = curve()
    expected = embedder(tmp_path).fit(views).transform(views)
    for path in sorted(tmp_path.rglob("entry.viewhop")):
        path.write_bytes(path.read_bytes()[:-5])
    with pytest.warns(CacheWarning, match="computed again") as told:
        est = embedder(tmp_path).fit(views)
    assert [warning.filename for warning in told] == [__file__] * 2  # kernels and eigenpairs
    with pytest.warns(CacheWarning, match="computed again") as told:
        placed = est.transform(views)
    assert [warning.filename for warning in told] == [__file__]
    assert_array_equal(placed, expected)
    KEPT.clear()
    assert_array_equal(embedder(tmp_path).fit(views).transform(views), expected)
    assert (counts.kernels, counts.solves, counts.rows) == (2, 2, 2)


def test_writing_to_a_fitted_attribute_changes_no_other_fit(tmp_path):
    views, _ = curve()
    est = embedder(tmp_path).fit(views)
    expected = est.embedding_.copy(), est.transform(views)
    degrees, scales = est.degrees_["a"].copy(), est.bandwidths_["a"].copy()
    spectrum = est.spectrum_
    for array in (
        est.embedding_,
        est.degrees_["a"],
        est.bandwidths_["a"],
        est.eigenvalues_,
        est.view_embeddings_["a"],
        spectrum.eigenvectors,
        spectrum.stepped,
        spectrum.stationary,
    ):
        if array.flags.writeable:
            array[...] = 7.0
    again = embedder(tmp_path).fit(views)
    assert_array_equal(again.embedding_, expected[0])
    assert_array_equal(again.transform(views), expected[1])
    assert_array_equal(again.degrees_["a"], degrees)
    assert_array_equal(again.bandwidths_["a"], scales)
    views["a"][...] = 3.0  # nor does writing to the training data
    assert_array_equal(again.transform(curve()[0]), expected[1])


def test_rows_of_many_more_samples_than_the_fit_had_are_not_kept(tmp_path, counts):
    views, _ = curve()
    est = embedder(tmp_path).fit(some(views, slice(0, 29)))
    for rows, kept in ((slice(0, 58), 1), (slice(0, 59), 2)):
        first = est.transform(some(views, rows))
        assert_array_equal(est.transform(some(views, rows)), first)
        assert counts.rows == (1 if kept == 1 else 3)


def test_a_rung_that_does_not_converge_leaves_the_pairs_that_were_asked_for(tmp_path, monkeypatch):
    views, _ = curve()
    solve, asked = _stages.solve_multilevel, []

    def limited(walk, r, **more):
        asked.append(r)
        if r > 5:
            raise ConvergenceError("too many")
        return solve(walk, r, **more)

    monkeypatch.setattr(_stages, "solve_multilevel", limited)
    plain = embedder(None, 4).fit(views)
    for _ in range(2):
        est = embedder(tmp_path, 4).fit(views)
        assert_array_equal(est.embedding_, plain.embedding_)
        KEPT.clear()
    assert asked == [4, 20, 4]
    with pytest.raises(ConvergenceError):
        embedder(tmp_path, 20).fit(views)


def test_a_poor_search_is_told_by_every_fit(tmp_path, monkeypatch):
    views, _ = curve()
    monkeypatch.setattr(building, "LEAST_RECALL", 1.5)
    for memory in (None, tmp_path, tmp_path):
        with pytest.warns(RecallWarning) as told:
            embedder(memory).fit(views)
        assert [warning.filename for warning in told] == [__file__] * 3


def test_more_coordinates_than_the_walk_has_are_refused_as_without_memory(tmp_path):
    X = np.random.default_rng(0).normal(size=(8, 2))
    for memory in (None, tmp_path, tmp_path):
        with pytest.raises(ValueError, match="n_components=8 is more than the 7 coordinates"):
            DiffusionMaps(8, memory=memory, kernel="gaussian").fit(X)
        est = DiffusionMaps(5, memory=memory, kernel="gaussian", random_state=0).fit(X)
        assert est.embedding_.shape == (8, 5)


def test_a_model_file_names_no_folder(tmp_path):
    views, _ = curve()
    secret = tmp_path / "hidden-place"
    est = embedder(secret).fit(views)
    model = MultiViewSpectralClustering(2, random_state=0, memory=secret).fit(views)
    for fitted in (est, model):
        fitted.save(tmp_path / "m.viewhop")
        assert b"hidden-place" not in (tmp_path / "m.viewhop").read_bytes()
        again = vh.load(tmp_path / "m.viewhop")
        assert again.memory is None
        method = "transform" if fitted is est else "predict"
        assert_array_equal(getattr(again, method)(views), getattr(fitted, method)(views))


@pytest.mark.parametrize("memory", ["", "cache", 3, ["cache"]])
def test_a_model_file_that_names_a_folder_is_refused(tmp_path, monkeypatch, memory):
    monkeypatch.chdir(tmp_path)
    embedder(None).fit(curve()[0]).save("m.viewhop")
    file = Path("m.viewhop")
    manifest, members = taken_apart(file.read_bytes())
    manifest["model"]["parameters"]["memory"] = memory
    file.write_bytes(put_together(manifest, members))
    with pytest.raises(ModelFileError, match="the parameter memory: expected null, because a mod"):
        vh.load("m.viewhop")
    assert os.listdir() == ["m.viewhop"]


def test_timings_have_every_stage_whether_it_ran_or_not(tmp_path):
    views, _ = curve()
    for _ in range(2):
        est = embedder(tmp_path).fit(views)
        assert set(est.timings_) == {"selection", "kernels", "solve", "extension"}
        assert min(est.timings_.values()) >= 0
    assert est.timings_["selection"] == 0


def test_the_example_of_the_guide_builds_kernels_as_often_as_it_says(tmp_path, counts):
    guide = (Path(__file__).parents[2] / "docs" / "guide.md").read_text(encoding="utf-8")
    (example,) = [b for b in re.findall(r"```python\n(.*?)```", guide, re.DOTALL) if "memory=" in b]
    scope = {"folder": tmp_path}
    exec(example, scope)  # noqa: S102
    assert counts.kernels == 4
    assert scope["search"].best_score_ > 0.8
    assert scope["embedding"].get_params()["memory"] == tmp_path
