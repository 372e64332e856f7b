"""Changes of run.json: entries, types and nesting."""

from __future__ import annotations

import json

from tests.fuzz.mutators.plain import LONGEST, mutate_bytes

VALUES = (
    *(None, True, False, 0, 1, 1.0, -1, 2, 10**6, 10**30, 0.5, 1e308, "", "x", "fit", "cluster"),
    *("../x", "/dev/zero", "..", ".", "a/b", "a\\b", "\0", "\ud800", "x" * 5000, [], {}, [[]]),
    *([1], {"a": 1}, {"sha256": "x"}, {"sha256": 1, "path": 2}, {"path": "x", "sha256": ""}),
    *({"path": "::", "sha256": ""}, {"path": "a::b", "sha256": ""}, {"path": "\0", "sha256": ""}),
)


def places(value, way=()):
    """Ways to everything in plain data."""
    yield way
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*way, key))
    elif isinstance(value, list):
        for k, part in enumerate(value):
            yield from places(part, (*way, k))


def change_entry(rng, record, values=VALUES):
    """Another value, a missing key or another key somewhere in plain data."""
    ways = [way for way in places(record) if way]
    if not ways:
        return
    *way, last = rng.choice(ways)
    inside = record
    for key in way:
        inside = inside[key]
    kind = rng.randrange(4)
    if kind == 0:
        del inside[last]
    elif kind == 1 and isinstance(inside, dict):
        inside[rng.choice(("x", "..", "/x", "class", f"{last}x"))] = inside[last]
    elif kind == 2 and isinstance(inside[last], int | float):
        inside[last] = inside[last] * rng.choice((-1, 2, 0.5)) + rng.choice((-1, 0, 1))
    else:
        inside[last] = rng.choice(values)


def mutate_record(rng, data, others):
    """JSON with other entries."""
    if rng.random() < 0.3 or not data:
        return mutate_bytes(rng, data, others)
    if rng.random() < 0.05:
        return rng.choice(
            (b"[" * 100_000, b'{"a":' * 50_000, b"9" * 10_000, b'{"a": NaN}', b"\xff")
        )
    try:
        record = json.loads(data)
    except (ValueError, RecursionError):
        return mutate_bytes(rng, data, others)
    for _ in range(rng.choice((1, 1, 2, 4))):
        change_entry(rng, record)
    return json.dumps(record).encode()[:LONGEST]
