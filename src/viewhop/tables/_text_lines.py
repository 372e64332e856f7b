"""The text of a file: its encoding, and its lines."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator

from viewhop.tables._budget import ReadingBudget
from viewhop.tables._faults import table_fault

__all__ = ["LineSource", "utf8_content"]

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
#: Bytes that are decoded at a time.
_PIECE = 2**20
#: Characters of a row beyond which its cells are counted before they are parted, and the bytes
#: that each of them takes at most besides its characters.
_LONG, _CELL = 2**20, 80


class LineSource:
    """The lines of a text; a row so long that its cells would not fit the budget is refused.

    Parameters
    ----------
    path : str
    content : bytes
        Text in UTF-8.
    delimiter : str
    budget : ReadingBudget
    """

    def __init__(self, path: str, content: bytes, delimiter: str, budget: ReadingBudget) -> None:
        self._file = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8", newline="")
        self._path, self._delimiter, self._budget = path, delimiter, budget
        self.begin_record()

    def begin_record(self) -> None:
        """Forget the lines of the row before."""
        self._length = self._cells = 0

    def __iter__(self) -> Iterator[str]:
        for line in self._file:
            self._length += len(line)
            if self._length > _LONG:
                self._cells += line.count(self._delimiter) + 1
                self._budget.check(
                    self._path,
                    _CELL * self._cells + 4 * self._length,
                    what=f"a row of {self._cells:,} cells",
                )
            yield line


def utf8_content(path: str, data: bytes, encoding: str, budget: ReadingBudget) -> bytes:
    """The text of a file in UTF-8, without a byte order mark.

    Parameters
    ----------
    path : str
    data : bytes
    encoding : str
    budget : ReadingBudget
        Counts the text, if it is not that of the file.
    """
    codec = _codec(path, encoding)
    skipped = 0
    if codec.name == "utf-8":
        if data.startswith(_UTF16):
            raise table_fault(
                path, "the text is UTF-16; save it as UTF-8, or set the encoding to utf-16"
            )
        if data.startswith(codecs.BOM_UTF8):
            skipped = 3
            budget.take(path, len(data), what="its text")
            data = data[skipped:]
    try:
        content = _decoded(path, data, codec, budget)
    except UnicodeError as error:
        raise _undecodable(path, data, encoding, error, skipped) from None
    at = content.find(b"\0")
    if at >= 0:
        raise table_fault(
            path,
            f"a NUL character (byte {at + skipped}); the file is damaged or not a text file",
            line=content.count(b"\n", 0, at) + 1,
        )
    return content


def _codec(path: str, encoding: str) -> codecs.CodecInfo:
    try:
        codec = codecs.lookup(encoding)
    except (LookupError, ValueError):
        raise table_fault(path, f"unknown encoding {encoding!r}; try utf-8 or latin-1") from None
    # Python also calls ciphers and compression codecs: rot13, hex, zip.
    if not getattr(codec, "_is_text_encoding", True) or codec.incrementaldecoder is None:
        raise table_fault(
            path, f"{encoding!r} is not an encoding of text files; try utf-8 or latin-1"
        )
    return codec


def _decoded(path: str, data: bytes, codec: codecs.CodecInfo, budget: ReadingBudget) -> bytes:
    """The text in UTF-8, decoded a piece at a time; the data themselves if they are UTF-8."""
    is_same = codec.name == "utf-8"
    decoder = codec.incrementaldecoder()
    content = bytearray()
    try:
        for start in range(0, len(data), _PIECE):
            piece = data[start : start + _PIECE]
            text = decoder.decode(piece, final=start + _PIECE >= len(data))
            if not is_same:
                content += text.encode()
                # Once more for the copy that is returned.
                budget.check(path, 2 * len(content), what="its text")
    except UnicodeDecodeError:
        data.decode(codec.name)  # with the byte of the whole file
        raise
    if is_same:
        return data
    budget.take(path, 2 * len(content), what="its text")
    return bytes(content)


def _undecodable(
    path: str, data: bytes, encoding: str, error: UnicodeError, skipped: int
) -> Exception:
    advice = "save the file as UTF-8, or set its encoding (latin-1, for example)"
    if not isinstance(error, UnicodeDecodeError):
        return table_fault(path, f"it is not {encoding} text ({error}); {advice}")
    return table_fault(
        path,
        f"byte {error.start + skipped} ({data[error.start]:#04x}) is not {encoding} text; {advice}",
        line=data.count(b"\n", 0, error.start) + 1,
    )
