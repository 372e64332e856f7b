"""Changes of Parquet files: the footer byte by byte, and whole files of other columns."""

from __future__ import annotations

import io
import random
import struct
from functools import cache

import numpy as np

from tests.fuzz.mutators.plain import INTEGERS, mutate_bytes

CODECS = ("none", "snappy", "gzip", "zstd", "lz4", "brotli")


def mutate_parquet(rng, data, others):
    """A Parquet file with a damaged footer or page, or one of other columns."""
    kind = rng.random()
    if kind < 0.25 or len(data) < 20:
        return mutate_bytes(rng, data, others)
    if kind < 0.4:  # few different files, since making one is slow
        data = other_table(rng.randrange(400))
        if rng.random() < 0.5:
            return data
    size = struct.unpack_from("<I", data, len(data) - 8)[0]
    begin = max(4, len(data) - 8 - size)
    footer = bytearray(data[begin : len(data) - 8])
    body = bytearray(data[4:begin])
    part = footer if footer and (rng.random() < 0.75 or not body) else body
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        _change(rng, part)
    length = rng.choice(INTEGERS) % 2**32 if rng.random() < 0.03 else len(footer)
    return b"PAR1" + bytes(body) + bytes(footer) + struct.pack("<I", length) + b"PAR1"


def _change(rng, part):
    """One byte or variable-length integer of the compact protocol of Thrift."""
    if not part:
        return
    place = rng.randrange(len(part))
    kind = rng.randrange(6)
    if kind == 0:
        part[place] ^= 1 << rng.randrange(8)
    elif kind == 1:
        part[place] = rng.choice((0, 1, 2, 12, 0x15, 0x19, 0x1C, 0x7F, 0x80, 0xFF))
    elif kind == 2:
        part[place : place + 1] = _varint(rng.choice(INTEGERS))
    elif kind == 3:
        del part[place : place + rng.choice((1, 2, 8))]
    elif kind == 4:
        part[place:place] = part[place : place + rng.choice((1, 4, 32))]
    else:
        part[place] = (part[place] + rng.choice((-2, -1, 1, 2))) % 256


def _varint(value):
    """A zigzag integer, as Thrift writes it."""
    value = ((value << 1) ^ (value >> 63)) % 2**64
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


@cache
def other_table(seed):
    """A file of columns of many types and lengths, some of them bombs."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = random.Random(seed)
    rows = rng.choice((0, 1, 3, 20, 20, 2000, 50_000))
    columns = {}
    for k in range(rng.randrange(1, 5)):
        name = rng.choice((f"c{k}", "sample", "a", "", "index", "__index_level_0__"))
        columns[name] = _column(rng, pa, rows)
    out = io.BytesIO()
    pq.write_table(
        pa.table(columns),
        out,
        compression=rng.choice(CODECS),
        use_dictionary=rng.random() < 0.7,
        row_group_size=rng.choice((1000, 10**6)),
    )
    return out.getvalue()


def _column(rng, pa, rows):
    kind = rng.randrange(15)
    numbers = np.random.default_rng(rng.randrange(2**32)).integers(0, 9, rows)
    if kind == 0:
        return pa.array(numbers / 7.0)
    if kind == 1:
        return pa.array(numbers.astype("f4"))
    if kind == 2:
        return pa.array(numbers, mask=numbers > 6)
    if kind == 3:
        return pa.array(numbers > 4)
    if kind == 4:
        return pa.nulls(rows)
    if kind == 5:
        return pa.array(numbers).cast(pa.decimal128(30, 5))
    if kind == 6:
        return pa.array(numbers).cast(pa.timestamp("ns"))
    if kind == 7:
        return pa.array([str(n) for n in numbers.tolist()])
    if kind in (8, 9):  # equal long texts take little room in the file
        length = rng.choice((10, 10_000, 50_000)) if rows <= 2000 else rng.choice((10, 300))
        if kind == 8:
            return pa.array(["x" * length] * rows)
        words = pa.array(["y" * length])
        return pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, "i4")), words)
    if kind == 10:
        return pa.array([[1.0, 2.0]] * min(rows, 100) + [None] * max(0, rows - 100))
    if kind == 11:
        return pa.array([{"a": 1}] * min(rows, 100) + [None] * max(0, rows - 100))
    if kind == 12:
        return pa.array([b"\xff\xfe"] * rows)
    if kind == 13:
        return pa.array(np.full(rows, np.iinfo("i8").max))
    return pa.array(numbers.astype("f2"))
