"""Findings on the numerical rank of Gaussian kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from viewhop.experiments._findings import CONDITIONAL, FAILS, HOLDS, Finding

__all__ = ["judge_boxes", "judge_growth", "judge_sizes"]

Floats = NDArray[np.float64]

#: Largest difference from the printed exponent.
_NEAR = 0.25
#: Largest relative growth of the rank in the last step of the number of samples.
_STEADY = 0.1


def judge_growth(exponents: Mapping[int, Sequence[float]]) -> Finding:
    """Finding on Lemma 1: it holds if the mean exponent is within 0.25 of d for every d.

    Parameters
    ----------
    exponents : dict of lists of float by dimension
        One exponent per draw.
    """
    means = {d: float(np.mean(values)) for d, values in exponents.items()}
    lists = ", ".join(
        f"{means[d]:.2f} ± {np.std(values, ddof=min(1, len(values) - 1)):.2f} at d = {d}"
        for d, values in exponents.items()
    )
    n_draws = len(next(iter(exponents.values())))
    return Finding(
        "rank-log",
        HOLDS if all(abs(mean - d) <= _NEAR for d, mean in means.items()) else FAILS,
        f"Exponent {lists} ({n_draws} draws of a cube); Weyl's law gives d/2 (erratum 14).",
    )


def judge_sizes(sizes: Sequence[int], ranks: Floats, deltas: Sequence[float]) -> Finding:
    """Finding on the number of samples.

    It holds if the mean rank grows by less than 10 % from the second largest to the largest number
    of samples, for every δ; with a condition if for some δ.

    Parameters
    ----------
    sizes : list of int
    ranks : (n_draws, n_sizes, n_deltas) array
    deltas : list of float
    """
    means = ranks.mean(axis=0)
    growth = means[-1] / means[-2] - 1
    lists = ", ".join(
        f"{share:+.1%} (δ = {delta:g}, rank {mean:.1f})"
        for share, delta, mean in zip(growth, deltas, means[-1], strict=True)
    )
    evidence = (
        f"From {sizes[-2]:,} to {sizes[-1]:,} samples of a square the rank changes by {lists}; "
        f"mean over {len(ranks)} draws."
    )
    return _judge_some("rank-size-independent", growth < _STEADY, deltas, evidence)


def judge_boxes(
    boxes: Sequence[Mapping[int, tuple[int, Sequence[int]]]], deltas: Sequence[float]
) -> Finding:
    """Finding on boxes of side σ.

    It holds if the rank is at most the number of boxes for every δ, dimension and draw; with a
    condition if for some δ.

    Parameters
    ----------
    boxes : list of dicts by dimension
        Per draw, the number of boxes and the rank for each δ.
    deltas : list of float
    """
    ratios = np.array(
        [[np.divide(ranks, n_boxes) for n_boxes, ranks in each.values()] for each in boxes]
    )
    largest = ratios.max(axis=(0, 1))
    lists = ", ".join(
        f"{ratio:.2f} (δ = {delta:g})" for ratio, delta in zip(largest, deltas, strict=True)
    )
    evidence = (
        f"Rank over number of boxes, the largest of {len(boxes)} draws in {ratios.shape[1]} "
        f"dimensions: {lists}."
    )
    return _judge_some("rank-boxes", largest <= 1, deltas, evidence)


def _judge_some(
    claim: str, holds: NDArray[np.bool_], deltas: Sequence[float], evidence: str
) -> Finding:
    """Holds for all δ, for some, or for none."""
    if holds.all():
        return Finding(claim, HOLDS, evidence)
    if not holds.any():
        return Finding(claim, FAILS, evidence)
    some = ", ".join(f"{delta:g}" for delta, is_held in zip(deltas, holds, strict=True) if is_held)
    return Finding(claim, CONDITIONAL, evidence, f"δ of {some}")
