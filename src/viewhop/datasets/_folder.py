"""The folder of data that does not come with the package."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from viewhop.errors import DataMissingError

__all__ = ["find_file"]


def find_file(
    name: str, sha256: str, data_home: str | os.PathLike[str] | None, origin: str
) -> Path:
    """The path of a data file, once its checksum is seen to be right.

    Nothing is downloaded.

    Parameters
    ----------
    name : str
        Name of the file.
    sha256 : str
        Its checksum, in hexadecimal digits.
    data_home : path or None
        The folder; None is the one that the environment variable ``VIEWHOP_DATA`` names.
    origin : str
        Where the file can be had, for the error's message.

    Raises
    ------
    DataMissingError
        If no folder is named, or the file is not in it.
    ValueError
        If the file has another checksum.

    Examples
    --------
    >>> import hashlib, tempfile
    >>> from pathlib import Path
    >>> from viewhop.datasets._folder import found
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     size = Path(folder, "few.bin").write_bytes(b"abc")
    ...     found("few.bin", hashlib.sha256(b"abc").hexdigest(), folder, "nowhere").name
    'few.bin'
    """
    home = data_home or os.environ.get("VIEWHOP_DATA") or None
    if home is None:
        raise DataMissingError(
            f"{name} is needed, and no folder of data is named: give data_home, or set VIEWHOP_DATA"
            f". The file comes from {origin}",
            name,
        )
    path = Path(home, name)
    if not path.is_file():
        raise DataMissingError(f"there is no {name} in {home}. It comes from {origin}", name)
    with path.open("rb") as file:
        measured = hashlib.file_digest(file, "sha256").hexdigest()
    if measured != sha256:
        raise ValueError(
            f"{path} is not the file that is known: expected SHA-256 {sha256}, got {measured}. "
            f"Take it from {origin} again"
        )
    return path
