"""The footer of a Parquet file: the size of each column in each row group, as the file states it.

pyarrow has these numbers too, but asking it for those of a damaged column ends the process: the
error of its C++ library is not converted. So they are read here, from the compact protocol of
Thrift in which the footer is written.
"""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["ColumnChunk", "read_chunks"]

#: Types of the compact protocol.
_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)
#: Fields of FileMetaData, RowGroup, ColumnChunk and ColumnMetaData.
_ROW_GROUPS, _COLUMNS, _META_DATA = 4, 1, 3
_ENCODINGS, _UNCOMPRESSED = 2, 6
#: Number of the encoding in which a text is stored as what differs from the one before it.
_DELTA_BYTE_ARRAY = 7


class ColumnChunk(NamedTuple):
    """A column in a row group.

    Attributes
    ----------
    unpacked : int
        Size of its pages in bytes, after decompression.
    is_delta : bool
        Whether texts may be stored as what differs from the one before.
    """

    unpacked: int
    is_delta: bool


def read_chunks(data: bytes) -> list[list[ColumnChunk]]:
    """The columns of each row group, in the order of the file.

    Parameters
    ----------
    data : bytes
        Content of a Parquet file.

    Raises
    ------
    ValueError
        If the footer is damaged.
    """
    size = int.from_bytes(data[-8:-4], "little")
    footer = _Reader(data[max(0, len(data) - 8 - size) : -8])
    try:
        groups = footer.read_struct().get(_ROW_GROUPS, [])
        return [[_chunk(column) for column in group[_COLUMNS]] for group in groups]
    except (IndexError, KeyError, TypeError, AttributeError) as error:
        raise ValueError("its footer is damaged") from error


def _chunk(column: dict[int, Any]) -> ColumnChunk:
    facts = column[_META_DATA]
    unpacked = facts[_UNCOMPRESSED]
    if unpacked < 0:
        raise ValueError(f"its footer states a column of {unpacked} bytes")
    return ColumnChunk(unpacked, _DELTA_BYTE_ARRAY in facts[_ENCODINGS])


class _Reader:
    """Values of the compact protocol, one after the other; IndexError at the end."""

    def __init__(self, data: bytes) -> None:
        self._data, self._place = data, 0

    def read_struct(self) -> dict[int, Any]:
        """The fields of a struct by number."""
        fields: dict[int, Any] = {}
        number = 0
        while kind := self._byte():
            step, kind = kind >> 4, kind & 15
            number = number + step if step else self._integer()
            fields[number] = kind == _TRUE if kind in (_TRUE, _FALSE) else self._value(kind)
        return fields

    def _value(self, kind: int) -> Any:
        if kind in (_I16, _I32, _I64):
            return self._integer()
        if kind == _STRUCT:
            return self.read_struct()
        if kind in (_LIST, _SET):
            return self._list()
        if kind in (_TRUE, _FALSE, _BYTE):  # a truth value in a list takes a byte
            return self._byte()
        if kind == _BINARY:
            return self._skip(self._varint())
        if kind == _DOUBLE:
            return self._skip(8)
        if kind == _MAP:
            return self._map()
        raise ValueError("its footer is damaged")

    def _list(self) -> list[Any]:
        head = self._byte()
        count = head >> 4 if head >> 4 < 15 else self._varint()
        return [self._value(head & 15) for _ in range(count)]

    def _map(self) -> None:
        count = self._varint()
        kinds = self._byte() if count else 0
        for _ in range(count):
            self._value(kinds >> 4)
            self._value(kinds & 15)

    def _skip(self, count: int) -> None:
        self._place += count
        if self._place > len(self._data):
            raise IndexError("the data end early")

    def _byte(self) -> int:
        byte = self._data[self._place]
        self._place += 1
        return byte

    def _varint(self) -> int:
        value = shift = 0
        while (byte := self._byte()) & 128:
            value |= (byte & 127) << shift
            shift += 7
        return value | byte << shift

    def _integer(self) -> int:
        value = self._varint()
        return value >> 1 ^ -(value & 1)
