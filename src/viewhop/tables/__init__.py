"""Tables: views from files, and results to files."""

from viewhop.tables._column_choice import Options
from viewhop.tables._join import Joined, joined, read_views
from viewhop.tables._read import read, read_cells
from viewhop.tables._table import Table
from viewhop.tables._write import check_writable, write, write_embedding

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
