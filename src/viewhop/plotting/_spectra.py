"""The plot of a spectrum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from viewhop.plotting._style import INK, PALE, PALETTE, make_axes, tidy_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["spectrum"]


def spectrum(
    eigenvalues: ArrayLike | Any,
    *,
    n_components: int | None = None,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """The Axes with the decay of the eigenvalues.

    Parameters
    ----------
    eigenvalues : (n,) array, Spectrum or fitted estimator
        The eigenvalues λ_1, λ_2, …, without the trivial λ_0 = 1.
    n_components : int or None
        The number r of coordinates in use, which is marked; None marks nothing.
    ax : matplotlib Axes or None
        Where to draw; None makes a new figure.
    title : str or None
        Title of the Axes.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from viewhop import plotting
    >>> ax = plotting.spectrum([0.9, 0.8, 0.2, 0.1], n_components=2)
    >>> ax.get_ylabel()
    'eigenvalue'
    """
    values = _eigenvalues(eigenvalues)
    if n_components is not None and not 1 <= n_components <= len(values):
        raise ValueError(
            f"n_components must be between 1 and the number of eigenvalues {len(values)}, "
            f"got {n_components}"
        )
    kept = len(values) if n_components is None else n_components
    ax = make_axes(ax, figsize=(5.4, 3.6))
    order = np.arange(1, len(values) + 1)
    ax.plot(order, values, color=PALE, linewidth=1, zorder=1)
    ax.scatter(order[:kept], values[:kept], s=26, color=PALETTE[0], linewidths=0, zorder=3)
    ax.scatter(
        order[kept:], values[kept:], s=22, facecolors="white", edgecolors="#909090", zorder=3
    )
    ax.set_ylim(min(0.0, float(values.min()) * 1.05), max(1.0, float(values.max())) * 1.05)
    ax.set_xlim(0.3, len(values) + 0.7)
    if n_components is not None:
        _mark_rank(ax, kept, len(values))
    ax.set_xlabel("k")
    ax.set_ylabel("eigenvalue")
    tidy_axes(ax, title, whole_x=True)
    return ax


def _mark_rank(ax: Axes, rank: int, n_values: int) -> None:
    """Draw a line after the first `rank` eigenvalues, labelled on the side with more room."""
    ax.axvline(rank + 0.5, color=INK, linewidth=0.8, linestyle=(0, (4, 3)), zorder=2)
    ax.annotate(
        f"r = {rank}",
        (rank + 0.5, 1),
        xycoords=ax.get_xaxis_transform(),
        xytext=(-5, -4) if rank > n_values / 2 else (5, -4),
        textcoords="offset points",
        ha="right" if rank > n_values / 2 else "left",
        va="top",
        fontsize="small",
        color=INK,
    )


def _eigenvalues(source: Any) -> NDArray[np.float64]:
    for name in ("eigenvalues_", "eigenvalues"):
        source = getattr(source, name, source)
    values = np.asarray(source, dtype=np.float64)
    if values.ndim != 1 or len(values) == 0:
        raise ValueError(
            "expected a list of eigenvalues, a Spectrum or a fitted estimator, "
            f"got an array of shape {values.shape}"
        )
    return values
