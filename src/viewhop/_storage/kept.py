"""Results that a process keeps in memory, the most recent ones within a number of bytes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Any

__all__ = ["KeptResults"]


class KeptResults:
    """Results by key; the ones not used for longest leave first. Threads may share it.

    Examples
    --------
    >>> from viewhop._storage.kept import KeptResults
    >>> kept = KeptResults()
    >>> for key in "abc":
    ...     kept.put(key, key.upper(), size=4, most=8)
    >>> [kept.get(key) for key in "abc"]
    [None, 'B', 'C']
    """

    def __init__(self) -> None:
        self._entries: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable) -> Any:
        """The result, which now counts as used; None if it is not here."""
        with self._lock:
            if key not in self._entries:
                return None
            self._entries.move_to_end(key)
            return self._entries[key][0]

    def put(self, key: Hashable, result: Any, *, size: int, most: int) -> None:
        """Keep a result, unless it is larger than all that may be kept.

        Parameters
        ----------
        key : hashable
        result : object
        size : int
            Its bytes.
        most : int
            Largest number of bytes of all results together.
        """
        with self._lock:
            self._entries.pop(key, None)
            if size <= most:
                self._entries[key] = result, size
            while sum(entry[1] for entry in self._entries.values()) > most:
                self._entries.popitem(last=False)

    def clear(self) -> None:
        """Forget all results."""
        with self._lock:
            self._entries.clear()
