"""Detection: events in continuous waveforms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from viewhop.errors import SeismicError
from viewhop.seismic._channels import SECOND, YEAR, Channel, timestamp
from viewhop.seismic._event import Event, Pick, events_frame
from viewhop.seismic._summary import LeftOut, Summary
from viewhop.seismic._waveforms import Waveforms, as_waveforms, check_any
from viewhop.seismic.events._coincidence import coincident, separated, station_triggers
from viewhop.seismic.events._sta_lta import StaLta
from viewhop.seismic.events._triggers import Trigger, channel_triggers, is_searchable

__all__ = ["Detections", "detect"]


@dataclass(frozen=True)
class Detections(Sequence[Event]):
    """Events that were detected, in the order of time: a list of them, with a summary.

    Attributes
    ----------
    events : tuple of Event
    summary : Summary
        Counts events. It has the traces, or parts of them, that were not searched; the picks of
        clipped traces are ``doubtful``.
    """

    events: tuple[Event, ...]
    summary: Summary

    def to_frame(self) -> Any:
        """A DataFrame with a row for each event, times in UTC; see `events_frame`."""
        return events_frame(self.events)

    def __len__(self) -> int:
        return len(self.events)

    def __getitem__(self, key: Any) -> Any:
        return self.events[key]

    def __iter__(self) -> Iterator[Event]:
        return iter(self.events)


def detect(
    waveforms: Any,
    *,
    trigger: StaLta | None = None,
    band: tuple[float, float] | None = (1.0, 10.0),
    components: str | None = "Z",
    min_stations: int = 2,
    allowance: float = 0.0,
    separation: float = 1.0,
) -> Detections:
    """Events that several stations see at about the same time, by STA/LTA.

    Parameters
    ----------
    waveforms : Waveforms, or obspy Stream
    trigger : StaLta or None
        Averages and thresholds; None has its defaults.
    band : (lowest, highest) or None
        Frequencies, in Hz, between which a trace is filtered; None does not filter. A trace whose
        sampling rate is not above twice the highest is left out.
    components : str or None
        Components to trigger on, by the last letters of the channels; None takes all.
        The vertical shows P first.
    min_stations : int
        Stations that must see an event. A station counts once, whatever its channels.
    allowance : float
        Seconds that a station may be later than the end of the others' triggers: the travel time
        across the network.
    separation : float
        Least number of seconds between two events; of two that are closer, the one that more
        stations saw is kept, the earlier if as many did.

    Returns
    -------
    Detections

    Raises
    ------
    SeismicError
        If there are fewer stations than an event needs.

    Notes
    -----
    A pick is where the ratio passes the threshold, which is a little after the onset. Stations and
    channels may have different sampling rates. After a gap the averages begin anew, so nothing is
    found within one LTA of it, nor of the beginning. One value for five seconds, and a hundred
    samples, is a gap. The summary has every gap, and the channels that start later or end earlier
    than others.

    Examples
    --------
    Two stations; the second sees a pulse half a second after the first.

    >>> import numpy as np
    >>> from viewhop.seismic.events import detect
    >>> from viewhop.seismic.io import Waveforms
    >>> traces = np.random.default_rng(0).normal(size=(2, 4000))
    >>> pulse = 20 * np.sin(np.arange(80))
    >>> traces[0, 2000:2080] += pulse
    >>> traces[1, 2020:2100] += pulse
    >>> waveforms = Waveforms.from_arrays(
    ...     {"IS.MMLI..BHZ": traces[0], "IS.HRFI..BHZ": traces[1]},
    ...     start="2010-05-27T16:24:00Z",
    ...     sampling_rate=40.0,
    ... )
    >>> (event,) = detect(waveforms)
    >>> event.time.round("s").isoformat(), event.stations
    ('2010-05-27T16:24:50+00:00', ('IS.MMLI', 'IS.HRFI'))
    """
    found = as_waveforms(waveforms)
    check_any(found)
    _check(band, min_stations, allowance, separation)
    rule = StaLta() if trigger is None else trigger
    left_out: list[LeftOut] = []
    triggers: list[Trigger] = []
    channels = _chosen(found, components, left_out)
    stations = {channel.station for channel in channels}
    if len(stations) < min_stations:
        raise SeismicError(
            f"an event needs {min_stations} stations, and there are {len(stations)} "
            f"({', '.join(sorted(stations)) or 'none'}); lower min_stations to "
            f"{max(1, len(stations))}{', or choose other components' if left_out else ''}",
            left_out=(*found.summary.left_out, *left_out),
        )
    searchable = [channel for channel in channels if is_searchable(channel, rule, band)]
    left_out.extend(_uncovered(searchable, rule.lta))
    for channel in channels:
        own, problems = channel_triggers(channel, trigger=rule, band=band)
        triggers.extend(own)
        left_out.extend(problems)
    groups = coincident(station_triggers(triggers), min_stations=min_stations, allowance=allowance)
    kept = separated(groups, separation)
    events = _named(_event(group) for group in kept)
    doubtful = [
        LeftOut(
            trigger.channel,
            trigger.doubt[0],
            f"{trigger.doubt[1]}: its pick is kept, but its ratios are not to be believed",
            timestamp(trigger.on),
            event.id,
        )
        for event, group in zip(events, kept, strict=True)
        for trigger in group
        if any(trigger.doubt)
    ]
    summary = Summary(len(events), "events", tuple(left_out), tuple(doubtful))
    return Detections(events, summary.after(found.summary.left_out))


def _check(
    band: tuple[float, float] | None, min_stations: int, allowance: float, separation: float
) -> None:
    if band is not None and not (len(band) == 2 and 0 < band[0] < band[1] < np.inf):
        raise ValueError(f"band is two frequencies in Hz, 0 < lowest < highest, not {band!r}")
    if min_stations < 1:
        raise ValueError(f"min_stations is at least 1, not {min_stations}")
    for name, value in (("allowance", allowance), ("separation", separation)):
        if not 0 <= value <= YEAR:
            raise ValueError(f"{name} is a number of seconds from 0 to {YEAR:,.0f}, not {value!r}")


def _chosen(waveforms: Waveforms, components: str | None, left_out: list[LeftOut]) -> list[Channel]:
    """The channels to trigger on; a station without any is left out."""
    chosen = [
        channel
        for channel in waveforms.channels.values()
        if components is None or channel.component in components
    ]
    having = {channel.station for channel in chosen}
    left_out.extend(
        LeftOut(
            station,
            "component",
            f"it has no channel that ends with {' or '.join(components or '')}",
        )
        for station in waveforms.stations
        if station not in having
    )
    return chosen


def _uncovered(channels: Sequence[Channel], seconds: float) -> list[LeftOut]:
    """The channels that start later, or end earlier, than another by more than some seconds."""
    first = min((channel.segments[0].start for channel in channels), default=0)
    last = max((channel.end for channel in channels), default=0)
    found = []
    for channel in channels:
        late = (channel.segments[0].start - first) / SECOND
        early = (last - channel.end) / SECOND
        if late > seconds:
            what = f"it starts {late:.1f} s after the first: not searched before"
            found.append(LeftOut(channel.id, "starts late", what, timestamp(first)))
        if early > seconds:
            what = f"it ends {early:.1f} s before the last: not searched after"
            found.append(LeftOut(channel.id, "ends early", what, timestamp(channel.end)))
    return found


def _named(events: Iterable[Event]) -> tuple[Event, ...]:
    """The events; one whose id was taken, for they began together, has a number behind it."""
    found: dict[str, Event] = {}
    for event in events:
        key, number = event.id, 2
        while key in found:
            key, number = f"{event.id}-{number}", number + 1
        found[key] = replace(event, id=key)
    return tuple(found.values())


def _event(group: tuple[Trigger, ...]) -> Event:
    picks = tuple(
        Pick(
            trigger.channel,
            timestamp(trigger.on),
            (trigger.off - trigger.on) / SECOND,
            trigger.ratio,
            trigger.snr,
        )
        for trigger in group
    )
    first = picks[0].time
    ratios = [pick.snr for pick in picks if np.isfinite(pick.snr)]
    return Event(
        # The digits of the first pick, to the microsecond.
        f"ev{first:%Y%m%dT%H%M%S%f}",
        first,
        picks,
        duration=(max(trigger.off for trigger in group) - group[0].on) / SECOND,
        snr=float(np.median(ratios)) if ratios else np.nan,
    )
