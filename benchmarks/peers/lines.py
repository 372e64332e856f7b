"""Lines of the table of peers: one for the peer, and one for the library next to it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.apart import ApartError, apart, first_line
from benchmarks.foreign import measure_fastest
from benchmarks.peers.environments import ENVIRONMENTS, find_interpreter, find_own_interpreter
from benchmarks.row import Row, ratio

__all__ = [
    "AGREEMENT",
    "NAIVE",
    "Peers",
    "build_rows",
    "describe_gap",
    "eigenvalue_gap",
    "measure_repeatedly",
    "plain_row",
]

#: The peer that needs no package but numpy.
NAIVE = "numpy"
#: Limit for the address space of a peer, so that it fails before the machine runs out of memory.
PEER_BYTES = 18_000_000_000
#: Difference of eigenvalues up to which two methods have computed the same.
AGREEMENT = 1e-6


@dataclass(frozen=True)
class Peers:
    """The peers to compare with, and how they are run.

    Attributes
    ----------
    names : tuple of str
        Names in `ENVIRONMENTS`, or `NAIVE`; other peers are left out.
    has_environments : bool
        Whether each has an environment of its own; otherwise the interpreter of the benchmarks
        must have its package.
    limit : float
        Seconds for one peer on one piece of work, all its runs together.
    """

    names: tuple[str, ...]
    has_environments: bool
    limit: float

    def measure(
        self, peer: str, function: Callable[..., dict[str, Any]], arguments: dict[str, Any]
    ) -> dict[str, Any]:
        """The result of a function of `benchmarks.foreign`, and the "version" of the peer.

        Raises
        ------
        ApartError
            With the first line of the error.
        """
        try:
            if self.has_environments and peer in ENVIRONMENTS:
                python, version = find_interpreter(peer)
                with _no_python_path():
                    result = self._run(function, arguments, python)
            else:
                python, version = find_own_interpreter(peer)
                result = self._run(function, arguments, python)
        except OSError as error:  # of an interpreter that does not start
            raise ApartError(first_line(str(error))) from None
        return result | {"version": version}

    def compare(
        self,
        peer: str,
        function: Callable[..., dict[str, Any]],
        arguments: dict[str, Any],
        fits: Mapping[str, dict[str, Any]],
        *,
        work: str,
        at_most: float,
        score: Callable[[], str] | None = None,
    ) -> Iterator[Row]:
        """The row of a peer, and those of the library as shares of the peer's seconds.

        Parameters
        ----------
        peer : str
        function, arguments
            What the peer does.
        fits : dict of dict
            What the library took, by what it did: "seconds", "peak", "at_import", and
            "eigenvalues" if the peer has them.
        work : str
            What the peer did.
        at_most : float
            Bound on the share.
        score : callable or None
            The score of what the peer wrote, for its row. Without it, eigenvalues that both have
            are compared, and the bound is missed if they differ.
        """
        if peer not in self.names:
            return
        try:
            result = self.measure(peer, function, arguments)
            score_text = score() if score else ""
        except ApartError as error:
            yield Row(f"{peer}, {work}", error=str(error), ours=False)
            return
        sound = True
        if "eigenvalues" in result:
            gap = max(eigenvalue_gap(result, fit) for fit in fits.values())
            score_text, sound = describe_gap(gap), gap <= AGREEMENT
        work += score_text
        yield from build_rows(peer, result, fits, work=work, at_most=at_most, sound=sound)

    def _run(
        self, function: Callable[..., dict[str, Any]], arguments: dict[str, Any], python: str
    ) -> dict[str, Any]:
        return apart(function, arguments, python=python, limit=self.limit, memory=PEER_BYTES)


def build_rows(
    peer: str,
    result: dict[str, Any],
    fits: Mapping[str, dict[str, Any]],
    *,
    work: str,
    at_most: float,
    sound: bool = True,
) -> Iterator[Row]:
    """The row of a peer's result, and those of the library as shares of its seconds."""
    yield plain_row(f"{peer} {result['version']}, {work}", result, ours=False)
    for label, fit in fits.items():
        yield ratio(label, fit, result["seconds"], peer, at_most=at_most, sound=sound)


def plain_row(work: str, result: dict[str, Any], *, ours: bool = True) -> Row:
    """The row of a measurement that is compared with nothing."""
    return Row(
        work, result["seconds"], peak=result["peak"], at_import=result["at_import"], ours=ours
    )


def measure_repeatedly(est: Any, views: Any) -> dict[str, Any]:
    """Seconds and peak of the fit of an estimator, repeated if it is short."""
    return measure_fastest(lambda: est.fit(views))[1]


def eigenvalue_gap(result: dict[str, Any], fit: dict[str, Any]) -> float:
    """The largest difference of the eigenvalues; infinite if one side has fewer."""
    theirs, own = result["eigenvalues"], fit["eigenvalues"]
    if len(theirs) != len(own):
        return np.inf
    gap = np.abs(np.subtract(theirs, own)).max()
    return float(gap) if np.isfinite(gap) else np.inf


def describe_gap(gap: float) -> str:
    """How far the eigenvalues agree, for a row."""
    if np.isinf(gap):
        return " (eigenvalues cannot be compared)"
    return f" (eigenvalues agree to {gap:.0e})"


@contextmanager
def _no_python_path() -> Iterator[None]:
    """Without PYTHONPATH: a peer must not import this library's packages instead of its own."""
    path = os.environ.pop("PYTHONPATH", None)
    try:
        yield
    finally:
        if path is not None:
            os.environ["PYTHONPATH"] = path
