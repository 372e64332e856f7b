"""Experiments: their definition, context and result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from viewhop._runtime.progress import Progress, no_progress
from viewhop.experiments._findings import Finding

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "Cell",
    "Context",
    "Experiment",
    "Picture",
    "Result",
    "Table",
    "Trials",
    "files_in_data_home",
]

#: Cell of a table: text, a number, or empty.
Cell = str | int | float | None


class Trials(NamedTuple):
    """Number of repetitions of an experiment.

    Attributes
    ----------
    default, quick, paper : int
        By default, at toy size, and in the paper; None if the paper does not state it.
    """

    default: int
    quick: int
    paper: int | None


@dataclass(frozen=True)
class Context:
    """Settings of a run.

    Attributes
    ----------
    quick : bool
        Use toy sizes, to check that everything runs; the results are not meaningful.
    trials : int
        Repetitions; 1 for an experiment without repetitions.
    seed : int
    data_home : Path or None
        Folder of data sets that are not included in the package.
    progress : callable
    """

    quick: bool = False
    trials: int = 1
    seed: int = 0
    data_home: Path | None = None
    progress: Progress = no_progress

    def generator(self, *key: int) -> np.random.Generator:
        """Independent generator for each key, such as the number of a trial."""
        return np.random.default_rng([self.seed, *key])

    def integer(self, *key: int) -> int:
        """Independent integer seed for each key."""
        return int(self.generator(*key).integers(2**31))


@dataclass(frozen=True)
class Table:
    """A table of results.

    Attributes
    ----------
    title : str
    columns : tuple of str
        The first column names the rows. Columns with the paper's numbers are marked as such.
    rows : tuple of tuples of Cell
    digits : int
        Number of decimals shown; the JSON file has full precision.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    digits: int = 3

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(
                    f"{self.title}: expected {len(self.columns)} cells per row, got {len(row)}"
                )


@dataclass(frozen=True)
class Result:
    """Result of an experiment.

    Attributes
    ----------
    ran, paper : dict
        Sizes and settings of this run, and those of the paper under the same names; None where
        the paper does not state them.
    tables : tuple of Table
    numbers : dict
        Data of the pictures: numbers, text, lists, arrays and dicts of them.
    remarks : tuple of str
        Notes of a sentence or two: agreement with the paper, differences, substituted data.
    findings : tuple of Finding
        Verdicts on claims of the paper.
    """

    ran: Mapping[str, Any]
    paper: Mapping[str, Any]
    tables: tuple[Table, ...] = ()
    numbers: Mapping[str, Any] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()


class Picture(NamedTuple):
    """A figure with its caption.

    Attributes
    ----------
    figure : Figure
    caption : str
    """

    figure: Figure
    caption: str


def _no_data(home: Path | None) -> list[Path]:
    """No files: an experiment on generated or included data."""
    return []


def files_in_data_home(*names: str) -> Callable[[Path | None], list[Path]]:
    """The function that lists those of the named files that exist in the folder of data sets."""

    def find_data(home: Path | None) -> list[Path]:
        return [] if home is None else [home / name for name in names if (home / name).is_file()]

    return find_data


@dataclass(frozen=True)
class Experiment:
    """A figure or table of the paper.

    Attributes
    ----------
    name : str
        Name on the command line.
    where : str
        Place in the paper: "Fig. 1", "Table 2".
    title : str
    about : str
        Method and expected outcome, in a few sentences.
    run : callable
        Maps a `Context` to a `Result`; raises DataMissingError if data are missing.
    draw : callable
        Maps a `Result`, fresh or read back from its file, to pictures by name. The name is
        appended to the file name; an empty name appends nothing.
    trials : Trials or None
        None if nothing is repeated.
    extras : tuple of str
        Required extras of the package besides `plot`.
    find_data : callable
        Maps the folder of data sets, or None, to the existing files that the experiment reads.
    """

    name: str
    where: str
    title: str
    about: str
    run: Callable[[Context], Result]
    draw: Callable[[Result], dict[str, Picture]]
    trials: Trials | None = None
    extras: tuple[str, ...] = ()
    find_data: Callable[[Path | None], list[Path]] = _no_data
