"""Changes that know nothing of the format: bits, blocks, lengths and numbers."""

from __future__ import annotations

import re
import struct

#: Numbers at which lengths, counts and offsets overflow or change their sign.
INTEGERS = (
    *(0, 1, 2, 7, 8, 16, 64, 100, 127, 128, 255, 256, 1000, 4096, 32767, 32768, 65535, 65536),
    *(10**6, 2**24, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**40, 2**62, 2**63 - 1, 2**63, 2**64 - 1),
    *(-1, -2, -128, -32768, -(2**31), -(2**63)),
)
#: Numbers as text, where a parser of numbers may stumble.
TEXTS = (
    *(b"0", b"-0", b"1", b"-1", b"9" * 25, b"1e308", b"1e309", b"-1e999", b"1e-320", b"5e-324"),
    *(b"nan", b"NaN", b"inf", b"-Infinity", b"0x10", b"1_000", b"1,5", b"1.2.3", b"--1", b"+", b""),
    *(b"null", b"true", b"\xd9\xa3", b"9" * 5000, b"1" + b"0" * 400, b".", b"e5", b"00012"),
)
#: The longest file that is kept; longer ones only cost time.
LONGEST = 400_000


def flip_bits(rng, data):
    for _ in range(rng.choice((1, 1, 2, 8, 64))):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def set_bytes(rng, data):
    for _ in range(rng.choice((1, 1, 2, 5))):
        data[rng.randrange(len(data))] = rng.choice((0, 1, 0x20, 0x7F, 0x80, 0xFF, 0x22, 0x0A))


def truncate(rng, data):
    del data[rng.randrange(len(data)) :]


def remove_block(rng, data):
    begin, size = _block(rng, data)
    del data[begin : begin + size]


def repeat_block(rng, data):
    begin, size = _block(rng, data)
    times = rng.choice((1, 1, 2, 30))
    data[begin:begin] = data[begin : begin + size] * times


def move_block(rng, data):
    begin, size = _block(rng, data)
    block = data[begin : begin + size]
    del data[begin : begin + size]
    place = rng.randrange(len(data) + 1)
    data[place:place] = block


def overwrite_block(rng, data):
    begin, size = _block(rng, data)
    filler = rng.choice((b"\0", b"\xff", b" ", b"A", None))
    block = rng.randbytes(size) if filler is None else filler * size
    data[begin : begin + size] = block[: len(data) - begin]


def insert_bytes(rng, data):
    place = rng.randrange(len(data) + 1)
    data[place:place] = rng.choice(
        (rng.randbytes(rng.randrange(1, 20)), b"\0" * 8, b"\xef\xbb\xbf")
    )


def set_integer(rng, data):
    """An integer of 1 to 8 bytes in either byte order, set or moved by a little."""
    size, order = rng.choice((1, 2, 4, 4, 8)), rng.choice("<>")
    if len(data) < size:
        return
    place = rng.randrange(len(data) - size + 1)
    kind = f"{order}{ {1: 'B', 2: 'H', 4: 'I', 8: 'Q'}[size] }"
    value = rng.choice(INTEGERS)
    if rng.random() < 0.4:
        value = struct.unpack_from(kind, data, place)[0] + rng.choice((-2, -1, 1, 2, 8, 256))
    struct.pack_into(kind, data, place, value % (1 << 8 * size))


def set_number_text(rng, data):
    """A run of digits replaced by another number."""
    runs = [match.span() for match in re.finditer(rb"[0-9][0-9.eE+-]*", bytes(data))]
    if runs:
        begin, end = rng.choice(runs)
        data[begin:end] = rng.choice(TEXTS)


CHANGES = (
    *(flip_bits, set_bytes, truncate, remove_block, repeat_block, move_block),
    *(overwrite_block, insert_bytes, set_integer, set_integer, set_number_text),
)


def mutate_bytes(rng, data, others):
    """The bytes changed in a few places, or spliced with those of another file."""
    if not data:
        return rng.randbytes(rng.randrange(1, 64))
    if others and rng.random() < 0.08:
        other = rng.choice(others)
        data = data[: rng.randrange(len(data) + 1)] + other[rng.randrange(len(other) + 1) :]
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        if not changed:
            break
        rng.choice(CHANGES)(rng, changed)
    return bytes(changed[:LONGEST])


def _block(rng, data):
    begin = rng.randrange(len(data))
    return begin, rng.choice((1, 2, 4, 8, rng.randrange(1, 65), rng.randrange(1, len(data) + 1)))
