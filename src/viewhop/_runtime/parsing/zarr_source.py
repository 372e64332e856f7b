"""Zarr stores, read with zarr: folders and zip files of groups and arrays.

What a store says of its arrays is read here first. The library is asked to open an array only if
its numbers need no code to be read: some codecs of old stores run what they read.
"""

from __future__ import annotations

import json
import os
import zipfile
from typing import Any

import numpy as np
import zarr

__all__ = ["ZarrStore", "open_source"]

#: Codecs of Zarr 2, compressors and filters, and of Zarr 3, that only move and pack numbers.
_COMPRESSORS = frozenset({"blosc", "zstd", "zlib", "gzip", "lz4", "bz2", "lzma"})
_FILTERS = frozenset({"vlen-utf8", "shuffle", "delta"})
_CODECS = frozenset(
    {"bytes", "transpose", "sharding_indexed", "gzip", "zstd", "blosc", "crc32c", "vlen-utf8"}
)
#: Bytes of a file of metadata beyond which it is none.
_LARGEST = 50_000_000


def open_source(path: str) -> ZarrStore:
    """The store at a path."""
    return ZarrStore(path)


class ZarrStore:
    """A Zarr store, version 2 or 3.

    Parameters
    ----------
    path : str
        A folder, or a zip file.
    """

    def __init__(self, path: str) -> None:
        zarr.config.set({"async.concurrency": 1, "threading.max_workers": 1})
        self._folder = path if os.path.isdir(path) else None
        self._names: list[str] = []
        self._zip: zipfile.ZipFile | None = None
        if self._folder is None:
            self._zip = zipfile.ZipFile(path)
            self._names = self._zip.namelist()
            self._store: Any = zarr.storage.ZipStore(path, mode="r")
        else:
            self._store = zarr.storage.LocalStore(path, read_only=True)

    def close(self) -> None:
        """Close the store."""
        self._store.close()
        if self._zip is not None:
            self._zip.close()

    def describe(self, name: str) -> dict[str, Any]:
        """What there is under a name.

        Parameters
        ----------
        name : str

        Returns
        -------
        facts : dict
            As `viewhop._runtime.parsing.hdf5_source.Hdf5.describe` returns it.
        """
        version, metadata = self._metadata(name)
        if metadata is None:
            return {"kind": "none"}
        if version == "group":
            return {"kind": "group", "names": self._children(name), "attrs": {}}
        kind, shape, chunk = _array_facts(version, metadata)
        array = self._open(name, version, metadata)
        dtype = np.dtype(array.dtype)
        if kind == "array" and dtype.kind not in "biuf":
            kind = "text" if dtype.kind in "UT" else "other"
        return {
            "kind": kind,
            "shape": shape,
            "dtype": dtype.str if kind == "array" else str(metadata.get("dtype", dtype)),
            "itemsize": dtype.itemsize,
            "chunk": chunk,
            "bytes": int(np.prod(chunk, dtype=object)) * dtype.itemsize,
            "attrs": {},
        }

    def read(self, name: str, start: int, stop: int) -> Any:
        """The rows from `start` to `stop`: an array of numbers, or a list of texts."""
        version, metadata = self._metadata(name)
        values = np.asarray(self._open(name, version, metadata)[start:stop])
        return values if values.dtype.kind in "biuf" else [str(text) for text in values.ravel()]

    def _open(self, name: str, version: str, metadata: Any) -> Any:
        _check_codecs(name, version, metadata)
        return zarr.open_array(
            store=self._store, path=name.strip("/"), mode="r", zarr_format=int(version)
        )

    def _metadata(self, name: str) -> tuple[str, Any]:
        """The version of an array, or "group", and its metadata; None if there is nothing."""
        parts = [part for part in name.split("/") if part]
        if any(part in (".", "..") for part in parts):
            return "", None
        for file, version in (("zarr.json", "3"), (".zarray", "2"), (".zgroup", "group")):
            text = self._file("/".join((*parts, file)))
            if text is None:
                continue
            metadata = json.loads(text)
            if not isinstance(metadata, dict):
                raise ValueError(f"{name or '/'}: {file} holds no object")
            if metadata.get("node_type") == "group":
                version = "group"
            return version, metadata
        return "", None

    def _file(self, name: str) -> bytes | None:
        if self._zip is not None:
            if name not in self._names:
                return None
            if self._zip.getinfo(name).file_size > _LARGEST:
                raise ValueError(f"{name} is too long")
            return self._zip.read(name)
        path = os.path.join(str(self._folder), *name.split("/"))
        if not os.path.isfile(path):
            return None
        with open(path, "rb") as file:
            data = file.read(_LARGEST + 1)
        if len(data) > _LARGEST:
            raise ValueError(f"{name} is too long")
        return data

    def _children(self, name: str) -> list[str]:
        """The names in a group that are groups or arrays themselves."""
        prefix = "".join(f"{part}/" for part in name.split("/") if part)
        if self._zip is not None:
            inside = (entry[len(prefix) :] for entry in self._names if entry.startswith(prefix))
            names = {entry.partition("/")[0] for entry in inside if "/" in entry}
        else:
            place = os.path.join(str(self._folder), *prefix.split("/"))
            names = {entry.name for entry in os.scandir(place) if entry.is_dir()}
        return [entry for entry in sorted(names) if self._metadata(prefix + entry)[1] is not None]


def _array_facts(version: str, metadata: Any) -> tuple[str, list[int], list[int]]:
    """Kind, shape and shape of a chunk of an array, as its metadata state them."""
    shape = metadata["shape"]
    if version == "2":
        chunk = metadata["chunks"]
    else:
        chunk = metadata["chunk_grid"]["configuration"]["chunk_shape"]
    for numbers in (shape, chunk):
        if not isinstance(numbers, list) or not all(
            isinstance(n, int) and not isinstance(n, bool) and 0 <= n < 2**62 for n in numbers
        ):
            raise ValueError("the shape of an array is damaged")
    kind = "text" if _type_of(version, metadata) in ("|O", "string") else "array"
    return kind, shape, chunk


def _type_of(version: str, metadata: Any) -> Any:
    return metadata.get("dtype" if version == "2" else "data_type")


def _check_codecs(name: str, version: str, metadata: Any) -> None:
    """Refuse an array with a codec that does more than to unpack numbers or text."""
    if version == "2":
        compressor, filters = metadata.get("compressor"), metadata.get("filters")
        entries = [
            *(((compressor, _COMPRESSORS),) if compressor is not None else ()),
            *((entry, _FILTERS) for entry in filters or ()),
        ]
        used = [(_codec_name(entry, "id"), known) for entry, known in entries]
        is_object = metadata.get("dtype") == "|O"
        if is_object and "vlen-utf8" not in [codec for codec, _ in used]:
            raise ValueError(f"{name} holds Python objects, which are never loaded")
    else:
        used = [(codec, _CODECS) for codec in _codec_names(metadata.get("codecs"))]
        if metadata.get("storage_transformers"):
            raise ValueError(f"{name} has a storage transformer, which is not supported")
    for codec, known in used:
        if codec not in known:
            raise ValueError(
                f"{name} is packed by {str(codec)[:50]!r}, expected one of "
                f"{', '.join(sorted(known))}"
            )


def _codec_names(codecs: Any) -> list[Any]:
    """The names of codecs, and of those within a shard."""
    names = []
    for entry in codecs if isinstance(codecs, list) else [codecs]:
        names.append(_codec_name(entry, "name"))
        inner = entry.get("configuration") if isinstance(entry, dict) else None
        if isinstance(inner, dict):
            for key in ("codecs", "index_codecs"):
                if key in inner:
                    names += _codec_names(inner[key])
    return names


def _codec_name(entry: Any, key: str) -> Any:
    return entry.get(key) if isinstance(entry, dict) else entry
