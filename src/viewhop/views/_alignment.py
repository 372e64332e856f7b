"""Alignment: which sample each row of a view belongs to, from ids, times or NaN."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "Aligned",
    "align_by_id",
    "align_by_time",
    "check_unique",
    "frame_ids",
    "is_mudata",
    "mudata_observations",
    "mudata_views",
]

Indices = NDArray[np.intp]


class Aligned(NamedTuple):
    """The samples of rows that came without a common order.

    Attributes
    ----------
    samples : dict of (n_l,) index arrays by view name
        Number of the sample of each row.
    ids : (n_samples,) array
        What the samples are called.
    """

    samples: dict[str, Indices]
    ids: NDArray[Any]


def align_by_id(ids: Mapping[str, Sequence[Hashable]]) -> Aligned:
    """Rows with one id are one sample; samples are in the order in which ids first appear.

    Parameters
    ----------
    ids : dict of sequences by view name
    """
    number: dict[Hashable, int] = {}
    samples = {
        name: np.array(
            [number.setdefault(key, len(number)) for key in _keys(name, given)], dtype=np.intp
        )
        for name, given in ids.items()
    }
    return Aligned(samples, _labels([*number]))


def check_unique(aligned: Aligned, advice: str) -> None:
    """Raise ValueError, naming view and id, if a view has several rows for one sample."""
    for name, samples in aligned.samples.items():
        counts = np.bincount(samples, minlength=1)
        if counts.max() > 1:
            key = aligned.ids[[counts.argmax()]].tolist()[0]
            raise ValueError(f"view {name!r} has the id {key!r} {counts.max()} times; {advice}")


def align_by_time(times: Mapping[str, ArrayLike], tolerance: float) -> Aligned:
    """Each row belongs to the row of the first view that is nearest in time.

    The rows of the first view are the first samples. Of two that are equally near, a row belongs
    to the earlier one, and of two at the same time to the one that stands first. A row farther than
    the tolerance from all of them is a sample of its own.

    Parameters
    ----------
    times : dict of (n_l,) arrays by view name
    tolerance : float
        Of at least 0, in the unit of the times.
    """
    # numpy counts its timedelta64 among the numbers.
    is_number = isinstance(tolerance, Real) and not isinstance(tolerance, np.timedelta64)
    if not is_number or not tolerance >= 0:
        raise ValueError(f"tolerance is a number of at least 0, not {tolerance!r}")
    given = {name: _times(name, values) for name, values in times.items()}
    first, *others = given
    order = np.argsort(given[first], kind="stable")
    known = given[first][order]
    samples = {first: np.arange(known.size)}
    all_times = [given[first]]
    count = known.size
    for name in others:
        own = given[name]
        right = np.searchsorted(known, own).clip(1, max(1, known.size - 1))
        pair = np.stack([right - 1, np.minimum(right, known.size - 1)])
        nearest = np.where(
            np.abs(known[pair[0]] - own) <= np.abs(known[pair[1]] - own), pair[0], pair[1]
        )
        alone = np.abs(known[nearest] - own) > tolerance
        places = order[np.searchsorted(known, known[nearest])]
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
        The view.
    frame : DataFrame
    id : str or None
        The column of ids; None is the index.
    """
    if id is None:
        if not hasattr(frame, "index") or not hasattr(frame, "columns"):
            raise ValueError(
                f"view {name!r} is a {type(frame).__name__} without an index; pass a pandas "
                "DataFrame, or say what its ids are: id= in from_frames, ids= in link"
            )
        return [*frame.index], frame
    if not hasattr(frame, "columns"):
        raise ValueError(
            f"view {name!r} is a {type(frame).__name__}; id={id!r} needs a DataFrame that has this "
            "column"
        )
    count = [*frame.columns].count(id)
    if count != 1:
        columns = f"{count} columns" if count else "no column"
        raise ValueError(f"view {name!r} has {columns} {id!r}; expected one column of ids")
    return [*frame[id]], frame.drop(columns=id) if hasattr(frame, "iloc") else frame.drop(id)


def is_mudata(X: object) -> bool:
    """Whether `X` is a MuData: modalities by name, and names of all observations."""
    # A DataFrame has a method mod, and may have a column of the other name.
    return isinstance(getattr(X, "mod", None), Mapping) and hasattr(X, "obs_names")


def mudata_views(mdata: Any, obsm: Mapping[str, str] | None) -> tuple[dict[str, Any], list[Any]]:
    """Arrays and observation names of the modalities of a MuData.

    Parameters
    ----------
    mdata : MuData
    obsm : dict or None
        Key of ``.obsm`` that stands for a modality in place of its X, by modality.

    Returns
    -------
    arrays : dict of (array, names of its observations, names of its features or None)
    names : list
        Of all observations, in order.
    """
    if not is_mudata(mdata):
        raise ValueError(f"expected a MuData, got {type(mdata).__name__}")
    if not mdata.mod:
        raise ValueError("the MuData has no modality; expected at least one")
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
            raise ValueError(f"modality {name!r} is a MuData itself; pass its modalities")
        if name in chosen:
            if chosen[name] not in part.obsm:
                raise ValueError(
                    f"modality {name!r} has no {chosen[name]!r} in its obsm; {_listed(part.obsm)}"
                )
            values = part.obsm[chosen[name]]
        elif part.X is None:
            raise ValueError(
                f"modality {name!r} has no X; choose from its obsm by obsm={{{name!r}: …}}; "
                f"{_listed(part.obsm)}"
            )
        else:
            values = part.X
            labels = tuple(map(str, part.var_names))
        values = values.toarray() if hasattr(values, "toarray") else values
        labels = labels or (tuple(map(str, values.columns)) if hasattr(values, "columns") else None)
        modalities[str(name)] = (values, [*part.obs_names], labels)
    return modalities, [*mdata.obs_names]


def mudata_observations(name: str, keys: Sequence[Hashable], names: Sequence[Hashable]) -> Indices:
    """The place of each observation of a modality among the names of all."""
    number = {key: k for k, key in enumerate(names)}
    unknown = [key for key in keys if key not in number]
    if unknown:
        raise ValueError(
            f"observation {unknown[0]!r} of modality {name!r} is not in the MuData; call its "
            "update()"
        )
    return np.array([number[key] for key in keys], dtype=np.intp)


def _listed(names: Mapping[str, Any]) -> str:
    return f"there are {', '.join(map(str, names))}" if len(names) else "it is empty"


def _times(name: str, values: ArrayLike) -> NDArray[np.float64]:
    try:
        given = np.asarray(values)
        # Dates are refused: the unit of each view's would be another, unseen.
        numbers = given.astype(np.float64) if given.dtype.kind in "biufO" else None
    except (TypeError, ValueError):
        numbers = None
    if numbers is None:
        raise ValueError(
            f"times of view {name!r} must be numbers; turn dates into seconds since a common "
            "start, (t - start) / np.timedelta64(1, 's')"
        )
    if numbers.ndim != 1 or not np.isfinite(numbers).all():
        raise ValueError(f"times of view {name!r} must be one finite number per row")
    if not numbers.size:
        raise ValueError(f"view {name!r} has no times")
    return numbers


def _keys(name: str, given: Any) -> list[Hashable]:
    """The ids of a view's rows; ValueError for what cannot tell samples apart."""
    if isinstance(given, str) or not np.iterable(given):
        raise ValueError(f"ids of view {name!r} must be a sequence, one per row, not {given!r}")
    plain = np.integer | np.floating | np.bool_ | np.str_
    keys = [key.item() if isinstance(key, plain) else key for key in given]
    for row, key in enumerate(keys):
        try:
            hash(key)
        except TypeError as error:
            raise ValueError(
                f"the id of row {row} of view {name!r} is a {type(key).__name__}; ids must be "
                "hashable: text, numbers or tuples of them"
            ) from error
        if _is_missing(key):
            raise ValueError(
                f"the id of row {row} of view {name!r} is missing ({key!r}); drop the row, or give "
                "it an id"
            )
    return keys


def _is_missing(key: Any) -> bool:
    """Whether an id is None, NaN, NaT or NA: none of the last three equals itself."""
    try:
        return key is None or bool(key != key)
    except TypeError:  # NA has no truth value
        return True


def _labels(values: Sequence[Any]) -> NDArray[Any]:
    """The ids as an array: of numbers or text where all are, else of objects."""
    kinds = {type(value) for value in values}
    if len(kinds) == 1 and kinds <= {int, str, float}:
        return np.asarray(values)
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    return objects
