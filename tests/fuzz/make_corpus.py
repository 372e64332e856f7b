"""Write the corpus: ``python -m tests.fuzz.make_corpus``. Findings in it are left as they are.

Every file is made here from a formula or a seed; none comes from elsewhere.
"""

from __future__ import annotations

import gzip
import io
import json
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd

from tests.fuzz.readers import CORPUS
from tests.support.data_files import write_h5ad, write_workbook, write_zarr


def numbers(n, width, seed=0):
    return np.random.default_rng(seed).standard_normal((n, width)).round(4)


def csv_files():
    rows = numbers(12, 3)
    ids = [f"s{k:02d}" for k in range(12)]
    frame = pd.DataFrame(rows, columns=["a", "b", "b2"]).assign(sample=ids, kind=[*"xyz"] * 4)
    frame.loc[3, ["a", "b", "b2"]] = np.nan
    plain = frame[["a", "b", "b2"]]
    yield "plain.csv", plain.to_csv(index=False).encode()
    yield "ids.csv", frame.to_csv(index=False).encode()
    yield "tabs.csv", frame.to_csv(index=False, sep="\t").encode()
    yield "comma.csv", plain.to_csv(index=False, sep=";", decimal=",").encode()
    yield "bom.csv", plain.to_csv(index=False).encode("utf-8-sig")
    yield "utf16.csv", frame.to_csv(index=False).encode("utf-16")
    yield "latin1.csv", "größe,b\r\n1,2\r\n3,4\r\n".encode("latin-1")
    yield "quoted.csv", b'"a","b ""x""","c,d"\n"1","2","3"\n4,NA,\n'
    yield "empty.csv", b""
    yield "header.csv", b"a,b\n"


def npy_bytes(array, **options):
    out = io.BytesIO()
    np.lib.format.write_array(out, np.asarray(array), **options)
    return out.getvalue()


def npy_files():
    rows = numbers(8, 3)
    yield "double.npy", npy_bytes(rows)
    yield "single.npy", npy_bytes(rows.astype("<f4"))
    yield "fortran.npy", npy_bytes(np.asfortranarray(rows))
    yield "big-endian.npy", npy_bytes(rows.astype(">f8"))
    yield "integers.npy", npy_bytes(np.arange(12).reshape(4, 3))
    yield "version-2.npy", npy_bytes(rows, version=(2, 0))
    yield "text.npy", npy_bytes(np.array([["a", "b"]]))
    yield "vector.npy", npy_bytes(np.arange(5.0))


def npz_bytes(save, **arrays):
    out = io.BytesIO()
    save(out, **arrays)
    return out.getvalue()


def npz_files():
    arrays = {
        "x": numbers(8, 3),
        "ids": np.array([f"s{k}" for k in range(8)]),
        "kind": np.arange(8),
    }
    yield "one.npz", npz_bytes(np.savez, x=arrays["x"])
    yield "three.npz", npz_bytes(np.savez, **arrays)
    yield "packed.npz", npz_bytes(np.savez_compressed, **arrays)
    yield "two.npz", npz_bytes(np.savez, x=arrays["x"], y=arrays["x"])


def mat_files():
    from scipy.io import savemat

    ids = np.array([f"s{k}" for k in range(6)], dtype=object)
    content = {"x": numbers(6, 3), "ids": ids, "kind": np.arange(6), "note": "text"}
    for name, more in (("plain", {}), ("packed", {"do_compression": True})):
        out = io.BytesIO()
        savemat(out, content, **more)
        # The header has the time of writing.
        yield f"{name}.mat", b"MATLAB 5.0 MAT-file".ljust(116) + out.getvalue()[116:]
    out = io.BytesIO()
    savemat(out, {"x": np.eye(3, dtype="i2"), "s": {"a": 1.0}, "c": np.eye(2) * 1j})
    yield "others.mat", b"MATLAB 5.0 MAT-file".ljust(116) + out.getvalue()[116:]


def parquet_files():
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = numbers(12, 2)
    ids = [f"s{k}" for k in range(12)]
    tables = {
        "plain": pa.table({"a": rows[:, 0], "b": rows[:, 1]}),
        "ids": pa.table({"sample": ids, "a": rows[:, 0], "b1": rows[:, 1], "kind": [*"xy"] * 6}),
        "single": pa.table({"a": rows[:, 0].astype("f4"), "b": rows[:, 1].astype("f4")}),
        "types": pa.table({"a": [1, 2, None], "b": [True, None, False], "c": pa.nulls(3)}),
        "nested": pa.table({"a": [[1.0], [2.0, 3.0]], "b": [{"x": 1}, {"x": 2}]}),
    }
    for name, table in tables.items():
        out = io.BytesIO()
        pq.write_table(table, out, compression="none" if name == "plain" else "snappy")
        yield f"{name}.parquet", out.getvalue()


def packed_files():
    import zstandard

    for name, data in csv_files():
        if name in ("plain.csv", "ids.csv"):
            yield f"{name}.gz", gzip.compress(data, mtime=0)
            yield f"{name}.zst", zstandard.compress(data)


def excel_files():
    rows = numbers(8, 2).tolist()
    named = [
        [f"s{k}", *row, kind] for k, (row, kind) in enumerate(zip(rows, "xyxyxyxy", strict=True))
    ]
    sheets = {
        "plain": {"x": [["a", "b"], *rows]},
        "ids": {"x": [["sample", "a", "b1", "kind"], *named]},
        "two": {"x": [["a"], [1], [None], [True]], "y": [["a"], ["text"]]},
    }
    with tempfile.TemporaryDirectory() as folder:
        for name, content in sheets.items():
            path = Path(folder, "book.xlsx")
            write_workbook(path, content)
            yield f"{name}.xlsx", _lean_zip(path.read_bytes())


def _lean_zip(data):
    """The same members, without what a workbook need not have, and without their times."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for info in old.infolist():
            if not info.filename.startswith(("docProps/", "xl/theme")):
                packed = zipfile.ZIP_DEFLATED
                new.writestr(zipfile.ZipInfo(info.filename), old.read(info), compress_type=packed)
    return out.getvalue()


def arrow_files():
    import pyarrow as pa

    rows = numbers(12, 2)
    ids = [f"s{k}" for k in range(12)]
    kinds = pa.array([*"xy"] * 6).dictionary_encode()
    tables = {
        "plain": pa.table({"a": rows[:, 0], "b": rows[:, 1]}),
        "ids": pa.table({"sample": ids, "a": rows[:, 0], "b1": rows[:, 1], "kind": kinds}),
        "types": pa.table({"a": [1, 2, None], "b": [True, None, False], "c": pa.nulls(3)}),
    }
    for name, table in tables.items():
        for packing in (None, "zstd") if name == "ids" else (None,):
            out = io.BytesIO()
            options = pa.ipc.IpcWriteOptions(compression=packing)
            with pa.ipc.new_file(out, table.schema, options=options) as sink:
                sink.write_table(table, max_chunksize=7)
            yield f"{name}{'-packed' if packing else ''}.arrow", out.getvalue()
    out = io.BytesIO()
    with pa.ipc.new_stream(out, tables["plain"].schema) as sink:
        sink.write_table(tables["plain"])
    yield "stream.arrow", out.getvalue()


def zarr_files():
    import zarr

    arrays = {"x": numbers(8, 3), "ids": np.arange(8), "kind": np.arange(8) % 2}
    for version in (2, 3):
        for name, content in (("top", arrays), ("deep", {"a/x": arrays["x"]})):
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder, "store.zarr.zip")
                store = zarr.storage.ZipStore(path, mode="w")
                write_zarr(store, content, version=version)
                store.close()
                yield f"{name}-{version}.zarr.zip", _lean_zip(path.read_bytes())


def h5ad_files():
    from scipy.sparse import random as random_sparse

    matrix = random_sparse(8, 3, 0.5, format="csr", random_state=0)
    layers = {"rows": matrix, "columns": matrix.tocsc()}
    obs = {"kind": ["x", "y", None, "x"] * 2}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "cells.h5ad")
        for name, more in (("plain", {}), ("packed", {"compression": "gzip"})):
            rows = numbers(8, 3)
            write_h5ad(path, rows, layers=layers, obsm={"X_pca": rows[:, :2]}, obs=obs, **more)
            yield f"{name}.h5ad", path.read_bytes()


def toml_files():
    yield (
        "fit.toml",
        (
            b'command = "fit"\nout = "out"\nid = "sample"\nlabel = "kind"\nkeep = ["a", "b*"]\n'
            b'fusion = "hop"\nwithin_view_weight = 0.5\ncomponents = 3\nsteps = 1.5\nseed = 7\n'
            b'memory = "2GB"\njobs = 1\nreport = false\n\n[views.rna]\npath = "rna.csv"\n'
            b'kernel = "gaussian"\nbandwidth = "max-min"\nfactor = 2.0\n\n[views.protein]\n'
            b'path = "protein.npz::x"\nkernel = "laplacian"\nneighbors = 5\n'
        ),
    )
    yield (
        "cluster.toml",
        (
            b'viewhop = "0.1.0"\ncommand = "cluster"\nclusters = "auto"\nmax_clusters = 9\n'
            b"normalize = true\n[views]\nx = {path = 'x.csv', weight = 1.0}\n"
            b"y = {path = 'y.csv', weight = 0.25, metric = 'cosine'}\n"
        ),
    )
    yield (
        "own.toml",
        (
            b'hops = [[0.5, 1.0], [1.0, 0.0]]\npicture = false\n[views.x]\npath = "x.h5ad::X"\n'
            b'keep = ["a*"]\ndrop = []\n[views.y]\npath = "y.csv.gz"\ndecimal = ","\n'
            b'delimiter = "tab"\nencoding = "utf-16"\n'
        ),
    )
    yield "one.toml", b"[views.x]\npath = 'x.csv'\n"
    yield (
        "auto.toml",
        (
            b'components = "auto"\naccuracy = 0.2\nsolver = "dense"\ntol = 1e-9\n'
            b'delimiter = ";"\ndecimal = ","\nencoding = "latin-1"\n[views."a b"]\npath = "a.csv"\n'
        ),
    )


def record_files():
    file = {"sha256": "0" * 64, "size": 10}
    record = {
        "format": "viewhop run",
        "version": 1,
        "command": "fit",
        "viewhop": "0.1.0",
        "versions": {"python": "3.11.0", "numpy": "2.0.0"},
        "settings": {"command": "fit", "seed": 0, "views": {"x": {"path": "../x.csv"}}},
        "seed": 0,
        "inputs": {"x": {"path": "../x.csv", "rows": 12, "columns": 3, **file}},
        "outputs": {"embedding.csv": file, "run.toml": file, "model.viewhop": file},
        "n_samples": 12,
        "eigenvalues": [0.9, 0.5],
        "warnings": [{"kind": "DisconnectedWarning", "text": "2 pieces"}],
    }
    yield "run.json", json.dumps(record, indent=1).encode()


def model_files():
    with tempfile.TemporaryDirectory() as folder:
        for name, est in small_models().items():
            path = Path(folder, name)
            est.save(path)
            yield f"{name}.viewhop", path.read_bytes()


def small_models():
    import viewhop as vh

    t = np.linspace(0.0, 1.0, 14)
    one = np.column_stack([np.cos(3 * t), np.sin(3 * t)])
    two = np.column_stack([t, t**2, np.sin(5 * t)])
    return {
        "one-view": vh.DiffusionMaps(2, kernel="gaussian", random_state=0).fit(one),
        "adaptive": vh.MultiViewDiffusionMaps(2, random_state=0).fit({"one": one, "two": two}),
        "clusters": vh.MultiViewSpectralClustering(random_state=0).fit([one, two]),
        "canonical": vh.KernelCCA(1, rank=6).fit({"one": one, "two": two}),
    }


def waveform(obspy, *, npts=600, seed=0, **header):
    data = np.random.default_rng(seed).integers(-999, 999, npts).astype(np.int32)
    stats = {"network": "IS", "station": "MMLI", "channel": "BHZ", "sampling_rate": 40.0, **header}
    return obspy.Trace(data, {**stats, "starttime": obspy.UTCDateTime(2010, 5, 27, 16, 24)})


def mseed_files():
    import obspy

    def written(traces, *, format="MSEED", **options):
        more = {"reclen": 512, **options} if format == "MSEED" else options
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "waveform")
            obspy.Stream(traces).write(str(path), format=format, **more)
            return path.read_bytes()

    trace = waveform(obspy)
    yield "steim2.mseed", written([trace], encoding="STEIM2")
    yield "steim1.mseed", written([trace], encoding="STEIM1", byteorder="<")
    yield "int32.mseed", written([waveform(obspy, npts=200)], encoding="INT32", reclen=256)
    channels = [waveform(obspy, channel=f"BH{c}", seed=k) for k, c in enumerate("ZNE")]
    yield "three.mseed", written(channels, encoding="STEIM2")
    single = waveform(obspy, npts=90)
    single.data = (single.data / 7).astype(np.float32)
    yield "float.mseed", written([single], encoding="FLOAT32", reclen=256)
    yield "packed.mseed.gz", gzip.compress(written([trace], encoding="STEIM2"), mtime=0)
    for format in ("SAC", "GSE2", "SLIST"):  # other formats take the same path
        yield f"other.{format.lower()}", written([waveform(obspy, npts=60)], format=format)


def event_files():
    yield (
        "events.csv",
        (
            b"id,time,label,duration,snr,stations,pick IS.A,channel IS.A,pick IS.B\n"
            b"a,2010-05-27T16:24:33.21Z,blast,3.5,7,2,2010-05-27T16:24:35Z,IS.A..BHZ,\n"
            b"b,2010-05-27T18:24:33+02:00,,,,1,,,2010-05-27T16:24:36.5Z\n"
            b"'=c,2010-05-28,earthquake,1,2,0,,,\n"
        ),
    )
    yield (
        "agency.csv",
        (
            b"time,latitude,mag,id,type\n2010-05-27T16:24:33.210Z,48.1,1.2,us1,earthquake\n"
            b'2010-05-27T18:27:01+02:00,48.1,1.2,us2,"quarry blast"\n'
        ),
    )
    yield "own.csv", b"when;what;name\n2010-05-27;blast;a\n2010-05-28T01:02:03;quake;b\n"


def quakeml_files():
    import obspy
    from obspy.core import event as ev

    def time(seconds):
        return obspy.UTCDateTime(2010, 5, 27, 16, 24, 33) + seconds

    def pick(k, **more):
        source = ev.WaveformStreamID("IS", f"A{k}", channel_code="BHZ")
        name = ev.ResourceIdentifier(f"smi:local/pick/{k}")
        return ev.Pick(resource_id=name, time=time(k), waveform_id=source, **more)

    events = [
        ev.Event(
            resource_id=ev.ResourceIdentifier(f"smi:local/event/{k}"),
            event_type=kind,
            creation_info=None,
            origins=[
                ev.Origin(
                    resource_id=ev.ResourceIdentifier(f"smi:local/origin/{k}"),
                    time=time(60 * k),
                    latitude=31.5,
                    longitude=35.4,
                    depth=5000.0,
                )
            ],
            picks=[
                pick(10 * k, phase_hint="P"),
                pick(10 * k + 1, phase_hint="S"),
                pick(10 * k + 2),
            ],
        )
        for k, kind in enumerate(("earthquake", "quarry blast", "not reported"))
    ]
    for name, chosen in (("three", events), ("one", events[:1])):
        catalogue = obspy.Catalog(chosen, resource_id=ev.ResourceIdentifier("smi:local/catalog"))
        catalogue.creation_info = None
        out = io.BytesIO()
        catalogue.write(out, format="QUAKEML")
        yield f"{name}.xml", out.getvalue()
    text = out.getvalue().decode()
    yield "utf16.xml", text.replace("utf-8", "utf-16").encode("utf-16")
    yield "bare.xml", b"<q:quakeml xmlns:q='http://quakeml.org/xmlns/quakeml/1.2'/>"


FILES = {
    "csv": csv_files,
    "npy": npy_files,
    "npz": npz_files,
    "mat": mat_files,
    "parquet": parquet_files,
    "packed": packed_files,
    "excel": excel_files,
    "arrow": arrow_files,
    "zarr": zarr_files,
    "h5ad": h5ad_files,
    "toml": toml_files,
    "record": record_files,
    "model": model_files,
    "mseed": mseed_files,
    "events": event_files,
    "quakeml": quakeml_files,
}


def main():
    for folder, files in FILES.items():
        place = CORPUS / folder
        place.mkdir(parents=True, exist_ok=True)
        for path in place.iterdir():
            if not path.name.startswith("finding-"):
                path.unlink()
        for name, data in files():
            (place / name).write_bytes(data)


if __name__ == "__main__":
    main()
