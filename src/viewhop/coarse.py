"""A coarse solution: the same walk on few samples, carried up to all of them.

Its eigenvectors are rough guesses of the wanted ones, and an iteration that begins with them
passes over the kernels fewer times.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from viewhop.affinity.dense import DenseAffinity, DensePrecomputed
from viewhop.blocks import each
from viewhop.errors import ConvergenceError
from viewhop.extension import Stepped, extension
from viewhop.solvers import solve
from viewhop.walks import AlternatingWalk, Walk

__all__ = ["start"]

Floats = NDArray[np.float64]

#: Below this many samples a coarse solution costs more than it saves.
LEAST_SAMPLES = 4000
#: One in so many samples is drawn, within these limits.
SHARE = 16
FEWEST, MOST = 500, 4000
#: Residual relative to the eigenvalue at which the coarse solution is good enough.
TOLERANCE = 1e-2


def start(walk: Walk, r: int, generator: np.random.Generator) -> Floats | None:
    """Guesses of the first `r` right eigenvectors beside the trivial one, (n_nodes, r).

    Parameters
    ----------
    walk : Walk
    r : int
    generator : Generator
        Draws the samples.

    Returns
    -------
    guesses : array or None
        None where there is nothing to gain: few samples, kernels on neighbours, or a walk whose
        extension does not reach all nodes.
    """
    n = walk.n_samples
    kernels = [K for K in walk.kernels if isinstance(K, DenseAffinity | DensePrecomputed)]
    if n < LEAST_SAMPLES or len(kernels) < len(walk.kernels) or isinstance(walk, AlternatingWalk):
        return None
    size = min(max(n // SHARE, FEWEST), MOST)
    chosen = np.sort(generator.choice(n, size, replace=False))
    small = walk.on([K.part(chosen) for K in kernels])
    try:
        spectrum = solve(small, min(r, size // 4), tol=TOLERANCE, generator=generator)
    except ConvergenceError:
        return None
    carry = extension(small, spectrum)
    n_blocks = len(kernels[0].tiles.blocks)

    def carried(block: int) -> Stepped:
        return carry.step([K.rows_of_block(block, chosen) for K in kernels])

    stepped = Stepped.joined(each(carried, range(n_blocks), kernels[0].n_jobs))
    return np.nan_to_num(np.vstack(stepped.blocks))
