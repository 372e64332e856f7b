"""Zarr stores (extra ``zarr``): folders or zip files of arrays, in groups."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewhop._runtime.parsing.foreign_file import ForeignFile
from viewhop.tables._arrays import ArrayHeader, choose_array
from viewhop.tables._budget import ReadingBudget
from viewhop.tables._column_choice import Options
from viewhop.tables._faults import quote_cell, table_fault
from viewhop.tables._foreign_files import open_foreign, read_array, read_texts
from viewhop.tables._table import Table

__all__ = ["zarr_table"]


def zarr_table(
    path: str,
    name: str,
    key: str | None,
    options: Options,
    *,
    size: int,
    budget: ReadingBudget,
) -> Table:
    """The table of one array; ids and labels are vectors of the same group.

    Parameters
    ----------
    path : str
        The store, as the caller gave it.
    name : str
        Where it is.
    key : str or None
        Path of the array in the store, or of the group that has a single matrix of numbers.
    options : Options
    size : int
        Bytes of the store.
    budget : ReadingBudget
    """
    with open_foreign(path, name, "zarr", budget) as file:
        place = (key or "").strip("/")
        kind = file.describe(place)["kind"]
        if kind == "none":
            raise _no_node(path, file, place)
        group, chosen = (place, None) if kind == "group" else (place.rpartition("/")[0], place)
        prefix = f"{group}/" if group else ""
        facts = {}
        about = file.describe(group)
        if about["kind"] != "group":  # the store is an array, or what its group was is damaged
            facts[place] = file.describe(place)
        for entry in about.get("names", ()):
            own = file.describe(prefix + entry)
            if own["kind"] not in ("group", "none"):
                facts[prefix + entry] = own
        named = replace(
            options,
            id=None if options.id is None else prefix + options.id,
            label=None if options.label is None else prefix + options.label,
        )

        def describe(entry: str) -> ArrayHeader:
            about = facts[entry]
            dtype = np.dtype(about["dtype"] if about["kind"] == "array" else "U1")
            return ArrayHeader(tuple(about["shape"]), False, dtype)

        def load(entry: str) -> NDArray[Any]:
            about = facts[entry]
            if about["kind"] == "array" and len(about["shape"]) in (1, 2):
                return read_array(path, file, entry, about, budget)
            if about["kind"] == "text" and len(about["shape"]) == 1:
                texts = read_texts(path, file, entry, about, budget, size=size)
                longest = max(map(len, texts), default=1)
                budget.check(path, 4 * longest * len(texts), what=f"the text of {entry!r}")
                return np.array(texts, dtype=np.str_)
            return np.broadcast_to(np.empty((), dtype="U1"), about["shape"])

        return choose_array(path, chosen, facts, describe, load, named, budget)


def _no_node(path: str, file: ForeignFile, place: str) -> Exception:
    """The error of a path at which a store has nothing."""
    if not place:
        return table_fault(
            path,
            "it is no Zarr group or array: it has no zarr.json, .zgroup or .zarray; expected the "
            "folder that one of them is in",
        )
    known = file.describe("")
    names = [quote_cell(name) for name in known.get("names", ())[:8]]
    listing = f"; at its top there are {', '.join(names)}" if names else ""
    return table_fault(path, f"it has no group or array {quote_cell(place)}{listing}")
