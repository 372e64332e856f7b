"""The plot of the samples on which views disagree."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from viewhop.plotting._drawn_text import plain_text
from viewhop.plotting._read_array import read_array
from viewhop.plotting._style import INK, PALE, PALETTE, make_axes, tidy_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["disagreement"]

#: Characters of the name of a view.
LONGEST_NAME = 26
#: Smaller distances are drawn at this value: how much smaller they are is of no interest.
_LEAST = 0.02
#: Half the height of a strip where it is densest and sparsest; strips are 1 apart.
_FULLEST, _EMPTIEST = 0.4, 0.03
#: Largest number of ordinary samples drawn; more are thinned out to this number.
_MOST_ORDINARY = 3_000
#: With more samples than this, a strip is rasterised in vector formats.
_MOST_VECTORS = 10_000
#: In points: the font size of a label, the width of a letter, the space for the dot.
_SIZE, _LETTER, _DOT = 7.5, 4.6, 5.0


def disagreement(
    values: ArrayLike,
    names: Iterable[str],
    *,
    labels: ArrayLike | None = None,
    top: int = 5,
    ax: Axes | None = None,
    title: str | None = None,
    legend: bool = True,
) -> Axes:
    """The Axes with one strip of dots per view: its distance from the other views, by sample.

    Parameters
    ----------
    values : (n_samples, n_views) array
        The result of `disagreement` of a fitted estimator: distances, in units of each view's
        median. NaN, where the view or all others did not observe the sample, is left out.
    names : n_views str
        Names of the views, from top to bottom.
    labels : (n_samples,) array-like or None
        Names of the samples; None takes row numbers, counted from 0.
    top : int
        Number of samples to label: those with the largest values in any view. Each is labelled in
        every view in which it exceeds the median and is among the `top` largest.
    ax : matplotlib Axes or None
        Where to draw; None makes a new figure.
    title : str or None
        Title of the Axes.
    legend : bool
        Whether to explain the colour of the highest tenth above the strips.

    Returns
    -------
    matplotlib Axes

    Notes
    -----
    The height of a dot within its strip has no meaning; a strip is higher where samples are
    denser. Values below 0.02 are drawn at 0.02. If more than 3000 samples are outside the highest
    tenth, 3000 of them, evenly spaced by rank, are drawn; the highest tenth is always complete.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from viewhop import plotting
    >>> values = np.random.default_rng(0).uniform(0.5, 1.5, (100, 2))
    >>> values[17, 1] = 8
    >>> ax = plotting.disagreement(values, ["sound", "image"], top=1)
    >>> [text.get_text() for text in ax.texts]
    ['17']
    """
    names = [plain_text(name, LONGEST_NAME) for name in names]
    distances = _distances(values, len(names))
    ids = _ids(labels, len(distances))
    if top < 0:
        raise ValueError(f"top must be 0 or more, got {top}")
    high = distances > _quantile(distances, 0.9)
    named = _standing_out(distances, top)
    shown = np.maximum(distances, _LEAST)
    ax = make_axes(ax, figsize=(6.4, 1.1 + 0.55 * max(len(names), 3)))
    tidy_axes(ax, title)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.axvline(1, color=INK, linewidth=0.8, linestyle=(0, (4, 3)), zorder=3)
    _set_scale(ax, shown, [(shown[row, view], ids[row]) for row, view in np.argwhere(named)])
    for view, column in enumerate(shown.T):
        if np.isnan(column).all():
            _draw_no_data(ax, view)
            continue
        _draw_strip(ax, view, column, high=high[:, view], named=named[:, view])
        _draw_named(ax, view, column[named[:, view]], ids[named[:, view]])
    ax.set_yticks(range(len(names)), names, parse_math=False)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.set_xlabel("distance from the other views (median = 1)")
    if legend:
        _draw_legend(ax)
    return ax


def _distances(values: ArrayLike, n_views: int) -> NDArray[np.float64]:
    distances = read_array(
        values,
        "values must be distances (n_samples, n_views), as est.disagreement() returns them",
    )
    if distances.ndim != 2 or 0 in distances.shape:
        raise ValueError(
            "values must be (n_samples, n_views) with at least one sample and one view, "
            f"got {distances.shape}"
        )
    if distances.shape[1] != n_views:
        raise ValueError(f"names must have one entry per view: {distances.shape[1]}, got {n_views}")
    wrong = np.argwhere((distances < 0) | np.isinf(distances))
    if len(wrong):
        row, view = wrong[0]
        raise ValueError(
            "values must be distances, finite and not negative, or NaN where unknown, "
            f"got {distances[row, view]} in row {row}, column {view}"
        )
    return distances


def _ids(labels: ArrayLike | None, n_samples: int) -> NDArray[Any]:
    ids = np.arange(n_samples) if labels is None else np.asarray(labels)
    if ids.shape != (n_samples,):
        raise ValueError(
            f"labels must have one entry per sample: {n_samples}, got an array of shape {ids.shape}"
        )
    return np.array([plain_text(label) for label in ids], dtype=object)


def _quantile(distances: NDArray[np.float64], share: float) -> NDArray[np.float64]:
    """Quantile of each view's distances, (n_views,); NaN for a view without any."""
    known = [column[~np.isnan(column)] for column in distances.T]
    return np.array([np.quantile(column, share) if len(column) else np.nan for column in known])


def _standing_out(distances: NDArray[np.float64], top: int) -> NDArray[np.bool_]:
    """Mask of the dots to label, (n_samples, n_views)."""
    known = np.nan_to_num(distances, nan=0.0)
    farthest = np.argsort(-known, axis=0, kind="stable")[:top]
    of_view = np.zeros(distances.shape, dtype=np.bool_)
    np.put_along_axis(of_view, farthest, True, axis=0)
    of_all = np.zeros(len(distances), dtype=np.bool_)
    of_all[np.argsort(-known.max(axis=1), kind="stable")[:top]] = True
    beyond_median = distances > _quantile(distances, 0.5)
    return beyond_median & of_view & of_all[:, None]


def _set_scale(ax: Axes, shown: NDArray[np.float64], labelled: list[tuple[float, Any]]) -> None:
    """Set a logarithmic axis with all values, the median, and room for labels on the right."""
    from matplotlib.ticker import NullLocator

    logs = np.log10(shown[~np.isnan(shown)])
    low = float(logs.min(initial=np.log10(0.5))) - 0.04
    high = float(logs.max(initial=np.log10(2.0))) + 0.04
    width, _ = _extent(ax)
    for value, text in labelled:
        share = max(1 - _length(text) / width, 0.5)
        high = max(high, low + (float(np.log10(value)) - low) / share)
    ax.set_xscale("log")
    ax.set_xlim(10**low, 10**high)
    cut = bool(np.any(shown <= _LEAST))
    ticks = [tick for tick in _ticks(low, high, most=width / 34) if not cut or tick > 1.5 * _LEAST]
    names = [f"{tick:g}" for tick in ticks]
    if cut:
        ticks, names = [_LEAST, *ticks], [f"≤ {_LEAST:g}", *names]
    ax.set_xticks(ticks, names)
    ax.xaxis.set_minor_locator(NullLocator())


def _ticks(low: float, high: float, *, most: float) -> list[float]:
    """Round numbers between 10**low and 10**high, always including 1."""
    decades = np.arange(np.floor(low), np.ceil(high) + 1)
    for digits, apart in (((1, 2, 5), 1), ((1,), 1), ((1,), 2), ((1,), 5)):
        grid = np.multiply.outer(10.0 ** decades[decades % apart == 0], digits).ravel()
        ticks = [float(tick) for tick in grid if 10**low <= tick <= 10**high]
        if len(ticks) <= most:
            break
    return ticks


def _draw_strip(
    ax: Axes,
    view: int,
    column: NDArray[np.float64],
    *,
    high: NDArray[np.bool_],
    named: NDArray[np.bool_],
) -> None:
    """Draw the unlabelled dots of one view: ordinary ones, and those of the highest tenth."""
    known = ~np.isnan(column)
    heights = np.full(len(column), float(view))
    heights[known] += _spread(column[known])
    ordinary = np.flatnonzero(known & ~high & ~named)
    if len(ordinary) > _MOST_ORDINARY:
        ordinary = ordinary[np.argsort(column[ordinary], kind="stable")]
        ordinary = ordinary[np.linspace(0, len(ordinary) - 1, _MOST_ORDINARY).astype(int)]
    for rows, colour in ((ordinary, PALE), (np.flatnonzero(high & ~named), PALETTE[0])):
        ax.scatter(
            column[rows],
            heights[rows],
            s=float(np.clip(150 / known.sum() ** 0.5, 2, 14)),
            color=colour,
            alpha=0.85,
            linewidths=0,
            zorder=2,
            rasterized=known.sum() > _MOST_VECTORS,
        )


def _spread(column: NDArray[np.float64]) -> NDArray[np.float64]:
    """Offsets of the dots from the middle of the strip, larger where samples are dense."""
    logs = np.log10(column)
    counts, edges = np.histogram(logs, bins=int(np.clip(len(logs) ** 0.5, 8, 60)))
    smooth = np.convolve(np.pad(counts, 1), (0.25, 0.5, 0.25), mode="valid")
    density = np.interp(logs, (edges[1:] + edges[:-1]) / 2, smooth)
    widest = np.maximum(_FULLEST * density / density.max(), _EMPTIEST)
    spread: NDArray[np.float64] = widest * np.random.default_rng(0).uniform(-1, 1, len(logs))
    return spread


def _draw_named(ax: Axes, view: int, values: NDArray[np.float64], ids: NDArray[Any]) -> None:
    """Draw the labelled dots of one view, on lines and sides where labels overlap least."""
    from matplotlib.patheffects import withStroke

    width, height = _extent(ax)
    low, high = np.log10(ax.get_xlim())
    step = 1.2 * _SIZE * float(np.ptp(ax.get_ylim())) / height
    around = int(_FULLEST / step)
    lines = sorted(range(-around, around + 1), key=abs)
    taken: list[tuple[int, float, float]] = []
    for i in np.argsort(-values, kind="stable"):
        place, length = width * (np.log10(values[i]) - low) / (high - low), _length(ids[i])
        ways = [(line, place - _DOT / 2, place + length, "left") for line in lines]
        ways += [(line, place - length, place + _DOT / 2, "right") for line in lines]
        line, start, end, align = min(ways, key=lambda way: _overlap(way[:3], taken))
        taken.append((line, start, end))
        ax.plot(values[i], view + line * step, "o", color=PALETTE[2], markersize=4, zorder=4)
        ax.annotate(
            str(ids[i]),
            (values[i], view + line * step),
            xytext=(_DOT if align == "left" else -_DOT, 0),
            textcoords="offset points",
            ha=align,
            va="center",
            fontsize=_SIZE,
            color=INK,
            parse_math=False,
            path_effects=[withStroke(linewidth=2, foreground="white")],
            zorder=5,
        )


def _draw_no_data(ax: Axes, view: int) -> None:
    from matplotlib.patheffects import withStroke

    ax.text(
        1,
        view,
        "nothing known",
        ha="center",
        va="center",
        fontsize="small",
        color=INK,
        path_effects=[withStroke(linewidth=5, foreground="white")],
        zorder=5,
    )


def _extent(ax: Axes) -> tuple[float, float]:
    """Width and height of the Axes in points, before the layout makes room for the names."""
    extent = ax.get_window_extent()
    return extent.width / ax.figure.dpi * 72, extent.height / ax.figure.dpi * 72


def _length(text: Any) -> float:
    """Approximate length of a label with its dot, in points."""
    return _DOT + _LETTER * len(str(text))


def _overlap(label: tuple[int, float, float], taken: Iterable[tuple[int, float, float]]) -> float:
    """Length of the overlap of a label with those on its line."""
    line, start, end = label
    return sum(max(min(end, e) - max(start, s), 0) for other, s, e in taken if other == line)


def _draw_legend(ax: Axes) -> None:
    from matplotlib.lines import Line2D

    dot = Line2D(
        [], [], linestyle="none", marker="o", color=PALETTE[0], markersize=4, markeredgewidth=0
    )
    ax.legend(
        [dot],
        ["highest tenth of a view"],
        loc="lower right",
        bbox_to_anchor=(1.0, 1.0),
        frameon=False,
        fontsize="small",
        labelcolor=INK,
        handletextpad=0.1,
        borderpad=0.1,
        borderaxespad=0.2,
    )
