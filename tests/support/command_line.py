"""Running the commands, in a process of their own or in this one."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from functools import partialmethod
from pathlib import Path

from click.testing import CliRunner, Result

import viewhop as vh
from viewhop.cli._main import main

SOURCE = Path(vh.__file__).parent.parent
RUN = "from viewhop.cli import main; main(prog_name='viewhop')"


def keep_streams_apart():
    """Let click 8.1 capture both streams as 8.2 does: each on its own, and together."""
    if "mix_stderr" in inspect.signature(CliRunner).parameters:
        CliRunner.__init__ = partialmethod(CliRunner.__init__, mix_stderr=False)
        Result.output = property(lambda self: self.stdout + self.stderr)


def environment():
    """That of this process, with the library on its path."""
    paths = [str(SOURCE), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def run(*arguments, cwd, before=""):
    """The real command, in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", before + RUN, *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=cwd,
        env=environment(),
        check=False,
    )


def invoked(*arguments):
    """The command in this process."""
    return CliRunner().invoke(main, [*map(str, arguments)])
