"""ViewRows: what one view observed, as a kernel receives it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from viewhop._runtime.progress import Progress, no_progress

__all__ = ["ViewRows"]


@dataclass(frozen=True, eq=False)
class ViewRows:
    """The rows that one view observed, with what building a kernel on them needs.

    Attributes
    ----------
    name : str
        The view, for errors and progress.
    values : (n, d) array
        One row per observed sample. For a precomputed kernel, the (n, n) kernel.
    generator : Generator
        Source of randomness, for scales that are estimated from a sample of the rows.
    n_jobs : int
        Threads.
    progress : callable
        ``progress(stage, done, total)``.
    allowed : int or None
        Bytes that pairs of neighbours may take, of which ties can make many; None is no limit.
    """

    name: str
    values: NDArray[np.floating]
    generator: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    n_jobs: int = 1
    progress: Progress = no_progress
    allowed: int | None = None
