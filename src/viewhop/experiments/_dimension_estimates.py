"""Estimates of the intrinsic dimension of manifolds whose dimension is known."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from viewhop.dimension import danco, local_pca
from viewhop.experiments._experiment import Context
from viewhop.experiments._findings import CONDITIONAL, FAILS, HOLDS, Finding

__all__ = ["NOISE", "Estimates", "draw_manifolds", "estimate_dimensions", "judge_danco"]

Floats = NDArray[np.float64]
#: Estimates by DANCo and by local PCA in each draw, by manifold, dimension and noise.
Estimates = dict[tuple[str, int, float], list[tuple[float, int]]]

#: Standard deviation of the noise, as a share of the largest of the coordinates.
NOISE = 0.02
#: Number of coordinates in which the cubes lie.
_AMBIENT = 10


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


def estimate_dimensions(context: Context, *, n_samples: int) -> Estimates:
    """Both estimates for each manifold and draw, without and with noise."""
    estimates: Estimates = {}
    for noise in (0.0, NOISE):
        for trial in range(context.trials):
            generator = context.generator(30, trial)
            for name, d, rows in draw_manifolds(n_samples, generator):
                size = noise * rows.std(axis=0).max()
                X = rows + size * generator.standard_normal(rows.shape)
                found = danco(X, random_state=context.integer(31, trial)), local_pca(X)
                estimates.setdefault((name, d, noise), []).append(found)
    return estimates


def judge_danco(estimates: Estimates) -> Finding:
    """Finding on DANCo.

    It holds if its rounded estimate is the true dimension in every draw of every manifold, with
    and without noise; with a condition if without noise.

    Parameters
    ----------
    estimates : dict
        From `estimate_dimensions`.
    """
    right = {True: [0, 0, 0], False: [0, 0, 0]}
    wrong: dict[str, None] = {}
    for (name, d, noise), found in estimates.items():
        tally = right[noise > 0]
        hits = sum(round(by_danco) == d for by_danco, _ in found)
        tally[0] += hits
        tally[1] += sum(by_pca == d for _, by_pca in found)
        tally[2] += len(found)
        if hits < len(found):
            wrong[f"{name}{' with noise' * (noise > 0)}"] = None
    evidence = "; ".join(
        f"{'with' if noisy else 'without'} noise right in {by_danco} of {total} draws (local PCA "
        f"{by_pca})"
        for noisy, (by_danco, by_pca, total) in sorted(right.items())
    )
    evidence = f"DANCo is {evidence}{', wrong on ' + ', '.join(wrong) if wrong else ''}."
    if not wrong:
        return Finding("danco-robust", HOLDS, evidence)
    if right[False][0] == right[False][2]:
        return Finding("danco-robust", CONDITIONAL, evidence, "without noise")
    return Finding("danco-robust", FAILS, evidence)
