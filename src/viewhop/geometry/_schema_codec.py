"""Encoding the schema of training views as plain data, and decoding it."""

from __future__ import annotations

from typing import Any

import numpy as np

from viewhop._storage.codec import (
    Shelf,
    decode_value,
    encode_value,
    read_fields,
    read_integer,
    read_text,
    read_texts,
)
from viewhop.errors import ModelFileError
from viewhop.views import Schema

__all__ = ["decode_schema", "encode_schema"]

#: Most columns of a view.
MOST_FEATURES = 2**40


def encode_schema(schema: Schema, shelf: Shelf) -> dict[str, Any]:
    """A schema as plain data.

    Parameters
    ----------
    schema : Schema
    shelf : Shelf
        Receives the arrays.
    """
    return {
        "names": [*schema.names],
        "widths": [*map(int, schema.widths)],
        "feature_names": [None if names is None else [*names] for names in schema.feature_names],
        "dtype": str(schema.dtype),
        "groups": encode_value(schema.groups, shelf.within("groups"), "the parameter views"),
        "columns": None if schema.columns is None else [*map(str, schema.columns)],
        "n_columns": None if schema.n_columns is None else int(schema.n_columns),
    }


def decode_schema(data: Any, shelf: Shelf) -> Schema:
    """A schema from plain data; ModelFileError if the data are inconsistent.

    Parameters
    ----------
    data : object
        As `encode_schema` wrote it.
    shelf : Shelf
        Provides the arrays.
    """
    keys = ("names", "widths", "feature_names", "dtype", "groups", "columns", "n_columns")
    names, widths, labels, dtype, groups, columns, n_columns = read_fields(data, keys, "the views")
    names = read_texts(names, "the names of the views")
    if not names or len(set(names)) < len(names):
        raise ModelFileError("the names of the views: expected some, each of them once")
    if not all(isinstance(part, list) and len(part) == len(names) for part in (widths, labels)):
        raise ModelFileError(f"the views: expected widths and feature names of {len(names)} views")
    widths = tuple(
        read_integer(width, "the width of a view", least=1, most=MOST_FEATURES) for width in widths
    )
    if n_columns is not None:
        read_integer(n_columns, "the number of features", least=1, most=MOST_FEATURES)
    schema = Schema(
        names,
        widths,
        tuple(
            None if part is None else read_texts(part, "the feature names of a view", width)
            for part, width in zip(labels, widths, strict=True)
        ),
        np.dtype(read_text(dtype, "the dtype of the views", ("float32", "float64"))),
        decode_value(groups, shelf.within("groups"), "the column groups"),
        n_columns=n_columns,
    )
    if columns is None:
        return schema
    columns = read_texts(columns, "the names of the features", schema.n_features)
    return Schema(**{**vars(schema), "columns": columns})
