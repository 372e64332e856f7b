"""The entry point of the command, which a signal may stop at any moment.

It imports nothing at first: until its handlers stand, an interrupt would show a traceback.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

__all__ = ["main"]


def main(
    args: Sequence[str] | None = None,
    prog_name: str | None = None,
    *,
    standalone_mode: bool = True,
) -> Any:
    """Run the command; see ``viewhop --help``.

    SIGINT, SIGTERM and SIGHUP end it with 130, 143 and 129, after temporary files, locks and
    processes of its own have been removed.

    Parameters
    ----------
    args : list of str or None
        None takes those of the process.
    prog_name : str or None
        The name of the command in messages; None takes that of the process.
    standalone_mode : bool
        Whether the process ends with the command. If not, errors are raised, and the signal
        handlers are restored at the end.
    """
    try:
        from viewhop.cli._signals import StopSignals

        with StopSignals(restore=not standalone_mode):
            from viewhop.cli._main import main as command

            return command.main(args, prog_name, standalone_mode=standalone_mode)
    except KeyboardInterrupt:  # before the handlers stood
        if not standalone_mode:
            raise
        raise SystemExit(130) from None
