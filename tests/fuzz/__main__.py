"""``python -m tests.fuzz``: run the readers on mutants of their corpus, and print a table."""

from __future__ import annotations

import argparse
import hashlib
import sys
from pathlib import Path

from tests.fuzz.minimise import minimise
from tests.fuzz.readers import MEMORY, READERS, workplace
from tests.fuzz.workers import check_apart, run_reader

COLUMNS = ("reader", "inputs", "accepted", "refused", "findings", "over memory", "peak", "seconds")
ROW = "{:<14}{:>9}{:>10}{:>9}{:>10}{:>13}{:>10}{:>9}"


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--reader", action="append", choices=READERS, help="all if none is given")
    parser.add_argument("--count", type=int, default=20_000, help="inputs for each reader")
    parser.add_argument("--seconds", type=float, help="time for each reader, at most")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--findings", default="fuzz-findings", help="folder for new findings")
    parser.add_argument("--input", type=Path, help="run one file with one reader, and say more")
    given = parser.parse_args()
    workplace()  # made before a fork, so that all processes use the same
    names = given.reader or [*READERS]
    if given.input is not None:
        outcome = check_apart(names[0], given.input.read_bytes())
        print(outcome.text or f"{outcome.signature} ({outcome.memory / 1e6:.1f} MB)")
        return int(outcome.is_finding)
    print(f"seed {given.seed}, budget {MEMORY / 1e6:.0f} MB per input")
    print(ROW.format(*COLUMNS), flush=True)
    is_clean = True
    for name in names:
        tally = run_reader(name, seed=given.seed, count=given.count, seconds=given.seconds)
        print_tally(name, tally)
        for outcome, data in tally.findings.values():
            is_clean = False
            print(f"  {outcome.signature}: {keep_finding(given.findings, name, outcome, data)}")
    return int(not is_clean)


def print_tally(name, tally):
    """A row of the table, and the errors with which files were refused."""
    counts = tally.counts
    over = counts["memory"]
    others = tally.total - counts["accepted"] - counts["refused"] - over
    row = (name, tally.total, counts["accepted"], counts["refused"], others, over)
    print(ROW.format(*row, f"{tally.peak / 1e6:.1f} MB", f"{tally.seconds:.0f}"))
    listing = ", ".join(f"{kind} {count}" for kind, count in tally.refusals.most_common())
    print(f"  refused by {listing or 'none'}", flush=True)


def keep_finding(folder, name, outcome, data):
    """Write the smallest input of a finding and what it does; return the path of the input."""
    small = minimise(data, lambda part: check_apart(name, part).signature == outcome.signature)
    place = Path(folder, name)
    place.mkdir(parents=True, exist_ok=True)
    path = place / f"{outcome.kind}-{hashlib.sha256(small).hexdigest()[:12]}"
    path.write_bytes(small)
    path.with_suffix(".txt").write_text(f"{outcome.signature}\n\n{outcome.text}", encoding="utf-8")
    return path


if __name__ == "__main__":
    sys.exit(main())
