"""AnnData and MuData files (extra ``omics``): matrices of observations and variables.

They are HDF5 files whose layout the two packages document. It is read here, because anndata
itself holds pandas below 3, and would load more than one matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from viewhop._runtime.parsing.foreign_file import ForeignFile
from viewhop.tables._budget import ReadingBudget
from viewhop.tables._column_choice import Options, choose_columns
from viewhop.tables._faults import missing_column, quote_cell, table_fault
from viewhop.tables._foreign_files import open_foreign
from viewhop.tables._omics_columns import ObsFrame, read_frame
from viewhop.tables._omics_matrix import read_matrix
from viewhop.tables._table import Table, text_ids, typed_label

__all__ = ["find_matrices", "omics_table"]


class _Place(NamedTuple):
    """A matrix in a file: the AnnData that it is in, and its path there."""

    base: str
    part: str


def omics_table(
    path: str,
    name: str,
    key: str | None,
    options: Options,
    *,
    size: int,
    budget: ReadingBudget,
) -> Table:
    """The table of one matrix of an AnnData or MuData file; ids are its ``obs_names``.

    Parameters
    ----------
    path : str
        The file, as the caller gave it.
    name : str
        Where it is.
    key : str or None
        ``X``, ``layers/NAME`` or ``obsm/NAME``, after the modality in a MuData file; None is X.
    options : Options
        `id` and `label` may be columns of ``obs``. An `id` that is none, and that another file may
        have, leaves the ``obs_names``.
    size : int
        Bytes of the file.
    budget : ReadingBudget
    """
    with open_foreign(path, name, "hdf5", budget) as file:
        place = _locate(path, file, key)
        obs = ObsFrame(path, file, f"{place.base}obs", budget, size=size)
        who = f"modality {quote_cell(place.base.split('/')[1])}" if place.base else "it"
        if not len(obs):
            raise table_fault(path, f"{who} has no observations")
        _check_unique(path, obs.names)
        ids, labels = _annotations(path, obs, options)
        columns, chosen = _columns(path, file, place, options, budget, size=size)
        matrix = read_matrix(path, file, place.base + place.part, len(obs), columns, chosen, budget)
        known = (*obs.columns, obs.index_name)
        used = tuple(str(entry) for entry in (options.id, options.label) if entry in known)
        return Table(
            path=path,
            matrix=matrix,
            columns=None if columns is None else tuple(columns[k] for k in chosen or ()),
            header=(*used, *columns) if columns is not None else used or None,
            ids=ids,
            labels=labels,
            lines=np.arange(1, len(obs) + 1),
        )


def find_matrices(file: ForeignFile) -> dict[str, dict[str, Any]]:
    """The matrices of a file by key, with what the file says of each.

    "obs" are the columns of its observations; "data" is the type of sparse numbers, or None.

    Parameters
    ----------
    file : ForeignFile
    """
    found: dict[str, dict[str, Any]] = {}
    modalities = file.describe("mod")
    bases = {"": ""}
    if modalities["kind"] == "group":
        bases = {f"{name}/": f"mod/{name}/" for name in modalities["names"]}
    for shown, base in bases.items():
        parts = ["X"]
        for folder in ("layers", "obsm"):
            about = file.describe(f"{base}{folder}")
            parts += [f"{folder}/{name}" for name in about.get("names", ())]
        obs = file.describe(f"{base}obs")
        for part in parts:
            facts = file.describe(f"{base}{part}")
            if facts["kind"] not in ("none", "other"):
                hidden = ("__categories", obs.get("attrs", {}).get("_index"))
                names = [name for name in obs.get("names", ()) if name not in hidden]
                data = file.describe(f"{base}{part}/data")
                found[shown + part] = {**facts, "obs": names, "data": data.get("dtype")}
    return found


def _locate(path: str, file: ForeignFile, key: str | None) -> _Place:
    """The matrix of a key; TableError if there is none."""
    names = file.describe()["names"]
    parts = [part for part in (key or "").split("/") if part]
    base, rest = "", parts
    if "mod" in names:
        modalities = file.describe("mod")["names"]
        if not parts and len(modalities) == 1:
            parts = modalities
        if not parts:
            listing = ", ".join(f"{path}::{name}" for name in modalities[:8])
            raise table_fault(
                path,
                f"it has {len(modalities)} modalities; choose one with PATH::NAME ({listing})",
            )
        if parts[0] in modalities:
            base, rest = f"mod/{parts[0]}/", parts[1:]
        elif parts[0] != "obsm":
            raise missing_column(path, parts[0], modalities, role="modality")
    if "obs" not in (names if not base else file.describe(base)["names"]):
        raise table_fault(path, "it is no AnnData or MuData file: it has no obs")
    part = "/".join(rest) or "X"
    folder, _, inner = part.partition("/")
    if part not in ("X", "raw/X") and not (folder in ("layers", "obsm") and inner):
        raise table_fault(
            path, f"expected X, layers/NAME or obsm/NAME after ::, got {quote_cell(part)}"
        )
    if inner and folder != "raw":
        about = file.describe(f"{base}{folder}")
        if inner not in about.get("names", ()):
            role = "layer" if folder == "layers" else "array of obsm"
            raise _missing_part(path, inner, about.get("names", ()), role)
    return _Place(base, part)


def _missing_part(path: str, name: str, known: Sequence[str], role: str) -> Exception:
    if not known:
        return table_fault(path, f"no {role} {quote_cell(name)}: it has none")
    return missing_column(path, name, known, role=role)


def _check_unique(path: str, names: Sequence[str]) -> None:
    first: dict[str, int] = {}
    for row, name in enumerate(names, start=1):
        before = first.setdefault(name, row)
        if before != row:
            raise table_fault(
                path,
                f"the observations {before:,} and {row:,} have the same name {quote_cell(name)} in "
                "obs_names; make them unique (obs_names_make_unique)",
            )


def _annotations(
    path: str, obs: ObsFrame, options: Options
) -> tuple[tuple[str, ...], tuple[Any, ...] | None]:
    """The ids, and the labels if obs has them."""
    ids = tuple(obs.names)
    if options.id is not None and options.id != obs.index_name:
        if options.id in obs.columns:
            ids = text_ids(path, obs.column(options.id))
        elif not options.shared:
            raise missing_column(path, options.id, obs.columns, role="id column in obs")
    if options.label is None:
        return ids, None
    if options.label not in obs.columns:
        if options.shared:
            return ids, None
        raise missing_column(path, options.label, obs.columns, role="label column in obs")
    return ids, tuple(map(typed_label, obs.column(options.label)))


def _columns(
    path: str,
    file: ForeignFile,
    place: _Place,
    options: Options,
    budget: ReadingBudget,
    *,
    size: int,
) -> tuple[list[str] | None, list[int] | None]:
    """The names of the variables and the positions of those to read; None for an array of obsm."""
    plain = replace(options, id=None, label=None)
    if place.part.startswith("obsm/"):
        facts = file.describe(place.base + place.part)
        if facts["kind"] == "group" and facts["attrs"].get("encoding-type") == "dataframe":
            names = read_frame(path, file, place.base + place.part, budget, size=size).columns
            return names, choose_columns(path, names, plain).features
        if (options.keep or options.drop) and not options.shared:
            raise table_fault(path, "its columns have no names, so none can be kept or dropped")
        return None, None
    group = "raw/var" if place.part == "raw/X" else "var"
    names = read_frame(path, file, place.base + group, budget, size=size).names
    if not names:
        raise table_fault(path, "it has no variables")
    return names, choose_columns(path, names, plain).features
