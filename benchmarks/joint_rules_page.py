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
        "Written by `make bench-joint-rules`. The rule of decision was fixed",
        "before any score was computed; it stands in full in `benchmarks/joint_rules.py`: eight",
        "families of sets, each with a score in [0, 1], the paper's walk, the larger mean wins,",
        f"and a difference of at most {LEVEL} goes to `minimal`, the paper's wording.",
        "",
        f'**`Gaussian("joint")` takes `{chosen}`**: the means are '
        + " and ".join(
            f"{means['mean of the families'][rule]:.3f} (`{rule}`)" for rule in LINEAR_RANGES
        )
        + ". "
        + (f"It loses on {', '.join(loses)}." if loses else "It loses on no family."),
        f'The other rule is reached by `vh.bandwidth.joint(views, rule="{other}").scales`, whose',
        "numbers a kernel takes as its bandwidth.",
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
        f"By level: mean ± standard deviation over {draws} draws (helices and digits are not",
        "random), the mean scale σ, and the default walk, which does not decide.",
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
