"""Diffusion coordinates, distances and transition probabilities of a fitted geometry.

Most functions take a fitted estimator or its ``geometry_``. Distances are weighted by 1/π, so they
do not shrink as samples are added; their squares are the paper's times trace D̂.
"""

from viewhop.geometry import (
    coordinates,
    cross_view_distance,
    cross_view_distances,
    inner_view_distance,
    multi_view_distance,
    single_view_distance,
    snapshot_distances,
    transition_probabilities,
    truncation_bounds,
    walk_distance,
)
from viewhop.solvers import truncation

__all__ = [
    "coordinates",
    "cross_view_distance",
    "cross_view_distances",
    "inner_view_distance",
    "multi_view_distance",
    "single_view_distance",
    "snapshot_distances",
    "transition_probabilities",
    "truncation",
    "truncation_bounds",
    "walk_distance",
]
