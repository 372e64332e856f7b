"""Views of events: what each channel saw of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from viewhop.errors import SeismicError
from viewhop.seismic._channels import SECOND, YEAR, Channel, nanoseconds
from viewhop.seismic._event import Event
from viewhop.seismic._summary import LeftOut, Summary, counted
from viewhop.seismic._waveforms import Waveforms, as_waveforms, check_any
from viewhop.seismic.events._windows import cut, with_rate
from viewhop.views import Views

__all__ = ["EventViews", "event_views"]

_UNKNOWN_STATION = "unknown station"
_UNPICKED = "; they have no picks: set unpicked to 'event'"

Features = Callable[..., NDArray[np.floating]]


@dataclass(frozen=True)
class EventViews:
    """Events as Views, one view for each channel.

    Attributes
    ----------
    views : Views
        Its ``ids`` are those of the events. A channel that did not see an event has no row for it.
    events : tuple of Event
        The events of the rows.
    shapes : dict of tuples by channel
        Shape of the features of one event, before they were made a row.
    summary : Summary
        Counts windows. It has every window that an event lost, and why.
    overlaps : tuple of (int, int)
        Numbers of two events whose windows share samples of a channel: neither may be judged by the
        other. Pass it to `classify`.
    """

    views: Views
    events: tuple[Event, ...]
    shapes: Mapping[str, tuple[int, ...]]
    summary: Summary
    overlaps: tuple[tuple[int, int], ...] = ()

    @property
    def labels(self) -> tuple[str | None, ...]:
        """Label of each event."""
        return tuple(event.label for event in self.events)

    def only(self, chosen: Any) -> EventViews:
        """Some of the events, with their views and overlaps; the summary stays that of all.

        Parameters
        ----------
        chosen : mask, or numbers of events
            ``seen.views.observed.all(axis=1)`` are those that every channel saw.
        """
        numbers = np.arange(len(self.events))[chosen]
        places = {int(number): place for place, number in enumerate(numbers)}
        return replace(
            self,
            views=self.views[numbers],
            events=tuple(self.events[number] for number in places),
            overlaps=tuple(
                (places[k], places[m]) for k, m in self.overlaps if k in places and m in places
            ),
        )


def event_views(
    waveforms: Any,
    events: Sequence[Event],
    *,
    before: float,
    length: float,
    features: Features | None = None,
    sampling_rate: float | None = 40.0,
    channels: Sequence[str] | None = None,
    unpicked: Literal["missing", "event"] = "missing",
) -> EventViews:
    """What each channel saw of each event, as Views; what cannot be used is missing there.

    Parameters
    ----------
    waveforms : Waveforms, or obspy Stream
        As recorded: a filter would hide clipping.
    events : list of Event
        From `detect`, a catalogue or a file.
    before, length : float
        Seconds from the beginning of a window to the pick of its station, and to its end.
    features : callable or None
        ``features(windows, sampling_rate=)`` of (n_windows, n_samples) gives (n_windows, …), which
        is made rows. None takes ``viewhop.seismic.sonogram.sonogram``.
    sampling_rate : float or None
        Rate, in Hz, that all windows are resampled to, with a filter against aliasing; the paper
        has 40. A slower trace is left out. None keeps the rate of each channel; where a channel
        has several, the one with most windows.
    channels : list of str or None
        Channels, ``NET.STA.LOC.CHA``, in the order of the views; None takes all.
    unpicked : {"missing", "event"}
        What to do where a station has no pick: it missed the event, or the window is cut around
        the time of the event. A catalogue without picks needs the latter.

    Returns
    -------
    EventViews

    Raises
    ------
    SeismicError
        If no channel saw any event.

    Notes
    -----
    A window is missing if its channel has a gap in it, ends before it or starts after, has one
    value throughout or for five seconds and a hundred samples, or is clipped. An event that no
    channel saw is left out, and so is a channel that saw none.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from viewhop.seismic.events import Event, Pick, event_views
    >>> from viewhop.seismic.io import Waveforms
    >>> noise = np.random.default_rng(0).normal(size=(2, 4000))
    >>> waveforms = Waveforms.from_arrays(
    ...     {"IS.MMLI..BHZ": noise[0], "IS.HRFI..BHZ": noise[1]},
    ...     start="2010-05-27T16:24:00Z",
    ...     sampling_rate=40.0,
    ... )
    >>> times = [pd.Timestamp(f"2010-05-27T16:24:{second}Z") for second in (20, 40)]
    >>> events = [
    ...     Event("a", times[0], (Pick("IS.MMLI..BHZ", times[0]), Pick("IS.HRFI..BHZ", times[0]))),
    ...     Event("b", times[1], (Pick("IS.MMLI..BHZ", times[1]),)),
    ... ]
    >>> def energy(windows, *, sampling_rate):
    ...     return (windows.reshape(len(windows), 4, -1) ** 2).sum(axis=2)
    >>> seen = event_views(waveforms, events, before=5, length=10, features=energy)
    >>> seen.views
    Views(2 samples: IS.MMLI..BHZ (4), IS.HRFI..BHZ (4; saw 1))
    >>> print(seen.summary)
    3 windows; left out 1: 1 no pick
    """
    found = as_waveforms(waveforms)
    check_any(found)
    given = list(events)
    _check(given, before, length, sampling_rate, unpicked)
    left_out: list[LeftOut] = []
    chosen = _chosen(found, channels, left_out)
    _unknown_stations(given, found, left_out)
    tables: dict[str, NDArray[np.float64]] = {}
    shapes: dict[str, tuple[int, ...]] = {}
    times = {channel.id: _times(channel, given, unpicked) for channel in chosen}
    for channel in chosen:
        windows = _windows(
            channel, given, times[channel.id], before, length, sampling_rate, left_out
        )
        rows = _rows(channel.id, windows, given, features or _sonogram(), left_out)
        if rows is None:
            what = f"it saw none of the {len(given):,} events"
            left_out.append(LeftOut(channel.id, "no event", what))
            continue
        tables[channel.id], shapes[channel.id] = rows
    return _result(tables, shapes, given, times, length, left_out, found.summary.left_out)


def _check(
    events: Sequence[Event],
    before: float,
    length: float,
    sampling_rate: float | None,
    unpicked: str,
) -> None:
    if not events:
        raise SeismicError("there are no events: expected at least one")
    seen: set[str] = set()
    for event in events:
        if event.id in seen:
            raise SeismicError(f"two events have the id {event.id!r}; ids are unique", event.id)
        seen.add(event.id)
    if not 0 < length <= YEAR:
        raise ValueError(f"length is a number of seconds up to {YEAR:,.0f}, not {length!r}")
    if not abs(before) <= YEAR:
        raise ValueError(f"before is a number of seconds up to {YEAR:,.0f}, not {before!r}")
    if sampling_rate is not None and not 0 < sampling_rate < np.inf:
        raise ValueError(
            f"sampling_rate is a positive number of Hz, or None, not {sampling_rate!r}"
        )
    if unpicked not in ("missing", "event"):
        raise ValueError(f'unpicked is "missing" or "event", not {unpicked!r}')


def _sonogram() -> Features:
    sonogram: Features = import_module("viewhop.seismic.sonogram").sonogram
    return sonogram


def _chosen(
    waveforms: Waveforms, channels: Sequence[str] | None, left_out: list[LeftOut]
) -> list[Channel]:
    if channels is None:
        return list(waveforms.channels.values())
    left_out.extend(
        LeftOut(name, "unknown channel", "the waveforms have no such channel")
        for name in channels
        if name not in waveforms.channels
    )
    return [waveforms.channels[name] for name in channels if name in waveforms.channels]


def _unknown_stations(
    events: Sequence[Event], waveforms: Waveforms, left_out: list[LeftOut]
) -> None:
    """Note the picks of stations without waveforms."""
    known = set(waveforms.stations)
    left_out.extend(
        LeftOut(
            pick.station,
            _UNKNOWN_STATION,
            "it has a pick, and no waveforms",
            pick.time,
            event.id,
        )
        for event in events
        for pick in event.picks
        if pick.station not in known
    )


def _times(channel: Channel, events: Sequence[Event], unpicked: str) -> list[pd.Timestamp | None]:
    """What the windows of a channel are cut around; None where its station missed the event."""
    found = []
    for event in events:
        pick = next((pick for pick in event.picks if pick.station == channel.station), None)
        without = event.time if unpicked == "event" else None
        found.append(without if pick is None else pick.time)
    return found


def _windows(
    channel: Channel,
    events: Sequence[Event],
    times: Sequence[pd.Timestamp | None],
    before: float,
    length: float,
    sampling_rate: float | None,
    left_out: list[LeftOut],
) -> dict[float, tuple[list[int], NDArray[np.float64]]]:
    """The windows of a channel and the numbers of their events, by sampling rate."""
    by_rate: dict[float, tuple[list[int], list[NDArray[np.float64]]]] = {}
    for k, (event, time) in enumerate(zip(events, times, strict=True)):
        if time is None:
            what = "its station has no pick for the event"
            left_out.append(LeftOut(channel.id, "no pick", what, event.time, event.id))
            continue
        start = nanoseconds(time) - round(before * SECOND)
        data, rate = cut(channel, start, length, sampling_rate=sampling_rate)
        if isinstance(data, str):
            left_out.append(LeftOut(channel.id, data, str(rate), time, event.id))
            continue
        places, kept = by_rate.setdefault(float(rate), ([], []))
        places.append(k)
        kept.append(data)
    if sampling_rate is None:
        _keep_one_rate(channel.id, by_rate, events, left_out)
        return {rate: (places, np.stack(kept)) for rate, (places, kept) in by_rate.items()}
    count = round(length * sampling_rate)
    places = [k for found, _ in by_rate.values() for k in found]
    if not places:
        return {}
    stacked = np.concatenate(
        [
            with_rate(np.stack(kept), rate=rate, wanted=sampling_rate, count=count)
            for rate, (_, kept) in by_rate.items()
        ]
    )
    return {sampling_rate: (places, stacked)}


def _keep_one_rate(
    name: str,
    by_rate: dict[float, tuple[list[int], list[NDArray[np.float64]]]],
    events: Sequence[Event],
    left_out: list[LeftOut],
) -> None:
    """Leave out the windows that are not at the rate that most of them have."""
    if len(by_rate) < 2:
        return
    most = max(by_rate, key=lambda rate: len(by_rate[rate][0]))
    for rate in [rate for rate in by_rate if rate != most]:
        what = f"sampled at {rate:g} Hz, most at {most:g} Hz: set sampling_rate"
        left_out.extend(
            LeftOut(name, "sampling rate", what, events[k].time, events[k].id)
            for k in by_rate.pop(rate)[0]
        )


def _rows(
    name: str,
    windows: Mapping[float, tuple[list[int], NDArray[np.float64]]],
    events: Sequence[Event],
    features: Features,
    left_out: list[LeftOut],
) -> tuple[NDArray[np.float64], tuple[int, ...]] | None:
    """Features of a channel, a row for each event, NaN for those that it did not see."""
    for rate, (places, data) in windows.items():
        values = np.asarray(features(data, sampling_rate=rate), dtype=np.float64)
        if values.ndim < 2 or len(values) != len(data):
            raise ValueError(
                f"features gave an array of shape {values.shape} for {len(data)} windows of "
                f"{name}; expected ({len(data)}, …)"
            )
        flat = values.reshape(len(data), -1)
        sound = np.isfinite(flat).all(axis=1)
        left_out.extend(
            LeftOut(name, "features", "its features are no numbers", events[k].time, events[k].id)
            for k in np.array(places)[~sound]
        )
        table = np.full((len(events), flat.shape[1]), np.nan)
        table[np.array(places)[sound]] = flat[sound]
        if sound.any():
            return table, values.shape[1:]
    return None


def _result(
    tables: Mapping[str, NDArray[np.float64]],
    shapes: Mapping[str, tuple[int, ...]],
    events: Sequence[Event],
    times: Mapping[str, Sequence[pd.Timestamp | None]],
    length: float,
    left_out: list[LeftOut],
    earlier: Sequence[LeftOut],
) -> EventViews:
    if not tables:
        lost = [
            each for each in left_out if each.event is not None and each.reason != _UNKNOWN_STATION
        ]
        told = f"{counted('windows lost', lost)}; the first: {lost[0]}" if lost else "no channel"
        hint = "" if any(event.picks for event in events) else _UNPICKED
        raise SeismicError(
            f"no channel saw any of the {len(events):,} events ({told}){hint}",
            left_out=(*earlier, *left_out),
        )
    observed: dict[str, NDArray[np.bool_]] = {
        name: np.asarray(np.isfinite(table).all(axis=1)) for name, table in tables.items()
    }
    seen = np.any([*observed.values()], axis=0)
    left_out.extend(
        LeftOut(event.id, "no channel", "no channel saw the event", event.time)
        for event, is_seen in zip(events, seen, strict=True)
        if not is_seen
    )
    kept = tuple(event for event, is_seen in zip(events, seen, strict=True) if is_seen)
    ids = [event.id for event in kept]
    views = Views.from_frames(
        {name: pd.DataFrame(table[seen], index=ids) for name, table in tables.items()}
    )
    summary = Summary(
        sum(int(rows.sum()) for rows in observed.values()), "windows", tuple(left_out)
    )
    places = np.cumsum(seen) - 1
    overlaps = {
        (int(places[k]), int(places[m]))
        for name, is_seen in observed.items()
        for k, m in _overlapping(times[name], is_seen, round(length * SECOND))
    }
    return EventViews(views, kept, dict(shapes), summary.after(earlier), tuple(sorted(overlaps)))


def _overlapping(
    times: Sequence[pd.Timestamp | None], is_seen: NDArray[np.bool_], length: int
) -> Iterator[tuple[int, int]]:
    """Numbers of two events, the smaller first, whose windows of one channel share time."""
    ordered = sorted(
        (nanoseconds(time), k) for k, time in enumerate(times) if time is not None and is_seen[k]
    )
    for place, (time, k) in enumerate(ordered):
        for later in range(place + 1, len(ordered)):
            other, m = ordered[later]
            if other - time >= length:
                break
            yield min(k, m), max(k, m)
