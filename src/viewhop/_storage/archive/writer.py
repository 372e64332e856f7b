"""Writing an archive atomically, with equal bytes for equal content."""

from __future__ import annotations

import os
from collections.abc import Mapping
from hashlib import sha256
from typing import Any
from zipfile import ZIP_STORED, ZipFile, ZipInfo

import numpy as np
from numpy.typing import NDArray

from viewhop._runtime.files import replace_file
from viewhop._storage.archive import manifest, npy
from viewhop._storage.archive.manifest import MANIFEST, Entry

__all__ = ["write"]

#: The earliest time that a zip file can store, so that the bytes do not depend on the clock.
_LONG_AGO = (1980, 1, 1, 0, 0, 0)
CHUNK = 2**24


def write(
    path: str | os.PathLike[str], model: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Write an archive; if anything fails, the file at `path` is unchanged.

    Parameters
    ----------
    path : path
    model : dict
        Plain data that JSON supports, without NaN.
    arrays : dict of arrays by name
        A name is a path of lower-case letters, digits and underscores, like "view0/rows".

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from viewhop._storage import archive
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "a.viewhop")
    ...     archive.write(path, {"answer": 42}, {"table": np.eye(2)})
    ...     model, arrays, version = archive.read(path)
    >>> version, model, arrays["table"].shape
    (2, {'answer': 42}, (2, 2))
    """
    for name in arrays:
        if not manifest.is_array_name(name):
            raise ValueError(f"an array cannot have the name {name!r}")
    entries = {name: _entry(array) for name, array in arrays.items()}
    text = manifest.encode_manifest(model, entries)
    with replace_file(path) as file, ZipFile(file, "w", ZIP_STORED) as bundle:
        bundle.writestr(_info(MANIFEST, len(text)), text)
        for name, array in arrays.items():
            entry = entries[name]
            with bundle.open(_info(f"{name}.npy", entry.size), "w") as member:
                member.write(entry.header.encoded())
                data = npy.array_bytes(array, entry.header)
                for start in range(0, data.size, CHUNK):
                    member.write(data[start : start + CHUNK].data)


def _entry(array: NDArray[Any]) -> Entry:
    header = npy.parse_header(array)
    begin = header.encoded()
    digest = sha256(begin)
    digest.update(np.ascontiguousarray(npy.array_bytes(array, header)).data)
    return Entry(header, len(begin) + header.n_bytes, digest.hexdigest())


def _info(name: str, size: int) -> ZipInfo:
    info = ZipInfo(name, _LONG_AGO)
    info.create_system = 3  # equal on every system
    info.external_attr = 0o100644 << 16
    info.file_size = size  # lets zipfile choose zip64 for a large member
    return info
