"""What a coordinate means: the features of each view that change most along it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from viewhop.advice._placed_samples import draw_samples, pairwise_views, place, read_views
from viewhop.advice._profiles import FEWEST, N_BINS, profile_features
from viewhop.views import Views

__all__ = ["Explanation", "explain", "explain_embedding"]

Floats = NDArray[np.float64]

#: Columns of the table.
COLUMNS = ("coordinate", "view", "feature", "correlation", "strength", "shape")


@dataclass(frozen=True, eq=False)
class Explanation:
    """The features of each view along each coordinate.

    Attributes
    ----------
    frame : DataFrame
        One row for each coordinate and feature, the strongest features of a coordinate first:
        ``coordinate``, ``view``, ``feature``, ``correlation`` (Spearman's, negative where the
        feature falls), ``strength`` (from 0 to 1, of any shape) and ``shape``: "rises", "falls",
        "peaks" and "dips" (between the ends), "waves", or "none".
    profiles : (n_rows, 10) array
        For each row, the mean rank of the feature, from 0 to 1, in ten bins of samples along the
        coordinate.
    skipped : dict of str
        Why a view has no rows.

    Examples
    --------
    >>> import viewhop as vh
    >>> rolls = vh.datasets.make_swiss_rolls(n_samples=300, random_state=0)
    >>> est = vh.MultiViewDiffusionMaps(2, kernel="gaussian", random_state=0).fit(rolls.views)
    >>> vh.explain(est, rolls.views).top(1).columns.tolist()[1:3]
    ['view', 'feature']
    """

    frame: pd.DataFrame = field(repr=False)
    profiles: Floats = field(repr=False)
    skipped: dict[str, str]

    def top(self, n_features: int = 3) -> pd.DataFrame:
        """The strongest features of each view along each coordinate.

        Parameters
        ----------
        n_features : int
            Most rows for each coordinate and view; features whose shape is "none" are left out.
        """
        clear = self.frame[self.frame["shape"] != "none"]
        groups = clear.groupby(["coordinate", "view"], sort=False)
        return groups.head(n_features).reset_index(drop=True)

    def __str__(self) -> str:
        """The table of the strongest features."""
        if not len(top := self.top()):
            return "no feature changes along any coordinate"
        return str(top.round(2).to_string(index=False))


def explain(
    estimator: Any,
    views: Any,
    *,
    max_samples: int | None = 20_000,
    random_state: int | np.random.Generator | None = 0,
) -> Explanation:
    """The features of each view that change most along each coordinate of a fitted estimator.

    Parameters
    ----------
    estimator : fitted estimator
    views : list, dict or Views
        Samples, training or new, with all features of the views that are to be explained.
    max_samples : int or None
        With more samples than this, as many are drawn at random; None takes all.
    random_state : int, Generator or None
        Draws them.

    Returns
    -------
    Explanation

    Raises
    ------
    ValueError
        If there are fewer than 50 samples.

    Notes
    -----
    A feature need not rise or fall along a coordinate to belong to it: the strength is the root of
    the correlation ratio ε² of the ranks of the feature in ten bins along the coordinate, which is
    about the size of Spearman's correlation where the feature rises or falls, and larger where it
    peaks or dips. "none" means that it does not exceed that of an unrelated feature by four
    standard deviations. A feature that takes several values at one place of a coordinate, as on a
    closed curve, may belong to several coordinates together and to none alone.

    Each feature is looked at by itself, and correlated features have similar rows: the table
    describes a coordinate, and does not say what causes it. Views of precomputed kernels have no
    features and are skipped.

    Examples
    --------
    Two features of a line, one of which bends, and one of noise:

    >>> import numpy as np
    >>> import viewhop as vh
    >>> rng = np.random.default_rng(0)
    >>> s = rng.uniform(size=200)
    >>> X = np.column_stack([3 * s, (s - 0.5) ** 2, 0.1 * rng.standard_normal(200)])
    >>> est = vh.DiffusionMaps(1, kernel="gaussian").fit(X)
    >>> found = vh.explain(est, [X]).frame
    >>> found["feature"].tolist()[-1], found["shape"].tolist()[-1]
    ('column 3', 'none')
    """
    views = read_views(estimator, views)
    if len(views) < FEWEST:
        raise ValueError(f"an explanation needs at least {FEWEST} samples, got {len(views)}")
    chosen = draw_samples(len(views), max_samples, random_state)
    views = views if chosen is None else views[chosen]
    embedding, names = place(estimator, views)
    return explain_embedding(embedding, names, views, pairwise_views(estimator))


def explain_embedding(
    embedding: Floats, names: Sequence[str], views: Views, pairwise: Collection[str]
) -> Explanation:
    """The features of each view along each column of an embedding of the same samples.

    Parameters
    ----------
    embedding : (n_samples, n_columns) array
        Samples with NaN are left out.
    names : sequence of str
        Columns of the embedding.
    views : Views
    pairwise : collection of str
        Views that are precomputed kernels, which are skipped.
    """
    tables, profiles, skipped = [], [], {}
    is_placed = np.asarray(np.isfinite(embedding).all(axis=1))
    for name, labels in zip(views.names, views.feature_names, strict=True):
        rows, samples = views.rows(name), views.samples(name)
        kept = is_placed[samples]
        if not kept.all():
            rows, samples = rows[kept], samples[kept]
        if name in pairwise:
            skipped[name] = "it is a precomputed kernel, without features"
            continue
        if len(rows) < FEWEST:
            skipped[name] = f"it observed {len(rows)} samples, and {FEWEST} are needed"
            continue
        features = [f"column {k + 1}" for k in range(rows.shape[1])]
        features = features if labels is None else [*labels]
        along = profile_features(rows, embedding[samples])
        for coordinate, found in zip(names, along, strict=True):
            table = dict(zip(COLUMNS, (coordinate, name, features, *found[:3]), strict=True))
            tables.append(pd.DataFrame(table, columns=list(COLUMNS)))
            profiles.append(found.means)
    if not tables:
        frame = pd.DataFrame({name: [] for name in COLUMNS})
        return Explanation(frame, np.empty((0, N_BINS)), skipped)
    frame, means = pd.concat(tables, ignore_index=True), np.concatenate(profiles)
    place_of = {name: k for k, name in enumerate(names)}
    column = frame["coordinate"].map(place_of).to_numpy()
    strength = np.nan_to_num(frame["strength"].to_numpy(), nan=-1.0)
    size = np.abs(frame["correlation"].fillna(0.0).to_numpy())
    order = np.lexsort((-size, -strength, column))
    return Explanation(frame.iloc[order].reset_index(drop=True), means[order], skipped)
