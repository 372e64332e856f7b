"""Packed text: what it holds is read as if it was not packed, and never without end."""

from __future__ import annotations

import gzip
import struct
import zlib

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from viewhop.errors import TableError
from viewhop.tables import Options, ReadingBudget, list_contents, read, read_cells
from viewhop.tables._packed import unpack

TEXT = "id,a,b\nx,1,2.5\ny,,\n"
PACKERS = {".gz": gzip.compress, ".zst": zstandard.compress}


@pytest.mark.parametrize("packing", PACKERS)
@pytest.mark.parametrize(("kind", "delimiter"), [("csv", ","), ("TSV", "\t"), ("txt", ";")])
def test_packed_table_equals_the_plain_one(tmp_path, packing, kind, delimiter):
    text = TEXT.replace(",", delimiter).encode()
    plain, packed = tmp_path / f"x.{kind}", tmp_path / f"x.{kind}{packing}"
    plain.write_bytes(text)
    packed.write_bytes(PACKERS[packing](text))
    one, two = (read(path, options=Options(id="id")) for path in (plain, packed))
    assert_array_equal(one.matrix, two.matrix)
    assert (one.ids, one.columns, one.lines.tolist()) == (two.ids, two.columns, two.lines.tolist())
    assert two.size == packed.stat().st_size
    assert read_cells(packed).rows == read_cells(plain).rows
    (entry,) = list_contents(packed)
    assert (entry.columns, entry.ids, entry.shape) == (("id", "a", "b"), ("id",), (2, 3))


@given(st.lists(st.binary(max_size=3000), min_size=1, max_size=4), st.sampled_from([*PACKERS]))
def test_any_content_in_any_number_of_parts_comes_back(parts, packing):
    packed = b"".join(map(PACKERS[packing], parts))
    assert unpack("x", packed, packing, ReadingBudget(None)) == b"".join(parts)


@given(st.binary(min_size=20, max_size=4000), st.sampled_from([*PACKERS]), st.data())
def test_cut_content_is_refused(content, packing, data):
    packed = PACKERS[packing](content)
    cut = packed[: data.draw(st.integers(1, len(packed) - 1))]
    with pytest.raises(TableError, match="damaged or cut short"):
        unpack("x", cut, packing, ReadingBudget(None))


@pytest.mark.parametrize("packing", PACKERS)
def test_bombs_stop_at_the_ratio_and_at_the_budget(packing):
    bomb = PACKERS[packing](bytes(60_000_000))
    with pytest.raises(TableError, match="more than 200 times its size"):
        unpack("x", bomb, packing, ReadingBudget(None))
    with pytest.raises(TableError, match="its unpacked content takes"):
        unpack("x", bomb, packing, ReadingBudget(1_000_000))
    harmless = PACKERS[packing](bytes(10_000_000))
    assert len(unpack("x", harmless, packing, ReadingBudget(None))) == 10_000_000


@pytest.mark.parametrize(
    ("name", "data", "fragment"),
    [
        ("x.csv.gz", b"a,b\n1,2\n", "it is not a gzip file, despite its extension"),
        ("x.csv.zst", gzip.compress(b"a\n1\n"), "those of a gzip file"),
        ("x.npy.gz", gzip.compress(b"x"), "only text files may be packed as .gz"),
        ("x.foo.gz", gzip.compress(b"x"), "the extension .foo are not supported"),
        ("x.csv", gzip.compress(b"a\n1\n"), "it is not a text file"),
        ("x.csv.gz", gzip.compress(b"a,b\n1,x\n"), "line 2, column 'b'"),
        ("x.csv.gz", b"", "it is empty"),
        ("x.csv.gz::a", gzip.compress(b"a\n1\n"), "files contain named arrays"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, name, data, fragment):
    (tmp_path / name.partition("::")[0]).write_bytes(data)
    with pytest.raises(TableError) as caught:
        read(tmp_path / name)
    assert fragment in str(caught.value)


def test_checksums_are_compared():
    packed = bytearray(gzip.compress(b"a,b\n1,2\n"))
    struct.pack_into("<I", packed, len(packed) - 8, zlib.crc32(b"other"))
    with pytest.raises(TableError, match="damaged"):
        unpack("x", bytes(packed), ".gz", ReadingBudget(None))


def test_missing_zstandard_is_named_with_its_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "zstandard", None)
    path = tmp_path / "x.csv.zst"
    path.write_bytes(zstandard.compress(b"a\n1\n"))
    with pytest.raises(TableError, match=r"viewhop\[data\]"):
        read(path)
