"""The variables of a MAT file of version 5 to 7: matrices of numbers, and text.

scipy reads these files, too, but a damaged one makes it crash with the interpreter; here every
length is compared with what the file has.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from viewhop._runtime.memory import require_bytes

__all__ = ["Unread", "variables"]

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


@dataclass(frozen=True)
class Unread:
    """A variable that is neither numbers nor text.

    Attributes
    ----------
    dtype : str
        What it is.
    shape : tuple of int
    """

    dtype: str
    shape: tuple[int, ...]


class _Element(NamedTuple):
    kind: int
    data: memoryview
    end: int


def variables(data: bytes, *, allowed: int | None = None) -> dict[str, Any]:
    """The variables of a MAT file by name: arrays of numbers or text, or `Unread`.

    Parameters
    ----------
    data : bytes
        What the file holds.
    allowed : int or None
        Bytes that compressed variables may take together; None allows anything.

    Raises
    ------
    ValueError
        If it is no such file, or damaged.
    MemoryBudgetError
        If a variable would take more; it is not unpacked.
    """
    mark = data[_HEADER - 2 : _HEADER]
    if mark not in (b"IM", b"MI"):
        raise ValueError("it lacks the mark of version 5 to 7")
    order = "<" if mark == b"IM" else ">"
    found = {}
    taken = 0
    for element in _elements(memoryview(data)[_HEADER:], order):
        if element.kind == _COMPRESSED:
            inflated = _inflated(element.data, order, taken, allowed)
            taken += len(inflated)
            (element,) = _elements(inflated, order)
        if element.kind == _MATRIX:
            name, value = _matrix(element.data, order, depth=0)
            if name:  # what functions close over has none
                found[name] = value
    return found


def _elements(data: memoryview, order: str) -> Iterator[_Element]:
    start = 0
    while start < len(data):
        element = _element(data, start, order)
        yield element
        start = element.end


def _element(data: memoryview, start: int, order: str) -> _Element:
    """The element at a place, with the place of the next."""
    tag = _numbers(data[start : start + 8], "u4", order)
    if len(tag) != 2:
        raise ValueError("it is cut short")
    kind, size = map(int, tag)
    begin, end = start + 8, start + 8 + size
    if kind >> 16:  # a few bytes stand in the tag itself
        kind, size = kind & 0xFFFF, kind >> 16
        begin, end = start + 4, start + 8
        if size > 4:
            raise ValueError("a short element is too long")
    elif kind != _COMPRESSED:
        end += -size % 8
    if begin + size > len(data):
        raise ValueError("it is cut short")
    return _Element(kind, data[begin : begin + size], end)


def _inflated(data: memoryview, order: str, taken: int, allowed: int | None) -> memoryview:
    """What was compressed, and not more than its tag announces."""
    unpacking = zlib.decompressobj()
    tag = unpacking.decompress(data, 8)
    if len(tag) < 8:
        raise ValueError("it is cut short")
    size = int(_numbers(memoryview(tag), "u4", order)[1])
    require_bytes(taken + size, allowed, what="its variables", instead="raise max_memory")
    rest = unpacking.decompress(unpacking.unconsumed_tail, size) if size else b""
    if unpacking.decompress(unpacking.unconsumed_tail, 1) or not unpacking.eof:
        raise ValueError("compressed data do not end where they should")
    return memoryview(tag + rest)


def _matrix(data: memoryview, order: str, *, depth: int) -> tuple[str, Any]:
    """Name and value of a variable, or of a cell within one."""
    if not len(data):
        return "", np.empty((0, 0))
    flags = _element(data, 0, order)
    dims = _element(data, flags.end, order)
    name = _element(data, dims.end, order)
    words = _numbers(flags.data, "u4", order)
    shape = tuple(int(n) for n in _numbers(dims.data, "i4", order))
    if len(words) != 2 or len(shape) < 2 or min(shape) < 0:
        raise ValueError("the head of a matrix is damaged")
    kind, is_complex = int(words[0]) & 0xFF, bool(int(words[0]) & 0x800)
    called = bytes(name.data).decode("ascii", "replace")
    if kind in _OTHERS or is_complex:
        return called, Unread("complex numbers" if is_complex else _OTHERS[kind], shape)
    count = math.prod(shape)
    if kind == _CELL:
        return called, _cells(data, name.end, shape, order, depth=depth)
    if not count:
        return called, np.empty(shape)
    part = _element(data, name.end, order)
    if kind == _CHAR:
        return called, _texts(part, shape, order)
    if kind not in _CLASSES or part.kind not in _TYPES:
        raise ValueError(f"a matrix of the unknown class {kind}")
    values = _numbers(part.data, _TYPES[part.kind], order)
    if len(values) != count:
        raise ValueError(f"a matrix of shape {shape} has {len(values)} values")
    return called, values.astype(_CLASSES[kind]).reshape(shape, order="F")


def _cells(data: memoryview, start: int, shape: tuple[int, ...], order: str, *, depth: int) -> Any:
    """The texts of a cell array, or what it is if they are none."""
    count = math.prod(shape)
    if depth or count > len(data) // 8:
        return Unread("cells within cells" if depth else "damaged cells", shape)
    found = []
    for _ in range(count):
        element = _element(data, start, order)
        if element.kind != _MATRIX:
            raise ValueError("a cell is damaged")
        _, value = _matrix(element.data, order, depth=1)
        empty = isinstance(value, np.ndarray) and not value.size
        text = [""] if empty else value
        if not empty and not (isinstance(value, np.ndarray) and value.dtype.kind == "U"):
            return Unread("cells that are no text", shape)
        found.append("".join(text))
        start = element.end
    return np.array(found, dtype=np.str_).reshape(shape, order="F")


def _texts(part: _Element, shape: tuple[int, ...], order: str) -> Any:
    """The rows of a character array, without the blanks that fill them up."""
    if part.kind in _ENCODINGS:
        encoding = _ENCODINGS[part.kind]
        if part.kind != 16:
            encoding += "-le" if order == "<" else "-be"
        marks = bytes(part.data).decode(encoding)
    elif part.kind in _TYPES:
        marks = "".join(map(chr, _numbers(part.data, _TYPES[part.kind], order).tolist()))
    else:
        raise ValueError("a text is damaged")
    if len(shape) != 2 or len(marks) != math.prod(shape):
        return Unread("text of another length than it says", shape)
    return np.array([marks[row :: shape[0]].rstrip(" ") for row in range(shape[0])])


def _numbers(data: memoryview, kind: str, order: str) -> Any:
    return np.frombuffer(data, dtype=f"{order}{kind}")
