"""Features of events on one channel, from windows around its picks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from viewhop.seismic._channels import SECOND, Channel, nanoseconds
from viewhop.seismic._event import Event
from viewhop.seismic._summary import LeftOut
from viewhop.seismic.events._windows import cut_window, resample_windows

__all__ = ["Features", "cut_windows", "feature_rows", "window_times"]

Features = Callable[..., NDArray[np.floating]]


def window_times(
    channel: Channel, events: Sequence[Event], unpicked: str
) -> list[pd.Timestamp | None]:
    """Time around which each window of a channel is cut; None where its station missed it."""
    times = []
    for event in events:
        pick = next((pick for pick in event.picks if pick.station == channel.station), None)
        without = event.time if unpicked == "event" else None
        times.append(without if pick is None else pick.time)
    return times


def cut_windows(
    channel: Channel,
    events: Sequence[Event],
    times: Sequence[pd.Timestamp | None],
    before: float,
    length: float,
    sampling_rate: float | None,
    left_out: list[LeftOut],
) -> dict[float, tuple[list[int], NDArray[np.float64]]]:
    """Indices of events and windows, (n_windows, n_samples), of a channel by sampling rate."""
    by_rate: dict[float, tuple[list[int], list[NDArray[np.float64]]]] = {}
    for k, (event, time) in enumerate(zip(events, times, strict=True)):
        if time is None:
            what = "its station has no pick for the event"
            left_out.append(LeftOut(channel.id, "no pick", what, event.time, event.id))
            continue
        start = nanoseconds(time) - round(before * SECOND)
        data, rate = cut_window(channel, start, length, sampling_rate=sampling_rate)
        if isinstance(data, str):
            left_out.append(LeftOut(channel.id, data, str(rate), time, event.id))
            continue
        places, cuts = by_rate.setdefault(float(rate), ([], []))
        places.append(k)
        cuts.append(data)
    if sampling_rate is None:
        _keep_one_rate(channel.id, by_rate, events, left_out)
        return {rate: (places, np.stack(cuts)) for rate, (places, cuts) in by_rate.items()}
    count = round(length * sampling_rate)
    places = [k for numbers, _ in by_rate.values() for k in numbers]
    if not places:
        return {}
    stacked = np.concatenate(
        [
            resample_windows(np.stack(cuts), rate=rate, target_rate=sampling_rate, count=count)
            for rate, (_, cuts) in by_rate.items()
        ]
    )
    return {sampling_rate: (places, stacked)}


def _keep_one_rate(
    name: str,
    by_rate: dict[float, tuple[list[int], list[NDArray[np.float64]]]],
    events: Sequence[Event],
    left_out: list[LeftOut],
) -> None:
    """Leave out the windows at other rates than the most frequent one."""
    if len(by_rate) < 2:
        return
    most = max(by_rate, key=lambda rate: len(by_rate[rate][0]))
    for rate in [rate for rate in by_rate if rate != most]:
        what = f"sampled at {rate:g} Hz, most windows at {most:g} Hz; set sampling_rate"
        left_out.extend(
            LeftOut(name, "sampling rate", what, events[k].time, events[k].id)
            for k in by_rate.pop(rate)[0]
        )


def feature_rows(
    name: str,
    windows: Mapping[float, tuple[list[int], NDArray[np.float64]]],
    events: Sequence[Event],
    features: Features,
    left_out: list[LeftOut],
) -> tuple[NDArray[np.float64], tuple[int, ...]] | None:
    """Features of a channel, one row per event, NaN for missing events; and their shape."""
    for rate, (places, data) in windows.items():
        values = np.asarray(features(data, sampling_rate=rate), dtype=np.float64)
        if values.ndim < 2 or len(values) != len(data):
            raise ValueError(
                f"expected features of shape ({len(data)}, …) for {len(data)} windows of {name}, "
                f"got {values.shape}"
            )
        flat = values.reshape(len(data), -1)
        sound = np.isfinite(flat).all(axis=1)
        left_out.extend(
            LeftOut(name, "features", "its features are not finite", events[k].time, events[k].id)
            for k in np.array(places)[~sound]
        )
        table = np.full((len(events), flat.shape[1]), np.nan)
        table[np.array(places)[sound]] = flat[sound]
        if sound.any():
            return table, values.shape[1:]
    return None
