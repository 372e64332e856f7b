"""Input of a classification: checked views, class codes, ranks, kernels and overlaps."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewhop.kernels import Gaussian, Kernel, Precomputed, kernels_by_view
from viewhop.seismic._nearest_labels import PROCEDURES
from viewhop.seismic._outcomes import FUSIONS
from viewhop.views import Views, require_rows

__all__ = [
    "check_choices",
    "check_walk",
    "overlapping_events",
    "read_input",
    "read_kernels",
    "read_left_out",
    "read_ranks",
    "renumber",
]

Codes = NDArray[np.intp]


def overlapping_events(overlaps: Sequence[tuple[int, int]], n_events: int) -> list[set[int]]:
    """Indices of the events that overlap with each event."""
    partners: list[set[int]] = [set() for _ in range(n_events)]
    for k, m in overlaps:
        if not (0 <= k < n_events and 0 <= m < n_events and k != m):
            raise ValueError(
                f"overlaps must hold pairs of two event indices from 0 to {n_events - 1}, "
                f"got {(k, m)}"
            )
        partners[k].add(m)
        partners[m].add(k)
    return partners


def read_left_out(left_out: Sequence[int] | None, n_events: int) -> Codes | None:
    """Distinct indices of the events to leave out, ascending; None for all."""
    if left_out is None:
        return None
    wanted = np.unique(np.asarray(left_out))
    if (
        not wanted.size
        or wanted.dtype.kind not in "iu"
        or not 0 <= wanted[0] <= wanted[-1] < n_events
    ):
        raise ValueError(
            f"left_out must hold event indices from 0 to {n_events - 1}, or be None for all; got "
            f"{left_out!r}"
        )
    return wanted.astype(np.intp)


def renumber(apart: Sequence[set[int]], events: Codes) -> list[Codes]:
    """Overlapping events of each selected event, as indices into the selection."""
    places = {int(event): k for k, event in enumerate(events)}
    return [
        np.array(sorted(places[m] for m in apart[event] if m in places), dtype=np.intp)
        for event in places
    ]


def read_input(views: Any, labels: Sequence[Any]) -> tuple[Views, Codes, tuple[str, ...]]:
    """Views, class index of each event (-1 without a label), and class names."""
    views = require_rows(views if isinstance(views, Views) else Views(views))
    if any(views.nodes.is_repeated(l) for l in range(views.n_views)):
        raise ValueError("expected at most one row per event and view, got several")
    texts = [None if label is None else str(label) for label in labels]
    if len(texts) != len(views):
        raise ValueError(
            f"expected one label or None for each of {len(views)} events, got {len(texts)}"
        )
    classes = tuple(sorted({text for text in texts if text is not None}))
    if len(classes) < 2:
        raise ValueError(
            f"expected labels of at least two classes, got {', '.join(classes) or 'none'}"
        )
    places = {text: k for k, text in enumerate(classes)}
    codes = [-1 if text is None else places[text] for text in texts]
    return views, np.array(codes, dtype=np.intp), classes


def read_ranks(n_components: int | Sequence[int]) -> list[int]:
    """Distinct numbers of coordinates in ascending order."""
    ranks: list[Any] = list(n_components) if isinstance(n_components, Sequence) else [n_components]
    if not ranks or not all(isinstance(r, Integral) and int(r) >= 1 for r in ranks):
        raise ValueError(
            f"n_components must be a positive integer or several, got {n_components!r}"
        )
    return sorted({int(r) for r in ranks})


def read_kernels(kernel: Any, names: Sequence[str]) -> dict[str, Kernel]:
    """Kernel of each view by name; ValueError for a precomputed one.

    None is a Gaussian on 10 neighbours. Unlike that of "adaptive", its metric is not chosen anew
    for every event that is left out, and long rows can be shortened.
    """
    chosen = Gaussian(bandwidth="local", n_neighbors=10) if kernel is None else kernel
    kernels = kernels_by_view(chosen, names)
    if any(isinstance(each, Precomputed) for each in kernels.values()):
        raise ValueError(
            "expected views with features: left-out events are placed by their features, which a "
            "precomputed kernel does not have"
        )
    return kernels


def check_choices(n_neighbors: int, fusions: Sequence[str], procedures: Sequence[str]) -> None:
    """Raise ValueError for an invalid number of neighbours, fusion or procedure."""
    if not isinstance(n_neighbors, Integral) or n_neighbors < 1:
        raise ValueError(f"n_neighbors must be a positive integer, got {n_neighbors!r}")
    for what, chosen, choices in (
        ("fusion", fusions, FUSIONS),
        ("procedure", procedures, PROCEDURES),
    ):
        for each in chosen:
            if each not in choices:
                raise ValueError(f"unknown {what} {each!r}; expected one of {', '.join(choices)}")


def check_walk(n_steps: float, within_view_weight: float) -> None:
    """Raise ValueError for an invalid number of steps or weight of steps within a view.

    Checked before any fit, since a method with a failing fit is only refused.
    """
    if not isinstance(n_steps, Real) or not isfinite(n_steps) or n_steps < 0:
        raise ValueError(f"n_steps must be a non-negative number, got {n_steps!r}")
    if not isinstance(within_view_weight, Real) or not 0 <= within_view_weight <= 1:
        raise ValueError(
            f"within_view_weight must be a number from 0 to 1, got {within_view_weight!r}"
        )
