"""`python -m tests.mutation`: a sample of mutants, the tests on each, a table and the survivors."""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
from pathlib import Path

from .generate import write_mutants
from .mutant import Mutant
from .reach import Reach
from .report import equivalent_mutants, write_report
from .results import Results

PACKAGES = ("walks", "affinity", "solvers", "views")
FOLDER = Path("mutants")
TESTS = (
    "tests/affinity",
    "tests/contracts",
    "tests/estimators/test_cluster_count.py",
    "tests/estimators/test_ids_in_messages.py",
    "tests/estimators/test_incomplete.py",
    "tests/estimators/test_load.py",
    "tests/estimators/test_multi_view.py",
    "tests/estimators/test_weighted_default.py",
    "tests/geometry/test_agreement.py",
    "tests/properties",
    "tests/runtime/test_memory.py",
    "tests/solvers",
    "tests/test_diffusion.py",
    "tests/theory",
    "tests/views",
    "tests/walks",
)
#: They take seconds and look at files, not at the packages under test.
LEFT_OUT = (
    "tests/estimators/test_load.py::test_two_thousand_mutants_raise_only_typed_errors_in_little_memory",
    "tests/estimators/test_load.py::test_bombs_do_not_fill_the_memory",
)
#: Their tests need MuData and run in the environment of `make test-omics`.
ELSEWHERE = ("viewhop.views._alignment.x_mudata_views",)


def draw_sample(mutants: list[Mutant], *, size: int, seed: int) -> list[Mutant]:
    """As many mutants of each package, drawn without replacement."""
    sample = []
    for package in PACKAGES:
        own = [m for m in mutants if m.package == package and m.function not in ELSEWHERE]
        sample += random.Random(f"{seed} {package}").sample(own, min(size, len(own)))
    return sample


def main() -> None:
    """Run from the root of the repository."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--size", type=int, default=300, help="mutants per package")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--seconds",
        type=float,
        nargs="+",
        default=[3.0, 20.0],
        help="CPU seconds of tests per mutant; survivors get the next pass",
    )
    parser.add_argument("--cases", type=int, default=30, help="of each test with parameters")
    parser.add_argument("--resume", action="store_true", help="continue an interrupted run")
    parser.add_argument(
        "--again", action="store_true", help="keep the sample and run its survivors again"
    )
    options = parser.parse_args()
    if not (options.resume or options.again):
        mutants = write_mutants(PACKAGES, FOLDER)
        sample = draw_sample(mutants, size=options.size, seed=options.seed)
        (FOLDER / "sample.json").write_text(
            json.dumps({m.name: [m.package, m.diff] for m in sample}, indent=1), "utf-8"
        )
    else:
        sample = [
            Mutant(name, package, diff)
            for name, (package, diff) in json.loads(
                (FOLDER / "sample.json").read_text("utf-8")
            ).items()
        ]
    queue = [mutant.name for mutant in sample]
    if options.again:
        Results(FOLDER / "results.json").reopen()
        reviewed = equivalent_mutants()
        queue = [m.name for m in sample if (m.function, m.change) not in reviewed]
    (FOLDER / "queue.json").write_text(json.dumps(queue), "utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-s", "-p", "tests.mutation.runner"]
    command += ["-p", "no:cacheprovider", "-m", "not slow", "-o", "tmp_path_retention_policy=none"]
    command += [
        f"--mutants={FOLDER}",
        f"--cases={options.cases}",
        *(f"--seconds={s}" for s in options.seconds),
    ]
    command += [*(f"--deselect={test}" for test in LEFT_OUT), *TESTS]
    temporary = FOLDER / "tmp"
    temporary.mkdir(exist_ok=True)
    path = os.pathsep.join([str((FOLDER / "src").resolve()), os.getcwd()])
    more = {"PYTHONPATH": path, "PYTEST_DEBUG_TEMPROOT": str(temporary.resolve())}
    subprocess.run(command, env={**os.environ, **more}, check=True)
    table = write_report(sample, Results(FOLDER / "results.json"), FOLDER)
    unusable = Reach.load(FOLDER / "reach.json").unusable
    left_out = [f"not used, for it fails without a mutant: {test}" for test in unusable]
    sys.stdout.write("\n".join([table, *left_out, ""]))


if __name__ == "__main__":
    main()
