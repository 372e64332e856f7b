"""The page on the linear range of Algorithm 1, in Markdown."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks.joint_rules import LEVEL, Row, decide, mean_scores
from viewhop._registry import LINEAR_RANGES

__all__ = ["write_page"]


def write_page(rows: list[Row], draws: int) -> str:
    """The page, in Markdown."""
    means, chosen = mean_scores(rows), decide(rows)
    other = next(rule for rule in LINEAR_RANGES if rule != chosen)
    loses = [
        f"{name} ({values[other] - values[chosen]:.3f})"
        for name, values in means.items()
        if values[other] - values[chosen] >= 0.0005  # shown as 0.001
    ]
    lines = [
        "# Which linear range Algorithm 1 takes",
        "",
        "Algorithm 1 asks for a linear range of log S; [the guide](guide.md#kernels-and-scales)",
        "defines the two rules, `minimal` and `steepest`, by which viewhop can find it. This page",
        "says which one a kernel uses. `make bench-joint-rules` writes it.",
        "",
        "The criterion was fixed before any score was computed; `benchmarks/joint_rules.py` states",
        "it in full. Eight families of data sets are embedded by the paper's walk and scored",
        "between 0 and 1. The rule with the larger mean over the families is taken; a difference",
        f"of at most {LEVEL} is a tie and goes to `minimal`, the paper's wording.",
        "",
        f'**`Gaussian("joint")` takes `{chosen}`**: the means are '
        + " and ".join(
            f"{means['mean of the families'][rule]:.3f} (`{rule}`)" for rule in LINEAR_RANGES
        )
        + ". "
        + (f"It is behind on {', '.join(loses)}." if loses else "It is behind on no family."),
        "For the other rule, pass the numbers of",
        f'`vh.bandwidth.joint(views, rule="{other}").scales` to the kernels as bandwidths.',
        "",
        "“Closed curve” is the circular rank correlation of the recovered angle with the true one,",
        "times the share of a turn that the curve closes. AMI is the adjusted mutual information",
        "of K-means clusters with the true ones.",
        "",
        "| family | measure | `minimal` | `steepest` |",
        "|---|---|---|---|",
    ]
    measures = {row.family: row.measure for row in rows}
    for name, values in means.items():
        cells = " | ".join(f"{values[rule]:.3f}" for rule in LINEAR_RANGES)
        lines.append(f"| {name} | {measures.get(name, '')} | {cells} |")
    lines += [
        "",
        f"The same by noise level: mean ± standard deviation over {draws} draws (helices and",
        "digits are not random). σ is the mean scale, geometric over the views and arithmetic over",
        "the draws. The default walk is shown for comparison and does not count.",
        "",
        "| set | σ `minimal` | σ `steepest` | `minimal` | `steepest` | default walk, `minimal` "
        "| default walk, `steepest` |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        scores = [_spread(by[rule]) for by in (row.scores, row.default) for rule in LINEAR_RANGES]
        scales = [f"{row.scales[rule]:.3g}" for rule in LINEAR_RANGES]
        name = ", ".join(part for part in (row.family, row.level) if part)
        lines.append(f"| {name} | {' | '.join([*scales, *scores])} |")
    return "\n".join(lines) + "\n"


def _spread(values: NDArray[np.float64]) -> str:
    if values.size == 1:
        return f"{values[0]:.3f}"
    return f"{values.mean():.3f} ± {values.std(ddof=1):.3f}"
