"""The process of the peers: one interpreter, with an environment of its own, for the whole run."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.apart import first_line

__all__ = ["PeerError", "PeerProcess"]

SCRIPT = Path(__file__).with_name("peer_methods.py")
#: Seconds after which an order is given up.
LIMIT = 1800.0


class PeerError(Exception):
    """The first line of what went wrong in the process of the peers."""


class PeerProcess:
    """A process that runs `peer_methods.py`, started when it is first needed.

    Parameters
    ----------
    python : str
        The interpreter.
    limit : float
        Seconds after which an order is given up and the process ended.

    Attributes
    ----------
    versions : dict of str
        Versions of the packages, once it runs.
    """

    def __init__(self, python: str, limit: float = LIMIT) -> None:
        self._python, self._limit = python, limit
        self._process: subprocess.Popen[str] | None = None
        self.versions: dict[str, str] = {}

    def start(self) -> None:
        """Start the process, unless it runs already."""
        if self._process is not None:
            return
        outside = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        try:
            self._process = subprocess.Popen(
                [self._python, str(SCRIPT)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env=outside | {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"},
            )
        except OSError as error:
            raise PeerError(f"the interpreter of the peers does not start: {error}") from None
        self.versions = self._answer()

    def call(
        self,
        method: str,
        views: Sequence[np.ndarray],
        new: Sequence[np.ndarray] = (),
        *,
        seeds: Sequence[int],
        options: dict[str, Any],
    ) -> dict[str, np.ndarray]:
        """The arrays that a method of `peer_methods.py` answers.

        Raises
        ------
        PeerError
            With the first line of the error.
        """
        self.start()
        assert self._process is not None
        assert self._process.stdin is not None
        with tempfile.TemporaryDirectory() as folder:
            data, answer = Path(folder, "data.npz"), Path(folder, "answer.npz")
            named = {f"{kind}{l:03}": a for kind, arrays in (("train", views), ("new", new))
                     for l, a in enumerate(arrays)}  # fmt: skip
            np.savez(data, **named)  # type: ignore[arg-type]
            order = {
                "method": method,
                "seeds": list(seeds),
                "options": options,
                "data": str(data),
                "answer": str(answer),
            }
            try:
                print(json.dumps(order), file=self._process.stdin, flush=True)
            except OSError:
                self.close()
                raise PeerError("the process of the peers ended") from None
            said = self._answer()
            if "error" in said:
                raise PeerError(first_line(said["error"]))
            with np.load(answer, allow_pickle=False) as stored:
                return {name: stored[name] for name in stored.files}

    def close(self) -> None:
        """End the process; a later call starts another."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _answer(self) -> dict[str, Any]:
        """The next line of the process; it is ended if none comes."""
        assert self._process is not None
        assert self._process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            if not selector.select(self._limit):
                self.close()
                raise PeerError(f"not finished in {self._limit:,.0f} s")
        line = self._process.stdout.readline()
        if not line:
            self.close()
            raise PeerError("the process of the peers ended")
        said: dict[str, Any] = json.loads(line)
        return said
