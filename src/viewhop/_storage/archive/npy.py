"""The ``.npy`` format, of which one header is known: numbers in little-endian order."""

from __future__ import annotations

import math
import re
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from viewhop.errors import ModelFileError

__all__ = ["DTYPES", "PREFIX", "Header", "array_bytes", "parse_header"]

#: The dtypes that an archive holds, as ``.npy`` spells them.
DTYPES = ("<f4", "<f8", "<i4", "<i8", "|b1")
#: Magic, version 1.0, and two bytes for the length of what follows.
PREFIX = 10
_MAGIC = b"\x93NUMPY\x01\x00"
#: A header is as short as this: no array here has more than a few dimensions.
_LONGEST = 246
_MOST_DIMENSIONS = 4
_TEXT = re.compile(
    r"\{'descr': '([<|][fib][1248])', 'fortran_order': (True|False), "
    r"'shape': \(((?:\d{1,15},)?|\d{1,15}(?:, \d{1,15})+)\), \} *\n"
)


class Header(NamedTuple):
    """What the header of an array says.

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
        """Bytes of the numbers."""
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize

    def encoded(self) -> bytes:
        """The header as it stands in a file, padded so that numbers begin at a multiple of 64."""
        inside = ", ".join(map(str, self.shape)) + ("," if len(self.shape) == 1 else "")
        text = (
            f"{{'descr': '{self.dtype}', 'fortran_order': {self.is_fortran}, "
            f"'shape': ({inside}), }}"
        )
        text += " " * (-(PREFIX + len(text) + 1) % 64) + "\n"
        return _MAGIC + len(text).to_bytes(2, "little") + text.encode("ascii")

    @classmethod
    def rest(cls, prefix: bytes) -> int:
        """How many bytes follow the first `PREFIX` ones of a header."""
        length = int.from_bytes(prefix[8:], "little")
        if len(prefix) < PREFIX or prefix[:8] != _MAGIC or not 0 < length <= _LONGEST:
            raise ModelFileError("it does not begin as an array does")
        return length

    @classmethod
    def decoded(cls, text: bytes) -> Header:
        """The header from the bytes after its prefix."""
        found = _TEXT.fullmatch(text.decode("latin-1"))
        if found is None or found[1] not in DTYPES:
            raise ModelFileError(
                f"its header is not that of an array of numbers ({', '.join(DTYPES)})"
            )
        shape = tuple(int(size) for size in found[3].split(",") if size)
        if len(shape) > _MOST_DIMENSIONS or math.prod(shape) >= 2**48:
            raise ModelFileError(f"its shape is {shape}")
        return cls(found[1], shape, found[2] == "True")


def parse_header(array: NDArray[Any]) -> Header:
    """The header of an array; TypeError for a dtype that an archive does not hold."""
    dtype = array.dtype.newbyteorder("<").str
    if dtype not in DTYPES:
        raise TypeError(f"an archive holds {', '.join(DTYPES)}, not {array.dtype}")
    # Kept, because a sum along an axis depends on it to the last bit.
    is_fortran = array.ndim > 1 and array.strides[0] < array.strides[-1] and array.size > 0
    return Header(dtype, array.shape, is_fortran)


def array_bytes(array: NDArray[Any], header: Header) -> NDArray[np.uint8]:
    """The numbers of an array as the bytes that follow its header."""
    flat = np.asarray(array.ravel(order="F" if header.is_fortran else "C"), dtype=header.dtype)
    return flat.view(np.uint8)
