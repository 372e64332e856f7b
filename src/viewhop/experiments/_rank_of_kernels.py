"""Lemma 1 and Section 5.5.1: numerical rank of Gaussian kernels, boxes, intrinsic dimension."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from viewhop.dimension import box_count
from viewhop.experiments._dimension_estimates import (
    NOISE,
    Estimates,
    estimate_dimensions,
    judge_danco,
)
from viewhop.experiments._experiment import (
    Cell,
    Context,
    Experiment,
    Picture,
    Result,
    Table,
    Trials,
)
from viewhop.experiments._rank_findings import judge_boxes, judge_growth, judge_sizes
from viewhop.plotting import INK, PALETTE, tidy_axes
from viewhop.theory import gaussian_eigenvalues, rank_growth

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["EXPERIMENTS", "count_ranks"]

Floats = NDArray[np.float64]

#: Scale and number of samples of a unit cube of each dimension: some twenty eigenvalues or more
#: above 0.1, and far fewer above 1e-10 than there are samples.
_CUBES = {1: (0.02, 600), 2: (0.08, 1200), 3: (0.2, 1500)}
#: Standard normal samples, whose eigenvalues fall geometrically.
_NORMAL = {1: (0.5, 600), 2: (1.0, 1200)}
_SIZES = (250, 500, 1000, 2000)
_QUICK_SIZES = (100, 200, 400)
#: Samples of the manifolds.
_MANIFOLDS = (300, 500, 1000)
_QUICK_MANIFOLDS = (100,)
_DELTAS = (0.1, 0.01, 0.001)


def run(context: Context) -> Result:
    """Rank over δ, over samples and against boxes, and two estimates of the dimension."""
    sizes = _QUICK_SIZES if context.quick else _SIZES
    cubes = {d: (s, m // 4 if context.quick else m) for d, (s, m) in _CUBES.items()}
    normal = {d: (s, m // 4 if context.quick else m) for d, (s, m) in _NORMAL.items()}
    steps = 3 * context.trials
    growth: dict[str, list[float]] = {}
    counts: dict[str, Any] = {}
    boxes: list[dict[int, tuple[int, list[int]]]] = []
    over_sizes = []
    for trial in range(context.trials):
        context.progress("draws", 3 * trial, steps)
        boxes.append({})
        for d, (sigma, m) in cubes.items():
            X = context.generator(d, trial).uniform(size=(m, d))
            values = gaussian_eigenvalues(X, sigma=sigma)
            found = rank_growth(values)
            growth.setdefault(f"cube, d = {d}", []).append(found.exponent)
            counts.setdefault(f"cube, d = {d}", found.counts)
            boxes[-1][d] = (box_count(X, sigma), count_ranks(values))
        for d, (sigma, m) in normal.items():
            X = context.generator(10 + d, trial).standard_normal((m, d))
            found = rank_growth(gaussian_eigenvalues(X, sigma=sigma))
            growth.setdefault(f"normal, d = {d}", []).append(found.exponent)
            counts.setdefault(f"normal, d = {d}", found.counts)
        context.progress("draws", 3 * trial + 1, steps)
        over_sizes.append(_ranks_by_size(sizes, context.generator(20, trial)))
        context.progress("draws", 3 * trial + 2, steps)
    manifold_sizes = _QUICK_MANIFOLDS if context.quick else _MANIFOLDS
    estimates = estimate_dimensions(context, sizes=manifold_sizes)
    context.progress("draws", steps, steps)
    by_size = np.array(over_sizes, dtype=np.float64)
    return Result(
        ran={
            "cubes, dimension: σ and samples": [
                f"{d}: {s:g}, {m:,}" for d, (s, m) in cubes.items()
            ],
            "samples of the square": sizes,
            "δ": _DELTAS,
            "samples of the manifolds": manifold_sizes,
            "noise of the manifolds": f"{NOISE:g} of the largest deviation",
            "draws": context.trials,
        },
        paper={},
        tables=(
            _growth_table(growth),
            _size_table(sizes, by_size),
            _box_table(boxes),
            _dimension_table(estimates),
        ),
        numbers={
            "deltas": rank_growth([1.0, 0.5]).deltas,
            "counts": counts,
            "sizes": sizes,
            "ranks": by_size.mean(axis=0),
            "boxes": {
                str(d): [float(np.mean([each[d][0] for each in boxes])) for _ in _DELTAS]
                for d in cubes
            },
            "box_ranks": {str(d): np.mean([each[d][1] for each in boxes], axis=0) for d in cubes},
        },
        remarks=_REMARKS,
        findings=(
            judge_growth({d: growth[f"cube, d = {d}"] for d in cubes}),
            judge_sizes(sizes, by_size, _DELTAS),
            judge_boxes(boxes, _DELTAS),
            judge_danco(estimates),
        ),
    )


def count_ranks(eigenvalues: Floats) -> list[int]:
    """Number of eigenvalues above each δ times the largest."""
    return [int((eigenvalues > delta * eigenvalues.max()).sum()) for delta in _DELTAS]


def _ranks_by_size(sizes: Sequence[int], generator: np.random.Generator) -> list[list[int]]:
    """Ranks at one scale for growing numbers of samples of a square, one set in the next."""
    X = generator.uniform(size=(sizes[-1], 2))
    sigma = _CUBES[2][0]
    return [count_ranks(gaussian_eigenvalues(X[:m], sigma=sigma)) for m in sizes]


def _growth_table(growth: Mapping[str, Sequence[float]]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, values in growth.items():
        d = int(name[-1])
        # Mehler's formula for the normal distribution, Weyl's law for the cube.
        theory = float(d) if name.startswith("normal") else d / 2
        spread = float(np.std(values, ddof=min(1, len(values) - 1)))
        rows.append((name, float(np.mean(values)), spread, float(d), theory))
    return Table(
        "Lemma 1: exponent p of rank ≈ c · log(1/δ)^p, δ from 0.1 to 1e-10, over the draws",
        ("samples", "p, mean", "spread", "p, paper", "p, theory for δ → 0"),
        tuple(rows),
    )


def _size_table(sizes: Sequence[int], by_size: Floats) -> Table:
    return Table(
        f"Numerical rank over the number of samples of a square, σ = {_CUBES[2][0]:g}, mean",
        ("samples", *(f"δ = {delta:g}" for delta in _DELTAS)),
        tuple(
            (f"{m:,}", *row) for m, row in zip(sizes, by_size.mean(axis=0).tolist(), strict=True)
        ),
        digits=1,
    )


def _box_table(boxes: Sequence[Mapping[int, tuple[int, Sequence[int]]]]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for d in boxes[0]:
        n_boxes = [each[d][0] for each in boxes]
        ranks = np.array([each[d][1] for each in boxes], dtype=np.float64)
        rows.append((d, float(np.mean(n_boxes)), *ranks.mean(axis=0).tolist()))
    return Table(
        "Boxes of side σ that hold a sample, and numerical rank, mean over the draws",
        ("d", "boxes", *(f"rank, δ = {delta:g}" for delta in _DELTAS)),
        tuple(rows),
        digits=1,
    )


def _dimension_table(estimates: Estimates) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for (name, d, noise, n_samples), found in estimates.items():
        danco, pca = np.array(found).T
        rows.append(
            (
                name,
                f"{n_samples:,}",
                "yes" if noise else "no",
                d,
                float(danco.mean()),
                float(np.mean(np.round(danco) == d)),
                float(pca.mean()),
                float(np.mean(pca == d)),
            )
        )
    return Table(
        "Intrinsic dimension of known manifolds, over the draws",
        ("manifold", "samples", "noise", "d", "DANCo", "right, rounded", "local PCA", "right"),
        tuple(rows),
        digits=2,
    )


_REMARKS = (
    "Lemma 1 cites Weyl's law, which gives d/2: the eigenvalues of a Gaussian on a manifold fall "
    "as exp(−c k^{2/d}) (erratum 14). In a cube the edges add a little. A normal distribution in "
    "R^d has the printed exponent in the limit, by Mehler's formula; finite samples of it have no "
    "tails and stay below.",
    "δ is a share of the largest eigenvalue. Counted above an absolute δ, eigenvalues of a kernel "
    "that is not normalised grow with the number of samples.",
    "The paper prints σ^D as the side of a box, which is its volume; boxes here have the side σ "
    "(erratum 9).",
    "Both estimates of the dimension depend on the number of samples, so all numbers that were "
    "tried are shown.",
    "The paper has no experiment here: manifolds, noise and sizes are ours.",
)


def draw(result: Result) -> dict[str, Picture]:
    """Picture of the rank over δ, over the samples, and against the boxes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 4.3), layout="constrained")
    first, second, third = figure.subplots(1, 3)
    numbers = result.numbers
    logs = np.log(1 / np.asarray(numbers["deltas"]))
    for place, (name, counts) in enumerate(numbers["counts"].items()):
        first.plot(
            logs,
            counts,
            label=name,
            color=PALETTE[place],
            marker="osv^D"[place],
            markersize=4,
            linestyle="--" if name.startswith("normal") else "-",
        )
    first.set(xlabel="log(1/δ)", ylabel="eigenvalues above δ")
    tidy_axes(first, "Rank over δ, one draw")
    first.set(xscale="log", yscale="log")
    _name_ticks(first, (3, 5, 10, 20))
    for place, delta in enumerate(_DELTAS):
        ranks = np.asarray(numbers["ranks"])[:, place]
        second.plot(
            numbers["sizes"],
            ranks,
            label=f"δ = {delta:g}",
            color=PALETTE[place],
            marker="osv"[place],
        )
    second.set(xlabel="samples", ylabel="numerical rank")
    tidy_axes(second, "Rank over the samples, d = 2")
    second.set_xscale("log")
    _name_ticks(second, numbers["sizes"])
    second.set_ylim(bottom=0)
    for place, d in enumerate(numbers["boxes"]):
        third.plot(
            numbers["boxes"][d],
            numbers["box_ranks"][d],
            label=f"d = {d}",
            color=PALETTE[place],
            marker="osv"[place],
            linestyle=":",
        )
    ends = np.array([10.0, 1000.0])
    third.plot(ends, ends, color=INK, linewidth=1, label="rank = boxes")
    third.set(xlabel="boxes of side σ", ylabel="numerical rank")
    tidy_axes(third, "Boxes; δ = 0.1, 0.01, 0.001 upwards")
    third.set(xscale="log", yscale="log")
    for ax in (first, second, third):
        ax.legend(frameon=False, fontsize="small", labelcolor=INK)
    caption = (
        "Left: both axes are logarithmic, so the exponent is the slope; dashed: normal "
        "distribution. Middle: mean over the draws. Right: above the line, the number of boxes is "
        "no bound."
    )
    return {"": Picture(figure, caption)}


def _name_ticks(ax: Axes, at: Sequence[float]) -> None:
    """Label these numbers on a logarithmic x-axis, and no others."""
    ax.set_xticks(at, [f"{value:,}" for value in at])
    ax.set_xticks([], minor=True)


EXPERIMENTS = (
    Experiment(
        name="numerical-rank",
        where="Lemma 1 and Section 5.5.1",
        title="The rank of a Gaussian kernel",
        about=(
            "Samples of cubes of one to three dimensions: how the number of eigenvalues above δ "
            "grows as δ falls, whether it depends on the number of samples, and whether boxes of "
            "side σ bound it. On manifolds of known dimension, DANCo beside local PCA."
        ),
        run=run,
        draw=draw,
        trials=Trials(default=10, quick=2, paper=None),
        extras=("dimension",),
    ),
)
