"""Waveforms: what several channels recorded, and what of the input could not be used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from viewhop.errors import SeismicError
from viewhop.seismic._assembly import assembled
from viewhop.seismic._channels import Channel, nanoseconds
from viewhop.seismic._summary import Summary
from viewhop.seismic._traces import Piece, pieces_of

__all__ = ["Waveforms", "as_waveforms", "check_any"]


@dataclass(frozen=True, eq=False)
class Waveforms:
    """What several channels recorded, and what of the input could not be used.

    Attributes
    ----------
    channels : dict of Channel by id
    summary : Summary
        Counts traces.

    Notes
    -----
    Pieces of one channel are joined where they touch or overlap, on the grid of the earliest: none
    is moved by more than half a sample. Where two of them have different values for the same time,
    neither is believed. Such samples, and those that are no number, are gaps. Nothing is filled in.
    Pieces with different sampling rates are kept apart.

    Examples
    --------
    >>> import numpy as np
    >>> from viewhop.seismic.io import Waveforms
    >>> noise = np.random.default_rng(0).normal(size=(2, 4000))
    >>> waveforms = Waveforms.from_arrays(
    ...     {"IS.MMLI..BHZ": noise[0], "IS.HRFI..BHZ": noise[1]},
    ...     start="2010-05-27T16:24:00Z",
    ...     sampling_rate=40.0,
    ... )
    >>> waveforms
    Waveforms(2 channels of 2 stations, 100.0 s each at most)
    """

    channels: Mapping[str, Channel]
    summary: Summary = field(default_factory=lambda: Summary(0, "traces"))

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, ArrayLike], *, start: Any, sampling_rate: float
    ) -> Waveforms:
        """Waveforms of arrays that begin together.

        Parameters
        ----------
        arrays : dict of (n_samples,) arrays by channel
            Named ``NET.STA.LOC.CHA``. NaN is a gap.
        start : str, datetime, Timestamp or UTCDateTime
            In UTC unless it has an offset.
        sampling_rate : float
            In Hz.
        """
        begin = nanoseconds(start)
        pieces = [
            (name, begin, sampling_rate, np.asarray(data, dtype=np.float64))
            for name, data in arrays.items()
        ]
        return cls._of(pieces)

    @classmethod
    def from_stream(cls, stream: Iterable[Any]) -> Waveforms:
        """Waveforms of an obspy Stream, or of a list of Traces.

        Parameters
        ----------
        stream : Stream
            It is not changed. Masked samples are gaps.
        """
        return cls._of(pieces_of(stream))

    @classmethod
    def _of(cls, pieces: Iterable[Piece]) -> Waveforms:
        channels, left_out = assembled(pieces)
        return cls(channels, Summary(len(channels), "traces", tuple(left_out)))

    @property
    def stations(self) -> tuple[str, ...]:
        """Stations, ``NET.STA``, in the order of their channels."""
        return tuple(dict.fromkeys(channel.station for channel in self.channels.values()))

    def __repr__(self) -> str:
        longest = max(
            (
                sum(piece.data.size / piece.sampling_rate for piece in channel.segments)
                for channel in self.channels.values()
            ),
            default=0.0,
        )
        return (
            f"Waveforms({len(self.channels):,} channels of {len(self.stations):,} stations, "
            f"{longest:.1f} s each at most)"
        )


def as_waveforms(given: Any) -> Waveforms:
    """Waveforms as they are, or those of an obspy Stream."""
    if isinstance(given, Waveforms):
        return given
    if hasattr(given, "traces") or isinstance(given, list | tuple):
        return Waveforms.from_stream(given)
    raise TypeError(
        f"expected Waveforms or an obspy Stream, got {type(given).__name__}; files are read by "
        "viewhop.seismic.io.read_waveforms"
    )


def check_any(waveforms: Waveforms) -> None:
    """Raise SeismicError, with what was left out, if there is no channel."""
    if waveforms.channels:
        return
    lost = waveforms.summary.left_out
    told = f" ({lost[0]})" if lost else ""
    raise SeismicError(f"there are no waveforms: expected at least one trace{told}", left_out=lost)
