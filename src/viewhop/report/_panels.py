"""Panels: the coordinates of each view, which the page scales by the diffusion time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewhop.report._fitted_parts import FittedParts
from viewhop.report._packing import Pack

__all__ = ["build_panels"]

#: Bytes that coordinates may take in the page beyond the first three of each view.
COORDINATE_BYTES = 4_000_000


def build_panels(parts: FittedParts, pack: Pack) -> dict[str, Any]:
    """The coordinates ψ of every view by row, without λ^t, and notes on them.

    Parameters
    ----------
    parts : FittedParts
    pack : Pack
        Gets the coordinates.
    """
    geometry, blocks = parts.geometry, parts.blocks
    n_rows = sum(len(block) for block in blocks.values())
    kept = min(geometry.n_components, max(3, COORDINATE_BYTES // (4 * n_rows)))
    rows = geometry.walk.rows
    panels = []
    for l, (name, block) in enumerate(blocks.items()):
        samples = np.arange(len(block))
        if not geometry.walk.is_fused and rows.is_repeated(l):
            samples = rows.samples(l)
        is_placed = np.isfinite(block).all(axis=1)
        samples = samples[is_placed]
        points = block[is_placed, :kept].astype(np.float32)
        panels.append(
            {
                "name": name,
                "rows": int(is_placed.sum()),
                "unplaced": geometry.n_samples - int(np.unique(samples).size),
                "samples": _pack_samples(samples, geometry.n_samples, pack),
                "coordinates": [pack.put(column) for column in points.T],
            }
        )
    return {
        "list": panels,
        "kept": kept,
        "timed": geometry.is_timed,
        "eigenvalues": [float(value) for value in geometry.spectrum.eigenvalues[:kept]],
        "time": float(geometry.n_steps),
        "notes": _notes(parts, kept=kept),
    }


def _pack_samples(samples: NDArray[np.intp], n_samples: int, pack: Pack) -> dict[str, Any] | None:
    """The sample of each row; None where row k is sample k."""
    if samples.size == n_samples and bool((samples == np.arange(n_samples)).all()):
        return None
    return pack.put(samples.astype(np.uint32))


def _notes(parts: FittedParts, *, kept: int) -> list[str]:
    geometry, notes = parts.geometry, []
    if parts.has_one_panel:
        notes.append(
            f"fusion={geometry.walk.fusion!r} gives all views one geometry, so there is one panel."
        )
    if not geometry.is_timed:
        notes.append(
            "De Sa's rows are divided by their sum of squares and have no diffusion time, so there "
            "is no slider."
        )
    if kept < geometry.n_components:
        notes.append(
            f"The page holds the first {kept} of {geometry.n_components} coordinates, to keep the "
            "file small; the embedding has all of them."
        )
    if geometry.n_components == 1:
        notes.append("There is one coordinate: it is plotted against the sample number.")
    return notes
