"""Tables: views from files, and results to files."""

from viewhop.tables.choice import Options
from viewhop.tables.joining import Joined, joined, read_views
from viewhop.tables.opening import read, read_cells
from viewhop.tables.table import Table
from viewhop.tables.writing import check_writable, write, write_embedding

__all__ = [
    "Joined",
    "Options",
    "Table",
    "check_writable",
    "joined",
    "read",
    "read_cells",
    "read_views",
    "write",
    "write_embedding",
]
