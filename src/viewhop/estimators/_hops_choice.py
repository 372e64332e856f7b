"""The hop matrix or the view weights that the parameters of an estimator ask for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewhop.walks import check_hops, hop_matrix, walk_class

__all__ = ["check_fusion", "choose_hops"]

#: Largest entry of `hops`, and largest of `view_weights`, which are squared; one over them is the
#: smallest.
LARGEST_HOP = 1e100
LARGEST_WEIGHT = 1e30


def check_fusion(
    fusion: str, hops: Any, within_view_weight: float | None, view_weights: Any
) -> None:
    """Raise ValueError if parameters of the hop matrix do not apply, or exclude each other.

    Parameters
    ----------
    fusion, hops, within_view_weight, view_weights
        As in `MultiViewDiffusionMaps`.
    """
    asked = {
        "hops": hops is not None and not _is_auto(hops),
        "within_view_weight": within_view_weight is not None,
        "view_weights": view_weights is not None,
    }
    given = [name for name, is_given in asked.items() if is_given]
    if given and not walk_class(fusion).takes_hops:
        raise ValueError(f'{given[0]} only applies to fusion="hop", not {fusion!r}')
    if len(given) > 1:
        raise ValueError(f"pass {given[0]} or {given[1]}, not both")


def choose_hops(
    fusion: str,
    hops: Any,
    within_view_weight: float | None,
    view_weights: Any,
    names: Sequence[str],
) -> tuple[NDArray[np.float64] | None, dict[str, float] | str | None]:
    """The hop matrix or the weights that the parameters ask for; (None, None) without either.

    Parameters
    ----------
    fusion, hops, within_view_weight, view_weights
        As in `MultiViewDiffusionMaps`.
    names : sequence of str
        Names of the views.
    """
    if not walk_class(fusion).takes_hops:
        return None, None
    if hops is not None and not _is_auto(hops):
        return check_hops(hops, len(names), largest=LARGEST_HOP), None
    if within_view_weight is not None or len(names) == 1:
        return hop_matrix(len(names), within_view_weight=within_view_weight or 0.0), None
    if view_weights is None:
        return None, "auto"
    return None, _read_weights(view_weights, names)


def _is_auto(hops: Any) -> bool:
    return isinstance(hops, str) and hops == "auto"


def _read_weights(weights: Any, names: Sequence[str]) -> dict[str, float]:
    """Weights by view name; ValueError unless there is a positive number for each view."""
    if isinstance(weights, Mapping):
        missing = [name for name in names if name not in weights]
        unknown = [str(name) for name in weights if name not in names]
        if missing or unknown:
            raise ValueError(
                f"view_weights needs one entry per view ({', '.join(names)}); missing: "
                f"{', '.join(missing) or 'none'}; unknown: {', '.join(unknown) or 'none'}"
            )
        values = [weights[name] for name in names]
    else:
        values = [*weights]
        if len(values) != len(names):
            raise ValueError(
                f"view_weights has {len(values)} entries for {len(names)} views; pass one positive "
                f"number per view ({', '.join(names)})"
            )
    for name, value in zip(names, values, strict=True):
        is_number = isinstance(value, Real) and not isinstance(value, bool)
        if not is_number or not 1 / LARGEST_WEIGHT <= value <= LARGEST_WEIGHT:
            raise ValueError(
                f"view_weights of view {name!r} must be a positive number, between "
                f"{1 / LARGEST_WEIGHT:.0e} and {LARGEST_WEIGHT:.0e}, not {repr(value)[:60]}; only "
                "the ratios of weights matter"
            )
    return {name: float(value) for name, value in zip(names, values, strict=True)}
