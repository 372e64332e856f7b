"""Solvers: from a walk to the leading part of its spectrum."""

from viewhop.solvers._solve import DENSE_NODES, SOLVERS, choose, is_many, known_pairs, solve

__all__ = ["DENSE_NODES", "SOLVERS", "choose", "is_many", "known_pairs", "solve"]
