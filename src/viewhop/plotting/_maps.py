"""The plot of a map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from viewhop.plotting._labelled_points import draw_points, label_series
from viewhop.plotting._read_array import read_array
from viewhop.plotting._style import make_axes, set_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["map"]


def map(
    layout: Any,
    *,
    labels: ArrayLike | None = None,
    ax: Axes | None = None,
    title: str | None = None,
    legend: bool = True,
    point_size: float | None = None,
) -> Axes:
    """The Axes with the samples of a layout as points, without ticks: the axes have no meaning.

    Parameters
    ----------
    layout : Layout or (n_samples, 2) array
        What `viewhop.lay_out` returns, or positions, for example of new samples.
    labels : (n_samples,) array-like or None
        As in `embedding`.
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

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import viewhop as vh
    >>> circles = vh.datasets.make_circles(60, random_state=0)
    >>> est = vh.MultiViewDiffusionMaps(2, kernel="gaussian", random_state=0).fit(circles.views)
    >>> ax = vh.plotting.map(vh.lay_out(est), labels=circles.theta, title="Two circles")
    >>> ax.get_title(loc="left")
    'Two circles'
    """
    points = read_array(
        getattr(layout, "positions", layout),
        "expected a Layout, as viewhop.lay_out(est) returns it, or positions (n_samples, 2)",
    )
    if points.ndim != 2 or points.shape[1] != 2 or len(points) == 0:
        raise ValueError(
            f"expected a Layout, or positions (n_samples, 2) of at least one sample, got an array "
            f"of shape {points.shape}"
        )
    values = None if labels is None else label_series(labels, len(points))
    ax = make_axes(ax, figsize=(5.4, 4.8))
    draw_points(ax, points, values, legend=legend, point_size=point_size)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[:].set_visible(False)
    if title is not None:
        set_title(ax, title)
    return ax
