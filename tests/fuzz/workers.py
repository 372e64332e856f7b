"""Batches of inputs in forked processes, so that a crash ends a batch and not the run."""

from __future__ import annotations

import functools
import json
import os
import select
import signal
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tests.fuzz.check import Checker, Outcome
from tests.fuzz.inputs import Inputs
from tests.fuzz.readers import MEMORY, READERS, workplace

BATCH = 1000
#: Seconds without an answer after which a worker is killed.
SILENCE = 180.0
#: Address space of a worker beyond what it has at its start.
ROOM = 2 << 30
#: Exit code of a worker that could not make or check an input.
HARNESS_FAULT = 70


@dataclass
class Tally:
    """The outcomes of a reader's inputs.

    Attributes
    ----------
    counts : Counter
        By kind; refusals by the type of their error.
    findings : dict
        Outcome and input by signature; the first of each.
    peak : int
        Largest growth of the process for one input, in bytes.
    seconds : float
    """

    counts: Counter = field(default_factory=Counter)
    refusals: Counter = field(default_factory=Counter)
    findings: dict = field(default_factory=dict)
    peak: int = 0
    seconds: float = 0.0

    @property
    def total(self):
        return sum(self.counts.values())

    def add(self, outcome, data):
        """Count an outcome; `data` is called for the input of a finding."""
        self.counts[outcome.kind] += 1
        self.peak = max(self.peak, outcome.memory)
        if outcome.kind == "refused":
            self.refusals[outcome.detail] += 1
        if outcome.is_finding and outcome.signature not in self.findings:
            self.findings[outcome.signature] = (outcome, data())


def run_reader(name, *, seed, count, seconds=None):
    """The tally of `count` inputs, or of as many as fit in the time."""
    tally, start = Tally(), time.monotonic()
    deadline = None if seconds is None else start + seconds
    done = 0
    while done < count and (deadline is None or time.monotonic() < deadline):
        outcomes = _run_batch(name, seed, range(done, min(done + BATCH, count)), deadline)
        for number, outcome in enumerate(outcomes, start=done):
            data = functools.partial(_input_of, name, seed, number)
            if outcome.kind == "memory":  # inputs before it may have left the process larger
                outcome = check_apart(name, data())
            tally.add(outcome, data)
        done += len(outcomes)
        if not outcomes:
            break
    tally.seconds = time.monotonic() - start
    return tally


def check_apart(name, data):
    """The outcome of one input in a process of its own."""
    return _in_worker(lambda: iter([data]), READERS[name])[0]


def _run_batch(name, seed, numbers, deadline):
    def inputs():
        source = Inputs(name, seed)
        for number in numbers:
            if deadline is not None and time.monotonic() > deadline:
                return
            yield source[number]

    return _in_worker(inputs, READERS[name])


def _input_of(name, seed, number):
    """An input, made in another process: libraries with threads must not run before a fork."""
    path = workplace() / "input"
    child = os.fork()
    if child == 0:
        try:
            path.write_bytes(Inputs(name, seed)[number])
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    return path.read_bytes()


def _in_worker(inputs, reader):
    """The outcomes of inputs; the last is a crash or a hang if the worker did not survive."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _work(inputs, reader, writing)
    os.close(writing)
    outcomes, rest, is_late = [], b"", False
    while True:
        if not select.select([reading], [], [], SILENCE)[0]:
            is_late = True
            os.kill(child, signal.SIGKILL)
            break
        block = os.read(reading, 1 << 16)
        if not block:
            break
        *lines, rest = (rest + block).split(b"\n")
        outcomes += [Outcome(*json.loads(line)) for line in lines]
    os.close(reading)
    status = os.waitpid(child, 0)[1]
    if status == HARNESS_FAULT << 8:
        raise RuntimeError(rest.decode().replace("\r", "\n"))
    if is_late:
        outcomes.append(Outcome("hang", "killed", 0, f"no answer for {SILENCE:g} s"))
    elif status:
        code = os.waitstatus_to_exitcode(status)
        outcomes.append(Outcome("crash", f"exit code {code}", 0, f"the process ended with {code}"))
    return outcomes


def _work(inputs, reader, writing):
    """Check inputs and write the outcomes; never returns."""
    code = HARNESS_FAULT
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # progress bars, and what C libraries print
        _limit_space()
        for data in [*reader.corpus().values()][:3]:  # imports are no growth for an input
            Checker(reader.target, MEMORY).check(data)
        checker = Checker(reader.target, MEMORY)
        for data in inputs():
            os.write(writing, json.dumps(checker.check(data)).encode() + b"\n")
        code = 0
    except BaseException:  # not of the target: its errors are outcomes
        os.write(writing, traceback.format_exc().replace("\n", "\r").encode())
    finally:
        os._exit(code)


def _limit_space():
    import resource

    used = int(Path("/proc/self/statm").read_bytes().split()[0]) * 4096
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + ROOM, hard))
