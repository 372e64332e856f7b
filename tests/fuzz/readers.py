"""The readers of files: a target, a mutator and the corpus of each."""

from __future__ import annotations

import os
import tempfile
import traceback
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from unittest import mock

import numpy as np

import viewhop as vh
from tests.fuzz.mutators.arrays import mutate_mat, mutate_npy, mutate_npz
from tests.fuzz.mutators.containers import mutate_hdf5, mutate_packed, mutate_zip
from tests.fuzz.mutators.models import mutate_model
from tests.fuzz.mutators.parquet import mutate_parquet
from tests.fuzz.mutators.plain import mutate_bytes
from tests.fuzz.mutators.records import mutate_record
from tests.fuzz.mutators.settings import mutate_settings
from tests.fuzz.mutators.text import mutate_text
from tests.fuzz.mutators.waveforms import mutate_records
from tests.fuzz.mutators.xml import mutate_xml
from tests.support.data_files import SharedParser
from viewhop.errors import ModelFileError
from viewhop.runs import merge_settings, read_configuration, verify
from viewhop.runs._estimator import build_estimator, table_options
from viewhop.seismic.io import _read_waveforms, read_catalogue, read_waveforms
from viewhop.seismic.io import _records as records
from viewhop.seismic.io._guard import Guard
from viewhop.tables import Options, _foreign_files, list_contents, read

CORPUS = Path(__file__).parent / "corpus"
#: Model files of all versions of the format; they belong to the corpus, too.
GOLDEN = tuple(sorted((Path(__file__).parents[1] / "data").glob("golden-*.viewhop")))
#: The budget that readers get, in bytes; they must not take more, whatever the file claims.
MEMORY = 64_000_000

#: A CSV file is read with one of these; its checksum says which.
OPTIONS = (
    Options(),
    Options(id="sample", label="kind"),
    Options(id="sample", shared=True, drop=("b*",)),
    Options(decimal=",", delimiter=";"),
    Options(encoding="latin-1"),
    Options(encoding="utf-16"),
)


@dataclass(frozen=True)
class Reader:
    """A reader of files.

    Attributes
    ----------
    target : callable
        Reads the bytes of a file and returns nothing.
    mutate : callable
        ``mutate(rng, data, others)`` returns the bytes of another file.
    folder : str
        Of the corpus.
    others : tuple of Path
        Files elsewhere that belong to the corpus, too.
    """

    target: Callable[[bytes], None]
    mutate: Callable[..., bytes]
    folder: str
    others: tuple[Path, ...] = ()

    def folder_path(self) -> Path:
        """The folder of the corpus."""
        return CORPUS / self.folder

    def corpus(self) -> dict[str, bytes]:
        """The files of the corpus by name."""
        paths = (*sorted(self.folder_path().iterdir()), *self.others)
        return {path.name: path.read_bytes() for path in paths}


@cache
def _temporary_folder():
    # In memory where the system has such a folder: a file is written for every input.
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    return tempfile.TemporaryDirectory(dir=place, prefix="viewhop-fuzz-")


def workplace() -> Path:
    """The folder in which targets write their files; removed when the process ends."""
    return Path(_temporary_folder().name)


def _file(name, data):
    path = workplace() / name
    path.write_bytes(data)
    return path


def _choice(data, choices):
    return choices[zlib.crc32(data) % len(choices)]


# --- tables --------------------------------------------------------------------------------------


def read_text(data):
    options = _choice(data, OPTIONS)
    if zlib.crc32(data) % 4:  # most often those that fit, so that more than the header is read
        options = _fitting_options(data)
    ending = _choice(data[::2], ("csv", "csv", "tsv", "txt"))
    read(_file(f"table.{ending}", data), options=options, max_memory=MEMORY)


def _fitting_options(data):
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return OPTIONS[5]
    if b"sample" in data[:200]:
        return OPTIONS[1]
    head = data[:200].partition(b"\n")[0]
    return OPTIONS[3] if b";" in head else OPTIONS[0]


def read_npy(data):
    read(_file("table.npy", data), max_memory=MEMORY)


def read_npz(data):
    options = _choice(data, (Options(), Options(id="ids"), Options(id="ids", label="kind")))
    path = _file("table.npz", data)
    read(_choice(data[::2], (path, f"{path}::x")), options=options, max_memory=MEMORY)


def read_mat(data):
    options = _choice(data, (Options(), Options(id="ids"), Options(id="ids", label="kind")))
    path = _file("table.mat", data)
    read(_choice(data[::2], (path, f"{path}::x")), options=options, max_memory=MEMORY)


def read_parquet(data):
    options = _choice(data, OPTIONS[:3])
    read(_file("table.parquet", data), options=options, max_memory=MEMORY)


def read_packed(data):
    ending = ".zst" if data.startswith(b"\x28\xb5") else ".gz"
    options = _choice(data, OPTIONS[:2])
    read(_file(f"table.csv{ending}", data), options=options, max_memory=MEMORY)


def _read_stored(name, data, choices, keys):
    """A file of another library: one of its tables, or now and then the list of them."""
    path = _file(name, data)
    key = _choice(data[::2], keys)
    with mock.patch.object(_foreign_files, "Parser", QuickParser):
        if zlib.crc32(data) % 8 == 0:
            list_contents(path, max_memory=MEMORY)
        read(f"{path}::{key}" if key else path, options=_choice(data, choices), max_memory=MEMORY)


def read_excel(data):
    _read_stored("table.xlsx", data, OPTIONS[:3], ("", "", "x"))


def read_arrow(data):
    _read_stored("table.arrow", data, OPTIONS[:3], ("",))


def read_zarr(data):
    options = (Options(), Options(id="ids"), Options(id="ids", label="kind"))
    _read_stored("table.zarr.zip", data, options, ("", "x", "a", "a/x"))


def read_h5ad(data):
    options = (Options(), Options(label="kind"), Options(keep=("g*",), id="kind", shared=True))
    keys = ("", "", "layers/rows", "layers/columns", "obsm/X_pca")
    _read_stored("table.h5ad", data, options, keys)


class QuickParser(SharedParser):
    """A parser that gives up soon: some damaged files keep HDF5 busy for ever."""

    seconds = 1.0


# --- runs and models -----------------------------------------------------------------------------


def read_settings(data):
    settings = merge_settings(read_configuration(_file("run.toml", data)), {"out": "out"})
    settings.check()
    table_options(settings)
    build_estimator(settings)


def read_run_record(data):
    _file("run.json", data)
    verify(workplace())


def read_model(data):
    est = vh.load(_file("m.viewhop", data), max_memory=MEMORY)
    try:
        _use_model(est)
    except ValueError as error:
        # A refusal by viewhop is in order, an error of NumPy is not.
        frame = traceback.extract_tb(error.__traceback__)[-1]
        if type(error) is not ValueError or "viewhop" not in Path(frame.filename).parts:
            raise
        raise ModelFileError(str(error)) from error


def _use_model(est):
    """Call what a user would call first."""
    embedder = getattr(est, "embedder_", est)
    is_canonical = isinstance(est, vh.KernelCCA)
    parts = est.canonical_.pivots if is_canonical else embedder.walk_.affinities
    kernels = zip(embedder.view_names_, parts, strict=False)
    new = {name: K.points.rows[:3] * 1.01 for name, K in kernels if hasattr(K, "points")}
    np.asarray(embedder.embedding_)
    if new and set(new) == set(embedder.view_names_):
        embedder.transform(_restore_input(embedder, new))


def _restore_input(est, views):
    """The views as the model was fitted with them: apart, or as one stacked array."""
    return views if est.n_views_ > 1 else next(iter(views.values()))


# --- seismology ----------------------------------------------------------------------------------


def scan_waveforms(data):
    """The checks of records, which are pure Python."""
    spans = list(records.scan_records(data))
    edges = [0, *(edge for span in spans for edge in (span.begin, span.end)), len(data)]
    assert edges == sorted(edges), "spans overlap"
    for span in spans:
        if span.has_header:
            records.trace_and_time(data, span.begin)
            records.sample_encoding(data, span.begin)
    records.holds_records(data)
    records.most_records(data)


class SharedGuard:
    """A parser process for all files of a process, since starting one takes a second."""

    guards: dict[int, Guard] = {}  # noqa: RUF012 - one for each process that was forked

    def __init__(self, *, timeout, limit):
        self._guard = self.guards.setdefault(os.getpid(), Guard(timeout=timeout, limit=limit))

    def __enter__(self):
        return self._guard

    def __exit__(self, *error):
        pass

    @classmethod
    def close(cls):
        """End the parser of this process."""
        guard = cls.guards.pop(os.getpid(), None)
        if guard is not None:
            guard.__exit__(None, None, None)


def read_miniseed(data):
    """The whole path, through the parser process."""
    with mock.patch.object(_read_waveforms, "Guard", SharedGuard):
        read_waveforms(_file("record.mseed", data), timeout=10.0, max_bytes=MEMORY)


def read_event_csv(data):
    path = _file("events.csv", data)
    names = _choice(data, ({}, {}, {"time": "when", "id": "name", "label": "what"}))
    read_catalogue(path, **names)


def read_quakeml(data):
    read_catalogue(_file("events.xml", data))


READERS = {
    "csv": Reader(read_text, mutate_text, "csv"),
    "npy": Reader(read_npy, mutate_npy, "npy"),
    "npz": Reader(read_npz, mutate_npz, "npz"),
    "mat": Reader(read_mat, mutate_mat, "mat"),
    "parquet": Reader(read_parquet, mutate_parquet, "parquet"),
    "packed": Reader(read_packed, mutate_packed, "packed"),
    "excel": Reader(read_excel, mutate_zip, "excel"),
    "arrow": Reader(read_arrow, mutate_bytes, "arrow"),
    "zarr": Reader(read_zarr, mutate_zip, "zarr"),
    "h5ad": Reader(read_h5ad, mutate_hdf5, "h5ad"),
    "toml": Reader(read_settings, mutate_settings, "toml"),
    "record": Reader(read_run_record, mutate_record, "record"),
    "model": Reader(read_model, mutate_model, "model", GOLDEN),
    "mseed-records": Reader(scan_waveforms, mutate_records, "mseed"),
    "mseed": Reader(read_miniseed, mutate_records, "mseed"),
    "events": Reader(read_event_csv, mutate_text, "events"),
    "quakeml": Reader(read_quakeml, mutate_xml, "quakeml"),
}
