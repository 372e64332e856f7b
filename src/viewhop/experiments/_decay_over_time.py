"""Fig. 2: decay of the spectrum of P̂^t with the number of steps t."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from viewhop.datasets import make_swiss_rolls
from viewhop.estimators import MultiViewDiffusionMaps
from viewhop.experiments._experiment import Context, Experiment, Picture, Result, Table, Trials
from viewhop.experiments._findings import FAILS, HOLDS, Finding
from viewhop.experiments._whole_spectrum import all_eigenvalues
from viewhop.kernels import Gaussian
from viewhop.plotting import PALETTE, tidy_axes
from viewhop.views import Views

__all__ = ["EXPERIMENTS"]

_STEPS = (1, 2, 4, 8, 16, 32)
_DELTA = 0.01
#: Without noise the three kernels would be equal: a rotation preserves distances.
_NOISE = 1.0
_SHOWN = 400


def run(context: Context) -> Result:
    """Eigenvalues of P̂ and of its powers."""
    n_samples = 200 if context.quick else 1200
    sizes = []
    for trial in range(context.trials):
        context.progress("draws", trial, context.trials)
        sizes.append(_magnitudes(n_samples, context, trial))
    context.progress("draws", context.trials, context.trials)
    size = sizes[0]
    ranks = np.array([[np.sum(each**t > _DELTA) for t in _STEPS] for each in sizes])
    return Result(
        ran={
            "samples": n_samples,
            "views": 3,
            "t": _STEPS,
            "draws": context.trials,
            "kernel": "Gaussian, max-min scale, C = 0.1",
            "noise": f"standard deviation {_NOISE:g}",
        },
        paper={
            "samples": 1200,
            "views": 3,
            "t": None,
            "draws": 1,
            "kernel": None,
            "noise": None,
        },
        tables=(
            Table(
                f"Numerical rank of P̂^t: eigenvalues with |λ|^t > {_DELTA}, of {len(size):,}",
                ("t", "mean over draws", "standard deviation", "share"),
                tuple(
                    (str(t), float(row.mean()), float(row.std(ddof=1)), row.mean() / len(size))
                    for t, row in zip(_STEPS, ranks.T, strict=True)
                ),
            ),
        ),
        numbers={"steps": _STEPS, "absolute_eigenvalues": size[:_SHOWN], "ranks": ranks},
        remarks=(
            "It must: every |λ| is at most 1 (Theorem 5), so its powers cannot grow.",
            "The paper prints neither the steps nor the scale of its figure, nor how its rolls "
            "differ; these are ours.",
        ),
        findings=(_find_fall(ranks),),
    )


def _find_fall(ranks: NDArray[np.int64]) -> Finding:
    """Whether the rank falls with every step of t, in every draw; (n_draws, n_steps) ranks."""
    falls = bool((np.diff(ranks, axis=1) < 0).all())
    evidence = (
        f"From {ranks[:, 0].mean():,.0f} ± {ranks[:, 0].std(ddof=1):.0f} at t = {_STEPS[0]} to "
        f"{ranks[:, -1].mean():,.0f} ± {ranks[:, -1].std(ddof=1):.0f} at t = {_STEPS[-1]}, over "
        f"{len(ranks)} draws."
    )
    return Finding("rank-over-time", HOLDS if falls else FAILS, evidence)


def _magnitudes(n_samples: int, context: Context, trial: int) -> NDArray[np.float64]:
    """Absolute eigenvalues of the walk of one draw, descending, (3 n_samples,)."""
    kernel = Gaussian(bandwidth="max-min", factor=0.1)
    est = MultiViewDiffusionMaps.paper_settings(2, kernel=kernel, random_state=context.seed)
    est.fit(_rolls(n_samples, context, trial))
    return np.sort(np.abs(all_eigenvalues(est.walk_)))[::-1]


def _rolls(n_samples: int, context: Context, trial: int) -> Views:
    """Three rotated copies of one roll with independent noise."""
    seed = context.integer(trial)
    first = make_swiss_rolls(n_samples, noise=_NOISE, random_state=seed)
    clean = make_swiss_rolls(n_samples, random_state=seed).views["x"]
    generator = context.generator(trial, 1)
    turned = make_swiss_rolls(2, random_state=generator).rotation
    third = clean @ turned.T + _NOISE * generator.standard_normal(clean.shape)
    return Views({**dict(first.views.items()), "z": third})


def draw(result: Result) -> dict[str, Picture]:
    """Picture of |λ|^t against its index, one line per t."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.2), layout="constrained")
    ax = figure.subplots()
    size = np.asarray(result.numbers["absolute_eigenvalues"])
    lines = itertools.cycle(("-", "--", "-."))
    for t, colour, line in zip(result.numbers["steps"], PALETTE, lines, strict=False):
        ax.plot(np.arange(len(size)), size**t, color=colour, linestyle=line, label=f"t = {t}")
    ax.set(xlabel="number of the eigenvalue", ylabel="|λ|^t")
    ax.legend(frameon=False)
    tidy_axes(ax, None, whole_x=True)
    return {
        "": Picture(
            figure, "Absolute eigenvalues of P̂^t of one draw, largest first, for six values of t."
        )
    }


EXPERIMENTS = (
    Experiment(
        name="decay-over-time",
        where="Fig. 2",
        title="The spectrum over time",
        about=(
            "Three Swiss rolls: a roll and two rotated copies, each with a little noise. All "
            "eigenvalues of P̂ are computed and raised to the power t; the numerical rank of P̂^t "
            "should fall as t grows."
        ),
        run=run,
        draw=draw,
        trials=Trials(default=10, quick=2, paper=1),
    ),
)
