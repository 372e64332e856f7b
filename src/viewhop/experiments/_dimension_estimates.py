"""Estimates of the intrinsic dimension of manifolds whose dimension is known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from viewhop.dimension import danco, local_pca
from viewhop.experiments._experiment import Context
from viewhop.experiments._findings import CONDITIONAL, FAILS, HOLDS, Finding

__all__ = ["NOISE", "Case", "Estimates", "draw_manifolds", "estimate_dimensions", "judge_danco"]

Floats = NDArray[np.float64]


#: Standard deviation of the noise, as a share of the largest of the coordinates.
NOISE = 0.02
#: Number of coordinates in which the cubes lie.
_AMBIENT = 10


class Case(NamedTuple):
    """A manifold as it is drawn.

    Attributes
    ----------
    name : str
    d : int
        Its dimension.
    noise : float
        As a share of the largest deviation of its coordinates.
    n_samples : int
    """

    name: str
    d: int
    noise: float
    n_samples: int


#: Estimates by DANCo and by local PCA in each draw.
Estimates = dict[Case, list[tuple[float, int]]]


def draw_manifolds(
    n_samples: int, generator: np.random.Generator
) -> Iterator[tuple[str, int, Floats]]:
    """Names, dimensions and samples of manifolds, (n_samples, n_features) each.

    Parameters
    ----------
    n_samples : int
    generator : Generator
    """
    angle, other = generator.uniform(0, 2 * np.pi, (2, n_samples))
    circles = np.column_stack([np.cos(angle), np.sin(angle), np.cos(other), np.sin(other)])
    yield "circle", 1, circles[:, :2]
    yield "torus in 4 dimensions", 2, circles
    for d in (2, 4):
        normal = generator.standard_normal((n_samples, d + 1))
        yield f"sphere, d = {d}", d, normal / np.linalg.norm(normal, axis=1, keepdims=True)
    theta = 1.5 * np.pi * generator.uniform(1, 3, n_samples)
    height = generator.uniform(0, 100, n_samples)
    yield (
        "Swiss roll",
        2,
        np.column_stack([6 * theta * np.cos(theta), height, 6 * theta * np.sin(theta)]),
    )
    for d in (3, 5):
        frame = np.linalg.qr(generator.standard_normal((_AMBIENT, d)))[0]
        yield f"cube, d = {d}", d, generator.uniform(size=(n_samples, d)) @ frame.T


def estimate_dimensions(context: Context, *, sizes: Sequence[int]) -> Estimates:
    """Both estimates for each manifold, draw and number of samples, without and with noise."""
    estimates: Estimates = {}
    for n_samples, noise, trial in product(sizes, (0.0, NOISE), range(context.trials)):
        generator = context.generator(30, trial)
        for name, d, rows in draw_manifolds(n_samples, generator):
            size = noise * rows.std(axis=0).max()
            X = rows + size * generator.standard_normal(rows.shape)
            found = danco(X, random_state=context.integer(31, trial)), local_pca(X)
            estimates.setdefault(Case(name, d, noise, n_samples), []).append(found)
    return estimates


def judge_danco(estimates: Estimates) -> Finding:
    """Finding on DANCo.

    It holds if its rounded estimate is the true dimension in every draw of every manifold, with
    and without noise, at every number of samples. If without noise at some numbers of samples,
    that is the condition.

    Parameters
    ----------
    estimates : dict
        From `estimate_dimensions`.
    """
    sizes = [*dict.fromkeys(case.n_samples for case in estimates)]
    parts, clean = [], []
    whole = True
    for n_samples, noisy in product(sizes, (False, True)):
        chosen = {
            case: np.array(found)
            for case, found in estimates.items()
            if case.n_samples == n_samples and (case.noise > 0) == noisy
        }
        total = sum(map(len, chosen.values()))
        by_danco, by_pca = (
            sum(int((np.round(found[:, k]) == case.d).sum()) for case, found in chosen.items())
            for k in (0, 1)
        )
        wrong = [
            case.name for case, found in chosen.items() if (np.round(found[:, 0]) != case.d).any()
        ]
        whole = whole and not wrong
        if not noisy and not wrong:
            clean.append(f"{n_samples:,}")
        parts.append(
            f"{n_samples:,} samples {'with' if noisy else 'without'} noise {by_danco} of {total}, "
            f"local PCA {by_pca}" + (f" (DANCo errs on {'; '.join(wrong)})" if wrong else "")
        )
    evidence = f"DANCo is right in these draws: {'. '.join(parts)}."
    if whole:
        return Finding("danco-robust", HOLDS, evidence)
    if clean:
        tried = ", ".join(f"{n:,}" for n in sizes)
        condition = f"without noise, at {' and '.join(clean)} samples (tried: {tried})"
        return Finding("danco-robust", CONDITIONAL, evidence, condition)
    return Finding("danco-robust", FAILS, evidence)
