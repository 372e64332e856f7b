"""The library asks nothing of the network: data files come from a folder, with their checksums."""

from __future__ import annotations

import ast
import hashlib
import socket
from pathlib import Path

import numpy as np
import pytest

import viewhop as vh
from viewhop.datasets import _folder, _remote

SOURCE = Path(vh.__file__).parent
#: Modules that open connections.
FORBIDDEN = (
    "aiohttp",
    "ftplib",
    "http.client",
    "http.server",
    "httpx",
    "pooch",
    "requests",
    "socket",
    "socketserver",
    "urllib.request",
    "urllib3",
    "xmlrpc",
)


def imported_modules(source):
    """Everything that a source imports, anywhere in it, by its dotted name."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def connections(source):
    return [
        name
        for name in imported_modules(source)
        if any(f"{name}.".startswith(f"{module}.") for module in FORBIDDEN)
    ]


def test_no_module_imports_what_opens_connections():
    found = {
        str(path.relative_to(SOURCE)): modules
        for path in SOURCE.rglob("*.py")
        if (modules := connections(path.read_text(encoding="utf-8")))
    }
    assert not found


@pytest.mark.parametrize(
    "source", ["import urllib.request", "def f():\n    from http import client"]
)
def test_imports_of_connections_are_seen(source):
    assert connections(source)


@pytest.fixture
def offline(monkeypatch):
    """A process in which every connection fails."""

    def refuse(*args, **options):
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.fixture
def letters(tmp_path, monkeypatch):
    """A folder with a small file of letters under its checksum."""
    path = tmp_path / _remote._ISOLET[0]
    np.savez(path, X=np.eye(4), label=np.arange(1.0, 5.0))
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    monkeypatch.setattr(_remote, "_ISOLET", (path.name, sha256))
    return path


def test_data_in_the_folder_are_read_offline(offline, letters):
    assert len(vh.datasets.load_isolet(letters.parent).views) == 4


def test_data_that_are_not_there_are_an_error_and_no_download(offline, tmp_path):
    with pytest.raises(vh.errors.DataMissingError, match="comes from"):
        vh.datasets.load_isolet(tmp_path)
    assert not [*tmp_path.iterdir()]


def test_a_file_of_a_wrong_checksum_is_never_read(offline, letters, monkeypatch):
    letters.write_bytes(letters.read_bytes() + b"more")
    monkeypatch.setattr(_remote, "_arrays", lambda *args: pytest.fail("it was read"))
    with pytest.raises(ValueError, match=r"wrong checksum: expected SHA-256 .*Get it again"):
        vh.datasets.load_isolet(letters.parent)


def test_an_address_is_not_a_folder(offline):
    for address in ("http://localhost/data", "https://localhost/data", "ftp://localhost"):
        with pytest.raises(vh.errors.DataMissingError, match="no few"):
            _folder.find_file("few.npz", "0" * 64, address, "nowhere")


def test_bundled_and_synthetic_data_need_no_connection(offline):
    assert len(vh.datasets.load_mfeat().views) == 2000
    assert len(vh.datasets.make_circles(50, random_state=0).views) == 50
