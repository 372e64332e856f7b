"""Encoding the parameters of an estimator as plain data, and decoding them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from viewhop._runtime import memory
from viewhop._runtime.threads import thread_count
from viewhop._storage.codec import Shelf, decode_value, encode_value, read_fields
from viewhop.affinity import decode_kernel, encode_kernel
from viewhop.errors import ModelFileError
from viewhop.geometry import check_time
from viewhop.kernels import Kernel

__all__ = ["check_values", "decode_parameters", "encode_parameters"]


def check_values(est: BaseEstimator) -> None:
    """Raise ValueError for a parameter that no fit accepts, each by itself.

    Combinations are left to `fit`: versions before view weights had both `hops` and η in a file.

    Parameters
    ----------
    est : estimator
    """
    est._validate_params()
    if est.max_memory is not None:  # None asks the machine, which takes time
        memory.parse_budget(est.max_memory)
    thread_count(est.n_jobs)
    if hasattr(est, "n_steps"):
        check_time(est.n_steps)


def encode_parameters(est: BaseEstimator, shelf: Shelf) -> dict[str, Any]:
    """The parameters of an estimator as plain data.

    What is not stored is replaced: a random generator by None, a progress callable by 0, a solver
    object by "auto", and the folder of a cache, which belongs to this machine, by None.
    """
    values = {}
    for name, entry in est.get_params(deep=False).items():
        if isinstance(entry, np.random.Generator | np.random.RandomState):
            entry = None
        if name == "memory":
            entry = None
        if name == "verbose" and callable(entry):
            entry = 0
        if name == "solver" and not isinstance(entry, str):
            entry = "auto"
        values[name] = encode_value(entry, shelf, f"the parameter {name}", encode=_encode_kernel)
    return values


def decode_parameters(kind: type[BaseEstimator], data: Any, shelf: Shelf) -> dict[str, Any]:
    """Parameters that an estimator accepts, from plain data.

    A parameter that the file lacks was introduced after it was written, and gets its default.
    No file says where a cache is: a model would otherwise write to a folder of its choice.
    """
    names = kind._get_param_names()
    read_fields(data, (), f"the parameters of {kind.__name__}", optional=dict.fromkeys(names))
    if data.get("memory") is not None:
        raise ModelFileError("the parameter memory: expected null, because a model names no folder")
    values = {
        name: decode_value(
            data[name], shelf, f"the parameter {name}", decoders={"kernel": decode_kernel}
        )
        for name in names
        if name in data
    }
    est = kind(**values)
    try:
        check_values(est)
    except ValueError as error:
        raise ModelFileError(str(error)) from error
    parameters: dict[str, Any] = est.get_params(deep=False)
    return parameters


def _encode_kernel(value: Any, where: str) -> dict[str, Any] | None:
    if not isinstance(value, Kernel):
        return None
    try:
        return {"kernel": encode_kernel(value, where)}
    except ModelFileError:
        raise
    except ValueError as error:
        raise ModelFileError(f"the parameters were changed after the fit: {error}") from error
