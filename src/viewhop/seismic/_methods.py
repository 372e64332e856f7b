"""Methods that can be applied to a set of events: each view alone, and fusions of all views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from viewhop.estimators import DiffusionMaps, MultiViewDiffusionMaps
from viewhop.kernels import Kernel
from viewhop.seismic._outcomes import FUSIONS
from viewhop.seismic._summary import printable
from viewhop.views import Views

__all__ = [
    "Method",
    "choose_methods",
    "explain_few_events",
    "explain_one_class",
    "min_events",
    "select_views",
]

Codes = NDArray[np.intp]


class Method(NamedTuple):
    """An estimator with the views and the events to which it applies."""

    name: str
    estimator: Any
    views: Views
    events: Codes
    n_blocks: int

    def columns(self, r: int, fitted: int) -> Codes:
        """Indices of the first r of the fitted coordinates in each block."""
        return np.add.outer(np.arange(self.n_blocks) * fitted, np.arange(r)).ravel()


def choose_methods(
    views: Views,
    codes: Codes,
    classes: Sequence[str],
    *,
    kernels: Mapping[str, Kernel],
    fusions: Sequence[str],
    singles: bool,
    n_components: int,
    n_steps: float,
    within_view_weight: float,
    n_neighbors: int,
    least: int,
    random_state: int,
) -> tuple[list[Method], dict[str, str]]:
    """Applicable methods, and the reasons why the others were refused."""
    if (count := int((codes >= 0).sum())) < least:
        raise ValueError(
            f"expected at least {least} labelled events for {n_components} coordinates "
            f"and {n_neighbors} neighbour{'s' * (n_neighbors > 1)}; got {count}"
        )
    few = explain_few_events(views, codes, least)
    refused = {name: f"{name}, alone and in the fusions: {why}" for name, why in few.items()}
    names = [name for name in views.names if name not in few]
    methods: list[Method] = []
    for name in names if singles else ():
        events = np.asarray(views.samples(name))
        if why := explain_one_class(codes[events], classes):
            refused[name] = f"{name}, alone: {why}"
            continue
        single = DiffusionMaps(
            n_components, n_steps=n_steps, kernel=kernels[name], random_state=random_state
        )
        methods.append(Method(name, single, select_views(views, [name], events), events, 1))
    events = np.flatnonzero(views.observed[:, [name in names for name in views.names]].any(axis=1))
    # Without a view that recorded enough events there is nothing to fuse; `refused` says why.
    for fusion in fusions if names else ():
        name = FUSIONS[fusion]
        shared_views = select_views(views, names, events)
        if why := explain_one_class(codes[events], classes) or _explain_missing(
            shared_views, fusion
        ):
            refused[name] = f"{name}: {why}"
            continue
        estimator = MultiViewDiffusionMaps(
            n_components,
            n_steps=n_steps,
            kernel={each: kernels[each] for each in names},
            fusion=fusion,
            within_view_weight=within_view_weight if fusion == "hop" else None,
            output="concat",
            random_state=random_state,
        )
        blocks = len(names) if fusion == "hop" else 1
        methods.append(Method(name, estimator, shared_views, events, blocks))
    return methods, refused


def explain_few_events(views: Views, codes: Codes, least: int) -> dict[str, str]:
    """Reason by name for each view with too few labelled events."""
    counts = {name: int((codes[views.samples(name)] >= 0).sum()) for name in views.names}
    return {
        name: f"it recorded {count:,} labelled events, but {least:,} are needed"
        for name, count in counts.items()
        if count < least
    }


def explain_one_class(codes: Codes, classes: Sequence[str]) -> str:
    """Reason if all labelled events have the same class, else empty."""
    present = np.unique(codes[codes >= 0])
    if present.size > 1:
        return ""
    names = ", ".join(printable(classes[code]) for code in present)
    return f"it recorded events of one class only, {names}"


def _explain_missing(views: Views, fusion: str) -> str:
    """Reason if a fusion cannot handle events that are missing in a view, else empty."""
    lacking = int((~views.observed).any(axis=1).sum())
    if not lacking or fusion in ("sum", "hop"):
        return ""
    return (
        f"it needs every event in every view, and {lacking:,} of {len(views):,} "
        "are missing in some; the multi-view walk and the kernel sum allow missing events"
    )


def min_events(n_components: int, n_neighbors: int, procedures: Sequence[str]) -> int:
    """Minimum number of labelled events per view: a fit needs r + 2, and one may be left out."""
    return max(n_components + 2 + ("refitted" in procedures), n_neighbors + 1)


def select_views(views: Views, names: Sequence[str], events: Codes) -> Views:
    """Views restricted to some names and events; each event must be in one of the views."""
    return Views({name: views[name][events] for name in names})
