"""The table of a run: ids, labels, clusters and coordinates of samples, a row each."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewhop.runs._estimator import Model, embedder_of
from viewhop.tables import Joined, write_embedding

__all__ = ["name_columns", "table_stem", "write_table"]


def table_stem(command: str) -> str:
    """The name of the table that a command writes, without its ending.

    Parameters
    ----------
    command : {"fit", "cluster"}
    """
    return {"fit": "embedding", "cluster": "clusters"}[command]


def name_columns(
    model: Model, *, computed: tuple[str, ...], id: str | None, label: str | None
) -> tuple[str, str | None]:
    """Names for the columns of ids and labels, which differ from all other columns of the table.

    Parameters
    ----------
    model : estimator
        Fitted.
    computed : tuple of str
        Columns besides the coordinates: "cluster", "coverage".
    id, label : str or None
        The columns in the files.

    Returns
    -------
    id_name : str
    label_name : str or None
        With as many ``_`` appended as it takes.
    """
    taken = {*embedder_of(model).get_feature_names_out().tolist(), *computed}
    id_name = _free_name(id or "id", taken)
    if label is None:
        return id_name, None
    return id_name, _free_name(label, taken | {id_name})


def write_table(
    path: Path,
    model: Model,
    embedding: NDArray[np.floating],
    samples: Joined,
    *,
    computed: Mapping[str, Any],
    id: str | None,
    label: str | None,
) -> None:
    """Write the table of samples that a model has placed.

    Parameters
    ----------
    path : Path
    model : estimator
        Fitted.
    embedding : (n_samples, n_features_out) array
    samples : Joined
        With their ids and labels.
    computed : dict of (n_samples,) arrays by name
        Columns besides the coordinates.
    id, label : str or None
        The columns in the files.
    """
    id_name, label_name = name_columns(model, computed=tuple(computed), id=id, label=label)
    labels: dict[str, Any] = {}
    if samples.labels is not None and label_name is not None:
        labels[label_name] = samples.labels
    write_embedding(
        path,
        embedding,
        names=embedder_of(model).get_feature_names_out().tolist(),
        ids=samples.views.ids,
        id_name=id_name,
        extra={**labels, **computed},
    )


def _free_name(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name
