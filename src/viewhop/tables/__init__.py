"""Reading views from files, and writing results to files."""

from viewhop.tables._budget import ReadingBudget
from viewhop.tables._column_choice import VIEW_KEYS, Options
from viewhop.tables._contents import CONTAINERS, Content, list_contents
from viewhop.tables._faults import quote_cell, table_fault
from viewhop.tables._join import (
    Joined,
    check_id_column,
    check_join,
    check_requested,
    join_tables,
    read_views,
)
from viewhop.tables._read import read, read_cells, read_table
from viewhop.tables._stored import digest_path
from viewhop.tables._table import Table
from viewhop.tables._write import check_writable, write, write_embedding

__all__ = [
    "CONTAINERS",
    "VIEW_KEYS",
    "Content",
    "Joined",
    "Options",
    "ReadingBudget",
    "Table",
    "check_id_column",
    "check_join",
    "check_requested",
    "check_writable",
    "digest_path",
    "join_tables",
    "list_contents",
    "quote_cell",
    "read",
    "read_cells",
    "read_table",
    "read_views",
    "table_fault",
    "write",
    "write_embedding",
]
