"""Other packages beside this library, each on work that both do.

A short fit is repeated, and the fastest counts, on both sides. The result of a line of the library
is its seconds as a share of those of the peer above it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.apart import ApartError
from benchmarks.peers.all_pairs import run_all_pairs
from benchmarks.peers.cells import run_cells
from benchmarks.peers.digits import run_digits
from benchmarks.peers.environments import ENVIRONMENTS
from benchmarks.peers.lines import NAIVE, Peers
from benchmarks.peers.neighbours import run_neighbours
from benchmarks.row import Row

TITLE = "Peers: one view of a cube, six views of digits, and cells with two modalities"
FULL: dict[str, Any] = {
    "all_pairs": [5000, 10_000, 20_000],
    "neighbours": [5000, 20_000, 100_000],
    "n_digits": 2000,
    "n_cells": 10_000,
    "names": [*ENVIRONMENTS, NAIVE],
    "has_environments": True,
    "solver": "amg",
    "limit": 900.0,
}
#: Peers that the library's own environment has, so that nothing is installed.
SMALL: dict[str, Any] = {
    "all_pairs": [600],
    "neighbours": [600],
    "n_digits": 200,
    "n_cells": 300,
    "names": ["scikit-learn", NAIVE],
    "has_environments": False,
    "solver": "lobpcg",
    "limit": 60.0,
}


def run(
    *,
    all_pairs: list[int],
    neighbours: list[int],
    n_digits: int,
    n_cells: int,
    names: list[str],
    has_environments: bool,
    solver: str,
    limit: float,
) -> Iterator[Row]:
    """All lines; what fails is a row, and the others go on.

    Parameters
    ----------
    all_pairs, neighbours : list of int
        Numbers of samples of the cube. The whole matrix is solved at the first only.
    n_digits, n_cells : int
    names, has_environments, limit
        As in `Peers`.
    solver : str
        Eigensolver of scikit-learn.
    """
    peers = Peers(tuple(names), has_environments, limit)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for n in all_pairs:
            rows = run_all_pairs(folder, peers, n, has_naive=n == all_pairs[0])
            yield from _end_with_error(f"all pairs, M = {n:,}", rows)
        for n in neighbours:
            rows = run_neighbours(folder, peers, n, solver=solver)
            yield from _end_with_error(f"neighbours, M = {n:,}", rows)
        yield from _end_with_error("digits", run_digits(folder, peers, n_digits))
        yield from _end_with_error("cells", run_cells(folder, peers, n_cells))


def _end_with_error(work: str, rows: Iterator[Row]) -> Iterator[Row]:
    """The rows, and an error of the library as the last one."""
    try:
        yield from rows
    except ApartError as error:
        yield Row(f"viewhop, {work}", error=str(error))
