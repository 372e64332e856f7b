"""Files of seismology: waveforms, catalogues, lists of events."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from viewhop.seismic.channels import Channel, Segment
    from viewhop.seismic.io.astsa import load_astsa
    from viewhop.seismic.io.catalogue import Catalogue, read_catalogue
    from viewhop.seismic.io.lists import write_events
    from viewhop.seismic.io.reading import read_waveforms
    from viewhop.seismic.waveforms import Waveforms

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
    "Catalogue": "viewhop.seismic.io.catalogue",
    "Channel": "viewhop.seismic.channels",
    "Segment": "viewhop.seismic.channels",
    "Waveforms": "viewhop.seismic.waveforms",
    "load_astsa": "viewhop.seismic.io.astsa",
    "read_catalogue": "viewhop.seismic.io.catalogue",
    "read_waveforms": "viewhop.seismic.io.reading",
    "write_events": "viewhop.seismic.io.lists",
}


def __getattr__(name: str) -> Any:
    """Load a name when it is first asked for: the process that parses files needs none of them."""
    if name not in _HOMES:
        raise AttributeError(f"module 'viewhop.seismic.io' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
