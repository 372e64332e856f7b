"""The choice of the default: candidates, their scores, and an honest estimate of the choice.

All candidates stand in `grid` and `around`. A fit gives the coordinates of each view, so one fit
serves the candidates that differ only in their output.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np

import viewhop as vh
from benchmarks.quality import sets
from benchmarks.quality.cells import Cell, Record, Store
from benchmarks.quality.run import is_old
from benchmarks.quality.sets import COUNTED, Data
from benchmarks.quality.tasks import make_record, score_clusters
from viewhop.errors import DataMissingError

__all__ = ["CHOICE", "Fit", "around", "candidate_scores", "find_records", "grid", "run_choices"]


@dataclass(frozen=True)
class Fit:
    """Parameters of a fit that candidates share.

    Attributes
    ----------
    walk : {"no staying", "equal weights", "agreement"}
        η = 0; every view with weight 1; or weights by agreement.
    alpha : float
    scale_neighbors : int
    metric : {"auto", "euclidean"}
    joint_view : bool
    n_neighbors : int
    taper : float
    """

    walk: str = "agreement"
    alpha: float = 1.0
    scale_neighbors: int = 5
    metric: str = "auto"
    joint_view: bool = True
    n_neighbors: int = 10
    taper: float = 0.0

    @property
    def outputs(self) -> tuple[str, ...]:
        """The outputs that can be had; a consensus needs a hop matrix of rank one."""
        return ("concat",) if self.walk == "no staying" else ("consensus", "concat")

    def __str__(self) -> str:
        joint = "joint view" if self.joint_view else "no joint view"
        taper = f", taper {self.taper:g}" if self.taper else ""
        return (
            f"{self.walk}, α = {self.alpha:g}, scale {self.scale_neighbors} of "
            f"{self.n_neighbors}{taper}, {self.metric} metric, {joint}"
        )

    def build(self, r: int, n_views: int) -> Any:
        """The estimator."""
        kernel = vh.kernels.Gaussian(
            "local",
            n_neighbors=self.n_neighbors,
            scale_neighbors=self.scale_neighbors,
            metric=self.metric,
            alpha=self.alpha,
            **({"taper": self.taper} if self.taper else {}),
        )
        walk: dict[str, Any] = {
            "no staying": {"within_view_weight": 0.0},
            "equal weights": {"view_weights": [1.0] * n_views},
            "agreement": {},
        }[self.walk]
        return vh.MultiViewDiffusionMaps(
            r,
            kernel=kernel,
            joint_view=self.joint_view,
            output=self.outputs[0],
            random_state=0,
            **walk,
        )


#: The fit and the output of the default; keep it equal to `viewhop.kernels.adaptive`.
CHOICE = (Fit(scale_neighbors=10, taper=0.2), "consensus")
#: Tapers to try around it.
TAPERS = (0.0, 0.1, 0.2)


def grid() -> list[Fit]:
    """All combinations of the factors, with neighbours and taper of the default.

    Only a walk with weights has a joint view.
    """
    factors = product(
        ("no staying", "equal weights", "agreement"),
        (0.0, 1.0),
        (5, 10),
        ("euclidean", "auto"),
        (False, True),
    )
    n_neighbors, taper = CHOICE[0].n_neighbors, CHOICE[0].taper
    fits = [Fit(*levels, n_neighbors, taper) for levels in factors]
    return [fit for fit in fits if not (fit.joint_view and fit.walk == "no staying")]


def around(fit: Fit) -> list[Fit]:
    """A fit with another number of neighbours or another taper, one factor at a time."""
    neighbours = [
        replace(fit, n_neighbors=k, scale_neighbors=min(fit.scale_neighbors, k))
        for k in (5, 10, 20)
        if k != fit.n_neighbors
    ]
    return neighbours + [replace(fit, taper=taper) for taper in TAPERS if taper != fit.taper]


def run_choices(
    fits: Sequence[Fit],
    store: Store,
    *,
    data_home: str | os.PathLike[str] | None = None,
    names: Sequence[str] = COUNTED,
    retry: bool = False,
    fresh: bool = False,
    report: Callable[[str], None] = lambda line: None,
) -> int:
    """Compute what the store lacks; the number of fits that were computed."""
    computed = 0
    for name in names:
        try:
            data = sets.load(name, data_home)
        except DataMissingError as error:
            report(f"{name}: {error}")
            continue
        before = computed
        for fit in fits:
            cell = _cell(name, fit)
            earlier = store.get(cell, asdict(fit))
            if earlier is None or (retry and earlier.error) or (fresh and is_old(earlier)):
                record = make_record(cell, asdict(fit), partial(_scores, fit, data))
                store.put(record)
                computed += 1
                if record.error:
                    report(f"failed: {cell}: {record.error}")
        report(f"{name}: {computed - before} of {len(fits)} candidate fits computed")
    return computed


def find_records(fits: Sequence[Fit], store: Store, names: Sequence[str]) -> list[Record]:
    """The records of the fits on the sets, as far as there are any."""
    found = [store.get(_cell(name, fit), asdict(fit)) for fit in fits for name in names]
    return [record for record in found if record is not None]


def candidate_scores(
    records: Sequence[Record], names: Sequence[str]
) -> tuple[dict[str, dict[str, float]], dict[str, str]]:
    """AMI by candidate and set; and the reason by candidate, for those that lack a set."""
    scores: dict[str, dict[str, float]] = {}
    reasons: dict[str, str] = {}
    for record in records:
        fit = Fit(**record.parameters)
        for output in fit.outputs:
            candidate = name_candidate(fit, output)
            by_set = scores.setdefault(candidate, {})
            if record.error:
                reasons.setdefault(candidate, f"failed on {record.cell.set}: {record.error}")
            else:
                by_set[record.cell.set] = record.scores[output]
    for candidate, by_set in scores.items():
        if len(by_set) < len(names):
            reasons.setdefault(candidate, f"on {len(by_set)} of {len(names)} sets")
    return {name: by_set for name, by_set in scores.items() if name not in reasons}, reasons


def name_candidate(fit: Fit, output: str) -> str:
    """A fit and an output as one name."""
    return f"{fit}, {output}"


def _cell(name: str, fit: Fit) -> Cell:
    return Cell(name, str(fit), "choice")


def _scores(fit: Fit, data: Data) -> dict[str, float]:
    assert data.target is not None
    estimator = fit.build(max(1, data.n_classes - 1), data.views.n_views).fit(data.views)
    embeddings = {"concat": np.hstack(list(estimator.view_embeddings_.values()))}
    if fit.outputs[0] == "consensus":
        embeddings["consensus"] = estimator.embedding_
    return {
        output: score_clusters(embeddings[output], data.target)["ami"] for output in fit.outputs
    }
