"""Every command that writes, with its input, at a size that takes a moment."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import viewhop as vh
from tests.support.command_line import invoked
from viewhop.tables import write

#: What an earlier run left, in every file of an output.
OLD = b"of an earlier run"


@dataclass(frozen=True)
class Written:
    """A command: its arguments, its output, whether that is a folder, and whether it is slow."""

    arguments: tuple[str, ...]
    out: str
    is_folder: bool = True
    is_slow: bool = False


_TABLES = ("x=x.csv", "y=y.csv", "--id", "id")
_RUN = ("--format", "csv", "--no-report", "--quiet", "-o", "out")
_EVENTS = ("events/SOUTH.mseed", "events/NORTH.mseed")

COMMANDS = {
    "fit": Written(("fit", *_TABLES, *_RUN), "out"),
    "cluster": Written(("cluster", *_TABLES, "-k", "2", *_RUN), "out"),
    "transform": Written(
        ("transform", "run/model.viewhop", *_TABLES, "-o", "new.csv"), "new.csv", is_folder=False
    ),
    "report of a run": Written(("report", "run"), "run"),
    "report of a model": Written(
        ("report", "run/model.viewhop", "-o", "page.html"), "page.html", is_folder=False
    ),
    "bandwidth": Written(("bandwidth", *_TABLES, "--grid", "10", "-o", "out"), "out", is_slow=True),
    "data": Written(("data", "rolls", "--samples", "40", "--force", "-o", "out"), "out"),
    "reproduce": Written(
        ("reproduce", "decay-over-time", "--quick", "--force", "--out", "out"), "out"
    ),
    "demo": Written(("demo", "--quick", "--out", "out"), "out", is_slow=True),
    "seismic simulate": Written(
        ("seismic", "simulate", "--earthquakes", "1", "--blasts", "1", "-o", "out"), "out"
    ),
    "seismic detect": Written(
        ("seismic", "detect", *_EVENTS, "--min-stations", "1", "-o", "found.csv"),
        "found.csv",
        is_folder=False,
    ),
    "seismic sonogram": Written(
        ("seismic", "sonogram", *_EVENTS, "--pictures", "1", "-o", "out"), "out"
    ),
    "seismic classify": Written(
        (
            *("seismic", "classify", *_EVENTS, "--catalogue", "events/catalogue.csv"),
            *("--procedure", "transductive", "--neighbors", "1", "-o", "out"),
        ),
        "out",
        is_slow=True,
    ),
}


def write_input(folder):
    """Write the input of all commands to a folder: two tables, a run on them, simulated events."""
    made = vh.datasets.make_swiss_rolls(60, noise=0.1, random_state=0).views
    for name, rows in made.items():
        ids = [f"s{k}" for k in range(60)]
        write(folder / f"{name}.csv", {"id": ids, **dict(zip("abc", rows.T, strict=True))})
    steps = [
        ("fit", *_TABLES, "--format", "csv", "--no-report", "--quiet", "-o", "run"),
        ("seismic", "simulate", "--earthquakes", "4", "--blasts", "4", "-o", "events"),
    ]
    before = Path.cwd()
    os.chdir(folder)
    try:
        for arguments in steps:
            done = invoked(*arguments)
            assert done.exit_code == 0, done.output
    finally:
        os.chdir(before)


def state(place):
    """The content of a file, or of all files in a folder by name; None if it does not exist."""
    if not place.exists():
        return None
    if place.is_file():
        return place.read_bytes()
    return {path.name: path.read_bytes() for path in place.iterdir() if path.is_file()}


def restore(place, content):
    """Make a file or a folder what `state` returned."""
    if isinstance(content, bytes):
        place.write_bytes(content)
        return
    place.mkdir(exist_ok=True)
    for path in place.iterdir():
        if path.name not in content:
            path.unlink()
    for name, data in content.items():
        if not (place / name).is_file() or (place / name).read_bytes() != data:
            (place / name).write_bytes(data)


def make_old(content, *, is_run=False):
    """The same files as an earlier run might have left them."""
    if isinstance(content, bytes):
        return OLD
    if is_run:  # the command reads its own folder
        return {**content, "report.html": OLD}
    return dict.fromkeys(content, OLD)


def hidden(folder):
    """Names of the hidden files and folders anywhere in a folder."""
    return [
        name
        for _, folders, files in os.walk(folder)
        for name in (*folders, *files)
        if name.startswith(".")
    ]


def remember_results(patch):
    """Let the long computations of commands run once; what they do with the results is real."""
    import viewhop.cli._seismic_classify as classify
    import viewhop.cli._seismic_detect as detect
    import viewhop.cli._seismic_sonogram as sonogram
    from viewhop.experiments import _demo as demo

    for module in (classify, detect, sonogram):
        patch(module, "read_files", cache(module.read_files))
    patch(classify, "_classify", _keep_first(classify._classify))
    methods = demo._run_methods
    kept = {}

    def run_methods(all_methods, condition, *rest):
        if condition not in kept:
            kept[condition] = methods(all_methods, condition, *rest)
        return kept[condition]

    patch(demo, "_run_methods", run_methods)


def _keep_first(function):
    kept = []

    def first(*arguments, **options):
        if not kept:
            kept.append(function(*arguments, **options))
        return kept[0]

    return first
