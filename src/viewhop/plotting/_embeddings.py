"""The plot of an embedding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from viewhop.plotting._drawn_text import draw_literally
from viewhop.plotting._labelled_points import draw_points, label_series
from viewhop.plotting._read_array import read_array
from viewhop.plotting._style import make_axes, tidy_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["embedding"]


def embedding(
    Z: ArrayLike | pd.DataFrame | Any,
    *,
    labels: ArrayLike | None = None,
    dims: Sequence[int] = (0, 1),
    ax: Axes | None = None,
    title: str | None = None,
    legend: bool = True,
    point_size: float | None = None,
) -> Axes:
    """The Axes with a scatter plot of two coordinates.

    Parameters
    ----------
    Z : (n_samples, n_coordinates) array or DataFrame, or fitted estimator
        Coordinates; the columns of a DataFrame name the axes. Rows with NaN are left out. Of an
        estimator, the embedding of its training samples is drawn.
    labels : (n_samples,) array-like or None
        Values that set the colours. Text, booleans, and integers with at most 20 distinct values
        are groups and get a legend; other numbers are a quantity and get a colour bar. Samples
        without a label are grey.
    dims : pair of int
        The two columns to draw, counted from 0.
    ax : matplotlib Axes or None
        Where to draw; None makes a new figure.
    title : str or None
        Title of the Axes.
    legend : bool
        Whether to draw the legend or the colour bar.
    point_size : float or None
        Area of a point in square points; None draws smaller points for more samples.

    Returns
    -------
    matplotlib Axes

    Notes
    -----
    Both axes have the same scale: distances in the plane are the part of the diffusion distance
    that the two coordinates represent. Points are drawn in a fixed random order, so that the last
    group does not hide the others.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from viewhop import plotting
    >>> angle = np.linspace(0, 6, 50)
    >>> ax = plotting.embedding(np.column_stack([np.cos(angle), np.sin(angle)]), labels=angle)
    >>> ax.get_xlabel()
    'coordinate 1'
    """
    points, names = _columns(Z, dims)
    values = None if labels is None else label_series(labels, len(points))
    ax = make_axes(ax, figsize=(5.4, 4.8))
    draw_points(ax, points, values, legend=legend, point_size=point_size)
    draw_literally(ax.xaxis.label, names[0])
    draw_literally(ax.yaxis.label, names[1])
    tidy_axes(ax, title)
    return ax


def _coordinates(Z: Any) -> Any:
    """The embedding of a fitted estimator; anything else as it is."""
    if not hasattr(Z, "fit"):
        return Z
    check_is_fitted(Z)
    return getattr(getattr(Z, "embedder_", Z), "embedding_", Z)


def _columns(Z: Any, dims: Sequence[int]) -> tuple[NDArray[np.float64], tuple[str, str]]:
    """Two columns of Z, (n_samples, 2), and their names."""
    Z = _coordinates(Z)
    matrix = read_array(
        Z,
        "Z must be coordinates (n_samples, n_coordinates), such as est.embedding_, or a fitted "
        "estimator",
    )
    if matrix.ndim != 2 or len(matrix) == 0:
        raise ValueError(
            f"Z must be (n_samples, n_coordinates) with at least one sample, got {matrix.shape}"
        )
    if len(dims) != 2 or not all(0 <= dim < matrix.shape[1] for dim in dims):
        raise ValueError(
            f"dims must be two columns of Z, from 0 to {matrix.shape[1] - 1}, got {dims!r}"
        )
    if isinstance(Z, pd.DataFrame):
        first, second = (str(Z.columns[dim]) for dim in dims)
    else:
        first, second = (f"coordinate {dim + 1}" for dim in dims)
    return matrix[:, list(dims)], (first, second)
