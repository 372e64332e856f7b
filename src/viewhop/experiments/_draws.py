"""Scores over several draws of the data, at several diffusion times."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from viewhop.experiments._experiment import Cell, Table
from viewhop.experiments._kmeans_runs import run_kmeans
from viewhop.experiments._timed_methods import TimedCoordinates

__all__ = [
    "DrawScores",
    "add_draw",
    "draws_table",
    "lead_settings",
    "score_methods",
    "times_table",
]

#: Scores by setting, method and number of kernel steps, one value per draw. The key "eigenvalue"
#: has the tenth eigenvalue of one step.
DrawScores = dict[str, dict[str, dict[str, list[Any]]]]

_OURS = "multi-view"
_EIGENVALUE = "eigenvalue"
#: Which eigenvalue shows how much K-means sees of the later coordinates.
_TENTH = 10


class _Schedule(NamedTuple):
    """Kernel steps of the hop walk and of its rivals."""

    name: str
    ours: int
    rivals: int


#: At the paper's t = 1 one hop takes two kernel steps and every rival one.
_PRINTED = _Schedule("at t = 1", 2, 1)
_SCHEDULES = (
    _Schedule("at t = 0", 0, 0),
    _Schedule("after one kernel step each", 1, 1),
    _Schedule("after two kernel steps each", 2, 2),
)


def score_methods(
    methods: Iterable[tuple[str, TimedCoordinates]],
    target: NDArray[np.integer],
    dims: Sequence[int],
    *,
    n_clusters: int,
    seeds: Sequence[int],
    is_timed: bool = False,
    combine: Callable[[Any], Any] = np.mean,
) -> dict[str, dict[str, float | None]]:
    """NMI by method and number of kernel steps, and the tenth eigenvalue by method.

    Parameters
    ----------
    methods : iterable of names and TimedCoordinates
    target : (n_samples,) array
    dims : list of int
        Numbers of coordinates.
    n_clusters : int
        For K-means.
    seeds : list of int
        One start of K-means each.
    is_timed : bool
        Score 0, 1 and 2 kernel steps; otherwise t = 1 alone.
    combine : callable
        Maps the scores of all `dims` and `seeds`, (n_dims, n_seeds), to one number.
    """
    scores: dict[str, dict[str, float | None]] = {}
    for name, method in methods:
        steps = (0, 1, 2) if is_timed else (method.kernel_steps,)
        scores[name] = {_EIGENVALUE: method.eigenvalue(_TENTH)}
        for n_steps in steps:
            embedding = method.after(n_steps)
            if method.eigenvalues is None and n_steps != steps[0]:
                scores[name][str(n_steps)] = scores[name][str(steps[0])]
                continue
            nmi = [
                run_kmeans(embedding.first(r), n_clusters, seeds=seeds).nmi(target) for r in dims
            ]
            scores[name][str(n_steps)] = float(combine(nmi))
    return scores


def add_draw(
    scores: DrawScores, setting: str, draw: Mapping[str, Mapping[str, float | None]]
) -> None:
    """Append the scores of one draw to those of a setting, in place.

    Parameters
    ----------
    scores : dict
    setting : str
    draw : dict of dicts
        As `score_methods` returns it.
    """
    by_method = scores.setdefault(setting, {})
    for method, values in draw.items():
        entry = by_method.setdefault(method, {})
        for key, value in values.items():
            entry.setdefault(key, []).append(value)


def lead_settings(
    scores: DrawScores, *, timed: Collection[str] = ()
) -> dict[str, dict[str, list[float]]]:
    """Scores by setting and method for `judge_lead`: every setting at t = 1, then other times.

    Parameters
    ----------
    scores : dict
    timed : list of str
        Settings whose other times count as settings of their own.
    """
    settings = {setting: _pick(by_method, _PRINTED) for setting, by_method in scores.items()}
    for setting in timed:
        for schedule in _SCHEDULES:
            settings[f"{setting} {schedule.name}"] = _pick(scores[setting], schedule)
    return settings


def _pick(by_method: Mapping[str, Mapping[str, Any]], schedule: _Schedule) -> dict[str, Any]:
    picked = {}
    for method, scores in by_method.items():
        steps = schedule.ours if method == _OURS else schedule.rivals
        # A method without a diffusion time has the same score under any number of steps.
        only = next(key for key in scores if key != _EIGENVALUE)
        picked[method] = scores.get(str(steps), scores[only])
    return picked


def draws_table(title: str, scores: DrawScores) -> Table:
    """Table of mean ± deviation over the draws at t = 1, one column per setting.

    Parameters
    ----------
    title : str
    scores : dict
    """
    settings = {setting: _pick(by_method, _PRINTED) for setting, by_method in scores.items()}
    methods = dict.fromkeys(method for by_method in settings.values() for method in by_method)
    rows = [
        (method, *(_spread(by_method.get(method)) for by_method in settings.values()))
        for method in methods
    ]
    return Table(title, ("method", *settings), tuple(rows))


def times_table(title: str, by_method: Mapping[str, Mapping[str, Any]]) -> Table:
    """Table of the tenth eigenvalue and of scores after 0, 1 and 2 kernel steps.

    Parameters
    ----------
    title : str
    by_method : dict
        Scores of one setting that were timed.
    """
    rows: list[tuple[Cell, ...]] = []
    for method, scores in by_method.items():
        tenth = [value for value in scores[_EIGENVALUE] if value is not None]
        rows.append(
            (
                method,
                f"{np.mean(tenth):.1e}" if tenth else None,
                *(_spread(scores[str(steps)]) for steps in (0, 1, 2)),
            )
        )
    return Table(
        title,
        (
            "method",
            f"λ_{_TENTH} of one step",
            "t = 0",
            "one kernel step: t = 1, multi-view t = 0.5",
            "two kernel steps: t = 2, multi-view t = 1",
        ),
        tuple(rows),
    )


def _spread(values: Sequence[float] | None) -> str | None:
    if values is None:
        return None
    deviation = np.std(values, ddof=1) if len(values) > 1 else 0.0
    return f"{np.mean(values):.3f} ± {deviation:.3f}"
