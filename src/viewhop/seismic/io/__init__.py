"""Files of seismology: waveforms, catalogues, lists of events."""

from viewhop.seismic.io.astsa import load_astsa
from viewhop.seismic.io.catalogue import Catalogue, read_catalogue
from viewhop.seismic.io.lists import write_events
from viewhop.seismic.io.reading import read_waveforms
from viewhop.seismic.waveforms import Channel, Segment, Waveforms

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
