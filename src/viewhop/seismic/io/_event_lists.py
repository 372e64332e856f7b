"""Lists of events as CSV: written for people and spreadsheets, and read back."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from viewhop.errors import SeismicError
from viewhop.seismic._event import Event, Pick, events_frame, station_of, time_text, utc
from viewhop.seismic._summary import LeftOut
from viewhop.tables import read_cells, write

__all__ = ["read_list", "write_events"]

#: Columns that may have the label, the first that there is.
_LABELS = ("label", "type", "event_type")
_PICK = "pick "


def write_events(path: str | os.PathLike[str], events: Iterable[Event]) -> None:
    """Write events to a CSV file, a row for each: `read_catalogue` gives them back.

    Parameters
    ----------
    path : path
        Ends with .csv, .tsv or .parquet. It is replaced whole or not at all.
    events : list of Event, or Detections
        The columns are those of `events_frame`, with times in UTC as text.

    Notes
    -----
    Text that a spreadsheet would run as a formula is written behind a quote.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pandas as pd
    >>> from viewhop.seismic.events import Event, Pick
    >>> from viewhop.seismic.io import read_catalogue, write_events
    >>> time = pd.Timestamp("2010-05-27T16:24:33.21", tz="UTC")
    >>> event = Event("a", time, (Pick("BW.UH3..SHZ", time),), label="blast")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "events.csv")
    ...     write_events(path, [event])
    ...     read_catalogue(path).events[0].picks[0].channel
    'BW.UH3..SHZ'
    """
    frame = events_frame(events)
    columns: dict[str, Any] = {}
    for name in frame.columns:
        is_time = name == "time" or name.startswith(_PICK)
        values = list(frame[name])
        columns[name] = [time_text(value) for value in values] if is_time else values
    for name in [name for name in columns if name.split(" ")[0] in ("duration", "ratio", "snr")]:
        columns[name] = np.asarray(columns[name], dtype=np.float64)
    write(path, columns)


def read_list(
    path: str | os.PathLike[str],
    *,
    time: str = "time",
    id: str | None = None,
    label: str | None = None,
) -> tuple[list[Event], list[LeftOut]]:
    """The events of a CSV file, and the rows that could not be used.

    Parameters
    ----------
    path : path
    time : str
        The column of times.
    id, label : str or None
        Columns of ids and of labels. None takes ``id``, else numbers the rows; and ``label``,
        ``type`` or ``event_type``, else none.
    """
    name = os.fspath(path)
    cells = read_cells(path)
    names = [column.strip() for column in cells.header]
    columns = {column: k for k, column in enumerate(names)}
    for column in columns:
        is_read = column in (time, id, label, "id", *_LABELS) or column.startswith(_PICK)
        if is_read and names.count(column) > 1:
            raise SeismicError(f"{name}: two columns are called {column!r}", name)
    for wanted in (time, id, label):
        if wanted is not None and wanted not in columns:
            raise SeismicError(
                f"{name}: it has no column {wanted!r}; it has {', '.join(cells.header)[:200]}", name
            )
    own_id = id or ("id" if "id" in columns else None)
    own_label = label or next((column for column in _LABELS if column in columns), None)
    stations = []
    events: list[Event] = []
    left_out: list[LeftOut] = []
    for column in columns:
        station = column.removeprefix(_PICK)
        if station != column and "." in station:
            stations.append(station)
        elif station != column:
            what = "columns of picks are called 'pick NET.STA', with network and station"
            left_out.append(LeftOut(f"{name}, column {column!r}", "column", what))
    seen: set[str] = set()
    for line, row in zip(cells.lines, cells.rows, strict=True):
        where = f"{name}, line {line}"
        key = row[columns[own_id]].strip() if own_id else f"line{line}"
        try:
            if not key:
                raise ValueError(f"its cell of {own_id!r} is empty")
            if key in seen:
                raise ValueError(f"the id {key!r} stands in an earlier line")
            events.append(
                Event(
                    key,
                    utc(row[columns[time]]),
                    _picks(row, columns, stations),
                    (row[columns[own_label]].strip() or None) if own_label else None,
                    _number(row, columns, "duration"),
                    _number(row, columns, "snr"),
                )
            )
        except ValueError as error:
            left_out.append(LeftOut(where, "row", str(error)))
            continue
        seen.add(key)
    return events, left_out


def _picks(
    row: Sequence[str], columns: dict[str, int], stations: Sequence[str]
) -> tuple[Pick, ...]:
    picks = []
    for station in stations:
        text = row[columns[_PICK + station]].strip()
        if not text:
            continue
        place = columns.get(f"channel {station}")
        channel = (row[place].strip() if place is not None else "") or f"{station}.."
        if station_of(channel) != station:
            raise ValueError(f"its pick of {station} names the channel {channel}")
        numbers = [
            _number(row, columns, f"{name} {station}") for name in ("duration", "ratio", "snr")
        ]
        picks.append(Pick(channel, utc(text), *numbers))
    return tuple(sorted(picks, key=lambda pick: pick.time))


def _number(row: Sequence[str], columns: dict[str, int], name: str) -> float:
    """The number in a column; NaN if there is none."""
    text = row[columns[name]].strip() if name in columns else ""
    try:
        return float(text) if text else np.nan
    except ValueError:
        raise ValueError(f"expected a number in column {name!r}, got {text[:40]!r}") from None
