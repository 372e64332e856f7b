"""The report: size of the file, time until it is drawn, and time of a selection in all panels."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from tests.support import browser

import viewhop as vh
from benchmarks.apart import apart
from benchmarks.data import cube_views
from benchmarks.row import Row, size

TITLE = "The report: three views of a cube, in headless Chromium without a graphics card"
FULL: dict[str, Any] = {"sizes": (40_000, 100_000), "at_most": (12e6, None)}
SMALL: dict[str, Any] = {"sizes": (2000,), "at_most": (8e6,)}

R = 10
VIEWS = 3
FEATURES = 20


def write_report(n_samples: int, folder: str) -> dict[str, Any]:
    """Bytes and seconds of a report with ids, labels, clusters and features."""
    arrays = cube_views(n_samples, VIEWS, FEATURES)
    kernel = vh.kernels.Gaussian("local", n_neighbors=10)
    est = vh.MultiViewDiffusionMaps.paper_settings(R, kernel=kernel, tol=1e-2, random_state=0).fit(
        arrays
    )
    order = np.argsort(est.view_embeddings_["view1"][:, 0], kind="stable")
    clusters = np.empty(n_samples, dtype=int)
    clusters[order] = np.arange(n_samples) * 8 // n_samples
    path = Path(folder, "report.html")
    start = perf_counter()
    vh.report.write(
        path,
        est,
        ids=[f"sample-{k:06d}" for k in range(n_samples)],
        labels=clusters % 4,
        clusters=clusters,
        features=vh.Views(arrays),
    )
    return {"seconds": perf_counter() - start, "bytes": path.stat().st_size}


def time_page(path: Path) -> dict[str, float]:
    """Seconds until the page is drawn, and until all panels, including 3-D, show a selection."""
    with browser.opened() as page:
        start = perf_counter()
        drawn = page.open(path, timeout=300)["seconds"]
        whole = perf_counter() - start
        page.run("await viewhop.open3d()")
        # A fifth of the samples, then others, clocked in the page: the best is the page's own.
        clock = (
            "const n = args[0], times = [];"
            "for (let k = 0; k < 5; k++) {"
            "  const chosen = Array.from({ length: n / 5 | 0 }, (_, i) => 5 * i + k);"
            "  const start = performance.now();"
            "  await viewhop.select(chosen);"
            "  times.push((performance.now() - start) / 1000);"
            "}"
            "return times"
        )
        n = page.run("return viewhop.coordinates(viewhop.panels[0]).length")
        selections = page.run(clock, n)
        moves = page.run(
            "const start = performance.now();"
            "for (let t = 1; t <= 10; t++) await viewhop.setTime(t);"
            "return (performance.now() - start) / 10000"
        )
    return {"drawn": drawn, "whole": whole, "selection": max(selections), "time": moves}


def run(*, sizes: tuple[int, ...], at_most: tuple[float | None, ...]) -> Iterator[Row]:
    """A fit and its report, read by a browser if there is one."""
    for n, most in zip(sizes, at_most, strict=True):
        with tempfile.TemporaryDirectory() as folder:
            setting = f"{n:,} samples × {VIEWS} views"
            written = apart(write_report, {"n_samples": n, "folder": folder})
            yield Row(f"writing, {setting}", written["seconds"], peak=written["peak"])
            yield size(f"file, {setting}, r = {R}", written["bytes"], at_most=most)
            if browser.WHY_NOT:
                yield Row(f"drawn, {setting}", error=f"skipped: {browser.WHY_NOT}")
                continue
            result = time_page(Path(folder, "report.html"))
        bounds = {"drawn": 5.0, "whole": None, "selection": 1.0, "time": None}
        works = {
            "drawn": "embeddings drawn, from the opening of the file",
            "whole": "all of the page drawn",
            "selection": "the slowest of five selections of a fifth, in 2-D and 3-D",
            "time": "one move of the diffusion time, in 2-D and 3-D",
        }
        for key, work in works.items():
            yield Row(f"{work}, {setting}", result[key], result[key], "s", at_most=bounds[key])
