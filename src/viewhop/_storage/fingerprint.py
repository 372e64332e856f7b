"""Fingerprints: a short text that stands for arrays and settings, and differs if any bit does."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any, Self

import numpy as np

__all__ = ["LENGTH", "Fingerprint"]

#: Hexadecimal digits of a fingerprint: 128 bits.
LENGTH = 32


class Fingerprint:
    """A digest of everything that is added, in order.

    Examples
    --------
    >>> import numpy as np
    >>> from viewhop._storage.fingerprint import Fingerprint
    >>> one, other = Fingerprint(), Fingerprint()
    >>> one.add({"n": 1}).add_array(np.eye(2)).text == other.add({"n": 1}).add_array(np.eye(2)).text
    True
    >>> one.text == other.add(None).text
    False
    """

    def __init__(self) -> None:
        self._digest = sha256()

    @property
    def text(self) -> str:
        """The fingerprint of what has been added so far."""
        return self._digest.hexdigest()[:LENGTH]

    def add(self, data: Any) -> Self:
        """Add plain data: what JSON supports."""
        self._add_bytes(json.dumps(data, sort_keys=True, ensure_ascii=False).encode())
        return self

    def add_array(self, array: Any) -> Self:
        """Add the dtype, shape and values of an array, or of a sparse matrix."""
        if hasattr(array, "indptr"):
            self.add([type(array).__name__, array.format, list(array.shape)])
            for part in (array.data, array.indices, array.indptr):
                self.add_array(part)
            return self
        self.add([array.dtype.str, list(array.shape)])
        self._add_bytes(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
        return self

    def _add_bytes(self, data: bytes | memoryview) -> None:
        # With its length first, so that no two series of additions give the same bytes.
        self._digest.update(f"{len(data)}:".encode())
        self._digest.update(data)
