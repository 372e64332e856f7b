"""Colours: columns that points can be coloured by, as groups or as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from viewhop.geometry import Geometry, disagreement
from viewhop.report._packing import Pack
from viewhop.views import Views

__all__ = ["cluster_column", "disagreement_columns", "feature_columns", "label_column"]

Floats = NDArray[np.floating]
Column = dict[str, Any]

#: Whole numbers with more distinct values are a quantity, as in `plotting.embedding`.
MOST_CATEGORIES = 20
#: Bytes that feature columns may take in the page, one for each sample and column.
FEATURE_BYTES = 1_500_000
#: Types of values that are all numbers, as pandas infers them.
_NUMBERS = ("integer", "floating", "mixed-integer-float")
#: The level of a number that is missing; the others are 0 to 254.
MISSING = 255


def label_column(labels: ArrayLike | Sequence[Any], name: str, pack: Pack) -> Column:
    """Labels as groups, or as numbers if they are a quantity.

    Parameters
    ----------
    labels : (n,) array of numbers, text or None
    name : str
    pack : Pack
        Gets the values.
    """
    # As objects: pandas has no other type for text that is not valid Unicode. The stubs of pandas
    # have no Series of any type.
    values: pd.Series[Any] = pd.Series([*labels], dtype=object)  # type: ignore[misc]
    if pd.api.types.infer_dtype(values, skipna=True) in _NUMBERS:
        numbers = values.astype(np.float64)
        if _is_quantity(numbers):
            return _numbers(name, "labels", numbers.to_numpy(), pack)
        values = numbers.astype("Int64")
    return _groups(name, "labels", values, pack)


def cluster_column(clusters: ArrayLike, pack: Pack) -> Column:
    """Clusters as groups; a sample with a negative number has none.

    Parameters
    ----------
    clusters : (n,) int array
    pack : Pack
    """
    values: pd.Series[Any] = pd.Series(np.asarray(clusters)).astype("Int64")
    return _groups("cluster", "clusters", values.mask(values < 0), pack)


def disagreement_columns(geometry: Geometry, pack: Pack) -> tuple[list[Column], str]:
    """The disagreement of each view with the others, or a note on why there is none.

    Parameters
    ----------
    geometry : Geometry
    pack : Pack
    """
    try:
        distances = disagreement(geometry)
    except ValueError as error:
        return [], f"No disagreement: {error}."
    is_known = np.isfinite(distances).any(axis=1)
    largest = np.full(len(distances), np.nan)
    largest[is_known] = np.nanmax(distances[is_known], axis=1)
    columns = [_numbers("largest over all views", "disagreement", largest, pack)]
    columns += [
        _numbers(name, "disagreement", distances[:, l], pack)
        for l, name in enumerate(geometry.schema.names)
    ]
    return columns, ""


def feature_columns(features: Views, pack: Pack) -> tuple[list[Column], str]:
    """Columns of the training data within the budget, and a note on those left out.

    The first columns of all views come first, then the second ones, and so on.

    Parameters
    ----------
    features : Views
    pack : Pack
    """
    widths = [features.rows(name).shape[1] for name in features.names]
    order = sorted((k, l) for l, width in enumerate(widths) for k in range(width))
    chosen = sorted((l, k) for k, l in order[: FEATURE_BYTES // len(features)])
    nodes, columns = features.nodes, []
    for l, k in chosen:
        view, names = features.names[l], features.feature_names[l]
        values = nodes.spread(l, features.rows(view)[:, k].astype(np.float64))
        name = f"column {k + 1}" if names is None else names[k]
        columns.append(_numbers(name, f"features of {view}", values, pack))
    note = ""
    if len(chosen) < len(order):
        note = (
            f"The page holds {len(chosen):,} of {len(order):,} feature columns, taken "
            "from the views in turn: at one byte per sample and column, "
            f"{FEATURE_BYTES / 1e6:.1f} MB at most."
        )
    return columns, note


def _is_quantity(values: pd.Series[Any]) -> bool:
    """Whether numbers are anything but a few distinct whole ones."""
    known = values[np.isfinite(values)]
    few = known.nunique() <= MOST_CATEGORIES
    return not (few and len(known) == values.count() and bool((known == np.floor(known)).all()))


def _groups(name: str, family: str, values: pd.Series[Any], pack: Pack) -> Column:
    """Codes from 0 in the order of the categories; a missing value has the number of groups."""
    try:
        codes, categories = pd.factorize(values, sort=True)
    except TypeError:  # of several types, which cannot be sorted: as text
        codes, categories = pd.factorize(values.map(str, na_action="ignore"), sort=True)
    count = len(categories)
    codes = np.where(codes < 0, count, codes)
    kind = np.uint8 if count < 2**8 else np.uint16 if count < 2**16 else np.uint32
    return {
        "kind": "groups",
        "name": name,
        "family": family,
        "groups": [str(category) for category in categories],
        "numeric": values.dtype == "Int64",
        "counts": np.bincount(codes, minlength=count + 1).tolist(),
        "values": pack.put(codes.astype(kind)),
    }


def _numbers(name: str, family: str, values: Floats, pack: Pack) -> Column:
    """Numbers on 255 levels from the first to the last percentile, clipped to that range."""
    values = np.where(np.isfinite(values), values, np.nan)
    known = np.isfinite(values)
    levels = np.full(values.size, MISSING, dtype=np.uint8)
    least = most = low = high = 0.0
    if known.any():
        least, most = float(values[known].min()), float(values[known].max())
        low, high = (float(q) for q in np.quantile(values[known], (0.01, 0.99)))
        if not low < high:
            low, high = least, most
        span = high - low
        share = (values[known] - low) / span if np.isfinite(span) and span > 0 else 0.0
        levels[known] = np.round(254 * np.clip(share, 0.0, 1.0)).astype(np.uint8)
    return {
        "kind": "numbers",
        "name": name,
        "family": family,
        "low": low,
        "high": high,
        "least": least,
        "most": most,
        "missing": int(values.size - known.sum()),
        "values": pack.put(levels),
    }
