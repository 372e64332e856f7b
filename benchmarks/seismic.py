"""Seismic events from waveforms to a table of accuracies, and what leaving one out costs."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.apart import apart
from benchmarks.row import Row, ratio

TITLE = "Seismic events: waveforms to sonograms, embeddings and accuracies"
FULL: dict[str, Any] = {"n_events": 600, "left_out": 10, "hours": 72}
SMALL: dict[str, Any] = {"n_events": 40, "left_out": 2, "hours": 12}

CHANNELS = 3
#: What the whole way may take at full size, in seconds on two cores.
WHOLE = 60.0
#: Memory that the sonogram of a long trace at 100 Hz may take, over that of the trace.
LONG = 5.0


def _waveforms(n_events: int) -> tuple[Any, list[str]]:
    """Records of so many blasts: the first fifty, again and again, with noise of their own."""
    from viewhop.seismic import make_quarry_blasts

    blasts = make_quarry_blasts(min(n_events, 50), random_state=0)
    chosen = np.arange(n_events) % len(blasts.waveforms)
    waveforms = blasts.waveforms[chosen]
    size = 0.1 * waveforms.std(axis=-1, keepdims=True)
    waveforms += size * np.random.default_rng(0).standard_normal(waveforms.shape)
    return waveforms, [blasts.target_names[k] for k in blasts.target[chosen]]


def whole_way(n_events: int) -> dict[str, Any]:
    """Seconds from waveforms to the transductive table of all methods, r = 3 and 4."""
    from viewhop.seismic import classify
    from viewhop.seismic.sonogram import sonogram

    waveforms, labels = _waveforms(n_events)
    start = perf_counter()
    bands = sonogram(waveforms, sampling_rate=40.0)
    views = [bands[:, k].reshape(n_events, -1) for k in range(CHANNELS)]
    made = perf_counter()
    result = classify(views, labels, n_components=(3, 4), procedures=["transductive"])
    end = perf_counter()
    return {"sonograms": made - start, "seconds": end - start, "scores": len(result)}


def left_out_fits(n_events: int, count: int, shared: bool) -> dict[str, Any]:
    """Seconds of so many fits without one event: with shared distances, or from sonograms."""
    import viewhop as vh
    from viewhop.seismic._classification_input import read_kernels
    from viewhop.seismic._fewer_features import with_fewer_features
    from viewhop.seismic.sonogram import sonogram

    waveforms, _ = _waveforms(n_events)
    bands = sonogram(waveforms, sampling_rate=40.0)
    views = vh.Views([bands[:, k].reshape(n_events, -1) for k in range(CHANNELS)])
    kernels = read_kernels(None, views.names)
    est = vh.MultiViewDiffusionMaps.paper_settings(4, kernel=kernels, random_state=0)
    start = perf_counter()
    events = with_fewer_features(views, kernels) if shared else views
    for event in range(count):
        est.fit(events[np.arange(n_events) != event]).transform(events[[event]])
    return {"seconds": perf_counter() - start}


def long_trace(hours: float) -> dict[str, Any]:
    """Seconds of the sonogram of one trace at 100 Hz, and the bytes of the trace."""
    from viewhop.seismic.sonogram import sonogram

    trace = np.random.default_rng(0).standard_normal(round(hours * 360_000))
    start = perf_counter()
    sonogram(trace, sampling_rate=100.0)
    return {"seconds": perf_counter() - start, "size": trace.nbytes}


def run(*, n_events: int, left_out: int, hours: float) -> Iterator[Row]:
    """The whole way; fits without one event, with and without shared distances; a long trace."""
    setting = f"{n_events:,} events × {CHANNELS} channels"
    result = apart(whole_way, {"n_events": n_events})
    yield Row(f"sonograms, {setting}", result["sonograms"])
    yield Row(
        f"waveforms to sonograms and {result['scores']} transductive accuracies, {setting}",
        result["seconds"],
        result["seconds"],
        "s",
        at_most=WHOLE,
        peak=result["peak"],
        at_import=result["at_import"],
    )
    order = {"n_events": n_events, "count": left_out}
    plain = apart(left_out_fits, {**order, "shared": False})
    shared = apart(left_out_fits, {**order, "shared": True})
    work = f"{left_out} multi-view fits without one event, {setting}"
    yield Row(f"{work}, from sonograms", plain["seconds"], peak=plain["peak"])
    yield ratio(f"{work}, with shared distances", shared, plain["seconds"], "from sonograms")
    long = apart(long_trace, {"hours": hours})
    yield Row(
        f"sonogram of {hours:g} hours at 100 Hz",
        long["seconds"],
        (long["peak"] - long["at_import"]) / long["size"],
        "× the memory of the trace",
        at_most=LONG,
        timed=False,
        peak=long["peak"],
        at_import=long["at_import"],
    )
