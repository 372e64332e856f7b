"""What the files of a run say about the machine: no absolute path, no user, no environment."""

from __future__ import annotations

import base64
import binascii
import getpass
import io
import os
import re
import socket
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest

import viewhop as vh
from tests.support.command_line import invoked
from viewhop.tables import write

N = 60
SECRETS = {"VIEWHOP_TOKEN": "token-7d3f9a", "USER": "alice-7d3f9a", "HOSTNAME": "host-7d3f9a"}
#: Base64 in a page, long enough to hold a path.
PACKED = re.compile(rb"[A-Za-z0-9+/]{40,}={0,2}")


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home with two files, the secrets of an environment, and another folder to work in."""
    home, work = tmp_path / "home-of-alice", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    for name, value in {**SECRETS, "HOME": str(home), "LOGNAME": SECRETS["USER"]}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(work)
    made = vh.datasets.make_swiss_rolls(N, noise=0.1, random_state=0)
    ids = [f"s{k}" for k in range(N)]
    kinds = ["low" if theta < np.median(made.theta) else "high" for theta in made.theta]
    for name, rows in made.views.items():
        columns = dict(zip("abc", rows.T, strict=True))
        write(home / f"{name}.csv", {"id": ids, "kind": kinds, **columns})
    return home


def contents(path):
    """The bytes of a file, and of all that is packed in it."""
    data = path.read_bytes()
    yield data
    if zipfile.is_zipfile(io.BytesIO(data)):
        with zipfile.ZipFile(io.BytesIO(data)) as bundle:
            yield bundle.comment
            for member in bundle.infolist():
                yield member.filename.encode() + member.comment + member.extra
                yield bundle.read(member)
    if path.suffix == ".html":
        for text in PACKED.findall(data):
            try:
                unpacked = base64.b64decode(text, validate=True)
            except binascii.Error:
                continue
            yield unpacked
            try:
                yield zlib.decompress(unpacked, wbits=47)
            except zlib.error:
                continue
    if path.suffix == ".parquet":
        yield pytest.importorskip("pandas").read_parquet(path).to_csv().encode()


def private_words(home):
    """What no file may hold: where things are, and whom the machine belongs to."""
    words = {str(home), str(home.parent), str(Path(vh.__file__).parent), *SECRETS.values()}
    words |= {os.getcwd(), os.path.realpath(home), os.path.expanduser("~")}
    return {word.encode() for word in words}


def assert_private(folder, home):
    paths = [path for path in Path(folder).rglob("*") if path.is_file()]
    assert paths
    for path in paths:
        assert path.stat().st_size > 0
        for data in contents(path):
            for word in private_words(home):
                assert word not in data, f"{path.name} holds {word.decode()}"


def run(*arguments):
    result = invoked(*arguments)
    assert result.exit_code == 0, result.output
    return result


def test_no_file_of_a_fit_names_the_machine(home):
    files = [f"x={home / 'x.csv'}", f"y={home / 'y.csv'}"]
    for command, kind in (("fit", "csv"), ("cluster", "parquet")):
        if kind == "parquet":
            pytest.importorskip("pyarrow")
        run(
            *(command, *files, "--id", "id", "--label", "kind", "--seed", "1"),
            *("--format", kind, "-o", Path(f"{command}-out").resolve()),
        )
        assert_private(f"{command}-out", home)
    assert sorted(path.name for path in Path("fit-out").iterdir()) == [
        "embedding.csv",
        "embedding.png",
        "model.viewhop",
        "report.html",
        "run.json",
        "run.toml",
    ]


def test_no_file_made_from_a_model_names_the_machine(home):
    files = [f"x={home / 'x.csv'}", f"y={home / 'y.csv'}"]
    run("fit", *files, "--id", "id", "--label", "kind", "-o", "fitted")
    model = Path("fitted/model.viewhop").resolve()
    run("transform", model, files[1], "--id", "id", "-o", Path("new/new.csv").resolve())
    run("report", model, *files, "--id", "id", "--label", "kind", "-o", "new/report.html")
    run("bandwidth", *files, "--id", "id", "--label", "kind", "-o", "scales")
    run("data", "circles", "--samples", "50", "-o", Path("circles").resolve())
    # The command at the end of the advice repeats the paths that were given.
    files = ["x=../home-of-alice/x.csv", "y=../home-of-alice/y.csv"]
    advice = run("advise", *files, "--id", "id", "--label", "kind", "--json").output
    Path("new/advice.json").write_text(advice)
    for folder in ("fitted", "new", "scales", "circles"):
        assert_private(folder, home)


def test_no_file_of_the_library_names_the_machine(home, tmp_path):
    X = np.random.default_rng(0).normal(size=(50, 4))
    np.save(home / "X.npy", X)
    held = np.load(home / "X.npy", mmap_mode="r")
    est = vh.MultiViewDiffusionMaps(2, kernel=vh.kernels.Gaussian(), random_state=0)
    est.fit([held[:, :2], held[:, 2:]])
    folder = tmp_path / "out"
    folder.mkdir()
    est.save(folder / "model.viewhop")
    vh.report.write(folder / "report.html", est)
    figure = vh.plotting.embedding(est.embedding_).figure
    for kind in ("png", "svg", "pdf"):
        figure.savefig(folder / f"picture.{kind}")
    assert_private(folder, home)


def test_a_private_word_is_found_wherever_it_is_packed(home, tmp_path):
    word = next(iter(private_words(home)))
    np.savez_compressed(tmp_path / "a.npz", text=np.frombuffer(word, dtype=np.uint8))
    page = base64.b64encode(zlib.compress(b"x" * 40 + word + bytes(range(256))))
    (tmp_path / "b.html").write_bytes(b"<p>" + page + b"</p>")
    for name in ("a.npz", "b.html"):
        assert any(word in data for data in contents(tmp_path / name))


def test_user_and_host_of_this_process_are_not_in_a_run(home):
    files = [f"x={home / 'x.csv'}", f"y={home / 'y.csv'}"]
    run("fit", *files, "--id", "id", "--label", "kind", "-o", "out")
    for name in ("run.json", "run.toml"):
        words = re.findall(r"[\w.-]+", Path("out", name).read_text())
        assert not {socket.gethostname(), getpass.getuser()} & {*words}
