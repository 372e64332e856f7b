"""What an experiment is, what it is given, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from viewhop._runtime.progress import Progress, no_progress

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Cell", "Context", "Experiment", "Picture", "Result", "Table", "Trials"]

#: What stands in a table: text, a number, or nothing.
Cell = str | int | float | None


class Trials(NamedTuple):
    """How often an experiment is repeated.

    Attributes
    ----------
    default, quick, paper : int
        Unless told otherwise, at toy size, and in the paper; None where it does not say.
    """

    default: int
    quick: int
    paper: int | None


@dataclass(frozen=True)
class Context:
    """What a run was asked for.

    Attributes
    ----------
    quick : bool
        Toy sizes: to see that everything runs, not what comes out.
    trials : int
        Repetitions; 1 for an experiment that has none.
    seed : int
    data_home : Path or None
        Folder of data that does not come with the package.
    progress : callable
    """

    quick: bool = False
    trials: int = 1
    seed: int = 0
    data_home: Path | None = None
    progress: Progress = no_progress

    def generator(self, *key: int) -> np.random.Generator:
        """A generator of its own for each key, the number of a trial for instance."""
        return np.random.default_rng([self.seed, *key])

    def integer(self, *key: int) -> int:
        """A seed of its own for each key, for what takes no generator."""
        return int(self.generator(*key).integers(2**31))


@dataclass(frozen=True)
class Table:
    """Numbers to read.

    Attributes
    ----------
    title : str
    columns : tuple of str
        The first column names the rows. A column of the paper's own numbers says so.
    rows : tuple of tuples of Cell
    digits : int
        Decimals that are shown; the JSON has them all.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    digits: int = 3

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"{self.title}: a row of {len(row)}, {len(self.columns)} columns")


@dataclass(frozen=True)
class Result:
    """What an experiment found.

    Attributes
    ----------
    ran, paper : dict
        Sizes and settings of this run, and those of the paper under the same names; None where
        the paper does not say.
    tables : tuple of Table
    numbers : dict
        All that the pictures show: numbers, text, lists, arrays and dicts of them.
    remarks : tuple of str
        What a reader must know, a sentence or two each: what fits the paper and what does not,
        which data stand in for others.
    """

    ran: Mapping[str, Any]
    paper: Mapping[str, Any]
    tables: tuple[Table, ...] = ()
    numbers: Mapping[str, Any] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()


class Picture(NamedTuple):
    """A figure, and what is to be seen on it.

    Attributes
    ----------
    figure : Figure
    caption : str
    """

    figure: Figure
    caption: str


@dataclass(frozen=True)
class Experiment:
    """A figure or table of the paper.

    Attributes
    ----------
    name : str
        As it is called on the command line.
    where : str
        In the paper: "Fig. 1", "Table 2".
    title : str
    about : str
        What is done and what it should show, in a few sentences.
    run : callable
        From a `Context` to a `Result`; raises DataMissingError where data are not there.
    draw : callable
        From a `Result`, fresh or read back from its file, to pictures by name. The name is added
        to the file's name; the empty one adds nothing.
    trials : Trials or None
        None where nothing is repeated.
    extras : tuple of str
        Extras of the package that it needs, beside `plot`.
    """

    name: str
    where: str
    title: str
    about: str
    run: Callable[[Context], Result]
    draw: Callable[[Result], dict[str, Picture]]
    trials: Trials | None = None
    extras: tuple[str, ...] = ()
