"""Archives: what is written comes back, and nothing else does."""

from __future__ import annotations

import errno
import io
import json
import os
import pickle
import random
import signal
import subprocess
import sys
import time
import tracemalloc
import zipfile
import zlib

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tests.support.model_files import (
    MANIFEST,
    as_member,
    put_together,
    taken_apart,
    with_array,
    zipped,
)
from viewhop._storage import archive
from viewhop.errors import ModelDamagedError, ModelFileError, ModelSizeError, ModelVersionError

MODEL = {"text": "Grüße, 世界", "numbers": [1, 2.5, -3e-300], "none": None, "yes": True}
ARRAYS = {
    "a": np.arange(6, dtype=np.float64).reshape(2, 3),
    "view0/b": np.arange(40, dtype=np.int32),
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.viewhop"


@pytest.fixture
def content(path):
    archive.write(path, MODEL, ARRAYS)
    data = path.read_bytes()
    path.unlink()
    return data


def read(path, content, **options):
    path.write_bytes(content)
    return archive.read(path, **options)


# --- what is written comes back ----------------------------------------------------------------


def test_plain_data_and_arrays_come_back(path, content):
    model, arrays, _ = read(path, content)
    assert model == MODEL
    assert [*arrays] == [*ARRAYS]
    for name, array in ARRAYS.items():
        assert_array_equal(arrays[name], array, strict=True)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64, np.bool_])
@pytest.mark.parametrize("shape", [(), (0,), (1,), (7,), (3, 4), (0, 3), (3, 0), (2, 3, 4)])
@pytest.mark.parametrize("layout", ["C", "F", "cut"])
def test_every_dtype_and_shape_comes_back_in_its_order(path, dtype, shape, layout):
    rng = np.random.default_rng(0)
    array = rng.integers(0, 2, shape).astype(dtype, order="F" if layout == "F" else "C")
    if layout == "cut":
        array = np.repeat(array, 2, axis=-1)[..., ::2] if array.ndim else array
    archive.write(path, {}, {"x": array})
    loaded = archive.read(path)[1]["x"]
    assert_array_equal(loaded, array, strict=True)
    if array.ndim > 1 and array.size:
        assert loaded.flags.f_contiguous == (layout == "F")


def test_bits_of_special_numbers_come_back(path):
    bits = np.array([0x7FF8000000000001, 1 << 63, 1, 0x7FF0000000000000], dtype=np.uint64)
    archive.write(path, {}, {"x": bits.view(np.float64)})
    assert_array_equal(archive.read(path)[1]["x"].view(np.uint64), bits)


def test_the_same_content_gives_the_same_bytes(tmp_path):
    for name in ("one", "two"):
        archive.write(tmp_path / name, MODEL, ARRAYS)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_numpy_and_other_zip_programs_read_the_members(path, content):
    _, members = taken_apart(content)
    for name, array in ARRAYS.items():
        loaded = np.load(io.BytesIO(members[f"{name}.npy"]), allow_pickle=False)
        assert_array_equal(loaded, array, strict=True)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_file_that_was_packed_again_is_read(path, content, method):
    again = put_together(*taken_apart(content), method=method)
    assert_array_equal(read(path, again)[1]["a"], ARRAYS["a"])


def test_members_announced_by_zip64_are_read(path, content):
    manifest, members = taken_apart(content)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as bundle:
        for name, data in [(MANIFEST, json.dumps(manifest).encode()), *members.items()]:
            with bundle.open(zipfile.ZipInfo(name), "w", force_zip64=True) as member:
                member.write(data)
    assert_array_equal(read(path, out.getvalue())[1]["a"], ARRAYS["a"])


def test_a_directory_in_zip64_is_read(path, content, monkeypatch):
    monkeypatch.setattr(zipfile, "ZIP_FILECOUNT_LIMIT", 1)
    again = put_together(*taken_apart(content))
    assert b"PK\x06\x06" in again
    assert_array_equal(read(path, again)[1]["a"], ARRAYS["a"])
    cut = again.replace(b"PK\x06\x06", b"PK\x06\x05")
    with pytest.raises(ModelFileError, match="zip64"):
        read(path, cut)
    cut = again.replace(b"PK\x06\x07" + b"\0" * 4, b"PK\x06\x07" + b"\1" * 4)
    with pytest.raises(ModelFileError, match="zip64"):
        read(path, cut)


# --- what cannot be written --------------------------------------------------------------------


@pytest.mark.parametrize("name", ["A", "../a", "/a", "a//b", "", "con", "x/nul", "ä", "a" * 41])
def test_an_array_cannot_have_any_name(path, name):
    with pytest.raises(ValueError, match="name"):
        archive.write(path, {}, {name: np.zeros(1)})
    assert not path.exists()


@pytest.mark.parametrize("array", [np.array([None]), np.zeros(2, "f8,i4"), np.array(["a"]), 1j])
def test_an_array_is_of_numbers(path, array):
    with pytest.raises(TypeError, match="an archive supports"):
        archive.write(path, {}, {"x": np.asarray(array)})
    assert not path.exists()


def test_half_a_character_cannot_be_written(path):
    with pytest.raises(ModelFileError, match="text"):
        archive.write(path, {"name": "\ud800"}, {})


def test_a_manifest_that_could_not_be_read_is_not_written(path):
    with pytest.raises(ModelSizeError, match="names of very many features"):
        archive.write(path, {"names": ["x" * 100] * 100_000}, {})


# --- what is refused ---------------------------------------------------------------------------

REFUSED = {}


def refused(name, kind, match):
    """Register a way to spoil a file, with the error that it must end in."""

    def register(spoil):
        REFUSED[name] = spoil, kind, match
        return spoil

    return register


def _member_named(name):
    def spoil(content):
        manifest, members = taken_apart(content)
        return put_together(manifest, {**members, name: b"x"})

    return spoil


for _name in (
    "../up.npy",
    "/etc/passwd",
    "a/../../b.npy",
    "./a.npy",
    "a//b.npy",
    "a\\b.npy",
    "c:\\a.npy",
    "C:a.npy",
    "folder/",
    "dot./a.npy",
    "space .npy ",
    "new\nline.npy",
    "wild*.npy",
    "näme.npy",
):
    REFUSED[f"a member named {_name!r}"] = (
        _member_named(_name),
        ModelFileError,
        "cannot have the name",
    )
for _name in ("con.npy", "more.npy", "manifest.json.npy"):
    REFUSED[f"an unlisted member {_name!r}"] = (
        _member_named(_name),
        ModelFileError,
        "not in the manifest",
    )
REFUSED["names that differ in case"] = _member_named("A.npy"), ModelFileError, "same name"


@refused("a name twice", ModelFileError, "same name")
def _(content):
    manifest, members = taken_apart(content)
    pairs = [(MANIFEST, json.dumps(manifest).encode()), *members.items()]
    with pytest.warns(UserWarning, match="Duplicate"):
        return zipped([*pairs, pairs[-1]])


@refused("a device in the manifest", ModelFileError, "cannot have the name")
def _(content):
    return with_array(content, "aux", np.zeros(2))


def _changed_info(**attributes):
    def spoil(content):
        def change(info):
            for name, value in attributes.items():
                setattr(info, name, value)

        return put_together(*taken_apart(content), change=change)

    return spoil


for _kind, _mode in {"link": 0o120777, "folder": 0o040755, "pipe": 0o010644}.items():
    REFUSED[f"a {_kind}"] = (
        _changed_info(external_attr=_mode << 16),
        ModelFileError,
        "a link, a folder or a device",
    )
REFUSED["a folder of DOS"] = _changed_info(external_attr=0x10), ModelFileError, "a folder"
REFUSED["a comment of a member"] = _changed_info(comment=b"hello"), ModelFileError, "plain zip"


@refused("a comment", ModelDamagedError, "comment")
def _(content):
    return put_together(*taken_apart(content), comment=b"hello")


for _method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):

    @refused(f"method {_method}", ModelFileError, "supported are stored and deflated|flags")
    def _(content, method=_method):
        return put_together(*taken_apart(content), method=method)


def _patched(place, value, *, central=True, local=True):
    """Bytes written over in the first member's headers; a place counts from the flags."""

    def spoil(content):
        spoilt = bytearray(content)
        begin = {b"PK\x01\x02": 8 if central else None, b"PK\x03\x04": 6 if local else None}
        for sign, flags in begin.items():
            if flags is not None:
                start = spoilt.index(sign) + flags + place
                spoilt[start : start + len(value)] = value
        return bytes(spoilt)

    return spoil


REFUSED["an encrypted member"] = _patched(0, b"\x01\x00"), ModelFileError, "encrypted"
REFUSED["sizes after the data"] = _patched(0, b"\x08\x00"), ModelFileError, "flags"
REFUSED["another flag in the header"] = (
    _patched(0, b"\x01\x00", central=False),
    ModelFileError,
    "do not agree",
)
REFUSED["another CRC in the header"] = (
    _patched(8, b"abcd", central=False),
    ModelFileError,
    "do not agree",
)
REFUSED["a CRC that does not fit"] = _patched(8, b"abcd"), ModelDamagedError, "CRC"
REFUSED["another size in the header"] = (
    _patched(16, b"\x01\x00\x00\x00", central=False),
    ModelSizeError,
    "different sizes",
)
REFUSED["a size of two kinds"] = (
    _patched(16, b"\x01\x00\x00\x00"),
    ModelSizeError,
    "not compressed, but its sizes differ",
)
REFUSED["a zip64 size without one"] = (
    _patched(16, b"\xff\xff\xff\xff"),
    ModelFileError,
    "extra field",
)
REFUSED["bytes before"] = (
    lambda content: b"PK\x03\x04" + content,
    ModelFileError,
    "directory is not",
)
REFUSED["bytes after"] = lambda content: content + b"x", ModelDamagedError, "does not end"
REFUSED["no zip file"] = lambda content: b"hello " * 100, ModelFileError, "zip"
REFUSED["nothing"] = lambda content: b"", ModelFileError, "zip"
REFUSED["a pickle"] = lambda content: pickle.dumps(print), ModelFileError, "zip"


@refused("bytes that belong to no member", ModelFileError, "belong to none")
def _(content):
    begin = content.index(b"PK\x01\x02")
    spoilt = bytearray(content[:begin] + b"hidden" + content[begin:])
    spoilt[-6:-2] = (begin + 6).to_bytes(4, "little")
    return bytes(spoilt)


@refused("members that share bytes", ModelFileError, "overlap")
def _(content):
    spoilt = bytearray(content)
    second = spoilt.index(b"PK\x01\x02", spoilt.index(b"PK\x01\x02") + 4)
    spoilt[second + 42 : second + 46] = (0).to_bytes(4, "little")
    return bytes(spoilt)


@refused("too many members", ModelSizeError, "too many")
def _(content):
    return zipped([(f"m{k}", b"") for k in range(10_001)])


@refused("fewer members than it says", ModelFileError, "shorter than declared")
def _(content):
    spoilt = bytearray(content)
    spoilt[-14:-12] = spoilt[-12:-10] = (9).to_bytes(2, "little")
    return bytes(spoilt)


@refused("more members than it says", ModelFileError, "longer than declared")
def _(content):
    spoilt = bytearray(content)
    spoilt[-14:-12] = spoilt[-12:-10] = (1).to_bytes(2, "little")
    return bytes(spoilt)


@refused("several disks", ModelFileError, "several parts")
def _(content):
    spoilt = bytearray(content)
    spoilt[-18:-16] = (1).to_bytes(2, "little")
    return bytes(spoilt)


@refused("a bomb in an array", ModelSizeError, "more than 100 times")
def _(content):
    manifest, members = taken_apart(with_array(content, "zeros", np.zeros(1_000_000)))
    return put_together(manifest, members, method=zipfile.ZIP_DEFLATED)


@refused("a bomb in the manifest", ModelSizeError, "more than 100 times")
def _(content):
    return zipped([(MANIFEST, b" " * 10_000_000)], method=zipfile.ZIP_DEFLATED)


@refused("a manifest that is too long", ModelSizeError, "more than the limit of")
def _(content):
    return zipped([(MANIFEST, b" " * 9_000_000)])


def _deflated(tail, *, size=None, cut=0):
    """A deflated manifest followed by more bytes, or cut."""

    def spoil(content):
        text = json.dumps(taken_apart(content)[0]).encode()
        said = text if size is None else text[:size]
        engine = zlib.compressobj(9, zlib.DEFLATED, -15)
        packed = engine.compress(text) + engine.flush() + tail
        packed = packed[: len(packed) - cut]
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as bundle:
            bundle.writestr(zipfile.ZipInfo(MANIFEST), packed)
        spoilt = bytearray(out.getvalue())
        for sign, place in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
            start = spoilt.index(sign) + place
            spoilt[start : start + 2] = (8).to_bytes(2, "little")
            spoilt[start + 6 : start + 10] = zlib.crc32(said).to_bytes(4, "little")
            spoilt[start + 14 : start + 18] = len(said).to_bytes(4, "little")
        return bytes(spoilt)

    return spoil


REFUSED["bytes after a deflated member"] = _deflated(b"more"), ModelSizeError, "after its end"
REFUSED["a deflated member that holds more"] = _deflated(b"", size=50), ModelSizeError, "more than"
REFUSED["a deflated member that is cut"] = _deflated(b"", cut=9), ModelSizeError, "but declares"
REFUSED["a deflated member of nonsense"] = (
    lambda content: _patched(2, b"\x08\x00")(zipped([(MANIFEST, b"\xff" * 50)])),
    ModelDamagedError,
    "unpacked",
)


def _array_bytes(data):
    def spoil(content):
        manifest, members = taken_apart(content)
        members["a.npy"] = data
        manifest["arrays"]["a"] |= {"dtype": "<f8", "shape": [1], "order": "C"}
        return put_together(manifest, members)

    return spoil


_EIGHT = as_member(np.zeros(1))
assert len(_EIGHT) == 136


def _npy(text, version=b"\x01\x00", magic=b"\x93NUMPY", size=None):
    text = text.ljust(117).encode() + b"\n"
    length = len(text) if size is None else size
    return magic + version + length.to_bytes(2, "little") + text + b"\0" * 8


_GOOD = "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }"
assert _npy(_GOOD) == _EIGHT

REFUSED |= {
    f"an array with {name}": (_array_bytes(data), ModelFileError, match)
    for name, data, match in (
        ("objects", _npy(_GOOD.replace("<f8", "|O")), "array of numbers"),
        ("fields", _npy(_GOOD.replace("'<f8'", "[('a', '<f8')]")), "array of numbers"),
        ("text", _npy(_GOOD.replace("<f8", "<U2")), "array of numbers"),
        ("large ends first", _npy(_GOOD.replace("<f8", ">f8")), "array of numbers"),
        ("another dtype", _npy(_GOOD.replace("<f8", "<i8")), "header differs from the manifest"),
        ("another shape", _npy(_GOOD.replace("(1,)", "(2,)")), "header differs from the manifest"),
        ("another order", _npy(_GOOD.replace("False", "True")), "header differs from the manifest"),
        ("a large shape", _npy(_GOOD.replace("(1,)", "(99999999999, 9999999)")), "shape"),
        ("many dimensions", _npy(_GOOD.replace("(1,)", "(1, 1, 1, 1, 1)")), "shape"),
        ("code", _npy("__import__('os').system('true')"), "array of numbers"),
        ("other spaces", _npy(_GOOD.replace(", }", ",}")), "array of numbers"),
        ("another version", _npy(_GOOD, version=b"\x02\x00"), "does not begin"),
        ("another magic", _npy(_GOOD, magic=b"\x93NUMPI"), "does not begin"),
        ("a long header", _npy(_GOOD, size=60_000), "does not begin"),
        ("a short header", _npy(_GOOD, size=50), "array of numbers"),
    )
}


@refused("a pickle in an array", ModelSizeError, "bytes")
def _(content):
    return _array_bytes(as_member(np.array([print], dtype=object)))(content)


@refused("bytes that are no booleans", ModelFileError, "booleans")
def _(content):
    changed = with_array(content, "x", np.array([True, False]))
    manifest, members = taken_apart(changed)
    members["x.npy"] = members["x.npy"][:-1] + b"\x02"
    return put_together(manifest, members)


def _array_entry(**changes):
    def spoil(content):
        manifest, members = taken_apart(content)
        for key, value in changes.items():
            if value is None:
                del manifest["arrays"]["a"][key]
            else:
                manifest["arrays"]["a"][key] = value
        return put_together(manifest, members, honest=False)

    return spoil


REFUSED |= {
    f"an entry with {changes}": (_array_entry(**changes), kind, match)
    for changes, kind, match in (
        ({"sha256": "0" * 64}, ModelDamagedError, "SHA-256"),
        ({"sha256": "x"}, ModelFileError, "SHA-256"),
        ({"sha256": 3}, ModelFileError, "SHA-256"),
        ({"sha256": None}, ModelFileError, "missing keys: sha256"),
        ({"more": 1}, ModelFileError, "unknown keys: 'more'"),
        ({"size": 1}, ModelSizeError, "bytes"),
        ({"size": True}, ModelSizeError, "bytes"),
        ({"size": "176"}, ModelSizeError, "bytes"),
        ({"shape": [3, 3]}, ModelSizeError, "bytes"),
        ({"shape": [3, 2]}, ModelSizeError, "header differs from the manifest"),
        ({"shape": [-2, -3]}, ModelFileError, "shape"),
        ({"shape": [2.0, 3]}, ModelFileError, "shape"),
        ({"shape": [True, 6]}, ModelFileError, "shape"),
        ({"shape": [1] * 5}, ModelFileError, "shape"),
        ({"shape": "6"}, ModelFileError, "shape"),
        ({"shape": [2**47, 2**47]}, ModelSizeError, "bytes"),
        ({"dtype": "|O"}, ModelFileError, "dtype"),
        ({"dtype": [["a", "<f8"]]}, ModelFileError, "dtype"),
        ({"dtype": ">f8"}, ModelFileError, "dtype"),
        ({"order": "A"}, ModelFileError, "order"),
    )
}


@refused("an entry that is no object", ModelFileError, "not an object")
def _(content):
    manifest, members = taken_apart(content)
    manifest["arrays"]["a"] = 3
    return put_together(manifest, members)


@refused("an array that is not there", ModelFileError, "not in the file")
def _(content):
    manifest, members = taken_apart(content)
    del members["a.npy"]
    return put_together(manifest, members, honest=False)


@refused("an array of another size, stored honestly", ModelSizeError, "the manifest says")
def _(content):
    manifest, members = taken_apart(content)
    members["a.npy"] += b"\0" * 8
    return put_together(manifest, members, honest=False)


@refused("arrays that were swapped", ModelDamagedError, "SHA-256")
def _(content):
    changed = with_array(content, "b", ARRAYS["a"] + 1)
    manifest, members = taken_apart(changed)
    members["a.npy"], members["b.npy"] = members["b.npy"], members["a.npy"]
    return put_together(manifest, members, honest=False)


@refused("no manifest", ModelFileError, "has no manifest")
def _(content):
    return zipped([("a.npy", b"x")])


def _manifest(change):
    def spoil(content):
        manifest, members = taken_apart(content)
        made = change(manifest)
        return put_together(made, members, honest=not isinstance(made, bytes))

    return spoil


def _text(old, new):
    return _manifest(lambda manifest: json.dumps(manifest).encode().replace(old, new, 1))


_VERSION = b'"version": 2'
REFUSED |= {
    f"a manifest {name}": (spoil, kind, match)
    for name, spoil, kind, match in (
        ("of version 3", _text(_VERSION, b'"version": 3'), ModelVersionError, "version 3"),
        ("of version 0", _text(_VERSION, b'"version": 0'), ModelVersionError, "version 0"),
        ("of version '2'", _text(_VERSION, b'"version": "2"'), ModelVersionError, "'2'"),
        ("of version true", _text(_VERSION, b'"version": true'), ModelVersionError, "True"),
        ("of version 2.0", _text(_VERSION, b'"version": 2.0'), ModelVersionError, "2.0"),
        ("without version", _text(_VERSION, b'"x": 1'), ModelVersionError, "None"),
        (
            "of something else",
            _text(b"viewhop model", b"hello"),
            ModelFileError,
            "does not belong to",
        ),
        ("with NaN", _text(b"2.5", b"NaN"), ModelFileError, "NaN"),
        ("with -Infinity", _text(b"2.5", b"-Infinity"), ModelFileError, "Infinity"),
        ("with 1e999", _text(b"2.5", b"1e999"), ModelFileError, "too large"),
        ("with many digits", _text(b"2.5", b"9" * 5000), ModelFileError, "too large"),
        ("with a key twice", _text(b'"none":', b'"yes":'), ModelFileError, "repeated key"),
        ("with half a character", _text(b'"none"', b'"\\ud800"'), ModelFileError, "JSON"),
        ("of other bytes", _text(b'"none"', b'"\xff"'), ModelFileError, "JSON"),
        ("that is cut", _text(b"}", b""), ModelFileError, "JSON"),
        ("with more after it", _manifest(lambda m: json.dumps(m).encode() + b"{}"), None, "JSON"),
        ("that is a list", _manifest(lambda m: b"[1]"), ModelFileError, "does not belong to"),
        ("that is empty", _manifest(lambda m: b""), ModelFileError, "JSON"),
        ("that is deep", _text(b"null", b"[" * 99 + b"]" * 99), ModelFileError, "levels deep"),
        ("that is very deep", _text(b"null", b"[" * 10**6), ModelFileError, "levels deep"),
        (
            "with a key more",
            _manifest(lambda m: {**m, "x": 1}),
            ModelFileError,
            "unknown keys: 'x'",
        ),
        ("without writer", _text(b'"writer"', b'"w"'), ModelFileError, "missing keys: writer"),
        ("with a numbered writer", _manifest(lambda m: {**m, "writer": 1}), None, "writer"),
        ("with a list of a model", _manifest(lambda m: {**m, "model": []}), None, "objects"),
        ("with a hostile name", _text(b'"a":', b'"../a":'), ModelFileError, "cannot have the name"),
    )
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_is_refused(path, content, name):
    spoil, kind, match = REFUSED[name]
    spoilt = spoil(content)
    with pytest.raises(kind or ModelFileError, match=match) as caught:
        read(path, spoilt)
    assert str(path) in str(caught.value)
    if kind is not None:
        assert type(caught.value) is kind or kind is ModelFileError


def test_a_file_cut_anywhere_is_refused(path, content):
    for length in range(len(content)):
        with pytest.raises(ModelFileError):
            read(path, content[:length])


def test_a_flipped_bit_is_refused_or_changes_nothing(path, content):
    """Only times and versions of the zip format may differ, which are not read."""
    model, arrays, _ = read(path, content)
    changed = 0
    for place in range(len(content)):
        spoilt = bytearray(content)
        spoilt[place] ^= 1 << place % 8
        try:
            again, loaded, _ = read(path, bytes(spoilt))
        except ModelFileError:
            continue
        changed += 1
        assert again == model
        assert [*loaded] == [*arrays]
        for name in arrays:
            assert_array_equal(loaded[name], arrays[name], strict=True)
    assert 0 < changed < 30 * (len(ARRAYS) + 2)


def test_folders_pipes_and_devices_are_refused(tmp_path):
    with pytest.raises(ModelFileError, match="folder"):
        archive.read(tmp_path)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(ModelFileError, match="pipe"):
            archive.read(tmp_path / "pipe")
    with pytest.raises(FileNotFoundError):
        archive.read(tmp_path / "nobody")


def test_more_than_the_budget_is_refused_before_it_is_taken(path):
    archive.write(path, {}, {"x": np.zeros(4_000_000)})
    tracemalloc.start()
    try:
        with pytest.raises(ModelSizeError, match="budget is 1 MB"):
            archive.read(path, max_memory="1MB")
        assert tracemalloc.get_traced_memory()[1] < 1e6
        tracemalloc.reset_peak()
        archive.read(path)
        assert tracemalloc.get_traced_memory()[1] < 40e6
    finally:
        tracemalloc.stop()


# --- the old file or the new one ---------------------------------------------------------------


def parts(folder):
    return [entry.name for entry in folder.iterdir() if entry.name.endswith(".part")]


@pytest.mark.parametrize("step", ["os.fsync", "os.replace", "zipfile.ZipFile.writestr", "os.chmod"])
@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left"), KeyboardInterrupt()], ids=["full", "stopped"]
)
def test_a_write_that_fails_leaves_the_old_file(path, monkeypatch, step, error):
    archive.write(path, {"which": "old"}, ARRAYS)

    def fail(*given, **named):
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(step, fail)
        with pytest.raises(type(error)):
            archive.write(path, {"which": "new"}, ARRAYS)
    assert archive.read(path)[0] == {"which": "old"}
    assert not parts(path.parent)


@pytest.mark.skipif(os.name == "nt", reason="limits of file sizes are those of POSIX")
def test_a_disk_that_fills_up_leaves_the_old_file(path):
    archive.write(path, {"which": "old"}, {})
    code = (
        "import resource, signal, sys, numpy as np\n"
        "from viewhop._storage import archive\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "try:\n"
        "    archive.write(sys.argv[1], {'which': 'new'}, {'x': np.zeros(10**6)})\n"
        "except OSError as error:\n"
        "    print(error.errno)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == str(errno.EFBIG)
    assert archive.read(path)[0] == {"which": "old"}
    assert not parts(path.parent)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL")
def test_a_kill_leaves_the_old_file_or_the_new_one(path):
    rng = random.Random(0)
    code = (
        "import sys, numpy as np\n"
        "from viewhop._storage import archive\n"
        "k = int(sys.argv[2])\n"
        "while True:\n"
        "    k += 1\n"
        "    archive.write(sys.argv[1], {'k': k}, {'x': np.full(200_000, k)})\n"
        "    print(k, flush=True)\n"
    )
    archive.write(path, {"k": 0}, {"x": np.full(200_000, 0)})
    last, left_behind = 0, 0
    for _ in range(20):
        child = subprocess.Popen(
            [sys.executable, "-c", code, str(path), str(last)], stdout=subprocess.PIPE, text=True
        )
        count = int(child.stdout.readline())
        time.sleep(rng.random() * 0.02)
        child.kill()
        count = max([count, *map(int, child.stdout.read().split())])
        child.wait()
        child.stdout.close()
        model, arrays, _ = archive.read(path)
        assert model["k"] in (count, count + 1)
        assert_array_equal(arrays["x"], np.full(200_000, model["k"]))
        last = model["k"]
        left_behind += bool(parts(path.parent))
    assert left_behind  # some kill came in the middle of a write


def test_what_a_link_leads_to_is_replaced(path, tmp_path):
    real = tmp_path / "real"
    archive.write(real, {"which": "old"}, {})
    real.chmod(0o640)
    path.symlink_to(real)
    archive.write(path, {"which": "new"}, {})
    assert path.is_symlink()
    assert archive.read(real)[0] == {"which": "new"}
    assert real.stat().st_mode & 0o777 == 0o640


def test_only_files_are_replaced(tmp_path):
    with pytest.raises(IsADirectoryError, match="Is a directory"):
        archive.write(tmp_path, {}, {})
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(OSError, match="not a regular file"):
            archive.write(tmp_path / "pipe", {}, {})
    with pytest.raises(FileNotFoundError):
        archive.write(tmp_path / "nowhere" / "a", {}, {})
