"""Plain data: parameters and arrays of an estimator as what a file can hold, and back.

What comes back is checked: a value is of the kind that is asked for, or it is refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from viewhop.errors import ModelFileError
from viewhop.kernels import Correlation, Gaussian, Kernel, Laplacian, Precomputed

__all__ = [
    "Shelf",
    "decode_estimator",
    "decode_kernel",
    "decode_value",
    "encode_kernel",
    "encode_parameters",
    "encode_value",
    "read_boolean",
    "read_fields",
    "read_integer",
    "read_number",
    "read_text",
    "read_texts",
]

Floats = NDArray[np.float64]
Estimator = TypeVar("Estimator", bound=BaseEstimator)

_KERNELS: dict[str, type[Kernel]] = {
    kind.__name__: kind for kind in (Gaussian, Laplacian, Correlation, Precomputed)
}


class Shelf:
    """Arrays by name, each put there once and taken once.

    Parameters
    ----------
    arrays : dict of arrays by name
    prefix : str
        What names here begin with.
    """

    def __init__(self, arrays: dict[str, NDArray[Any]] | None = None, prefix: str = "") -> None:
        self.arrays: dict[str, NDArray[Any]] = {} if arrays is None else arrays
        self._prefix = prefix

    def within(self, name: str) -> Shelf:
        """The part of the shelf whose names begin with this one."""
        return Shelf(self.arrays, f"{self._prefix}{name}/")

    def put(self, name: str, array: NDArray[Any]) -> None:
        """Hold an array."""
        self.arrays[self._prefix + name] = array

    def append(self, array: NDArray[Any]) -> str:
        """The name under which an array without one is held now."""
        name = str(sum(known.startswith(self._prefix) for known in self.arrays))
        self.put(name, array)
        return name

    def has(self, name: str) -> bool:
        """Whether an array of this name is left."""
        return self._prefix + name in self.arrays

    def length(self, name: str) -> int:
        """The number of rows of an array that is left; 0 if there is none."""
        found = self.arrays.get(self._prefix + name)
        return len(found) if found is not None and found.ndim else 0

    def take(
        self, name: str, shape: tuple[int, ...] | None = None, dtype: Any = np.float64
    ) -> NDArray[Any]:
        """An array, taken off the shelf.

        Parameters
        ----------
        name : str
        shape : tuple of int or None
            What it must have, −1 for any size; None is any shape.
        dtype : dtype or tuple of them
            What it must have.
        """
        full = self._prefix + name
        if full not in self.arrays:
            raise ModelFileError(f"the array {full} is missing")
        found = self.arrays.pop(full)
        known = [np.dtype(kind) for kind in (dtype if isinstance(dtype, tuple) else (dtype,))]
        fits = shape is None or (
            found.ndim == len(shape)
            and all(want in (-1, size) for want, size in zip(shape, found.shape, strict=True))
        )
        if found.dtype not in known or not fits:
            told = " or ".join(map(str, known))
            raise ModelFileError(
                f"the array {full} is {found.dtype} of shape {found.shape}, expected {told}"
                + ("" if shape is None else f" of shape {shape}, −1 for any size")
            )
        return found

    def numbers(
        self,
        name: str,
        shape: tuple[int, ...],
        dtype: Any = np.float64,
        *,
        least: float = -math.inf,
        above: float = -math.inf,
    ) -> NDArray[Any]:
        """An array of finite numbers, at least `least` and above `above`, taken off the shelf."""
        found = self.take(name, shape, dtype)
        for block in range(0, len(found), 2**16):
            part = found[block : block + 2**16]
            if not (np.isfinite(part).all() and (part >= least).all() and (part > above).all()):
                raise ModelFileError(
                    f"the array {self._prefix}{name} has numbers that are not finite or too small"
                )
        return found

    def places(self, name: str, n: int, shape: tuple[int, ...] = (-1,)) -> NDArray[np.intp]:
        """An array of numbers of rows, from 0 up to but not with `n`, taken off the shelf."""
        found = self.take(name, shape, np.int64)
        if found.size and not (found.min() >= 0 and found.max() < n):
            raise ModelFileError(f"the array {self._prefix}{name} points beyond {n} rows")
        return found.astype(np.intp, copy=False)

    def check_empty(self) -> None:
        """Raise ModelFileError if an array was not taken."""
        if self.arrays:
            raise ModelFileError(f"nothing is known of the array {min(self.arrays)}")


def read_fields(found: Any, keys: Sequence[str], where: str) -> list[Any]:
    """The values of an object that has these keys and no others, in their order."""
    if not isinstance(found, dict) or set(found) != set(keys):
        told = ", ".join(found) if isinstance(found, dict) else type(found).__name__
        raise ModelFileError(f"{where}: expected {', '.join(keys)}, got {told[:200]}")
    return [found[key] for key in keys]


def read_integer(found: Any, where: str, *, least: int = 0, most: int = 2**62) -> int:
    """A whole number in a range."""
    if not isinstance(found, int) or isinstance(found, bool) or not least <= found <= most:
        raise ModelFileError(f"{where}: expected a whole number of at least {least}, got {found!r}")
    return found


def read_number(
    found: Any, where: str, *, above: float = -math.inf, least: float = -math.inf
) -> float:
    """A finite number in a range."""
    if isinstance(found, bool) or not isinstance(found, int | float):
        raise ModelFileError(f"{where}: expected a number, got {type(found).__name__}")
    if abs(found) > 1e308 or not (found > above and found >= least):
        raise ModelFileError(f"{where}: {found!r} is too small or too large")
    return float(found)


def read_boolean(found: Any, where: str) -> bool:
    """True or false."""
    if not isinstance(found, bool):
        raise ModelFileError(f"{where}: expected true or false, got {type(found).__name__}")
    return found


def read_text(found: Any, where: str, known: Sequence[str] | None = None) -> str:
    """Text, one of `known` if these are given."""
    if not isinstance(found, str) or (known is not None and found not in known):
        told = "text" if known is None else f"one of {', '.join(known)}"
        raise ModelFileError(f"{where}: expected {told}, got {repr(found)[:60]}")
    return found


def read_texts(found: Any, where: str, count: int | None = None) -> tuple[str, ...]:
    """A list of text, of `count` entries if that is given."""
    if not isinstance(found, list) or count not in (None, len(found)):
        raise ModelFileError(f"{where}: expected a list of {count or 'some'} texts")
    return tuple(read_text(entry, where) for entry in found)


# --- parameters ---------------------------------------------------------------------------------


def encode_parameters(est: BaseEstimator, shelf: Shelf) -> dict[str, Any]:
    """The parameters of an estimator as plain data.

    A generator of random numbers becomes None and a callable that shows progress 0: neither is
    part of what was learnt. Numbers of NumPy become plain ones.
    """
    found = {}
    for name, given in est.get_params(deep=False).items():
        if isinstance(given, np.random.Generator | np.random.RandomState):
            given = None
        if name == "verbose" and callable(given):
            given = 0
        found[name] = encode_value(given, shelf, f"the parameter {name}")
    return found


def decode_estimator(kind: type[Estimator], found: Any, shelf: Shelf) -> Estimator:
    """An estimator, not fitted, with parameters that it accepts."""
    names = kind._get_param_names()
    values = read_fields(found, names, f"the parameters of {kind.__name__}")
    given = {
        name: decode_value(entry, shelf, f"the parameter {name}")
        for name, entry in zip(names, values, strict=True)
    }
    est: Estimator = kind(**given)
    try:
        est._validate_params()
    except ValueError as error:
        raise ModelFileError(str(error)) from error
    return est


def encode_value(given: Any, shelf: Shelf, where: str) -> Any:
    """A parameter as plain data; arrays of numbers go to the shelf."""
    if given is None or isinstance(given, bool | str):
        return str(given) if isinstance(given, str) else given
    if isinstance(given, np.bool_):
        return bool(given)
    if isinstance(given, Integral):
        return int(given)
    if isinstance(given, Real):
        if not math.isfinite(given):
            raise ModelFileError(f"{where} is {given!r}, and a model file holds finite numbers")
        return float(given)
    if isinstance(given, Kernel):
        return {"kernel": encode_kernel(given, where)}
    if isinstance(given, slice):
        ends = (given.start, given.stop, given.step)
        return {"slice": [encode_value(end, shelf, where) for end in ends]}
    if isinstance(given, Mapping):
        return {
            "dict": [[encode_value(part, shelf, where) for part in pair] for pair in given.items()]
        }
    if isinstance(given, tuple):
        return {"tuple": [encode_value(entry, shelf, where) for entry in given]}
    if isinstance(given, list):
        return [encode_value(entry, shelf, where) for entry in given]
    if hasattr(given, "__array__"):
        return _encoded_array(np.asarray(given), shelf, where)
    if isinstance(given, Sequence):
        return [encode_value(entry, shelf, where) for entry in given]
    raise ModelFileError(
        f"{where} is a {type(given).__name__}, which a model file does not hold; use set_params "
        "to replace it"
    )


def _encoded_array(array: NDArray[Any], shelf: Shelf, where: str) -> Any:
    if array.dtype.kind in "OUS":
        return encode_value(array.tolist(), shelf, where)
    for kind, held in (("b", np.bool_), ("iu", np.int64), ("f", np.float64)):
        if array.dtype.kind in kind and array.dtype.itemsize <= 8 and 0 < array.ndim <= 4:
            return {"array": shelf.append(array.astype(held))}
    raise ModelFileError(
        f"{where} is an array of {array.dtype} and shape {array.shape}, which a model file does "
        "not hold"
    )


def decode_value(found: Any, shelf: Shelf, where: str) -> Any:
    """A parameter from plain data."""
    if isinstance(found, list):
        return [decode_value(entry, shelf, where) for entry in found]
    if not isinstance(found, dict):
        return found
    if len(found) != 1 or next(iter(found)) not in _TAGS:
        raise ModelFileError(f"{where}: expected one of {', '.join(_TAGS)}")
    ((tag, inner),) = found.items()
    return _TAGS[tag](inner, shelf, where)


def _kernel(inner: Any, shelf: Shelf, where: str) -> Kernel:
    return decode_kernel(inner, where)


def _entries(inner: Any, where: str, count: int | None = None) -> list[Any]:
    if not isinstance(inner, list) or count not in (None, len(inner)):
        raise ModelFileError(f"{where}: expected a list of {count or 'some'} values")
    return inner


def _slice(inner: Any, shelf: Shelf, where: str) -> slice:
    ends = _entries(inner, where, 3)
    if not all(end is None or (isinstance(end, int) and not isinstance(end, bool)) for end in ends):
        raise ModelFileError(f"{where}: a slice has whole numbers")
    return slice(*ends)


def _dict(inner: Any, shelf: Shelf, where: str) -> dict[Any, Any]:
    pairs = [_entries(pair, where, 2) for pair in _entries(inner, where)]
    found = {read_text(name, where): decode_value(entry, shelf, where) for name, entry in pairs}
    if len(found) < len(pairs):
        raise ModelFileError(f"{where}: a name is there twice")
    return found


def _tuple(inner: Any, shelf: Shelf, where: str) -> tuple[Any, ...]:
    return tuple(decode_value(entry, shelf, where) for entry in _entries(inner, where))


def _array(inner: Any, shelf: Shelf, where: str) -> NDArray[Any]:
    return shelf.take(read_text(inner, where), None, (np.bool_, np.int64, np.float64))


_TAGS: dict[str, Callable[[Any, Shelf, str], Any]] = {
    "kernel": _kernel,
    "slice": _slice,
    "dict": _dict,
    "tuple": _tuple,
    "array": _array,
}


# --- kernels ------------------------------------------------------------------------------------


def encode_kernel(given: Kernel, where: str) -> dict[str, Any]:
    """A kernel object as plain data."""
    if type(given) is not _KERNELS.get(type(given).__name__):
        raise ModelFileError(
            f"{where} is a {type(given).__name__}; a model file holds the kernels "
            f"{', '.join(_KERNELS)}"
        )
    given.check(where)
    found = {
        name: encode_value(entry, Shelf(), where)
        for name, entry in given.get_params(deep=False).items()
    }
    if "standardize" in found:
        found["standardize"] = bool(found["standardize"])
    return {"class": type(given).__name__, **found}


def decode_kernel(found: Any, where: str) -> Kernel:
    """A kernel object from plain data, with parameters that make sense."""
    name = read_text(found.get("class") if isinstance(found, dict) else None, where, [*_KERNELS])
    kind = _KERNELS[name]
    names = kind._get_param_names()
    _, *values = read_fields(found, ["class", *names], where)
    if any(isinstance(entry, list | dict) for entry in values):
        raise ModelFileError(f"{where}: the parameters of a kernel are numbers and text")
    made = kind(**dict(zip(names, values, strict=True)))
    if not isinstance(found.get("standardize", False), bool):
        raise ModelFileError(f"{where}: standardize is true or false")
    try:
        made.check(where)
    except ValueError as error:
        raise ModelFileError(str(error)) from error
    return made
