"""The memory guard: what is left, what is asked for, and the refusal before allocation."""

from __future__ import annotations

import re
import tracemalloc
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from viewhop import MultiViewDiffusionMaps, Views, affinity
from viewhop._runtime import memory
from viewhop.affinity import AffinitySize
from viewhop.errors import DisconnectedWarning, MemoryBudgetError
from viewhop.geometry._memory_plan import FIXED, MemoryPlan
from viewhop.kernels import Gaussian, Precomputed
from viewhop.solvers import solve
from viewhop.walks import HopWalk, hop_matrix

GB = 10**9


@pytest.fixture
def machine(tmp_path):
    """A machine with 16 GiB left, to which files can be added."""

    def write(path, text):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    write(
        "proc/meminfo", "MemTotal:       33554432 kB\nMemFree: 1 kB\nMemAvailable:   16777216 kB\n"
    )
    write.root = tmp_path
    return write


def test_without_a_cgroup_the_machine_counts(machine):
    assert memory.available_bytes(machine.root) == 16 * 2**30


def test_a_cgroup_limit_below_the_machine_counts(machine):
    machine("sys/fs/cgroup/memory.max", f"{3 * 2**30}\n")
    machine("sys/fs/cgroup/memory.current", f"{2**30}\n")
    assert memory.available_bytes(machine.root) == 2 * 2**30


def test_an_old_cgroup_limit_counts_as_well(machine):
    machine("sys/fs/cgroup/memory/memory.limit_in_bytes", f"{2**30}\n")
    machine("sys/fs/cgroup/memory/memory.usage_in_bytes", f"{2**29}\n")
    assert memory.available_bytes(machine.root) == 2**29


def test_a_cgroup_above_the_machine_does_not_count(machine):
    machine("sys/fs/cgroup/memory.max", f"{2**60}\n")
    machine("sys/fs/cgroup/memory.current", "0\n")
    assert memory.available_bytes(machine.root) == 16 * 2**30


def test_a_cgroup_without_a_limit_does_not_count(machine):
    machine("sys/fs/cgroup/memory.max", "max\n")
    machine("sys/fs/cgroup/memory.current", f"{2**30}\n")
    assert memory.available_bytes(machine.root) == 16 * 2**30


def test_an_exhausted_cgroup_leaves_nothing(machine):
    machine("sys/fs/cgroup/memory.max", "1000\n")
    machine("sys/fs/cgroup/memory.current", "3000\n")
    assert memory.available_bytes(machine.root) == 0


@pytest.mark.parametrize("text", ["", "MemTotal: 5 kB\n"])
def test_an_unreadable_machine_is_asked_another_way_or_is_unknown(machine, monkeypatch, text):
    machine("proc/meminfo", text)
    left = memory.available_bytes(machine.root)
    assert left is None or left > 0
    monkeypatch.setattr("os.sysconf_names", {})
    assert memory.available_bytes(machine.root) is None


def test_the_default_budget_is_four_fifths_of_what_is_left(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 1000)
    assert memory.parse_budget(None) == 800
    monkeypatch.setattr(memory, "available_bytes", lambda: None)
    assert memory.parse_budget(None) is None


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (5, 5),
        (2.5e9, 2_500_000_000),
        (np.int64(7), 7),
        ("8GB", 8 * GB),
        ("8 gb", 8 * GB),
        (" 1.5G ", 1_500_000_000),
        ("512 MiB", 512 * 2**20),
        ("2Ti", 2 * 2**40),
        ("3kB", 3000),
        ("64KiB", 65536),
        ("100", 100),
        ("100B", 100),
        ("2.TB", 2 * 10**12),
    ],
)
def test_a_budget_is_bytes_or_text(given, expected):
    assert memory.parse_budget(given) == expected


@pytest.mark.parametrize(
    "given",
    ["", "GB", "8XB", "eight GB", "1.2.3GB", "-1GB", ".", "8iB", "0GB", 0, -5, np.nan, np.inf],
)
def test_what_is_no_budget_is_refused(given):
    with pytest.raises(ValueError, match="max_memory"):
        memory.parse_budget(given)


@pytest.mark.parametrize(
    ("n_bytes", "expected"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1 kB"),
        (1.6e9, "1.6 GB"),
        (8e12, "8 TB"),
        (7.2e13, "72 TB"),
    ],
)
def test_bytes_are_formatted_for_people(n_bytes, expected):
    assert memory.format_bytes(n_bytes) == expected


def test_what_fits_is_allowed_and_what_does_not_is_refused_in_numbers():
    memory.require_bytes(5, 5, what="x", instead="y")
    memory.require_bytes(5, None, what="x", instead="y")
    with pytest.raises(
        MemoryBudgetError, match="x would take 6 bytes, and the budget is 5 bytes; y"
    ) as caught:
        memory.require_bytes(6, 5, what="x", instead="y")
    assert (caught.value.needed, caught.value.budget) == (6, 5)
    assert isinstance(caught.value, MemoryError)


def plan(kernel, n_samples=10_000, n_features=(20, 30), dtype=np.float64, eta=0.0, **how):
    dtype = np.dtype(dtype)
    sizes = [AffinitySize(kernel, n_samples, d, dtype, n_jobs=2) for d in n_features]
    hops = hop_matrix(2, within_view_weight=eta)
    walk = HopWalk.size(n_samples, [n_samples] * 2, hops=hops, is_dense=sizes[0].is_dense)
    rest = {"r": 10, "solver": "auto", "tol": None, "n_jobs": 2}
    return MemoryPlan(kernels=sizes, walk=walk, n_samples=n_samples, dtype=dtype, **(rest | how))


@pytest.mark.parametrize(("dtype", "size"), [(np.float32, 4), (np.float64, 8)])
def test_a_dense_kernel_takes_half_the_square_and_a_neighbour_kernel_nothing_dense(dtype, size):
    dtype = np.dtype(dtype)
    full = plan(Gaussian(), dtype=dtype)
    assert full.is_dense
    assert_allclose(full.full_bytes, 2 * size * 10**8 / 2, rtol=0.08)
    assert full.peak_bytes > full.full_bytes
    near = plan(Gaussian(n_neighbors=9), dtype=dtype)
    assert not near.is_dense
    assert near.full_bytes == 0
    assert near.peak_bytes < full.peak_bytes / 5


@pytest.mark.parametrize("kernel", [Gaussian(), Gaussian("local"), Gaussian(n_neighbors=12)])
def test_more_of_anything_takes_more_memory(kernel):
    plain = plan(kernel).peak_bytes
    assert plan(kernel, 20_000).peak_bytes > 1.9 * plain
    assert plan(kernel, n_features=(4000, 30)).peak_bytes > plain
    assert plan(kernel, eta=0.3).peak_bytes >= plain  # 1/2 has rank one: solved on samples
    assert plan(kernel, r=1000).peak_bytes > plain
    assert plan(kernel, dtype=np.float32).peak_bytes < plain


def test_the_kernels_that_are_given_count_once():
    given = plan(Precomputed()).kernels[0].stored_bytes
    assert given == plan(Gaussian()).full_bytes / 2
    assert plan(Precomputed(n_neighbors=5)).peak_bytes > 3 * 8 * 10**8


@pytest.mark.parametrize(
    ("kernel", "n_samples", "tol", "n_jobs"),
    [
        (Gaussian(), 3000, None, 2),
        # Two threads rank two panels of distances, or make two neighbour kernels, at once; whether
        # their peaks meet is chance.
        (Gaussian("local"), 3000, 1e-3, 1),
        (Gaussian(n_neighbors=15), 30_000, None, 1),
        (Gaussian("local", n_neighbors=15), 30_000, 1e-3, 1),
    ],
)
@pytest.mark.parametrize(
    "walk",
    [{"within_view_weight": 0.0}, {}, {"fusion": "concat"}],
    ids=["paper", "weighted", "concat"],
)
def test_the_estimate_is_within_a_quarter_of_what_is_allocated(
    kernel, n_samples, tol, n_jobs, walk
):
    rng = np.random.default_rng(0)
    u = rng.uniform(0, 1, (n_samples, 3))
    X = [np.sin(u @ rng.standard_normal((3, 20)) * 2) for _ in range(2)]
    how = {"kernel": kernel, "tol": tol, "n_jobs": n_jobs, **walk}
    est = MultiViewDiffusionMaps(10, random_state=0, **how)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedWarning)
        tracemalloc.start()
        try:
            est.fit(X)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    expected = est.memory_ - FIXED  # what Python does not trace
    assert 0.75 * peak < expected < 1.25 * peak, (expected / peak, est.solver_)


@pytest.mark.parametrize("fusion", ["hop", "sum", "product", "concat"])
def test_a_million_samples_dense_are_refused_before_anything_is_allocated(fusion):
    # One row, seen a million times: the views themselves take no memory either.
    X = np.broadcast_to(np.float64(1.0), (10**6, 1))
    views = Views({"a": X, "b": X})
    est = MultiViewDiffusionMaps(kernel="gaussian", fusion=fusion, max_memory="64GB")
    tracemalloc.start()
    try:
        with pytest.raises(MemoryBudgetError, match="1,000,000 samples in 2 views") as caught:
            est.fit(views)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 50e6
    copies = 3 if fusion in ("product", "concat") else 2
    assert_allclose(caught.value.needed, copies * 4 * 10**12, rtol=0.01)
    assert caught.value.budget == 64 * GB
    message = str(caught.value)
    assert re.search(rf"would take {4 * copies}(\.\d+)? TB, and the budget", message)
    assert "64 GB" in message
    assert "n_neighbors" in message


# A walk with view weights is solved between samples: with 700, by LAPACK.
@pytest.mark.parametrize(
    ("walk", "n_samples", "budget", "n_columns"),
    [({"within_view_weight": 0.0}, 700, "2MB", 4), ({}, 1200, "4MB", 2)],
    ids=["paper", "weighted"],
)
def test_neighbour_kernels_need_no_dense_budget(walk, n_samples, budget, n_columns):
    X = np.random.default_rng(0).normal(size=(n_samples, 3))
    est = MultiViewDiffusionMaps(max_memory=budget, random_state=0, **walk).fit([X, X])
    assert est.embedding_.shape == (n_samples, n_columns)
    message = f"{n_samples:,} samples in 2 views with dense kernels"
    with pytest.raises(MemoryBudgetError, match=message):
        est.set_params(kernel="gaussian").fit([X, X])


def test_what_is_too_much_for_the_solver_is_refused_before_kernels_are_made():
    X = np.random.default_rng(0).normal(size=(700, 3))
    with pytest.raises(MemoryBudgetError, match="a fit of 700 samples in 2 views would take"):
        MultiViewDiffusionMaps(2, max_memory="2MB", random_state=0).fit([X, X])


def test_pairs_of_equal_rows_are_counted_during_the_search():
    # Ties are all kept, so few distinct rows store nearly all pairs.
    X = np.random.default_rng(0).integers(0, 2, (1500, 2)).astype(float)
    with pytest.raises(MemoryBudgetError, match="pairs of neighbours in view 'view1'"):
        MultiViewDiffusionMaps(2, max_memory="10MB").fit([X, X])


@pytest.mark.parametrize(
    "walk",
    [
        pytest.param({"within_view_weight": 0.0}, id="paper"),
        pytest.param({"joint_view": False}, id="weighted"),
        pytest.param({}, id="joint"),
    ],
)
def test_the_dense_solver_is_counted(walk):
    X = np.random.default_rng(0).standard_normal((180, 3))
    est = MultiViewDiffusionMaps(2, solver="dense", max_memory="1MB", **walk)
    with pytest.raises(MemoryBudgetError, match="a fit of 180 samples in 2 views would take"):
        est.fit([X, X**3])
    assert plan(Gaussian(n_neighbors=9), solver="dense").peak_bytes > 5 * 8 * 20_000**2
    walk = HopWalk(
        [affinity.build_affinity("x", Gaussian(), X, generator=np.random.default_rng(0))] * 2
    )
    with pytest.raises(MemoryBudgetError, match="the dense solver on 360 nodes"):
        solve(walk, 2, solver="dense", allowed=10**6)
