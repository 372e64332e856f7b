"""Fig. 2: decay of the spectrum of P̂^t with the number of steps t."""

from __future__ import annotations

import itertools

import numpy as np

from viewhop.datasets import make_swiss_rolls
from viewhop.estimators import MultiViewDiffusionMaps
from viewhop.experiments._experiment import Context, Experiment, Picture, Result, Table
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
    rolls = _rolls(n_samples, context)
    kernel = Gaussian(bandwidth="max-min", factor=0.1)
    est = MultiViewDiffusionMaps.paper_settings(2, kernel=kernel, random_state=context.seed)
    est.fit(rolls)
    size = np.sort(np.abs(all_eigenvalues(est.walk_)))[::-1]
    ranks = {t: int(np.sum(size**t > _DELTA)) for t in _STEPS}
    return Result(
        ran={
            "samples": n_samples,
            "views": 3,
            "t": _STEPS,
            "kernel": "Gaussian, max-min scale, C = 0.1",
            "noise": f"standard deviation {_NOISE:g}",
        },
        paper={"samples": 1200, "views": 3, "t": None, "kernel": None, "noise": None},
        tables=(
            Table(
                f"Numerical rank of P̂^t: eigenvalues with |λ|^t > {_DELTA}",
                ("t", "rank", f"of {len(size)}"),
                tuple((str(t), rank, rank / len(size)) for t, rank in ranks.items()),
            ),
        ),
        numbers={"steps": _STEPS, "absolute_eigenvalues": size[:_SHOWN]},
        remarks=(
            f"As in the paper, the numerical rank falls with t: from {ranks[1]:,} at t = 1 to "
            f"{ranks[_STEPS[-1]]:,} at t = {_STEPS[-1]}.",
            "The paper prints neither the steps nor the scale of its figure, nor how its rolls "
            "differ; these are ours.",
        ),
    )


def _rolls(n_samples: int, context: Context) -> Views:
    """Three rotated copies of one roll with independent noise."""
    first = make_swiss_rolls(n_samples, noise=_NOISE, random_state=context.seed)
    clean = make_swiss_rolls(n_samples, random_state=context.seed).views["x"]
    generator = context.generator(1)
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
    return {"": Picture(figure, "Absolute eigenvalues of P̂^t, largest first, for six values of t.")}


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
    ),
)
