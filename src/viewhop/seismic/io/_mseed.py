"""miniSEED files with damaged records: the sound ones are read."""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass, field
from typing import Any

from viewhop.seismic._obspy import obspy_module
from viewhop.seismic.io._records import Span, encoding_of, most_records, scanned, trace_and_time

__all__ = ["is_of_file", "read_mseed"]

#: What libmseed says of a record whose samples do not end where its header says, and of bytes that
#: it skips: here it is said again, for each damaged span of the file once.
_WRONG = ("integrity check", "Not a SEED record", "Last record only has", "Unexpected end of file")
#: Damaged spans after which a file is given up: it is no miniSEED.
_MOST = 1000


def read_mseed(data: bytes) -> tuple[list[Any], list[str]]:
    """The traces of a miniSEED file, and what is wrong with the records that were left out.

    Parameters
    ----------
    data : bytes

    Raises
    ------
    ValueError
        If no record can be read, or too many cannot.

    Notes
    -----
    obspy reads a file whole or not at all when the samples of one record are damaged, it only
    warns when they are wrong, and does not notice when a record claims the bytes of the next. Here
    records are found by their headers, and halved until those that cannot be read are found.
    """
    failure: Exception | None = None
    try:
        traces, told = _read(data)
    except Exception as error:  # of any kind: a damaged file raises anything in obspy
        # Its traceback would hold copies of the file.
        traces, told, failure = [], [], error.with_traceback(None)
    others = [text for text in told if not _is_wrong(text)]
    is_sound = failure is None and others == told
    if is_sound and most_records(data) <= _number_of_records(traces):
        return traces, told
    spans = list(scanned(data))
    if is_sound and not any(span.fault for span in spans):
        return traces, told
    found = _Found(data, spans)
    found.read(0, len(spans))
    problems = found.problems()
    if not found.traces:
        if not any(span.has_header for span in spans):
            raise ValueError("no record of miniSEED is in it") from failure
        raise ValueError(f"none of its records can be read: {problems[0]}") from failure
    # obspy's other remarks name places in what it was given; those of the whole file are right.
    remarks = found.others if failure else others
    return found.traces, problems + list(dict.fromkeys(remarks))


@dataclass
class _Damage:
    """Adjacent spans of a file that cannot be read: those of one trace, or without header."""

    begin: int
    end: int
    whys: list[str]
    trace: str
    first: str
    last: str

    def take(self, span: Span, why: str, trace: str, time: str) -> bool:
        """Whether a span belongs to these, which it then does."""
        if self.end != span.begin or trace not in ("", self.trace):
            return False
        self.end = span.end
        self.last = time or self.last
        # Two reasons are told at most: thousands of records may each have one.
        if len(self.whys) < 2 and why not in self.whys:
            self.whys.append(why)
        return True

    def line(self, size: int, length: int | None) -> str:
        """What is wrong, in a file of `size` bytes whose records have a length, or several."""
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
class _Found:
    """What was read of a file, from its beginning on."""

    data: bytes
    spans: list[Span]
    traces: list[Any] = field(default_factory=list)
    lengths: set[int] = field(default_factory=set)
    others: list[str] = field(default_factory=list)
    damaged: list[_Damage] = field(default_factory=list)

    def read(self, first: int, last: int) -> None:
        """Read the spans from `first` up to `last`, in halves if some cannot be read."""
        spans = self.spans[first:last]
        sound = [span for span in spans if not span.fault]
        why = ""
        if sound and not self._took(sound):
            if last - first > 1:
                middle = (first + last) // 2
                self.read(first, middle)
                self.read(middle, last)
                return
            why = self._why(spans[0])
        for span in spans:
            if span.fault or why:
                self._leave_out(span, span.fault or why)

    def _took(self, records: list[Span]) -> bool:
        """Whether all of these records could be read, which then are."""
        try:
            traces, told = _read(b"".join(self.data[part.begin : part.end] for part in records))
        except Exception:  # as above: the records are halved until the damaged one is alone
            return False
        if any(map(_is_wrong, told)):
            return False
        self.traces.extend(traces)
        self.lengths.update(part.end - part.begin for part in records)
        self.others.extend(told)
        return True

    def _why(self, span: Span) -> str:
        """Why a record with a valid header cannot be read."""
        encoding = encoding_of(self.data, span.begin)
        known = obspy_module("obspy.io.mseed.headers").ENCODINGS
        if encoding is not None and encoding not in known:
            return f"samples in encoding {encoding}, which is not read"
        return "damaged samples"

    def _leave_out(self, span: Span, why: str) -> None:
        trace, time = trace_and_time(self.data, span.begin) if span.has_header else ("", "")
        if self.damaged and self.damaged[-1].take(span, why, trace, time):
            return
        self.damaged.append(_Damage(span.begin, span.end, [why], trace, time, time))
        if len(self.damaged) > _MOST:
            raise ValueError(f"it is damaged in more than {_MOST:,} places")

    def problems(self) -> list[str]:
        """What is wrong with the records that were left out, a line for each damaged place."""
        length = next(iter(self.lengths)) if len(self.lengths) == 1 else None
        return [damage.line(len(self.data), length) for damage in self.damaged]


def _read(data: bytes) -> tuple[list[Any], list[str]]:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        stream = obspy_module().read(io.BytesIO(data), format="MSEED", check_compression=False)
    return list(stream), [str(warning.message) for warning in told if is_of_file(warning)]


def _is_wrong(text: str) -> bool:
    return any(mark in text for mark in _WRONG)


def _number_of_records(traces: list[Any]) -> int:
    return sum(int(trace.stats.mseed.number_of_records) for trace in traces)


def is_of_file(warning: warnings.WarningMessage) -> bool:
    """Whether a warning is of the file, not of the code that reads it."""
    return not issubclass(
        warning.category, DeprecationWarning | PendingDeprecationWarning | FutureWarning
    )
