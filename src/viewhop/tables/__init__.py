"""Reading views from files, and writing results to files."""

from viewhop.tables._budget import ReadingBudget
from viewhop.tables._column_choice import Options
from viewhop.tables._faults import quote_cell, table_fault
from viewhop.tables._join import Joined, check_join, check_requested, join_tables, read_views
from viewhop.tables._read import read, read_cells, read_table
from viewhop.tables._stored import digest_path
from viewhop.tables._table import Table
from viewhop.tables._write import check_writable, write, write_embedding

__all__ = [
    "Joined",
    "Options",
    "ReadingBudget",
    "Table",
    "check_join",
    "check_requested",
    "check_writable",
    "digest_path",
    "join_tables",
    "quote_cell",
    "read",
    "read_cells",
    "read_table",
    "read_views",
    "table_fault",
    "write",
    "write_embedding",
]
