"""Panels: the coordinates of each view, which the page scales by the diffusion time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewhop.geometry import Geometry, PieceCoordinates
from viewhop.report._fitted_parts import FittedParts
from viewhop.report._packing import Pack
from viewhop.report._piece_panels import SolvedPieces

__all__ = ["build_panels"]

Floats = NDArray[np.floating]

#: Bytes that coordinates may take in the page beyond the first three of each view.
COORDINATE_BYTES = 4_000_000


def build_panels(
    parts: FittedParts, pack: Pack, pieces: SolvedPieces | None = None
) -> dict[str, Any]:
    """The coordinates ψ of every view by row, without λ^t, and notes on them.

    Parameters
    ----------
    parts : FittedParts
    pack : Pack
        Gets the coordinates.
    pieces : dict of PieceCoordinates by number, or None
        Pieces that have panels of their own.
    """
    geometry, blocks = parts.geometry, parts.blocks
    n_rows = sum(len(block) for block in blocks.values()) * (2 if pieces else 1)
    kept = min(geometry.n_components, max(3, COORDINATE_BYTES // (4 * n_rows)))
    return {
        "list": [
            _panel(geometry, l, name, block[:, :kept], pack)
            for l, (name, block) in enumerate(blocks.items())
        ],
        "pieces": [
            _piece_panels(geometry, [*blocks], number, piece, kept, pack)
            for number, piece in (pieces or {}).items()
        ],
        "kept": kept,
        "timed": geometry.is_timed,
        "eigenvalues": [float(value) for value in geometry.spectrum.eigenvalues[:kept]],
        "time": float(geometry.n_steps),
        "notes": _notes(parts, kept=kept),
    }


def _panel(geometry: Geometry, view: int, name: str, block: Floats, pack: Pack) -> dict[str, Any]:
    """The points of one view; rows with NaN have none."""
    rows, samples = geometry.walk.rows, np.arange(len(block))
    if not geometry.walk.is_fused and rows.is_repeated(view):
        samples = rows.samples(view)
    is_placed = np.isfinite(block).all(axis=1)
    samples = samples[is_placed]
    total = geometry.n_samples
    return {
        "name": name,
        "rows": int(is_placed.sum()),
        "total": total,
        "unplaced": total - int(np.unique(samples).size),
        "samples": _pack_samples(samples, geometry.n_samples, pack),
        "coordinates": [pack.put(column) for column in block[is_placed].astype(np.float32).T],
    }


def _piece_panels(
    geometry: Geometry,
    names: list[str],
    number: int,
    piece: PieceCoordinates,
    kept: int,
    pack: Pack,
) -> dict[str, Any]:
    """The panels of one piece; coordinates that it lacks are 0."""
    missing = max(0, kept - piece.eigenvalues.size)
    blocks = [
        np.hstack([block[:, :kept], 0.0 * block[:, :1].repeat(missing, axis=1)])
        for block in piece.blocks
    ]
    return {
        "name": f"piece {number + 1}: {piece.samples.size:,} samples",
        "eigenvalues": [float(value) for value in piece.eigenvalues[:kept]] + [0.0] * missing,
        "list": [
            _panel(geometry, l, name, block, pack) | _count_missing(geometry, l, piece)
            for l, (name, block) in enumerate(zip(names, blocks, strict=True))
        ],
    }


def _count_missing(geometry: Geometry, view: int, piece: PieceCoordinates) -> dict[str, int]:
    """Samples of a piece, and those of them that a view did not observe."""
    observed = geometry.observed[piece.samples]
    unplaced = 0 if geometry.walk.is_fused else int((~observed[:, view]).sum())
    return {"total": int(piece.samples.size), "unplaced": unplaced}


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
    if geometry.walk.remark:
        notes.append(geometry.walk.remark)
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
