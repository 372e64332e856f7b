"""HDF5 files, read with h5py: groups, arrays of numbers, and texts."""

from __future__ import annotations

from typing import Any

import h5py
import numpy as np

__all__ = ["Hdf5", "open_source"]

#: Bytes and entries of an attribute beyond which it is left out.
_LARGEST = 1_000_000


def open_source(path: str) -> Hdf5:
    """The file at a path."""
    return Hdf5(path)


class Hdf5:
    """An HDF5 file. Links out of it, and arrays in other files, are refused.

    Parameters
    ----------
    path : str
    """

    def __init__(self, path: str) -> None:
        self._file = h5py.File(path, "r", locking=False)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def describe(self, name: str) -> dict[str, Any]:
        """What there is under a name; None if there is nothing.

        Parameters
        ----------
        name : str

        Returns
        -------
        facts : dict
            "kind" is "group", with "names"; "array", with "shape", "dtype", "chunk" (the shape of
            a block that is unpacked as a whole, or None), "bytes" (of such a block); "text", like
            an array; or "other". Every one has "attrs".
        """
        try:
            node = self._node(name)
        except KeyError:
            return {"kind": "none"}
        attributes = _attributes(node)
        if isinstance(node, h5py.Group):
            return {"kind": "group", "names": list(node), "attrs": attributes}
        if not isinstance(node, h5py.Dataset) or node.shape is None:
            return {"kind": "other", "attrs": attributes}
        if node.is_virtual or node.external:
            raise ValueError(f"{name}: its values lie in other files, which are never opened")
        kind = "other"
        if h5py.check_string_dtype(node.dtype) is not None:
            kind = "text"
        elif node.dtype.kind in "biuf":
            kind = "array"
        size = int(np.prod(node.chunks)) * node.dtype.itemsize if node.chunks else 0
        return {
            "kind": kind,
            "shape": list(node.shape),
            "dtype": node.dtype.str if kind == "array" else str(node.dtype),
            "itemsize": node.dtype.itemsize,
            "chunk": list(node.chunks) if node.chunks else None,
            "bytes": size,
            "attrs": attributes,
        }

    def read(self, name: str, start: int, stop: int) -> Any:
        """The rows from `start` to `stop`: an array of numbers, or a list of texts."""
        node = self._node(name)
        if h5py.check_string_dtype(node.dtype) is None:
            return node[start:stop]
        # Fixed texts end with zeros or blanks, those of variable length do not.
        return [
            text.decode() if isinstance(text, bytes) else str(text)
            for text in np.ravel(node[start:stop]).tolist()
        ]

    def _node(self, name: str) -> Any:
        node: Any = self._file
        for part in filter(None, name.split("/")):
            if part in (".", "..") or not isinstance(node, h5py.Group):
                raise KeyError(name)
            link = node.get(part, getlink=True)
            if link is None:
                raise KeyError(name)
            if not isinstance(link, h5py.HardLink):
                raise ValueError(f"{name} is a link, which is never followed")
            node = node[part]
        return node


def _attributes(node: Any) -> dict[str, Any]:
    """The attributes that are texts or numbers, or short lists of them."""
    values = {}
    for name in node.attrs:
        about = node.attrs.get_id(name)
        if int(np.prod(about.shape or (1,), dtype=object)) * about.dtype.itemsize > _LARGEST:
            continue
        value = node.attrs[name]
        if isinstance(value, np.ndarray | np.generic):
            value = value.tolist()
        items = value if isinstance(value, list) else [value]
        items = [item.decode() if isinstance(item, bytes) else item for item in items]
        if all(isinstance(item, str | int | float) for item in items):
            values[name] = items if isinstance(value, list) else items[0]
    return values
