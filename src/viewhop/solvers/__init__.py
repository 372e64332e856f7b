"""Solvers: from a walk to the leading part of its spectrum."""

from viewhop.solvers._bounds import extreme_eigenvalue, truncation_interval
from viewhop.solvers._multilevel import solve_multilevel
from viewhop.solvers._rank import keep_positive, quote_views, truncation
from viewhop.solvers._solve import (
    DENSE_NODES,
    SOLVERS,
    choose_solver,
    is_many,
    solve,
    trivial_pairs,
)

__all__ = [
    "DENSE_NODES",
    "SOLVERS",
    "choose_solver",
    "extreme_eigenvalue",
    "is_many",
    "keep_positive",
    "quote_views",
    "solve",
    "solve_multilevel",
    "trivial_pairs",
    "truncation",
    "truncation_interval",
]
