"""The first example of docs/seismic.md, as a reader would run it."""

from __future__ import annotations

import re
from pathlib import Path

from viewhop.seismic import make_events
from viewhop.seismic.io._simulated_files import write_simulated

PAGE = Path(__file__).parents[2] / "docs" / "seismic.md"


def test_the_example_runs_on_simulated_records(obspy, tmp_path, monkeypatch):
    (tmp_path / "simulated").mkdir()
    write_simulated(tmp_path / "simulated", make_events(10, 10, random_state=0))
    monkeypatch.chdir(tmp_path)
    code = re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    names: dict = {}
    exec(code.group(1), names)  # noqa: S102 - the page is our own
    assert len(names["events"]) > 10
    assert {"blast", "earthquake"} <= set(names["seen"].labels)
    assert len(names["found"].to_frame()) > 20
    assert Path("events.csv").exists()
