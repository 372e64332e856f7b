"""Writing fitted estimators to model files of format 2.

The plain data of a file are ``class``, ``parameters`` and ``learned``. Readers give a key that a
file lacks the meaning that files had before the key came, so that keys may be added.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from sklearn.base import BaseEstimator

from viewhop._storage import archive
from viewhop._storage.codec import Shelf
from viewhop.errors import ModelFileError
from viewhop.estimators._parameters import encode_parameters

__all__ = ["save_model"]


def save_model(
    path: str | os.PathLike[str],
    est: BaseEstimator,
    learned: Callable[[Shelf], dict[str, Any]],
) -> None:
    """Write the class, the parameters and what was learned to a file.

    Parameters
    ----------
    path : path
    est : estimator
    learned : callable
        Gives what was learned as plain data, and puts its arrays on a shelf.
    """
    kind = type(est)
    if not kind.__module__.startswith("viewhop."):
        raise ModelFileError(
            f"{kind.__name__} is not an estimator of viewhop, so vh.load would not know it; "
            "a model file holds only classes of the package"
        )
    try:
        est._validate_params()
    except ValueError as error:
        raise ModelFileError(f"the parameters were changed after the fit: {error}") from error
    shelf = Shelf()
    content = {
        "class": kind.__name__,
        "parameters": encode_parameters(est, shelf.within("parameters")),
        "learned": learned(shelf),
    }
    archive.write(path, content, shelf.arrays)
