"""COIL-20: objects on a turntable."""

from __future__ import annotations

import os
from math import pi

import numpy as np
from sklearn.utils import Bunch

from viewhop.datasets._folder import find_file

__all__ = ["load_coil20"]

_FILE = "coil20_64.npz"
_SHA256 = "4617f349c8198670185f1ece8d61812c0444c53caff708411af34f9b6f902fbe"
_ORIGIN = (
    "the Columbia Object Image Library (COIL-20) of Columbia University, for research use: "
    "www.cs.columbia.edu/CAVE/software/softlib/coil-20.php; its processed images, reduced to "
    "64 × 64 pixels, as one array 'images' (20, 72, 64, 64)"
)


def load_coil20(data_home: str | os.PathLike[str] | None = None) -> Bunch:
    """Images of 20 objects on a turntable, one every 5 degrees.

    Parameters
    ----------
    data_home : path or None
        Folder with ``coil20_64.npz``; None takes the environment variable ``VIEWHOP_DATA``.
        Nothing is downloaded.

    Returns
    -------
    Bunch
        ``images`` : (20, 72, 64, 64) uint8 array, indexed by object and angle;
        ``phase`` : (72,) array, the angle of the turntable in [0, 2π); ``DESCR`` : str.

    Raises
    ------
    DataMissingError
        If the file does not exist; the message says where to get it.
    ValueError
        If the file has the wrong checksum.

    Notes
    -----
    S. A. Nene, S. K. Nayar and H. Murase, Columbia Object Image Library (COIL-20), Technical
    Report CUCS-005-96, 1996. A second camera at 90 degrees to the first would see each object as
    the first one does 18 images later.

    Examples
    --------
    >>> from viewhop.datasets import load_coil20
    >>> coil = load_coil20("folder")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    viewhop.errors.DataMissingError: no coil20_64.npz in folder.
    """
    with np.load(find_file(_FILE, _SHA256, data_home, _ORIGIN), allow_pickle=False) as arrays:
        images = arrays["images"]
    return Bunch(
        images=images,
        phase=2 * pi * np.arange(images.shape[1]) / images.shape[1],
        DESCR="COIL-20: 20 objects, 72 poses each, 64 × 64 pixels, Columbia University.",
    )
