"""The plot of the distances between views."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from viewhop.plotting._matrices import draw_matrix
from viewhop.plotting._read_array import read_array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["view_distances"]


def view_distances(
    distances: ArrayLike,
    names: Iterable[str],
    *,
    ax: Axes | None = None,
    title: str | None = None,
    legend: bool = True,
) -> Axes:
    """The Axes with the distances between all views or snapshots, as colours and numbers.

    Parameters
    ----------
    distances : (n_views, n_views) array
        The result of `viewhop.diffusion.cross_view_distances` or `snapshot_distances`. NaN, for
        two views without a common sample, is drawn as a hatched cell with a dash.
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
    The colour scale runs from 0 to the largest distance.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from viewhop import plotting
    >>> ax = plotting.view_distances([[0, 0.25], [0.25, 0]], ["before", "after"])
    >>> [text.get_text() for text in ax.texts]
    ['0', '0.25', '0.25', '0']
    """
    names = list(map(str, names))
    matrix = read_array(
        distances, "distances must be (n_views, n_views), as cross_view_distances returns them"
    )
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or len(matrix) == 0:
        raise ValueError(f"distances must be (n_views, n_views), got {matrix.shape}")
    if len(matrix) != len(names):
        raise ValueError(f"names must have one entry per view: {len(matrix)}, got {len(names)}")
    is_known = ~np.isnan(matrix)
    if np.isinf(matrix).any() or (matrix[is_known] < 0).any():
        raise ValueError("distances must be finite and at least 0, or NaN where they are unknown")
    largest = float(matrix.max(initial=0.0, where=is_known))
    return draw_matrix(
        matrix,
        names,
        low=0.0,
        high=largest if largest > 0 else 1.0,
        text=lambda row, column: f"{matrix[row, column]:.3g}",
        bar="distance" if legend else None,
        ax=ax,
        title=title,
    )
