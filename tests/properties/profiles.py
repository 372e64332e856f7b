"""Profiles of hypothesis: a quick one for every run of the suite, and a long one."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

__all__ = ["LONG", "QUICK"]

_SHARED = {
    "deadline": None,  # a test is not timed
    "derandomize": True,  # the same examples everywhere
    "database": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large],
}
settings.register_profile("viewhop-quick", max_examples=20, stateful_step_count=15, **_SHARED)
settings.register_profile("viewhop-long", max_examples=200, stateful_step_count=40, **_SHARED)

QUICK = settings.get_profile("viewhop-quick")
LONG = settings.get_profile("viewhop-long")
