"""What an event is: its time, and when each station saw it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from viewhop.seismic._summary import stamp

__all__ = ["Event", "Pick", "events_frame", "utc"]

_TIME = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?"
)


@dataclass(frozen=True)
class Pick:
    """When an event arrived at a station.

    Attributes
    ----------
    channel : str
        The trace that was picked, ``NET.STA.LOC.CHA``.
    time : Timestamp
        In UTC.
    duration : float
        Seconds until the trigger went off; NaN where there was none.
    ratio : float
        Largest value of STA/LTA meanwhile.
    snr : float
        Root mean square of the trace meanwhile, over that of the noise before.
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
        In UTC: of a detection, the first pick; of a catalogue, the origin.
    picks : tuple of Pick
        One for each station that saw it, the earliest first.
    label : str or None
        What it was, where that is known.
    duration : float
        Seconds from the first trigger to the last that went off; NaN if it is not known.
    snr : float
        Median of the picks' ratios of signal to noise.

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
        """The stations that saw it."""
        return tuple(pick.station for pick in self.picks)


def events_frame(events: Iterable[Event]) -> Any:
    """A DataFrame with a row for each event, and the pick of each station in columns.

    Parameters
    ----------
    events : list of Event

    Returns
    -------
    DataFrame
        ``id``, ``time`` (UTC), ``label``, ``duration``, ``snr``, ``stations``; then, for each
        station that any event has, ``pick NET.STA`` (UTC), ``channel``, ``duration``, ``ratio`` and
        ``snr`` of the same.
    """
    given = list(events)
    columns: dict[str, Any] = {
        "id": pd.Series([event.id for event in given], dtype=object),
        "time": _times(event.time for event in given),
        "label": pd.Series([event.label for event in given], dtype=object),
        "duration": [event.duration for event in given],
        "snr": [event.snr for event in given],
        "stations": pd.Series([" ".join(event.stations) for event in given], dtype=object),
    }
    for station in sorted({station for event in given for station in event.stations}):
        picks = [
            next((pick for pick in event.picks if pick.station == station), None) for event in given
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
    """Network and station of a trace, ``NET.STA``; a station may have a point in its name."""
    parts = channel.split(".")
    return ".".join(parts[:-2] if len(parts) > 4 else parts[:2])


def utc(text: str) -> pd.Timestamp:
    """A time in UTC from ISO text, which is in UTC unless it has an offset.

    Parameters
    ----------
    text : str
        ``2010-05-27T16:24:33.21Z``, or less of it from the right.

    Raises
    ------
    ValueError
        If it is no such text: pandas alone would also take "now".
    """
    if not _TIME.fullmatch(text.strip()):
        raise ValueError(f"expected a time like 2010-05-27T16:24:33.21Z, got {text[:40]!r}")
    time = pd.Timestamp(text.strip())
    time = time.tz_localize("UTC") if time.tzinfo is None else time.tz_convert("UTC")
    return time.as_unit("ns")


def time_text(time: Any) -> str:
    """A time as it stands in a file; nothing for none."""
    return "" if time is pd.NaT else stamp(time)
