"""The parameter `memory`: the cache that estimators share, as in a pipeline of scikit-learn."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Memory

from viewhop._runtime.memory import parse_budget
from viewhop._storage.store import Store
from viewhop.errors import CacheWarning
from viewhop.geometry import FitCache

__all__ = ["open_cache"]

#: Share of the memory budget of a fit that the process may keep results in.
KEPT_SHARE = 1 / 4


def open_cache(
    memory: Any, random_state: Any, max_memory: float | str | None, *, stacklevel: int
) -> FitCache | None:
    """The cache of a fit; None if nothing is kept.

    Parameters
    ----------
    memory, random_state, max_memory
        Parameters of an estimator.
    stacklevel : int
        As in `warnings.warn`, counted from the caller.

    Warns
    -----
    CacheWarning
        If the draws come from a Generator.

    Notes
    -----
    A `joblib.Memory` says where, and its methods that clear or shrink it apply. Its own files are
    pickles, which run code when they are read; the results here are archives of arrays, as model
    files are, in folders that it takes for its own.
    """
    if memory is None:
        return None
    if isinstance(random_state, np.random.Generator):
        warnings.warn(
            CacheWarning(
                "memory= keeps nothing of this fit: random_state is a Generator, which draws other "
                "numbers in every fit; pass an int, or None"
            ),
            stacklevel=stacklevel + 1,
        )
        return None
    folder = _find_folder(memory)
    if folder is None:
        return None

    def most_kept() -> int:
        budget = parse_budget(max_memory)
        return 2**30 if budget is None else int(KEPT_SHARE * budget)

    return FitCache(Store(folder, most_kept), is_seeded=random_state is not None)


def _find_folder(memory: Any) -> Path | None:
    """The folder of the results; None for a Memory without a location."""
    if isinstance(memory, str | os.PathLike):
        memory = Memory(location=os.fspath(memory), verbose=0)
    elif not isinstance(memory, Memory):
        raise ValueError(
            f"memory must be a folder, a joblib.Memory or None, not {type(memory).__name__}"
        )
    if memory.store_backend is None:
        return None
    if memory.backend != "local":
        raise ValueError(f"memory has the backend {memory.backend!r}; use a folder of this machine")
    return Path(memory.store_backend.location, "viewhop")
