"""Reading the parameter `observed`: which samples each view observed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["observation_masks"]


def observation_masks(
    observed: Any, names: tuple[str, ...], n: int
) -> dict[str, NDArray[np.bool_]]:
    """Which samples each view observed, (n,) each, by view name, for the views in `observed`."""
    if observed is None:
        return {}
    if isinstance(observed, Mapping):
        by_view = dict(observed)
    elif hasattr(observed, "columns"):
        by_view = {column: observed[column] for column in observed.columns}
    elif isinstance(observed, list | tuple):
        if len(observed) != len(names):
            raise ValueError(
                f"observed has {len(observed)} entries for {len(names)} views; a list needs one "
                "mask per view"
            )
        by_view = dict(zip(names, observed, strict=True))
    else:
        table = np.asarray(np.ma.filled(observed, False))
        if table.shape != (n, len(names)):
            raise ValueError(
                f"observed must have shape ({n}, {len(names)}), one column per view, not "
                f"{table.shape}"
            )
        by_view = dict(zip(names, table.T, strict=True))
    masks = {}
    for name, mask in by_view.items():
        if name not in names:
            raise ValueError(
                f"observed names an unknown view {name!r}; the views are {', '.join(names)}"
            )
        if mask is None:
            continue
        try:
            # A masked entry was not observed.
            values = np.asarray(np.ma.filled(mask, False))
        except ValueError:  # ragged
            values = np.empty(0, dtype=object)
        if values.shape != (n,) or values.dtype != bool:
            raise ValueError(
                f"observed of view {name!r} must be {n} booleans, one per sample, not "
                f"{values.dtype} of shape {values.shape}"
            )
        masks[name] = values
    return masks
