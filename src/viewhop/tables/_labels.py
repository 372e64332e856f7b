"""The labels of samples, from the tables that have some."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewhop.tables._faults import quote_cell
from viewhop.tables._table import Table

__all__ = ["join_labels"]

_WHOLE = re.compile(r"0|-?[1-9]\d{0,17}")
_DECIMAL = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")


def join_labels(
    tables: Mapping[str, Table], samples: Mapping[str, Sequence[Any]], order: Sequence[Any]
) -> NDArray[Any] | None:
    """The label of each sample; None if no table has labels.

    Parameters
    ----------
    tables : dict of Table by view name
    samples : dict of sequences by view name
        Id or number of the sample of each row.
    order : sequence
        Ids or numbers of all samples.

    Returns
    -------
    (n_samples,) array or None
        Integers or floats if every label is one, otherwise text.

    Raises
    ------
    TableError
        If labels of one sample differ.
    """
    first: dict[Any, tuple[Any, Table, int]] = {}
    labelled = [(name, table.labels) for name, table in tables.items() if table.labels is not None]
    if not labelled:
        return None
    if len(labelled) == 1:
        ((name, labels),) = labelled
        only = dict(zip(samples[name], map(_plain_label, labels), strict=True))
        return _typed_labels([only.get(key) for key in order])
    for name, labels in labelled:
        table = tables[name]
        for row, (key, given) in enumerate(zip(samples[name], labels, strict=True)):
            if (label := _plain_label(given)) is None:
                continue
            first_label, first_table, first_row = first.setdefault(key, (label, table, row))
            if str(first_label) != str(label):
                sample = f"sample {quote_cell(key)}" if isinstance(key, str) else "its sample"
                raise table.fault(
                    row,
                    f"{sample} is labelled {quote_cell(str(label))}, but "
                    f"{quote_cell(str(first_label))} in {first_table.place(first_row)}",
                )
    return _typed_labels([first[key][0] if key in first else None for key in order])


def _plain_label(label: Any) -> Any:
    """The label, as an integer if it is one: 1.0 in an array agrees with "1" in a text file."""
    return int(label) if isinstance(label, float) and label.is_integer() else label


def _typed_labels(labels: Sequence[Any]) -> NDArray[Any]:
    """Labels as integers or floats if all of them are, otherwise as text."""
    present = [label for label in labels if label is not None]
    texts = [str(label) for label in present]
    if present and len(present) == len(labels) and all(map(_WHOLE.fullmatch, texts)):
        return np.array([int(text) for text in texts], dtype=np.int64)
    if present and all(map(_DECIMAL.fullmatch, texts)):
        return np.array([np.nan if label is None else float(label) for label in labels])
    column = np.empty(len(labels), dtype=object)
    column[:] = [None if label is None else str(label) for label in labels]
    return column
