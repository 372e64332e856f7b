"""Changes of NPY, NPZ and MAT files: headers that lie, members and elements."""

from __future__ import annotations

import io
import struct
import warnings
import zipfile
import zlib
from functools import cache

from tests.fuzz.mutators.plain import INTEGERS, LONGEST, mutate_bytes

DTYPES = (
    *("<f8", ">f8", "<f4", "<f2", "|b1", "|i1", "<i8", "<u8", "<c16", "|O", "|V8", "|V0", "<U3"),
    *("|S0", "<U0", "|S2147483647", "<U536870911", "<M8[ns]", "<m8[s]", "<f16", "|V2147483647"),
    *("[('a','<f8')]", "[('a','|O')]", "f8,f8", "x", "", "<f8\\0", "(1000,1000)f8"),
)
SHAPES = (
    *("()", "(0,)", "(3,)", "(2, 2)", "(4, 3)", "(0, 5)", "(5, 0)", "(1, 1, 1)", "(-1, 3)"),
    *("(10**12,)", "(1000000000000, 3)", "(9223372036854775807, 2)", "(4294967296, 4294967296)"),
    *("(0, 9223372036854775807)", "(True, 3)", "(1.5, 2)", "('a',)", "[2, 2]", "None", "2"),
    f"({'1,' * 40})",
)


def npy_bytes(header, payload, *, version=1, length=None):
    """An NPY file of any header text and payload."""
    text = header.encode("latin-1", "replace") + b"\n"
    kind = "<H" if version == 1 else "<I"
    limit = 0xFFFF if version == 1 else 0xFFFFFFFF
    size = min(len(text) if length is None else length, limit)
    return b"\x93NUMPY" + bytes((version, 0)) + struct.pack(kind, size) + text + payload


def mutate_npy(rng, data, others):
    """An NPY file with another header or payload."""
    kind = rng.random()
    if kind < 0.35 or len(data) < 20:
        return mutate_bytes(rng, data, others)
    begin = 10 + int.from_bytes(data[8:10], "little")
    payload = data[begin:]
    if kind < 0.45:
        return data[:begin] + (mutate_bytes(rng, payload, ()) if payload else b"")
    descr, shape = "<f8", f"({max(1, len(payload) // 16)}, 2)"
    if rng.random() < 0.6:
        descr = rng.choice(DTYPES)
    if rng.random() < 0.6:
        shape = rng.choice(SHAPES)
        if rng.random() < 0.2:
            shape = f"({rng.choice(INTEGERS)}, {rng.choice(INTEGERS)})"
    quoted = descr if descr.startswith("[") else repr(descr)
    order = rng.choice(("False", "False", "True", "1", "None"))
    header = f"{{'descr': {quoted}, 'fortran_order': {order}, 'shape': {shape}, }}"
    if rng.random() < 0.15:
        header = rng.choice(
            ("{}", "(" * 2000, "{'descr': __import__('os')}", header * 2, header[:-4], "9" * 9000)
        )
    version = rng.choice((1, 1, 1, 2, 3, 0, 255))
    length = rng.choice(INTEGERS) % 2**32 if rng.random() < 0.1 else None
    return npy_bytes(header, payload, version=version, length=length)[:LONGEST]


def mutate_npz(rng, data, others):
    """An NPZ file with other members, or a damaged zip."""
    kind = rng.random()
    members = _members(data) if kind > 0.35 else None
    if not members:
        return mutate_bytes(rng, data, others)
    place = rng.randrange(len(members))
    name, content = members[place]
    if kind < 0.7:
        members[place] = (name, mutate_npy(rng, content, ()))
    elif kind < 0.8:
        names = ("x.npy", "X.npy", "../x.npy", "/x.npy", "x", "", ".npy", "ids.npy", "a\\b.npy")
        members[place] = (rng.choice(names), content)
    elif kind < 0.85:
        del members[place]
    elif kind < 0.9:
        members.append(rng.choice(members))
    else:
        return zip_bomb(name or "x.npy", rng.choice((10, 10**5, 5 * 10**6, 9 * 10**6)))
    method = rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2))
    return _zip(rng, members, method)


@cache
def zip_bomb(name, rows):
    """A small NPZ file with a long column of zeros."""
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, 1), }}"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr(name, npy_bytes(header, bytes(8 * rows)))
    return out.getvalue()


def _members(data):
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if sum(info.file_size for info in archive.infolist()) > LONGEST:  # a bomb
                return None
            return [(name, archive.read(name)) for name in archive.namelist()]
    except Exception:
        return None


def _zip(rng, members, method):
    out = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(out, "w", method, compresslevel=1) as archive:
        warnings.simplefilter("ignore")  # of two members with the same name
        for name, content in members:
            info = zipfile.ZipInfo(name or "placeholder")
            info.filename = name
            info.compress_type = method
            archive.writestr(info, content)
    packed = bytearray(out.getvalue())
    if rng.random() < 0.2:  # sizes in the directory that are not those of the members
        at = packed.rfind(b"PK\x01\x02")
        place = at + rng.choice((16, 20, 24, 42))
        if at >= 0 and place + 4 <= len(packed):
            struct.pack_into("<I", packed, place, rng.choice(INTEGERS) % 2**32)
    return bytes(packed)


def mutate_mat(rng, data, others):
    """A MAT file with other elements, packed or not."""
    kind = rng.random()
    if kind < 0.3 or len(data) < 140:
        return mutate_bytes(rng, data, others)
    if kind < 0.32:
        return data[:128] + mat_bomb(rng.choice((10**5, 5 * 10**6, 9 * 10**6)))
    head, elements = data[:128], _elements(data)
    if not elements:
        return mutate_bytes(rng, data, others)
    place = rng.randrange(len(elements))
    kind, content = elements[place]
    if kind == 15:
        try:
            content, kind = zlib.decompress(content), 0
        except zlib.error:
            content = b""
    change = rng.random()
    if change < 0.6 and content:
        content = _changed_element(rng, bytearray(content))
    elif change < 0.7:
        content = mutate_bytes(rng, content, ()) if content else b"\0" * 8
    elif change < 0.8:
        content = struct.pack("<II", 14, rng.choice(INTEGERS) % 2**32) + b"\0" * 10**6
        kind = 0
    elif change < 0.9:
        elements.append(rng.choice(elements))
    else:
        del elements[place]
        elements.append((rng.choice((*range(20), 255, 65535)), content))
        place = len(elements) - 1
    elements[place] = (15, zlib.compress(content)) if kind == 0 else (kind, content)
    parts = [head]
    for kind, content in elements:
        size = rng.choice(INTEGERS) % 2**32 if rng.random() < 0.03 else len(content)
        parts.append(struct.pack("<II", kind, size) + content)
    return b"".join(parts)[:LONGEST]


@cache
def mat_bomb(rows):
    """A small compressed element with a long column of zeros."""
    shape = struct.pack("<IIII", 5, 8, rows, 1)
    parts = (struct.pack("<IIII", 6, 8, 6, 0), shape, struct.pack("<HH4s", 1, 1, b"x"))
    content = b"".join(parts) + struct.pack("<II", 9, 8 * rows) + bytes(8 * rows)
    packed = zlib.compress(struct.pack("<II", 14, len(content)) + content, 1)
    return struct.pack("<II", 15, len(packed)) + packed


def _elements(data):
    at, found = 128, []
    while at + 8 <= len(data):
        kind, size = struct.unpack_from("<II", data, at)
        found.append((kind, data[at + 8 : at + 8 + size]))
        at += 8 + size
    return found


def _changed_element(rng, content):
    """Words of a matrix replaced: tags, flags, dimensions and sizes are all words."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        # The header of a matrix lies in its first bytes.
        place = 4 * rng.randrange(max(1, min(len(content), rng.choice((80, 80, 4000))) // 4))
        if place + 4 <= len(content):
            value = rng.choice((*INTEGERS, *range(20), 0x10001, 0x40001, 0x806, 0x806 << 8))
            struct.pack_into("<I", content, place, value % 2**32)
    return bytes(content)
