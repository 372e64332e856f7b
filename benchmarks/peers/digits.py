"""Clusters of the digits in the package, from six views."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import viewhop as vh
from benchmarks import foreign
from benchmarks.apart import apart
from benchmarks.peers.lines import Peers, measure_repeatedly, plain_row
from benchmarks.peers.scores import describe_score, score_result
from benchmarks.row import Row

__all__ = ["run_digits"]

N_CLUSTERS = 10
#: Those of the library's default kernel.
NEIGHBOURS = 10
BOUND = 0.5


def write_digits(data: str, target: str, n_samples: int) -> dict[str, Any]:
    """Digits of all classes, written to files."""
    digits = vh.datasets.load_mfeat()
    step = len(digits.target) // n_samples  # the digits come class by class
    kept = slice(None, step * n_samples, step)
    np.savez(data, **{f"view{l}": X[kept] for l, X in enumerate(digits.views.arrays)})
    np.save(target, digits.target[kept])
    return {}


def ours(data: str, target: str) -> dict[str, Any]:
    """The library's default clustering."""
    with np.load(data) as stored:
        views = [stored[name] for name in sorted(stored.files)]
    est = vh.MultiViewSpectralClustering(N_CLUSTERS, random_state=0)
    timing = measure_repeatedly(est, views)
    return timing | {"score": score_result({"labels": est.labels_}, np.load(target))}


def run_digits(folder: Path, peers: Peers, n_samples: int) -> Iterator[Row]:
    """The library, snfpy and mvlearn, from six views to labels."""
    data, target = str(folder / "digits.npz"), str(folder / "target.npy")
    apart(write_digits, {"data": data, "target": target, "n_samples": n_samples})
    fit = apart(ours, {"data": data, "target": target})
    label = f"viewhop, clusters of digits, 6 views, M = {n_samples:,} (AMI {fit['score']:.3f})"
    yield plain_row(label, fit)
    out = str(folder / "labels.npz")
    order = {"data": data, "k": NEIGHBOURS, "n_clusters": N_CLUSTERS, "out": out}
    for peer, function, work in (
        ("snfpy", foreign.snfpy, "fusion and spectral clustering of digits"),
        ("mvlearn", foreign.mvlearn, "MultiviewSpectralClustering of digits"),
    ):
        yield from peers.compare(
            peer,
            function,
            order,
            {label: fit},
            work=work,
            at_most=BOUND,
            score=partial(describe_score, out, target),
        )
