"""Combining the coordinates of a sample in every view into its embedding."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from numbers import Real
from typing import TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray

from viewhop._registry import OUTPUTS
from viewhop.errors import UnderflowWarning
from viewhop.geometry._many_steps import MOST_STEPS
from viewhop.walks import Walk

__all__ = [
    "OUTPUTS",
    "Scaling",
    "check_growth",
    "check_time",
    "coordinates",
    "fit_scaling",
    "mean_over_views",
    "resolve_output",
    "warn_of_underflow",
    "whole_steps",
]

Floats = NDArray[np.float64]
#: The longest diffusion time.
LONGEST = sys.float_info.max
#: Power of an eigenvalue above 1 from which coordinates are refused.
LARGEST_POWER = 1e30
#: Centre and spread of each coordinate of a view.
Scaling: TypeAlias = tuple[Floats, Floats]


def resolve_output(output: str, walk: Walk, *, is_weighted: bool) -> str:
    """The form of the embedding: "concat", "mean" or "consensus".

    Parameters
    ----------
    output : str
        A key of `OUTPUTS`. "auto" is "consensus" if the views have weights, otherwise "concat".
    walk : Walk
        A fused walk and a walk of one view have one set of coordinates, hence "concat".
    is_weighted : bool
        Whether the hop matrix is that of view weights.
    """
    if output == "consensus" and not walk.is_fused and walk.n_blocks > 1 and walk.hub is None:
        raise ValueError(
            'output="consensus" needs a hop matrix of rank one: leave hops and '
            "within_view_weight at None, or pass view_weights"
        )
    if walk.is_fused or walk.n_blocks == 1:
        return "concat"
    if output == "auto":
        return "consensus" if is_weighted else "concat"
    return output


def coordinates(
    stepped: Floats, eigenvalues: Floats, n_steps: float, *, is_markov: bool = True
) -> Floats:
    """Diffusion coordinates λ^t ψ after `n_steps` steps, (n, r).

    Parameters
    ----------
    stepped : (n, r) array
        P̂ψ, the eigenvectors after one step, as an extension gives them.
    eigenvalues : (r,) array
    n_steps : float
        Diffusion time t, any non-negative number.
    is_markov : bool
        As in `powers`.

    Notes
    -----
    Eqs. (2) and (21).
    """
    # Adding 0 turns −0, which an underflow may leave, into 0.
    return stepped * powers(eigenvalues, check_time(n_steps) - 1.0, is_markov=is_markov) + 0.0


def powers(eigenvalues: Floats, n_steps: float, *, is_markov: bool = True) -> Floats:
    """λ^t of each eigenvalue, (r,); ValueError if one is too large.

    Parameters
    ----------
    eigenvalues : (r,) array
    n_steps : float
        t.
    is_markov : bool
        Whether no eigenvalue is above 1, so that values which rounding leaves there count as 1.
    """
    if is_markov:
        return np.asarray(np.minimum(eigenvalues, 1.0) ** n_steps)
    check_growth(float(eigenvalues.max(initial=0.0)), n_steps)
    return np.asarray(eigenvalues**n_steps)


def check_growth(largest: float, n_steps: float) -> None:
    """Raise ValueError if so many steps make coordinates or distances larger than any number.

    Parameters
    ----------
    largest : float
        The largest eigenvalue; at most 1 for a Markov chain.
    n_steps : float
    """
    if largest > 1.0 and n_steps * np.log(largest) > np.log(LARGEST_POWER):
        raise ValueError(
            f"eigenvalues of this fusion can be above 1, and {largest:.3g} to the power of "
            f"{n_steps:g} steps is too large a number; pass fewer steps, or a fusion that is a "
            "random walk"
        )


def fit_scaling(block: Floats, dtype: np.dtype[np.floating]) -> Scaling:
    """Centre and spread of each coordinate over the samples that a view observed, (r,) both.

    The spread of a constant coordinate is infinite, so that it scales to 0.

    Parameters
    ----------
    block : (n_samples, r) array
        P̂ψ of a view; NaN for samples that it did not observe.
    dtype : dtype of the kernels
    """
    rows = block[np.isfinite(block[:, 0])]
    centre, spread = rows.mean(axis=0), rows.std(axis=0)
    rounding = 1e3 * np.finfo(dtype).eps
    return centre, np.where(spread > rounding * np.abs(centre), spread, np.inf)


def mean_over_views(
    stepped: Sequence[Floats],
    scaling: Sequence[Scaling],
    observed: NDArray[np.bool_] | None = None,
) -> Floats:
    """The mean of scaled coordinates over the views that observed a sample, (n, r).

    Parameters
    ----------
    stepped : sequence of (n, r) arrays
        P̂ψ in each view.
    scaling : sequence of Scaling
    observed : (n, n_views) bool array or None
        Which views observed each sample; None counts finite coordinates as observed. A sample that
        no view observed gets the mean over all views.
    """
    scaled = [
        (block - centre) / spread for block, (centre, spread) in zip(stepped, scaling, strict=True)
    ]
    if observed is None:
        observed = np.isfinite(np.stack([block[:, 0] for block in stepped], axis=1))
    if observed.all():
        return np.asarray(np.mean(scaled, axis=0))
    kept = observed | ~observed.any(axis=1, keepdims=True)
    total = np.sum([np.where(kept[:, l, None], z, 0.0) for l, z in enumerate(scaled)], axis=0)
    return np.asarray(total / kept.sum(axis=1)[:, None])


def check_time(n_steps: object) -> float:
    """The diffusion time as a float; ValueError unless it is a non-negative number."""
    if _is_between(n_steps, LONGEST):
        return float(n_steps)
    raise ValueError(f"n_steps must be a non-negative number, not {repr(n_steps)[:60]}")


def whole_steps(n_steps: object, *, most: int = MOST_STEPS) -> int:
    """The number of steps as an int; ValueError unless it is a whole number from 0 to `most`."""
    if _is_between(n_steps, most) and float(n_steps).is_integer():
        return int(n_steps)
    raise ValueError(
        f"expected a whole number of steps of at least 0, not {repr(n_steps)[:60]}; the largest is "
        f"{most:,}"
    )


def _is_between(value: object, most: float) -> TypeGuard[float]:
    """Whether a value is a number from 0 to `most`."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    try:
        return 0 <= float(value) <= most
    except OverflowError:  # a whole number beyond all floats
        return False


def warn_of_underflow(
    eigenvalues: Floats,
    n_steps: float,
    dtype: np.dtype[np.floating],
    *,
    is_markov: bool = True,
    stacklevel: int,
) -> None:
    """Warn if λ^t of some coordinates is too small for the precision of the embedding.

    Parameters
    ----------
    eigenvalues : (r,) array
    n_steps : float
    dtype : dtype of the embedding
    is_markov : bool
        As in `powers`.
    stacklevel : int
        As in `warnings.warn`, counted from the caller.
    """
    lost = int((powers(eigenvalues, n_steps, is_markov=is_markov) < np.finfo(dtype).tiny).sum())
    if lost:
        warnings.warn(
            UnderflowWarning(
                f"{lost} of {len(eigenvalues)} coordinates underflow to 0: their eigenvalues, "
                f"{eigenvalues[-lost]:.3g} and below, raised to the power n_steps={n_steps:g}, are "
                "smaller than any number; pass fewer steps",
                lost,
            ),
            stacklevel=stacklevel + 1,
        )
