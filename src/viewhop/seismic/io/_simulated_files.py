"""Files of simulated records, for trying the commands without recorded data."""

from __future__ import annotations

import os
from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.utils import Bunch

from viewhop._runtime.files import stage_files, writable_folder
from viewhop.seismic._event import Event, Pick
from viewhop.seismic._obspy import obspy_module
from viewhop.seismic._simulate import PICK
from viewhop.seismic.io._event_lists import write_events

__all__ = ["write_simulated"]

_FIRST = pd.Timestamp("2020-01-01T00:00:00", tz="UTC")
#: Time between the starts of the records of two consecutive events.
_APART = pd.Timedelta(minutes=10)


def write_simulated(folder: str | os.PathLike[str], events: Bunch) -> list[Path]:
    """Write simulated records as one miniSEED file per station, with a catalogue; all or none.

    Parameters
    ----------
    folder : path
        Created if necessary.
    events : Bunch
        From `seismic.make_events` or `make_quarry_blasts`.

    Returns
    -------
    list of Path
        The waveform files, then ``catalogue.csv`` with ids, labels and the pick of each station.

    Raises
    ------
    ImportError
        If obspy is not installed.

    Notes
    -----
    The network code is XX, which is reserved for tests. Events are ten minutes apart, and all
    records of an event start together.
    """
    obspy = obspy_module()
    target = writable_folder(folder)
    starts = [_FIRST + k * _APART for k in range(len(events.target))]
    names = {name: f"XX.{name.split('.')[0]}..BH{name.split('.')[1]}" for name in events.channels}
    stations = [*dict.fromkeys(name.split(".")[0] for name in events.channels)]
    with stage_files(target, last="catalogue.csv") as inside:
        for station in stations:
            traces = [
                obspy.Trace(
                    np.ascontiguousarray(events.waveforms[k, place]),
                    {
                        **dict(
                            zip(
                                ("network", "station", "location", "channel"),
                                names[name].split("."),
                                strict=True,
                            )
                        ),
                        "sampling_rate": events.sampling_rate,
                        "starttime": obspy.UTCDateTime(starts[k].isoformat()),
                    },
                )
                for place, name in enumerate(events.channels)
                if name.split(".")[0] == station
                for k in range(len(starts))
            ]
            buffer = BytesIO()
            obspy.Stream(traces).write(buffer, format="MSEED", encoding="FLOAT64")
            (inside / f"{station}.mseed").write_bytes(buffer.getvalue())
        listing = _catalogue_events(events, starts, list(names.values()))
        write_events(inside / "catalogue.csv", listing)
    return [*(target / f"{station}.mseed" for station in stations), target / "catalogue.csv"]


def _catalogue_events(
    events: Bunch, starts: list[pd.Timestamp], channels: list[str]
) -> list[Event]:
    vertical = [name for name in channels if name.endswith("Z")]
    return [
        Event(
            key,
            start + pd.Timedelta(seconds=PICK),
            tuple(Pick(name, start + pd.Timedelta(seconds=PICK)) for name in vertical),
            label=events.target_names[kind],
        )
        for key, start, kind in zip(
            events.catalogue["id"], starts, events.target.tolist(), strict=True
        )
    ]
