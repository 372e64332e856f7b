"""The map panel: one point for each sample, from a layout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from viewhop._runtime.progress import Progress
from viewhop.geometry import Geometry, Layout, PieceCoordinates, add_pieces, lay_out
from viewhop.report._packing import Pack

__all__ = ["build_map", "choose_layout"]

#: With more samples, a report waits for no map: placing them would take minutes.
MOST_SAMPLES = 200_000
#: Positions are whole numbers up to this one: zoomed in a hundred times, a step is a pixel or two.
LEVELS = 2**16 - 1


def choose_layout(
    layout: Layout | Literal[False] | None,
    geometry: Geometry,
    *,
    pieces: Sequence[PieceCoordinates] = (),
    progress: Progress,
) -> tuple[Layout | None, str]:
    """The layout that the page shows, or None, and a note on it.

    Parameters
    ----------
    layout : Layout, False or None
        As in `viewhop.report.render`.
    geometry : Geometry
    pieces : sequence of PieceCoordinates
        The solved pieces of a walk in pieces. A map of the coordinates of the fit would scatter the
        samples of a piece at random, because they are equal; so those of the pieces are added.
    progress : callable
    """
    if layout is False:
        return None, ""
    inside = ""
    if layout is None:
        if geometry.n_samples > MOST_SAMPLES:
            return None, (
                f"There is no map, because a map of more than {MOST_SAMPLES:,} samples takes "
                "minutes; pass layout=viewhop.lay_out(…) for one."
            )
        layout = lay_out(add_pieces(geometry, pieces) if pieces else geometry, progress=progress)
        inside = ", and of those inside the pieces" if pieces else ""
    if layout.method == "coordinates":
        return layout, f"The first panel shows the first two coordinates: {layout.note}."
    more = f" On it, {layout.note}." if layout.note else ""
    return layout, (
        f"The map is a t-SNE of all coordinates{inside}, at the diffusion time of the fit. It "
        "shows which samples are near each other; its axes and the distances between groups have "
        "no meaning, "
        f"and the slider does not move it.{more}"
    )


def build_map(layout: Layout | None, pack: Pack) -> dict[str, Any] | None:
    """The map as a panel without axes; None without a layout.

    Parameters
    ----------
    layout : Layout or None
    pack : Pack
        Gets the positions.
    """
    if layout is None:
        return None
    name = "Map of all samples"
    if layout.method == "coordinates":
        name = f"First two coordinates: {layout.note}"
    positions = np.asarray(layout.positions, dtype=np.float64)
    low, reach = positions.min(axis=0), float(np.ptp(positions, axis=0).max())
    return {
        "name": name,
        "method": layout.method,
        "rows": len(positions),
        "total": len(positions),
        "unplaced": 0,
        "samples": None,
        "low": [float(value) for value in low],
        "step": reach / LEVELS,
        "positions": [pack.put(column) for column in _levels(positions - low, reach).T],
    }


def _levels(offsets: NDArray[np.float64], reach: float) -> NDArray[np.uint16]:
    """Offsets as whole numbers, with the largest reach as the last one."""
    shares = offsets / reach if reach > 0 else offsets
    return np.rint(shares * LEVELS).astype(np.uint16)
