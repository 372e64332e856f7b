"""The input of a kernel: the observed rows of one view."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from viewhop._runtime.progress import Progress, no_progress
from viewhop.views._sparse_rows import Rows

__all__ = ["Describe", "ViewRows", "row_number"]

#: Names a row in a message: "row 4", or "sample 'c17' (row 4)".
Describe: TypeAlias = Callable[[int], str]


def row_number(row: int) -> str:
    """The name of a row in messages, if it has no id."""
    return f"row {row}"


@dataclass(frozen=True, eq=False)
class ViewRows:
    """The observed rows of one view, with everything needed to build a kernel on them.

    Attributes
    ----------
    name : str
        Name of the view, for messages and progress.
    values : (n, d) array or SparseRows
        One row per observed sample. For a precomputed kernel, the (n, n) kernel.
    generator : Generator
        Random number generator, for scales estimated from a subset of the rows.
    n_jobs : int
        Number of threads.
    progress : callable
        ``progress(stage, done, total)``.
    allowed : int or None
        Bytes that pairs of neighbours may take (ties can add many); None is no limit.
    describe : callable
        Names a row in a message: by its sample's id, where ids are known.
    came_as : dtype or None
        The precision in which the rows were passed, if it is less than that of `values`.
    """

    name: str
    values: Rows
    generator: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    n_jobs: int = 1
    progress: Progress = no_progress
    allowed: int | None = None
    describe: Describe = row_number
    came_as: np.dtype[np.floating] | None = None

    @property
    def precision(self) -> np.dtype[np.floating]:
        """The precision of the rows, which sets their rounding."""
        return self.values.dtype if self.came_as is None else self.came_as
