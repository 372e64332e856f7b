"""Triggers: intervals in which a channel is suddenly louder."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.signal import butter, sosfilt, sosfilt_zi

from viewhop.seismic._channels import SECOND, Channel, Segment, timestamp
from viewhop.seismic._clipping import find_clipping
from viewhop.seismic._event import station_of
from viewhop.seismic._stretches import split_stretches
from viewhop.seismic._summary import LeftOut
from viewhop.seismic.events._sta_lta import StaLta

__all__ = ["Trigger", "bandpass", "find_triggers", "is_searchable"]

#: Order of the band-pass filter, as in obspy.
_ORDER = 4
#: Minimum ratio of a band's lowest frequency to the sampling rate; below it, rounding errors
#: make the filter useless.
_LOWEST = 1e-5


@dataclass(frozen=True, order=True)
class Trigger:
    """An interval in which a channel is loud.

    Attributes
    ----------
    on, off : int
        In nanoseconds since 1970.
    channel : str
    ratio, snr : float
        As for Pick.
    doubt : (str, str)
        Reason and detail if the trace is clipped or zero-filled in the interval; else empty.
    """

    on: int
    off: int
    channel: str
    ratio: float
    snr: float
    doubt: tuple[str, str] = ("", "")

    @property
    def station(self) -> str:
        """Network and station, ``NET.STA``."""
        return station_of(self.channel)


def bandpass(
    data: NDArray[np.float64], *, band: tuple[float, float], sampling_rate: float
) -> NDArray[np.float64]:
    """Trace filtered to a band by a causal Butterworth filter of order 4, (n_samples,).

    A causal filter moves no energy before the arrival. Its initial state is that of a constant
    trace with the first value, so that an offset does not ring.

    Parameters
    ----------
    data : (n_samples,) array
    band : (lowest, highest)
        In Hz, below half the sampling rate.
    sampling_rate : float
    """
    sos = butter(_ORDER, band, btype="bandpass", fs=sampling_rate, output="sos")
    return np.asarray(sosfilt(sos, data, zi=sosfilt_zi(sos) * data[0])[0])


def find_triggers(
    channel: Channel, *, trigger: StaLta, band: tuple[float, float] | None
) -> tuple[list[Trigger], list[LeftOut]]:
    """Triggers of a channel, and the gaps, segments and moments that were not searched.

    Parameters
    ----------
    channel : Channel
        The averages restart after each gap; a constant value for seconds is a gap.
    trigger : StaLta
    band : (lowest, highest) or None
        Frequencies, in Hz; None does not filter.
    """
    triggers: list[Trigger] = []
    blind = f"; nothing is detected until the averages are full again, {trigger.lta:g} s later"
    parts, left_out = split_stretches(channel, after=blind)
    for part in parts:
        problem = _search_problem(part, trigger, band)
        if problem is not None:
            left_out.append(LeftOut(channel.id, *problem, timestamp(part.start)))
            continue
        own, loud = _find_segment_triggers(channel.id, part, trigger, band)
        triggers.extend(own)
        left_out.extend(loud)
    return triggers, left_out


def _find_segment_triggers(
    name: str, segment: Segment, trigger: StaLta, band: tuple[float, float] | None
) -> tuple[list[Trigger], list[LeftOut]]:
    """Triggers of a segment, and the moments without an onset."""
    triggers: list[Trigger] = []
    left_out: list[LeftOut] = []
    rate = segment.sampling_rate
    data = segment.data
    if band is not None:
        data = bandpass(data, band=band, sampling_rate=rate)
    ratio = trigger.ratio(data, sampling_rate=rate)
    nsta, _ = trigger.lengths(rate)
    for on, off in trigger.intervals(ratio).tolist():
        if not ratio[on - 1] > 0:
            what = "it is already loud when the averages become full, so the onset is unknown"
            left_out.append(LeftOut(name, "no onset", what, timestamp(segment.time(on))))
            continue
        doubt = find_clipping(segment.data[max(0, on - nsta) : off + 1]) or ("", "")
        triggers.append(
            Trigger(
                segment.time(on),
                segment.time(off),
                name,
                float(ratio[on : off + 1].max()),
                _snr(data, on, off, trigger, rate),
                doubt,
            )
        )
    return triggers, left_out


def is_searchable(channel: Channel, trigger: StaLta, band: tuple[float, float] | None) -> bool:
    """Whether any segment of a channel can be searched for triggers."""
    return any(_search_problem(segment, trigger, band) is None for segment in channel.segments)


def _search_problem(
    segment: Segment, trigger: StaLta, band: tuple[float, float] | None
) -> tuple[str, str] | None:
    """Reason and detail if a segment cannot be searched for triggers, else None."""
    rate = segment.sampling_rate
    if band is not None and band[1] >= rate / 2:
        return "sampling rate", (
            f"sampled at {rate:g} Hz, it does not reach {band[1]:g} Hz; choose a band below "
            f"{rate / 2:g} Hz"
        )
    if band is not None and band[0] < _LOWEST * rate:
        return "sampling rate", (
            f"sampled at {rate:g} Hz, it cannot be filtered down to {band[0]:g} Hz; choose a band "
            f"above {_LOWEST * rate:g} Hz"
        )
    nsta, nlta = trigger.lengths(rate)
    if nsta < 1 or nlta <= nsta:
        return "sampling rate", f"sampled at {rate:g} Hz, it has no sample in {trigger.sta:g} s"
    if segment.data.size <= nlta:
        seconds = (segment.end - segment.start) / SECOND
        return "too short", f"it lasts {seconds:.1f} s, less than the LTA of {trigger.lta:g} s"
    return None


def _snr(data: NDArray[np.float64], on: int, off: int, trigger: StaLta, rate: float) -> float:
    """Root mean square while the trigger is on, divided by that of the LTA before it."""
    nsta, nlta = trigger.lengths(rate)
    signal = data[on : max(off, on + nsta) + 1]
    # The short average lags: the onset may be up to its length before the trigger.
    noise = data[max(0, on - nsta - nlta) : max(1, on - nsta)]
    before = float(np.sqrt(np.mean(noise**2)))
    return float(np.sqrt(np.mean(signal**2))) / before if before > 0 else np.nan
