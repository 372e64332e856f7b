"""Views: named measurements of the same samples, read, checked and aligned by row."""

from viewhop.views._checks import LARGEST, Labels, check_indices, is_mudata
from viewhop.views._collection import read_every_view
from viewhop.views._columns import frame_groups
from viewhop.views._rows import RowMap
from viewhop.views._schema import Schema
from viewhop.views._similar_ids import warn_of_similar_ids
from viewhop.views._view_rows import Describe, ViewRows, row_number
from viewhop.views._views import Views, is_collection

__all__ = [
    "LARGEST",
    "Describe",
    "Labels",
    "RowMap",
    "Schema",
    "ViewRows",
    "Views",
    "check_indices",
    "frame_groups",
    "is_collection",
    "is_mudata",
    "read_every_view",
    "row_number",
    "warn_of_similar_ids",
]
