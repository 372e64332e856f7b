"""Pictures of how scales are chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from viewhop.plotting._style import INK, PALE, PALETTE, make_axes, tidy_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from viewhop.bandwidth import JointScales

__all__ = ["bandwidth_slice", "bandwidth_surface"]


def bandwidth_surface(
    found: JointScales,
    *,
    pair: tuple[str, str] | None = None,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """The Axes with log S over the scales of two views, and the scales that were chosen.

    Parameters
    ----------
    found : JointScales
        What `viewhop.bandwidth.joint` returns.
    pair : pair of str or None
        Names of the two views, horizontal and vertical; None takes the first pair.
    ax : matplotlib Axes or None
        Where to draw; None makes a new figure.
    title : str or None
        Title of the Axes.

    Returns
    -------
    matplotlib Axes

    Notes
    -----
    The left part of the paper's figure for Algorithm 1. The ends of the colour bar are the two
    asymptotes: log M where both kernels are the identity, and 3 log M where both are constant.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import viewhop as vh
    >>> rolls = vh.datasets.make_swiss_rolls(200, noise=0.1, random_state=0)
    >>> ax = vh.plotting.bandwidth_surface(vh.bandwidth.joint(rolls.views))
    >>> ax.get_xlabel()
    'scale of x'
    """
    first, second = _pair(found, pair)
    surface = found.surfaces[first, second]
    ax = make_axes(ax, figsize=(5.4, 4.4))
    drawn = ax.pcolormesh(
        surface.scales, surface.other_scales, surface.values.T, cmap="viridis", shading="nearest"
    )
    ax.contour(
        surface.scales, surface.other_scales, surface.values.T, 12, colors="white", linewidths=0.4
    )
    ax.plot(found.scales[first], found.scales[second], "o", color="white", markersize=7)
    ax.plot(found.scales[first], found.scales[second], "o", color=PALETTE[2], markersize=4)
    bar = ax.figure.colorbar(drawn, ax=ax, aspect=26, pad=0.03)
    bar.outline.set_visible(False)
    bar.set_label("log S", color=INK)
    bar.ax.tick_params(length=0, labelsize="small", labelcolor=INK)
    ax.set_xlabel(f"scale of {first}")
    ax.set_ylabel(f"scale of {second}")
    tidy_axes(ax, title)
    ax.set_xscale("log")
    ax.set_yscale("log")
    return ax


def bandwidth_slice(
    found: JointScales,
    *,
    pair: tuple[str, str] | None = None,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """The Axes with log S over one scale, the other at its smallest, and the chosen scale.

    Parameters
    ----------
    found, pair, ax, title
        As in `bandwidth_surface`; the scale of the first view of the pair runs.

    Returns
    -------
    matplotlib Axes

    Notes
    -----
    The right part of the paper's figure for Algorithm 1.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import viewhop as vh
    >>> rolls = vh.datasets.make_swiss_rolls(200, noise=0.1, random_state=0)
    >>> ax = vh.plotting.bandwidth_slice(vh.bandwidth.joint(rolls.views))
    >>> ax.get_ylabel()
    'log S'
    """
    first, second = _pair(found, pair)
    surface = found.surfaces[first, second]
    values = surface.values[:, 0]
    ax = make_axes(ax, figsize=(5.4, 3.6))
    for end in (values.min(), values.max()):
        ax.axhline(end, color=PALE, linewidth=0.8, linestyle=(0, (4, 3)))
    ax.plot(surface.scales, values, color=PALETTE[0], linewidth=1.8)
    chosen = found.scales[first]
    height = float(np.interp(np.log(chosen), np.log(surface.scales), values))
    ax.plot(chosen, height, "o", color=PALETTE[2], markersize=6)
    ax.annotate(
        f"σ = {chosen:.3g}",
        (chosen, height),
        xytext=(8, -10),
        textcoords="offset points",
        fontsize="small",
        color=INK,
    )
    ax.set_xlabel(f"scale of {first}")
    ax.set_ylabel("log S")
    tidy_axes(ax, title)
    ax.set_xscale("log")
    return ax


def _pair(found: Any, pair: tuple[str, str] | None) -> tuple[str, str]:
    if pair is None:
        first, second = next(iter(found.surfaces))
        return first, second
    if tuple(pair) not in found.surfaces:
        known = ", ".join(map(str, found.surfaces))
        raise ValueError(f"no surface for the pair {pair!r}; there are {known}")
    return pair
