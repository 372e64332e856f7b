"""Running tests in a forked child, so that a mutant can loop, crash or fill the memory."""

from __future__ import annotations

import os
import resource
import signal
import sys
import time
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any, NoReturn

import pytest
from mutmut.mutation.trampoline import set_mutant_under_test
from mutmut.state import state

from .reach import Reach

MEMORY = 8 * 2**30
FAILED = 1


class Judge:
    """Ends the child at the first test that fails, after telling the parent which."""

    def __init__(self, pipe: int) -> None:
        self.pipe = pipe

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Called by pytest after the setup, the call and the teardown of a test."""
        if report.failed:
            os.write(self.pipe, report.nodeid.encode())
            os._exit(FAILED)


def run_tests(items: Sequence[Any]) -> None:
    """Run collected tests in this process."""
    for item, following in zip(items, [*items[1:], None], strict=True):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)


def run_on_mutant(items: Sequence[Any], name: str, *, seconds: float) -> tuple[str, str]:
    """What became of a mutant ("killed", "timeout" or "survived"), and the test that killed it."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _run_in_child(items, name, seconds=seconds, pipe=writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        test = pipe.read().decode()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code in (-signal.SIGXCPU, -signal.SIGALRM, -signal.SIGKILL):
        return "timeout", test
    return ("survived" if code == 0 else "killed"), test


def _run_in_child(items: Sequence[Any], name: str, *, seconds: float, pipe: int) -> NoReturn:
    code = FAILED
    try:
        limit = int(10 + 5 * seconds)
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        signal.alarm(20 * limit)  # for a mutant that waits for ever
        _silence()
        set_mutant_under_test(name)
        items[0].config.pluginmanager.register(Judge(pipe))
        run_tests(items)
        code = 0
    finally:
        os._exit(code)


class Recorder:
    """Notes what each test reaches, how long it takes, and whether it fails without a mutant."""

    def __init__(self, reach: Reach) -> None:
        self.reach = reach
        self.failure = ""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Called by pytest around each test."""
        state()._stats.clear()
        self.failure = ""
        start = time.process_time()
        outcome = yield
        seconds = time.process_time() - start
        if self.failure:
            self.reach.unusable[item.nodeid] = self.failure
        else:
            self.reach.record(item.nodeid, seconds, set(state()._stats))
        return outcome

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Called by pytest after the setup, the call and the teardown of a test."""
        if report.failed:
            self.failure = report.longreprtext


def record_reach(items: Sequence[Any], path: Path) -> None:
    """Run tests on the unchanged code and save what they reach."""
    child = os.fork()
    if child == 0:
        code = FAILED
        try:
            _silence()
            set_mutant_under_test("stats")
            reach = Reach.load(path)
            items[0].config.pluginmanager.register(Recorder(reach))
            run_tests(items)
            reach.save(path)
            code = 0
        finally:
            os._exit(code)
    if os.waitpid(child, 0)[1] != 0:
        raise pytest.UsageError("the tests could not be run on the code without a mutant")


def _silence() -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
