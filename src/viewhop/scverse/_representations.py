"""The views of an AnnData or a MuData: which of its arrays they are, with all names checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewhop._runtime.suggestion import suggestion
from viewhop.views import Labels, Views, is_mudata

__all__ = [
    "UseRep",
    "choose_representations",
    "default_key",
    "is_anndata",
    "read_cells",
    "require_cells",
]

#: One key, keys in order, or keys by view name.
UseRep = str | Sequence[str] | Mapping[str, str] | None

#: The representation that scanpy prefers as well, if it is there.
PREFERRED = "X_pca"
SECTIONS = ("obsm", "layers")


@dataclass(frozen=True)
class Representation:
    """One view of cells.

    Attributes
    ----------
    name : str
        Of the view, and of the modality in a MuData.
    key : str
        "X", "obsm/<key>" or "layers/<key>".
    values : array, DataFrame or sparse matrix
    labels : tuple of str or None
        Names of the features, if known.
    observations : list
        Names of the cells.
    """

    name: str
    key: str
    values: Any
    labels: Labels
    observations: list[Any]


def is_anndata(data: object) -> bool:
    """Whether `data` is one AnnData: it has arrays by cell, and is neither MuData nor DataFrame.

    Parameters
    ----------
    data : object
    """
    parts = ("X", "obs", "obsm", "obsp", "layers", "uns", "obs_names", "var_names")
    return not is_mudata(data) and all(hasattr(data, part) for part in parts)


def require_cells(what: str, data: object) -> None:
    """Raise TypeError unless `data` is an AnnData or a MuData.

    Parameters
    ----------
    what : str
        What it was passed for, for the message.
    data : object
    """
    if not is_mudata(data) and not is_anndata(data):
        raise TypeError(f"{what} must be an AnnData or a MuData, not {type(data).__name__}")


def choose_representations(
    data: Any, use_rep: UseRep, modalities: Iterable[str] | None
) -> dict[str, Representation]:
    """The representation of each view, by view name.

    Parameters
    ----------
    data : AnnData or MuData
    use_rep, modalities
        As in `viewhop.scverse.diffmap`.
    """
    if is_mudata(data):
        parts = _choose_modalities(data, modalities)
        keys = _keys_of_modalities(use_rep, parts)
    else:
        if modalities is not None:
            raise ValueError("modalities= chooses those of a MuData, but an AnnData has none")
        keys = _keys_of_one(default_key(data) if use_rep is None else use_rep)
        parts = dict.fromkeys(keys, data)
    chosen = {}
    for name, part in parts.items():
        if "/" in name:
            raise ValueError(
                f"the view name {name!r} contains '/', which separates groups in HDF5 files"
            )
        where = f"modality {name!r}" if is_mudata(data) else "the AnnData"
        chosen[name] = _find(name, where, part, keys.get(name))
    return chosen


def read_cells(data: Any, chosen: Mapping[str, Representation], *, missing: str = "error") -> Views:
    """The representations as views, with one sample per cell of `data`, in its order.

    Parameters
    ----------
    data : AnnData or MuData
    chosen : dict of Representation by view name
    missing : {"error", "drop"}
        As in `viewhop.Views`.
    """
    cells = [*data.obs_names]
    _check_repeats("the data", cells)
    known = set(cells)
    for name, part in chosen.items():
        if is_mudata(data):
            _check_observations(name, part.observations, known)
    ids = {name: part.observations for name, part in chosen.items()}
    views = Views.link({n: p.values for n, p in chosen.items()}, ids=ids, missing=missing)
    views.feature_names = tuple(
        part.labels if labels is None else labels
        for part, labels in zip(chosen.values(), views.feature_names, strict=True)
    )
    return _in_order(views, cells)


def _choose_modalities(mdata: Any, names: Iterable[str] | None) -> dict[str, Any]:
    """The modalities to use, by name."""
    if not mdata.mod:
        raise ValueError("the MuData has no modalities; expected at least one")
    if isinstance(names, str):
        raise ValueError(f"modalities must be a list of names, not the string {names!r}")
    wanted = [*mdata.mod] if names is None else [*names]
    if not wanted:
        raise ValueError("modalities is empty; name at least one, or pass None for all")
    for name in wanted:
        if name not in mdata.mod:
            raise ValueError(_no_modality(name, mdata.mod))
        if is_mudata(mdata.mod[name]):
            raise ValueError(
                f"modality {name!r} is itself a MuData; pass its modalities separately"
            )
    return {str(name): mdata.mod[name] for name in wanted}


def _no_modality(name: object, there: Iterable[str]) -> str:
    listed = [*map(str, there)]
    return (
        f"no modality named {name!r}{suggestion(str(name), listed)}; there are {', '.join(listed)}"
    )


def _keys_of_modalities(use_rep: UseRep, parts: Mapping[str, Any]) -> dict[str, str]:
    """The key that was chosen for each modality; one without an entry takes the default."""
    if use_rep is None:
        return {}
    if isinstance(use_rep, str):
        return dict.fromkeys(parts, use_rep)
    if not isinstance(use_rep, Mapping):
        raise ValueError(
            f"use_rep must be a key, or a dict of keys by modality, not {use_rep!r}: a MuData has "
            f"the modalities {', '.join(parts)}"
        )
    for name in use_rep:
        if name not in parts:
            raise ValueError(_no_modality(name, parts))
    return dict(use_rep)


def default_key(part: Any) -> str:
    """The key of the representation that is used if none is named.

    Parameters
    ----------
    part : AnnData
    """
    return f"obsm/{PREFERRED}" if PREFERRED in part.obsm else "X"


def _keys_of_one(use_rep: str | Sequence[str] | Mapping[str, str]) -> dict[str, str]:
    """The keys of the views of an AnnData, by view name."""
    if isinstance(use_rep, str):
        use_rep = [use_rep]
    if isinstance(use_rep, Mapping):
        keys = {str(name): key for name, key in use_rep.items()}
    else:
        keys = {}
        for key in use_rep:
            name = _short_name(key)
            if name in keys:
                raise ValueError(
                    f"use_rep names {keys[name]!r} and {key!r}, and both would be the view "
                    f"{name!r}; pass a dict by view name"
                )
            keys[name] = key
    if not keys:
        raise ValueError("use_rep is empty; name at least one representation, or pass None")
    return keys


def _short_name(key: object) -> str:
    """The name of the view of a key: without its section, and without scanpy's ``X_``."""
    text = str(key)
    for section in SECTIONS:
        text = text.removeprefix(f"{section}/")
    return text if text == "X" else text.removeprefix("X_")


def _find(name: str, where: str, part: Any, key: object) -> Representation:
    """The representation of a view under a key; None is the default."""
    if key is not None and not isinstance(key, str):
        raise ValueError(f"use_rep of view {name!r} must be a string, not {key!r}")
    if not len(part.obs_names):
        advice = "; leave it out" if where.startswith("modality") else ""
        raise ValueError(f"{where} has no observations{advice}")
    _check_repeats(where, part.obs_names)
    section, inner = _locate(where, part, default_key(part) if key is None else key)
    if section == "X":
        values, path = part.X, "X"
    else:
        values, path = getattr(part, section)[inner], f"{section}/{inner}"
    by_feature = section in ("X", "layers")
    labels = tuple(map(str, part.var_names)) if by_feature else None
    return Representation(name, path, values, labels, [*part.obs_names])


def _locate(where: str, part: Any, key: str) -> tuple[str, str]:
    """The section of an AnnData that a key is in, and the key there."""
    if key == "X" and part.X is not None:
        return "X", ""
    for section in SECTIONS:
        inner = key.removeprefix(f"{section}/")
        if inner != key and inner in getattr(part, section):
            return section, inner
    found = [section for section in SECTIONS if key in getattr(part, section)]
    if len(found) > 1:
        raise ValueError(
            f"{where} has {key!r} in its obsm and in its layers; write 'obsm/{key}' or "
            f"'layers/{key}'"
        )
    if not found:
        there = [*map(str, part.obsm), *map(str, part.layers)]
        raise ValueError(f"{where} has no {key!r}{suggestion(key, there)}; {_listing(part)}")
    return found[0], key


def _listing(part: Any) -> str:
    """What an AnnData has to choose from."""
    texts = ["there is no X" if part.X is None else "there is X"]
    for section in SECTIONS:
        keys = ", ".join(map(str, getattr(part, section)))
        texts.append(f"in {section}: {keys}" if keys else f"nothing in {section}")
    return "; ".join(texts)


def _check_repeats(where: str, names: Iterable[Any]) -> None:
    """Raise ValueError, naming the first one, if an observation name is there twice."""
    counts = Counter(names)
    name, most = counts.most_common(1)[0]
    if most > 1:
        raise ValueError(
            f"{where} has the observation name {name!r} {most} times; call obs_names_make_unique()"
        )


def _check_observations(name: str, observations: Sequence[Any], known: set[Any]) -> None:
    """Raise ValueError for an observation of a modality that the MuData does not know."""
    unknown = next((cell for cell in observations if cell not in known), None)
    if unknown is not None:
        raise ValueError(
            f"observation {unknown!r} of modality {name!r} is not in the MuData; call its "
            "update() method"
        )


def _in_order(views: Views, cells: Sequence[Any]) -> Views:
    """The views with their samples in the order of the cells."""
    assert views.ids is not None
    places = {cell: k for k, cell in enumerate(views.ids.tolist())}
    unseen = [cell for cell in cells if cell not in places]
    if unseen:
        raise ValueError(
            f"cell {unseen[0]!r} was observed by none of {', '.join(views.names)} "
            f"({len(unseen):,} such cells); drop the cells that no view observed"
        )
    order: NDArray[np.intp] = np.array([places[cell] for cell in cells], dtype=np.intp)
    if (order == np.arange(order.size)).all():
        return views
    ordered: Views = views[order]
    return ordered
