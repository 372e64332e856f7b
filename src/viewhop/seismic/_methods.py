"""Which methods can be used on some events: each view alone, and fusions of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from viewhop.estimators import DiffusionMaps, MultiViewDiffusionMaps
from viewhop.kernels import Kernel
from viewhop.seismic._outcomes import FUSIONS
from viewhop.seismic._summary import plain
from viewhop.views import Views

__all__ = ["Method", "least_events", "one_class", "some_of", "too_few", "usable_methods"]

Codes = NDArray[np.intp]


class Method(NamedTuple):
    """An estimator, and the events that it can be asked about."""

    name: str
    estimator: Any
    views: Views
    events: Codes
    n_blocks: int

    def columns(self, r: int, fitted: int) -> Codes:
        """The first r coordinates of each block of those that were fitted."""
        return np.add.outer(np.arange(self.n_blocks) * fitted, np.arange(r)).ravel()


def usable_methods(
    views: Views,
    codes: Codes,
    classes: Sequence[str],
    *,
    kernels: Mapping[str, Kernel],
    fusions: Sequence[str],
    singles: bool,
    n_components: int,
    n_neighbors: int,
    least: int,
    random_state: int,
) -> tuple[list[Method], dict[str, str]]:
    """The methods that can be used, and why the others cannot."""
    if (count := int((codes >= 0).sum())) < least:
        raise ValueError(
            f"expected at least {least} events that have a label, for {n_components} coordinates "
            f"and {n_neighbors} neighbour{'s' * (n_neighbors > 1)}; got {count}"
        )
    few = too_few(views, codes, least)
    refused = {name: f"{name}, alone and in the fusions: {why}" for name, why in few.items()}
    names = [name for name in views.names if name not in few]
    found: list[Method] = []
    for name in names if singles else ():
        events = np.asarray(views.samples(name))
        if why := one_class(codes[events], classes):
            refused[name] = f"{name}, alone: {why}"
            continue
        single = DiffusionMaps(n_components, kernel=kernels[name], random_state=random_state)
        found.append(Method(name, single, some_of(views, [name], events), events, 1))
    events = np.flatnonzero(views.observed[:, [name in names for name in views.names]].any(axis=1))
    # Without a view that has seen enough there is nothing to fuse, and `refused` says why.
    for fusion in fusions if names else ():
        name = FUSIONS[fusion]
        given = some_of(views, names, events)
        if why := one_class(codes[events], classes) or _lacking(given, fusion):
            refused[name] = f"{name}: {why}"
            continue
        estimator = MultiViewDiffusionMaps(
            n_components,
            kernel={each: kernels[each] for each in names},
            fusion=fusion,
            output="concat",
            random_state=random_state,
        )
        blocks = len(names) if fusion == "hop" else 1
        found.append(Method(name, estimator, given, events, blocks))
    return found, refused


def too_few(views: Views, codes: Codes, least: int) -> dict[str, str]:
    """Why views saw too little, by name."""
    counts = {name: int((codes[views.samples(name)] >= 0).sum()) for name in views.names}
    return {
        name: f"it saw {count:,} of the {least:,} labelled events that are needed"
        for name, count in counts.items()
        if count < least
    }


def one_class(codes: Codes, classes: Sequence[str]) -> str:
    """Why events cannot be told apart, if all that have a label have the same."""
    seen = np.unique(codes[codes >= 0])
    if seen.size > 1:
        return ""
    return f"it saw events of one class only, {', '.join(plain(classes[code]) for code in seen)}"


def _lacking(views: Views, fusion: str) -> str:
    """Why a fusion cannot be had of views that missed events, if it cannot."""
    lacking = int((~views.observed).any(axis=1).sum())
    if not lacking or fusion in ("sum", "hop"):
        return ""
    return (
        f"it needs every event in every view, and {lacking:,} of {len(views):,} "
        "are missing in some; the multi-view walk and the kernel sum do without"
    )


def least_events(n_components: int, n_neighbors: int, procedures: Sequence[str]) -> int:
    """Labelled events that a view must have seen: a fit takes r + 2, and one may be left out."""
    return max(n_components + 2 + ("refitted" in procedures), n_neighbors + 1)


def some_of(views: Views, names: Sequence[str], events: Codes) -> Views:
    """Some of the views, of events that at least one of them observed."""
    return Views({name: views[name][events] for name in names})
