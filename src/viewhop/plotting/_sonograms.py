"""The plot of a sonogram."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from viewhop.plotting._style import INK, add_colour_bar, make_axes, tidy_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Normalize

__all__ = ["sonogram"]


def sonogram(
    S: ArrayLike,
    *,
    sampling_rate: float = 40.0,
    edges: ArrayLike | None = None,
    window: int = 256,
    shift: int = 25,
    ax: Axes | None = None,
    title: str | None = None,
    legend: bool = True,
) -> Axes:
    """The Axes with the energy of a trace by time and frequency band.

    Parameters
    ----------
    S : (n_bands, n_frames) array
        The sonogram of one trace, as `seismic.sonogram.sonogram` returns it; the first row is the
        lowest band.
    sampling_rate : float
        Samples per second of the trace, after resampling.
    edges : (n_bands + 1,) array or None
        Band edges in Hz, as `seismic.sonogram.band_edges` returns them. None takes equal steps on
        a logarithmic scale from one cycle per window to half the sampling rate; the actual edges
        differ from these by rounding to whole bins.
    window, shift : int
        Number of samples in a time window, and between the starts of consecutive windows.
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
    A frame is drawn around the middle of its window, in seconds from the first sample. Colours
    follow the square root of the share, so that the coda remains visible next to the arrivals.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from viewhop import plotting
    >>> ax = plotting.sonogram(np.full((14, 192), 1 / 192))
    >>> ax.get_xlabel(), ax.get_ylabel(), ax.get_yscale()
    ('time [s]', 'frequency [Hz]', 'log')
    """
    shares = _checked_shares(S)
    bounds = _band_edges(edges, len(shares), sampling_rate, window)
    starts = np.arange(shares.shape[1] + 1) * shift + (window - shift) / 2
    ax = make_axes(ax, figsize=(7.2, 3.2))
    drawn = ax.pcolormesh(
        starts / sampling_rate, bounds, shares, cmap="viridis", norm=_norm(shares), rasterized=True
    )
    tidy_axes(ax, title)
    _label_frequencies(ax, bounds)
    ax.set_xlabel("time [s]")
    if legend:
        bar = add_colour_bar(ax, drawn, pad=0.02)
        bar.set_label("share of the band's energy", color=INK, fontsize="small")
    return ax


def _checked_shares(S: ArrayLike) -> NDArray[np.float64]:
    shares = np.asarray(S, dtype=np.float64)
    if shares.ndim != 2 or shares.size == 0:
        raise ValueError(
            f"S must be the sonogram of one trace, (n_bands, n_frames), got {shares.shape}; "
            "draw several one at a time"
        )
    if not np.isfinite(shares).all() or shares.min() < 0:
        raise ValueError("S must contain shares of energy, finite and not negative")
    return shares


def _band_edges(
    edges: ArrayLike | None, n_bands: int, sampling_rate: float, window: int
) -> NDArray[np.float64]:
    if edges is None:
        return np.geomspace(sampling_rate / window, sampling_rate / 2, n_bands + 1)
    frequencies = np.asarray(edges, dtype=np.float64)
    if frequencies.shape != (n_bands + 1,) or not (np.diff(frequencies, prepend=0) > 0).all():
        raise ValueError(
            f"edges must be {n_bands + 1} increasing positive frequencies, one more than there are "
            f"bands; got an array of shape {frequencies.shape}"
        )
    return frequencies


def _norm(shares: NDArray[np.float64]) -> Normalize:
    from matplotlib.colors import PowerNorm

    return PowerNorm(0.5, vmin=0.0, vmax=float(shares.max()) or 1.0)


def _label_frequencies(ax: Axes, edges: NDArray[np.float64]) -> None:
    """A logarithmic axis with plain numbers at 1, 2 and 5 times powers of ten."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    ax.set_yscale("log")
    ax.set_ylim(edges[0], edges[-1])
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.set_ylabel("frequency [Hz]")
