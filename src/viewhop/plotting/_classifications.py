"""Pictures of how well classes are told: by one method, and by every two views."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from viewhop.plotting._matrices import squares

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["confusion", "pair_accuracy"]


def confusion(
    counts: ArrayLike,
    names: Iterable[str],
    *,
    ax: Axes | None = None,
    title: str | None = None,
    legend: bool = True,
) -> Axes:
    """The Axes with how many samples of each class were taken for which.

    Parameters
    ----------
    counts : (n_classes, n_classes) array
        Classes in rows, predictions in columns: `seismic.Score.confusion`.
    names : n_classes str
        Names of the classes.
    ax : matplotlib Axes or None
        Where to draw; None makes a new figure.
    title : str or None
        Title of the Axes.
    legend : bool
        Whether to draw the colour bar.

    Returns
    -------
    matplotlib Axes

    Notes
    -----
    Numbers are counts, and colours shares of the class, so that a rare class is seen as well as a
    frequent one. A class without samples has no shares: its row is hatched.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from viewhop import plotting
    >>> ax = plotting.confusion([[44, 2], [1, 61]], ["earthquake", "blast"])
    >>> [text.get_text() for text in ax.texts], ax.get_xlabel(), ax.get_ylabel()
    (['44', '2', '1', '61'], 'predicted', 'class')
    """
    named = list(map(str, names))
    given = np.asarray(counts, dtype=np.float64)
    if given.ndim != 2 or given.shape != (len(named), len(named)) or not named:
        raise ValueError(
            f"counts must be (n_classes, n_classes) for {len(named)} names, got {given.shape}"
        )
    if not np.isfinite(given).all() or given.min() < 0 or (given % 1).any():
        raise ValueError("counts must hold whole numbers of at least 0")
    sizes = given.sum(axis=1, keepdims=True)
    shares = np.divide(given, sizes, out=np.full_like(given, np.nan), where=sizes > 0)
    ax = squares(
        shares,
        named,
        low=0.0,
        high=1.0,
        text=lambda row, column: f"{given[row, column]:,.0f}",
        bar="share of the class" if legend else None,
        ax=ax,
        title=title,
    )
    ax.set(xlabel="predicted", ylabel="class")
    return ax


def pair_accuracy(
    accuracy: ArrayLike,
    names: Iterable[str],
    *,
    ax: Axes | None = None,
    title: str | None = None,
    legend: bool = True,
) -> Axes:
    """The Axes with the accuracy of every view, beside every other.

    Parameters
    ----------
    accuracy : (n_views, n_views) array
        Shares, of the first view in rows: `seismic.PairScores.accuracy`. NaN, as on
        its diagonal, is a hatched cell with a dash.
    names : n_views str
        Names of the views.
    ax : matplotlib Axes or None
        Where to draw; None makes a new figure.
    title : str or None
        Title of the Axes.
    legend : bool
        Whether to draw the colour bar.

    Returns
    -------
    matplotlib Axes

    Notes
    -----
    Numbers are per cent. The colours begin at the lowest of them, whole tens downwards: of
    views that are alike, all would else have one colour.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from viewhop import plotting
    >>> ax = plotting.pair_accuracy([[np.nan, 0.91], [0.9, np.nan]], ["Z", "N"])
    >>> [text.get_text() for text in ax.texts]
    ['–', '91.0', '90.0', '–']
    """
    named = list(map(str, names))
    given = np.asarray(accuracy, dtype=np.float64)
    if given.ndim != 2 or given.shape != (len(named), len(named)) or not named:
        raise ValueError(
            f"accuracy must be (n_views, n_views) for {len(named)} names, got {given.shape}"
        )
    known = given[~np.isnan(given)]
    if known.size and not (known.min() >= 0 and known.max() <= 1):
        raise ValueError("accuracy must hold shares from 0 to 1, or NaN where there is none")
    lowest = 100 * float(known.min(initial=1.0))
    ax = squares(
        100 * given,
        named,
        low=min(90.0, 10 * np.floor(lowest / 10)),
        high=100.0,
        text=lambda row, column: f"{100 * given[row, column]:.1f}",
        bar="accuracy [%]" if legend else None,
        ax=ax,
        title=title,
    )
    ax.set(xlabel="second view", ylabel="first view")
    return ax
