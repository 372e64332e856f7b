"""Converting kernel objects to plain data for model files, and back."""

from __future__ import annotations

from typing import Any

from viewhop._registry import load_home
from viewhop._storage.codec import Shelf, encode_value, read_fields, read_text
from viewhop.errors import ModelFileError
from viewhop.kernels import NAMES, Kernel

__all__ = ["decode_kernel", "encode_kernel"]


def _kernel_classes() -> dict[str, type[Kernel]]:
    """Classes that a model file may name: those of the built-in kernels."""
    homes = [load_home(entry.home) for entry in NAMES.values()]
    return {kind.__name__: kind for kind in homes if isinstance(kind, type)}


def encode_kernel(kernel: Kernel, where: str) -> dict[str, Any]:
    """A kernel object as plain data."""
    classes = _kernel_classes()
    if type(kernel) is not classes.get(type(kernel).__name__):
        raise ModelFileError(
            f"{where} is a {type(kernel).__name__}; a model file holds the kernels "
            f"{', '.join(classes)}"
        )
    kernel.check(where)
    values = {
        name: encode_value(entry, Shelf(), where)
        for name, entry in kernel.get_params(deep=False).items()
    }
    if "standardize" in values:
        values["standardize"] = bool(values["standardize"])
    return {"class": type(kernel).__name__, **values}


def decode_kernel(data: Any, where: str) -> Kernel:
    """A kernel object from plain data; invalid parameters raise ModelFileError."""
    classes = _kernel_classes()
    name = read_text(data.get("class") if isinstance(data, dict) else None, where, [*classes])
    kind = classes[name]
    names = kind._get_param_names()
    read_fields(data, ["class"], where, optional=dict.fromkeys(names))
    # A parameter that the file lacks was added to viewhop later and takes its default.
    values = {key: entry for key, entry in data.items() if key != "class"}
    if any(isinstance(entry, list | dict) for entry in values.values()):
        raise ModelFileError(f"{where}: kernel parameters may only be numbers and text")
    kernel = kind(**values)
    if not isinstance(data.get("standardize", False), bool):
        raise ModelFileError(f"{where}: standardize must be true or false")
    try:
        kernel.check(where)
    except ValueError as error:
        raise ModelFileError(str(error)) from error
    return kernel
