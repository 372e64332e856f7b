"""Views: named measurements of the same samples, read, checked and aligned by row."""

from viewhop.views._checks import Labels, check_indices, is_mudata
from viewhop.views._collection import cut_columns, read_collection, read_every_view, require_rows
from viewhop.views._columns import FROM_NAMES, frame_groups
from viewhop.views._feature_order import FoundColumns, find_columns
from viewhop.views._matrix import plain_array
from viewhop.views._refusals import check_depth
from viewhop.views._row_labels import row_labels
from viewhop.views._row_reader import LARGEST, MISSING, RowReader
from viewhop.views._rows import RowMap
from viewhop.views._schema import Schema
from viewhop.views._similar_ids import warn_of_similar_ids
from viewhop.views._sparse_rows import (
    Rows,
    SparseRows,
    as_sparse_frame,
    check_sparse,
    is_sparse_frame,
)
from viewhop.views._view_rows import Describe, ViewRows, row_number
from viewhop.views._views import Views, is_collection

__all__ = [
    "FROM_NAMES",
    "LARGEST",
    "MISSING",
    "Describe",
    "FoundColumns",
    "Labels",
    "RowMap",
    "RowReader",
    "Rows",
    "Schema",
    "SparseRows",
    "ViewRows",
    "Views",
    "as_sparse_frame",
    "check_depth",
    "check_indices",
    "check_sparse",
    "cut_columns",
    "find_columns",
    "frame_groups",
    "is_collection",
    "is_mudata",
    "is_sparse_frame",
    "plain_array",
    "read_collection",
    "read_every_view",
    "require_rows",
    "row_labels",
    "row_number",
    "warn_of_similar_ids",
]
