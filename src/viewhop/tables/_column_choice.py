"""Which columns of a table are ids, labels and features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from viewhop.tables._faults import missing_column, quote_cell, table_fault
from viewhop.views import find_columns

__all__ = ["DEFAULT", "VIEW_KEYS", "ColumnChoice", "Options", "choose_columns", "match_names"]

#: Options that a view may have of its own.
VIEW_KEYS = ("keep", "drop", "decimal", "delimiter", "encoding")


@dataclass(frozen=True)
class Options:
    """How files are read.

    Attributes
    ----------
    id, label : str or None
        Columns with the sample ids and the labels; neither is a feature.
    keep, drop : tuple of str
        Columns to use (all if `keep` is empty) and columns to leave out: names, or patterns like
        ``gene_*``. An exact column name takes precedence over a pattern.
    decimal : {".", ","}
        Decimal separator of a text file.
    delimiter : str or None
        Cell delimiter of a text file; None detects it.
    encoding : str
        Encoding of a text file.
    id_strip : bool
        Whether white space around ids is removed. Upper and lower case always differ.
    missing : {"error", "drop"}
        Whether a row that is empty in part is an error, or counts as not observed; a
        `DroppedRowsWarning` then counts such rows.
    shared : bool
        Whether the options apply to several files: then the columns in `label`, `keep` and `drop`
        may be in another file.
    columns : tuple of str or None
        Names of the features, in this order, instead of `keep` and `drop`; all other columns are
        ignored. A file without column names is read as it is.
    by_view : dict of dicts by view name
        `keep`, `drop`, `decimal`, `delimiter` or `encoding` of single views, in place of those for
        all.

    Examples
    --------
    >>> from viewhop.tables import Options
    >>> options = Options(decimal=",", by_view={"rna": {"decimal": ".", "keep": ("gene_*",)}})
    >>> options.for_view("rna").decimal, options.for_view("protein").decimal
    ('.', ',')
    """

    id: str | None = None
    label: str | None = None
    keep: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    decimal: str = "."
    delimiter: str | None = None
    encoding: str = "utf-8"
    id_strip: bool = False
    missing: str = "error"
    shared: bool = False
    columns: tuple[str, ...] | None = None
    by_view: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, own in self.by_view.items():
            unknown = [key for key in own if key not in VIEW_KEYS]
            if unknown:
                raise ValueError(
                    f"view {name!r} cannot have {unknown[0]} of its own, only "
                    f"{', '.join(VIEW_KEYS)}"
                )
            self.for_view(name)
        if self.decimal not in (".", ","):
            raise ValueError(f'decimal must be "." or ",", got {self.decimal!r}')
        if self.delimiter is not None and (
            len(self.delimiter) != 1 or self.delimiter in '\r\n"\0' or self.delimiter.isalnum()
        ):
            raise ValueError(
                "delimiter must be one character that is neither a letter, a digit, a quote nor "
                f"a line break, got {self.delimiter!r}"
            )
        if self.missing not in ("error", "drop"):
            raise ValueError(f'missing must be "error" or "drop", got {self.missing!r}')
        if self.id is not None and self.id == self.label:
            raise ValueError(f"{self.id!r} cannot be both the ids and the labels")
        if self.columns is not None and (self.keep or self.drop):
            raise ValueError("columns cannot be combined with keep or drop")

    def for_view(self, name: str) -> Options:
        """The options for the file of one view.

        Parameters
        ----------
        name : str
        """
        return replace(self, **self.by_view.get(name, {}), by_view={})


DEFAULT = Options()


class ColumnChoice(NamedTuple):
    """Positions of the columns to read.

    Attributes
    ----------
    id, label : int or None
    features : list of int
    """

    id: int | None
    label: int | None
    features: list[int]


def match_names(pattern: str, names: Sequence[str]) -> list[str]:
    """The names that match a pattern; only the pattern itself if it is one of the names."""
    if pattern in names:
        return [pattern]
    return [name for name in names if fnmatchcase(name, pattern)]


def choose_columns(
    path: str, header: Sequence[str], options: Options, line: int | None = None
) -> ColumnChoice:
    """The columns of a file that the options select.

    Parameters
    ----------
    path : str
    header : list of str
        All columns of the file.
    options : Options
    line : int or None
        Line of the header.
    """
    positions = {name: k for k, name in enumerate(header)}
    if len(positions) < len(header):
        repeated = next(name for k, name in enumerate(header) if positions[name] != k)
        numbers = [k + 1 for k, name in enumerate(header) if name == repeated]
        raise table_fault(
            path,
            f"columns {numbers[0]} and {numbers[1]} have the same name; rename one of them",
            line=line,
            column=repeated,
        )
    if options.id is not None and options.id not in positions:
        raise missing_column(path, options.id, header, role="id column")
    if options.label is not None and options.label not in positions and not options.shared:
        raise missing_column(path, options.label, header, role="label column")
    label = None if options.label is None else positions.get(options.label)
    ids = None if options.id is None else positions[options.id]
    if options.columns is not None:
        return ColumnChoice(ids, label, _required_columns(path, positions, options.columns, line))
    kept, dropped = (
        _match_patterns(path, header, patterns, role, options.shared)
        for patterns, role in ((options.keep, "column to keep"), (options.drop, "column to drop"))
    )
    excluded = {options.id, options.label} | dropped
    features = [
        k
        for k, name in enumerate(header)
        if name not in excluded and (not options.keep or name in kept)
    ]
    if not features:
        raise table_fault(path, f"none of its {len(header)} columns is left as a feature")
    for k in features:
        if not header[k].strip() or header[k].startswith("__index_level_"):
            raise table_fault(
                path,
                f"column {k + 1} has no name and may hold row numbers rather than a feature; drop "
                f"it ({header[k]!r}), make it the id, or name it",
                line=line,
                column=header[k],
            )
    return ColumnChoice(ids, label, features)


def _required_columns(
    path: str, positions: Mapping[str, int], columns: Sequence[str], line: int | None
) -> list[int]:
    """Positions of columns that must all exist."""
    found, missing, _ = find_columns([*positions], columns)
    if len(missing) == 1:
        raise missing_column(path, missing[0], positions, role="column")
    if missing:
        more = f", … ({len(missing):,} in all)" if len(missing) > 8 else ""
        listing = ", ".join(map(quote_cell, missing[:8]))
        raise table_fault(path, f"the columns {listing}{more} are missing", line=line)
    return found


def _match_patterns(
    path: str, header: Sequence[str], patterns: Sequence[str], role: str, shared: bool
) -> set[str]:
    """The columns that match at least one of the patterns."""
    columns: set[str] = set()
    for pattern in patterns:
        names = match_names(pattern, header)
        if not names and not shared:
            raise missing_column(path, pattern, header, role=role)
        columns.update(names)
    return columns
