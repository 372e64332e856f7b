"""Seismological files: waveforms, catalogues and event lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

from viewhop._runtime.lazy import lazy_names

if TYPE_CHECKING:
    from viewhop.seismic._channels import Channel, Segment
    from viewhop.seismic._waveforms import Waveforms
    from viewhop.seismic.io._astsa import load_astsa
    from viewhop.seismic.io._catalogue import Catalogue, read_catalogue
    from viewhop.seismic.io._event_lists import write_events
    from viewhop.seismic.io._read_waveforms import read_waveforms

__all__ = [
    "Catalogue",
    "Channel",
    "Segment",
    "Waveforms",
    "load_astsa",
    "read_catalogue",
    "read_waveforms",
    "write_events",
]

_HOMES = {
    "Catalogue": "viewhop.seismic.io._catalogue",
    "Channel": "viewhop.seismic._channels",
    "Segment": "viewhop.seismic._channels",
    "Waveforms": "viewhop.seismic._waveforms",
    "load_astsa": "viewhop.seismic.io._astsa",
    "read_catalogue": "viewhop.seismic.io._catalogue",
    "read_waveforms": "viewhop.seismic.io._read_waveforms",
    "write_events": "viewhop.seismic.io._event_lists",
}


__getattr__, __dir__ = lazy_names(__name__, _HOMES)
