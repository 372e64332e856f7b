"""Event lists as CSV files: written for people and spreadsheets, and read back."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from viewhop.errors import SeismicError
from viewhop.seismic._event import Event, Pick, events_frame, parse_utc, station_of, time_text
from viewhop.seismic._summary import LeftOut
from viewhop.tables import read_cells, write

__all__ = ["read_event_list", "write_events"]

#: Columns that may hold the label; the first that exists is used.
_LABELS = ("label", "type", "event_type")
_PICK = "pick "


def write_events(path: str | os.PathLike[str], events: Iterable[Event]) -> None:
    """Write events to a CSV file, one row per event; `read_catalogue` reads it back.

    Parameters
    ----------
    path : path
        Ends with .csv, .tsv or .parquet. The file is replaced atomically.
    events : list of Event, or Detections
        The columns are those of `events_frame`, with times in UTC as text.

    Notes
    -----
    Text that a spreadsheet would evaluate as a formula is prefixed with a quote.

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


def read_event_list(
    path: str | os.PathLike[str],
    *,
    time: str = "time",
    id: str | None = None,
    label: str | None = None,
) -> tuple[list[Event], list[LeftOut]]:
    """Events of a CSV file, and the rows that could not be used.

    Parameters
    ----------
    path : path
    time : str
        Column of times.
    id, label : str or None
        Columns of ids and labels. For ``id``, None uses a column of that name or else line numbers;
        for ``label``, None uses ``label``, ``type`` or ``event_type``, or else no label.
    """
    name = os.fspath(path)
    cells = read_cells(path)
    names = [column.strip() for column in cells.header]
    columns = {column: k for k, column in enumerate(names)}
    for column in columns:
        is_read = column in (time, id, label, "id", *_LABELS) or column.startswith(_PICK)
        if is_read and names.count(column) > 1:
            raise SeismicError(f"{name}: two columns are named {column!r}", name)
    for wanted in (time, id, label):
        if wanted is not None and wanted not in columns:
            raise SeismicError(
                f"{name}: no column {wanted!r}; its columns are {', '.join(cells.header)[:200]}",
                name,
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
            what = "expected a pick column named 'pick NET.STA', with network and station"
            left_out.append(LeftOut(f"{name}, column {column!r}", "column", what))
    ids: set[str] = set()
    for line, row in zip(cells.lines, cells.rows, strict=True):
        where = f"{name}, line {line}"
        key = row[columns[own_id]].strip() if own_id else f"line{line}"
        try:
            if not key:
                raise ValueError(f"its cell in column {own_id!r} is empty")
            if key in ids:
                raise ValueError(f"an earlier line has the same id {key!r}")
            events.append(
                Event(
                    key,
                    parse_utc(row[columns[time]]),
                    _read_picks(row, columns, stations),
                    (row[columns[own_label]].strip() or None) if own_label else None,
                    _read_number(row, columns, "duration"),
                    _read_number(row, columns, "snr"),
                )
            )
        except ValueError as error:
            left_out.append(LeftOut(where, "row", str(error)))
            continue
        ids.add(key)
    return events, left_out


def _read_picks(
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
            raise ValueError(f"its pick at {station} refers to channel {channel}")
        numbers = [
            _read_number(row, columns, f"{name} {station}") for name in ("duration", "ratio", "snr")
        ]
        picks.append(Pick(channel, parse_utc(text), *numbers))
    return tuple(sorted(picks, key=lambda pick: pick.time))


def _read_number(row: Sequence[str], columns: dict[str, int], name: str) -> float:
    """Number in a column; NaN if the cell is empty or the column is missing."""
    text = row[columns[name]].strip() if name in columns else ""
    try:
        return float(text) if text else np.nan
    except ValueError:
        raise ValueError(f"expected a number in column {name!r}, got {text[:40]!r}") from None
