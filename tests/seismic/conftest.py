"""Fixtures for seismic tests: obspy, its own four-station record, and small files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from viewhop.seismic._obspy import obspy_module
from viewhop.seismic.io import read_waveforms


@pytest.fixture(scope="session")
def obspy():
    try:
        return obspy_module()
    except ImportError:
        pytest.skip("obspy is not installed")


@pytest.fixture(scope="session")
def record_files(obspy):
    """The four-station record that comes with obspy: three local events in four minutes."""
    folder = Path(obspy.__file__).parent / "signal" / "tests" / "data"
    found = sorted(folder.glob("BW.UH*.cut.slist.gz"))
    if len(found) != 6:
        pytest.skip("obspy was installed without its test data")
    return found


@pytest.fixture(scope="session")
def record(record_files):
    return read_waveforms(record_files)


@pytest.fixture
def trace(obspy):
    """A maker of traces: noise with a pulse, as counts of a recorder."""

    def make(name="IS.MMLI..BHZ", *, seconds=60.0, rate=40.0, start=0.0, seed=0, data=None):
        network, station, location, channel = name.split(".")
        if data is None:
            rng = np.random.default_rng(seed)
            data = (rng.normal(size=round(seconds * rate)) * 1000).astype(np.int32)
        header = {
            "network": network,
            "station": station,
            "location": location,
            "channel": channel,
            "sampling_rate": rate,
            "starttime": obspy.UTCDateTime(2010, 5, 27, 16, 24) + start,
        }
        return obspy.Trace(data, header)

    return make
