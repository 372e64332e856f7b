"""Signals that stop the command: it removes what it must not leave behind, and exits quietly."""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import suppress
from time import monotonic, sleep
from types import FrameType, TracebackType
from typing import Any

from viewhop._runtime.leftovers import remove_leftovers
from viewhop._runtime.stops import keep_stop

__all__ = ["StopSignals", "Stopped"]

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")  # Windows has no SIGHUP
#: Seconds for which a second signal does not interrupt the removal that the first one began.
_PATIENCE = 5.0


class Stopped(SystemExit):
    """The end of the command by a signal: quiet wherever it is raised, also during an import.

    Parameters
    ----------
    number : int
        Of the signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self.number = number


class StopSignals:
    """A block that signals stop by raising `Stopped`, and whose leftovers are then removed.

    The first signal raises. Others are ignored while the block is left, for five seconds; then
    one ends the process at once. Signals that the parent process had ignored (``nohup``) stay
    ignored, and nothing happens in a thread, where Python handles no signals.

    Parameters
    ----------
    restore : bool
        Whether the handlers are restored after the block. If not, a later signal ends the process
        without a word: Python itself is ending and would show tracebacks.
    """

    def __init__(self, *, restore: bool) -> None:
        self._restore = restore
        self._earlier: dict[int, Any] = {}
        self._hook = sys.unraisablehook
        self._since: float | None = None
        self._is_over = False

    def __enter__(self) -> StopSignals:
        if threading.current_thread() is threading.main_thread():
            sys.unraisablehook = self._repeat
            for number in [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]:
                handler = signal.getsignal(number)
                if handler is not None and handler is not signal.SIG_IGN:
                    self._earlier[number] = handler
                    signal.signal(number, self._stop)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._is_over = True
        remove_leftovers()
        if isinstance(error, Stopped):
            _say(f"Stopped by {signal.Signals(error.number).name}.")
        if self._restore:
            sys.unraisablehook = self._hook
            for number, handler in self._earlier.items():
                signal.signal(number, handler)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        now = monotonic()
        if self._since is None and not self._is_over:
            self._since = now
            stop = Stopped(number)
            if not keep_stop(stop):
                raise stop
            return
        if self._since is None or now > self._since + _PATIENCE:
            remove_leftovers()
            os._exit(128 + number)

    def _repeat(self, unraisable: Any) -> None:
        """Send a signal again if it struck where Python drops exceptions, such as ``__del__``."""
        if not isinstance(unraisable.exc_value, Stopped):
            self._hook(unraisable)
            return
        number = unraisable.exc_value.number

        def send() -> None:
            sleep(0.01)
            self._since = None
            if hasattr(signal, "pthread_kill"):
                signal.pthread_kill(threading.main_thread().ident or 0, number)
            else:
                signal.raise_signal(number)

        threading.Thread(target=send, daemon=True).start()


def _say(line: str) -> None:
    """Print a line; a terminal that hung up cannot show it, and takes no more output."""
    try:
        sys.stdout.flush()
        print(line, file=sys.stderr, flush=True)  # noqa: T201
    except (OSError, ValueError):
        with suppress(OSError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            for handle in (1, 2):
                os.dup2(nowhere, handle)
