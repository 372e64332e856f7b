"""Which linear range of Algorithm 1 should a kernel with bandwidth="joint" take?

``make bench-joint-rules`` writes docs/joint-rules.md.

The rule of decision, written before any score was computed:

- Families of sets: Swiss rolls (noise 0, 2 and 5), gapped rolls, helix A, helix B, circles
  (noise 0.03, 0.1, 0.16, 0.2 and 0.3), six clusters, the train video with 20 lost frames per
  camera, and the digits. Random sets are drawn ten times; helices and digits are not random.
- The walk is the paper's (η = 0, t = 1) with dense Gaussians, and only the rule differs.
- Scores lie in [0, 1]. Rolls: |Spearman| of the first coordinate of a view with the angle. Helices
  and video: circular rank correlation of the angle in the first two coordinates of a view with the
  true one, times the share of a turn that the curve closes; negative values count as 0. Both are
  means over the views. Circles: share of samples in the right cluster, by K-means on the first
  coordinates of both views. Clusters and digits: adjusted mutual information of K-means on K - 1
  coordinates of each view.
- A family's score is the mean over its noise levels and draws. The rule with the larger mean over
  the eight families is taken; a difference of at most 0.01 goes to "minimal", the paper's wording.

The default walk, which visits views by their agreement, is scored beside it and does not decide.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr
from sklearn.metrics import adjusted_mutual_info_score
from sklearn.utils import Bunch

from viewhop import MultiViewDiffusionMaps, Views, bandwidth, datasets
from viewhop._registry import LINEAR_RANGES
from viewhop.errors import DisconnectedWarning, ScaleWarning
from viewhop.experiments._kmeans import find_clusters
from viewhop.experiments._rings import ring
from viewhop.kernels import Gaussian
from viewhop.scores import matched_share

__all__ = ["FAMILIES", "LEVEL", "Row", "decide", "mean_scores", "score_rules"]

PAGE = Path(__file__).parent.parent / "docs" / "joint-rules.md"
DRAWS = 10
#: Means that differ by at most this count as equal, and the paper's wording decides.
LEVEL = 0.01
WALKS = ("the paper's walk", "default walk")

Score = Callable[[MultiViewDiffusionMaps, Bunch], float]


class Family(NamedTuple):
    """Sets of one kind.

    Attributes
    ----------
    measure : str
    make : dict of callables by level
        Each maps a seed to a set.
    n_components : int
    score : callable
        Maps a fitted estimator and the set to a score in [0, 1].
    random : bool
        Whether the draws differ.
    """

    measure: str
    make: Mapping[str, Callable[[int], Bunch]]
    n_components: int
    score: Score
    random: bool = True


def _order(est: MultiViewDiffusionMaps, data: Bunch) -> float:
    """|Spearman| of the first coordinate with the angle on the roll, mean over views."""
    firsts = [Z[:, 0] for Z in est.view_embeddings_.values()]
    return float(np.mean([abs(spearmanr(first, data.theta).statistic) for first in firsts]))


def _closed_curve(est: MultiViewDiffusionMaps, truths: Mapping[str, NDArray[Any]]) -> float:
    """Circular rank correlation times share of a closed turn, mean over views."""
    rings = [ring(est.view_embeddings_[name][:, :2], truth) for name, truth in truths.items()]
    return float(np.mean([max(r.correlation, 0.0) * (1 - r.gap / 360) for r in rings]))


def _helix(est: MultiViewDiffusionMaps, data: Bunch) -> float:
    return _closed_curve(est, {"x": data.a, "y": data.b})


def _film(est: MultiViewDiffusionMaps, data: Bunch) -> float:
    return _closed_curve(est, {"x": data.phase, "y": data.phase})


def _share(est: MultiViewDiffusionMaps, data: Bunch) -> float:
    Z = np.hstack([*est.view_embeddings_.values()])
    return float(matched_share(data.target, find_clusters(Z, 2, seed=0)))


def _information(est: MultiViewDiffusionMaps, data: Bunch) -> float:
    Z = np.hstack([*est.view_embeddings_.values()])
    clusters = find_clusters(Z, int(data.target.max()) + 1, seed=0)
    return float(adjusted_mutual_info_score(data.target, clusters))


def families(*, small: bool = False) -> dict[str, Family]:
    """The families by name."""
    n = 300 if small else 1000

    def rolls(noise: float) -> Callable[[int], Bunch]:
        return lambda seed: datasets.make_swiss_rolls(n, noise=noise, random_state=seed)

    def circles(noise: float) -> Callable[[int], Bunch]:
        return lambda seed: datasets.make_circles(
            300 if small else 1600, noise=noise, random_state=seed
        )

    def helices(kind: Any) -> Callable[[int], Bunch]:
        return lambda seed: datasets.make_helices(kind, n_samples=n)

    def mixtures(seed: int) -> Bunch:
        return datasets.make_mixtures(240 if small else 600, random_state=seed)

    def film(seed: int) -> Bunch:
        size = (40, 30) if small else (160, 120)
        return datasets.make_train_video(gap=20, size=size, random_state=seed)

    def digits(seed: int) -> Bunch:
        loaded = datasets.load_mfeat()
        step = 10 if small else 1
        return Bunch(views=loaded.views[::step], target=loaded.target[::step])

    def gapped(seed: int) -> Bunch:
        return datasets.make_gapped_rolls(n + n // 5, random_state=seed)

    return {
        "Swiss rolls": Family(
            "rank correlation", {f"noise {s:g}": rolls(s) for s in (0, 2, 5)}, 1, _order
        ),
        "gapped rolls": Family("rank correlation", {"": gapped}, 1, _order),
        "helix A": Family("closed curve", {"": helices("A")}, 2, _helix, random=False),
        "helix B": Family("closed curve", {"": helices("B")}, 2, _helix, random=False),
        "circles": Family(
            "share in the right cluster",
            {f"noise {s:g}": circles(s) for s in (0.03, 0.1, 0.16, 0.2, 0.3)},
            1,
            _share,
        ),
        "six clusters": Family("AMI", {"": mixtures}, 5, _information),
        "train video": Family("closed curve", {"": film}, 2, _film),
        "digits": Family("AMI", {"": digits}, 9, _information, random=False),
    }


FAMILIES = tuple(families())


class Row(NamedTuple):
    """Scores of one level of a family, (n_draws,) by rule, of the paper's and the default walk."""

    family: str
    level: str
    measure: str
    scores: dict[str, NDArray[np.float64]]
    default: dict[str, NDArray[np.float64]]
    scales: dict[str, float]


def score_rules(*, draws: int = DRAWS, small: bool = False) -> Iterator[Row]:
    """The scores of both rules, one row per level of a family.

    Parameters
    ----------
    draws : int
        Number of draws of a random set.
    small : bool
        Small sets, to see that everything runs.
    """
    for name, family in families(small=small).items():
        for level, make in family.make.items():
            kept: dict[tuple[str, str], list[float]] = {}
            widths: dict[str, list[float]] = {rule: [] for rule in LINEAR_RANGES}
            for seed in range(draws if family.random else 1):
                data = make(seed)
                for rule in LINEAR_RANGES:
                    scales = _scales(data.views, rule)
                    widths[rule].append(float(np.exp(np.mean(np.log([*scales.values()])))))
                    for walk in WALKS:
                        est = _fit(data.views, scales, family.n_components, walk)
                        kept.setdefault((walk, rule), []).append(family.score(est, data))
            by_walk = [
                {rule: np.array(kept[walk, rule]) for rule in LINEAR_RANGES} for walk in WALKS
            ]
            means = {rule: float(np.mean(values)) for rule, values in widths.items()}
            yield Row(name, level, family.measure, *by_walk, means)


def _scales(views: Views, rule: str) -> dict[str, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ScaleWarning)
        seen = views[np.flatnonzero(views.observed.all(axis=1))]
        return bandwidth.joint(seen, rule=rule).scales


def _fit(
    views: Views, scales: Mapping[str, float], n_components: int, walk: str
) -> MultiViewDiffusionMaps:
    kernels = {name: Gaussian(scale) for name, scale in scales.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedWarning)
        if walk == "default walk":
            est = MultiViewDiffusionMaps(n_components, kernel=kernels, random_state=0)
        else:
            est = MultiViewDiffusionMaps.paper_settings(
                n_components, kernel=kernels, random_state=0
            )
        return est.fit(views)


def mean_scores(rows: list[Row]) -> dict[str, dict[str, float]]:
    """Mean over levels and draws, by family and rule; the last family is the mean of all."""
    means = {
        name: {
            rule: float(np.mean([row.scores[rule].mean() for row in rows if row.family == name]))
            for rule in LINEAR_RANGES
        }
        for name in dict.fromkeys(row.family for row in rows)
    }
    overall = {rule: float(np.mean([m[rule] for m in means.values()])) for rule in LINEAR_RANGES}
    return {**means, "mean of the families": overall}


def decide(rows: list[Row]) -> str:
    """The rule that `Gaussian("joint")` takes, by the rule of decision above."""
    overall = mean_scores(rows)["mean of the families"]
    return "steepest" if overall["steepest"] > overall["minimal"] + LEVEL else "minimal"


@click.command()
@click.option("--small", is_flag=True, help="Small sets and two draws, to see that it runs.")
@click.option("--record", is_flag=True, help="Write docs/joint-rules.md.")
def main(small: bool, record: bool) -> None:
    """Compare the two rules for the linear range of Algorithm 1."""
    if small and record:
        raise click.UsageError("--record needs the full sizes; remove --small")
    draws = 2 if small else DRAWS
    rows = []
    for row in score_rules(draws=draws, small=small):
        click.echo(f"{row.family} {row.level}", err=True)
        rows.append(row)
    from benchmarks.joint_rules_page import write_page

    text = write_page(rows, draws)
    if record:
        PAGE.write_text(text, encoding="utf-8")
    click.echo(text)


if __name__ == "__main__":
    main()
