"""Reading waveform files: what obspy reads, without what a file should not be able to do."""

from __future__ import annotations

import bz2
import gzip
import io
import pickle
import random
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from viewhop.errors import SeismicError
from viewhop.seismic.io import Waveforms, read_waveforms
from viewhop.seismic.io.child import answer
from viewhop.seismic.io.formats import FORMATS, check_contents, format_of, unpacked
from viewhop.seismic.io.guard import Guard
from viewhop.seismic.io.mseed import read_mseed

LIMIT = 1 << 24


def written(trace, format, **options):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "file")
        trace.write(str(path), format=format, **options)
        # Some formats add an ending to the name.
        return next(Path(folder).iterdir()).read_bytes()


@pytest.fixture
def mseed(trace):
    """A miniSEED file of many records."""
    return written(trace(seconds=100), "MSEED", reclen=512)


@pytest.mark.parametrize("format", ["MSEED", "SAC", "GSE2", "SLIST", "TSPAIR", "SH_ASC"])
def test_what_was_written_is_read_back(trace, tmp_path, format):
    own = trace(seconds=20)
    path = tmp_path / "some"
    path.write_bytes(written(own, format))
    waveforms = read_waveforms(path)
    (channel,) = waveforms.channels.values()
    (segment,) = channel.segments
    assert segment.sampling_rate == 40.0
    assert channel.station.endswith(".MMLI")
    assert channel.component == "Z"
    assert abs(segment.start - own.stats.starttime.ns) < 1000
    # SH_ASC has eight digits.
    assert_allclose(segment.data, own.data, rtol=1e-6)


def test_the_reader_agrees_with_obspy_on_its_own_record(obspy, record_files, record):
    for file in record_files:
        (trace,) = obspy.read(str(file))
        (segment,) = record.channels[trace.id].segments
        assert_array_equal(segment.data, trace.data)
        assert segment.start == trace.stats.starttime.ns
        assert segment.sampling_rate == trace.stats.sampling_rate


def test_pieces_in_several_files_are_one_channel(trace, tmp_path):
    own = trace(seconds=60)
    start = own.stats.starttime
    for name, part in {"b": own.slice(start + 30), "a": own.slice(None, start + 30)}.items():
        (tmp_path / name).write_bytes(written(part, "MSEED"))
    waveforms = read_waveforms([tmp_path / "b", tmp_path / "a"])
    (segment,) = waveforms.channels[own.id].segments
    assert_array_equal(segment.data, own.data)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_compressed_files_are_unpacked_within_bounds(mseed, tmp_path, pack):
    path = tmp_path / "some.packed"
    path.write_bytes(pack(mseed))
    assert len(read_waveforms(path).channels) == 1
    bomb = tmp_path / "bomb"
    bomb.write_bytes(pack(bytes(1 << 22)))
    with pytest.raises(SeismicError, match=r"bomb: it unpacks to more than 1,048,576 bytes"):
        read_waveforms(bomb, max_bytes=1 << 20)
    path.write_bytes(pack(mseed)[:-20])
    with pytest.raises(SeismicError, match="compression is damaged"):
        read_waveforms(path)
    path.write_bytes(pack(mseed) + pack(mseed))
    with pytest.raises(SeismicError, match="follow its compressed part"):
        read_waveforms(path)


def archives(data):
    zipped, tarred = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as file:
        file.writestr("some.mseed", data)
    with tarfile.open(fileobj=tarred, mode="w") as file:
        member = tarfile.TarInfo("some.mseed")
        member.size = len(data)
        file.addfile(member, io.BytesIO(data))
    return {"zip": zipped.getvalue(), "tar": tarred.getvalue()}


@pytest.mark.parametrize("kind", ["zip", "tar"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_archives_are_refused(mseed, tmp_path, kind, pack):
    path = tmp_path / "some.mseed"
    path.write_bytes(pack(archives(mseed)[kind]))
    with pytest.raises(SeismicError, match=f"it is a {kind} file"):
        read_waveforms(path)


class Trap:
    """A pickle of this touches a file when it is loaded."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


def test_a_pickle_is_never_loaded(obspy, trace, tmp_path):
    touched = tmp_path / "touched"
    path = tmp_path / "some.pickle"
    path.write_bytes(b"obspy.core.stream" + pickle.dumps([Trap(touched), "obspy.core.stream"]))
    stream = obspy.Stream([trace()])
    other = tmp_path / "stream.pickle"
    stream.write(str(other), format="PICKLE")
    for file in (path, other):
        with pytest.raises(SeismicError, match="in no known format"):
            read_waveforms(file)
        with pytest.raises(SeismicError, match="'PICKLE' is not read"):
            read_waveforms(file, format="PICKLE")
    with pytest.raises(ValueError, match="PICKLE is not read"):
        answer(other.read_bytes(), "PICKLE", LIMIT)
    assert not touched.exists()
    assert "PICKLE" not in FORMATS


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("http://127.0.0.1:9/some.mseed", "URL"),
        ("*.mseed", "no such file"),
        ("none.mseed", "no such file"),
        (".", "folder"),
    ],
)
def test_only_files_are_read(mseed, tmp_path, monkeypatch, name, told):
    (tmp_path / "some.mseed").write_bytes(mseed)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SeismicError, match=told):
        read_waveforms(name)
    waveforms = read_waveforms([name, "some.mseed"])
    assert len(waveforms.channels) == 1
    assert waveforms.summary.counts == {"unreadable file": 1}


def test_files_that_are_nothing_are_named(tmp_path):
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "text").write_text("this is no seismogram")
    for name, told in {"empty": "it is empty", "text": "it is in no known format"}.items():
        with pytest.raises(SeismicError, match=rf"{name}: {told}") as caught:
            read_waveforms(tmp_path / name)
        assert caught.value.trace.endswith(name)
    (tmp_path / "large").write_bytes(bytes(2000))
    with pytest.raises(SeismicError, match="more than 1,000 bytes"):
        read_waveforms(tmp_path / "large", max_bytes=1000)
    with pytest.raises(SeismicError, match="at least one"):
        read_waveforms([])


def damage(data, record, part):
    """A file in which a part of one record is noise."""
    found = bytearray(data)
    begin = 512 * record
    noise = random.Random(1).randbytes(512)
    places = {"samples": (64, 512), "header": (0, 48), "all": (0, 512)}[part]
    found[begin + places[0] : begin + places[1]] = noise[places[0] : places[1]]
    return bytes(found)


@pytest.mark.parametrize("part", ["samples", "header", "all"])
@pytest.mark.parametrize("record", [1, 5])
def test_a_corrupt_record_is_a_gap_and_the_others_are_read(trace, mseed, tmp_path, part, record):
    (tmp_path / "some.mseed").write_bytes(damage(mseed, record, part))
    waveforms = read_waveforms(tmp_path / "some.mseed")
    own = trace(seconds=100)
    segments = waveforms.channels[own.id].segments
    assert len(segments) == 2
    assert 0 < own.data.size - sum(segment.data.size for segment in segments) < 600
    for segment in segments:
        first = round((segment.start - own.stats.starttime.ns) * 40 / 1e9)
        assert_array_equal(segment.data, own.data[first : first + segment.data.size])
    assert set(waveforms.summary.counts) == {"damaged record"}
    assert "some.mseed" in waveforms.summary.left_out[0].trace


def test_wrong_samples_that_obspy_only_warns_of_are_left_out(trace, mseed):
    """One bit of the samples: they are decoded, and do not end where the header says."""
    found = bytearray(mseed)
    found[512 * 3 + 200] ^= 1
    traces, problems = read_mseed(bytes(found))
    own = trace(seconds=100)
    kept = Waveforms.from_stream(traces).channels[own.id].segments
    assert len(kept) == 2
    assert any("record 4" in problem for problem in problems)


def test_a_file_cut_short_keeps_what_is_whole(trace, mseed, tmp_path):
    (tmp_path / "some.mseed").write_bytes(mseed[: 512 * 5 + 100])
    waveforms = read_waveforms(tmp_path / "some.mseed")
    (segment,) = waveforms.channels["IS.MMLI..BHZ"].segments
    assert_array_equal(segment.data, trace(seconds=100).data[: segment.data.size])
    assert waveforms.summary.counts == {"damaged record": 1}


def test_a_batch_goes_on_past_bad_files(trace, mseed, tmp_path):
    files = {
        "good.mseed": mseed,
        "noise.mseed": random.Random(0).randbytes(4096),
        "cut.gse": written(trace("IS.HRFI..BHZ"), "GSE2")[:1000],
        "other.sac": written(trace("IS.HRFI..BHN"), "SAC"),
        "zero.mseed": written(trace("IS.DEAD..BHZ", data=np.zeros(500, np.int32)), "MSEED"),
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    waveforms = read_waveforms([tmp_path / name for name in files])
    assert set(waveforms.channels) == {"IS.MMLI..BHZ", "IS.HRFI..BHN"}
    assert waveforms.summary.counts == {"unreadable file": 2, "all zero": 1}
    assert "cut short" in str(waveforms.summary.left_out[1])
    assert str(waveforms.summary) == "2 traces; left out 3: 2 unreadable file, 1 all zero"


def wild_sac(trace):
    """A SAC file whose longitude keeps obspy busy forever."""
    own = trace()
    own.stats.sac = {"evla": 1.0, "evlo": 2.0, "stla": 3.0, "stlo": 4.0, "lcalda": 1}
    data = bytearray(written(own, "SAC"))
    stlo = np.dtype("<f4").itemsize * 32
    data[stlo : stlo + 4] = np.float32(1e30).tobytes()
    return bytes(data)


def test_a_file_that_is_read_forever_is_given_up(trace, mseed, tmp_path):
    (tmp_path / "wild.sac").write_bytes(wild_sac(trace))
    (tmp_path / "good.mseed").write_bytes(mseed)
    begin = time.monotonic()
    waveforms = read_waveforms([tmp_path / "wild.sac", tmp_path / "good.mseed"], timeout=4.0)
    assert time.monotonic() - begin < 60
    assert len(waveforms.channels) == 1
    assert "was not read after 4 s" in str(waveforms.summary.left_out[0])


def test_a_crash_of_the_reader_is_an_error_and_the_next_file_is_read(mseed, monkeypatch):
    # A file on which the process ends: stood in for by one that ends it.
    start = (
        "import json, os, sys; sys.path[:] = json.loads(sys.argv[1]);"
        "from viewhop.seismic.io import child;"
        "known = child.answer;"
        "child.answer = lambda data, *rest: os.abort() if data == b'crash' else known(data, *rest);"
        "child.main()"
    )
    monkeypatch.setattr("viewhop.seismic.io.guard._START", start)
    with Guard(timeout=60.0, limit=LIMIT) as guard:
        with pytest.raises(ValueError, match="crashed"):
            guard.parse(b"crash")
        pieces, warned = guard.parse(mseed)
        assert guard._process is not None
    assert [name for name, *_ in pieces] == ["IS.MMLI..BHZ"]
    assert not warned
    assert guard._process is None


def test_what_crashes_gse_readers_is_refused_before(trace):
    data = written(trace(), "GSE2")
    check_contents(data, "GSE2")
    long = data.replace(b"DAT2\n", b"DAT2\n" + b"A" * 5000 + b"\n")
    with pytest.raises(ValueError, match="5,000 characters"):
        check_contents(long, "GSE2")
    with pytest.raises(ValueError, match="cut short"):
        check_contents(data[: len(data) // 2], "GSE2")
    check_contents(b"A" * 5000, "MSEED")


def test_a_header_that_asks_for_much_memory_is_an_error(trace, tmp_path):
    data = bytearray(written(trace(), "GSE2"))
    # Number of samples: the columns from 48 to 56 of the line of the header.
    begin = bytes(data).index(b"WID2")
    data[begin + 48 : begin + 56] = b"99999999"
    (tmp_path / "some.gse").write_bytes(data)
    with pytest.raises(SeismicError, match=r"some\.gse"):
        read_waveforms(tmp_path / "some.gse")


def test_formats_are_told_apart(trace):
    for format in ("MSEED", "SAC", "GSE2", "SLIST", "TSPAIR"):
        assert format_of(written(trace(), format)) == format
    assert unpacked(b"plain", limit=10) == b"plain"


def test_parsing_in_place_is_what_the_process_does(trace, mseed):
    header, (samples,) = answer(mseed, None, LIMIT)
    assert header["traces"][0]["id"] == "IS.MMLI..BHZ"
    assert_array_equal(samples, trace(seconds=100).data)
    header, (samples,) = answer(written(trace(), "SAC"), "SAC", LIMIT)
    assert samples.size == 2400
    log = trace(data=np.array([b"a", b"b"] * 100, dtype="S1"))
    header, (samples,) = answer(written(log, "MSEED"), None, LIMIT)
    assert header["traces"][0]["text"]


def test_a_channel_of_text_is_left_out(trace, mseed, tmp_path):
    log = trace("IS.MMLI..LOG", data=np.array([b"a", b"b"] * 100, dtype="S1"))
    (tmp_path / "some.mseed").write_bytes(mseed + written(log, "MSEED", reclen=512))
    waveforms = read_waveforms(tmp_path / "some.mseed")
    assert list(waveforms.channels) == ["IS.MMLI..BHZ"]
    assert waveforms.summary.counts == {"not samples": 1}


def mutated(data, seed):
    """The data, damaged in one of the ways that files are."""
    rng = random.Random(seed)
    found = bytearray(data)
    kind = rng.randrange(4)
    if kind == 0:
        return bytes(found[: rng.randrange(1, len(found))])
    if kind == 1:
        for _ in range(rng.randrange(1, 30)):
            found[rng.randrange(len(found))] = rng.randrange(256)
    elif kind == 2:
        for _ in range(rng.randrange(1, 8)):
            found[rng.randrange(min(512, len(found)))] = rng.choice([0, 1, 127, 128, 255])
    else:
        place = rng.randrange(len(found))
        found[place : place + rng.randrange(1, 200)] = rng.randbytes(rng.randrange(200))
    return bytes(found)


def survivors(data, format, seeds):
    """Number of damaged files that are read; others are errors, and this process lives."""
    read = 0
    with Guard(timeout=5.0, limit=LIMIT) as guard:
        for seed in seeds:
            try:
                pieces, _ = guard.parse(mutated(data, seed), format=format)
            except ValueError:
                continue
            Waveforms._of(pieces)
            read += 1
    return read


@pytest.mark.parametrize("format", ["MSEED", "SAC", "GSE2", "SLIST"])
def test_damaged_files_are_read_or_refused(trace, format):
    read = survivors(written(trace(seconds=30), format), format, range(150))
    # GSE2 has a checksum, and a record of another format may be sound still.
    assert read == 0 if format == "GSE2" else 0 < read < 150


@pytest.mark.slow
@pytest.mark.parametrize("format", ["MSEED", "SAC", "GSE2", "SLIST", "TSPAIR", "SH_ASC", "AH"])
@pytest.mark.parametrize("is_told", [True, False])
def test_many_damaged_files_are_read_or_refused(trace, format, is_told):
    data = written(trace(seconds=30), format)
    assert survivors(data, format if is_told else None, range(1000, 1500)) < 500


def test_files_of_which_none_can_be_read_are_told_one_by_one(mseed, tmp_path):
    broken = tmp_path / "broken.mseed"
    broken.write_bytes(mseed[:300])
    with pytest.raises(
        SeismicError, match=r"from 2 files: .*broken.*; .*nowhere.* no such"
    ) as told:
        read_waveforms([broken, tmp_path / "nowhere.mseed"])
    assert "object at" not in str(told.value)
