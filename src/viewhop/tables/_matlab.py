"""The variables of a MAT file (versions 5 to 7): numeric matrices and text.

scipy reads these files too, but a damaged one can crash it together with the interpreter. Here
every length is checked against the size of the file.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from viewhop._runtime.memory import require_bytes

__all__ = ["Unread", "read_variables"]

_TYPES = {
    1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8",
}  # fmt: skip
_CLASSES = {
    6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4", 14: "i8", 15: "u8",
}  # fmt: skip
_OTHERS = {2: "a struct", 3: "an object", 5: "a sparse matrix", 16: "a function", 17: "an object"}
_ENCODINGS = {16: "utf-8", 17: "utf-16", 18: "utf-32"}
_MATRIX, _COMPRESSED = 14, 15
_CELL, _CHAR = 1, 4
_HEADER = 128
#: Bytes that are decompressed at a time.
_PIECE = 2**16
#: Bytes of a text besides its characters.
_TEXT = 64

#: Counts bytes before they are allocated; MemoryBudgetError if they are too many.
Count = Callable[[int], None]


@dataclass(frozen=True)
class Unread:
    """A variable that is neither numeric nor text.

    Attributes
    ----------
    dtype : str
        Description of its type.
    shape : tuple of int
    """

    dtype: str
    shape: tuple[int, ...]


class _Element(NamedTuple):
    kind: int
    data: memoryview
    end: int


def read_variables(data: bytes, *, allowed: int | None = None, used: int = 0) -> dict[str, Any]:
    """The variables of a MAT file by name: numeric arrays, text arrays, or `Unread`.

    Parameters
    ----------
    data : bytes
        Content of the file.
    allowed : int or None
        Largest total size of the unpacked variables in bytes; None sets no limit.
    used : int
        Bytes of these that are taken already.

    Raises
    ------
    ValueError
        If the data are not such a file, or damaged.
    MemoryBudgetError
        If the variables would take more memory than allowed; nothing more is unpacked.
    """
    mark = data[_HEADER - 2 : _HEADER]
    if mark not in (b"IM", b"MI"):
        raise ValueError("no byte order mark of MAT version 5 to 7")
    order = "<" if mark == b"IM" else ">"
    variables = {}
    taken = used

    def count(n_bytes: int) -> None:
        nonlocal taken
        taken += n_bytes
        require_bytes(taken, allowed, what="its variables", instead="raise max_memory")

    for element in _elements(memoryview(data)[_HEADER:], order):
        if element.kind == _COMPRESSED:
            (element,) = _elements(_inflate(element.data, order, count), order)
        if element.kind == _MATRIX:
            name, value = _matrix(element.data, order, count, depth=0)
            if name:  # the workspace of a function handle has no name
                variables[name] = value
    return variables


def _elements(data: memoryview, order: str) -> Iterator[_Element]:
    start = 0
    while start < len(data):
        element = _element(data, start, order)
        yield element
        start = element.end


def _element(data: memoryview, start: int, order: str) -> _Element:
    """The element at an offset, with the offset of the next one."""
    tag = _numbers(data[start : start + 8], "u4", order)
    if len(tag) != 2:
        raise ValueError("it is cut short")
    kind, size = map(int, tag)
    begin, end = start + 8, start + 8 + size
    if kind >> 16:  # a small element is stored in the tag itself
        kind, size = kind & 0xFFFF, kind >> 16
        begin, end = start + 4, start + 8
        if size > 4:
            raise ValueError("a small element is longer than 4 bytes")
    elif kind != _COMPRESSED:
        end += -size % 8
    if begin + size > len(data):
        raise ValueError("it is cut short")
    return _Element(kind, data[begin : begin + size], end)


def _inflate(data: memoryview, order: str, count: Count) -> memoryview:
    """The decompressed data, at most as many bytes as the tag announces."""
    source = _Inflater(data)
    tag = source.read(8)
    size = int(_numbers(memoryview(tag), "u4", order)[1])
    count(8 + size)
    content = memoryview(bytearray(8 + size))
    content[:8] = tag
    for start in range(8, 8 + size, _PIECE):
        piece = content[start : start + _PIECE]
        piece[:] = source.read(len(piece))
    if not source.is_at_end():
        raise ValueError("compressed data have a different length than their tag announces")
    return content


class _Inflater:
    """Compressed data, decompressed as far as they are read."""

    def __init__(self, data: memoryview) -> None:
        self._data, self._at = data, 0
        self._pending = b""
        self._unpacking = zlib.decompressobj()

    def read(self, size: int) -> bytes:
        """So many bytes; ValueError if there are fewer."""
        pieces, missing = [], size
        while missing:
            piece = self._more(missing)
            is_over = not self._pending and self._at >= len(self._data)
            if not piece and (is_over or self._unpacking.eof):
                raise ValueError("it is cut short")
            pieces.append(piece)
            missing -= len(piece)
        return b"".join(pieces)

    def is_at_end(self) -> bool:
        """Whether nothing is left, and the checksum is right."""
        while not self._unpacking.eof:
            if self._more(1) or (not self._pending and self._at >= len(self._data)):
                break
        return self._unpacking.eof

    def _more(self, most: int) -> bytes:
        if not self._pending:
            self._pending = bytes(self._data[self._at : self._at + _PIECE])
            self._at += len(self._pending)
        piece = self._unpacking.decompress(self._pending, most)
        self._pending = self._unpacking.unconsumed_tail
        return piece


def _matrix(data: memoryview, order: str, count: Count, *, depth: int) -> tuple[str, Any]:
    """Name and value of a variable, or of a cell within one."""
    if not len(data):
        return "", np.empty((0, 0))
    flags = _element(data, 0, order)
    dims = _element(data, flags.end, order)
    name_element = _element(data, dims.end, order)
    words = _numbers(flags.data, "u4", order)
    shape = tuple(int(n) for n in _numbers(dims.data, "i4", order))
    if len(words) != 2 or len(shape) < 2 or min(shape) < 0:
        raise ValueError("the header of a matrix is damaged")
    kind, is_complex = int(words[0]) & 0xFF, bool(int(words[0]) & 0x800)
    name = bytes(name_element.data).decode("ascii", "replace")
    if kind in _OTHERS or is_complex:
        return name, Unread("complex numbers" if is_complex else _OTHERS[kind], shape)
    n_values = math.prod(shape)
    if kind == _CELL:
        return name, _cells(data, name_element.end, shape, order, count, depth=depth)
    if not n_values:
        return name, np.empty(shape)
    part = _element(data, name_element.end, order)
    if kind == _CHAR:
        return name, _texts(part, shape, order, count)
    if kind not in _CLASSES or part.kind not in _TYPES:
        raise ValueError(f"a matrix has the unknown class {kind}")
    values = _numbers(part.data, _TYPES[part.kind], order)
    if len(values) != n_values:
        raise ValueError(f"a matrix of shape {shape} has {len(values)} values")
    return name, _converted(values, _CLASSES[kind], count).reshape(shape, order="F")


def _converted(values: Any, kind: str, count: Count) -> Any:
    """The values in the class of their matrix; it may be wider than what the file stores."""
    is_usable = values.dtype == kind and values.flags.writeable and values.flags.aligned
    if is_usable:
        return values
    count(values.size * np.dtype(kind).itemsize)
    with np.errstate(all="ignore"):  # floats in a matrix of integers that they do not fit
        return values.astype(kind)


def _cells(
    data: memoryview, start: int, shape: tuple[int, ...], order: str, count: Count, *, depth: int
) -> Any:
    """The texts of a cell array, or `Unread` if a cell is not text."""
    n_cells = math.prod(shape)
    if depth or n_cells > len(data) // 8:
        return Unread("nested cells" if depth else "damaged cells", shape)
    texts = []
    for _ in range(n_cells):
        element = _element(data, start, order)
        if element.kind != _MATRIX:
            raise ValueError("a cell is damaged")
        _, value = _matrix(element.data, order, count, depth=1)
        empty = isinstance(value, np.ndarray) and not value.size
        text = [""] if empty else value
        if not empty and not (isinstance(value, np.ndarray) and value.dtype.kind == "U"):
            return Unread("cells that are not text", shape)
        texts.append("".join(text))
        start = element.end
    # Every entry of such an array takes as much as the longest.
    count(4 * n_cells * max(map(len, texts), default=0))
    return np.array(texts, dtype=np.str_).reshape(shape, order="F")


def _texts(part: _Element, shape: tuple[int, ...], order: str, count: Count) -> Any:
    """The rows of a character array, without trailing blanks."""
    count(8 * len(part.data) + _TEXT * min(shape[0], len(part.data)))
    if part.kind in _ENCODINGS:
        encoding = _ENCODINGS[part.kind]
        if part.kind != 16:
            encoding += "-le" if order == "<" else "-be"
        marks = bytes(part.data).decode(encoding)
    elif part.kind in _TYPES:
        codes = _numbers(part.data, _TYPES[part.kind], order).astype("<u4")
        marks = codes.tobytes().decode("utf-32-le", "surrogatepass")
    else:
        raise ValueError("a text is damaged")
    if len(shape) != 2 or len(marks) != math.prod(shape):
        return Unread("text of the wrong length", shape)
    return np.array([marks[row :: shape[0]].rstrip(" ") for row in range(shape[0])])


def _numbers(data: memoryview, kind: str, order: str) -> Any:
    return np.frombuffer(data, dtype=f"{order}{kind}")
