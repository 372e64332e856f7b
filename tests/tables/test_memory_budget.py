"""Memory: a file that would take more than the budget is refused before it does."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from scipy.io import savemat

from viewhop.errors import TableError
from viewhop.tables import Options, read, read_views

#: Bytes that reading may take besides its budget: interpreter, allocators, and batches of rows.
FIXED = 64_000_000

MEASURE = """
import re, sys
from viewhop.errors import TableError
from viewhop.tables import Options, read

def status(key):
    with open("/proc/self/status") as file:
        return int(re.search(rf"{key}:\\s+(\\d+) kB", file.read())[1]) * 1024

warm, path, budget, id, label = sys.argv[1:]
read(warm, options=Options(id="id", label="kind"))  # what is imported only once
before = status("VmRSS")
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")  # the peak so far is forgotten
options = Options(id=id or None, label=label or None)
try:
    table = read(path, options=options, max_memory=int(budget))
    print(status("VmHWM") - before, len(table))
except TableError as error:
    print(status("VmHWM") - before, error)
"""


@pytest.fixture
def peak(tmp_path):
    """A function that reads a file in a process of its own: its peak in bytes, and the outcome."""
    if not sys.platform.startswith("linux"):
        pytest.skip("the peak of a process is read from /proc")

    def peak(path, budget, *, id="", label=""):
        warm = _small_file(tmp_path / f"warm{path.suffix}")
        command = [sys.executable, "-c", MEASURE, warm, path, str(int(budget)), id, label]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        size, _, outcome = done.stdout.strip().partition(" ")
        return int(size), outcome

    return peak


def _small_file(path):
    X, ids, kinds = np.eye(3), ["a", "b", "c"], ["x", "y", "x"]
    if path.suffix == ".parquet":
        _write_parquet(path, {"id": ids, "kind": kinds, "a": X[0], "b": [1, 2, 3]})
    elif path.suffix == ".npz":
        np.savez_compressed(path, X=X, id=ids, kind=kinds)
    elif path.suffix == ".mat":
        names = {"id": np.array(ids, dtype=object), "kind": np.array(kinds, dtype=object)}
        savemat(path, {"X": X, **names}, do_compression=True)
    else:
        path.write_text("id,kind,a\nx,1,2\ny,1,3\n")
    return path


def _write_parquet(path, columns, **options):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.table(columns), path, **options)


def _repeated(texts, codes):
    """A column of texts that Parquet stores once each."""
    pa = pytest.importorskip("pyarrow")
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(texts))


# --- Parquet -----------------------------------------------------------------------------------


@pytest.mark.parametrize("is_category", [False, True])
def test_equal_ids_of_a_short_parquet_file_are_counted(tmp_path, peak, is_category):
    path = tmp_path / "x.parquet"
    ids = _repeated(["x" * 100_000], np.zeros(2000))
    _write_parquet(path, {"id": ids, "a": np.zeros(2000)}, store_schema=is_category)
    assert path.stat().st_size < 10_000
    size, outcome = peak(path, 100e6, id="id")
    assert "the text of column 'id' takes 200 MB, and the budget is 100 MB; raise" in outcome
    assert size < 100e6 + FIXED


@pytest.mark.parametrize("is_category", [False, True])
def test_dictionary_of_a_short_parquet_file_is_counted(tmp_path, peak, is_category):
    path = tmp_path / "x.parquet"
    kinds = _repeated([c * 50_000 for c in "abcdefgh"], np.arange(48_000) % 8)
    columns = {"kind": kinds, "a": np.zeros(48_000)}
    _write_parquet(path, columns, store_schema=is_category)
    assert path.stat().st_size < 300_000
    size, outcome = peak(path, 50e6, label="kind")
    assert "the text of column 'kind' takes 2.4 GB" in outcome
    assert size < 50e6 + FIXED
    # As a feature it is refused for its type, and not unpacked to say so.
    size, outcome = peak(path, 50e6)
    assert "row 1, column 'kind': expected a number, got 'aaaaa" in outcome
    assert size < 50e6 + FIXED


def test_text_stored_as_differences_is_counted(tmp_path, peak):
    path = tmp_path / "x.parquet"
    ids = [f"{'x' * 100_000}{k}" for k in range(2000)]
    encoding = {"use_dictionary": False, "column_encoding": {"id": "DELTA_BYTE_ARRAY"}}
    _write_parquet(path, {"id": ids}, **encoding)
    assert path.stat().st_size < 100_000
    size, outcome = peak(path, 50e6, label="id", id="")
    assert "none of its 1 columns is left" in outcome
    _write_parquet(
        path,
        {"id": ids, "a": np.zeros(2000)},
        **{**encoding, "column_encoding": {"id": "DELTA_BYTE_ARRAY", "a": "PLAIN"}},
    )
    size, outcome = peak(path, 50e6, id="id")
    assert "the text of column 'id' takes" in outcome
    assert size < 50e6 + FIXED


def test_rows_of_a_short_parquet_file_are_counted(tmp_path, peak):
    path = tmp_path / "x.parquet"
    n = 2_000_000
    _write_parquet(path, {"a": np.zeros(n), "b": np.zeros(n)})
    assert path.stat().st_size < 100_000
    size, outcome = peak(path, 47e6)  # the numbers take 32 MB, and their row numbers 16
    assert "a table of 2,000,000 rows takes 16 MB besides 32" in outcome
    assert size < FIXED / 4  # refused before anything is unpacked
    size, outcome = peak(path, 60e6)
    assert outcome == str(n)
    assert size < 60e6 + FIXED / 2


@pytest.mark.slow
def test_thirty_million_rows_stay_within_the_budget(tmp_path, peak):
    path = tmp_path / "x.parquet"
    n = 30_000_000
    _write_parquet(path, {"a": np.zeros(n), "b": np.zeros(n)})
    size, outcome = peak(path, 700e6)
    assert "takes 240 MB besides 480 MB" in outcome
    assert size < FIXED
    size, outcome = peak(path, 800e6)
    assert outcome == str(n)
    assert size < 800e6 + FIXED


def test_numbers_of_many_row_groups_stay_within_the_budget(tmp_path, peak):
    path = tmp_path / "x.parquet"
    rng = np.random.default_rng(0)
    columns = {f"c{k}": rng.random(100_000) for k in range(40)}
    _write_parquet(path, columns, row_group_size=30_000)
    needed = path.stat().st_size + 8 * 100_000 * 41
    size, outcome = peak(path, needed + 5_000_000)
    assert outcome == "100000"
    assert size < needed + 5_000_000 + FIXED / 2


@pytest.mark.parametrize("row_group_size", [7, 64, 1000])
def test_batches_and_row_groups_change_nothing(tmp_path, row_group_size):
    pa = pytest.importorskip("pyarrow")
    rng = np.random.default_rng(0)
    n = 1000
    kinds = [None if k % 7 == 0 else f"kind {k % 3}" for k in range(n)]
    columns = {
        "id": [f"sample {k}" for k in range(n)],
        "a.b": rng.random(n),
        "a": rng.random(n).astype(np.float32),
        "whole": np.arange(n),
        "kind": pa.array(kinds).dictionary_encode(),
        "nested": [{"p": 1, "q": [2, 3]}] * n,
        "flag": rng.random(n) < 0.5,
    }
    _write_parquet(tmp_path / "x.parquet", columns, row_group_size=row_group_size)
    options = Options(id="id", label="kind", drop=("nested",))
    for budget in (None, 2_000_000):
        table = read(tmp_path / "x.parquet", options=options, max_memory=budget)
        assert table.columns == ("a.b", "a", "whole", "flag")
        expected = np.stack([columns[name] for name in table.columns], axis=1)
        np.testing.assert_array_equal(table.matrix, expected)
        assert table.ids == tuple(columns["id"])
        assert table.labels == tuple(kinds)


# --- arrays and text ---------------------------------------------------------------------------


def test_matlab_numbers_that_are_stored_short_are_counted(tmp_path, peak):
    path = tmp_path / "x.mat"
    savemat(path, {"X": np.zeros((400_000, 20), dtype=np.int8)}, do_compression=True)
    size, outcome = peak(path, 40e6)  # 8 MB of bytes, and 64 MB of numbers
    assert "a table of 8,000,000 cells takes 64 MB, and the budget is 40 MB" in outcome
    assert size < 40e6 + FIXED / 2
    size, outcome = peak(path, 80e6)
    assert outcome == "400000"
    assert size < 80e6 + FIXED / 2


def test_matlab_cells_of_unequal_length_are_counted(tmp_path, peak):
    path = tmp_path / "x.mat"
    names = np.array(["x" * 100_000, *map(str, range(4999))], dtype=object)
    savemat(path, {"X": np.eye(5000, 2), "id": names}, do_compression=True)
    size, outcome = peak(path, 50e6, id="id")
    assert "its variables would take 2 GB, and the budget is 50 MB" in outcome
    assert size < 50e6 + FIXED / 2


def test_matlab_characters_are_counted(tmp_path, peak):
    path = tmp_path / "x.mat"
    savemat(path, {"X": np.eye(3), "text": "\u4e00" * 3_000_000}, do_compression=True)
    size, outcome = peak(path, 100e6)
    assert outcome == "3"
    assert size < 100e6 + FIXED / 2


def test_texts_of_an_npz_file_are_counted(tmp_path, peak):
    path = tmp_path / "x.npz"
    names = np.zeros(2000, dtype="U20000")
    names[:] = [f"{k:>10000}" for k in range(2000)]
    np.savez_compressed(path, X=np.eye(2000, 2), id=names)
    assert path.stat().st_size < 400_000
    size, outcome = peak(path, 100e6, id="id")
    assert "x.npz::id: the array takes 160 MB, and the budget is 100 MB" in outcome
    assert size < FIXED / 2


def test_arrays_that_are_not_used_are_not_unpacked(tmp_path, peak):
    path = tmp_path / "x.npz"
    zeros = np.zeros((1_000_000, 5))
    np.savez_compressed(path, **{f"x{k}": zeros for k in range(4)})
    size, outcome = peak(path, 100e6)
    assert "expected one array of samples × features, got 4" in outcome
    assert size < FIXED / 4
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        file = io.BytesIO()
        np.save(file, np.eye(4, dtype=np.int8))
        archive.writestr("X.npy", file.getvalue())
    assert len(read(f"{path}::X", max_memory="1MB")) == 4


def test_short_cells_of_a_text_file_are_counted(tmp_path, peak):
    path = tmp_path / "x.csv"
    path.write_text("id,a\n" + "".join(f"{k},1\n" for k in range(300_000)))
    size, outcome = peak(path, 10e6, id="id")
    assert "rows and more takes" in outcome
    assert size < 10e6 + FIXED / 4
    size, outcome = peak(path, 45e6, id="id")
    assert outcome == "300000"
    assert size < 45e6 + FIXED / 4


def test_a_row_of_very_many_cells_is_counted_before_it_is_parted(tmp_path, peak):
    path = tmp_path / "x.csv"
    path.write_text(f"a\n{'ab,' * 3_000_000}\n")
    size, outcome = peak(path, 50e6)
    assert "a row of 3,000,001 cells takes 276 MB, and the budget is 50 MB" in outcome
    assert size < 50e6 + FIXED / 4


def test_other_encodings_are_counted(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(("a,b\n" + "1,2\n" * 50_000).encode("utf-16"))
    with pytest.raises(TableError, match="its text takes"):
        read(path, options=Options(encoding="utf-16"), max_memory=500_000)
    assert len(read(path, options=Options(encoding="utf-16"), max_memory="5MB")) == 50_000


def test_memory_of_several_files_adds_up(tmp_path):
    paths = {}
    for name in ("x", "y", "z"):
        paths[name] = tmp_path / f"{name}.npy"
        np.save(paths[name], np.eye(1000, 100))
    assert len(read(paths["x"], max_memory="1MB")) == 1000
    with pytest.raises(TableError, match=r"y\.npy: it takes 800 kB besides 808 kB for what comes"):
        read_views(paths, max_memory="1MB")
    assert len(read_views(paths, max_memory="3MB").views) == 1000
