"""Catalogues of known events with their labels."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from viewhop.errors import SeismicError, TableError
from viewhop.seismic._event import Event, events_frame
from viewhop.seismic._summary import Summary
from viewhop.seismic.io._event_lists import read_event_list
from viewhop.seismic.io._quakeml import is_xml, quakeml_events

__all__ = ["Catalogue", "read_catalogue"]

#: Largest catalogue that is read, in bytes.
_LARGEST = 1 << 28


@dataclass(frozen=True)
class Catalogue(Sequence[Event]):
    """Events of a catalogue in file order, as a sequence with a summary.

    Attributes
    ----------
    events : tuple of Event
    summary : Summary
        Counts events. It lists the rows or events that could not be used.
    """

    events: tuple[Event, ...]
    summary: Summary

    def to_frame(self) -> Any:
        """DataFrame with one row per event; see `events_frame`."""
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
    r"""Events of a QuakeML or CSV file.

    Parameters
    ----------
    path : path
        A file that starts with XML is read as QuakeML, any other as CSV, TSV or similar.
    time, id, label : str or None
        Columns of a CSV file. For ``id``, None uses a column of that name or else line numbers; for
        ``label``, None uses ``label``, ``type`` or ``event_type``, or else no label. Times are ISO
        text, in UTC unless they have an offset. Columns ``pick NET.STA``, as written by
        `write_events`, hold picks.

    Returns
    -------
    Catalogue
        In QuakeML, the label is the event type ("not reported" means no label) and the time that of
        the preferred origin. The pick of a station is its earliest one that is not rejected and is
        marked as P or has no phase. Stations with other picks only, and events marked "not
        existing", are left out.

    Raises
    ------
    SeismicError
        If the file cannot be read or has no usable event.
    ImportError
        If the file is QuakeML and obspy is not installed.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from viewhop.seismic.io import read_catalogue
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "catalogue.csv")
    ...     size = path.write_text("id,time,type\nq1,2010-05-27T16:24:33Z,blast\nq2,soon,blast\n")
    ...     catalogue = read_catalogue(path)
    >>> catalogue[0].label, str(catalogue.summary)
    ('blast', '1 event; left out 1: 1 row')
    """
    name = os.fspath(path)
    try:
        if _is_xml_file(name):
            events, left_out = quakeml_events(name, Path(name).read_bytes())
        else:
            events, left_out = read_event_list(path, time=time, id=id, label=label)
    except (SeismicError, TableError) as error:
        raise SeismicError(str(error), name) from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SeismicError(f"{name}: {reason}", name) from error
    if not events:
        reason = f": {left_out[0]}" if left_out else ""
        raise SeismicError(
            f"{name}: the catalogue has no usable event{reason}", name, tuple(left_out)
        )
    return Catalogue(tuple(events), Summary(len(events), "events", tuple(left_out)))


def _is_xml_file(name: str) -> bool:
    if "://" in name:
        raise ValueError("it is a URL; download it and pass the file")
    path = Path(name)
    if path.is_file() and path.stat().st_size > _LARGEST:
        raise ValueError(f"it is larger than {_LARGEST:,} bytes; split it")
    with path.open("rb") as file:
        return is_xml(file.read(200))
