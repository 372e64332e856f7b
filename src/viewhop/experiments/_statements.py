"""The paper's statements on random views: as printed, and with the conditions they need."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from viewhop.experiments._experiment import Context, Experiment, Picture, Result, Table, Trials
from viewhop.experiments._findings import CONDITIONAL, FAILS, HOLDS, Finding
from viewhop.experiments._statement_checks import SHARES, check_statements
from viewhop.plotting import INK, PALETTE, tidy_axes

__all__ = ["EXPERIMENTS"]

#: One value per draw, by name of the check.
Numbers = Mapping[str, NDArray[np.float64]]


class _Statement(NamedTuple):
    """A statement: its claim, where it stands, and what is measured of it.

    Attributes
    ----------
    claim, where : str
    shown : str
        What the number is.
    printed : callable
        Numbers to the measure of the printed form, (n_draws,); it should not exceed `most`.
    most : float
    corrected : callable or None
        Measure of the form with its condition, under the same bound.
    condition : str
    """

    claim: str
    where: str
    shown: str
    printed: Callable[[Numbers], NDArray[np.float64]]
    most: float
    corrected: Callable[[Numbers], NDArray[np.float64]] | None = None
    condition: str = ""


def _named(name: str) -> Callable[[Numbers], NDArray[np.float64]]:
    return lambda numbers: numbers[name]


def _ratio_spread(name: str) -> Callable[[Numbers], NDArray[np.float64]]:
    """Relative spread of the ratio of two distances over pairs of samples."""
    return lambda numbers: numbers[f"{name}: largest ratio"] / numbers[f"{name}: least ratio"] - 1


def _worse_limit(numbers: Numbers) -> NDArray[np.float64]:
    """Largest quotient of the distances from a limit at consecutive shares, both limits."""
    quotients = [
        numbers[f"{side} = {after:g}"] / numbers[f"{side} = {before:g}"]
        for side in ("η", "1 − η")
        for before, after in pairwise(SHARES)
    ]
    return np.asarray(np.max(quotients, axis=0))


_STATEMENTS = (
    _Statement(
        "stochastic",
        "Eqs. (13)–(14)",
        "largest difference of a row sum from 1, or step within a view",
        lambda numbers: np.maximum(numbers["row sums"], numbers["steps within a view"]),
        1e-12,
    ),
    _Statement(
        "distance-spectrum",
        "Theorem 1",
        "relative difference of both sides",
        _named("Theorem 1"),
        1e-10,
    ),
    _Statement(
        "embedding-distance",
        "Eq. (21)",
        "spread of the ratio of distances over pairs; three views, then two",
        _ratio_spread("three views"),
        1e-8,
        _ratio_spread("two views"),
        "two views, where the ratio is √2; with more it varies, and the embedding distance is the "
        "smaller one",
    ),
    _Statement(
        "multi-view-distance",
        "Eqs. (22)–(23)",
        "relative difference of both sides",
        _named("Eqs. (22)–(23)"),
        1e-10,
    ),
    _Statement(
        "scaling",
        "Abstract",
        "change of the embedding if a view is multiplied by 1,000",
        _named("rescaled"),
        1e-8,
    ),
    _Statement(
        "small-changes",
        "Abstract",
        "change of the embedding by noise of 1 % of the scale",
        _named("moved"),
        0.05,
    ),
    _Statement(
        "objective",
        "Theorem 2",
        "objective at ψ_1 above the minimum, relative",
        _named("Theorem 2 as printed"),
        1e-8,
        _named("Theorem 2 weighted"),
        "constraints weighted by the degrees, ρᵀD̂ρ = 1 and ρᵀD̂1 = 0 (erratum 5)",
    ),
    _Statement(
        "svd",
        "Theorem 3",
        "largest residual of ten eigenvectors",
        _named("Theorem 3 as printed"),
        1e-10,
        _named("Theorem 3 normalised"),
        "the SVD of the normalised K̄^z (erratum 2)",
    ),
    _Statement(
        "rotation",
        "Theorem 4",
        "cross-view distance of a rotated view, relative",
        _named("Theorem 4"),
        1e-8,
    ),
    _Statement(
        "eigenvalue-bound",
        "Theorem 5",
        "largest |λ| above 1",
        lambda numbers: numbers["largest |λ|"] - 1,
        1e-10,
    ),
    _Statement(
        "tail-products",
        "Lemma 2",
        "log of the left side minus log of the right",
        _named("Lemma 2"),
        0.0,
    ),
    _Statement(
        "decay-product",
        "Theorem 6",
        "log of the left side minus log of the right",
        _named("Theorem 6"),
        0.0,
    ),
    _Statement(
        "truncation",
        "Lemma 3",
        "share of pairs outside the bounds",
        lambda numbers: 1 - numbers["Lemma 3 by value"],
        0.0,
        lambda numbers: 1 - numbers["Lemma 3 by magnitude"],
        "eigenvalues by magnitude from all 2M; for the coordinates of Eq. (21) other bounds hold "
        "(erratum 5)",
    ),
    _Statement(
        "extension",
        "Eqs. (39)–(43)",
        "relative error at the training samples",
        _named("extension as printed"),
        1e-8,
        _named("extension by own row sum"),
        "division by the sample's own row sum (erratum 1)",
    ),
    _Statement(
        "within-view",
        "Eq. (49)",
        "distance of the spectrum from its limit, as a share of that at ten times the η or 1 − η",
        _worse_limit,
        0.5,
    ),
)


def run(context: Context) -> Result:
    """Every statement on every draw."""
    n_samples = 40 if context.quick else 120
    draws = []
    for trial in range(context.trials):
        context.progress("draws", trial, context.trials)
        draws.append(check_statements(n_samples, context.generator(trial)))
    context.progress("draws", context.trials, context.trials)
    numbers = {name: np.array([draw[name] for draw in draws]) for name in draws[0]}
    return Result(
        ran={"samples": n_samples, "views": [2, 3], "draws": context.trials},
        paper={"samples": None, "views": None, "draws": None},
        tables=(_statement_table(numbers), _connection_table(numbers)),
        numbers=numbers,
        remarks=(
            "The views are three curved images of the same uniform points, two of them with noise; "
            "kernels are Gaussian with max-min scales.",
        ),
        findings=(
            *(_find(statement, numbers) for statement in _STATEMENTS),
            _find_order(numbers),
            _find_connections(numbers),
        ),
    )


def _mean(numbers: Numbers, name: str) -> float:
    return float(numbers[name].mean())


def _statement_table(numbers: Numbers) -> Table:
    rows = []
    for each in _STATEMENTS:
        corrected = None if each.corrected is None else float(each.corrected(numbers).max())
        rows.append(
            (each.where, each.shown, float(each.printed(numbers).max()), corrected, each.most)
        )
    return Table(
        "Each statement: the largest value over all draws, and the largest that it allows",
        ("statement", "what is measured", "as printed", "with its condition", "allowed"),
        tuple(rows),
    )


def _connection_table(numbers: Numbers) -> Table:
    names = [name for name in numbers if name.startswith("alone")]
    return Table(
        "Samples without a neighbour at the smallest C that connects each in some view",
        ("where", "mean over draws", "largest"),
        tuple((name, _mean(numbers, name), float(numbers[name].max())) for name in names),
    )


def _find(statement: _Statement, numbers: Numbers) -> Finding:
    """Holds if the printed form keeps its bound in every draw, else if the corrected one does."""
    printed = statement.printed(numbers)
    evidence = (
        f"{statement.shown[0].upper()}{statement.shown[1:]}: {printed.max():.2g} at most over "
        f"{printed.size} draws as printed (allowed: {statement.most:g})"
    )
    if (printed <= statement.most).all():
        return Finding(statement.claim, HOLDS, f"{evidence}.")
    if statement.corrected is None:
        return Finding(statement.claim, FAILS, f"{evidence}.")
    corrected = statement.corrected(numbers)
    evidence = f"{evidence}; {corrected.max():.2g} with the condition."
    if (corrected <= statement.most).all():
        return Finding(statement.claim, CONDITIONAL, evidence, statement.condition)
    return Finding(statement.claim, FAILS, evidence)


def _find_order(numbers: Numbers) -> Finding:
    """Whether the second eigenvector by magnitude tells samples apart."""
    spread = numbers["its spread within a view"].max()
    evidence = (
        "With two views the second eigenvalue by magnitude is "
        f"{_mean(numbers, 'second by magnitude'):.3f}, and its eigenvector varies by {spread:.1g} "
        f"at most within a view, over {numbers['row sums'].size} draws."
    )
    if spread > 1e-8:
        return Finding("magnitude-order", HOLDS, evidence)
    condition = "coordinates by value, positive eigenvalues only (erratum 4)"
    return Finding("magnitude-order", CONDITIONAL, evidence, condition)


def _find_connections(numbers: Numbers) -> Finding:
    """Whether one view that connects a sample is enough."""
    scale, alone = numbers["C"], numbers["alone in the hop kernel"]
    below = int((scale < 1).sum())
    evidence = (
        f"C is {scale.mean():.2f} ± {scale.std():.2f} and below 1 in {below} of {scale.size} "
        f"draws; {alone.max():.0f} samples at most are alone in the multi-view kernel, where the "
        f"product leaves {_mean(numbers, 'alone in the product'):.1f} alone in the mean."
    )
    holds = alone.max() == 0 and 2 * below > scale.size
    return Finding("either-view-connects", HOLDS if holds else FAILS, evidence)


def draw(result: Result) -> dict[str, Picture]:
    """Picture of the distances of the spectrum from its limits over η."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    ax = figure.subplots()
    sides = (
        ("η", INK, "-", "o", "to the walk between views"),
        ("1 − η", PALETTE[0], "--", "s", "to the views apart"),
    )
    for side, colour, line, marker, label in sides:
        rows = np.array([result.numbers[f"{side} = {share:g}"] for share in SHARES])
        ax.plot(SHARES, rows.mean(axis=1), color=colour, linestyle=line, marker=marker, label=label)
        ax.fill_between(SHARES, rows.min(axis=1), rows.max(axis=1), color=colour, alpha=0.15)
    ax.set(xlabel="η, or 1 − η", ylabel="largest difference of eigenvalues")
    ax.legend(frameon=False)
    tidy_axes(ax, None)
    ax.set(xscale="log", yscale="log")  # after the axes are tidied, which sets linear ticks
    caption = (
        "The generalised kernel of Eq. (49): distance of its spectrum from that of the multi-view "
        "walk as η falls, and from those of the single views as 1 − η falls. Mean and range over "
        "the draws."
    )
    return {"": Picture(figure, caption)}


EXPERIMENTS = (
    Experiment(
        name="statements",
        where="Theorems 1–6, Lemmas 2–3",
        title="The statements, one by one",
        about=(
            "Each statement of Sections 4 and 5 on random views, all eigenvalues computed: as "
            "printed and, where that fails, with the condition that it needs."
        ),
        run=run,
        draw=draw,
        trials=Trials(default=20, quick=2, paper=None),
    ),
)
