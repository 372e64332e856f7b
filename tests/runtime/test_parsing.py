"""The process that parses: what crashes, hangs or grows there leaves this one unharmed."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tests.support.data_files import write_h5ad
from viewhop._runtime.parsing import parsing_loop
from viewhop._runtime.parsing.foreign_file import ForeignError, ForeignFile, Parser

SOURCE = """
import os, signal, sys, time
import numpy as np

def open_source(path):
    return Strange()

class Strange:
    def describe(self, name):
        return name
    def close(self):
        raise RuntimeError("it will not close")
    def read(self, name, *where):
        if name == "crash":
            os.kill(os.getpid(), signal.SIGKILL)
        if name == "hang":
            time.sleep(60)
        if name == "grow":
            return np.ones(10**9)
        if name == "noise":
            os.write(1, b"noise"), os.write(2, b"noise")
        if name == "key":
            raise KeyError("k")
        return np.arange(6, dtype=">i4").reshape(2, 3)[:, ::-1]
"""


@pytest.fixture
def strange(monkeypatch, tmp_path):
    """A library that does whatever it should not, under the name of another."""
    folder = tmp_path / "modules"
    folder.mkdir()
    (folder / "strange.py").write_text(SOURCE)
    start = (
        "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
        f"sys.path.insert(0, {str(folder)!r}); "
        "import strange; sys.modules['viewhop._runtime.parsing.hdf5_source'] = strange; "
        "from viewhop._runtime.parsing import parsing_loop; parsing_loop.main()"
    )
    monkeypatch.setattr("viewhop._runtime.parsing.foreign_file._START", start)
    monkeypatch.setattr("viewhop._runtime.parsing.foreign_file._START_SECONDS", 20.0)

    def opened(parser, count=lambda n: None):
        return ForeignFile("x", "hdf5", parser, allowed=10**8, count=count)

    return opened


@pytest.mark.parametrize(
    ("name", "fragment"),
    [("crash", "its reader crashed on it"), ("hang", "took more than"), ("key", "k"),
     ("grow", "more memory than it may take")],
)  # fmt: skip
def test_what_goes_wrong_there_is_one_line_here(strange, name, fragment):
    with Parser(2.0) as parser:
        file = strange(parser)
        with pytest.raises(ForeignError, match=fragment) as caught:
            file.read(name)
        assert "\n" not in str(caught.value)
        again = strange(parser)  # it starts anew where it has to
        assert_array_equal(again.read("noise"), [[2, 1, 0], [5, 4, 3]])


def test_answers_are_counted_before_they_are_read(strange):
    def count(n_bytes):
        sizes.append(n_bytes)
        if n_bytes > 20:
            raise MemoryError("too much")

    sizes = []
    with Parser(20.0) as parser:
        file = strange(parser, count)
        assert file.describe("name") == "name"
        with pytest.raises(MemoryError, match="too much"):
            file.read("numbers")
        assert sizes[-1] == 24


def test_the_process_ends_with_its_block(tmp_path):
    path = tmp_path / "x.h5ad"
    write_h5ad(path, np.eye(3))
    with Parser() as parser:
        file = ForeignFile(str(path), "hdf5", parser, allowed=None, count=lambda n: None)
        assert file.describe("X")["shape"] == [3, 3]
        process = parser._process
    assert process.poll() is not None
    assert {*parsing_loop.KINDS} == {"hdf5", "zarr", "arrow", "excel"}
