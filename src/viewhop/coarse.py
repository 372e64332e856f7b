"""A coarse solution: the same walk on few samples, carried up to all of them.

Its eigenvectors are rough guesses of the wanted ones, and an iteration that begins with them
passes over the kernels fewer times. With full kernels, a seeded subset stands for all samples,
and the extension carries its eigenvectors up. With kernels on neighbours a subset would fall
apart; there, neighbouring samples are merged, level by level, until few are left.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from viewhop.affinity.dense import DenseAffinity, DensePrecomputed
from viewhop.affinity.sparse import MergedAffinity, SparseAffinity, SparsePrecomputed
from viewhop.blocks import each
from viewhop.errors import ConvergenceError
from viewhop.extension import Stepped, extension
from viewhop.solvers import solve
from viewhop.spectrum import Spectrum
from viewhop.walks import AlternatingWalk, Walk

__all__ = ["start"]

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]
Full: TypeAlias = DenseAffinity | DensePrecomputed
Near: TypeAlias = SparseAffinity | SparsePrecomputed | MergedAffinity

#: Below this many samples a coarse solution costs more than it saves.
LEAST_SAMPLES = 4000
#: With full kernels one in so many samples is drawn, within these limits.
SHARE = 16
FEWEST, MOST = 500, 4000
#: Residual, relative to the eigenvalue, at which a subset is solved well enough.
TOLERANCE = 1e-2
#: With neighbour kernels, samples merged into one, and the residual at which a level is solved:
#: below the gaps between eigenvalues, which are small there.
MERGED = 8
MERGED_TOLERANCE = 1e-5


def start(walk: Walk, r: int, generator: np.random.Generator) -> Floats | None:
    """Guesses of the first right eigenvectors beside the trivial one, (n_nodes, `r` and more).

    Parameters
    ----------
    walk : Walk
    r : int
    generator : Generator
        Draws the samples.

    Returns
    -------
    guesses : array or None
        None where there is nothing to gain: few samples, or kernels that are partly full.
    """
    if walk.n_samples < LEAST_SAMPLES:
        return None
    full = [K for K in walk.kernels if isinstance(K, Full)]
    near = [K for K in walk.kernels if isinstance(K, Near)]
    try:
        if len(full) == len(walk.kernels) and not isinstance(walk, AlternatingWalk):
            return _of_subset(walk, full, r + r // 4, generator)
        if len(near) == len(walk.kernels):
            return _of_merged(walk, near, r + max(20, r // 2), generator)
    except ConvergenceError:  # a rough start is not worth more
        return None
    return None


def _of_subset(walk: Walk, kernels: list[Full], r: int, generator: np.random.Generator) -> Floats:
    """The eigenvectors of the walk on a subset of the samples, carried up by its extension."""
    n = walk.n_samples
    size = min(max(n // SHARE, FEWEST), MOST)
    chosen = np.sort(generator.choice(n, size, replace=False))
    small = walk.on([K.part(chosen) for K in kernels])
    spectrum = solve(small, min(r, size // 4), tol=TOLERANCE, generator=generator)
    carry = extension(small, spectrum)

    def carried(block: int) -> Stepped:
        return carry.step([K.rows_of_block(block, chosen) for K in kernels])

    n_blocks = len(kernels[0].tiles.blocks)
    stepped = Stepped.joined(each(carried, range(n_blocks), kernels[0].n_jobs))
    return np.nan_to_num(np.vstack(stepped.blocks))


def _of_merged(
    walk: Walk, kernels: Sequence[Near], r: int, generator: np.random.Generator
) -> Floats | None:
    """The eigenvectors of the walk on merged samples, each given to all that were merged."""
    label = merged([K.values for K in kernels], generator)
    if 2 * label.max() > walk.n_samples:  # hardly any neighbours
        return None
    small = walk.on([K.merged(label) for K in kernels])
    r = min(r, small.max_coordinates, small.n_samples // 4)
    guesses = start(small, r, generator)
    solver = "auto" if guesses is None else "krylov"
    spectrum = solve(
        small, r, solver=solver, tol=MERGED_TOLERANCE, generator=generator, start=guesses
    )
    return _given(spectrum, label, walk.n_blocks)


def _given(spectrum: Spectrum, label: Labels, n_blocks: int) -> Floats:
    """The eigenvectors of merged samples at all samples, (n_blocks · n, r)."""
    blocks = np.split(spectrum.eigenvectors, n_blocks)
    return np.concatenate([block[label] for block in blocks])


def merged(kernels: Sequence[csr_array], generator: np.random.Generator) -> Labels:
    """Number of the merged sample that each sample is part of, (n,).

    A seeded share of the samples are centres. Every other one joins the centre, or the member of
    a group, that it is most like; the views are asked in turn.

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
