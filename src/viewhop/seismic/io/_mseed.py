"""Reading of miniSEED files with damaged records: the intact records are kept."""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass, field
from typing import Any

from viewhop.seismic._obspy import obspy_module
from viewhop.seismic.io._records import (
    Span,
    most_records,
    sample_encoding,
    scan_records,
    trace_and_time,
)

__all__ = ["concerns_file", "read_mseed"]

#: libmseed's warnings about records with inconsistent samples and about skipped bytes. They are
#: replaced by one message per damaged span of the file.
_WRONG = ("integrity check", "Not a SEED record", "Last record only has", "Unexpected end of file")
#: Maximum number of damaged spans; a file with more is not miniSEED.
_MOST = 1000


def read_mseed(data: bytes) -> tuple[list[Any], list[str]]:
    """Traces of a miniSEED file, and messages about the records left out.

    Parameters
    ----------
    data : bytes

    Raises
    ------
    ValueError
        If no record can be read, or too many are damaged.

    Notes
    -----
    With a damaged record, obspy reads either the whole file or nothing; it only warns about wrong
    samples, and it misses a record that claims bytes of the next one. Here records are located by
    their headers, and the file is bisected until the unreadable ones are isolated.
    """
    failure: Exception | None = None
    try:
        traces, messages = _read(data)
    except Exception as error:  # a damaged file may raise any exception in obspy
        # Its traceback would hold copies of the file.
        traces, messages, failure = [], [], error.with_traceback(None)
    others = [text for text in messages if not _is_damage_warning(text)]
    is_sound = failure is None and others == messages
    if is_sound and most_records(data) <= _number_of_records(traces):
        return traces, messages
    spans = list(scan_records(data))
    if is_sound and not any(span.fault for span in spans):
        return traces, messages
    reader = _RecordReader(data, spans)
    reader.read(0, len(spans))
    problems = reader.problems()
    if not reader.traces:
        if not any(span.has_header for span in spans):
            raise ValueError("it contains no miniSEED record") from failure
        raise ValueError(f"none of its records can be read: {problems[0]}") from failure
    # obspy's other messages give positions in the data passed to it; prefer those of the file.
    remarks = reader.others if failure else others
    return reader.traces, problems + list(dict.fromkeys(remarks))


@dataclass
class _Damage:
    """Adjacent unreadable spans of a file, of one trace or without a header."""

    begin: int
    end: int
    whys: list[str]
    trace: str
    first: str
    last: str

    def absorb(self, span: Span, why: str, trace: str, time: str) -> bool:
        """Add a span if it continues this damage; return whether it was added."""
        if self.end != span.begin or trace not in ("", self.trace):
            return False
        self.end = span.end
        self.last = time or self.last
        # At most two reasons are reported: thousands of records may each have one.
        if len(self.whys) < 2 and why not in self.whys:
            self.whys.append(why)
        return True

    def line(self, size: int, length: int | None) -> str:
        """Message for a file of `size` bytes; `length` is that of its records, if unique."""
        parts = []
        if length and self.begin % length == 0 and (self.end % length == 0 or self.end == size):
            first, last = self.begin // length + 1, -(-self.end // length)
            parts.append(f"record {first:,}" if first == last else f"records {first:,} to {last:,}")
        parts.append(f"bytes {self.begin:,} to {self.end - 1:,}")
        if self.trace:
            until = f" to {self.last}" if self.last != self.first else ""
            parts.append(f"{self.trace} at {self.first}{until}")
        return f"{', '.join(parts)}: {'; '.join(self.whys)}"


@dataclass
class _RecordReader:
    """Records read from a file so far, and the damaged spans."""

    data: bytes
    spans: list[Span]
    traces: list[Any] = field(default_factory=list)
    lengths: set[int] = field(default_factory=set)
    others: list[str] = field(default_factory=list)
    damaged: list[_Damage] = field(default_factory=list)

    def read(self, first: int, last: int) -> None:
        """Read the spans from `first` up to `last`, bisecting if some cannot be read."""
        spans = self.spans[first:last]
        sound = [span for span in spans if not span.fault]
        why = ""
        if sound and not self._try_read(sound):
            if last - first > 1:
                middle = (first + last) // 2
                self.read(first, middle)
                self.read(middle, last)
                return
            why = self._why(spans[0])
        for span in spans:
            if span.fault or why:
                self._leave_out(span, span.fault or why)

    def _try_read(self, records: list[Span]) -> bool:
        """Read these records if all of them are intact; return whether they were read."""
        try:
            traces, messages = _read(b"".join(self.data[part.begin : part.end] for part in records))
        except Exception:  # as above; bisection isolates the damaged record
            return False
        if any(map(_is_damage_warning, messages)):
            return False
        self.traces.extend(traces)
        self.lengths.update(part.end - part.begin for part in records)
        self.others.extend(messages)
        return True

    def _why(self, span: Span) -> str:
        """Reason why a record with a valid header cannot be read."""
        encoding = sample_encoding(self.data, span.begin)
        encodings = obspy_module("obspy.io.mseed.headers").ENCODINGS
        if encoding is not None and encoding not in encodings:
            return f"unsupported sample encoding {encoding}"
        return "damaged samples"

    def _leave_out(self, span: Span, why: str) -> None:
        trace, time = trace_and_time(self.data, span.begin) if span.has_header else ("", "")
        if self.damaged and self.damaged[-1].absorb(span, why, trace, time):
            return
        self.damaged.append(_Damage(span.begin, span.end, [why], trace, time, time))
        if len(self.damaged) > _MOST:
            raise ValueError(f"it is damaged in more than {_MOST:,} places")

    def problems(self) -> list[str]:
        """One message per damaged span."""
        length = next(iter(self.lengths)) if len(self.lengths) == 1 else None
        return [damage.line(len(self.data), length) for damage in self.damaged]


def _read(data: bytes) -> tuple[list[Any], list[str]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        stream = obspy_module().read(io.BytesIO(data), format="MSEED", check_compression=False)
    return list(stream), [str(warning.message) for warning in caught if concerns_file(warning)]


def _is_damage_warning(text: str) -> bool:
    return any(mark in text for mark in _WRONG)


def _number_of_records(traces: list[Any]) -> int:
    return sum(int(trace.stats.mseed.number_of_records) for trace in traces)


def concerns_file(warning: warnings.WarningMessage) -> bool:
    """Whether a warning concerns the file rather than the code that reads it."""
    return not issubclass(
        warning.category, DeprecationWarning | PendingDeprecationWarning | FutureWarning
    )
