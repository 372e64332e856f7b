"""Which columns of a table are ids, labels and features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import NamedTuple

from viewhop.tables._faults import missing_column, quote_cell, table_fault

__all__ = ["DEFAULT", "Chosen", "Options", "chosen", "matches"]


@dataclass(frozen=True)
class Options:
    """How files are read.

    Attributes
    ----------
    id, label : str or None
        Columns of sample ids and of labels; neither is a feature.
    keep, drop : tuple of str
        Columns to use, all of them if there are none, and columns to leave out: names, or
        patterns like ``gene_*``. What is a column's name is not read as a pattern.
    decimal : {".", ","}
        What stands before the decimals in a text file.
    delimiter : str or None
        What stands between the cells of a text file; None goes by the file.
    encoding : str
        Of a text file.
    shared : bool
        The options are for several files: a column to label, keep or drop may stand in another.
    columns : tuple of str or None
        The features by name and in this order, in place of `keep` and `drop`: all other columns
        are passed over. A file without names of columns is read as it stands.
    """

    id: str | None = None
    label: str | None = None
    keep: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    decimal: str = "."
    delimiter: str | None = None
    encoding: str = "utf-8"
    shared: bool = False
    columns: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.decimal not in (".", ","):
            raise ValueError(f'decimal is "." or ",", not {self.decimal!r}')
        if self.delimiter is not None and (
            len(self.delimiter) != 1 or self.delimiter in '\r\n"\0' or self.delimiter.isalnum()
        ):
            raise ValueError(f"delimiter is one character, not {self.delimiter!r}")
        if self.id is not None and self.id == self.label:
            raise ValueError(f"{self.id!r} cannot be both the ids and the labels")
        if self.columns is not None and (self.keep or self.drop):
            raise ValueError("columns are given by name, so there are none to keep or drop")


DEFAULT = Options()


class Chosen(NamedTuple):
    """Positions of columns.

    Attributes
    ----------
    id, label : int or None
    features : list of int
    """

    id: int | None
    label: int | None
    features: list[int]


def matches(pattern: str, names: Sequence[str]) -> list[str]:
    """The names that a pattern means: itself if it is one of them, else all that fit."""
    if pattern in names:
        return [pattern]
    return [name for name in names if fnmatchcase(name, pattern)]


def chosen(path: str, header: Sequence[str], options: Options, line: int | None = None) -> Chosen:
    """The columns of a file that the options ask for.

    Parameters
    ----------
    path : str
    header : list of str
        All columns of the file.
    options : Options
    line : int or None
        Where the header stands.
    """
    place = {name: k for k, name in enumerate(header)}
    if len(place) < len(header):
        first = next(name for k, name in enumerate(header) if place[name] != k)
        both = [k + 1 for k, name in enumerate(header) if name == first]
        raise table_fault(
            path,
            f"columns {both[0]} and {both[1]} have the same name; give each its own",
            line=line,
            column=first,
        )
    if options.id is not None and options.id not in place:
        raise missing_column(path, options.id, header, role="id column")
    if options.label is not None and options.label not in place and not options.shared:
        raise missing_column(path, options.label, header, role="label column")
    label = None if options.label is None else place.get(options.label)
    ids = None if options.id is None else place[options.id]
    if options.columns is not None:
        return Chosen(ids, label, _listed(path, place, options.columns, line))
    kept, dropped = (
        _meant(path, header, patterns, role, options.shared)
        for patterns, role in ((options.keep, "column to keep"), (options.drop, "column to drop"))
    )
    apart = {options.id, options.label} | dropped
    features = [
        k
        for k, name in enumerate(header)
        if name not in apart and (not options.keep or name in kept)
    ]
    if not features:
        raise table_fault(path, f"none of its {len(header)} columns is left as a feature")
    for k in features:
        if not header[k].strip() or header[k].startswith("__index_level_"):
            raise table_fault(
                path,
                f"column {k + 1} has no name, so it may be a row number and no feature; drop it "
                f"({header[k]!r}), make it the id, or give it a name",
                line=line,
                column=header[k],
            )
    return Chosen(ids, label, features)


def _listed(
    path: str, place: Mapping[str, int], columns: Sequence[str], line: int | None
) -> list[int]:
    """The places of columns that must all be there."""
    missing = [name for name in columns if name not in place]
    if len(missing) == 1:
        raise missing_column(path, missing[0], place, role="column")
    if missing:
        more = f", … ({len(missing):,} in all)" if len(missing) > 8 else ""
        listed = ", ".join(map(quote_cell, missing[:8]))
        raise table_fault(path, f"the columns {listed}{more} are missing", line=line)
    return [place[name] for name in columns]


def _meant(
    path: str, header: Sequence[str], patterns: Sequence[str], role: str, shared: bool
) -> set[str]:
    """The columns that any of the patterns means."""
    found: set[str] = set()
    for pattern in patterns:
        names = matches(pattern, header)
        if not names and not shared:
            raise missing_column(path, pattern, header, role=role)
        found.update(names)
    return found
