"""What a target does with one input: accepted, refused, or a finding."""

from __future__ import annotations

import signal
import threading
import traceback
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from viewhop import errors

#: The errors with which a reader may refuse a file.
REFUSALS = (
    errors.TableError,
    errors.SettingsError,
    errors.ModelFileError,
    errors.SeismicError,
    errors.MemoryBudgetError,
    errors.RunFileError,
    errors.DataMissingError,
)
#: Seconds of the processor after which an input counts as a hang.
PATIENCE = 20.0


class Outcome(NamedTuple):
    """What came of an input.

    Attributes
    ----------
    kind : str
        "accepted" or "refused", or the kind of a finding: "error", "warning", "hang", "memory",
        "crash".
    detail : str
        The type of the error, and for a finding the place in viewhop where it arose.
    memory : int
        Bytes by which the process grew.
    text : str
        Traceback or message of a finding.
    """

    kind: str
    detail: str = ""
    memory: int = 0
    text: str = ""

    @property
    def is_finding(self):
        return self.kind not in ("accepted", "refused")

    @property
    def signature(self):
        """Findings with the same signature count as one."""
        return f"{self.kind}: {self.detail}"


class Hang(BaseException):
    """The target took too long; not an Exception, so that no reader catches it."""


class Checker:
    """Runs a target on inputs, one by one.

    Parameters
    ----------
    target : callable
    budget : int
        Bytes by which the process may grow for an input.
    """

    def __init__(self, target, budget):
        self._target = target
        self._budget = budget
        self._base = resident_bytes()

    def check(self, data: bytes) -> Outcome:
        """The outcome of one input."""
        reset_peak()
        # Against the leanest state so far: memory that was kept for reuse hides no growth.
        self._base = min(self._base, resident_bytes())
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            outcome = self._call(data)
        grown = max(0, peak_bytes() - self._base)
        foreign = [entry for entry in caught if entry.category.__module__ != errors.__name__]
        if not outcome.is_finding and foreign:
            first = foreign[0]
            place = f"{Path(first.filename).name}:{first.lineno}"
            outcome = Outcome("warning", f"{first.category.__name__} at {place}", 0, str(first))
        if not outcome.is_finding and grown > self._budget:
            outcome = Outcome("memory", outcome.kind, 0, f"{grown:,} bytes ({outcome})")
        return outcome._replace(memory=grown)

    def _call(self, data):
        try:
            with _alarm(PATIENCE):
                self._target(data)
        except REFUSALS as error:
            return Outcome("refused", type(error).__name__)
        except Hang as error:
            return Outcome("hang", _place(error), 0, traceback.format_exc())
        except Exception as error:
            detail = f"{type(error).__name__} at {_place(error)}"
            return Outcome("error", detail, 0, traceback.format_exc())
        return Outcome("accepted")


def _place(error):
    """The innermost function of viewhop in a traceback."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "viewhop" in Path(frame.filename).parts] or frames
    return f"{Path(own[-1].filename).name}:{own[-1].name}"


@contextmanager
def _alarm(seconds):
    """Raise `Hang` after some time of the processor, so that a busy machine is no hang."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGPROF"):
        yield
        return

    def stop(number, frame):
        raise Hang(f"no end after {seconds:g} s")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


# --- memory, as Linux counts it; elsewhere it is 0 -----------------------------------------------

_SELF = Path("/proc/self")


def reset_peak():
    """Forget the largest size of the process so far."""
    try:
        (_SELF / "clear_refs").write_bytes(b"5")
    except OSError:
        return


def peak_bytes():
    """The largest size of the process since `reset_peak`."""
    try:
        status = (_SELF / "status").read_bytes()
    except OSError:
        return 0
    return int(status.partition(b"VmHWM:")[2].split(maxsplit=1)[0]) * 1024


def resident_bytes():
    """The size of the process."""
    try:
        pages = int((_SELF / "statm").read_bytes().split()[1])
    except OSError:
        return 0
    return pages * 4096
