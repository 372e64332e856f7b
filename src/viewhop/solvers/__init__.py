"""Solvers: the leading eigenpairs of a walk.

`Solver` is the contract. Wherever a solver's name is accepted, so is an object with a method
``solve(problem)``.
"""

from viewhop._registry import SOLVERS
from viewhop.solvers._auto import choose_solver, solving_bytes
from viewhop.solvers._bounds import extreme_eigenvalue, truncation_interval
from viewhop.solvers._eigengap import eigengap, log_gap
from viewhop.solvers._multilevel import solve_multilevel
from viewhop.solvers._problem import Problem, Solution, Solver
from viewhop.solvers._rank import (
    AccurateRank,
    DimensionRank,
    FixedRank,
    Rank,
    TrivialRank,
    UpToRank,
    keep_positive,
    quote_views,
    truncation,
)
from viewhop.solvers._solve import solve, trivial_pairs

__all__ = [
    "SOLVERS",
    "AccurateRank",
    "DimensionRank",
    "FixedRank",
    "Problem",
    "Rank",
    "Solution",
    "Solver",
    "TrivialRank",
    "UpToRank",
    "choose_solver",
    "eigengap",
    "extreme_eigenvalue",
    "keep_positive",
    "log_gap",
    "quote_views",
    "solve",
    "solve_multilevel",
    "solving_bytes",
    "trivial_pairs",
    "truncation",
    "truncation_interval",
]
