"""Neighbour search: the training samples near each row, with their distances."""

from viewhop.neighbours._cells import Cells
from viewhop.neighbours._choose import Search, search_neighbours
from viewhop.neighbours._exact import find_neighbourhoods
from viewhop.neighbours._faiss import Index, query_index
from viewhop.neighbours._lists import Neighbourhood, symmetrise
from viewhop.neighbours._manhattan import manhattan_block
from viewhop.neighbours._metric import FeatureMap, check_spread, feature_deviations
from viewhop.neighbours._points import (
    Points,
    block_distances,
    distance_matrix,
    pair_distances,
    products,
)
from viewhop.neighbours._scaled_squares import scaled_squares
from viewhop.neighbours._sparse_features import FeatureRows, SparseFeatures, join_sparse
from viewhop.neighbours._sparse_points import SparsePoints, make_points, plain_points
from viewhop.neighbours._sparse_search import SPARSE_PAIRS

__all__ = [
    "SPARSE_PAIRS",
    "Cells",
    "FeatureMap",
    "FeatureRows",
    "Index",
    "Neighbourhood",
    "Points",
    "Search",
    "SparseFeatures",
    "SparsePoints",
    "block_distances",
    "check_spread",
    "distance_matrix",
    "feature_deviations",
    "find_neighbourhoods",
    "join_sparse",
    "make_points",
    "manhattan_block",
    "pair_distances",
    "plain_points",
    "products",
    "query_index",
    "scaled_squares",
    "search_neighbours",
    "symmetrise",
]
