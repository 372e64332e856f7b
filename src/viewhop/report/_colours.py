"""Colours: what the points can be coloured by, as groups or as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from viewhop.estimators import MultiViewDiffusionMaps
from viewhop.report._packing import Pack
from viewhop.views import Views

__all__ = ["cluster_column", "disagreement_columns", "feature_columns", "label_column"]

Floats = NDArray[np.floating]
Column = dict[str, Any]

#: Whole numbers with more distinct values than this are a quantity, as in `plotting.embedding`.
MOST_CATEGORIES = 20
#: Bytes that feature columns may take in the page, one for each sample and column.
FEATURE_BYTES = 1_500_000
#: What pandas calls values that are all numbers.
_NUMBERS = ("integer", "floating", "mixed-integer-float")
#: The level of a number that is missing; the others are 0 to 254.
MISSING = 255


def label_column(labels: ArrayLike | Sequence[Any], name: str, n: int, pack: Pack) -> Column:
    """Labels as groups, or as numbers where they are a quantity.

    Parameters
    ----------
    labels : (n,) array of numbers, text or None
    name : str
    n : int
        Number of samples.
    pack : Pack
    """
    # As objects: text that is no valid Unicode has no other home in pandas. The stubs of pandas
    # know no Series of any type.
    values: pd.Series[Any] = pd.Series([*labels], dtype=object)  # type: ignore[misc]
    _check_length("labels", len(values), n)
    if pd.api.types.infer_dtype(values, skipna=True) in _NUMBERS:
        numbers = values.astype(np.float64)
        if _is_quantity(numbers):
            return _numbers(name, "labels", numbers.to_numpy(), pack)
        values = numbers.astype("Int64")
    return _groups(name, "labels", values, pack)


def cluster_column(clusters: ArrayLike, n: int, pack: Pack) -> Column:
    """Clusters as groups; a negative number is no cluster.

    Parameters
    ----------
    clusters : (n,) int array
    n : int
    pack : Pack
    """
    found = np.asarray(clusters)
    _check_length("clusters", len(found), n)
    values: pd.Series[Any] = pd.Series(found).astype("Int64")
    return _groups("cluster", "clusters", values.mask(values < 0), pack)


def disagreement_columns(est: MultiViewDiffusionMaps, pack: Pack) -> tuple[list[Column], str]:
    """How far each view puts a sample from the others, or why there is no such thing.

    Parameters
    ----------
    est : fitted estimator
    pack : Pack
    """
    try:
        found = est.disagreement()
    except ValueError as error:
        return [], f"No disagreement: {error}."
    known = np.isfinite(found).any(axis=1)
    largest = np.full(len(found), np.nan)
    largest[known] = np.nanmax(found[known], axis=1)
    columns = [_numbers("largest over all views", "disagreement", largest, pack)]
    columns += [
        _numbers(name, "disagreement", found[:, l], pack) for l, name in enumerate(est.view_names_)
    ]
    return columns, ""


def feature_columns(features: Views, n: int, pack: Pack) -> tuple[list[Column], str]:
    """Columns of the training data within the budget, and what was left out.

    The first columns of all views come first, then the second ones, and so on.

    Parameters
    ----------
    features : Views
    n : int
    pack : Pack
    """
    _check_length("features", len(features), n)
    widths = [features.rows(name).shape[1] for name in features.names]
    order = sorted((k, l) for l, width in enumerate(widths) for k in range(width))
    chosen = sorted((l, k) for k, l in order[: FEATURE_BYTES // n])
    nodes, columns = features.nodes, []
    for l, k in chosen:
        view, names = features.names[l], features.feature_names[l]
        values = nodes.spread(l, features.rows(view)[:, k].astype(np.float64))
        name = f"column {k + 1}" if names is None else names[k]
        columns.append(_numbers(name, f"features of {view}", values, pack))
    note = ""
    if len(chosen) < len(order):
        note = (
            f"The page holds {len(chosen):,} of {len(order):,} feature columns, the first ones of "
            "each view in turn: one byte for each sample and column, "
            f"{FEATURE_BYTES / 1e6:.1f} MB at most."
        )
    return columns, note


def _is_quantity(values: pd.Series[Any]) -> bool:
    """Whether numbers are more than a few whole ones."""
    known = values[np.isfinite(values)]
    few = known.nunique() <= MOST_CATEGORIES
    return not (few and len(known) == values.count() and bool((known == np.floor(known)).all()))


def _groups(name: str, family: str, values: pd.Series[Any], pack: Pack) -> Column:
    """Codes from 0 in the order of the categories; the number of groups stands for missing."""
    try:
        codes, categories = pd.factorize(values, sort=True)
    except TypeError:  # of several types, which have no order: as text
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
    """Numbers on 255 levels from the first to the last percentile; the ends hold what is beyond."""
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


def _check_length(what: str, length: int, n: int) -> None:
    if length != n:
        raise ValueError(f"{what} must have one entry per sample: {n}, got {length}")
