"""A store of computed results: archives in a folder that threads and processes share."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from viewhop._runtime.locks import acquire
from viewhop._storage import archive
from viewhop._storage.codec import Shelf
from viewhop._storage.kept import KeptResults
from viewhop.errors import CacheWarning, ModelFileError

__all__ = ["KEPT", "Codec", "Store"]

T = TypeVar("T")

#: Names of the files of an entry.
ARCHIVE, LOCK = "entry.viewhop", "lock"
#: Errors that decoding a damaged entry may raise.
_NONSENSE = (ArithmeticError, AttributeError, IndexError, KeyError, TypeError, ValueError)
#: Results of this process, beside the files that hold them.
KEPT = KeptResults()


@dataclass(frozen=True)
class Codec(Generic[T]):
    """How a kind of result is written and read.

    Attributes
    ----------
    encode : callable
        Returns a result as plain data, and puts its arrays on a shelf; ModelFileError for one that
        cannot be written.
    decode : callable
        Returns the result from plain data and a shelf; ModelFileError for data that are not one.
    size : callable
        Returns the bytes of a result in memory.
    """

    encode: Callable[[T, Shelf], dict[str, Any]]
    decode: Callable[[Any, Shelf], T]
    size: Callable[[T], int]


@dataclass(frozen=True)
class Store:
    """Results by fingerprint, each in a folder of its own with one archive.

    An archive holds numbers and text, never code, and its checksums are verified, so a store may
    lie where others can write. Several processes may use it: the first that needs a result locks
    its folder and computes it, the others wait and read.

    Attributes
    ----------
    folder : Path
    most_kept : callable
        Returns the bytes of results that this process may keep in memory as well, over all stores.
    """

    folder: Path
    most_kept: Callable[[], int]

    def fetch(self, key: str, compute: Callable[[], T], codec: Codec[T], *, stacklevel: int) -> T:
        """A result from memory, from its file, or computed now and written.

        Parameters
        ----------
        key : str
            Fingerprint of everything that the result depends on.
        compute : callable
        codec : Codec
        stacklevel : int
            As in `warnings.warn`, counted from the caller.

        Warns
        -----
        CacheWarning
            If a file is damaged, or cannot be written; the result is computed.
        """
        path = self.folder / key / ARCHIVE
        kept: T | None = self._kept(path)
        if kept is not None:
            return kept
        known = self._read(path, codec)
        if known is not None:
            self._keep(path, known, codec)
            return known
        with _locked(path.with_name(LOCK)):
            # Another process may have written it; and if not, what is there is damaged.
            known = self._read(path, codec, stacklevel=stacklevel + 1)
            result = compute() if known is None else known
            if known is None:
                self._write(path, result, codec, stacklevel=stacklevel + 1)
        self._keep(path, result, codec)
        return result

    def _kept(self, path: Path) -> Any:
        """The result that this process kept, unless its file has changed or gone."""
        stamp = _stamp(path)
        return None if stamp is None else KEPT.get(stamp)

    def _keep(self, path: Path, result: T, codec: Codec[T]) -> None:
        stamp = _stamp(path)
        if stamp is not None:
            KEPT.put(stamp, result, size=codec.size(result), most=self.most_kept())

    def _read(self, path: Path, codec: Codec[T], *, stacklevel: int = 0) -> T | None:
        """The result in a file; None, with a warning if `stacklevel` is given, if it is damaged."""
        try:
            content, arrays, _ = archive.read(path)
            with np.errstate(all="ignore"):
                shelf = Shelf(arrays)
                result = codec.decode(content, shelf)
                shelf.check_empty()
        except FileNotFoundError:
            return None
        except (OSError, *_NONSENSE) as error:  # a ModelFileError is a ValueError
            if stacklevel:
                warnings.warn(
                    CacheWarning(
                        f"the cached result {path} cannot be used, so it is computed again: {error}"
                    ),
                    stacklevel=stacklevel + 1,
                )
            return None
        return result

    def _write(self, path: Path, result: T, codec: Codec[T], *, stacklevel: int) -> None:
        shelf = Shelf()
        try:
            content = codec.encode(result, shelf)
            archive.write(path, content, shelf.arrays)
        except (OSError, ModelFileError) as error:
            warnings.warn(
                CacheWarning(f"a result is not cached in {path.parent}: {error}"),
                stacklevel=stacklevel + 1,
            )


def _stamp(path: Path) -> tuple[str, int, int, int] | None:
    """What changes when a file is replaced; None if there is none."""
    try:
        facts = os.stat(path)
    except OSError:
        return None
    return str(path), facts.st_ino, facts.st_size, facts.st_mtime_ns


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """A block that one thread of one process runs at a time; a file system may have no locks."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
    try:
        while acquire(handle, wait=True) is False:  # Windows gives up after ten seconds
            pass
        yield
    finally:
        os.close(handle)
