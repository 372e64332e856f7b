"""Fig. 3: the sum of a kernel product over both scales, and the scales of Algorithm 1."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist, squareform

from viewhop.bandwidth import JointScales, Surface, joint, log_log, max_min
from viewhop.datasets import make_circles, make_helices, make_mixtures, make_swiss_rolls
from viewhop.errors import ScaleWarning
from viewhop.experiments._bandwidth_findings import (
    ScaleDraw,
    judge_asymptotes,
    judge_cost,
    judge_small,
)
from viewhop.experiments._bandwidth_pictures import draw
from viewhop.experiments._experiment import Cell, Context, Experiment, Result, Table, Trials
from viewhop.views import Views

__all__ = ["EXPERIMENTS", "count_kernel_values"]

_RULES = ("minimal", "steepest")
_SINGLE: dict[str, Callable[[Any], float]] = {"max-min": max_min, "log-log": log_log}
#: Data whose surfaces are drawn.
_SHOWN = ("Swiss rolls", "thin circles")


class _Data(NamedTuple):
    """Two views of some data.

    Attributes
    ----------
    make : callable
        Maps the number of a draw to views.
    dimension : int
        Intrinsic dimension.
    is_random : bool
        Whether draws differ.
    """

    make: Callable[[int], Views]
    dimension: int
    is_random: bool = True


def run(context: Context) -> Result:
    """Asymptotes of log S, chosen scales, and slopes at these scales."""
    data = _data(context)
    draws: dict[str, list[ScaleDraw]] = {name: [] for name in data}
    shown: dict[str, Any] = {}
    for count, (name, case) in enumerate(data.items()):
        for trial in range(context.trials if case.is_random else 1):
            views = case.make(trial)
            draw_, by_rule = _measure(views, context)
            draws[name].append(draw_)
            if trial == 0 and name in _SHOWN:
                shown[name] = {rule: _keep(by_rule[rule]) for rule in _RULES}
        context.progress("data", count + 1, len(data))
    sizes = (50, 100, 200) if context.quick else (250, 500, 1000)
    counts = {n: count_kernel_values(n, n_views=2, n_scales=5) for n in sizes}
    asymptotes, scales = _asymptote_table(draws), _scale_table(draws, data)
    return Result(
        ran={
            "samples": [int(each[0].ends[0]) for each in draws.values()],
            "data": [*data],
            "trials": context.trials,
            "grid": "60 × 60, by the data",
        },
        paper={"samples": None, "data": None, "trials": None, "grid": "σ in [1e-5, 1e5]"},
        tables=(asymptotes, scales, _count_table(counts)),
        numbers={"shown": shown, "samples": {n: draws[n][0].ends[0] for n in _SHOWN}},
        remarks=_remarks(draws),
        findings=(judge_asymptotes(draws), judge_small(draws, tuple(_SINGLE)), judge_cost(counts)),
    )


def _data(context: Context) -> dict[str, _Data]:
    """The data by name, smaller in a quick run."""
    few = context.quick
    n_rolls, n_circles, n_mixtures = (300, 300, 240) if few else (1000, 1600, 600)

    def circles(noise: float) -> Callable[[int], Views]:
        return lambda trial: (
            make_circles(n_circles, noise=noise, random_state=context.integer(trial, 2)).views
        )

    def rolls(trial: int) -> Views:
        seed = context.integer(trial, 1)
        return Views(make_swiss_rolls(n_rolls, noise=0.1, random_state=seed).views)

    def mixtures(trial: int) -> Views:
        return Views(make_mixtures(n_mixtures, random_state=context.integer(trial, 3)).views)

    def helices(trial: int) -> Views:
        return Views(make_helices("B", n_samples=250 if few else 1000).views)

    return {
        "Swiss rolls": _Data(rolls, 2),
        "thin circles": _Data(circles(0.03), 1),
        "noisy circles": _Data(circles(0.16), 1),
        "corkscrews": _Data(helices, 1, is_random=False),
        "six clusters": _Data(mixtures, 9),
    }


def _measure(views: Views, context: Context) -> tuple[ScaleDraw, dict[str, JointScales]]:
    """Scales and ends of one draw, and Algorithm 1 by both rules."""
    by_rule = {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ScaleWarning)
        for rule in _RULES:
            by_rule[rule] = joint(views, rule=rule, random_state=context.generator(3))
    scales = {rule: (each.scales["x"], each.scales["y"]) for rule, each in by_rule.items()}
    for rule, choose in _SINGLE.items():
        scales[rule] = choose(views["x"]), choose(views["y"])
    surface, slopes = by_rule["minimal"].surfaces["x", "y"], by_rule["minimal"].slopes["x", "y"]
    nearest = int(np.argmin(abs(np.log(surface.other_scales / scales["minimal"][1]))))
    slope = np.interp(np.log(scales["minimal"][0]), np.log(surface.scales), slopes[:, nearest])
    return ScaleDraw(scales, _ends(len(views), surface), float(slope), bool(caught)), by_rule


def _ends(n_samples: int, surface: Surface) -> tuple[float, ...]:
    """M, and each asymptote followed by the value that should reach it."""
    log, values = float(np.log(n_samples)), surface.values
    return (
        n_samples,
        log,
        float(values[0, 0]),
        3 * log,
        float(values[-1, -1]),
        2 * log,
        float(values[-1, 0]),
    )


def _keep(result: JointScales) -> dict[str, Any]:
    """What the picture needs of Algorithm 1."""
    surface = result.surfaces["x", "y"]
    return {
        "chosen": result.scales,
        "scales": surface.scales,
        "other_scales": surface.other_scales,
        "values": surface.values,
        "ranges": result.ranges["x", "y"],
    }


def count_kernel_values(n_samples: int, *, n_views: int, n_scales: int) -> int:
    """Number of kernel values that steps 1 and 2 of Algorithm 1 evaluate, as they are printed.

    Parameters
    ----------
    n_samples, n_views, n_scales : int
    """
    generator = np.random.default_rng(0)
    count = 0
    for _ in range(n_views):
        squares = squareform(pdist(generator.standard_normal((n_samples, 2)), "sqeuclidean"))
        for scale in np.geomspace(0.01, 10, n_scales):
            count += np.exp(-squares / (2 * scale**2)).size
    return count


def _asymptote_table(draws: Mapping[str, list[ScaleDraw]]) -> Table:
    """Table of both asymptotes of log S and those of its slice, of the first draw."""
    return Table(
        "Both asymptotes of log S, and those of the slice where the other scale is smallest",
        (
            "data",
            "M",
            "log M",
            "smallest log S",
            "3 log M",
            "largest log S",
            "2 log M",
            "end of the slice",
        ),
        tuple((name, int(each[0].ends[0]), *each[0].ends[1:]) for name, each in draws.items()),
    )


def _scale_table(draws: Mapping[str, list[ScaleDraw]], data: Mapping[str, _Data]) -> Table:
    """Table of the scales of view x by rule, and of the slope at the minimal one."""
    rules = (*_RULES, *_SINGLE)
    rows: list[tuple[Cell, ...]] = []
    for name, each in draws.items():
        scales = [_spread(np.array([one.scales[rule][0] for one in each])) for rule in rules]
        slopes = _spread(np.array([one.slope for one in each]))
        rows.append((name, *scales, slopes, data[name].dimension))
    return Table(
        "Scales of view x by rule, and the slope of log S over log σ at Algorithm 1: mean ± "
        "standard deviation over draws",
        (
            "data",
            "Algorithm 1",
            "Algorithm 1, steepest",
            "max-min, C = 1",
            "log-log, one view",
            "slope",
            "dimension",
        ),
        tuple(rows),
    )


def _count_table(counts: Mapping[int, int]) -> Table:
    return Table(
        "Kernel values that steps 1 and 2 evaluate as printed, for L = 2 views and n_0 = 5 scales",
        ("M", "kernel values", "M L n_0, the printed cost"),
        tuple((str(n), count, n * 2 * 5) for n, count in counts.items()),
    )


def _spread(values: NDArray[np.float64]) -> str:
    """Mean and standard deviation over draws, as text."""
    spread = f" ± {values.std(ddof=1):.2g}" if values.size > 1 else ""
    return f"{values.mean():.3g}{spread}"


def _remarks(draws: Mapping[str, list[ScaleDraw]]) -> tuple[str, ...]:
    ratio = {
        name: float(
            np.exp(
                np.mean([np.log(one.scales["steepest"][0] / one.scales["minimal"][0]) for one in d])
            )
        )
        for name, d in draws.items()
    }
    warned = sum(one.warned for each in draws.values() for one in each)
    return (
        "Algorithm 1 asks for the minimal scale at which log S is linear; by default that is the "
        "first linear range from below. The range around the steepest slope gives larger scales, "
        "by a factor of "
        + ", ".join(f"{value:.1f} ({name})" for name, value in ratio.items())
        + ": where data are linear at the scale of the samples and again at that of the clusters "
        "or turns, it takes the second.",
        "The slope at the chosen scale estimates the intrinsic dimension where the samples fill "
        "it: nine dimensions are more than these samples fill.",
        "The paper prints neither the data of its figure nor its numbers; these data are ours. "
        "The grid follows the data: the paper's range of ten decades is flat for the most part. "
        "Two samples of view y of the corkscrews are one point, so S begins at M + 2 there.",
        f"In {warned} of {sum(map(len, draws.values()))} draws Algorithm 1 warned, by one of its "
        "rules, that no single scale is linear in all slices.",
    )


EXPERIMENTS = (
    Experiment(
        name="bandwidth-surface",
        where="Fig. 3",
        title="The scales of two views together",
        about=(
            "S is the sum of all entries of K^x(σ_x) K^y(σ_y). Its logarithm has two asymptotes: "
            "log M where both kernels are the identity, 3 log M where both are constant. "
            "Algorithm 1 takes the smallest scales at which it is linear in between; the slope "
            "there is the dimension of the data."
        ),
        run=run,
        draw=draw,
        trials=Trials(default=10, quick=2, paper=None),
    ),
)
