"""What a process must not leave behind, so that it can be removed whenever the process stops."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType

__all__ = ["Leftover", "remove_leftovers"]

#: Blocks that are not over, with the process that entered them, in the order of their beginnings.
_PENDING: dict[Leftover, int] = {}


class Leftover:
    """A block at whose end something is removed, however the block ends.

    Parameters
    ----------
    remove : callable
        Removes it; called at least once, also if there is nothing to remove. A signal may
        interrupt it: it is then called again before the exception goes on.

    Examples
    --------
    >>> from viewhop._runtime.leftovers import Leftover
    >>> with Leftover(lambda: print("removed")):
    ...     print("in use")
    in use
    removed
    """

    def __init__(self, remove: Callable[[], None]) -> None:
        self._remove = remove

    def __enter__(self) -> None:
        _PENDING[self] = os.getpid()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            self._remove()
        except BaseException:
            self._remove()
            raise
        finally:
            _PENDING.pop(self, None)

    def remove(self) -> None:
        """Remove it at once; the block may still go on."""
        self._remove()


def remove_leftovers() -> None:
    """Remove what the open blocks of this process would remove at their ends, the latest first.

    A signal can strike after a block was entered and before Python knows that it must be left, so
    the command calls this function when it ends.
    """
    for leftover, process in reversed([*_PENDING.items()]):
        if process == os.getpid():  # not in a fork: these belong to its parent
            with suppress(Exception):
                leftover.remove()
            _PENDING.pop(leftover, None)
