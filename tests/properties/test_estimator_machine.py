"""Estimators keep what the last successful fit gave, whatever is called and whatever fails."""

from __future__ import annotations

import pytest
from hypothesis.stateful import run_state_machine_as_test

from tests.properties.estimator_machine import COUNTS, MACHINES
from tests.properties.profiles import LONG, QUICK


@pytest.mark.parametrize("name", MACHINES)
def test_estimators_keep_the_last_successful_fit(name):
    before = COUNTS["steps"]
    run_state_machine_as_test(MACHINES[name], settings=QUICK)
    assert COUNTS["steps"] - before > 50


@pytest.mark.slow
@pytest.mark.parametrize("name", MACHINES)
def test_estimators_keep_the_last_successful_fit_over_many_steps(name):
    run_state_machine_as_test(MACHINES[name], settings=LONG)
