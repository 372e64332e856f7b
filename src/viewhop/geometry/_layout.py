"""The layout of all samples of a fit in two dimensions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike, NDArray

from viewhop._runtime.progress import Progress, no_progress
from viewhop.geometry._require import Source, require_geometry
from viewhop.geometry._tsne import draw_map, has_tsne

__all__ = ["Layout", "lay_out"]

Floats = NDArray[np.float64]

#: t-SNE needs at least this many samples.
FEWEST = 10
#: What to install for a map.
NO_TSNE = 'a map needs openTSNE (pip install "viewhop[map]")'


@dataclass(frozen=True, eq=False)
class Layout:
    """Positions of all samples in the plane, and the rule that places new ones among them.

    Attributes
    ----------
    positions : (n_samples, 2) array
        Read-only.
    method : {"tsne", "coordinates"}
        "tsne" is a map: neighbours are near each other, but the axes and the distances between
        groups have no meaning. "coordinates" are the first two coordinates.
    note : str
        Why there is no map, or how one was made that is not plain; "" otherwise.
    n_columns : int
        Columns of the embedding.
    rule : callable
        Positions of rows of the embedding.

    Examples
    --------
    >>> import viewhop as vh
    >>> circles = vh.datasets.make_circles(60, random_state=0)
    >>> est = vh.MultiViewDiffusionMaps(2, kernel="gaussian", random_state=0).fit(circles.views)
    >>> layout = vh.lay_out(est)
    >>> layout.place(est.transform(circles.views[:5])).shape
    (5, 2)
    """

    positions: NDArray[np.floating] = field(repr=False)
    method: str
    note: str
    n_columns: int = field(repr=False)
    rule: Callable[[Floats], Floats] = field(repr=False)

    def __len__(self) -> int:
        """Number of samples."""
        return len(self.positions)

    def place(self, embedding: ArrayLike) -> NDArray[np.floating]:
        """Positions of new samples, (n_new, 2); the others stay where they are.

        Each sample is placed by itself: a batch gives the same positions as its rows one by one.

        Parameters
        ----------
        embedding : (n_new, n_columns) array
            The embedding of the new samples, as ``transform`` of the estimator returns it.

        Raises
        ------
        ValueError
            If the embedding has another number of columns, or is not finite.
        """
        rows = np.asarray(embedding, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != self.n_columns:
            raise ValueError(
                f"expected the embedding of new samples, (n_new, {self.n_columns}), got an array "
                f"of shape {rows.shape}; pass what transform returns"
            )
        if not np.isfinite(rows).all():
            raise ValueError("the embedding of new samples has values that are not finite")
        return self.rule(rows).astype(self.positions.dtype)


def lay_out(
    source: Source,
    *,
    max_samples: int | None = 20_000,
    random_state: int | np.random.Generator | None = 0,
    n_jobs: int | None = None,
    progress: Progress = no_progress,
) -> Layout:
    """The layout of all training samples: a map, or the first two coordinates without the extra.

    The map is a t-SNE of the whole embedding, so it shows groups that the first two coordinates
    put on top of each other.

    Parameters
    ----------
    source : fitted estimator with a geometry, or Geometry
    max_samples : int or None
        With more samples than this, as many are drawn at random and laid out, and the others are
        placed among them; None lays out all.
    random_state : int, Generator or None
        The same seed gives the same positions, to the last bit, for any number of threads.
    n_jobs : int or None
        Number of threads; None is one, because more save little, and cost time on busy cores.
    progress : callable
        ``progress(stage, done, total)``.

    Returns
    -------
    Layout
        With ``method="coordinates"`` and a note if openTSNE is not installed, there are fewer than
        10 samples, or all have the same coordinates.

    Notes
    -----
    t-SNE starts from the first two diffusion coordinates, averaged over the views. This makes the
    arrangement of the groups reproducible, and close to that of the coordinates. On one core, 2,000
    samples take 3 seconds and 20,000 take 15; placing others takes 0.1 ms each.

    Examples
    --------
    >>> import viewhop as vh
    >>> digits = vh.datasets.load_mfeat()
    >>> est = vh.MultiViewDiffusionMaps(9, random_state=0).fit(digits.views[:300])
    >>> vh.lay_out(est).positions.shape
    (300, 2)
    """
    geometry = require_geometry(source)
    if max_samples is not None and not (
        isinstance(max_samples, Integral) and max_samples >= FEWEST
    ):
        raise ValueError(
            f"max_samples must be None or an integer of at least {FEWEST}, got {max_samples!r}"
        )
    embedding = geometry.embedding()
    rows = embedding.astype(np.float64)
    n, n_columns = rows.shape
    first_two = partial(_first_two, n_components=geometry.n_components)
    start = first_two(rows)
    why_not = _why_not(rows)
    if why_not:
        return Layout(_frozen(start, embedding.dtype), "coordinates", why_not, n_columns, first_two)
    generator = np.random.default_rng(random_state)
    is_drawn, note = np.ones(n, dtype=bool), ""
    if max_samples is not None and n > max_samples:
        is_drawn = np.zeros(n, dtype=bool)
        is_drawn[generator.choice(n, int(max_samples), replace=False)] = True
        note = f"{max_samples:,} of {n:,} samples were laid out, and the others placed among them"
    tsne = draw_map(
        rows[is_drawn], start[is_drawn], generator=generator, n_jobs=n_jobs, progress=progress
    )
    positions = np.empty((n, 2))
    positions[is_drawn] = tsne.positions
    positions[~is_drawn] = tsne.place(rows[~is_drawn], progress=progress)
    return Layout(_frozen(positions, embedding.dtype), "tsne", note, n_columns, tsne.place)


def _why_not(rows: Floats) -> str:
    """Why t-SNE cannot lay out these samples; "" if it can."""
    if len(rows) < FEWEST:
        return f"a map needs at least {FEWEST} samples"
    if not np.ptp(rows, axis=0).any():
        return "a map needs samples with different coordinates"
    return "" if has_tsne() else NO_TSNE


def _first_two(rows: Floats, *, n_components: int) -> Floats:
    """The first two coordinates, averaged over the blocks; zeros next to a single coordinate."""
    blocks = rows.reshape(len(rows), -1, n_components)[:, :, :2]
    two = np.zeros((len(rows), 2))
    two[:, : blocks.shape[2]] = blocks.mean(axis=1)
    return two


def _frozen(positions: Floats, dtype: np.dtype[np.floating]) -> NDArray[np.floating]:
    """The positions with the precision of the embedding, read-only."""
    copy = positions.astype(dtype)
    copy.flags.writeable = False
    return copy
