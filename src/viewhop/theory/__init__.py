"""The paper's theorems, in corrected form, as functions to check on a walk.

Each function takes a fitted estimator, its walk, or the views, and returns the quantities that a
theorem compares, so that users can verify it on their own data or see which condition fails.

Theorem 1 : `distance_sides`
Theorem 2 : `objective`, `objective_minimum`
Theorem 3 : `singular_eigenpairs`
Theorem 4 : `cross_view_symmetry`
Theorem 5 : `eigenvalue_range`
Lemma 1 : `rank_growth`, from `gaussian_eigenvalues`
Lemma 2, Theorem 6 : `tail_products`, `spectral_decay`
Lemma 3 : `truncation_interval`; for an estimator, `viewhop.diffusion.truncation_bounds`
Theorem 7 : `generator_expansion`, measured by `walk_step` on a `circle_walk`
Eqs. (47) and (48) : `parzen_density`, `variance_bound`, `suggested_epsilon`
Section 5.9 : `additive_noise`; Eqs. (50)–(52) : `shared_features`
"""

from __future__ import annotations

from viewhop.solvers import truncation_interval
from viewhop.theory._coupling import Minimum, objective, objective_minimum
from viewhop.theory._cross_view import CrossViewSymmetry, cross_view_symmetry
from viewhop.theory._decay import SpectralDecay, spectral_decay, tail_products
from viewhop.theory._distance import distance_sides
from viewhop.theory._eigenvalues import eigenvalue_range
from viewhop.theory._generator import circle_walk, generator_expansion, walk_step
from viewhop.theory._linear_noise import AdditiveNoise, additive_noise
from viewhop.theory._parzen import parzen_density, suggested_epsilon, variance_bound
from viewhop.theory._rank_growth import RankGrowth, gaussian_eigenvalues, rank_growth
from viewhop.theory._shared_features import SharedFeatures, shared_features
from viewhop.theory._singular import singular_eigenpairs
from viewhop.theory._source import kernel_matrix

__all__ = [
    "AdditiveNoise",
    "CrossViewSymmetry",
    "Minimum",
    "RankGrowth",
    "SharedFeatures",
    "SpectralDecay",
    "additive_noise",
    "circle_walk",
    "cross_view_symmetry",
    "distance_sides",
    "eigenvalue_range",
    "gaussian_eigenvalues",
    "generator_expansion",
    "kernel_matrix",
    "objective",
    "objective_minimum",
    "parzen_density",
    "rank_growth",
    "shared_features",
    "singular_eigenpairs",
    "spectral_decay",
    "suggested_epsilon",
    "tail_products",
    "truncation_interval",
    "variance_bound",
    "walk_step",
]
