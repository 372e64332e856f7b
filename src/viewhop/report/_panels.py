"""Panels: the coordinates of each view, ready to be scaled by the diffusion time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewhop.estimators import DeSaEmbedding, MultiViewDiffusionMaps
from viewhop.report._packing import Pack

__all__ = ["panels"]

Floats = NDArray[np.floating]

#: Bytes that coordinates may take in the page beyond the first three of each view.
COORDINATE_BYTES = 4_000_000


def panels(est: MultiViewDiffusionMaps, pack: Pack) -> dict[str, Any]:
    """The coordinates ψ of every view by row, without λ^t, and what to say of them.

    Parameters
    ----------
    est : fitted estimator
    pack : Pack
    """
    blocks, timed = _blocks(est)
    rows, r = sum(len(block) for block in blocks.values()), est.n_components_
    kept = min(r, max(3, COORDINATE_BYTES // (4 * rows)))
    shown = []
    for l, (name, block) in enumerate(blocks.items()):
        samples = np.arange(len(block))
        if not est.walk_.is_fused and est.walk_.rows.is_repeated(l):
            samples = est.walk_.rows.samples(l)
        placed = np.isfinite(block).all(axis=1)
        samples = samples[placed]
        points = block[placed, :kept].astype(np.float32)
        shown.append(
            {
                "name": name,
                "rows": int(placed.sum()),
                "unplaced": len(est.embedding_) - int(np.unique(samples).size),
                "samples": _packed_samples(samples, len(est.embedding_), pack),
                "coordinates": [pack.put(column) for column in points.T],
            }
        )
    return {
        "list": shown,
        "kept": kept,
        "timed": timed,
        "eigenvalues": [float(value) for value in est.eigenvalues_[:kept]],
        "time": float(est.n_steps_),
        "notes": _notes(est, kept=kept, timed=timed),
    }


def _blocks(est: MultiViewDiffusionMaps) -> tuple[dict[str, Floats], bool]:
    """Coordinates by panel, and whether λ^t multiplies them."""
    if isinstance(est, DeSaEmbedding):
        return dict(est.view_embeddings_), False
    # Not the embeddings over λ^t: for long times that is 0 over 0.
    plain = est._outputs.by_row(0.0)
    is_one = est.walk_.is_fused and est.n_views_ > 1
    names = ("all views",) if is_one else est.view_names_
    return dict(zip(names, plain, strict=True)), True


def _packed_samples(samples: NDArray[np.intp], n_samples: int, pack: Pack) -> dict[str, Any] | None:
    """The sample of each row; None where row k is sample k."""
    if samples.size == n_samples and bool((samples == np.arange(n_samples)).all()):
        return None
    return pack.put(samples.astype(np.uint32))


def _notes(est: MultiViewDiffusionMaps, *, kept: int, timed: bool) -> list[str]:
    notes = []
    if est.walk_.is_fused and est.n_views_ > 1:
        notes.append(
            f"fusion={est.fusion!r} makes one geometry of all views, so there is one panel."
        )
    if not timed:
        notes.append(
            "De Sa's rows are divided by their sum of squares: they have no diffusion time, "
            "so there is no slider."
        )
    if kept < est.n_components_:
        notes.append(
            f"The page holds the first {kept} of {est.n_components_} coordinates, to keep the "
            "file small; the embedding has all of them."
        )
    if est.n_components_ == 1:
        notes.append("There is one coordinate: samples are drawn against their number.")
    return notes
