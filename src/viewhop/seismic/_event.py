"""Events and their picks: when an event happened and when each station recorded it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from viewhop.seismic._summary import stamp

__all__ = ["Event", "Pick", "events_frame", "parse_utc", "station_of", "time_text"]

_TIME = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?"
)


@dataclass(frozen=True)
class Pick:
    """When an event arrived at a station.

    Attributes
    ----------
    channel : str
        The picked trace, ``NET.STA.LOC.CHA``.
    time : Timestamp
        In UTC.
    duration : float
        Seconds until the trigger switched off; NaN without a trigger.
    ratio : float
        Largest STA/LTA while the trigger is on.
    snr : float
        Root mean square of the trace while the trigger is on, divided by that of the noise before.
    """

    channel: str
    time: pd.Timestamp
    duration: float = np.nan
    ratio: float = np.nan
    snr: float = np.nan

    @property
    def station(self) -> str:
        """Network and station, ``NET.STA``."""
        return station_of(self.channel)


@dataclass(frozen=True)
class Event:
    """An event, detected or from a catalogue.

    Attributes
    ----------
    id : str
    time : Timestamp
        In UTC: the first pick of a detection, the origin time in a catalogue.
    picks : tuple of Pick
        One for each station that recorded the event, earliest first.
    label : str or None
        Its class, if known.
    duration : float
        Seconds from the first trigger until the last one switched off; NaN if unknown.
    snr : float
        Median signal-to-noise ratio of the picks.

    Examples
    --------
    >>> import pandas as pd
    >>> from viewhop.seismic.events import Event, Pick
    >>> time = pd.Timestamp("2010-05-27T16:24:33.21", tz="UTC")
    >>> event = Event("a", time, (Pick("BW.UH3..SHZ", time),), label="earthquake")
    >>> event.stations
    ('BW.UH3',)
    """

    id: str
    time: pd.Timestamp
    picks: tuple[Pick, ...] = ()
    label: str | None = None
    duration: float = np.nan
    snr: float = np.nan

    @property
    def stations(self) -> tuple[str, ...]:
        """Stations that recorded the event."""
        return tuple(pick.station for pick in self.picks)


def events_frame(events: Iterable[Event]) -> Any:
    """DataFrame with one row per event and one group of columns per station.

    Parameters
    ----------
    events : list of Event

    Returns
    -------
    DataFrame
        ``id``, ``time`` (UTC), ``label``, ``duration``, ``snr``, ``stations``; then, for each
        station with at least one pick, ``pick NET.STA`` (UTC) and ``channel``, ``duration``,
        ``ratio`` and ``snr``, each followed by ``NET.STA``.
    """
    rows = list(events)
    columns: dict[str, Any] = {
        "id": pd.Series([event.id for event in rows], dtype=object),
        "time": _times(event.time for event in rows),
        "label": pd.Series([event.label for event in rows], dtype=object),
        "duration": [event.duration for event in rows],
        "snr": [event.snr for event in rows],
        "stations": pd.Series([" ".join(event.stations) for event in rows], dtype=object),
    }
    for station in sorted({station for event in rows for station in event.stations}):
        picks = [
            next((pick for pick in event.picks if pick.station == station), None) for event in rows
        ]
        columns[f"pick {station}"] = _times(pick.time if pick else pd.NaT for pick in picks)
        columns[f"channel {station}"] = pd.Series(
            [pick.channel if pick else None for pick in picks], dtype=object
        )
        for name in ("duration", "ratio", "snr"):
            columns[f"{name} {station}"] = [
                getattr(pick, name) if pick else np.nan for pick in picks
            ]
    return pd.DataFrame(columns)


def _times(times: Iterable[Any]) -> Any:
    return pd.Series(list(times), dtype="datetime64[ns, UTC]")


def station_of(channel: str) -> str:
    """Network and station of a trace, ``NET.STA``; a station name may contain a dot."""
    parts = channel.split(".")
    return ".".join(parts[:-2] if len(parts) > 4 else parts[:2])


def parse_utc(text: str) -> pd.Timestamp:
    """Timestamp in UTC parsed from ISO text, which is in UTC unless it has an offset.

    Parameters
    ----------
    text : str
        ``2010-05-27T16:24:33.21Z``, or a shorter prefix of that form.

    Raises
    ------
    ValueError
        If the text has another form; pandas alone would also accept "now".
    """
    if not _TIME.fullmatch(text.strip()):
        raise ValueError(f"expected a time like 2010-05-27T16:24:33.21Z, got {text[:40]!r}")
    time = pd.Timestamp(text.strip())
    time = time.tz_localize("UTC") if time.tzinfo is None else time.tz_convert("UTC")
    return time.as_unit("ns")


def time_text(time: Any) -> str:
    """Text of a time as written to files; empty for NaT."""
    return "" if time is pd.NaT else stamp(time)
