"""Section 5.9: the effect of independent noise on coordinates from one view and from two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewhop.datasets import make_noisy_latents
from viewhop.experiments._experiment import (
    Cell,
    Context,
    Experiment,
    Picture,
    Result,
    Table,
    Trials,
)
from viewhop.experiments._noise_findings import judge_bias, judge_curves, judge_product
from viewhop.experiments._noise_measures import (
    KERNELS,
    ProductCheck,
    angle_errors,
    check_product,
    covariance_errors,
    curve_errors,
)
from viewhop.experiments._power_law import exponent
from viewhop.plotting import INK, PALETTE, tidy_axes

__all__ = ["EXPERIMENTS"]

Floats = NDArray[np.float64]

#: σ_n; the latent parameters of the linear model have a standard deviation of 1.
_NOISES = (0.1, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0)
_QUICK_NOISES = (0.3, 1.0, 1.5)
_SIZES = (100, 300, 1000, 3000, 10000)
#: Samples of the curves at σ_n = 1.
_CURVE_SIZES = (100, 300, 900)
_PAIR = ("single-view, max-min", "multi-view, max-min")
_PRODUCT = (
    "residual of Eq. (52), eigenvector of K^z",
    "residual of Eq. (52), singular vector",
    "correlation of the views, eigenvector",
    "correlation of the views, kernel CCA",
)


def run(context: Context) -> Result:
    """Errors of the linear model over sizes and noises, and of two curves over both."""
    noises = _QUICK_NOISES if context.quick else _NOISES
    sizes = _SIZES[:3] if context.quick else _SIZES
    curve_sizes = _CURVE_SIZES[:2] if context.quick else _CURVE_SIZES
    n_samples = 150 if context.quick else 300
    each = len(noises) + len(curve_sizes)
    over_sizes, angles, products, apart = [], [], [], 0
    errors: list[list[dict[str, float]]] = []
    larger: list[list[dict[str, float]]] = []
    for trial in range(context.trials):
        over_sizes.append([covariance_errors(m, 1.0, context.generator(0, trial)) for m in sizes])
        angles.append([angle_errors(1000, s, context.generator(1, trial)) for s in noises])
        drawn = make_noisy_latents(
            n_samples, kind="curves", noise=1.0, random_state=context.generator(2, trial)
        )
        products.append(check_product(drawn))
        errors.append([])
        larger.append([])
        todo = [(errors, n_samples, s, 2) for s in noises]
        todo += [(larger, m, 1.0, 3) for m in curve_sizes]
        for count, (found, m, s, key) in enumerate(todo):
            context.progress("trials", trial * each + count, context.trials * each)
            by_method, n_disconnected = curve_errors(m, s, context.generator(key, trial))
            found[-1].append(by_method)
            apart += n_disconnected
    context.progress("trials", context.trials * each, context.trials * each)
    names = [*errors[0][0]]
    by_noise, by_curve_size = (
        np.array([[[*e.values()] for e in row] for row in rows]) for rows in (errors, larger)
    )
    by_size, by_angle = np.mean(over_sizes, axis=0), np.mean(angles, axis=0)
    medians = np.median(by_noise, axis=0)
    more_samples = np.median(by_curve_size, axis=0)
    slopes = np.array(
        [[exponent(sizes, row[:, k]) for k in (0, 1)] for row in np.array(over_sizes)]
    )
    at = [names.index(name) for name in _PAIR]
    return Result(
        ran={
            "samples of the linear model": sizes,
            "samples of the curves": n_samples,
            "dimensions": 10,
            "trials": context.trials,
            "σ_n": noises,
            "kernel": [f"Gaussian, {name}" for name in KERNELS],
        },
        paper={"trials": None},
        tables=_tables(
            sizes, noises, by_size, by_angle, names, medians, curve_sizes, more_samples, products
        ),
        numbers={
            "sizes": sizes,
            "noises": noises,
            "covariance": dict(zip(("one view", "between views"), by_size.T[:2], strict=True)),
            "covariance_theory": dict(
                zip(("one view", "between views"), by_size.T[2:], strict=True)
            ),
            "angles": dict(zip(("PCA", "CCA"), by_angle.T[:2], strict=True)),
            "angles_theory": dict(zip(("PCA", "CCA"), by_angle.T[2:], strict=True)),
            "errors": dict(zip(names, medians.T, strict=True)),
        },
        remarks=_remarks(noises, dict(zip(names, medians.T, strict=True)), apart),
        findings=()
        if context.trials < 2
        else (
            judge_bias(slopes),
            judge_curves(noises, by_noise[:, :, at], curve_sizes, by_curve_size[:, :, at]),
            judge_product(products),
        ),
    )


def _tables(
    sizes: Sequence[int],
    noises: Sequence[float],
    by_size: Floats,
    by_angle: Floats,
    names: Sequence[str],
    by_noise: Floats,
    curve_sizes: Sequence[int],
    more_samples: Floats,
    products: Sequence[ProductCheck],
) -> tuple[Table, ...]:
    """Tables of covariance errors, of angles, of coordinate errors, and of Eq. (52)."""
    slopes = [exponent(sizes, column) for column in by_size.T]
    return (
        Table(
            "Linear model, σ_n = 1: relative error of the covariance, mean over trials",
            (
                "samples",
                "of one view, (1/M) X Xᵀ",
                "between views, (1/M) X Yᵀ",
                "of one view, theory",
                "between views, theory",
            ),
            (
                *_labelled_rows(sizes, by_size),
                ("exponent of M", *slopes),
                ("exponent, limit", 0.0, -0.5, 0.0, -0.5),
            ),
        ),
        Table(
            "Linear model, 1,000 samples: sine of the largest angle between the plane found "
            "and the true one, mean over trials",
            ("σ_n", "PCA", "CCA", "PCA, limit of many samples", "CCA, bound"),
            _labelled_rows(noises, by_angle),
        ),
        Table(
            "Curves: error 1 − ρ² of the first coordinate, median over trials",
            ("σ_n", *names),
            _labelled_rows(noises, by_noise),
        ),
        Table(
            "More samples of the curves, σ_n = 1: the same error",
            ("samples", *names),
            _labelled_rows(curve_sizes, more_samples),
        ),
        Table(
            "Curves, σ_n = 1: what Eqs. (50)–(52) are about, over trials",
            ("quantity", "mean", "least", "most"),
            tuple(
                (name, float(column.mean()), float(column.min()), float(column.max()))
                for name, column in zip(_PRODUCT, np.array(products).T, strict=True)
            ),
        ),
    )


def _labelled_rows(at: Sequence[float], values: Floats) -> tuple[tuple[Cell, ...], ...]:
    """Rows of a table, each labelled by its number."""
    return tuple((f"{each:g}", *row) for each, row in zip(at, values.tolist(), strict=True))


def _remarks(
    noises: tuple[float, ...], errors: Mapping[str, Floats], apart: int
) -> tuple[str, ...]:
    at = len(noises) // 2
    single, multi = (errors[name] for name in _PAIR)
    better = int((multi < single).sum())
    lists = "; ".join(f"{name} {values[at]:.3f}" for name, values in errors.items())
    return (
        f"On the curves, the multi-view coordinate loses less than the single-view one at "
        f"{better} of {len(noises)} noises (max-min). At σ_n = {noises[at]:g}: {lists}.",
        "Noise is strong along one direction, other in each view. Noise that is alike in all "
        "directions would leave the principal axes where they are, and bias their variances only. "
        f"Walks that fell apart: {apart}.",
        "What is removed is the bias of directions. A sample's own noise stays: the coordinates "
        "of CCA still hold the noise of the view they are read from, so no method reaches 0.",
        "What the paper calls CCA is an SVD of the covariance between the views, and so it is "
        "here; CCA would divide by the covariances of both.",
        "The paper has no experiment here; the model, its noise and the measure are ours. Its "
        "conditions 4 and 5, features that are linear in θ, are not met by Gaussian kernels.",
    )


_LINES: Mapping[str, dict[str, Any]] = {
    "PCA": {"color": PALETTE[3], "marker": "s", "linestyle": "--"},
    "CCA": {"color": PALETTE[1], "marker": "^", "linestyle": "-"},
    "single-view, max-min": {"color": PALETTE[0], "marker": "v", "linestyle": "--"},
    "multi-view, max-min": {"color": PALETTE[2], "marker": "o", "linestyle": "-"},
    "single-view, 10 neighbours": {"color": PALETTE[4], "marker": "D", "linestyle": "--"},
    "multi-view, 10 neighbours": {"color": PALETTE[5], "marker": "P", "linestyle": "-"},
}


#: Without a label: the caption says what these lines are.
_THEORY: Mapping[str, Any] = {"linestyle": (0, (1, 1.5)), "linewidth": 1.2}


def draw(result: Result) -> dict[str, Picture]:
    """Picture of covariance errors over the size, and of coordinate errors over the noise."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 4.3), layout="constrained")
    first, second, third = figure.subplots(1, 3)
    numbers = result.numbers
    for (name, values), like in zip(numbers["covariance"].items(), ("PCA", "CCA"), strict=True):
        first.plot(numbers["sizes"], values, label=name, **_LINES[like])
        theory = numbers["covariance_theory"][name]
        first.plot(numbers["sizes"], theory, **_THEORY, color=_LINES[like]["color"])
    first.set(xlabel="samples M", ylabel="relative error of the covariance")
    tidy_axes(first, "Linear: bias stays, chance averages out")
    first.set(xscale="log", yscale="log", ylim=(0.01, 1.5))
    for name, values in numbers["angles"].items():
        second.plot(numbers["noises"], values, label=name, **_LINES[name])
        theory = numbers["angles_theory"][name]
        second.plot(numbers["noises"], theory, **_THEORY, color=_LINES[name]["color"])
    second.set(xlabel="noise σ_n", ylabel="sine of the largest angle", ylim=(-0.03, 1.03))
    tidy_axes(second, "Linear: the plane that is found")
    for name, values in numbers["errors"].items():
        third.plot(numbers["noises"], values, label=name, markersize=5, **_LINES[name])
    third.set(xlabel="noise σ_n", ylabel="1 − ρ² of the first coordinate", ylim=(-0.03, 1.03))
    tidy_axes(third, "Curves: what is lost of the coordinate")
    for ax in (first, second):
        ax.legend(frameon=False, fontsize="small", labelcolor=INK, loc="center right")
    figure.legend(
        *third.get_legend_handles_labels(),
        loc="outside lower center",
        ncols=6,
        frameon=False,
        fontsize="small",
        title="right",
    )
    caption = (
        "Dashed: one view. Solid: two. Dotted, left: theory; middle: limit of PCA and bound of "
        "CCA. Left: error of the covariance over the samples. Middle: how far the plane found is "
        "turned from the true one. Right: what noise takes from the first coordinate of a curve; "
        "0 is nothing."
    )
    return {"": Picture(figure, caption)}


EXPERIMENTS = (
    Experiment(
        name="additive-noise",
        where="Section 5.9",
        title="Noise of a view's own",
        about=(
            "Two views of the same latent parameters, each with noise of its own, strong along "
            "one direction. What one view finds, by PCA or a diffusion map, is biased: more "
            "samples do not help. What both views share, found by CCA or by the walk between "
            "them, is not. The error of a coordinate is 1 − ρ², with its rank correlation ρ with "
            "the coordinate that the same method finds without noise."
        ),
        run=run,
        draw=draw,
        trials=Trials(default=20, quick=2, paper=0),
    ),
)
