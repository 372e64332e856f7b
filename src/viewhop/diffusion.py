"""Diffusion: what a fitted geometry says about samples, as coordinates and as distances.

Every function takes a fitted estimator or its ``geometry_``. Distances carry the weight 1/π, so
they do not shrink as samples are added; squared, they are the paper's times trace D̂.
"""

from viewhop.geometry import (
    coordinates,
    cross_view_distance,
    inner_view_distance,
    multi_view_distance,
    single_view_distance,
    transition_probabilities,
    truncation_bounds,
    walk_distance,
)
from viewhop.solvers import truncation

__all__ = [
    "coordinates",
    "cross_view_distance",
    "inner_view_distance",
    "multi_view_distance",
    "single_view_distance",
    "transition_probabilities",
    "truncation",
    "truncation_bounds",
    "walk_distance",
]
