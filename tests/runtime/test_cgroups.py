"""The cgroup of a process that is not the root: a service, a batch job, a slice of a container."""

from __future__ import annotations

import numpy as np
import pytest

from viewhop import MultiViewDiffusionMaps
from viewhop._runtime import memory
from viewhop.errors import MemoryBudgetError

GIB = 2**30
V1, V2 = "sys/fs/cgroup/memory", "sys/fs/cgroup"


@pytest.fixture
def machine(tmp_path):
    """A machine with 16 GiB left, to which files can be added."""

    def write(path, text):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n")

    write("proc/meminfo", "MemAvailable:   16777216 kB")
    write.root = tmp_path
    return write


def limit(machine, folder, most, used):
    old = folder.startswith(V1)
    machine(f"{folder}/{'memory.limit_in_bytes' if old else 'memory.max'}", most)
    machine(f"{folder}/{'memory.usage_in_bytes' if old else 'memory.current'}", used)


@pytest.mark.parametrize("group", ["job", "system.slice/batch.service", "a/b/c"])
def test_the_limit_of_the_own_cgroup_counts(machine, group):
    machine("proc/self/cgroup", f"0::/{group}")
    limit(machine, f"{V2}/{group}", 3 * GIB, GIB)
    assert memory.available_bytes(machine.root) == 2 * GIB


def test_the_limit_of_a_group_above_counts(machine):
    machine("proc/self/cgroup", "0::/user.slice/session.scope")
    limit(machine, f"{V2}/user.slice/session.scope", "max", GIB)
    limit(machine, f"{V2}/user.slice", 4 * GIB, 3 * GIB)
    assert memory.available_bytes(machine.root) == GIB


def test_the_smallest_of_several_limits_counts(machine):
    machine("proc/self/cgroup", "0::/a/b")
    limit(machine, V2, 9 * GIB, 0)
    limit(machine, f"{V2}/a", 8 * GIB, 0)
    limit(machine, f"{V2}/a/b", 7 * GIB, 0)
    assert memory.available_bytes(machine.root) == 7 * GIB


def test_the_old_hierarchy_of_memory_counts(machine):
    machine("proc/self/cgroup", "5:cpu:/other\n4:hugetlb,memory:/slurm/job_7\n0::/")
    limit(machine, f"{V1}/slurm/job_7", 2 * GIB, GIB)
    limit(machine, f"{V1}/other", GIB // 4, 0)
    assert memory.available_bytes(machine.root) == GIB


def test_a_group_that_cannot_be_read_is_passed_over(machine):
    machine("proc/self/cgroup", "0::/gone\nnonsense\n")
    assert memory.available_bytes(machine.root) == 16 * GIB


def test_a_fit_is_refused_by_the_limit_of_its_cgroup(machine, monkeypatch):
    machine("proc/self/cgroup", "0::/job")
    limit(machine, f"{V2}/job", 41_000_000, 1_000_000)
    here = memory.available_bytes
    monkeypatch.setattr(memory, "available_bytes", lambda: here(machine.root))
    X = np.random.default_rng(0).normal(size=(4000, 3))
    with pytest.raises(MemoryBudgetError, match="the budget is 32 MB") as caught:
        MultiViewDiffusionMaps(2, kernel="gaussian").fit([X, X])
    assert caught.value.budget == 32_000_000
