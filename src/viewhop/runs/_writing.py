"""Outputs of a run that would overwrite its inputs."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from viewhop.errors import SettingsError

__all__ = ["check_apart"]


def check_apart(written: Iterable[Path], read: Iterable[str | Path]) -> None:
    """Raise SettingsError if an output would overwrite an input.

    Parameters
    ----------
    written, read : lists of paths
        ``::`` separates a file from the name of an array in it.
    """
    targets = {os.path.realpath(path) for path in written}
    for path in read:
        names = (str(path), str(path).rpartition("::")[0])
        if any(name and os.path.realpath(name) in targets for name in names):
            raise SettingsError(
                f"{path} would be written over; choose another name with -o", key="out"
            )
