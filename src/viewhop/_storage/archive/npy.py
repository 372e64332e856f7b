"""The subset of the ``.npy`` format that archives use: version 1.0, little-endian numbers."""

from __future__ import annotations

import math
import re
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from viewhop.errors import ModelFileError

__all__ = ["DTYPES", "PREFIX", "Header", "array_bytes", "parse_header"]

#: The dtypes that an archive supports, in ``.npy`` notation.
DTYPES = ("<f4", "<f8", "<i4", "<i8", "|b1")
#: Length of the magic bytes with the version, and of the two bytes that give the remaining length.
PREFIX = 10
_MAGIC = b"\x93NUMPY\x01\x00"
#: Largest length of a header: archived arrays have few dimensions.
_LONGEST = 246
_MOST_DIMENSIONS = 4
_TEXT = re.compile(
    r"\{'descr': '([<|][fib][1248])', 'fortran_order': (True|False), "
    r"'shape': \(((?:\d{1,15},)?|\d{1,15}(?:, \d{1,15})+)\), \} *\n"
)


class Header(NamedTuple):
    """The header of an array.

    Attributes
    ----------
    dtype : str
        One of `DTYPES`.
    shape : tuple of int
    is_fortran : bool
        Whether the first index runs fastest.
    """

    dtype: str
    shape: tuple[int, ...]
    is_fortran: bool

    @property
    def n_bytes(self) -> int:
        """Size of the array data in bytes."""
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize

    def encoded(self) -> bytes:
        """The header as bytes, padded so that the data begin at a multiple of 64."""
        inside = ", ".join(map(str, self.shape)) + ("," if len(self.shape) == 1 else "")
        text = (
            f"{{'descr': '{self.dtype}', 'fortran_order': {self.is_fortran}, "
            f"'shape': ({inside}), }}"
        )
        text += " " * (-(PREFIX + len(text) + 1) % 64) + "\n"
        return _MAGIC + len(text).to_bytes(2, "little") + text.encode("ascii")

    @classmethod
    def rest(cls, prefix: bytes) -> int:
        """Number of bytes that follow the first `PREFIX` bytes of a header."""
        length = int.from_bytes(prefix[8:], "little")
        if len(prefix) < PREFIX or prefix[:8] != _MAGIC or not 0 < length <= _LONGEST:
            raise ModelFileError("it does not begin with an array header")
        return length

    @classmethod
    def decoded(cls, text: bytes) -> Header:
        """The header from the bytes after its prefix."""
        match = _TEXT.fullmatch(text.decode("latin-1"))
        if match is None or match[1] not in DTYPES:
            raise ModelFileError(
                f"its header does not describe an array of numbers ({', '.join(DTYPES)})"
            )
        shape = tuple(int(size) for size in match[3].split(",") if size)
        if len(shape) > _MOST_DIMENSIONS or math.prod(shape) >= 2**48:
            raise ModelFileError(f"its shape {shape} is too large")
        return cls(match[1], shape, match[2] == "True")


def parse_header(array: NDArray[Any]) -> Header:
    """The header of an array; TypeError for a dtype that archives do not support."""
    dtype = array.dtype.newbyteorder("<").str
    if dtype not in DTYPES:
        raise TypeError(f"an archive supports {', '.join(DTYPES)}, got {array.dtype}")
    # The memory order is kept, because the last bit of a sum along an axis depends on it.
    is_fortran = array.ndim > 1 and array.strides[0] < array.strides[-1] and array.size > 0
    return Header(dtype, array.shape, is_fortran)


def array_bytes(array: NDArray[Any], header: Header) -> NDArray[np.uint8]:
    """The data of an array as the bytes that follow its header."""
    flat = np.asarray(array.ravel(order="F" if header.is_fortran else "C"), dtype=header.dtype)
    return flat.view(np.uint8)
