"""Plots of the choice of scales."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from viewhop.plotting._drawn_text import draw_literally
from viewhop.plotting._style import INK, PALE, PALETTE, add_colour_bar, make_axes, tidy_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from viewhop.bandwidth import JointScales

__all__ = ["bandwidth_slice", "bandwidth_surface"]


def bandwidth_surface(
    joint: JointScales,
    *,
    pair: tuple[str, str] | None = None,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """The Axes with log S over the scales of two views, and the chosen scales.

    Parameters
    ----------
    joint : JointScales
        The result of `viewhop.bandwidth.joint`.
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
    The left part of the paper's figure for Algorithm 1. The colour scale runs between the two
    asymptotes: log M, where both kernels are the identity, and 3 log M, where both are constant.

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
    first, second = _pair(joint, pair)
    surface = joint.surfaces[first, second]
    ax = make_axes(ax, figsize=(5.4, 4.4))
    drawn = ax.pcolormesh(
        surface.scales, surface.other_scales, surface.values.T, cmap="viridis", shading="nearest"
    )
    ax.contour(
        surface.scales, surface.other_scales, surface.values.T, 12, colors="white", linewidths=0.4
    )
    ax.plot(joint.scales[first], joint.scales[second], "o", color="white", markersize=7)
    ax.plot(joint.scales[first], joint.scales[second], "o", color=PALETTE[2], markersize=4)
    add_colour_bar(ax, drawn, pad=0.03).set_label("log S", color=INK)
    draw_literally(ax.xaxis.label, f"scale of {first}")
    draw_literally(ax.yaxis.label, f"scale of {second}")
    tidy_axes(ax, title)
    ax.set_xscale("log")
    ax.set_yscale("log")
    return ax


def bandwidth_slice(
    joint: JointScales,
    *,
    pair: tuple[str, str] | None = None,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """The Axes with log S over one scale, its linear range, and the chosen scale.

    The other scale is at its minimum.

    Parameters
    ----------
    joint, pair, ax, title
        As in `bandwidth_surface`; the scale of the first view of the pair varies.

    Returns
    -------
    matplotlib Axes

    Notes
    -----
    The right part of the paper's figure for Algorithm 1. The linear range of this slice is shaded,
    by the rule that found the scales; the scale may lie above its lower end, because all slices
    have a say.

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
    first, second = _pair(joint, pair)
    surface = joint.surfaces[first, second]
    values = surface.values[:, 0]
    ax = make_axes(ax, figsize=(5.4, 3.6))
    for end in (values.min(), values.max()):
        ax.axhline(end, color=PALE, linewidth=0.8, linestyle=(0, (4, 3)))
    low, high = joint.ranges[first, second][0]
    if np.isfinite(low):
        ax.axvspan(low, high, color=PALE, alpha=0.35, linewidth=0)
    ax.plot(surface.scales, values, color=PALETTE[0], linewidth=1.8)
    chosen = joint.scales[first]
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
    draw_literally(ax.xaxis.label, f"scale of {first}")
    ax.set_ylabel("log S")
    tidy_axes(ax, title)
    ax.set_xscale("log")
    return ax


def _pair(joint: Any, pair: tuple[str, str] | None) -> tuple[str, str]:
    if pair is None:
        first, second = next(iter(joint.surfaces))
        return first, second
    if tuple(pair) not in joint.surfaces:
        pairs = ", ".join(map(str, joint.surfaces))
        raise ValueError(f"no surface for the pair {pair!r}; there are {pairs}")
    return pair
