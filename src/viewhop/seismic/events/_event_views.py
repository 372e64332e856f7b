"""Views of events: features of the window that each channel recorded of each event."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from viewhop.errors import SeismicError
from viewhop.seismic._channels import SECOND, YEAR, Channel, nanoseconds
from viewhop.seismic._event import Event
from viewhop.seismic._summary import LeftOut, Summary, count_by_reason
from viewhop.seismic._waveforms import Waveforms, as_waveforms, require_channels
from viewhop.seismic.events._channel_features import (
    Features,
    cut_windows,
    feature_rows,
    window_times,
)
from viewhop.views import Views

__all__ = ["EventViews", "event_views"]

_UNKNOWN_STATION = "unknown station"
_UNPICKED = "; they have no picks: set unpicked to 'event'"


@dataclass(frozen=True)
class EventViews:
    """Events as Views, one view per channel.

    Attributes
    ----------
    views : Views
        Its ``ids`` are those of the events. A channel has no row for an event that it missed.
    events : tuple of Event
        The events of the rows.
    shapes : dict of tuples by channel
        Shape of the features of one event, before flattening.
    summary : Summary
        Counts windows. It lists every window that was lost, and why.
    overlaps : tuple of (int, int)
        Indices of pairs of events with overlapping windows on a channel: neither may classify the
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
        """A selection of the events, with their views and overlaps and the summary of all.

        Parameters
        ----------
        chosen : mask, or indices of events
            ``events.views.observed.all(axis=1)`` selects those that every channel recorded.
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
    """Features of each event on each channel, as Views; unusable windows are missing.

    Parameters
    ----------
    waveforms : Waveforms, or obspy Stream
        As recorded: filtering would hide clipping.
    events : list of Event
        From `detect`, a catalogue or a file.
    before, length : float
        Seconds from the start of a window to the pick of its station, and to the window's end.
    features : callable or None
        ``features(windows, sampling_rate=)`` maps (n_windows, n_samples) to (n_windows, …), which
        is flattened to rows. None uses ``viewhop.seismic.sonogram.sonogram``.
    sampling_rate : float or None
        Rate, in Hz, to which all windows are resampled with an anti-aliasing filter; the paper
        has 40. A slower trace is left out. None keeps the rate of each channel; if a channel has
        several, that of most windows.
    channels : list of str or None
        Channels, ``NET.STA.LOC.CHA``, in order of the views; None uses all.
    unpicked : {"missing", "event"}
        How to treat a station without a pick: as missing, or with a window around the time of the
        event. A catalogue without picks needs the latter.

    Returns
    -------
    EventViews

    Raises
    ------
    SeismicError
        If no channel recorded any event.

    Notes
    -----
    A window is missing if its channel has a gap in it, ends before it does, starts after it does,
    has a constant value throughout or for five seconds and a hundred samples, or is clipped. An
    event without any window is left out, and so is a channel without any.

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
    >>> dataset = event_views(waveforms, events, before=5, length=10, features=energy)
    >>> dataset.views
    Views(2 samples: IS.MMLI..BHZ (4), IS.HRFI..BHZ (4; saw 1))
    >>> print(dataset.summary)
    3 windows; left out 1: 1 no pick
    """
    recorded = as_waveforms(waveforms)
    require_channels(recorded)
    events = list(events)
    _check_parameters(events, before, length, sampling_rate, unpicked)
    left_out: list[LeftOut] = []
    chosen = _choose_channels(recorded, channels, left_out)
    _note_unknown_stations(events, recorded, left_out)
    tables: dict[str, NDArray[np.float64]] = {}
    shapes: dict[str, tuple[int, ...]] = {}
    times = {channel.id: window_times(channel, events, unpicked) for channel in chosen}
    for channel in chosen:
        windows = cut_windows(
            channel, events, times[channel.id], before, length, sampling_rate, left_out
        )
        rows = feature_rows(channel.id, windows, events, features or _default_features(), left_out)
        if rows is None:
            what = f"it recorded none of the {len(events):,} events"
            left_out.append(LeftOut(channel.id, "no event", what))
            continue
        tables[channel.id], shapes[channel.id] = rows
    return _build_result(tables, shapes, events, times, length, left_out, recorded.summary.left_out)


def _check_parameters(
    events: Sequence[Event],
    before: float,
    length: float,
    sampling_rate: float | None,
    unpicked: str,
) -> None:
    if not events:
        raise SeismicError("expected at least one event, got none")
    ids: set[str] = set()
    for event in events:
        if event.id in ids:
            raise SeismicError(
                f"two events have the id {event.id!r}; expected unique ids", event.id
            )
        ids.add(event.id)
    if not 0 < length <= YEAR:
        raise ValueError(f"length must be positive and at most {YEAR:,.0f} seconds, got {length!r}")
    if not abs(before) <= YEAR:
        raise ValueError(f"before must be at most {YEAR:,.0f} seconds, got {before!r}")
    if sampling_rate is not None and not 0 < sampling_rate < np.inf:
        raise ValueError(
            f"sampling_rate must be a positive number of Hz or None, got {sampling_rate!r}"
        )
    if unpicked not in ("missing", "event"):
        raise ValueError(f'unpicked must be "missing" or "event", got {unpicked!r}')


def _default_features() -> Features:
    sonogram: Features = import_module("viewhop.seismic.sonogram").sonogram
    return sonogram


def _choose_channels(
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


def _note_unknown_stations(
    events: Sequence[Event], waveforms: Waveforms, left_out: list[LeftOut]
) -> None:
    """Add the picks of stations without waveforms to `left_out`."""
    stations = set(waveforms.stations)
    left_out.extend(
        LeftOut(
            pick.station,
            _UNKNOWN_STATION,
            "it has a pick but no waveforms",
            pick.time,
            event.id,
        )
        for event in events
        for pick in event.picks
        if pick.station not in stations
    )


def _build_result(
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
        reason = (
            f"{count_by_reason('windows lost', lost)}; the first: {lost[0]}"
            if lost
            else "no channel"
        )
        hint = "" if any(event.picks for event in events) else _UNPICKED
        raise SeismicError(
            f"no channel recorded any of the {len(events):,} events ({reason}){hint}",
            left_out=(*earlier, *left_out),
        )
    observed: dict[str, NDArray[np.bool_]] = {
        name: np.asarray(np.isfinite(table).all(axis=1)) for name, table in tables.items()
    }
    is_observed = np.any([*observed.values()], axis=0)
    left_out.extend(
        LeftOut(event.id, "no channel", "no channel recorded the event", event.time)
        for event, is_seen in zip(events, is_observed, strict=True)
        if not is_seen
    )
    kept = tuple(event for event, is_seen in zip(events, is_observed, strict=True) if is_seen)
    ids = [event.id for event in kept]
    views = Views.from_frames(
        {name: pd.DataFrame(table[is_observed], index=ids) for name, table in tables.items()}
    )
    summary = Summary(
        sum(int(rows.sum()) for rows in observed.values()), "windows", tuple(left_out)
    )
    places = np.cumsum(is_observed) - 1
    overlaps = {
        (int(places[k]), int(places[m]))
        for name, is_seen in observed.items()
        for k, m in _overlapping_pairs(times[name], is_seen, round(length * SECOND))
    }
    return EventViews(views, kept, dict(shapes), summary.after(earlier), tuple(sorted(overlaps)))


def _overlapping_pairs(
    times: Sequence[pd.Timestamp | None], is_seen: NDArray[np.bool_], length: int
) -> Iterator[tuple[int, int]]:
    """Index pairs, smaller first, of events with overlapping windows on one channel."""
    ordered = sorted(
        (nanoseconds(time), k) for k, time in enumerate(times) if time is not None and is_seen[k]
    )
    for place, (time, k) in enumerate(ordered):
        for later in range(place + 1, len(ordered)):
            other, m = ordered[later]
            if other - time >= length:
                break
            yield min(k, m), max(k, m)
