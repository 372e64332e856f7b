"""Matching the rows of several views to samples, by id or by time."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from viewhop.views._checks import is_mudata
from viewhop.views._sparse_rows import FORMATS

__all__ = [
    "Aligned",
    "align_by_id",
    "align_by_time",
    "check_unique",
    "frame_ids",
    "mudata_observations",
    "mudata_views",
]

Indices = NDArray[np.intp]


class Aligned(NamedTuple):
    """The sample that each row of each view belongs to.

    Attributes
    ----------
    samples : dict of (n_l,) index arrays by view name
        Index of the sample of each row.
    ids : (n_samples,) array
        Id of each sample.
    """

    samples: dict[str, Indices]
    ids: NDArray[Any]


def align_by_id(ids: Mapping[str, Sequence[Hashable]]) -> Aligned:
    """The sample of each row, where rows with the same id are the same sample.

    Samples are in the order in which their ids first appear.

    Parameters
    ----------
    ids : dict of sequences by view name
    """
    index: dict[Hashable, int] = {}
    samples = {
        name: np.array(
            [index.setdefault(key, len(index)) for key in _keys(name, row_ids)], dtype=np.intp
        )
        for name, row_ids in ids.items()
    }
    return Aligned(samples, _labels([*index]))


def check_unique(aligned: Aligned, advice: str) -> None:
    """Raise ValueError, naming the view and the id, if a view has several rows for one sample."""
    for name, samples in aligned.samples.items():
        counts = np.bincount(samples, minlength=1)
        if counts.max() > 1:
            key = aligned.ids[[counts.argmax()]].tolist()[0]
            raise ValueError(f"view {name!r} has the id {key!r} {counts.max()} times; {advice}")


def align_by_time(times: Mapping[str, ArrayLike], tolerance: float) -> Aligned:
    """The sample of each row: the row of the first view that is nearest in time.

    The rows of the first view are the first samples. If two of them are equally near, a row is
    matched to the earlier one; if they have the same time, to the one that comes first. A row
    farther than the tolerance from all of them becomes a sample of its own.

    Parameters
    ----------
    times : dict of (n_l,) arrays by view name
    tolerance : float
        Non-negative, in the unit of the times.
    """
    # np.timedelta64 is registered as a Real.
    is_number = isinstance(tolerance, Real) and not isinstance(tolerance, np.timedelta64)
    if not is_number or not tolerance >= 0:
        raise ValueError(f"tolerance must be a non-negative number, not {tolerance!r}")
    row_times = {name: _times(name, values) for name, values in times.items()}
    first, *others = row_times
    order = np.argsort(row_times[first], kind="stable")
    reference = row_times[first][order]
    samples = {first: np.arange(reference.size)}
    all_times = [row_times[first]]
    count = reference.size
    for name in others:
        own = row_times[name]
        right = np.searchsorted(reference, own).clip(1, max(1, reference.size - 1))
        left, right = right - 1, np.minimum(right, reference.size - 1)
        is_left = np.abs(reference[left] - own) <= np.abs(reference[right] - own)
        nearest = np.where(is_left, left, right)
        alone = np.abs(reference[nearest] - own) > tolerance
        places = order[np.searchsorted(reference, reference[nearest])]
        places[alone] = count + np.arange(alone.sum())
        count += int(alone.sum())
        samples[name] = places
        all_times.append(own[alone])
    return Aligned(samples, np.concatenate(all_times))


def frame_ids(name: str, frame: Any, id: str | None) -> tuple[Sequence[Hashable], Any]:
    """The ids of the rows of a DataFrame, and the frame without them.

    Parameters
    ----------
    name : str
        Name of the view.
    frame : DataFrame
    id : str or None
        Name of the id column; None takes the index.
    """
    if id is None:
        if not hasattr(frame, "index") or not hasattr(frame, "columns"):
            raise ValueError(
                f"view {name!r} is a {type(frame).__name__} without an index; pass a pandas "
                "DataFrame, or specify its ids: id= in from_frames, ids= in link"
            )
        return [*frame.index], frame
    if not hasattr(frame, "columns"):
        raise ValueError(
            f"view {name!r} is a {type(frame).__name__}; id={id!r} needs a DataFrame with that "
            "column"
        )
    count = [*frame.columns].count(id)
    if count != 1:
        columns = f"{count} columns" if count else "no column"
        raise ValueError(f"view {name!r} has {columns} {id!r}; expected one column of ids")
    return [*frame[id]], frame.drop(columns=id) if hasattr(frame, "iloc") else frame.drop(id)


def mudata_views(mdata: Any, obsm: Mapping[str, str] | None) -> tuple[dict[str, Any], list[Any]]:
    """The arrays of the modalities of a MuData, and the names of its observations.

    Parameters
    ----------
    mdata : MuData
    obsm : dict or None
        Key of the ``.obsm`` entry to use instead of X, by modality.

    Returns
    -------
    arrays : dict of (array, observation names, feature names or None) by modality
    names : list
        Names of all observations, in order.
    """
    if not is_mudata(mdata):
        raise ValueError(f"expected a MuData, got {type(mdata).__name__}")
    if not mdata.mod:
        raise ValueError("the MuData has no modalities; expected at least one")
    if not isinstance(obsm, Mapping | None):
        raise ValueError(f"obsm must be a dict by modality, not {obsm!r}")
    chosen = dict(obsm or {})
    unknown = [name for name in chosen if name not in mdata.mod]
    if unknown:
        raise ValueError(
            f"no modality named {unknown[0]!r}; there are {', '.join(map(str, mdata.mod))}"
        )
    modalities = {}
    for name, part in mdata.mod.items():
        labels: tuple[str, ...] | None = None
        if is_mudata(part):
            raise ValueError(
                f"modality {name!r} is itself a MuData; pass its modalities separately"
            )
        if name in chosen:
            if chosen[name] not in part.obsm:
                raise ValueError(
                    f"modality {name!r} has no {chosen[name]!r} in its obsm; "
                    f"{_list_keys(part.obsm)}"
                )
            values = part.obsm[chosen[name]]
        elif part.X is None:
            raise ValueError(
                f"modality {name!r} has no X; choose an obsm entry with obsm={{{name!r}: …}}; "
                f"{_list_keys(part.obsm)}"
            )
        else:
            values = part.X
            labels = tuple(map(str, part.var_names))
        if hasattr(values, "toarray") and getattr(values, "format", None) not in FORMATS:
            values = values.toarray()
        labels = labels or (tuple(map(str, values.columns)) if hasattr(values, "columns") else None)
        modalities[str(name)] = (values, [*part.obs_names], labels)
    return modalities, [*mdata.obs_names]


def mudata_observations(name: str, keys: Sequence[Hashable], names: Sequence[Hashable]) -> Indices:
    """The index of each observation of a modality among all observation names."""
    index = {key: k for k, key in enumerate(names)}
    unknown = [key for key in keys if key not in index]
    if unknown:
        raise ValueError(
            f"observation {unknown[0]!r} of modality {name!r} is not in the MuData; call its "
            "update() method"
        )
    return np.array([index[key] for key in keys], dtype=np.intp)


def _list_keys(obsm: Mapping[str, Any]) -> str:
    return f"obsm has {', '.join(map(str, obsm))}" if len(obsm) else "obsm is empty"


def _times(name: str, values: ArrayLike) -> NDArray[np.float64]:
    try:
        array: Any = np.ma.asarray(values)
        # Dates are refused: each view's could silently have a different unit.
        is_number = array.dtype.kind in "biufO"
        numbers = np.ma.filled(array.astype(np.float64), np.nan) if is_number else None
    except (TypeError, ValueError):
        numbers = None
    if numbers is None:
        raise ValueError(
            f"times of view {name!r} must be numbers; convert dates to seconds since a common "
            "start: (t - start) / np.timedelta64(1, 's')"
        )
    if numbers.ndim != 1 or not np.isfinite(numbers).all():
        raise ValueError(f"times of view {name!r} must be one finite number per row")
    if not numbers.size:
        raise ValueError(f"view {name!r} has no times")
    return numbers


def _keys(name: str, ids: Any) -> list[Hashable]:
    """The ids of a view's rows; ValueError if one is missing or not hashable."""
    if isinstance(ids, str) or not np.iterable(ids):
        raise ValueError(f"ids of view {name!r} must be a sequence, one per row, not {ids!r}")
    plain = np.integer | np.floating | np.bool_ | np.str_
    keys = [key.item() if isinstance(key, plain) else key for key in ids]
    for row, key in enumerate(keys):
        if key is np.ma.masked:  # not hashable
            key = None
        try:
            hash(key)
        except TypeError as error:
            raise ValueError(
                f"the id of row {row} of view {name!r} is a {type(key).__name__}; ids must be "
                "hashable: strings, numbers or tuples of them"
            ) from error
        if _is_missing(key):
            raise ValueError(
                f"the id of row {row} of view {name!r} is missing ({key!r}); drop the row or give "
                "it an id"
            )
    return keys


def _is_missing(key: Any) -> bool:
    """Whether an id is None, NaN, NaT or NA; the last three do not equal themselves."""
    try:
        return key is None or bool(key != key)
    except TypeError:  # NA has no truth value
        return True


def _labels(values: Sequence[Any]) -> NDArray[Any]:
    """The ids as an array: of integers, floats or strings if all are, else of objects."""
    kinds = {type(value) for value in values}
    if len(kinds) == 1 and kinds <= {int, str, float}:
        return np.asarray(values)
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    return objects
