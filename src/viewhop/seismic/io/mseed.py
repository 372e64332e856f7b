"""miniSEED files with damaged records: the sound ones are read."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from typing import Any

from viewhop.seismic.library import obspy_module

__all__ = ["read_mseed"]

#: What libmseed says of a record whose samples do not end where its header says.
_WRONG = "integrity check"
#: Damaged records after which a file is given up: it is no miniSEED.
_MOST = 1000


def read_mseed(data: bytes) -> tuple[list[Any], list[str]]:
    """The traces of a miniSEED file, and what is wrong with the records that were left out.

    Parameters
    ----------
    data : bytes

    Raises
    ------
    Exception
        obspy's own, if no record can be read.

    Notes
    -----
    obspy reads a file whole or not at all when the samples of one record are damaged, and it
    only warns when they are wrong. Here the file is halved, at the bounds of records, until those
    are found.
    """
    try:
        stream, told = _read(data)
        if not any(_WRONG in text for text in told):
            return list(stream), told
        failure: Exception = ValueError(told[0])
    except Exception as error:  # of any kind
        failure = error
    length = _record_length(data)
    if length is None or len(data) <= length:
        raise failure
    traces: list[Any] = []
    problems: list[str] = []
    _halved(data, length, 0, -(-len(data) // length), traces, problems)
    if not traces:
        raise failure
    return traces, problems


def _halved(
    data: bytes, length: int, first: int, last: int, traces: list[Any], problems: list[str]
) -> None:
    """Read records from `first` up to `last`, in halves if some of them are damaged."""
    try:
        stream, told = _read(data[first * length : last * length])
        wrong = next((text for text in told if _WRONG in text), None)
        if wrong is None:
            traces.extend(stream)
            problems.extend(told)
            return
    except Exception as error:  # of any kind
        wrong = str(error) or type(error).__name__
    if last - first == 1:
        end = min(last * length, len(data)) - 1
        problems.append(f"record {last}, bytes {first * length:,} to {end:,}: {wrong}")
        if len(problems) > _MOST:
            raise ValueError(f"more than {_MOST:,} records are damaged")
        return
    middle = (first + last) // 2
    _halved(data, length, first, middle, traces, problems)
    _halved(data, length, middle, last, traces, problems)


def _read(data: bytes) -> tuple[Any, list[str]]:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        stream = obspy_module().read(io.BytesIO(data), format="MSEED", check_compression=False)
    return stream, [str(warning.message) for warning in told if is_of_file(warning)]


def _record_length(data: bytes) -> int | None:
    information: Callable[..., Any] = obspy_module("obspy.io.mseed.util").get_record_information
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            length = int(information(io.BytesIO(data))["record_length"])
    except Exception:  # the first record itself is damaged
        return None
    return length if length >= 64 else None


def is_of_file(warning: warnings.WarningMessage) -> bool:
    """Whether a warning is of the file, not of the code that reads it."""
    return not issubclass(
        warning.category, DeprecationWarning | PendingDeprecationWarning | FutureWarning
    )
