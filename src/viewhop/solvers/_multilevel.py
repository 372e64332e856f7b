"""Multilevel solving: the walk on a few samples gives the start for the walk on all.

The eigenvectors of a coarse walk approximate the wanted ones, and an iteration that starts from
them needs fewer products with the kernels. For full kernels, a seeded subset represents all
samples, and the extension carries its eigenvectors over to them. For neighbour kernels, a subset
would be disconnected, so neighbouring samples are merged instead, level by level, until few remain.
These levels also give an order in which neighbours are adjacent, which makes better use of the
cache.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from viewhop._runtime.progress import Progress, no_progress
from viewhop._runtime.threads import map_threads
from viewhop.affinity import Affinity
from viewhop.errors import ConvergenceError
from viewhop.solvers._solve import (
    is_solved_on_hub,
    resolve_auto,
    resolve_solver,
    solve,
    solve_on_hub,
)
from viewhop.spectrum import Spectrum
from viewhop.views import RowMap
from viewhop.walks import Step, Walk

__all__ = ["merge_samples", "solve_multilevel"]

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]


class Level(NamedTuple):
    """A coarser level: merged samples and the kernels between them.

    Attributes
    ----------
    label : (n,) index array
        The merged sample that each sample of the finer level belongs to.
    kernels : list of Affinity
        One per kernel of the walk, between the merged rows.
    rows : RowMap
        Which merged samples these rows belong to.
    """

    label: Labels
    kernels: Sequence[Affinity]
    rows: RowMap


#: Below this many samples, a coarse start costs more than it saves.
LEAST_SAMPLES = 4000
#: For full kernels, one in this many samples is drawn, within these limits.
SHARE = 16
FEWEST, MOST = 500, 2000
#: Residual, relative to the eigenvalue, to which a subset is solved.
TOLERANCE = 1e-2
#: For neighbour kernels, the number of samples merged into one, and the residual to which a level
#: is solved: smaller than the gaps between eigenvalues, which are narrow.
MERGED = 8
MERGED_TOLERANCE = 1e-3


def solve_multilevel(
    walk: Walk,
    r: int,
    *,
    solver: Any = "auto",
    tol: float | None = None,
    pieces: Labels | None = None,
    generator: np.random.Generator | None = None,
    known: Spectrum | None = None,
    progress: Progress = no_progress,
    allowed: int | None = None,
) -> Spectrum:
    """The `r` largest eigenpairs of a walk, without the trivial one, from a coarse start.

    Parameters
    ----------
    walk, r, solver, tol, pieces, generator, progress, allowed
        As in `viewhop.solvers.solve`. Only block Krylov on many samples uses a coarse start.
    known : Spectrum or None
        Pairs that are already known, which replace the coarse start.
    """
    generator = np.random.default_rng(0) if generator is None else generator
    start = None if known is None else known.eigenvectors
    if is_solved_on_hub(walk, solver):
        return solve_on_hub(
            walk,
            pieces,
            start,
            lambda hub, pieces, start: _solve_levels(
                hub, r, solver, tol, pieces, generator, start, progress, allowed
            ),
        )
    return _solve_levels(walk, r, solver, tol, pieces, generator, start, progress, allowed)


def _solve_levels(
    walk: Walk,
    r: int,
    solver: Any,
    tol: float | None,
    pieces: Labels | None,
    generator: np.random.Generator,
    start: Floats | None,
    progress: Progress,
    allowed: int | None,
) -> Spectrum:
    """As `solve_multilevel`, for the walk that is solved and guesses of its eigenvectors."""
    is_auto = isinstance(solver, str) and solver == "auto"
    method = resolve_auto(walk, r, tol) if is_auto else resolve_solver(solver)

    def solve_fine(walk: Walk, pieces: Labels | None, start: Floats | None) -> Spectrum:
        return solve(
            walk,
            r,
            solver=method,
            tol=tol,
            pieces=pieces,
            generator=generator,
            start=start,
            progress=progress,
            allowed=allowed,
        )

    if not method.takes_start or start is not None or walk.n_samples < LEAST_SAMPLES:
        return solve_fine(walk, pieces, start)
    coarsening = {K.coarsening for K in walk.kernels}
    if coarsening == {"subset"} and walk.places_every_block:
        return solve_fine(walk, pieces, _start_from_subset(walk, r + r // 4, generator))
    if coarsening != {"merge"}:
        return solve_fine(walk, pieces, None)
    return _solve_merged(walk, r, pieces, generator, solve_fine)


def _solve_merged(
    walk: Walk,
    r: int,
    pieces: Labels | None,
    generator: np.random.Generator,
    solve_fine: Callable[[Walk, Labels | None, Floats | None], Spectrum],
) -> Spectrum:
    """The eigenpairs of a walk on neighbour kernels, from a start on merged samples."""
    # A product of neighbour kernels is one kernel, on samples that every view observed.
    n_kernels = len(walk.kernels)
    is_own = n_kernels == walk.rows.n_views
    rows = walk.rows if is_own else RowMap.whole(n_kernels, walk.n_samples)
    levels = _levels(walk.kernels, rows, generator)
    if not levels:
        return solve_fine(walk, pieces, None)
    order, levels = _order_levels(levels)
    moved, orders = rows.reordered(order)
    start = _start_from_levels(walk, levels, moved, r + max(10, r // 2), generator)
    if walk.is_fused:
        nodes = np.concatenate([order + k * order.size for k in range(walk.n_blocks)])
    else:
        nodes = np.concatenate([part + walk.rows.starts[l] for l, part in enumerate(orders)])
    kernels = [K.reorder(part) for K, part in zip(walk.kernels, orders, strict=True)]
    fine = walk.rebuild(kernels, moved)
    spectrum = solve_fine(fine, None if pieces is None else pieces[nodes], start)
    return spectrum.at(np.argsort(nodes))


def _start_from_subset(walk: Walk, r: int, generator: np.random.Generator) -> Floats | None:
    """The eigenvectors of the walk on a subset of the samples, extended to all of them."""
    n, kernels = walk.n_samples, walk.kernels
    size = min(max(n // SHARE, FEWEST), MOST)
    chosen = np.sort(generator.choice(n, size, replace=False))
    if not walk.rows.is_whole:
        return _start_from_rows(walk, r, chosen, generator)
    small = walk.rebuild([K.subset(chosen) for K in kernels])
    try:
        spectrum = solve(small, min(r, size // 4), tol=TOLERANCE, generator=generator)
    except ConvergenceError:  # a rough start is not worth more effort
        return None
    extension = small.extension(spectrum)
    extension.prepare()

    def carry(block: int) -> Step:
        return extension.step([K.subset_rows(block, chosen) for K in kernels])

    steps = map_threads(carry, range(kernels[0].n_row_blocks), kernels[0].n_jobs)
    return np.nan_to_num(np.vstack(Step.concatenate(steps).blocks))


def _start_from_rows(
    walk: Walk, r: int, chosen: Labels, generator: np.random.Generator
) -> Floats | None:
    """As `_start_from_subset` for incomplete views: each view extends to its own rows."""
    if walk.is_fused:
        return None
    rows, kept = walk.rows.of_samples(chosen)
    if min(rows.sizes) < FEWEST // 4:
        return None
    kernels = walk.kernels
    small = walk.rebuild([K.subset(part) for K, part in zip(kernels, kept, strict=True)], rows)
    try:
        wanted = min(r, small.max_coordinates // 4)
        spectrum = solve(small, wanted, tol=TOLERANCE, generator=generator)
    except ConvergenceError:
        return None
    extension = small.extension(spectrum)
    extension.prepare()
    blocks = []
    for l, (K, part) in enumerate(zip(kernels, kept, strict=True)):

        def carry(block: int, l: int = l, K: Affinity = K, part: Labels = part) -> Floats:
            return extension.step_in_view(l, K.subset_rows(block, part))

        blocks += map_threads(carry, range(K.n_row_blocks), K.n_jobs)
    return np.nan_to_num(np.vstack(blocks))


def _start_from_levels(
    walk: Walk,
    levels: Sequence[Level],
    rows: RowMap,
    r: int,
    generator: np.random.Generator,
) -> Floats | None:
    """The eigenvectors of the walk on merged samples, copied to all samples merged into one."""
    start: Floats | None = None
    finer = [rows, *(level.rows for level in levels)]
    for level, below in zip(levels[::-1], finer[-2::-1], strict=True):
        small = walk.rebuild(level.kernels, level.rows)
        try:
            spectrum = solve(
                small,
                min(r, small.max_coordinates, small.n_samples // 4),
                solver="auto" if start is None else "krylov",
                tol=MERGED_TOLERANCE,
                generator=generator,
                start=start,
            )
        except ConvergenceError:
            return None
        blocks = [np.asarray(block) for block in small.blocks(spectrum.eigenvectors)]
        start = np.concatenate(
            [
                block[level.label if walk.is_fused else _row_labels(level, below, l)]
                for l, block in enumerate(blocks)
            ]
        )
    return start


def _row_labels(level: Level, below: RowMap, view: int) -> Labels:
    """The merged row of a view that each row of the finer level belongs to."""
    label = level.label if below.is_whole else level.label[below.samples(view)]
    if level.rows.is_whole:
        return label
    # The merged rows of a view are in the order of their samples, one row per sample.
    return np.searchsorted(level.rows.samples(view), label)


def _levels(
    kernels: Sequence[Affinity], rows: RowMap, generator: np.random.Generator
) -> list[Level]:
    """Merged samples and the kernels between them, from fine to coarse."""
    levels: list[Level] = []
    while rows.n_samples >= LEAST_SAMPLES:
        values = [
            _on_samples(pairs, rows, view)
            for view, pairs in enumerate(K.stored_pairs for K in kernels)
            if pairs is not None
        ]
        label = merge_samples(values, generator)
        if 2 * label.max() > label.size:  # too few neighbours to merge
            break
        rows, labels = rows.merged(label)
        kernels = [K.merge(part) for K, part in zip(kernels, labels, strict=True)]
        levels.append(Level(label, kernels, rows))
    return levels


def _on_samples(values: csr_array, rows: RowMap, view: int) -> csr_array:
    """A kernel between the rows of a view as one between samples."""
    if rows.is_whole:
        return values
    samples, shape = rows.samples(view), (rows.n_samples, rows.n_samples)
    if rows.is_repeated(view):
        ones = np.ones(samples.size, dtype=values.dtype)
        place = csr_array(
            (ones, (np.arange(samples.size), samples)), shape=(samples.size, rows.n_samples)
        )
        return csr_array(place.T @ values @ place)
    # One row per sample: rows and columns are only renamed.
    order = np.argsort(samples)
    moved = values if (np.diff(order) == 1).all() else values[order]
    starts = np.zeros(rows.n_samples + 1, dtype=moved.indptr.dtype)
    starts[1 + samples[order]] = np.diff(moved.indptr)
    columns = samples.astype(moved.indices.dtype)[moved.indices]
    return csr_array((moved.data, columns, np.cumsum(starts)), shape=shape)


def _order_levels(levels: Sequence[Level]) -> tuple[Labels, list[Level]]:
    """An order of the samples that makes merged ones adjacent on every level, and the levels."""
    order = np.arange(levels[-1].rows.n_samples)
    ordered: list[Level] = []
    for level in levels[::-1]:
        moved, orders = level.rows.reordered(order)
        kernels = level.kernels
        if ordered:
            kernels = [K.reorder(part) for K, part in zip(kernels, orders, strict=True)]
        place = np.empty(order.size, dtype=np.intp)
        place[order] = np.arange(order.size)
        label = place[level.label]
        order = np.argsort(label, kind="stable")
        ordered.append(Level(label[order], kernels, moved))
    return order, ordered[::-1]


def merge_samples(kernels: Sequence[csr_array], generator: np.random.Generator) -> Labels:
    """The merged sample that each sample belongs to, numbered from 0, (n,).

    Seeded random samples are the centres of groups. Every other sample joins the group of the most
    similar sample that already belongs to one, by each view in turn.

    Parameters
    ----------
    kernels : sequence of (n, n) csr_array
        One per view.
    generator : Generator
        Draws the centres.
    """
    n = kernels[0].shape[0]
    label = np.full(n, -1, dtype=np.intp)
    centres = np.flatnonzero(generator.random(n) * MERGED < 1)
    label[centres] = np.arange(centres.size)
    for K in [*kernels, *kernels, *kernels]:
        free = np.flatnonzero(label < 0)
        if not free.size:
            break
        rows = K[free]
        known = label[rows.indices]
        likeness = np.where(known >= 0, rows.data, 0)
        filled = np.flatnonzero(np.diff(rows.indptr))
        most = np.zeros(free.size, dtype=likeness.dtype)
        if filled.size:
            most[filled] = np.maximum.reduceat(likeness, rows.indptr[filled])
        row = np.repeat(np.arange(free.size), np.diff(rows.indptr))
        best = np.flatnonzero((likeness == most[row]) & (likeness > 0))
        label[free[row[best]]] = known[best]
    alone = np.flatnonzero(label < 0)
    label[alone] = centres.size + np.arange(alone.size)
    return label
