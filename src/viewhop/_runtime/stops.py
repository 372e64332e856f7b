"""Code that must not be interrupted by an exception, because it would crash the process."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["defer_stops", "keep_stop", "raise_stop"]

#: Number of open blocks of the main thread, and the exception that waits for their end.
_blocks = 0
_waiting: list[BaseException] = []


@contextmanager
def defer_stops() -> Iterator[None]:
    """A block that a signal to the command does not interrupt; it takes effect at the end.

    Compiled code that does not expect exceptions crashes if a signal handler raises in it.
    """
    global _blocks
    is_main = threading.current_thread() is threading.main_thread()
    _blocks += is_main
    try:
        yield
    finally:
        _blocks -= is_main
    raise_stop()


def keep_stop(stop: BaseException) -> bool:
    """Whether an exception of a signal handler is kept, to be raised by `raise_stop`.

    Parameters
    ----------
    stop : BaseException
    """
    if _blocks:
        _waiting.append(stop)
    return bool(_blocks)


def raise_stop() -> None:
    """Raise the exception that waits, if there is one; called where it does no harm."""
    if _waiting:
        raise _waiting.pop()
