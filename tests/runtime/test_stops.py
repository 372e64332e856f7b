"""Signals that wait until compiled code has returned."""

from __future__ import annotations

import threading

import pytest

from viewhop._runtime.stops import defer_stops, keep_stop, raise_stop


def test_stop_within_the_block_takes_effect_at_its_end():
    steps = []

    def work():
        with defer_stops():
            assert keep_stop(SystemExit(143))
            steps.append("inside")
        steps.append("after")

    with pytest.raises(SystemExit, match="143"):
        work()
    assert steps == ["inside"]
    raise_stop()  # nothing waits any more


def test_stop_within_the_block_can_be_raised_where_it_does_no_harm():
    def work():
        with defer_stops():
            keep_stop(SystemExit(130))
            raise_stop()
            pytest.fail("it goes on")

    with pytest.raises(SystemExit, match="130"):
        work()


def test_block_of_another_thread_does_not_keep_stops():
    kept = []

    def work():
        with defer_stops():
            kept.append(keep_stop(SystemExit(130)))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert kept == [False]
    assert not keep_stop(SystemExit(130))
