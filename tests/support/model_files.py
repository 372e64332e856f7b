"""Model files taken apart and put together again, honestly or not."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile

import numpy as np

MANIFEST = "manifest.json"


def taken_apart(content):
    """The manifest and the bytes of each array's member."""
    with zipfile.ZipFile(io.BytesIO(content)) as bundle:
        members = {name: bundle.read(name) for name in bundle.namelist()}
    return json.loads(members.pop(MANIFEST)), members


def zipped(members, *, method=zipfile.ZIP_STORED, change=lambda info: None, comment=b""):
    """The bytes of a zip file of (name, bytes) pairs."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as bundle:
        for name, data in members:
            info = zipfile.ZipInfo("placeholder")
            info.filename = info.orig_filename = name
            info.compress_type = method
            info.external_attr = 0o100644 << 16
            change(info)
            bundle.writestr(info, data)
        bundle.comment = comment
    return out.getvalue()


def put_together(manifest, members, *, honest=True, **options):
    """The bytes of a file; an honest manifest has the size and hash of every member."""
    if honest:
        for name, entry in manifest["arrays"].items():
            data = members.get(f"{name}.npy", b"")
            if isinstance(entry, dict):
                entry |= {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    text = manifest if isinstance(manifest, bytes) else json.dumps(manifest).encode()
    return zipped([(MANIFEST, text), *members.items()], **options)


def as_member(array):
    """The bytes of an array, as NumPy writes it."""
    out = io.BytesIO()
    np.lib.format.write_array(out, array, version=(1, 0), allow_pickle=True)
    return out.getvalue()


def with_array(content, name, array):
    """The file with another array, of which the manifest knows."""
    manifest, members = taken_apart(content)
    order = "F" if array.ndim > 1 and not array.flags.c_contiguous else "C"
    manifest["arrays"][name] = {
        "dtype": array.dtype.str,
        "shape": [*array.shape],
        "order": order,
    }
    members[f"{name}.npy"] = as_member(array)
    return put_together(manifest, members)
