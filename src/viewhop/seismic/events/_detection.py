"""Detection of events in continuous waveforms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from viewhop.errors import SeismicError
from viewhop.seismic._channels import SECOND, YEAR, Channel, timestamp
from viewhop.seismic._event import Event, Pick, events_frame
from viewhop.seismic._summary import LeftOut, Summary
from viewhop.seismic._waveforms import Waveforms, as_waveforms, require_channels
from viewhop.seismic.events._coincidence import (
    drop_close_groups,
    find_coincidences,
    merge_by_station,
)
from viewhop.seismic.events._sta_lta import StaLta
from viewhop.seismic.events._triggers import Trigger, find_triggers, is_searchable

__all__ = ["Detections", "detect"]


@dataclass(frozen=True)
class Detections(Sequence[Event]):
    """Detected events in order of time, as a sequence with a summary.

    Attributes
    ----------
    events : tuple of Event
    summary : Summary
        Counts events. ``left_out`` lists traces, or parts of them, that were not searched;
        ``doubtful`` lists picks of clipped traces.
    """

    events: tuple[Event, ...]
    summary: Summary

    def to_frame(self) -> Any:
        """DataFrame with one row per event, times in UTC; see `events_frame`."""
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
    """Events that several stations record at about the same time, by STA/LTA.

    Parameters
    ----------
    waveforms : Waveforms, or obspy Stream
    trigger : StaLta or None
        Averages and thresholds; None uses the defaults.
    band : (lowest, highest) or None
        Pass band of the filter, in Hz; None does not filter. A trace is left out if its sampling
        rate is not above twice the highest frequency.
    components : str or None
        Components to trigger on, as last letters of the channels; None uses all. P arrives first
        on the vertical component.
    min_stations : int
        Minimum number of stations per event. A station counts once, whatever its channels.
    allowance : float
        Seconds by which a station may trigger after the others have ended: the travel time across
        the network.
    separation : float
        Minimum number of seconds between two events. Of two closer events, the one recorded by
        more stations is kept, or the earlier if they are equal.

    Returns
    -------
    Detections

    Raises
    ------
    SeismicError
        If there are fewer stations than `min_stations`.

    Notes
    -----
    A pick is the time at which the ratio exceeds the threshold, shortly after the onset. Stations
    and channels may have different sampling rates. After a gap the averages restart, so nothing is
    detected within one LTA of a gap or of the beginning. A constant value for five seconds and a
    hundred samples counts as a gap. The summary lists every gap, and the channels that start later
    or end earlier than others.

    Examples
    --------
    Two stations; a pulse reaches the second half a second after the first.

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
    recorded = as_waveforms(waveforms)
    require_channels(recorded)
    _check_parameters(band, min_stations, allowance, separation)
    rule = StaLta() if trigger is None else trigger
    left_out: list[LeftOut] = []
    triggers: list[Trigger] = []
    channels = _choose_channels(recorded, components, left_out)
    stations = {channel.station for channel in channels}
    if len(stations) < min_stations:
        raise SeismicError(
            f"expected at least {min_stations} stations, got {len(stations)} "
            f"({', '.join(sorted(stations)) or 'none'}); lower min_stations to "
            f"{max(1, len(stations))}{', or choose other components' if left_out else ''}",
            left_out=(*recorded.summary.left_out, *left_out),
        )
    searchable = [channel for channel in channels if is_searchable(channel, rule, band)]
    left_out.extend(_find_uncovered(searchable, rule.lta))
    for channel in channels:
        own, problems = find_triggers(channel, trigger=rule, band=band)
        triggers.extend(own)
        left_out.extend(problems)
    groups = find_coincidences(
        merge_by_station(triggers), min_stations=min_stations, allowance=allowance
    )
    kept = drop_close_groups(groups, separation)
    events = _with_unique_ids(_build_event(group) for group in kept)
    doubtful = [
        LeftOut(
            trigger.channel,
            trigger.doubt[0],
            f"{trigger.doubt[1]}; its pick is kept, but its ratios are unreliable",
            timestamp(trigger.on),
            event.id,
        )
        for event, group in zip(events, kept, strict=True)
        for trigger in group
        if any(trigger.doubt)
    ]
    summary = Summary(len(events), "events", tuple(left_out), tuple(doubtful))
    return Detections(events, summary.after(recorded.summary.left_out))


def _check_parameters(
    band: tuple[float, float] | None, min_stations: int, allowance: float, separation: float
) -> None:
    if band is not None and not (len(band) == 2 and 0 < band[0] < band[1] < np.inf):
        raise ValueError(
            f"expected a band (lowest, highest) in Hz, 0 < lowest < highest; got {band!r}"
        )
    if min_stations < 1:
        raise ValueError(f"min_stations must be at least 1, got {min_stations}")
    for name, value in (("allowance", allowance), ("separation", separation)):
        if not 0 <= value <= YEAR:
            raise ValueError(f"{name} must be between 0 and {YEAR:,.0f} seconds, got {value!r}")


def _choose_channels(
    waveforms: Waveforms, components: str | None, left_out: list[LeftOut]
) -> list[Channel]:
    """Channels to trigger on; a station without any is left out."""
    chosen = [
        channel
        for channel in waveforms.channels.values()
        if components is None or channel.component in components
    ]
    chosen_stations = {channel.station for channel in chosen}
    left_out.extend(
        LeftOut(
            station,
            "component",
            f"none of its channels ends with {' or '.join(components or '')}",
        )
        for station in waveforms.stations
        if station not in chosen_stations
    )
    return chosen


def _find_uncovered(channels: Sequence[Channel], seconds: float) -> list[LeftOut]:
    """Channels that start later or end earlier than another by more than some seconds."""
    first = min((channel.segments[0].start for channel in channels), default=0)
    last = max((channel.end for channel in channels), default=0)
    uncovered = []
    for channel in channels:
        late = (channel.segments[0].start - first) / SECOND
        early = (last - channel.end) / SECOND
        if late > seconds:
            what = f"it starts {late:.1f} s after the first channel and is not searched before"
            uncovered.append(LeftOut(channel.id, "starts late", what, timestamp(first)))
        if early > seconds:
            what = f"it ends {early:.1f} s before the last channel and is not searched after"
            uncovered.append(LeftOut(channel.id, "ends early", what, timestamp(channel.end)))
    return uncovered


def _with_unique_ids(events: Iterable[Event]) -> tuple[Event, ...]:
    """Events with unique ids; events that start together get a numbered suffix."""
    by_id: dict[str, Event] = {}
    for event in events:
        key, number = event.id, 2
        while key in by_id:
            key, number = f"{event.id}-{number}", number + 1
        by_id[key] = replace(event, id=key)
    return tuple(by_id.values())


def _build_event(group: tuple[Trigger, ...]) -> Event:
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
        # Time of the first pick, to the microsecond.
        f"ev{first:%Y%m%dT%H%M%S%f}",
        first,
        picks,
        duration=(max(trigger.off for trigger in group) - group[0].on) / SECOND,
        snr=float(np.median(ratios)) if ratios else np.nan,
    )
