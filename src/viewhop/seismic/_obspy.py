"""Import of obspy on first use."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any

__all__ = ["obspy_module"]


def obspy_module(name: str = "obspy") -> Any:
    """An imported module of obspy.

    Parameters
    ----------
    name : str
        Its full name.

    Raises
    ------
    ImportError
        If obspy is not installed.
    """
    with warnings.catch_warnings():
        # obspy 1.5 reads entry points through an interface that is deprecated in Python 3.11.
        warnings.filterwarnings("ignore", "SelectableGroups dict interface", DeprecationWarning)
        try:
            import_module("obspy")
        except ImportError as error:
            raise ImportError(
                "seismic files and triggers need obspy, which is not installed; "
                'install it with: pip install "viewhop[seismic]"'
            ) from error
        return import_module(name)
