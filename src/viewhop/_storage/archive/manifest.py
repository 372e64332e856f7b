"""Encoding and strict decoding of an archive's JSON manifest."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple, NoReturn

from viewhop._runtime.version import __version__
from viewhop._storage.archive.npy import DTYPES, Header
from viewhop.errors import ModelFileError, ModelSizeError, ModelVersionError

__all__ = [
    "MANIFEST",
    "MOST_BYTES",
    "VERSION",
    "Entry",
    "decode_manifest",
    "encode_manifest",
    "is_array_name",
]

MANIFEST = "manifest.json"
FORMAT = "viewhop model"
#: The version that is written, and the versions that can be read; others are refused.
VERSION = 2
READ_VERSIONS = (1, 2)
#: Largest size and nesting depth of a manifest, because it is read as a whole.
MOST_BYTES = 8_000_000
DEEPEST = 32

_KEYS = ("format", "version", "writer", "model", "arrays")
_ENTRY_KEYS = ("dtype", "shape", "order", "size", "sha256")
_NAME = re.compile(r"[a-z0-9_]{1,40}(?:/[a-z0-9_]{1,40}){0,7}")
#: File names that some systems reserve for devices, whatever the extension.
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]')
_HASH = re.compile(r"[0-9a-f]{64}")


class Entry(NamedTuple):
    """The manifest's description of an array.

    Attributes
    ----------
    header : Header
    size : int
        Size of the member in bytes, including the header.
    sha256 : str
        Hash of these bytes.
    """

    header: Header
    size: int
    sha256: str


def is_array_name(name: str) -> bool:
    """Whether a name is a path of lower-case letters, digits and underscores, and no device."""
    if _NAME.fullmatch(name) is None:
        return False
    return not any(_DEVICE.fullmatch(part) for part in name.split("/"))


def encode_manifest(model: Mapping[str, Any], arrays: Mapping[str, Entry]) -> bytes:
    """The manifest as bytes; ModelFileError if it cannot be encoded."""
    content = {
        "format": FORMAT,
        "version": VERSION,
        "writer": f"viewhop {__version__}",
        "model": model,
        "arrays": {
            name: {
                "dtype": entry.header.dtype,
                "shape": [*entry.header.shape],
                "order": "F" if entry.header.is_fortran else "C",
                "size": entry.size,
                "sha256": entry.sha256,
            }
            for name, entry in arrays.items()
        },
    }
    try:
        text = json.dumps(content, allow_nan=False, ensure_ascii=False, indent=1).encode("utf-8")
    except UnicodeEncodeError as error:
        raise ModelFileError(f"{error.object!r} is not text that UTF-8 can encode") from error
    _check_size(text)
    return text


def decode_manifest(text: bytes) -> tuple[int, dict[str, Any], dict[str, Entry]]:
    """The version of the format, the model and the arrays that a manifest describes."""
    _check_size(text)
    try:
        content = json.loads(
            text.decode("utf-8"),
            object_pairs_hook=_unique,
            parse_constant=_no_constant,
            parse_float=_finite,
            parse_int=_small,
        )
        json.dumps(content, ensure_ascii=False).encode("utf-8")  # refuses lone surrogates
    except ModelFileError:
        raise
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{MANIFEST} is not valid JSON: {error}") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ModelFileError(f"{MANIFEST} does not belong to a viewhop model")
    version = content.get("version")
    if version not in READ_VERSIONS or isinstance(version, bool | float):
        raise ModelVersionError(
            f"its format has version {_shorten(version)}, but viewhop {__version__} reads only "
            f"versions {' and '.join(map(str, READ_VERSIONS))}; another version of viewhop may "
            "load it"
        )
    _check_keys(content, _KEYS, MANIFEST)
    model, arrays = content["model"], content["arrays"]
    if not isinstance(content["writer"], str):
        raise ModelFileError(f"{MANIFEST}: writer is not text")
    if not isinstance(model, dict) or not isinstance(arrays, dict):
        raise ModelFileError(f"{MANIFEST}: model and arrays are not objects")
    return version, model, {name: _entry(name, entry) for name, entry in arrays.items()}


def _entry(name: str, entry: Any) -> Entry:
    if not is_array_name(name):
        raise ModelFileError(f"{MANIFEST}: an array cannot have the name {_shorten(name)}")
    where = f"{MANIFEST}: array {name!r}"
    if not isinstance(entry, dict):
        raise ModelFileError(f"{where} is not an object")
    _check_keys(entry, _ENTRY_KEYS, where)
    dtype, shape, order, size, digest = (entry[key] for key in _ENTRY_KEYS)
    if dtype not in DTYPES:
        raise ModelFileError(f"{where} has dtype {_shorten(dtype)}, expected {', '.join(DTYPES)}")
    if order not in ("C", "F"):
        raise ModelFileError(f"{where} has order {_shorten(order)}")
    if not isinstance(shape, list) or len(shape) > 4 or not all(map(_is_size, shape)):
        raise ModelFileError(f"{where} has shape {_shorten(shape)}")
    if not isinstance(digest, str) or _HASH.fullmatch(digest) is None:
        raise ModelFileError(f"{where} has no SHA-256")
    header = Header(dtype, tuple(shape), order == "F")
    expected = len(header.encoded()) + header.n_bytes
    if not _is_size(size) or size != expected:
        raise ModelSizeError(
            f"{where} of shape {shape} takes {expected} bytes, but its size is {_shorten(size)}"
        )
    return Entry(header, size, digest)


def _is_size(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**48


def _check_keys(mapping: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    missing = [key for key in known if key not in mapping]
    unknown = [key for key in mapping if key not in known]
    if missing or unknown:
        raise ModelFileError(
            f"{where}: missing keys: {', '.join(missing) or 'none'}; unknown keys: "
            f"{', '.join(map(_shorten, unknown)) or 'none'}"
        )


def _check_size(text: bytes) -> None:
    if len(text) > MOST_BYTES:
        raise ModelSizeError(
            f"{MANIFEST} has {len(text):,} bytes, more than the limit of {MOST_BYTES:,}; likely "
            "cause: names of very many features"
        )
    depth = 0
    for token in _TOKEN.finditer(text.decode("utf-8", "replace")):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token[0], 0)
        if depth > DEEPEST:
            raise ModelFileError(f"{MANIFEST} is nested more than {DEEPEST} levels deep")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        raise ModelFileError(f"{MANIFEST} has a repeated key")
    return mapping


def _no_constant(name: str) -> NoReturn:
    raise ModelFileError(f"{MANIFEST} has {name}, which is not JSON")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ModelFileError(f"{MANIFEST} has a number that is too large")
    return value


def _small(text: str) -> int:
    if len(text) > 20:
        raise ModelFileError(f"{MANIFEST} has a number that is too large")
    return int(text)


def _shorten(value: object) -> str:
    """A value as text for an error message, shortened."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"
