"""Keeping a fitted model with the data, so that new cells can be placed after a file is read."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from viewhop.estimators import load

__all__ = ["keep_model", "read_model"]

#: Keys in the results: the bytes of a model file, or its path.
BYTES, FILE = "model", "model_file"


def keep_model(estimator: Any, model: bool | str | os.PathLike[str]) -> dict[str, Any]:
    """The entries of the results that `read_model` needs; a file is written if one is named.

    Parameters
    ----------
    estimator : fitted estimator
    model : bool or path
        True keeps the bytes of a model file; False keeps nothing.
    """
    if model is False:
        return {}
    if model is not True:
        path = Path(model).absolute()
        estimator.save(path)
        return {FILE: str(path)}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.viewhop")
        estimator.save(path)
        return {BYTES: np.fromfile(path, dtype=np.uint8)}


def read_model(results: Mapping[str, Any], where: str) -> Any:
    """The fitted estimator that was kept.

    Parameters
    ----------
    results : dict
        What `viewhop.scverse.diffmap` wrote.
    where : str
        Where the results are, for messages.
    """
    if FILE in results:
        return load(str(results[FILE]))
    if BYTES not in results:
        raise ValueError(
            f"{where} holds no model, because diffmap was called with model=False; pass the fitted "
            "model instead of the data"
        )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.viewhop")
        path.write_bytes(np.asarray(results[BYTES], dtype=np.uint8).tobytes())
        return load(path)
