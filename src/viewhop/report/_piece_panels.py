"""Pieces: what the page says about a walk in pieces, and the coordinates inside each of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from viewhop._runtime.progress import Progress
from viewhop.errors import ConvergenceError
from viewhop.geometry import (
    Geometry,
    PieceCoordinates,
    piece_coordinates,
    piece_sizes,
    ways_to_join,
)

__all__ = ["SolvedPieces", "describe_pieces", "solve_pieces"]

#: Pieces that have panels of their own, and the samples that such a piece has at least.
MOST_PIECES, FEWEST_SAMPLES = 6, 10
#: Bytes that the pieces may take in the page, for three coordinates and the number of each node.
PIECE_BYTES = 2_000_000
#: With more nodes, a report waits for no pieces: solving them would take minutes.
MOST_NODES = 400_000
#: Coordinates inside a piece, for the map, where the fit has fewer.
FEWEST_COORDINATES = 3
#: Residual of the eigenpairs, relative to the eigenvalue: the page shows four digits.
TOLERANCE = 1e-6
#: Sizes of pieces that are listed.
LISTED = 8

#: The solved pieces by their number.
SolvedPieces = dict[int, PieceCoordinates]


def solve_pieces(geometry: Geometry, *, progress: Progress) -> SolvedPieces:
    """The coordinates inside the largest pieces of a walk; none if it is connected.

    Parameters
    ----------
    geometry : Geometry
    progress : callable
    """
    walk = geometry.walk
    has_pieces = geometry.record.n_pieces > 1 and geometry.is_timed and walk.is_markov
    if not has_pieces or walk.n_nodes > MOST_NODES:
        return {}
    sizes = piece_sizes(geometry)
    large = np.flatnonzero(sizes >= FEWEST_SAMPLES)[:MOST_PIECES]
    n_views = 1 if walk.is_fused else len(walk.affinities)
    large = large[np.cumsum(sizes[large]) * n_views * 16 <= PIECE_BYTES]
    solved: SolvedPieces = {}
    for done, piece in enumerate(large.tolist()):
        progress("pieces", done, large.size)
        try:
            solved[piece] = piece_coordinates(
                geometry,
                piece,
                n_components=max(geometry.n_components, FEWEST_COORDINATES),
                n_steps=0.0,
                tol=TOLERANCE,
            )
        except (ConvergenceError, ValueError):
            continue  # the page says which pieces have panels
    progress("pieces", large.size, large.size)
    return solved


def describe_pieces(geometry: Geometry, solved: SolvedPieces) -> dict[str, Any] | None:
    """What the page says above the panels of a walk in pieces; None if it is connected.

    Parameters
    ----------
    geometry : Geometry
    solved : dict of PieceCoordinates by number
    """
    n_pieces = geometry.record.n_pieces
    if n_pieces == 1:
        return None
    sizes = piece_sizes(geometry)
    listed = [f"{size:,}" for size in sizes[:LISTED]]
    listed += ["fewer"] if n_pieces > LISTED else []
    text = f"The walk falls into {n_pieces:,} pieces, of {_enumerate(listed)} samples. "
    if geometry.walk.is_markov:
        text += (
            f"The first {n_pieces - 1:,} coordinates of all samples only tell the pieces apart: "
            "samples of a piece lie on top of each other, and distances between pieces have no "
            "meaning."
        )
    else:
        text += "Each coordinate is about one piece, and 0 for the samples of the others."
    if solved:
        text += " The panels below show one piece at a time, with coordinates of its own."
        if len(solved) < n_pieces:
            text += f" There are panels for {len(solved)} of them, the largest."
    ways = ", or ".join(ways_to_join(geometry.walk))
    ways = ways.replace("connect=True", "connect=True (--connect on the command line)")
    return {"text": text, "ways": f"To join the pieces, {ways}."}


def _enumerate(words: list[str]) -> str:
    """Words with commas between them, and the last two with "and"."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
