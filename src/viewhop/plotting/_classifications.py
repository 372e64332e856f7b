"""Plots of classification results: confusion matrices, and accuracies of pairs of views."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from viewhop.plotting._matrices import draw_matrix

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
    """The Axes with a confusion matrix: number of samples by class and prediction.

    Parameters
    ----------
    counts : (n_classes, n_classes) array
        Classes in rows, predictions in columns, as in `seismic.Score.confusion`.
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
    Numbers are counts and colours are shares of the class, so that rare classes are as visible as
    frequent ones. The row of a class without samples is hatched.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from viewhop import plotting
    >>> ax = plotting.confusion([[44, 2], [1, 61]], ["earthquake", "blast"])
    >>> [text.get_text() for text in ax.texts], ax.get_xlabel(), ax.get_ylabel()
    (['44', '2', '1', '61'], 'predicted', 'class')
    """
    classes = list(map(str, names))
    matrix = _square_matrix(counts, len(classes), "counts must be (n_classes, n_classes)")
    if not np.isfinite(matrix).all() or matrix.min() < 0 or (matrix % 1).any():
        raise ValueError("counts must be whole numbers of at least 0")
    sizes = matrix.sum(axis=1, keepdims=True)
    shares = np.divide(matrix, sizes, out=np.full_like(matrix, np.nan), where=sizes > 0)
    ax = draw_matrix(
        shares,
        classes,
        low=0.0,
        high=1.0,
        text=lambda row, column: f"{matrix[row, column]:,.0f}",
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
    """The Axes with the accuracy of every pair of views.

    Parameters
    ----------
    accuracy : (n_views, n_views) array
        Accuracies from 0 to 1, with the first view in rows, as in `seismic.PairScores.accuracy`;
        a cell with NaN is hatched.
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
    Numbers are percentages; the colours start at the lowest one, rounded down to a multiple of 10.

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
    views = list(map(str, names))
    matrix = _square_matrix(accuracy, len(views), "accuracy must be (n_views, n_views)")
    known = matrix[~np.isnan(matrix)]
    if known.size and not (known.min() >= 0 and known.max() <= 1):
        raise ValueError("accuracy must be between 0 and 1, or NaN where it is unknown")
    lowest = 100 * float(known.min(initial=1.0))
    ax = draw_matrix(
        100 * matrix,
        views,
        low=min(90.0, 10 * np.floor(lowest / 10)),
        high=100.0,
        text=lambda row, column: f"{100 * matrix[row, column]:.1f}",
        bar="accuracy [%]" if legend else None,
        ax=ax,
        title=title,
    )
    ax.set(xlabel="second view", ylabel="first view")
    return ax


def _square_matrix(values: ArrayLike, n_names: int, requirement: str) -> NDArray[np.float64]:
    """The values as an (n_names, n_names) array."""
    matrix = np.asarray(values, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape != (n_names, n_names) or not n_names:
        raise ValueError(f"{requirement} for {n_names} names, got {matrix.shape}")
    return matrix
