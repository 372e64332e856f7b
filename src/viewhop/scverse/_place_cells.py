"""The coordinates of new cells in an existing map."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from viewhop.estimators import MultiViewDiffusionMaps, load
from viewhop.scverse._kept_model import read_model
from viewhop.scverse._representations import (
    UseRep,
    choose_representations,
    default_key,
    is_anndata,
    read_cells,
    require_cells,
)
from viewhop.scverse._stored_results import Names
from viewhop.views import Schema, Views, find_columns, is_mudata

__all__ = ["place"]

#: Most names in a message.
LISTED = 5


def place(
    model: Any,
    new: Any,
    *,
    use_rep: UseRep = None,
    modalities: Iterable[str] | None = None,
    key_added: str | None = None,
    copy: bool = False,
) -> Any:
    """The coordinates of new cells in the map of other cells, without changing that map.

    Parameters
    ----------
    model : AnnData, MuData, MultiViewDiffusionMaps or path
        The data that `diffmap` wrote to, before or after they went through a file; or the fitted
        model, or its file.
    new : AnnData or MuData
        New cells, with all or some of the views of the fit. The features of ``.X`` and of layers
        are matched by name, in any order; others are ignored. Coordinates in ``.obsm`` must be
        those of the fit, for example on the same principal components.
    use_rep, modalities
        As in `diffmap`. None takes what the fit took, if `model` is data, in all modalities of the
        new data that the fit had.
    key_added : str or None, default=None
        As it was passed to `diffmap`.
    copy : bool, default=False
        Whether to return a copy of the new data with the result, instead of writing to them.

    Returns
    -------
    new : AnnData, MuData or None
        The copy, or None. It has, without `key_added`:

        ``.obsm["X_viewhop"]``
            Joint coordinates.
        ``.obs["viewhop_coverage"]``
            From 0 to 1, how dense the cells of the fit are around each new one; near 0, it is
            unlike all of them, and its coordinates are unreliable.

    Raises
    ------
    ValueError
        If features of the fit are missing in the new data, or no view of the fit is there.

    Warns
    -----
    FarSampleWarning
        If new cells are far from all cells of the fit.

    See Also
    --------
    diffmap : The map.

    Examples
    --------
    >>> import viewhop as vh
    >>> from anndata import AnnData
    >>> cells = vh.datasets.make_citeseq(300, random_state=0)
    >>> adata = AnnData(cells.views["rna"], obsm={"protein": cells.views["protein"]})
    >>> reference, new = adata[:250].copy(), adata[250:].copy()
    >>> vh.scverse.diffmap(reference, 10, use_rep=["X", "protein"])
    >>> vh.scverse.place(reference, new)
    >>> new.obsm["X_viewhop"].shape
    (50, 10)
    """
    require_cells("new", new)
    names = Names(key_added)
    est, keys = _read_source(model, names)
    schema: Schema = est.geometry_.schema
    if is_mudata(new):
        modalities = _modalities_of_fit(new, schema, modalities)
        if use_rep is None:
            use_rep = {name: keys[name] for name in modalities if name in keys}
    elif use_rep is None or isinstance(use_rep, str):
        use_rep = _views_of_one(new, use_rep, schema, keys, of_modalities=is_mudata(model))
    views = read_cells(new, choose_representations(new, use_rep, modalities), missing=est.missing)
    embedding, coverage = est.transform(_match_features(views, schema), return_coverage=True)
    target = new.copy() if copy else new
    target.obsm[names.joint] = np.array(embedding)
    target.obs[names.coverage] = np.array(coverage)
    return target if copy else None


def _read_source(model: Any, names: Names) -> tuple[MultiViewDiffusionMaps, dict[str, str]]:
    """The fitted estimator, and the representations of its views, as far as they are known."""
    if is_mudata(model) or is_anndata(model):
        where = f".uns[{names.results!r}]"
        if names.results not in model.uns or "use_rep" not in model.uns[names.results]:
            raise ValueError(
                f"the data have no {where} of viewhop.scverse.diffmap; call it first, or pass the "
                "key_added that it was called with"
            )
        results = model.uns[names.results]
        return read_model(results, where), {
            name: str(key) for name, key in results["use_rep"].items()
        }
    est = load(model) if isinstance(model, str | os.PathLike) else model
    if not isinstance(est, MultiViewDiffusionMaps):
        raise TypeError(
            "model must be data that diffmap wrote to, a MultiViewDiffusionMaps or its file, not "
            f"{type(est).__name__}"
        )
    check_is_fitted(est)
    return est, {}


def _modalities_of_fit(new: Any, schema: Schema, names: Iterable[str] | None) -> list[str]:
    """The modalities of new data to use; by default those that the fit had."""
    if names is not None:
        return [*names]
    shared = [name for name in schema.names if name in new.mod]
    if not shared:
        raise ValueError(
            f"the new data have the modalities {', '.join(map(str, new.mod))}, but the map is of "
            f"{', '.join(schema.names)}"
        )
    return shared


def _views_of_one(
    new: Any,
    use_rep: str | None,
    schema: Schema,
    keys: Mapping[str, str],
    *,
    of_modalities: bool,
) -> Mapping[str, str]:
    """The representations of an AnnData, by view name of the fit."""
    if use_rep is None and keys and not of_modalities:
        return keys
    if len(schema.names) > 1:
        raise ValueError(
            f"the map is of the views {', '.join(schema.names)}, and the new data are one AnnData: "
            f"say what it has of them, as in use_rep={{{schema.names[0]!r}: "
            f"{keys.get(schema.names[0], 'X_pca')!r}}}"
        )
    (name,) = schema.names
    return {name: use_rep or keys.get(name) or default_key(new)}


def _match_features(views: Views, schema: Schema) -> Views:
    """The views with the features of the fit, in its order, where both have names."""
    positions = {}
    for name, labels in zip(views.names, views.feature_names, strict=True):
        if name not in schema.names:
            raise ValueError(f"the map has no view {name!r}; it is of {', '.join(schema.names)}")
        known = schema.feature_names[schema.names.index(name)]
        if labels is None or known is None or labels == known:
            continue
        if len({*labels}) < len(labels):
            twice = next(label for k, label in enumerate(labels) if label in labels[:k])
            raise ValueError(
                f"view {name!r} of the new data has the feature {twice!r} several times, so its "
                "features cannot be matched by name; call var_names_make_unique()"
            )
        columns, absent, _ = find_columns(labels, known)
        if absent:
            more = ", …" if len(absent) > LISTED else ""
            raise ValueError(
                f"view {name!r} of the new data lacks {len(absent):,} of the {len(known):,} "
                f"features of the fit: {', '.join(map(repr, absent[:LISTED]))}{more}"
            )
        positions[name] = columns
    return views.with_features(positions)
