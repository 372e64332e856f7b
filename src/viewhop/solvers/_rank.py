"""Components: how many eigenpairs of a walk a fit keeps, and what it says of them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from viewhop.errors import DisconnectedWarning
from viewhop.spectrum import Spectrum
from viewhop.walks import Walk

__all__ = [
    "check_reached",
    "keep_positive",
    "quote_views",
    "solve_accuracy",
    "solve_rank",
    "truncation",
    "warn_of_pieces",
]

#: Pairs that an automatic choice starts from.
FIRST_GUESS = 16


#: Solves for a number of pairs, perhaps beginning with some that are known.
Pairs = Callable[[int, Spectrum | None], Spectrum]


def truncation(eigenvalues: ArrayLike, *, accuracy: float, n_steps: float = 1.0) -> int:
    """The number r(δ, t) of coordinates that keep the diffusion distance to an accuracy δ.

    Parameters
    ----------
    eigenvalues : (m,) array
        λ_1, λ_2, …, largest first.
    accuracy : float
        δ.
    n_steps : float
        t, positive.

    Notes
    -----
    The number of positive eigenvalues with λ_k^t > δ λ_1^t: step 5 of the single-view recipe,
    before Eq. (4).

    Examples
    --------
    >>> from viewhop.diffusion import truncation
    >>> truncation([0.9, 0.5, 0.2, -0.1], accuracy=0.3)
    2
    >>> truncation([0.9, 0.5, 0.2, -0.1], accuracy=0.3, n_steps=3)
    1
    """
    if not n_steps > 0:
        raise ValueError(f"a truncation needs n_steps > 0, not {n_steps!r}")
    if not 0 <= accuracy < 1:
        raise ValueError(f"accuracy is a number from 0 to below 1, not {accuracy!r}")
    values = np.asarray(eigenvalues, dtype=np.float64)
    positive = values[values > 0]
    if not positive.size:
        return 0
    return int(((positive / positive[0]) ** n_steps > accuracy).sum())


def solve_rank(walk: Walk, pairs: Pairs, r: int) -> Spectrum:
    """The first `r` eigenpairs, or ValueError with their number where there are fewer.

    Parameters
    ----------
    walk : Walk
    pairs : callable
        Solves for a number of pairs.
    r : int
    """
    if r > walk.max_coordinates:
        raise ValueError(
            f"n_components={r} is more than the {walk.max_coordinates} positive eigenvalues "
            "that this walk can have"
        )
    spectrum = keep_positive(walk, pairs(r, None))
    if len(spectrum) < r:
        raise ValueError(
            f"n_components={r} is more than the {len(spectrum)} eigenvalues of this walk that "
            f"are positive beyond rounding; pass at most n_components={len(spectrum)}, or a "
            "smaller bandwidth"
        )
    return spectrum


def solve_accuracy(walk: Walk, pairs: Pairs, *, accuracy: float, n_steps: float) -> Spectrum:
    """As many eigenpairs as the accuracy asks for, found by doubling.

    Parameters
    ----------
    walk : Walk
    pairs : callable
        Solves for a number of pairs.
    accuracy, n_steps : float
        δ and t of r(δ, t).
    """
    most = min(walk.max_coordinates, walk.n_nodes - 2)
    r = min(FIRST_GUESS, most)
    spectrum = None
    while True:
        spectrum = keep_positive(walk, pairs(r, spectrum))
        wanted = truncation(spectrum.eigenvalues, accuracy=accuracy, n_steps=n_steps)
        if wanted < r or r == most:
            return spectrum.first(wanted)
        r = min(2 * r, most)


def keep_positive(walk: Walk, spectrum: Spectrum) -> Spectrum:
    """The pairs whose eigenvalue is positive beyond rounding, at least one."""
    usable = int((spectrum.eigenvalues > 8 * np.finfo(walk.dtype).eps).sum())
    if not usable:
        raise ValueError(
            f"no eigenvalue of the walk over {quote_views(walk.names)} is positive beyond rounding, so "
            "there are no coordinates: every sample is about as like any other; use a smaller "
            "bandwidth"
        )
    return spectrum.first(usable)


def check_reached(walk: Walk) -> None:
    """Raise ValueError for samples that the walk does not reach in any view."""
    if walk.is_fused or walk.degrees.all():
        return
    lost = np.ones(walk.n_samples, dtype=bool)
    blocks = walk.blocks(walk.degrees)
    for view, degrees in enumerate(blocks):
        lost[walk.rows.samples(view)[degrees > 0]] = False
    rows = np.flatnonzero(lost)
    if rows.size:
        view = int(np.argmax(walk.rows.observed[rows[0]]))
        raise ValueError(
            f"row {rows[0]} was observed by view {walk.names[view]!r}, and neither it nor its "
            f"neighbours there by a view that the walker may hop to ({rows.size} such rows); use "
            "more neighbours, or within_view_weight above 0, or drop these samples"
        )


def warn_of_pieces(walk: Walk, pieces: NDArray[np.intp], *, stacklevel: int) -> None:
    """Warn if the walk falls into pieces; refuse it if it never leaves a sample.

    Parameters
    ----------
    walk : Walk
    pieces : (n_nodes,) array
        Number of the piece of each node, −1 for one that the walk does not reach.
    stacklevel : int
        Whose line the warning names, counted as `warnings.warn` does from the caller.
    """
    sizes = np.bincount(pieces[pieces >= 0])
    if sizes.size == 1:
        return
    if sizes.size >= walk.n_samples:
        raise ValueError(
            f"the walk over {quote_views(walk.names)} falls into {sizes.size} pieces, so it never "
            "leaves a sample; raise the bandwidth (factor) or n_neighbors"
        )
    small = int(np.argmin(sizes))
    block, sample = walk.where(int(np.argmax(pieces == small)))
    where = f"of {quote_views(walk.names)}" if walk.is_fused else f"in view {walk.names[block]!r}"
    warnings.warn(
        DisconnectedWarning(
            f"the walk falls into {sizes.size} pieces, so the first {sizes.size - 1} coordinates "
            f"only tell pieces apart; the smallest has {sizes[small]} nodes (row {sample} {where} "
            "is one); a larger bandwidth, more neighbours or within_view_weight below 1 may join "
            "them",
            sizes.size,
        ),
        stacklevel=stacklevel + 1,
    )


def quote_views(names: Sequence[str]) -> str:
    """Names of views as a sentence has them, ``"views 'a', 'b'"``."""
    return ("view " if len(names) == 1 else "views ") + ", ".join(map(repr, names))
