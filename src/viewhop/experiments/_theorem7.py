"""Theorem 7 and Section 5.7: order of the error in ε, and of the variance in M and ε."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewhop.experiments._experiment import Context, Experiment, Picture, Result, Table, Trials
from viewhop.experiments._findings import CONDITIONAL, FAILS, HOLDS, Finding
from viewhop.experiments._power_law import exponent
from viewhop.plotting import INK, PALE, PALETTE, tidy_axes
from viewhop.theory import (
    circle_walk,
    generator_expansion,
    parzen_density,
    suggested_epsilon,
    variance_bound,
    walk_step,
)

__all__ = ["EXPERIMENTS", "density", "expansion_errors", "printed_expansion"]

Floats = NDArray[np.float64]

_EPSILONS = (0.02, 0.01, 0.005, 0.0025)
_SIZES = (100, 200, 400, 800)
_WINDOWS = (0.04, 0.02, 0.01, 0.005, 0.0025)
#: M and ε that are fixed while the other varies.
_HELD = (400, 0.01)
#: Minimum number of draws for a variance: ten batches of four.
_LEAST = 40
#: Point of the first view at which the density is estimated.
_POINT = 0.6
#: Largest density of y = (x + x²)/2 for uniform x: α = 1/β′ with β′ = 1/2 + x.
_SUP_DENSITY = 2.0
#: Order of the error that the paper claims.
_ORDER = 1.5
_TERMS = ("without the ε-term", "ε-term as printed", "ε-term corrected")


def run(context: Context) -> Result:
    """Errors of the expansion on a grid, and variances from repeated draws."""
    n_grid = 200 if context.quick else 600
    sizes = _SIZES[:3] if context.quick else _SIZES
    errors = expansion_errors(n_grid)
    slopes = {
        term: [exponent(_EPSILONS, side) for side in by_side] for term, by_side in errors.items()
    }
    n_draws = max(context.trials, _LEAST)
    draws = _draws(context, sizes, n_draws)
    by_size, by_window = draws["by size"].var(axis=0), draws["by ε"].var(axis=0)
    bounds = [_bound(m, _HELD[1]) for m in sizes], [_bound(_HELD[0], e) for e in _WINDOWS]
    truth = 1.0 / (0.5 + _POINT)
    laws: tuple[tuple[str, float, float, float], ...] = (
        ("variance over M", *_law(sizes, draws["by size"], np.var), -1.0),
        ("variance over ε", *_law(_WINDOWS, draws["by ε"], np.var), -1.5),
        (
            "squared error over M, at the suggested ε",
            *_law(sizes, (draws["suggested"] - truth) ** 2, np.mean),
            -4.0 / 7.0,
        ),
    )
    return Result(
        ran={
            "grid of the circle": n_grid,
            "ε of the circle": _EPSILONS,
            "samples": sizes,
            "ε of the density": _WINDOWS,
            "draws": n_draws,
            "β of the circle": "x + 0.3 sin x",
            "β of the density": "(x + x²)/2",
        },
        paper={"draws": None},
        tables=_tables(slopes, laws, sizes, by_size, bounds[0]),
        numbers={
            "epsilons": _EPSILONS,
            "errors": {term: by_side.max(axis=0) for term, by_side in errors.items()},
            "sizes": sizes,
            "by_size": by_size,
            "size_bounds": bounds[0],
            "windows": _WINDOWS,
            "by_window": by_window,
            "window_bounds": bounds[1],
        },
        remarks=_remarks(slopes, laws, [*by_size / bounds[0], *by_window / bounds[1]]),
        findings=(
            _find_order(slopes),
            _find_variance(laws[0], np.concatenate([by_size / bounds[0], by_window / bounds[1]])),
        ),
    )


def _find_order(slopes: Mapping[str, Sequence[float]]) -> Finding:
    """Whether the error after the ε-term is of the claimed order, on either side."""
    printed, corrected = min(slopes[_TERMS[1]]), min(slopes[_TERMS[2]])
    evidence = (
        f"On two circles, the error falls as ε to the {printed:.2f} after the printed ε-term, and "
        f"to the {corrected:.2f} after the corrected one; nothing is random here."
    )
    if printed >= _ORDER:
        return Finding("generator", HOLDS, evidence)
    if corrected >= _ORDER:
        return Finding("generator", CONDITIONAL, evidence, "the corrected ε-term (erratum 11)")
    return Finding("generator", FAILS, evidence)


def _find_variance(law: tuple[str, float, float, float], shares: Floats) -> Finding:
    """Whether the variance keeps its bound, and falls with M as the bound does."""
    _, slope, error, claimed = law
    evidence = (
        f"Variance falls as M to the {slope:.2f} ± {error:.2f}; at most {shares.max():.1%} of the "
        "bound (the constants are ours), so it is right in M and loose otherwise."
    )
    holds = shares.max() <= 1 and abs(slope - claimed) <= 2 * error
    return Finding("parzen", HOLDS if holds else FAILS, evidence)


def _tables(
    slopes: Mapping[str, Sequence[float]],
    laws: tuple[tuple[str, float, float, float], ...],
    sizes: Sequence[int],
    by_size: Floats,
    size_bounds: Sequence[float],
) -> tuple[Table, ...]:
    """Tables of the orders in ε, of the exponents, and of the variance with its bound."""
    return (
        Table(
            "Order in ε of the largest error of one step, Theorem 7",
            ("expansion", "(P̂g)(x)", "(P̂f)(y)", "order it should have", "paper claims"),
            tuple(
                (term, *slopes[term], order, claimed)
                for term, order, claimed in zip(
                    _TERMS, (1.0, 1.0, 2.0), (None, 1.5, None), strict=True
                )
            ),
            digits=2,
        ),
        Table(
            "Exponents of the density estimate, d = 1, Eqs. (47)–(48)",
            ("law", "measured", "standard error", "of the bound"),
            laws,
            digits=2,
        ),
        Table(
            f"Variance at x = {_POINT:g} beside its bound, ε = {_HELD[1]:g}",
            ("samples", "measured", "bound", "bound / measured"),
            tuple(
                (f"{m:,}", float(v), b, b / float(v))
                for m, v, b in zip(sizes, by_size, size_bounds, strict=True)
            ),
        ),
    )


def expansion_errors(n_grid: int) -> dict[str, Floats]:
    """Largest errors of (P̂g)(x) and (P̂f)(y) for each expansion, (2, n_epsilons) each.

    Parameters
    ----------
    n_grid : int
        Samples around the circle.
    """
    x = 2 * np.pi * np.arange(n_grid) / n_grid
    y = x + 0.3 * np.sin(x)
    h = np.concatenate([np.sin(x) + 0.3 * np.cos(2 * x), np.cos(y) + 0.2 * np.sin(2 * y)])
    f, g = np.split(h, 2)
    by_term: dict[str, list[Floats]] = {term: [] for term in _TERMS}
    for epsilon in _EPSILONS:
        stepped = walk_step(circle_walk(x, y, epsilon=epsilon), h)
        expansions = (
            np.concatenate([g, f]),
            printed_expansion(x, h, epsilon),
            generator_expansion(y, h, epsilon=epsilon),
        )
        for term, expansion in zip(_TERMS, expansions, strict=True):
            by_term[term].append(np.abs(stepped - expansion).reshape(2, -1).max(axis=1))
    return {term: np.array(errors).T for term, errors in by_term.items()}


def printed_expansion(x: Floats, h: Floats, epsilon: float) -> Floats:
    """Eqs. (45)–(46) as printed, for β(x) = x + 0.3 sin x, (2M,).

    Parameters
    ----------
    x : (M,) array
        Angles of the first view, evenly spaced on the circle.
    h : (2M,) array
        f(x_1), …, f(x_M), g(y_1), …, g(y_M).
    epsilon : float
    """

    def derivative(u: Floats) -> Floats:
        frequencies = np.fft.rfftfreq(u.size, 1.0 / u.size)
        return np.asarray(np.fft.irfft(1j * frequencies * np.fft.rfft(u), u.size))

    f, g = np.split(h, 2)
    speed = 1.0 + 0.3 * np.cos(x)
    alpha = 1.0 / speed
    in_first = derivative(derivative(g * alpha) / speed) / speed / alpha
    in_second = derivative(derivative(f * alpha)) / alpha
    return np.concatenate([g + epsilon * in_first, f + epsilon * in_second])


def _draws(context: Context, sizes: tuple[int, ...], n_draws: int) -> dict[str, Floats]:
    """Density estimates at one point by series, with one row per draw."""

    def estimate(key: int, trial: int, n_samples: int, epsilon: float) -> float:
        return density(n_samples, epsilon, context.generator(key, trial, n_samples))

    estimates: dict[str, list[list[float]]] = {"by size": [], "by ε": [], "suggested": []}
    for trial in range(n_draws):
        if trial % 20 == 0:
            context.progress("draws", trial, n_draws)
        estimates["by size"].append([estimate(0, trial, m, _HELD[1]) for m in sizes])
        estimates["by ε"].append([estimate(1, trial, _HELD[0], e) for e in _WINDOWS])
        estimates["suggested"].append(
            [estimate(2, trial, m, suggested_epsilon(m, 1, scale=0.3)) for m in sizes]
        )
    context.progress("draws", n_draws, n_draws)
    return {name: np.array(rows) for name, rows in estimates.items()}


def _law(at: Sequence[float], draws: Floats, statistic: Callable[..., Any]) -> tuple[float, float]:
    """Exponent of a statistic of the draws, and its standard error from ten batches."""
    batches = [exponent(at, statistic(batch, axis=0)) for batch in np.array_split(draws, 10)]
    return exponent(at, statistic(draws, axis=0)), float(np.std(batches, ddof=1) / np.sqrt(10))


def density(n_samples: int, epsilon: float, generator: np.random.Generator) -> float:
    """Multi-view window estimate of the density at one point, from one draw.

    Parameters
    ----------
    n_samples : int
    epsilon : float
    generator : Generator
    """
    x = generator.uniform(size=(n_samples, 1))
    return float(parzen_density(x, (x + x**2) / 2, [[_POINT]], epsilon=epsilon)[0])


def _bound(n_samples: int, epsilon: float) -> float:
    return variance_bound(n_samples, 1, epsilon=epsilon, density_bound=_SUP_DENSITY)


def _remarks(
    slopes: dict[str, list[float]],
    laws: tuple[tuple[str, float, float, float], ...],
    shares: list[float],
) -> tuple[str, ...]:
    printed, corrected = (min(slopes[term]) for term in _TERMS[1:])
    return (
        f"The paper claims an error of order 3/2. After the printed ε-term it is of order "
        f"{printed:.2f}{'' if printed > 1.4 else ', as without any'}; after the corrected one "
        f"(erratum 11) of order {corrected:.2f}.",
        f"The variance of the density estimate falls as M to the {laws[0][1]:.2f} ± "
        f"{laws[0][2]:.2f}; the bound has −1. It grows as ε to the {laws[1][1]:.2f}, slower than "
        f"the −1.5 of the bound, and the largest variance is {max(shares):.1%} of its bound: "
        "right in M, loose otherwise.",
        f"At the ε that the bound suggests the squared error falls as M to the {laws[2][1]:.2f}; "
        "balanced with the bound it would be −4/(4 + 3d) = −0.57.",
        "The paper has no experiment here; circle, densities and sizes are ours.",
    )


_LINES: dict[str, dict[str, Any]] = {
    "without the ε-term": {"color": PALETTE[3], "marker": "s", "linestyle": "--"},
    "ε-term as printed": {"color": PALETTE[0], "marker": "^", "linestyle": "-."},
    "ε-term corrected": {"color": PALETTE[2], "marker": "o", "linestyle": "-"},
}


def draw(result: Result) -> dict[str, Picture]:
    """Picture of errors over ε, and of variances over M and over ε."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 4.3), layout="constrained")
    first, second, third = figure.subplots(1, 3)
    numbers = result.numbers
    for term, errors in numbers["errors"].items():
        order = exponent(numbers["epsilons"], errors)
        first.plot(numbers["epsilons"], errors, label=f"{term}: {order:.2f}", **_LINES[term])
    first.set(xlabel="ε = σ² (radians²)", ylabel="largest error of one step")
    tidy_axes(first, "Theorem 7: order of the error in ε")
    for ax, at, values, bounds in (
        (second, numbers["sizes"], numbers["by_size"], numbers["size_bounds"]),
        (third, numbers["windows"], numbers["by_window"], numbers["window_bounds"]),
    ):
        for name, line, style in (
            ("bound", bounds, {"color": INK, "linestyle": "--", "marker": "v"}),
            ("measured", values, {"color": PALETTE[2], "marker": "o"}),
        ):
            ax.plot(at, line, label=f"{name}: {exponent(at, line):.2f}", **style)
        ax.set_ylabel("variance of the density estimate")
    second.set_xlabel("samples M")
    third.set_xlabel("ε = σ²")
    tidy_axes(second, f"Variance over M, ε = {_HELD[1]:g}")
    tidy_axes(third, f"Variance over ε, M = {_HELD[0]:,}")
    for ax, at in ((first, "epsilons"), (second, "sizes"), (third, "windows")):
        ax.set(xscale="log", yscale="log")
        ax.set_xticks(numbers[at], [f"{each:g}" for each in numbers[at]], rotation=30)
        ax.minorticks_off()
        ax.grid(color=PALE, linewidth=0.4)
        ax.legend(frameon=False, fontsize="small", title="exponent", labelcolor=INK)
    caption = (
        "Left: what one step of the walk on two circles differs from its expansion. Middle and "
        "right: variance of the density estimate beside the bound of Eq. (48). The numbers in the "
        "legends are slopes."
    )
    return {"": Picture(figure, caption)}


EXPERIMENTS = (
    Experiment(
        name="generator",
        where="Theorem 7 and Section 5.7",
        title="The operator behind the walk",
        about=(
            "For small scales a step of the walk between two views is a differential operator. On "
            "two circles, one of them stretched, everything is known, and the order of the error "
            "in ε can be measured: with the ε-term as printed and as corrected. Then the density "
            "estimate of two views: its variance over M and ε beside the paper's bound."
        ),
        run=run,
        draw=draw,
        trials=Trials(default=1000, quick=100, paper=0),
    ),
)
