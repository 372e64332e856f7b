"""Packing: arrays as one compressed text, and plain data as JSON that no markup can be in."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Pack", "safe_json"]

#: What could end a script element, begin a comment, or end a line of script.
_ESCAPES = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


class Pack:
    """Arrays that are held for the page; plain data names them by where they stand.

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
        """Where the values of a 1-D array of float32 or unsigned integers are held.

        The first bytes of all values stand together, then the second ones, and so on: bytes of
        one kind compress better.
        """
        kept = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
        planes = kept.view(np.uint8).reshape(kept.size, kept.itemsize).T
        return {
            "type": f"{kept.dtype.kind}{kept.itemsize}",
            "length": int(kept.size),
            "start": self._add(planes.tobytes()),
        }

    def put_plain(self, plain: Any) -> dict[str, Any]:
        """Where plain data is held as JSON, for what is long and seldom looked at."""
        text = json.dumps(plain).encode("ascii")
        return {"type": "json", "length": len(text), "start": self._add(text)}

    def text(self) -> str:
        """All of it, deflated, in base64."""
        return base64.b64encode(zlib.compress(b"".join(self._parts), 6)).decode("ascii")

    def _add(self, held: bytes) -> int:
        start = self._size
        self._parts.append(held)
        self._size += len(held)
        return start


def safe_json(plain: Any) -> str:
    r"""Plain data as JSON that can stand inside a script element.

    Examples
    --------
    >>> safe_json(["</script>"])
    '["\\u003c/script\\u003e"]'
    """
    return json.dumps(plain, ensure_ascii=True, allow_nan=False).translate(_ESCAPES)
