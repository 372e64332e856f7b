"""QuakeML catalogues: XML from untrusted sources."""

from __future__ import annotations

import codecs
import io
import re
import warnings
from typing import Any

import pandas as pd

from viewhop.seismic._channels import timestamp
from viewhop.seismic._event import Event, Pick
from viewhop.seismic._obspy import obspy_module
from viewhop.seismic._summary import LeftOut

__all__ = ["is_xml", "quakeml_events"]

_DECLARATION = re.compile(r"\s*<\?xml(?:[^>]*?encoding\s*=\s*[\"']([A-Za-z0-9._-]+)[\"'])?[^>]*\?>")
#: Supported encodings. In others, such as UTF-7, a parser may see declarations that are not
#: detected here.
_ENCODINGS = {"utf-8", "ascii", "iso8859-1", "utf-16"}
#: Event types that mean that the type is unknown.
_UNKNOWN = ("not reported",)
_BOMS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def is_xml(data: bytes) -> bool:
    """Whether a file starts like XML."""
    return _text(data[:200], errors="ignore").lstrip().startswith("<")


def quakeml_events(name: str, data: bytes) -> tuple[list[Event], list[LeftOut]]:
    """Events of a QuakeML file, and those that could not be used.

    Parameters
    ----------
    name : str
        Name of the file.
    data : bytes

    Raises
    ------
    ValueError
        If the file is not QuakeML, or declares a document type.

    Notes
    -----
    Entities, which may refer to other files or expand without bound, need such a declaration;
    QuakeML does not. The parser gets the text as UTF-8 without its encoding line, so that it
    cannot see a declaration that was not detected here.
    """
    try:
        text = _text(data)
    except UnicodeDecodeError as error:
        raise ValueError(f"byte {error.start} is invalid in its encoding") from error
    declared = _DECLARATION.match(text)
    text = text[declared.end() :] if declared else text
    if "\0" in text or text.lstrip().startswith("<?xml"):
        raise ValueError("it is not XML in a supported encoding; save it as UTF-8")
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise ValueError("it declares a document type or entities, which are not supported")
    with warnings.catch_warnings():
        # obspy warns about anything unknown in an event; the fields in use are checked below.
        warnings.simplefilter("ignore")
        try:
            items = obspy_module().read_events(io.BytesIO(text.encode()), format="QUAKEML")
        except Exception as error:  # lxml's and obspy's own
            reason = " ".join(str(error).split())[:200]
            raise ValueError(f"it cannot be read as QuakeML: {reason}") from error
    events: list[Event] = []
    left_out: list[LeftOut] = []
    ids: set[str] = set()
    for number, item in enumerate(items, start=1):
        key = str(getattr(item.resource_id, "id", "") or f"event{number}")
        try:
            if key in ids:
                raise ValueError("an earlier event has the same id")
            event, others = _event(key, item)
        except (ValueError, OverflowError) as error:
            left_out.append(LeftOut(f"{name}, event {number} ({key})", "event", str(error)))
            continue
        events.append(event)
        left_out.extend(others)
        ids.add(key)
    return events, left_out


def _text(data: bytes, errors: str = "strict") -> str:
    for mark, encoding in _BOMS.items():
        if data.startswith(mark):
            return data.decode(encoding, errors)
    declared = _DECLARATION.match(data[:200].decode("latin-1"))
    encoding = (declared and declared.group(1)) or "utf-8"
    try:
        codec = codecs.lookup(encoding).name
    except LookupError:
        codec = ""
    if codec not in _ENCODINGS:
        raise ValueError(f"its encoding {encoding} is not supported; save it as UTF-8")
    return data.decode(codec, errors)


def _event(key: str, item: Any) -> tuple[Event, list[LeftOut]]:
    """The event, and the stations without a usable pick."""
    if item.event_type == "not existing":
        raise ValueError("its type is 'not existing': it was withdrawn")
    origin = item.preferred_origin() or (item.origins[0] if item.origins else None)
    if origin is None:
        raise ValueError("it has no origin time")
    if origin.time is None:
        raise ValueError("its origin time is missing or unreadable")
    first: dict[str, Pick] = {}
    others: dict[str, str] = {}
    for pick in item.picks:
        source = pick.waveform_id
        if source is None or pick.time is None or not source.station_code:
            continue
        parts = (
            source.network_code,
            source.station_code,
            source.location_code,
            source.channel_code,
        )
        own = Pick(".".join(part or "" for part in parts), _time(pick.time))
        if pick.evaluation_status == "rejected":
            others.setdefault(own.station, "its pick was rejected")
        elif pick.phase_hint and not pick.phase_hint.upper().startswith("P"):
            others.setdefault(own.station, f"its pick is {pick.phase_hint}, not P")
        elif own.station not in first or own.time < first[own.station].time:
            first[own.station] = own
    picks = tuple(sorted(first.values(), key=lambda pick: pick.time))
    time = _time(origin.time)
    left_out = [
        LeftOut(station, "no P pick", why, time, key)
        for station, why in others.items()
        if station not in first
    ]
    is_known = item.event_type and item.event_type not in _UNKNOWN
    return Event(key, time, picks, str(item.event_type) if is_known else None), left_out


def _time(time: Any) -> pd.Timestamp:
    return timestamp(int(time.ns))
