"""A whole sparse fit against the neighbour search alone: faiss IVF, tuned by this benchmark.

The default walk also has a kernel of both views side by side, so its reference searches for those
neighbours as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.apart import ApartError, apart
from benchmarks.data import cube_views
from benchmarks.fits import NEIGHBOURS, WALKS, sparse_fit
from benchmarks.ivf import LEAST_RECALL, search_all, tune_lists
from benchmarks.profile import SOLVE, profile
from benchmarks.references import first_touch
from benchmarks.row import Row, ratio, size

TITLE = "Sparse kernels: two views of a cube, many samples"
FULL: dict[str, Any] = {
    "n_samples": 1_000_000,
    "n_lists": [1000, 2000, 4000],
    "n_queries": 50_000,
    "memory": {"default walk": 12_000_000_000, "η = 0": 12_000_000_000},
}
SMALL: dict[str, Any] = {
    "n_samples": 6000,
    "n_lists": [50, 100],
    "n_queries": 2000,
    "memory": {"default walk": 340_000_000, "η = 0": 300_000_000},
}

R = 10
TOL = 1e-4


def lists_of(n_samples: int) -> list[np.ndarray]:
    """What is searched: both views, and the two side by side."""
    views = cube_views(n_samples)
    return [*views, np.hstack(views)]


def tune(n_samples: int, n_lists: list[int], n_queries: int) -> dict[str, Any]:
    """Lists and probes of the fastest search of the first view, and of both side by side."""
    first, _, joint = lists_of(n_samples)
    return {
        "view": tune_lists(first, NEIGHBOURS, n_lists, n_queries),
        "joint": tune_lists(joint, NEIGHBOURS, n_lists, n_queries),
    }


def search(n_samples: int, view: list[int], joint: list[int]) -> dict[str, Any]:
    """The search of both views, "seconds", and of what is side by side, "joint"."""
    *views, beside = lists_of(n_samples)
    found = [search_all(X, NEIGHBOURS, *view) for X in views]
    found.append(search_all(beside, NEIGHBOURS, *joint))
    return {
        "seconds": sum(each["seconds"] for each in found[:-1]),
        "joint": found[-1]["seconds"],
        "recall": min(each["recall"] for each in found),
    }


def profiled_fit(n_samples: int, walk: str) -> dict[str, Any]:
    """A fit, with the seconds of the parts of its solve."""
    with profile(SOLVE) as parts:
        result = sparse_fit(n_samples, 2, R, TOL, walk)
    return result | {"parts": parts}


def run(
    *, n_samples: int, n_lists: list[int], n_queries: int, memory: dict[str, int]
) -> Iterator[Row]:
    """The search before and after the fit, the faster of which is the reference, and the fit.

    Parameters
    ----------
    n_samples, n_lists, n_queries
        Size of the data, and what the search is tuned over.
    memory : dict of int
        Most bytes of the process by walk, imports included. The default walk has three kernels
        where the other has two.
    """
    searches = []
    try:
        choice = apart(tune, {"n_samples": n_samples, "n_lists": n_lists, "n_queries": n_queries})
        order = {"n_samples": n_samples} | {key: choice[key] for key in ("view", "joint")}
        searches.append(apart(search, order))
    except ApartError as error:
        yield Row("faiss IVF search of both views", error=str(error), ours=False)
    n_bytes = max(memory.values()) // 2
    touched = apart(first_touch, {"n_bytes": n_bytes})
    yield Row(f"first touch of {n_bytes / 1e9:.3g} GB, before the fit", touched["seconds"])
    results = {walk: apart(profiled_fit, {"n_samples": n_samples, "walk": walk}) for walk in WALKS}
    best = None
    if searches:
        searches.append(apart(search, order))
        best = min(searches, key=lambda result: result["seconds"] + result["joint"])
        (n_lists, n_probes), (n_joint, joint_probes) = order["view"], order["joint"]
        yield Row(
            f"faiss IVF search of both views, {n_lists:,} lists, {n_probes} probes",
            best["seconds"],
            best["recall"],
            "recall",
            at_least=LEAST_RECALL,
            timed=False,
            peak=best["peak"],
            at_import=best["at_import"],
            ours=False,
        )
        yield Row(
            f"of the two side by side, {n_joint:,} lists, {joint_probes} probes",
            best["joint"],
            ours=False,
        )
    for walk, result in results.items():
        yield from _describe(walk, n_samples, result, best, memory[walk])


def _describe(
    walk: str,
    n_samples: int,
    result: dict[str, Any],
    searched: dict[str, Any] | None,
    memory: int,
) -> Iterator[Row]:
    """The rows of a fit beside the search."""
    work = f"whole fit, {walk}, M = {n_samples:,}, L = 2, D = 50, k = {NEIGHBOURS}, r = {R}, "
    work += (
        f"residual ≤ {result['residual']:.0e} λ, {result['solver']}, "
        f"{result['n_products']:,} columns"
    )
    if searched is None:
        yield Row(work, result["seconds"], peak=result["peak"], at_import=result["at_import"])
    else:
        seconds, what = searched["seconds"], "the search of both views"
        if walk == "default walk":
            seconds, what = seconds + searched["joint"], "all three searches"
        yield ratio(work, result, seconds, what, at_most=2.2)
    yield Row("of this, the kernels, with the neighbour search", result["kernels"])
    yield Row("of this, the solve", result["solve"])
    for part, seconds in result["parts"].items():
        yield Row(f"in it, {part}", seconds)
    yield size("peak memory of the process", result["peak"], at_most=memory)
    yield Row(
        "recall of the neighbours in the fit",
        value=result["recall"],
        at_least=LEAST_RECALL,
        timed=False,
    )
