"""Plots of what coordinates mean, and of how well they come back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from viewhop.plotting._drawn_text import plain_text
from viewhop.plotting._style import INK, PALETTE, add_colour_bar, make_axes, tidy_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["explanation", "stability"]


def explanation(
    explained: Any,
    coordinate: str | int = 0,
    *,
    n_features: int = 12,
    ax: Axes | None = None,
    title: str | None = None,
    legend: bool = True,
) -> Axes:
    """The Axes with the features that change most along a coordinate, one strip per feature.

    Parameters
    ----------
    explained : Explanation
        The result of `viewhop.explain`.
    coordinate : str or int
        Name or number, from 0, of the coordinate.
    n_features : int
        Number of strips at most; features without a shape are left out.
    ax : matplotlib Axes or None
        Where to draw; None makes a new figure.
    title : str or None
        Title of the Axes; None takes the name of the coordinate.
    legend : bool
        Whether to draw the colour bar.

    Returns
    -------
    matplotlib Axes

    Notes
    -----
    A strip shows the mean rank of the feature in ten bins of samples along the coordinate, and the
    number beside it is the strength.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import viewhop as vh
    >>> rolls = vh.datasets.make_swiss_rolls(n_samples=200, random_state=0)
    >>> est = vh.MultiViewDiffusionMaps(2, kernel="gaussian", random_state=0).fit(rolls.views)
    >>> ax = vh.plotting.explanation(vh.explain(est, rolls.views), n_features=4)
    >>> len(ax.get_yticklabels())
    4
    """
    frame = explained.frame
    names = [*dict.fromkeys(frame["coordinate"])]
    name = _chosen(names, coordinate)
    is_shown = ((frame["coordinate"] == name) & (frame["shape"] != "none")).to_numpy()
    rows = np.flatnonzero(is_shown)[:n_features]
    ax = make_axes(ax, figsize=(6.4, 1.2 + 0.3 * max(rows.size, 4)))
    tidy_axes(ax, str(name) if title is None else title)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    ax.set_xlabel("samples along the coordinate")
    if not rows.size:
        ax.text(0.5, 0.5, "no feature changes along it", ha="center", transform=ax.transAxes)
        ax.set_xticks([])
        ax.set_yticks([])
        return ax
    strips = explained.profiles[rows]
    drawn = ax.imshow(strips, aspect="auto", cmap="RdBu_r", vmin=0.0, vmax=1.0)
    shown = frame.iloc[rows]
    labels = [
        plain_text(f"{view}: {feature}")
        for view, feature in zip(shown["view"], shown["feature"], strict=True)
    ]
    ax.set_yticks(range(rows.size), labels, parse_math=False)
    end = strips.shape[1] - 0.5
    ax.set_xticks([-0.5, end], ["low", "high"])
    for strip, strength in enumerate(shown["strength"]):
        ax.text(end + 0.15, strip, f"{strength:.2f}", va="center", color=INK, fontsize="small")
    if legend:
        bar = add_colour_bar(ax, drawn, pad=0.1)
        bar.set_ticks([0.0, 0.5, 1.0])
        bar.set_label("mean rank of the feature", color=INK, fontsize="small")
    return ax


def stability(
    found: Any,
    column: str | int = 0,
    *,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """The Axes with one column of the embedding and its interval for each sample.

    Parameters
    ----------
    found : Stability
        The result of `viewhop.stability`.
    column : str or int
        Name or number, from 0, of the column of the embedding.
    ax : matplotlib Axes or None
        Where to draw; None makes a new figure.
    title : str or None
        Title of the Axes; None takes the name of the column.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import viewhop as vh
    >>> rolls = vh.datasets.make_swiss_rolls(n_samples=100, random_state=0)
    >>> est = vh.MultiViewDiffusionMaps(1, kernel="gaussian", random_state=0).fit(rolls.views)
    >>> ax = vh.plotting.stability(vh.stability(est, rolls.views, n_repeats=3))
    >>> ax.get_xlabel()
    'samples in order'
    """
    name = _chosen(found.names, column)
    k = found.names.index(name)
    order = np.argsort(found.embedding[:, k], kind="stable")
    ax = make_axes(ax, figsize=(6.4, 3.6))
    tidy_axes(ax, str(name) if title is None else title)
    places = np.arange(order.size)
    ax.fill_between(
        places,
        found.low[order, k],
        found.high[order, k],
        color=PALETTE[0],
        alpha=0.3,
        linewidth=0,
        label=f"{found.level:.0%} of the subsamples".replace("%", " %"),
    )
    ax.plot(places, found.embedding[order, k], color=INK, linewidth=1.2, label="all samples")
    ax.set_xlabel("samples in order")
    ax.set_ylabel("coordinate")
    ax.legend(frameon=False, fontsize="small", labelcolor=INK)
    return ax


def _chosen(names: list[str], chosen: str | int) -> str:
    """The name itself, or that at a position; ValueError if there is none."""
    if isinstance(chosen, str):
        if chosen not in names:
            raise ValueError(f"there is no {chosen!r}; choose from {', '.join(names)}")
        return chosen
    if not 0 <= chosen < len(names):
        raise ValueError(f"there are {len(names)}, numbered from 0, got {chosen}")
    return names[chosen]
