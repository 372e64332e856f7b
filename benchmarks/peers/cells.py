"""Cells with two modalities, RNA and proteins.

It is measured twice: on all genes, and on the components of the RNA. UMAP gets the same side by
side. muon's graph needs the components; computing them is not counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import viewhop as vh
from benchmarks import foreign
from benchmarks.apart import apart
from benchmarks.data import N_CELL_TYPES, cell_views
from benchmarks.peers.lines import Peers, measure_repeatedly, plain_row
from benchmarks.peers.scores import describe_score, score_result
from benchmarks.row import Row

__all__ = ["run_cells"]

R = N_CELL_TYPES - 1
#: Those of the library's default kernel.
NEIGHBOURS = 10
N_COMPONENTS = 50
WNN_BOUND, UMAP_BOUND = 0.5, 1.0


def write_cells(folder: str, n_samples: int) -> dict[str, Any]:
    """Files of both modalities, of the components with the proteins, and of each side by side.

    Side by side, each modality has a total variance of 1.
    """
    from sklearn.decomposition import PCA

    rna, proteins, target = cell_views(n_samples)
    start = perf_counter()
    components = PCA(N_COMPONENTS, random_state=0).fit_transform(rna)
    seconds = perf_counter() - start
    for name, first in (("features", rna), ("components", components)):
        np.savez(Path(folder, f"{name}.npz"), view0=first, view1=proteins)
        centred = [X - X.mean(axis=0) for X in (first, proteins)]
        beside = [X / np.sqrt(np.square(X).sum(axis=1).mean()) for X in centred]
        np.save(Path(folder, f"{name}.npy"), np.hstack(beside))
    np.save(Path(folder, "target.npy"), target)
    return {"seconds_of_components": seconds}


def ours(data: str, target: str) -> dict[str, Any]:
    """The library with its defaults."""
    with np.load(data) as stored:
        views = [stored[name] for name in sorted(stored.files)]
    est = vh.MultiViewDiffusionMaps(R, random_state=0)
    timing = measure_repeatedly(est, views)
    return timing | {"score": score_result({"embedding": est.embedding_}, np.load(target))}


def run_cells(folder: Path, peers: Peers, n_samples: int) -> Iterator[Row]:
    """The library, muon and UMAP, from features or components to a graph or coordinates."""
    written = apart(write_cells, {"folder": str(folder), "n_samples": n_samples})
    target, out = str(folder / "target.npy"), str(folder / "result.npz")
    inputs = {
        "features": "all genes and proteins",
        "components": f"{N_COMPONENTS} components and proteins",
    }
    fits = {}
    for name, text in inputs.items():
        fit = apart(ours, {"data": str(folder / f"{name}.npz"), "target": target})
        label = f"viewhop, cells, {text}, M = {n_samples:,}, r = {R} (AMI {fit['score']:.3f})"
        fits[label] = fit
        yield plain_row(label, fit)
    spent = f"from components, {written['seconds_of_components']:.1f} s, not counted"
    order = {"k": NEIGHBOURS, "out": out}
    score = partial(describe_score, out, target)
    yield from peers.compare(
        "muon",
        foreign.wnn,
        order | {"data": str(folder / "components.npz")},
        fits,
        work=f"cells, WNN graph {spent}",
        at_most=WNN_BOUND,
        score=score,
    )
    for (label, fit), name in zip(fits.items(), inputs, strict=True):
        yield from peers.compare(
            "umap-learn",
            foreign.umap,
            order | {"data": str(folder / f"{name}.npy"), "r": R},
            {label: fit},
            work=f"cells, {inputs[name]}, side by side",
            at_most=UMAP_BOUND,
            score=score,
        )
