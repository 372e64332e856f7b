"""Experiments that are repeated can be asked for a single trial."""

from __future__ import annotations

import pytest

from tests.experiments.runs import quick

REPEATED = ("additive-noise", "cross-view-distance", "generator", "spectral-decay")


@pytest.mark.parametrize("name", REPEATED)
def test_what_was_run_says_how_often(name):
    ran = quick(name, trials=1).ran
    [count] = [ran[key] for key in ("trials", "draws") if key in ran]
    # A variance needs more than one draw, and says how many it took.
    assert count == (40 if name == "generator" else 1)
