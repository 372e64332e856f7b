"""Changes of packed text, of zip files of any content, and of HDF5 files."""

from __future__ import annotations

import gzip
import io
import struct
import warnings
import zipfile

import zstandard

from tests.fuzz.mutators.plain import INTEGERS, LONGEST, mutate_bytes
from tests.fuzz.mutators.text import mutate_text


def mutate_packed(rng, data, others):
    """Packed text with other cells, several parts, a bomb, or damaged bytes."""
    kind = rng.random()
    if kind < 0.4:
        return mutate_bytes(rng, data, others)
    is_gzip = not data.startswith(b"\x28\xb5")
    try:
        content = gzip.decompress(data) if is_gzip else zstandard.decompress(data)
    except Exception:  # cut by an earlier change
        return mutate_bytes(rng, data, others)
    content = mutate_text(rng, content, ())
    pack = gzip.compress if is_gzip else zstandard.compress
    if kind < 0.5:
        content = content[:200] + bytes(rng.choice((10**5, 5 * 10**6, 3 * 10**7)))
    if kind < 0.6:
        place = rng.randrange(len(content) + 1)
        return (pack(content[:place]) + pack(content[place:]))[:LONGEST]
    return pack(content)[:LONGEST]


def mutate_zip(rng, data, others):
    """A zip file with a changed, lost, renamed or huge member, or damaged bytes."""
    kind = rng.random()
    if kind < 0.3:
        return mutate_bytes(rng, data, others)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [(info.filename, archive.read(info)) for info in archive.infolist()]
    place = rng.randrange(len(members))
    name, content = members[place]
    if kind < 0.8:
        members[place] = (name, mutate_bytes(rng, content, ()))
    elif kind < 0.86:
        del members[place]
    elif kind < 0.92:
        members[place] = (rng.choice((name.upper(), "../x", "/x", "x", f"{name}/x")), content)
    elif kind < 0.96:
        members.append(rng.choice(members))
    else:
        members[place] = (name, content + b" " * rng.choice((10**5, 5 * 10**6, 3 * 10**7)))
    out = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(out, "w") as made:
        warnings.simplefilter("ignore")  # of names that come twice
        for member, part in members:
            made.writestr(zipfile.ZipInfo(member), part, compress_type=zipfile.ZIP_DEFLATED)
    return out.getvalue()[:LONGEST]


def mutate_hdf5(rng, data, others):
    """An HDF5 file with other words in its headers, which are not zero, or damaged bytes."""
    if rng.random() < 0.5:
        return mutate_bytes(rng, data, others)
    changed = bytearray(data)
    used = [at for at in range(0, len(data) - 8, 4) if any(data[at : at + 4])]
    for _ in range(rng.choice((1, 1, 2, 4))):
        if not used:
            break
        kind, bits = rng.choice((("<B", 8), ("<H", 16), ("<I", 32), ("<Q", 64)))
        struct.pack_into(kind, changed, rng.choice(used), rng.choice(INTEGERS) % 2**bits)
    return bytes(changed)
