"""A process that runs commands in forks of itself and stops them at a given moment.

It reads cases as lines of JSON and answers each with a line. The imports are done once, so a case
takes little more than the command itself. Moments are counted by the events that Python audits:
files opened, moved, linked and removed, folders made, locks taken, processes started; and by lines
of progress.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.support.command_line import environment, invoked

ROOT = Path(__file__).parent.parent.parent
EVENTS = {
    "open",
    "os.chmod",
    "os.link",
    "os.mkdir",
    "os.remove",
    "os.rename",
    "os.rmdir",
    "fcntl.flock",
    "shutil.rmtree",
    "subprocess.Popen",
    "viewhop.progress",
}


class Driver:
    """The driver, in a process of its own."""

    def __enter__(self):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.signal_driver"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            # A fork does not have the threads of OpenMP.
            env={**environment(), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )
        return self

    def __exit__(self, *error):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.kill()
        self.process.wait()

    def warm(self, arguments, *, cwd):
        """Run a command in the driver itself, so that its imports and results are there."""
        answer = self._ask(arguments=arguments, cwd=str(cwd), warm=True)
        assert answer["code"] == 0, answer

    def _ask(self, **case):
        self.process.stdin.write(f"{json.dumps(case)}\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def run(self, arguments, *, cwd, number=None, at=None, after=None, repeat=1):
        """The answer to a case: exit code, number of events, standard error, processes left.

        Parameters
        ----------
        arguments : list of str
        cwd : Path
        number : int or None
            The signal.
        at : int or None
            Number of the event at which the command sends it to itself.
        after : float or None
            Seconds after which it is sent from outside.
        repeat : int
            How often it is sent.
        """
        answer = self._ask(
            arguments=arguments,
            cwd=str(cwd),
            number=number,
            at=at,
            after=after,
            repeat=repeat,
        )
        errors = Path(cwd, "stderr.txt")
        answer["errors"] = errors.read_text()
        for name in ("stderr.txt", "stdout.txt", "events.txt"):
            Path(cwd, name).unlink(missing_ok=True)
        return answer


def main():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        is_interrupt = number == signal.SIGINT
        signal.signal(number, signal.default_int_handler if is_interrupt else signal.SIG_DFL)
    from tests.support.commands import remember_results

    remember_results(setattr)
    for line in sys.stdin:
        case = json.loads(line)
        if "warm" in case:
            os.chdir(case["cwd"])
            done = invoked(*case["arguments"])
            os.chdir(ROOT)
            reply({"code": done.exit_code, "output": done.output})
            continue
        gc.freeze()  # what a fork does not touch is not copied
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            return run(case, writing)
        os.close(writing)
        os.read(reading, 1)
        os.close(reading)
        start = time.perf_counter()
        if case["after"] is not None:
            time.sleep(max(0.0, start + case["after"] - time.perf_counter()))
            for _ in range(case["repeat"]):
                os.kill(child, case["number"])
        status = os.waitpid(child, 0)[1]
        answer = {
            "code": os.waitstatus_to_exitcode(status),
            "seconds": time.perf_counter() - start,
            "events": int((Path(case["cwd"], "events.txt").read_text() or "0").split()[-1]),
            "left": processes_of(child),
        }
        reply(answer)
    return 0


def reply(answer):
    sys.stdout.write(f"{json.dumps(answer)}\n")
    sys.stdout.flush()


def run(case, writing):
    """Run the command of a case; write a byte when its handlers stand."""
    os.setsid()
    os.chdir(case["cwd"])
    for handle, name in ((1, "stdout.txt"), (2, "stderr.txt")):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), handle)
    counts = os.open("events.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.write(counts, b"0")
    seen = [0]

    def count(event, details):
        if event not in EVENTS or not is_ours(event, details):
            return
        seen[0] += 1
        os.pwrite(counts, str(seen[0]).encode(), 0)
        if case["at"] is not None and seen[0] - 1 == case["at"]:
            for _ in range(case["repeat"]):
                os.kill(os.getpid(), case["number"])

    from viewhop.cli import _progress_display as display
    from viewhop.cli import _signals

    show = display._Lines.__call__

    def audited(self, *step):
        sys.audit("viewhop.progress")
        show(self, *step)

    display._Lines.__call__ = audited
    enter = _signals.StopSignals.__enter__

    def entered(self):
        enter(self)
        os.write(writing, b"1")
        return self

    _signals.StopSignals.__enter__ = entered
    sys.addaudithook(count)
    from viewhop.cli import main as command

    return command(case["arguments"], prog_name="viewhop")


def is_ours(event, details):
    """Whether an event changes files in this folder, or is no matter of files."""
    if event != "open":
        return True
    path, _, flags = details
    if isinstance(path, int) or not flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
        return False
    return Path.cwd() in Path(os.path.abspath(os.fsdecode(path))).parents


def processes_of(session, seconds=2.0):
    """Names of the processes of a session that go on after `seconds`."""
    end = time.monotonic() + seconds
    while left := [*_list_session(session)]:
        if time.monotonic() > end:
            return left
        time.sleep(0.01)
    return []


def _list_session(session):
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = entry.read_text().rpartition(")")
        except OSError:
            continue
        state, _, _, number = rest.split()[:4]
        if int(number) == session and state != "Z":
            yield name


if __name__ == "__main__":
    sys.exit(main())
