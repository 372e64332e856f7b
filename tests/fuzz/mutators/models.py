"""Changes of model files: the manifest and the arrays, with right hashes or wrong ones."""

from __future__ import annotations

import io
import struct
import warnings

import numpy as np

from tests.fuzz.mutators.plain import INTEGERS, LONGEST, mutate_bytes
from tests.fuzz.mutators.records import change_entry
from tests.support.model_files import as_member, put_together, taken_apart

VALUES = (
    *(None, True, False, 0, 1, -1, 2, 7, 10**6, 2**31, 2**62, -(2**62), 10**19),
    *(0.5, -0.5, 1e308, -1e308, 1e-320, "", "x", "hop", "sum", "product", "concat", "composite"),
    *("Gaussian", "Precomputed", "local", "auto", "mean", "float32", "float64", "precomputed"),
    *([], [[]], {}, [0], ["a"], {"array": "0"}, {"tuple": [1]}, {"slice": [0, 1, None]}),
    *({"number": "nan"}, {"dict": [["a", 0]]}, {"kernel": {"class": "Gaussian"}}),
)
NUMBERS = (0.0, -1.0, np.nan, np.inf, -np.inf, 1e300, 1e-320, 1.0, 2**31 - 1, -(2**31), 10**6)


def mutate_model(rng, data, others):
    """A model file with another manifest or other arrays, or a damaged one."""
    kind = rng.randrange(10)
    if kind < 2:
        return mutate_bytes(rng, data, others)
    try:
        manifest, members = taken_apart(data)
    except Exception:
        return mutate_bytes(rng, data, others)
    if kind == 2:
        return _mutate_member(rng, data)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        if kind < 6:
            change_entry(rng, manifest, VALUES)
        elif kind < 9:
            change_array(rng, manifest, members)
        elif len(members) > 1:
            one, two = rng.sample([*members], 2)
            members[one], members[two] = members[two], members[one]
    honest = isinstance(manifest.get("arrays"), dict) and rng.random() < 0.95
    return put_together(manifest, members, honest=honest, method=rng.choice((0, 0, 8)))[:LONGEST]


def change_array(rng, manifest, members):
    """Other numbers, another shape or another dtype of an array, declared or not."""
    known = manifest.get("arrays")
    names = [name for name in known if f"{name}.npy" in members] if isinstance(known, dict) else []
    if not names:
        return
    name = rng.choice(names)
    entry = manifest["arrays"][name]
    array = _array(members[f"{name}.npy"]).copy()
    kind = rng.randrange(6)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if kind <= 2 and array.size:
            for _ in range(rng.choice((1, 1, 3, 50))):
                value = np.array(rng.choice(NUMBERS)).astype(array.dtype)
                array.flat[rng.randrange(array.size)] = value
        elif kind == 3 and array.ndim:
            array = array[: rng.randrange(len(array) + 1)]
        elif kind == 4:
            array = array.astype(rng.choice(("<f4", "<f8", "<i4", "<i8", "|b1", "<f2")))
        else:
            array = _array(members[f"{rng.choice(names)}.npy"])
    members[f"{name}.npy"] = as_member(array)
    if rng.random() < 0.9 and isinstance(entry, dict):
        order = "F" if array.ndim > 1 and not array.flags.c_contiguous else "C"
        entry |= {"dtype": array.dtype.str, "shape": [*array.shape], "order": order}


def _array(data):
    return np.load(io.BytesIO(data), allow_pickle=False)


def _mutate_member(rng, data):
    """A field of the zip directory, or of a member's header, set to another number."""
    changed = bytearray(data)
    mark = rng.choice((b"PK\x01\x02", b"PK\x03\x04", b"PK\x05\x06"))
    places = []
    at = data.find(mark)
    while at >= 0:
        places.append(at)
        at = data.find(mark, at + 1)
    if not places:
        return data
    place = rng.choice(places) + rng.choice((4, 6, 8, 10, 14, 16, 18, 20, 22, 24, 26, 28, 42))
    if place + 4 <= len(changed):
        struct.pack_into("<I", changed, place, rng.choice(INTEGERS) % 2**32)
    return bytes(changed)
