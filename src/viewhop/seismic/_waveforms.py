"""Waveforms: the recordings of several channels, with a summary of unusable input."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from viewhop.errors import SeismicError
from viewhop.seismic._assembly import assemble_channels
from viewhop.seismic._channels import Channel, nanoseconds
from viewhop.seismic._summary import Summary
from viewhop.seismic._traces import Piece, stream_pieces

__all__ = ["Waveforms", "as_waveforms", "require_channels"]


@dataclass(frozen=True, eq=False)
class Waveforms:
    """Recordings of several channels, with a summary of unusable input.

    Attributes
    ----------
    channels : dict of Channel by id
    summary : Summary
        Counts traces.

    Notes
    -----
    Pieces of one channel are joined where they touch or overlap, on the sample grid of the
    earliest: none moves by more than half a sample. Samples on which two pieces disagree, and
    samples that are not finite, become gaps. Gaps are not filled. Pieces with different sampling
    rates stay separate.

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
        """Waveforms from arrays with a common start time.

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
        return cls._from_pieces(pieces)

    @classmethod
    def from_stream(cls, stream: Iterable[Any]) -> Waveforms:
        """Waveforms from an obspy Stream or a list of Traces.

        Parameters
        ----------
        stream : Stream
            Not modified. Masked samples become gaps.
        """
        return cls._from_pieces(stream_pieces(stream))

    @classmethod
    def _from_pieces(cls, pieces: Iterable[Piece]) -> Waveforms:
        channels, left_out = assemble_channels(pieces)
        return cls(channels, Summary(len(channels), "traces", tuple(left_out)))

    @property
    def stations(self) -> tuple[str, ...]:
        """Stations, ``NET.STA``, in order of their channels."""
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


def as_waveforms(source: Any) -> Waveforms:
    """Waveforms unchanged, or converted from an obspy Stream."""
    if isinstance(source, Waveforms):
        return source
    if hasattr(source, "traces") or isinstance(source, list | tuple):
        return Waveforms.from_stream(source)
    raise TypeError(
        f"expected Waveforms or an obspy Stream, got {type(source).__name__}; read files with "
        "viewhop.seismic.io.read_waveforms"
    )


def require_channels(waveforms: Waveforms) -> None:
    """Raise SeismicError, with the items left out, if there is no channel."""
    if waveforms.channels:
        return
    lost = waveforms.summary.left_out
    first = f" ({lost[0]})" if lost else ""
    raise SeismicError(f"no waveforms: expected at least one usable trace{first}", left_out=lost)
