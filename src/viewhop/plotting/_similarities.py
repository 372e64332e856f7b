"""The plot of the similarity of views."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from viewhop.plotting._matrices import draw_matrix
from viewhop.plotting._read_array import read_array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["view_similarity"]


def view_similarity(
    similarity: ArrayLike,
    names: Iterable[str],
    *,
    ax: Axes | None = None,
    title: str | None = None,
    legend: bool = True,
) -> Axes:
    """The Axes with the similarity of every pair of views, as colours and numbers.

    Parameters
    ----------
    similarity : (n_views, n_views) array
        The result of `view_similarity` of a fitted estimator: 1 for views that place every sample
        identically, about 0 for unrelated views. NaN, for views without a common sample, is a
        hatched cell with a dash.
    names : n_views str
        Names of the views, in the order of rows and columns.
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
    The colour scale always runs from 0 to 1, so that plots can be compared; it starts lower only
    if a similarity is negative.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from viewhop import plotting
    >>> ax = plotting.view_similarity([[1, 0.4], [0.4, 1]], ["sound", "image"])
    >>> [text.get_text() for text in ax.texts]
    ['1.00', '0.40', '0.40', '1.00']
    """
    names = list(map(str, names))
    matrix = _matrix(similarity, len(names))
    is_known = ~np.isnan(matrix)
    return draw_matrix(
        matrix,
        names,
        low=float(matrix.min(initial=0.0, where=is_known)),
        high=1.0,
        text=lambda row, column: _number(matrix[row, column]),
        bar="similarity" if legend else None,
        ax=ax,
        title=title,
    )


def _matrix(similarity: ArrayLike, n_views: int) -> NDArray[np.float64]:
    matrix = read_array(
        similarity,
        "similarity must be (n_views, n_views), as est.view_similarity() returns it",
    )
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or len(matrix) == 0:
        raise ValueError(f"similarity must be (n_views, n_views), got {matrix.shape}")
    if len(matrix) != n_views:
        raise ValueError(f"names must have one entry per view: {len(matrix)}, got {n_views}")
    if np.isinf(matrix).any():
        raise ValueError("similarity must be finite, or NaN where it is unknown, got infinity")
    return matrix


def _number(value: float) -> str:
    """Two decimals, without a negative zero."""
    return f"{round(value, 2) + 0.0:.2f}".replace("-", "−")
