"""The result of a fit, and everything that is computed from it.

`Geometry` is the frozen result of a fit, available as ``geometry_`` on fitted estimators. Build on
it: everything that viewhop computes from a fit is a function of it.
"""

from viewhop.geometry._agreement import disagreement, view_influence, view_similarity
from viewhop.geometry._connect import add_neighbours
from viewhop.geometry._connectivity import warn_of_pieces, ways_to_join
from viewhop.geometry._coordinates import OUTPUTS, check_time, coordinates, whole_steps
from viewhop.geometry._distance_matrices import cross_view_distances, snapshot_distances
from viewhop.geometry._distances import (
    cross_view_distance,
    inner_view_distance,
    multi_view_distance,
    single_view_distance,
    transition_probabilities,
    truncation_bounds,
    walk_distance,
)
from viewhop.geometry._fit import fit_geometry
from viewhop.geometry._fit_cache import FitCache
from viewhop.geometry._geometry import FitRecord, Geometry, Placed
from viewhop.geometry._geometry_codec import decode_geometry, encode_geometry
from viewhop.geometry._layout import Layout, lay_out
from viewhop.geometry._pieces import (
    PieceCoordinates,
    add_pieces,
    piece_coordinates,
    piece_labels,
    piece_sizes,
)
from viewhop.geometry._recipe import Recipe
from viewhop.geometry._require import Source, require_geometry
from viewhop.geometry._schema_codec import decode_schema, encode_schema

__all__ = [
    "OUTPUTS",
    "FitCache",
    "FitRecord",
    "Geometry",
    "Layout",
    "PieceCoordinates",
    "Placed",
    "Recipe",
    "Source",
    "add_neighbours",
    "add_pieces",
    "check_time",
    "coordinates",
    "cross_view_distance",
    "cross_view_distances",
    "decode_geometry",
    "decode_schema",
    "disagreement",
    "encode_geometry",
    "encode_schema",
    "fit_geometry",
    "inner_view_distance",
    "lay_out",
    "multi_view_distance",
    "piece_coordinates",
    "piece_labels",
    "piece_sizes",
    "require_geometry",
    "single_view_distance",
    "snapshot_distances",
    "transition_probabilities",
    "truncation_bounds",
    "view_influence",
    "view_similarity",
    "walk_distance",
    "warn_of_pieces",
    "ways_to_join",
    "whole_steps",
]
