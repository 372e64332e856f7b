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
from viewhop.seismic.io._formats import FORMATS, check_contents, detect_format, unpack
from viewhop.seismic.io._guard import Guard
from viewhop.seismic.io._mseed import read_mseed
from viewhop.seismic.io._parser_process import answer
from viewhop.seismic.io._records import holds_records, scan_records

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
    with pytest.raises(SeismicError, match="compressed data are truncated"):
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
        with pytest.raises(SeismicError, match="format is unknown"):
            read_waveforms(file)
        with pytest.raises(SeismicError, match="unsupported format 'PICKLE'"):
            read_waveforms(file, format="PICKLE")
    with pytest.raises(ValueError, match="unsupported format PICKLE"):
        answer(other.read_bytes(), "PICKLE", LIMIT)
    assert not touched.exists()
    assert "PICKLE" not in FORMATS


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("http://127.0.0.1:9/some.mseed", "URL"),
        ("*.mseed", "the file does not exist"),
        ("none.mseed", "the file does not exist"),
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
    for name, told in {"empty": "it is empty", "text": "its format is unknown"}.items():
        with pytest.raises(SeismicError, match=rf"{name}: {told}") as caught:
            read_waveforms(tmp_path / name)
        assert caught.value.trace.endswith(name)
    (tmp_path / "large").write_bytes(bytes(2000))
    with pytest.raises(SeismicError, match="larger than 1,000 bytes"):
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
    assert "truncated" in str(waveforms.summary.left_out[1])
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
    assert "reading took more than 4 s" in str(waveforms.summary.left_out[0])


def test_a_crash_of_the_reader_is_an_error_and_the_next_file_is_read(mseed, monkeypatch):
    # A file on which the process ends: stood in for by one that ends it.
    start = (
        "import json, os, sys; sys.path[:] = json.loads(sys.argv[1]);"
        "from viewhop.seismic.io import _parser_process as parser;"
        "answer = parser.answer;"
        "parser.answer = lambda data, *rest: ("
        "    os.abort() if data == b'crash' else answer(data, *rest));"
        "parser.main()"
    )
    monkeypatch.setattr("viewhop.seismic.io._guard._START", start)
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
    with pytest.raises(ValueError, match="truncated"):
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
        assert detect_format(written(trace(), format)) == format
    assert unpack(b"plain", limit=10) == b"plain"


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
            Waveforms._from_pieces(pieces)
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
        SeismicError, match=r"from 2 files: .*broken.*; .*nowhere.* does not exist"
    ) as told:
        read_waveforms([broken, tmp_path / "nowhere.mseed"])
    assert "object at" not in str(told.value)


def records_of(obspy, data, length):
    """Trace, time in nanoseconds and samples of each record, as obspy reads it alone."""
    found = []
    for begin in range(0, len(data), length):
        (own,) = obspy.read(io.BytesIO(data[begin : begin + length]), format="MSEED")
        found.append((own.id, own.stats.starttime, own.data))
    return found


def assert_read(traces, records):
    """That just the samples of these records were read, and each at its time."""
    read = [(own.id, own.stats.starttime, own.data) for own in traces]
    kept, expected = (
        {
            (name, start.ns + round(k * 1e9 / 40)): sample
            for name, start, samples in part
            for k, sample in enumerate(samples.tolist())
        }
        for part in (read, records)
    )
    assert kept == expected


def overwritten(data, begin, end, *, filler=None):
    """The data with noise, or with one byte again and again, from `begin` up to `end`."""
    noise = (
        random.Random(begin).randbytes(end - begin) if filler is None else filler * (end - begin)
    )
    return data[:begin] + noise + data[end:]


@pytest.fixture
def large(trace):
    """A miniSEED file of five full records of 4,096 bytes."""
    data = written(trace(seconds=260), "MSEED", reclen=4096)
    assert len(data) == 6 * 4096
    return data[: 5 * 4096]


@pytest.mark.parametrize("filler", [None, b"\0", b"\xff"])
@pytest.mark.parametrize("place", [0, 2, 4])
def test_an_overwritten_record_is_told_once_with_its_bytes(obspy, large, place, filler):
    begin, end = 4096 * place, 4096 * (place + 1)
    broken = overwritten(large, begin, end, filler=filler)
    traces, problems = read_mseed(broken)
    records = records_of(obspy, large, 4096)
    assert_read(traces, records[:place] + records[place + 1 :])
    assert problems == [f"record {place + 1}, bytes {begin:,} to {end - 1:,}: no valid header"]


@pytest.mark.parametrize("place", [0, 2, 4])
def test_damaged_samples_are_told_with_trace_and_time(obspy, large, tmp_path, place):
    begin = 4096 * place
    (tmp_path / "some.mseed").write_bytes(overwritten(large, begin + 64, begin + 1000))
    (lost,) = read_waveforms(tmp_path / "some.mseed").summary.left_out
    name, start, _ = records_of(obspy, large, 4096)[place]
    assert lost.detail == (
        f"record {place + 1}, bytes {begin:,} to {begin + 4095:,}, "
        f"{name} at {start.datetime.isoformat()}Z: damaged samples"
    )


@pytest.mark.parametrize("filler", [None, b"\0", b"\xff", b"a"])
def test_a_damaged_first_header_costs_one_record(obspy, large, tmp_path, filler):
    (tmp_path / "some.mseed").write_bytes(overwritten(large, 0, 48, filler=filler))
    waveforms = read_waveforms(tmp_path / "some.mseed")
    (segment,) = waveforms.channels["IS.MMLI..BHZ"].segments
    rest = [samples for _, _, samples in records_of(obspy, large, 4096)[1:]]
    assert_array_equal(segment.data, np.concatenate(rest))
    (lost,) = waveforms.summary.left_out
    assert lost.detail == "record 1, bytes 0 to 4,095: no valid header"


def test_only_records_at_their_places_make_a_file_miniseed(obspy, trace, mseed, tmp_path):
    one = mseed[:512]
    assert holds_records(bytes(512) + mseed)
    assert holds_records(bytes(128) + one)
    # Elsewhere, behind more than a record, or alone, they are what another file contains.
    assert not holds_records(bytes(100) + mseed)
    assert not holds_records(bytes((1 << 20) + 512) + mseed)
    assert not holds_records(bytes(512) + one + b"another")
    assert not holds_records(bytes(512) + one[:300])
    for format in ("SAC", "GSE2", "SLIST", "TSPAIR", "SH_ASC", "PICKLE"):
        assert not holds_records(written(obspy.Stream([trace()]), format))
    touched = tmp_path / "touched"
    trap = pickle.dumps([Trap(touched), "obspy.core.stream"]).ljust(512, b".")
    header, (samples,) = answer(trap + mseed, None, LIMIT)
    assert samples.size == trace(seconds=100).data.size
    assert header["warnings"] == ["record 1, bytes 0 to 511: no valid header"]
    assert not touched.exists()


def test_records_of_several_lengths_are_told_apart(obspy, trace, mseed, large):
    other = written(trace("IS.HRFI..BHZ", seconds=100, seed=1), "MSEED", reclen=4096)
    records = records_of(obspy, mseed, 512) + records_of(obspy, other, 4096)
    count, size = len(mseed) // 512, len(mseed)
    data = mseed + other
    assert_read(read_mseed(data)[0], records)
    for place, begin, end in (
        (0, 0, 512),
        (count - 1, size - 512, size),
        (count, size, size + 4096),
        (count + 1, size + 4096, size + 8192),
    ):
        traces, problems = read_mseed(overwritten(data, begin, end))
        assert_read(traces, records[:place] + records[place + 1 :])
        assert problems == [f"bytes {begin:,} to {end - 1:,}: no valid header"]
        traces, problems = read_mseed(overwritten(data, begin + 64, end))
        assert_read(traces, records[:place] + records[place + 1 :])
        (told,) = problems
        assert told.startswith(f"bytes {begin:,} to {end - 1:,}, {records[place][0]} at ")


#: Where the blockette 1000 that obspy writes has the length of the record, as a power of two.
LENGTH = 48 + 6


@pytest.mark.parametrize("claimed", [0, 6, 7, 9, 11, 13, 14, 20, 21, 63, 255])
@pytest.mark.parametrize("place", [0, 2, 4])
def test_a_header_that_lies_about_its_length_costs_one_record(obspy, large, place, claimed):
    records = records_of(obspy, large, 4096)
    found = bytearray(large)
    found[4096 * place + LENGTH] = claimed
    traces, problems = read_mseed(bytes(found))
    assert_read(traces, records[:place] + records[place + 1 :])
    (told,) = problems
    where = f"record {place + 1}, bytes {4096 * place:,} to {4096 * place + 4095:,}"
    assert told.startswith(f"{where}, IS.MMLI..BHZ at {records[place][1].datetime.isoformat()}Z: ")
    if 7 <= claimed < 12:
        assert "damaged samples; no valid header" in told
    else:
        is_length = 7 <= claimed <= 20
        assert f"claims {1 << claimed:,} bytes" in told if is_length else "no valid length" in told


def test_samples_are_not_taken_from_the_next_record(obspy, trace):
    """Samples that are not compressed fill a record: a shorter one has no room for all."""
    own = trace(seconds=40)
    own.data = own.data.astype(np.float32)
    data = written(own, "MSEED", reclen=512)
    records = records_of(obspy, data, 512)
    found = bytearray(data)
    found[512 * 3 + LENGTH] = 8
    traces, problems = read_mseed(bytes(found))
    assert_read(traces, records[:3] + records[4:])
    (told,) = problems
    assert told.startswith("record 4, bytes 1,536 to 2,047, IS.MMLI..BHZ at ")
    assert "claims 114 samples, too many for 256 bytes" in told


@pytest.mark.parametrize("part", [0, 64])
def test_adjacent_damaged_records_are_told_once(obspy, large, part):
    broken = large
    for place in (2, 3):
        broken = overwritten(broken, 4096 * place + part, 4096 * (place + 1))
    traces, problems = read_mseed(broken)
    records = records_of(obspy, large, 4096)
    assert_read(traces, records[:2] + records[4:])
    (told,) = problems
    assert told.startswith("records 3 to 4, bytes 8,192 to 16,383")
    if part:
        first, last = (f"{records[k][1].datetime.isoformat()}Z" for k in (2, 3))
        assert told.endswith(f", IS.MMLI..BHZ at {first} to {last}: damaged samples")


def interleaved(obspy, trace):
    """Records of three channels in turn, and what each holds."""
    names = ("IS.MMLI..BHZ", "IS.MMLI..BHN", "IS.HRFI.00.BHE")
    orders = (">", "<", ">")
    files = [
        written(trace(name, seconds=50, seed=k), "MSEED", reclen=512, byteorder=order)
        for k, (name, order) in enumerate(zip(names, orders, strict=True))
    ]
    count = min(map(len, files)) // 512
    data = b"".join(file[512 * k : 512 * (k + 1)] for k in range(count) for file in files)
    return data, records_of(obspy, data, 512)


def test_damage_among_interleaved_channels_is_told_for_each(obspy, trace):
    data, records = interleaved(obspy, trace)
    broken = data
    for place in (9, 13, 14):
        broken = overwritten(broken, 512 * place + 64, 512 * (place + 1))
    traces, problems = read_mseed(broken)
    assert_read(traces, [record for k, record in enumerate(records) if k not in (9, 13, 14)])
    assert [told.split(", ")[0] for told in problems] == ["record 10", "record 14", "record 15"]
    for told, place in zip(problems, (9, 13, 14), strict=True):
        name, start, _ = records[place]
        assert f", {name} at {start.datetime.isoformat()}Z: damaged samples" in told


@pytest.mark.parametrize("seed", range(30))
def test_any_overwritten_stretch_costs_the_records_that_it_touches(obspy, trace, seed):
    data, records = interleaved(obspy, trace)
    rng = random.Random(seed)
    first = rng.randrange(len(records))
    last = min(first + rng.randrange(3), len(records) - 1)
    # From within the header or the samples of the first one, so that its rest has no end.
    begin = 512 * first + rng.choice([0, 8, 20, 56, 64, 200])
    end = 512 * last + rng.choice([300, 400, 512])
    traces, problems = read_mseed(overwritten(data, begin, end, filler=rng.choice([None, b"\xff"])))
    assert_read(traces, records[:first] + records[last + 1 :])
    assert 1 <= len(problems) <= 1 + last - first
    assert not any("MSEED" in told for told in problems)


@pytest.mark.parametrize("change", [-200, -1, 1, 7, 1000])
@pytest.mark.parametrize("place", [0, 2])
def test_bytes_that_are_lost_or_added_cost_one_record(obspy, large, place, change):
    begin = 4096 * place + 500
    added = random.Random(0).randbytes(max(change, 0))
    traces, problems = read_mseed(large[:begin] + added + large[begin + max(-change, 0) :])
    records = records_of(obspy, large, 4096)
    assert_read(traces, records[:place] + records[place + 1 :])
    (told,) = problems
    assert f"bytes {4096 * place:,} to {4096 * (place + 1) + change - 1:,}, IS.MMLI..BHZ at" in told


def test_records_without_the_blockette_of_their_length_are_found(obspy, large):
    found = bytearray(large)
    for place in range(5):
        # The number of the blockette: what is there is now one that nobody knows.
        found[4096 * place + 48 : 4096 * place + 50] = b"\x07\xff"
    parts = list(scan_records(bytes(found)))
    assert [(part.begin, part.end, part.fault) for part in parts] == [
        (4096 * k, 4096 * (k + 1), "") for k in range(5)
    ]


def volume(length):
    """Two control headers of full SEED."""
    power = str(length.bit_length() - 1).encode()
    first = b"000001V 0100034 2.4" + power + b"2010,147~~~~~~"
    return first.ljust(length) + b"000002A 0300034".ljust(length)


def test_control_headers_of_full_seed_are_no_damage(obspy, large):
    records = records_of(obspy, large, 4096)
    whole = volume(4096) + large
    assert detect_format(whole) == "MSEED"
    traces, problems = read_mseed(whole)
    assert_read(traces, records)
    assert not problems
    # The first record after them, another one, and a second volume behind the first.
    for place in (0, 3):
        begin = 4096 * (2 + place)
        traces, problems = read_mseed(overwritten(whole, begin, begin + 4096))
        assert_read(traces, records[:place] + records[place + 1 :])
        assert problems == [
            f"record {place + 3}, bytes {begin:,} to {begin + 4095:,}: no valid header"
        ]
    traces, problems = read_mseed(large[:8192] + volume(4096) + large[8192:])
    assert_read(traces, records)
    assert not problems


def test_damaged_places_are_bounded_and_not_damaged_records(mseed, monkeypatch):
    monkeypatch.setattr("viewhop.seismic.io._mseed._MOST", 2)
    together = overwritten(mseed, 512 * 3, 512 * 9)
    for place in (10, 11, 12):
        together = overwritten(together, 512 * place + 64, 512 * (place + 1))
    assert len(read_mseed(together)[1]) == 2
    with pytest.raises(ValueError, match="damaged in more than 2 places"):
        read_mseed(overwritten(together, 512 * 15, 512 * 16))


def test_a_file_without_a_readable_record_says_why(mseed):
    with pytest.raises(ValueError, match=r"^it contains no miniSEED record$"):
        read_mseed(b"this is no seismogram" * 100)
    with pytest.raises(
        ValueError, match=r"none .* can be read: bytes 0 to 511, .*: damaged samples"
    ):
        read_mseed(overwritten(mseed[:512], 64, 512))
    found = bytearray(mseed[:1024])
    found[52] = found[512 + 52] = 99
    with pytest.raises(ValueError, match="unsupported sample encoding 99"):
        read_mseed(bytes(found))


def test_what_obspy_remarks_of_sound_records_is_told_once(obspy, mseed):
    found = bytearray(mseed)
    for begin in range(0, len(mseed), 512):
        # A byte order of samples that is none; obspy tells of the first record that it is given.
        found[begin + 53] = 95
    (remark,) = read_mseed(bytes(found))[1]
    assert "word order" in remark
    traces, problems = read_mseed(overwritten(bytes(found), 512 * 6, 512 * 7))
    assert_read(traces, [own for k, own in enumerate(records_of(obspy, mseed, 512)) if k != 6])
    assert problems == ["record 7, bytes 3,072 to 3,583: no valid header", remark]
    # Where obspy cannot read the file as it is, it remarks on each part of it.
    told = read_mseed(overwritten(bytes(found), 512 * 6 + 64, 512 * 7))[1]
    assert told[0].endswith(": damaged samples")
    assert told[1:] == [remark]


def test_remarks_have_places_in_the_file(mseed):
    found = bytearray(mseed)
    # A second of 10,000 parts has begun its next one: obspy reads it so, and remarks on it.
    found[512 * 9 + 28 : 512 * 9 + 30] = (10000).to_bytes(2)
    problems = read_mseed(overwritten(bytes(found), 512 * 6, 512 * 7))[1]
    assert problems[0] == "record 7, bytes 3,072 to 3,583: no valid header"
    assert any(f"offset={512 * 9} " in told for told in problems[1:])


@pytest.mark.parametrize("activity", [0, 2])
def test_a_corrected_time_is_told_as_obspy_reads_it(obspy, large, activity):
    found = bytearray(large)
    found[4096 + 36] = activity
    found[4096 + 40 : 4096 + 44] = (-12345).to_bytes(4, signed=True)
    _, start, _ = records_of(obspy, bytes(found), 4096)[1]
    (told,) = read_mseed(overwritten(bytes(found), 4096 + 64, 8192))[1]
    assert f" at {start.datetime.isoformat()}Z: " in told


def test_blank_records_are_no_damage(obspy, large):
    blank = large[:4096] + b"000002".ljust(4096) + large[8192:]
    traces, problems = read_mseed(overwritten(blank, 4096 * 3, 4096 * 4))
    records = records_of(obspy, large, 4096)
    assert_read(traces, [records[0], records[2], records[4]])
    assert problems == ["record 4, bytes 12,288 to 16,383: no valid header"]
