"""Writing fitted estimators to model files of format 2.

The plain data of a file have the keys ``class``, ``parameters`` and ``learned``. Later
versions may add keys within them; for a missing key, a reader assumes the behaviour from before
the key existed.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from typing import Any

from sklearn.base import BaseEstimator

from viewhop._storage import archive
from viewhop._storage.codec import Shelf
from viewhop.errors import ModelFileError
from viewhop.estimators._parameters import check_values, encode_parameters

__all__ = ["save_model"]


def save_model(
    path: str | os.PathLike[str],
    est: BaseEstimator,
    learned: Callable[[Shelf], dict[str, Any]],
) -> None:
    """Write the class, the parameters and the result of the fit to a file.

    Parameters
    ----------
    path : path
    est : estimator
    learned : callable
        Returns the result of the fit as plain data, and puts its arrays on a shelf.
    """
    kind = type(est)
    if not kind.__module__.startswith("viewhop."):
        raise ModelFileError(
            f"{kind.__name__} is not an estimator of viewhop, so vh.load could not read it; "
            "model files hold only viewhop's own classes"
        )
    try:
        check_values(est)
    except ValueError as error:
        raise ModelFileError(f"the parameters were changed after the fit: {error}") from error
    solver = getattr(est, "solver", "auto")
    if not isinstance(solver, str):
        warnings.warn(
            f'the solver object {type(solver).__name__} is saved as solver="auto": a model file '
            "holds no code; set it again before the next fit",
            stacklevel=3,
        )
    shelf = Shelf()
    content = {
        "class": kind.__name__,
        "parameters": encode_parameters(est, shelf.within("parameters")),
        "learned": learned(shelf),
    }
    archive.write(path, content, shelf.arrays)
