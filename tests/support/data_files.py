"""Small files of the kinds that other libraries read, as those who make them lay them out."""

from __future__ import annotations

import os
import warnings

import h5py
import numpy as np
import scipy.sparse as sp

from viewhop._runtime.parsing.foreign_file import Parser

TEXT = h5py.string_dtype()


class SharedParser:
    """One parser for all files of a process, since starting one takes half a second."""

    parsers: dict[int, Parser] = {}  # noqa: RUF012 - one for each process that was forked
    seconds = 30.0

    def __enter__(self):
        return self.parsers.setdefault(os.getpid(), Parser(self.seconds))

    def __exit__(self, *error):
        pass

    @classmethod
    def close(cls):
        """End the parser of this process."""
        parser = cls.parsers.pop(os.getpid(), None)
        if parser is not None:
            parser.stop()


def put_frame(group, names, **columns):
    """A frame as anndata 0.8 and later lay it out; a list of texts becomes categories."""
    group.attrs.update({"encoding-type": "dataframe", "encoding-version": "0.2.0"})
    group.attrs["_index"] = "_index"
    group.attrs["column-order"] = np.array([*columns], dtype=TEXT)
    group.create_dataset("_index", data=np.array([*names], dtype=object), dtype=TEXT)
    for name, values in columns.items():
        if isinstance(values, list):
            known = sorted({value for value in values if value is not None})
            inner = group.create_group(name)
            inner.attrs["encoding-type"] = "categorical"
            codes = [-1 if value is None else known.index(value) for value in values]
            inner["codes"] = np.array(codes, dtype="i1")
            inner.create_dataset("categories", data=np.array(known, dtype=object), dtype=TEXT)
        else:
            group[name] = values


def put_matrix(group, name, matrix, **options):
    """A dense array, or a sparse matrix by rows or by columns."""
    if not sp.issparse(matrix):
        group.create_dataset(name, data=matrix, **options).attrs["encoding-type"] = "array"
        return
    inner = group.create_group(name)
    inner.attrs["encoding-type"] = f"{matrix.format}_matrix"
    inner.attrs["shape"] = matrix.shape
    for part in ("data", "indices", "indptr"):
        inner.create_dataset(part, data=getattr(matrix, part), **options)


def put_anndata(group, X, *, names=None, genes=None, layers=(), obsm=(), obs=(), **options):
    """An AnnData."""
    n, width = X.shape
    group.attrs.update({"encoding-type": "anndata", "encoding-version": "0.1.0"})
    put_matrix(group, "X", X, **options)
    put_frame(group.create_group("obs"), names or [f"c{k}" for k in range(n)], **dict(obs))
    put_frame(group.create_group("var"), genes or [f"g{k}" for k in range(width)])
    for folder, matrices in (("layers", layers), ("obsm", obsm)):
        group.require_group(folder)
        for name, matrix in dict(matrices).items():
            put_matrix(group[folder], name, matrix, **options)


def write_h5ad(path, X, **more):
    """An .h5ad file."""
    with h5py.File(path, "w") as file:
        put_anndata(file, X, **more)


def write_h5mu(path, modalities, obsm=()):
    """An .h5mu file; a modality is a dict of the arguments of `put_anndata`."""
    with h5py.File(path, "w", userblock_size=512) as file:
        file.attrs["encoding-type"] = "MuData"
        names = [name for entry in modalities.values() for name in entry.get("names", ())]
        put_frame(file.create_group("obs"), dict.fromkeys(names))
        file.create_group("obsm")
        for name, matrix in dict(obsm).items():
            put_matrix(file["obsm"], name, matrix)
        for name, entry in modalities.items():
            put_anndata(file.create_group(f"mod/{name}"), **entry)
    with open(path, "r+b") as file:
        file.write(b"MuData (format-version=0.1.0)")


def write_zarr(store, arrays, *, version=3, chunks=None):
    """A Zarr store with arrays by path; `store` is a path, or a store of zarr."""
    import zarr

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the type of texts has no specification yet
        root = zarr.open_group(store, mode="w", zarr_format=version)
        for name, values in arrays.items():
            root.create_array(name, data=values, **({} if chunks is None else {"chunks": chunks}))


def write_workbook(path, sheets):
    """An Excel workbook of sheets, each a list of rows."""
    import openpyxl

    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
