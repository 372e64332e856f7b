"""Catalogues: known events, with their labels."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from viewhop.errors import SeismicError, TableError
from viewhop.seismic._event import Event, events_frame
from viewhop.seismic._summary import Summary
from viewhop.seismic.io._event_lists import read_list
from viewhop.seismic.io._quakeml import is_xml, quakeml_events

__all__ = ["Catalogue", "read_catalogue"]

#: Largest catalogue that is read, in bytes.
_LARGEST = 1 << 28


@dataclass(frozen=True)
class Catalogue(Sequence[Event]):
    """Events of a catalogue, in its order: a list of them, with a summary.

    Attributes
    ----------
    events : tuple of Event
    summary : Summary
        Counts events. It has the rows, or the events, that could not be used.
    """

    events: tuple[Event, ...]
    summary: Summary

    def to_frame(self) -> Any:
        """A DataFrame with a row for each event; see `events_frame`."""
        return events_frame(self.events)

    def __len__(self) -> int:
        return len(self.events)

    def __getitem__(self, key: Any) -> Any:
        return self.events[key]

    def __iter__(self) -> Iterator[Event]:
        return iter(self.events)


def read_catalogue(
    path: str | os.PathLike[str],
    *,
    time: str = "time",
    id: str | None = None,
    label: str | None = None,
) -> Catalogue:
    r"""The events of a QuakeML or CSV file.

    Parameters
    ----------
    path : path
        What begins as XML does is QuakeML; all else is CSV, TSV, or the like.
    time, id, label : str or None
        Columns of a CSV file. None takes ``id``, else numbers the lines; and ``label``, ``type`` or
        ``event_type``, else no label. Times are ISO text, in UTC unless they have an offset.
        Columns ``pick NET.STA``, as `write_events` writes them, are picks.

    Returns
    -------
    Catalogue
        Of QuakeML, the label is the type of the event ("not reported" is none), the time that of
        its preferred origin, and the pick of a station its earliest that is of P, or of no phase
        in particular, and was not rejected. A station with other picks only is left out, and so
        is an event "not existing".

    Raises
    ------
    SeismicError
        If the file cannot be read, or has no event that can be used.
    ImportError
        If it is QuakeML, and obspy is not installed.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from viewhop.seismic.io import read_catalogue
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "catalogue.csv")
    ...     size = path.write_text("id,time,type\nq1,2010-05-27T16:24:33Z,blast\nq2,soon,blast\n")
    ...     known = read_catalogue(path)
    >>> known[0].label, str(known.summary)
    ('blast', '1 event; left out 1: 1 row')
    """
    name = os.fspath(path)
    try:
        if _is_xml_file(name):
            events, left_out = quakeml_events(name, Path(name).read_bytes())
        else:
            events, left_out = read_list(path, time=time, id=id, label=label)
    except (SeismicError, TableError) as error:
        raise SeismicError(str(error), name) from error
    except (OSError, ValueError) as error:
        told = getattr(error, "strerror", None) or str(error)
        raise SeismicError(f"{name}: {told}", name) from error
    if not events:
        told = f": {left_out[0]}" if left_out else ""
        raise SeismicError(f"{name}: the catalogue has no event{told}", name, tuple(left_out))
    return Catalogue(tuple(events), Summary(len(events), "events", tuple(left_out)))


def _is_xml_file(name: str) -> bool:
    if "://" in name:
        raise ValueError("it is a URL, and nothing is downloaded; give a file")
    path = Path(name)
    if path.is_file() and path.stat().st_size > _LARGEST:
        raise ValueError(f"it has more than {_LARGEST:,} bytes; cut it")
    with path.open("rb") as file:
        return is_xml(file.read(200))
