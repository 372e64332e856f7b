"""Triggers: when each channel is suddenly louder."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.signal import butter, sosfilt, sosfilt_zi

from viewhop.seismic._channels import SECOND, Channel, Segment, timestamp
from viewhop.seismic._clipping import clipped
from viewhop.seismic._event import station_of
from viewhop.seismic._stretches import stretches
from viewhop.seismic._summary import LeftOut
from viewhop.seismic.events._sta_lta import StaLta

__all__ = ["Trigger", "bandpassed", "channel_triggers", "is_searchable"]

#: Order of the band-pass filter, as obspy's.
_ORDER = 4
#: Lowest frequency of a band over the sampling rate; below, rounding spoils the filter.
_LOWEST = 1e-5


@dataclass(frozen=True, order=True)
class Trigger:
    """A stretch of time in which a channel is loud.

    Attributes
    ----------
    on, off : int
        In nanoseconds since 1970.
    channel : str
    ratio, snr : float
        As of a Pick.
    doubt : (str, str)
        Reason and detail, if the trace is clipped meanwhile or has zeros in it; empty if not.
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


def bandpassed(
    data: NDArray[np.float64], *, band: tuple[float, float], sampling_rate: float
) -> NDArray[np.float64]:
    """A trace between two frequencies, by a causal Butterworth filter of order 4.

    Causal, for the other kind would move energy before the arrival; begun in the state of a trace
    that always had its first value, so that an offset does not ring.

    Parameters
    ----------
    data : (n_samples,) array
    band : (lowest, highest)
        In Hz; below half the sampling rate.
    sampling_rate : float
    """
    sos = butter(_ORDER, band, btype="bandpass", fs=sampling_rate, output="sos")
    return np.asarray(sosfilt(sos, data, zi=sosfilt_zi(sos) * data[0])[0])


def channel_triggers(
    channel: Channel, *, trigger: StaLta, band: tuple[float, float] | None
) -> tuple[list[Trigger], list[LeftOut]]:
    """The triggers of a channel; and the gaps, segments and moments that could not be judged.

    Parameters
    ----------
    channel : Channel
        After each gap the averages begin anew; one value for seconds is a gap.
    trigger : StaLta
    band : (lowest, highest) or None
        Frequencies, in Hz; None does not filter.
    """
    found: list[Trigger] = []
    blind = f", and nothing is found until the averages are full again, {trigger.lta:g} s later"
    parts, left_out = stretches(channel, after=blind)
    for part in parts:
        problem = _problem(part, trigger, band)
        if problem is not None:
            left_out.append(LeftOut(channel.id, *problem, timestamp(part.start)))
            continue
        own, loud = _segment_triggers(channel.id, part, trigger, band)
        found.extend(own)
        left_out.extend(loud)
    return found, left_out


def _segment_triggers(
    name: str, segment: Segment, trigger: StaLta, band: tuple[float, float] | None
) -> tuple[list[Trigger], list[LeftOut]]:
    """The triggers of a segment, and the moments that have no onset."""
    found: list[Trigger] = []
    left_out: list[LeftOut] = []
    rate = segment.sampling_rate
    data = segment.data
    if band is not None:
        data = bandpassed(data, band=band, sampling_rate=rate)
    ratio = trigger.ratio(data, sampling_rate=rate)
    nsta, _ = trigger.lengths(rate)
    for on, off in trigger.intervals(ratio).tolist():
        if not ratio[on - 1] > 0:
            what = "it is loud as soon as the averages are full: there is no onset to be seen"
            left_out.append(LeftOut(name, "no onset", what, timestamp(segment.time(on))))
            continue
        doubt = clipped(segment.data[max(0, on - nsta) : off + 1]) or ("", "")
        found.append(
            Trigger(
                segment.time(on),
                segment.time(off),
                name,
                float(ratio[on : off + 1].max()),
                _snr(data, on, off, trigger, rate),
                doubt,
            )
        )
    return found, left_out


def is_searchable(channel: Channel, trigger: StaLta, band: tuple[float, float] | None) -> bool:
    """Whether any segment of a channel can be triggered on."""
    return any(_problem(segment, trigger, band) is None for segment in channel.segments)


def _problem(
    segment: Segment, trigger: StaLta, band: tuple[float, float] | None
) -> tuple[str, str] | None:
    """Why a segment cannot be triggered on, reason and detail."""
    rate = segment.sampling_rate
    if band is not None and band[1] >= rate / 2:
        return "sampling rate", (
            f"sampled at {rate:g} Hz, it has nothing up to {band[1]:g} Hz: choose a band below "
            f"{rate / 2:g} Hz"
        )
    if band is not None and band[0] < _LOWEST * rate:
        return "sampling rate", (
            f"sampled at {rate:g} Hz, it cannot be filtered from {band[0]:g} Hz on: choose a band "
            f"above {_LOWEST * rate:g} Hz"
        )
    nsta, nlta = trigger.lengths(rate)
    if nsta < 1 or nlta <= nsta:
        return "sampling rate", f"sampled at {rate:g} Hz, it has no sample in {trigger.sta:g} s"
    if segment.data.size <= nlta:
        seconds = (segment.end - segment.start) / SECOND
        return "too short", f"it has {seconds:.1f} s, less than the {trigger.lta:g} s of the LTA"
    return None


def _snr(data: NDArray[np.float64], on: int, off: int, trigger: StaLta, rate: float) -> float:
    """Root mean square while the trigger is on, over that of the LTA before it."""
    nsta, nlta = trigger.lengths(rate)
    signal = data[on : max(off, on + nsta) + 1]
    # The short average lags: what made the trigger go on began up to its length before.
    noise = data[max(0, on - nsta - nlta) : max(1, on - nsta)]
    before = float(np.sqrt(np.mean(noise**2)))
    return float(np.sqrt(np.mean(signal**2))) / before if before > 0 else np.nan
