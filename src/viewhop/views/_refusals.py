"""Refusing objects that are often passed for arrays, with the call to make instead."""

from __future__ import annotations

import os
import reprlib
from collections.abc import Iterator, MappingView, Set
from typing import Any

__all__ = ["check_depth", "is_foreign", "refuse_foreign"]

_STACK = (
    "pass a stack of views as a list, [X[0], X[1], …] or [X[..., 0], X[..., 1], …], or as a dict; "
    "if each sample is an image, "
)


def is_foreign(item: object) -> bool:
    """Whether an item is of a kind that `refuse_foreign` refuses.

    Parameters
    ----------
    item : object
    """
    return _is_path(item) or _is_stream(item) or _is_anndata(item)


def refuse_foreign(what: str, X: Any) -> None:
    """Raise ValueError for a path, an iterator or an AnnData.

    Parameters
    ----------
    what : str
        What it was passed for, for the message: "X" or "view 'a'".
    X : object
    """
    if _is_path(X):
        raise ValueError(
            f"{what} is {reprlib.repr(X)}, a {type(X).__name__}; arrays were expected: read files "
            "first, with viewhop.tables.read_views({'a': 'a.csv', 'b': 'b.csv'}).views"
        )
    if _is_stream(X):
        raise ValueError(
            f"{what} is a {type(X).__name__}, which is not an array; pass a list: list(…)"
        )
    if _is_anndata(X):
        raise ValueError(
            f"{what} is an AnnData; pass its arrays: adata.X or "
            "adata.obsm['X_pca'], several as a dict of views; several modalities as a MuData"
        )
    if isinstance(X, list | tuple):
        for item in X:
            if is_foreign(item):
                refuse_foreign(f"an entry of {what}", item)
        _check_lengths(what, X)


def check_depth(what: str, X: Any) -> None:
    """Raise ValueError, with the call to make, for an array that is not 2-D.

    Parameters
    ----------
    what : str
    X : object
        Anything without a shape is ignored.
    """
    shape = getattr(X, "shape", None)
    if not isinstance(shape, tuple) or len(shape) == 2:
        return
    if len(shape) == 1:
        raise ValueError(
            f"{what} has shape {shape}, but (n_samples, n_features) was expected; pass "
            "x.reshape(1, -1) for one sample, x.reshape(-1, 1) for one feature"
        )
    if len(shape) > 2:
        raise ValueError(
            f"{what} has {len(shape)} dimensions, {shape}, but (n_samples, n_features) was "
            f"expected; {_STACK if what == 'X' else ''}make each sample one row: "
            "X.reshape(len(X), -1)"
        )


def _check_lengths(what: str, rows: Any) -> None:
    """Raise ValueError for a list of rows with different lengths."""
    lengths = {
        len(row) for row in rows if isinstance(row, list | tuple) or getattr(row, "ndim", 0) == 1
    }
    if len(lengths) > 1:
        raise ValueError(
            f"{what} is a list of rows with different lengths: {', '.join(map(str, lengths))}; if "
            "each of them is a view, pass 2-D arrays: x.reshape(1, -1) for one sample"
        )


def _is_path(item: object) -> bool:
    return isinstance(item, str | bytes | os.PathLike)


def _is_stream(item: object) -> bool:
    """Whether an item must be listed before it can be an array: iterators, sets, dict views."""
    return isinstance(item, Iterator | Set | MappingView)


def _is_anndata(item: object) -> bool:
    # A DataFrame may have columns with these names.
    has = all(hasattr(item, name) for name in ("X", "obs_names", "var_names"))
    return has and not hasattr(item, "columns")
