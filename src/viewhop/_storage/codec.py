"""Converting objects to plain data and arrays, and back with every value checked."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from viewhop.errors import ModelFileError

__all__ = [
    "LARGEST",
    "Shelf",
    "decode_value",
    "encode_value",
    "read_boolean",
    "read_fields",
    "read_integer",
    "read_number",
    "read_text",
    "read_texts",
]

#: Largest magnitude of numbers in arrays unless a reader allows others: their squares are finite.
LARGEST = 1e150
#: Largest magnitude of whole numbers: machine integers hold them and their neighbours.
LARGEST_INTEGER = 2**62

#: Returns an object as ``{tag: plain data}``, or None for objects that it does not support.
Encoder: TypeAlias = Callable[[Any, str], dict[str, Any] | None]
#: Returns an object from the plain data of its tag.
Decoder: TypeAlias = Callable[[Any, str], Any]


class Shelf:
    """A collection of arrays by name; each is added once and removed once.

    Parameters
    ----------
    arrays : dict of arrays by name
    prefix : str
        Prefix of all names.
    """

    def __init__(self, arrays: dict[str, NDArray[Any]] | None = None, prefix: str = "") -> None:
        self.arrays: dict[str, NDArray[Any]] = {} if arrays is None else arrays
        self._prefix = prefix

    def within(self, name: str) -> Shelf:
        """The part of the shelf for names in this folder."""
        return Shelf(self.arrays, f"{self._prefix}{name}/")

    def put(self, name: str, array: NDArray[Any]) -> None:
        """Add an array."""
        self.arrays[self._prefix + name] = array

    def put_csr(self, matrix: csr_array) -> None:
        """Add the three arrays of a sparse matrix."""
        self.put("values", matrix.data)
        self.put("indices", matrix.indices)
        self.put("indptr", matrix.indptr)

    def append(self, array: NDArray[Any]) -> str:
        """Add an array without a name, and return the name that it is given."""
        name = str(sum(known.startswith(self._prefix) for known in self.arrays))
        self.put(name, array)
        return name

    def has(self, name: str) -> bool:
        """Whether the shelf has an array of this name."""
        return self._prefix + name in self.arrays

    def length(self, name: str) -> int:
        """The number of rows of an array; 0 if the shelf does not have it."""
        array = self.arrays.get(self._prefix + name)
        return len(array) if array is not None and array.ndim else 0

    def take(
        self, name: str, shape: tuple[int, ...] | None = None, dtype: Any = np.float64
    ) -> NDArray[Any]:
        """An array, removed from the shelf; ModelFileError if it is missing or does not match.

        Parameters
        ----------
        name : str
        shape : tuple of int or None
            Required shape, with −1 for any size; None allows any shape.
        dtype : dtype or tuple of dtypes
            Allowed dtypes.
        """
        full = self._prefix + name
        if full not in self.arrays:
            raise ModelFileError(f"the array {full} is missing")
        array = self.arrays.pop(full)
        known = [np.dtype(kind) for kind in (dtype if isinstance(dtype, tuple) else (dtype,))]
        fits = shape is None or (
            array.ndim == len(shape)
            and all(want in (-1, size) for want, size in zip(shape, array.shape, strict=True))
        )
        if array.dtype not in known or not fits:
            expected = " or ".join(map(str, known))
            raise ModelFileError(
                f"the array {full} is {array.dtype} of shape {array.shape}, expected {expected}"
                + ("" if shape is None else f" of shape {shape}, −1 for any size")
            )
        return array

    def numbers(
        self,
        name: str,
        shape: tuple[int, ...],
        dtype: Any = np.float64,
        *,
        least: float = -LARGEST,
        above: float = -math.inf,
        most: float = LARGEST,
    ) -> NDArray[Any]:
        """An array of numbers from `least` to `most` and > `above`, removed from the shelf."""
        array = self.take(name, shape, dtype)
        for block in range(0, len(array), 2**16):
            part = array[block : block + 2**16]
            if not part.size:
                continue
            # As Python's numbers: in single precision a bound would become infinite.
            low, high = float(part.min()), float(part.max())
            is_finite = math.isfinite(low) and math.isfinite(high)  # false for NaN as well
            if not (is_finite and low >= least and low > above and high <= most):
                raise ModelFileError(
                    f"the array {self._prefix}{name} has numbers that are not finite, too small or "
                    "too large"
                )
        return array

    def places(self, name: str, n: int, shape: tuple[int, ...] = (-1,)) -> NDArray[np.intp]:
        """An array of row numbers from 0 to n − 1, removed from the shelf."""
        array = self.take(name, shape, np.int64)
        if array.size and not (array.min() >= 0 and array.max() < n):
            raise ModelFileError(f"the array {self._prefix}{name} points beyond {n} rows")
        return array.astype(np.intp, copy=False)

    def take_csr(self, n: int, dtype: Any, where: str) -> csr_array:
        """An (n, n) sparse matrix with sorted, non-empty rows, removed from the shelf."""
        data = self.numbers("values", (-1,), dtype, least=0.0)  # sums are checked by the caller
        indices = self.take("indices", data.shape, (np.int32, np.int64))
        indptr = self.take("indptr", (n + 1,), indices.dtype)
        if indptr[0] != 0 or indptr[-1] != data.size or (np.diff(indptr) < 1).any():
            raise ModelFileError(
                f"{where}: rows must begin and end with the stored pairs, and none may be empty"
            )
        if indices.min() < 0 or indices.max() >= n:
            raise ModelFileError(f"{where}: stored pairs point beyond {n} samples")
        rising = np.diff(indices) > 0
        rising[indptr[1:-1] - 1] = True  # from one row to the next
        if not rising.all():
            raise ModelFileError(f"{where}: stored pairs are not in order")
        return csr_array((data, indices, indptr), shape=(n, n))

    def take_rows(self, shape: tuple[int, int], dtype: Any, where: str) -> csr_array:
        """A sparse matrix with sorted rows, some of them empty, removed from the shelf."""
        n, width = shape
        data = self.numbers("values", (-1,), dtype)
        indices = self.take("indices", data.shape, (np.int32, np.int64))
        indptr = self.take("indptr", (n + 1,), (np.int32, np.int64))
        # Compared, not subtracted: differences of damaged numbers overflow.
        is_rising = bool((indptr[1:] >= indptr[:-1]).all())
        if indptr[0] != 0 or indptr[-1] != data.size or not is_rising:
            raise ModelFileError(f"{where}: rows must begin and end with the stored entries")
        if data.size and (indices.min() < 0 or indices.max() >= width):
            raise ModelFileError(f"{where}: stored entries point beyond {width} columns")
        rising = indices[1:] > indices[:-1]
        ends = indptr[1:-1]
        rising[ends[(ends > 0) & (ends < data.size)] - 1] = True  # from one row to the next
        if not rising.all():
            raise ModelFileError(f"{where}: stored entries are not in order")
        return csr_array((data, indices, indptr), shape=shape)

    def check_empty(self) -> None:
        """Raise ModelFileError if an array is still on the shelf."""
        if self.arrays:
            raise ModelFileError(f"nothing is known of the array {min(self.arrays)}")


def read_fields(
    data: Any, keys: Sequence[str], where: str, *, optional: Mapping[str, Any] | None = None
) -> list[Any]:
    """The values of an object with these keys, in order, followed by those of `optional`.

    Parameters
    ----------
    data : dict
        Anything else, a missing key or an unknown key raises ModelFileError.
    keys : sequence of str
        Required keys.
    where : str
        Name of the object in error messages.
    optional : dict of defaults by key, or None
        Keys that later versions added: older files lack them and get the default.
    """
    later = {} if optional is None else optional
    if not isinstance(data, dict) or not set(keys) <= set(data) <= {*keys, *later}:
        present = ", ".join(data) or "none" if isinstance(data, dict) else type(data).__name__
        expected = ", ".join([*keys, *later]) or "no keys"
        raise ModelFileError(f"{where}: expected {expected}, got {present[:200]}")
    return [data.get(key, later.get(key)) for key in (*keys, *later)]


def read_integer(value: Any, where: str, *, least: int = 0, most: int = LARGEST_INTEGER) -> int:
    """A whole number in a range; ModelFileError otherwise."""
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise ModelFileError(
            f"{where}: expected a whole number of at least {least}, got {repr(value)[:60]}"
        )
    return value


def read_number(
    value: Any,
    where: str,
    *,
    above: float = -math.inf,
    least: float = -LARGEST,
    most: float = LARGEST,
) -> float:
    """A finite number in a range; ModelFileError otherwise."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ModelFileError(f"{where}: expected a number, got {type(value).__name__}")
    if not (value > above and least <= value <= most):  # false for NaN as well
        raise ModelFileError(f"{where}: {value!r} is too small or too large")
    return float(value)


def read_boolean(value: Any, where: str) -> bool:
    """True or False; ModelFileError for anything else."""
    if not isinstance(value, bool):
        raise ModelFileError(f"{where}: expected true or false, got {type(value).__name__}")
    return value


def read_text(value: Any, where: str, known: Sequence[str] | None = None) -> str:
    """Text, one of `known` unless that is None; ModelFileError otherwise."""
    if not isinstance(value, str) or (known is not None and value not in known):
        expected = "text" if known is None else f"one of {', '.join(known)}"
        raise ModelFileError(f"{where}: expected {expected}, got {repr(value)[:60]}")
    return value


def read_texts(value: Any, where: str, count: int | None = None) -> tuple[str, ...]:
    """A list of text as a tuple, with `count` entries unless that is None."""
    if not isinstance(value, list) or count not in (None, len(value)):
        raise ModelFileError(f"{where}: expected a list of {count or 'some'} texts")
    return tuple(read_text(entry, where) for entry in value)


def encode_value(given: Any, shelf: Shelf, where: str, *, encode: Encoder | None = None) -> Any:
    """A value as plain data; arrays of numbers go to the shelf.

    Parameters
    ----------
    given : object
    shelf : Shelf
        Receives the arrays.
    where : str
        Name of the value in error messages.
    encode : callable or None
        Encodes objects of other classes, or returns None.
    """
    special = None if encode is None else encode(given, where)
    if special is not None:
        return special

    def inner(part: Any) -> Any:
        return encode_value(part, shelf, where, encode=encode)

    if given is None or isinstance(given, bool | str):
        return str(given) if isinstance(given, str) else given
    if isinstance(given, np.bool_):
        return bool(given)
    if isinstance(given, Integral):
        return int(given)
    if isinstance(given, Real):
        if not math.isfinite(given):
            raise ModelFileError(f"{where} is {given!r}; a model file holds only finite numbers")
        return float(given)
    if isinstance(given, slice):
        ends = (given.start, given.stop, given.step)
        return {"slice": [inner(end) for end in ends]}
    if isinstance(given, Mapping):
        return {"dict": [[inner(part) for part in pair] for pair in given.items()]}
    if isinstance(given, tuple):
        return {"tuple": [inner(entry) for entry in given]}
    if isinstance(given, list):
        return [inner(entry) for entry in given]
    if hasattr(given, "__array__"):
        return _encode_array(np.asarray(given), shelf, where)
    if isinstance(given, Sequence):
        return [inner(entry) for entry in given]
    raise ModelFileError(
        f"{where} is a {type(given).__name__}, which model files do not support; replace it with "
        "set_params"
    )


def _encode_array(array: NDArray[Any], shelf: Shelf, where: str) -> Any:
    if array.dtype.kind in "OUS":
        return encode_value(array.tolist(), shelf, where)
    for kind, stored in (("b", np.bool_), ("iu", np.int64), ("f", np.float64)):
        if array.dtype.kind in kind and array.dtype.itemsize <= 8 and 0 < array.ndim <= 4:
            return {"array": shelf.append(array.astype(stored))}
    raise ModelFileError(
        f"{where} is an array of {array.dtype} and shape {array.shape}, which model files do not "
        "support"
    )


def decode_value(
    data: Any, shelf: Shelf, where: str, *, decoders: Mapping[str, Decoder] | None = None
) -> Any:
    """A value from plain data.

    Parameters
    ----------
    data : object
        As written by `encode_value`; anything else raises ModelFileError.
    shelf : Shelf
        Provides the arrays.
    where : str
        Name of the value in error messages.
    decoders : dict of callables by tag, or None
        Decode what the `encode` of `encode_value` returned.
    """

    def inner(part: Any) -> Any:
        return decode_value(part, shelf, where, decoders=decoders)

    if isinstance(data, list):
        return [inner(entry) for entry in data]
    if isinstance(data, int) and not isinstance(data, bool) and abs(data) > LARGEST_INTEGER:
        raise ModelFileError(f"{where}: {data} is too large")
    if not isinstance(data, dict):
        return data
    tags = ("slice", "dict", "tuple", "array", *(decoders or ()))
    if len(data) != 1 or next(iter(data)) not in tags:
        raise ModelFileError(f"{where}: expected one of {', '.join(tags)}")
    ((tag, content),) = data.items()
    if tag == "slice":
        return _decode_slice(content, where)
    if tag == "dict":
        pairs = [_entries(pair, where, 2) for pair in _entries(content, where)]
        named = {read_text(name, where): inner(entry) for name, entry in pairs}
        if len(named) < len(pairs):
            raise ModelFileError(f"{where}: a name occurs twice")
        return named
    if tag == "tuple":
        return tuple(inner(entry) for entry in _entries(content, where))
    if tag == "array":
        return shelf.take(read_text(content, where), None, (np.bool_, np.int64, np.float64))
    return (decoders or {})[tag](content, where)


def _entries(inner: Any, where: str, count: int | None = None) -> list[Any]:
    if not isinstance(inner, list) or count not in (None, len(inner)):
        raise ModelFileError(f"{where}: expected a list of {count or 'some'} values")
    return inner


def _decode_slice(inner: Any, where: str) -> slice:
    ends = _entries(inner, where, 3)
    for end in ends:
        if end is not None:
            read_integer(end, f"{where}: a slice", least=-LARGEST_INTEGER)
    return slice(*ends)
