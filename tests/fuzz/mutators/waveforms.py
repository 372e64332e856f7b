"""Changes of miniSEED files: fields of headers and blockettes, and whole records."""

from __future__ import annotations

import struct

from tests.fuzz.mutators.plain import INTEGERS, LONGEST, mutate_bytes

#: Offset and struct code of the fields of a fixed header, then of the first blockette.
FIELDS = (
    *((0, "6s"), (6, "B"), (7, "B"), (8, "5s"), (13, "2s"), (15, "3s"), (18, "2s")),
    *((20, "H"), (22, "H"), (24, "B"), (25, "B"), (26, "B"), (28, "H"), (30, "H"), (32, "h")),
    *((34, "h"), (36, "B"), (37, "B"), (38, "B"), (39, "B"), (40, "i"), (44, "H"), (46, "H")),
    *((48, "H"), (50, "H"), (52, "B"), (53, "B"), (54, "B"), (55, "B"), (56, "H"), (58, "H")),
)
CODES = (b"      ", b"000001", b"\0\0\0\0\0\0", b"\xff\xfe\xfd\xfc\xfb\xfa", b"99999D", b"DDDDDD")


def mutate_records(rng, data, others):
    """miniSEED with other fields or other records."""
    if rng.random() < 0.3 or len(data) < 128 or data[6:7] not in b"DRQM":
        return mutate_bytes(rng, data, others)
    size = 512 if len(data) % 512 == 0 else 128
    records = [bytearray(data[at : at + size]) for at in range(0, len(data), size)]
    for _ in range(rng.choice((1, 1, 2, 3, 8))):
        rng.choice(CHANGES)(rng, records)
    return b"".join(map(bytes, records))[:LONGEST]


def set_field(rng, records):
    record = rng.choice(records)
    place, code = rng.choice(FIELDS)
    if place + struct.calcsize(code) > len(record):
        return
    if code.endswith("s"):
        size = struct.calcsize(code)
        record[place : place + size] = (rng.choice(CODES) * 2)[:size]
        return
    value = rng.choice((*INTEGERS, 48, 56, 64, 1000, 1001, 2000, 1970, 2100, 366))
    bits = 8 * struct.calcsize(code)
    value %= 1 << bits
    if code.islower() and value >= 1 << bits - 1:
        value -= 1 << bits
    struct.pack_into(rng.choice("><") + code, record, place, value)


def set_encoding(rng, records):
    record = rng.choice(records)
    if len(record) > 55:
        record[52] = rng.choice((*range(20), 30, 31, 32, 33, 255))
        record[54] = rng.choice((0, 6, 7, 8, 9, 10, 20, 21, 63, 64, 255))


def chain_blockettes(rng, records):
    """A blockette that points to itself, back, or far away."""
    record = rng.choice(records)
    if len(record) > 60:
        struct.pack_into(">H", record, 46, rng.choice((0, 44, 48, 56, 100, len(record) - 4)))
        struct.pack_into(">HH", record, 48, rng.choice((1000, 100, 201, 9)), rng.randrange(65536))


def damage_samples(rng, records):
    record = rng.choice(records)
    if len(record) > 64:
        record[64:] = mutate_bytes(rng, bytes(record[64:]), ())[: len(record) - 64]


def drop_record(rng, records):
    if len(records) > 1:
        del records[rng.randrange(len(records))]


def repeat_record(rng, records):
    records.insert(rng.randrange(len(records) + 1), bytearray(rng.choice(records)))


def swap_records(rng, records):
    one, two = rng.randrange(len(records)), rng.randrange(len(records))
    records[one], records[two] = records[two], records[one]


def shorten_record(rng, records):
    record = rng.choice(records)
    del record[rng.randrange(1, len(record)) if len(record) > 1 else 0 :]


def insert_noise(rng, records):
    records.insert(
        rng.randrange(len(records) + 1), bytearray(rng.randbytes(rng.choice((1, 64, 512))))
    )


def change_byte_order(rng, records):
    """The fixed header in little-endian order, the rest unchanged."""
    record = rng.choice(records)
    for place, code in FIELDS:
        if code in "Hhi" and place + struct.calcsize(code) <= len(record):
            value = struct.unpack_from(f">{code}", record, place)[0]
            struct.pack_into(f"<{code}", record, place, value)


CHANGES = (
    *(set_field, set_field, set_field, set_encoding, chain_blockettes, damage_samples),
    *(drop_record, repeat_record, swap_records, shorten_record, insert_noise, change_byte_order),
)
