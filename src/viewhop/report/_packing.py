"""Packing: arrays as one compressed text, and plain data as JSON that is safe inside markup."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Pack", "safe_json"]

#: Characters that could end a script element or a line of script, or begin a comment.
_ESCAPES = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


class Pack:
    """Arrays for the page, to which plain data refers by their position.

    Examples
    --------
    >>> import numpy as np
    >>> pack = Pack()
    >>> pack.put(np.array([1.5, 2.5], dtype=np.float32))
    {'type': 'f4', 'length': 2, 'start': 0}
    >>> pack.put(np.array([7], dtype=np.uint8))
    {'type': 'u1', 'length': 1, 'start': 8}
    """

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def put(self, values: NDArray[Any]) -> dict[str, Any]:
        """The position of a 1-D array of float32 or unsigned integers, which is added.

        The first bytes of all values come first, then the second ones, and so on: such bytes
        compress better.
        """
        plain = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
        planes = plain.view(np.uint8).reshape(plain.size, plain.itemsize).T
        return {
            "type": f"{plain.dtype.kind}{plain.itemsize}",
            "length": int(plain.size),
            "start": self._add(planes.tobytes()),
        }

    def put_plain(self, plain: Any) -> dict[str, Any]:
        """The position of plain data, which is added as JSON: for long data, seldom needed."""
        text = json.dumps(plain).encode("ascii")
        return {"type": "json", "length": len(text), "start": self._add(text)}

    def text(self) -> str:
        """All arrays, deflated, in base64."""
        return base64.b64encode(zlib.compress(b"".join(self._parts), 6)).decode("ascii")

    def _add(self, data: bytes) -> int:
        start = self._size
        self._parts.append(data)
        self._size += len(data)
        return start


def safe_json(plain: Any) -> str:
    r"""Plain data as JSON that can be embedded in a script element.

    Examples
    --------
    >>> safe_json(["</script>"])
    '["\\u003c/script\\u003e"]'
    """
    return json.dumps(plain, ensure_ascii=True, allow_nan=False).translate(_ESCAPES)
