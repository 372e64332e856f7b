"""The folder with data files that do not come with the package."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from viewhop.errors import DataMissingError

__all__ = ["find_file"]


def find_file(
    name: str, sha256: str, data_home: str | os.PathLike[str] | None, origin: str
) -> Path:
    """The path of a data file, after its checksum has been verified.

    Nothing is downloaded.

    Parameters
    ----------
    name : str
        Name of the file.
    sha256 : str
        Its checksum, in hexadecimal digits.
    data_home : path or None
        The folder; None takes the environment variable ``VIEWHOP_DATA``.
    origin : str
        Source of the file, for the error message.

    Raises
    ------
    DataMissingError
        If no folder is set, or the file is not in it.
    ValueError
        If the file has a different checksum.

    Examples
    --------
    >>> import hashlib, tempfile
    >>> from pathlib import Path
    >>> from viewhop.datasets._folder import find_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     size = Path(folder, "few.bin").write_bytes(b"abc")
    ...     find_file("few.bin", hashlib.sha256(b"abc").hexdigest(), folder, "nowhere").name
    'few.bin'
    """
    home = data_home or os.environ.get("VIEWHOP_DATA") or None
    if home is None:
        raise DataMissingError(
            f"{name} is needed, but no data folder is set; pass data_home, or set VIEWHOP_DATA. "
            f"The file comes from {origin}",
            name,
        )
    path = Path(home, name)
    if not path.is_file():
        raise DataMissingError(f"no {name} in {home}. The file comes from {origin}", name)
    with path.open("rb") as file:
        measured = hashlib.file_digest(file, "sha256").hexdigest()
    if measured != sha256:
        raise ValueError(
            f"{path} has the wrong checksum: expected SHA-256 {sha256}, got {measured}. "
            f"Get it again from {origin}"
        )
    return path
