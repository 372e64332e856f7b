"""``python -m tests.properties``: run the state machines, and print the counts of steps."""

from __future__ import annotations

import argparse
import time

from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.properties.estimator_machine import COUNTS, MACHINES
from tests.properties.profiles import LONG


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.properties", description=__doc__)
    parser.add_argument("--machine", action="append", choices=MACHINES, help="all if none is given")
    parser.add_argument("--examples", type=int, default=LONG.max_examples)
    parser.add_argument("--steps", type=int, default=LONG.stateful_step_count, help="at most")
    parser.add_argument("--raw", action="store_true", help="do not shrink a failing example")
    given = parser.parse_args()
    chosen = settings(LONG, max_examples=given.examples, stateful_step_count=given.steps)
    if given.raw:
        chosen = settings(chosen, phases=(Phase.generate,))
    for name in given.machine or MACHINES:
        COUNTS.clear()
        start = time.monotonic()
        run_state_machine_as_test(MACHINES[name], settings=chosen)
        seconds = time.monotonic() - start
        head = f"{COUNTS.pop('examples')} examples, {COUNTS.pop('steps')} steps"
        print(f"{name}: {head}, {seconds:.0f} s")
        for what, count in sorted(COUNTS.items()):
            print(f"  {what:<45}{count:>8}")


if __name__ == "__main__":
    main()
