"""The pieces of a walk one at a time: what is inside each of them.

The first coordinates of a walk in pieces only tell the pieces apart: on each of them they are
constant. The eigenvectors of a piece alone, with zeros elsewhere, are eigenvectors of the whole
walk as well, which come later in its spectrum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral

import numpy as np
from numpy.typing import NDArray

from viewhop._runtime.progress import Progress, no_progress
from viewhop.geometry._coordinates import check_time, coordinates
from viewhop.geometry._geometry import Geometry
from viewhop.geometry._require import Source, require_geometry
from viewhop.solvers import keep_positive, solve, trivial_pairs
from viewhop.spectrum import Spectrum
from viewhop.walks import PieceWalk, Walk, check_markov

__all__ = ["PieceCoordinates", "add_pieces", "piece_coordinates", "piece_labels", "piece_sizes"]

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]

#: Coordinates between pieces that `add_pieces` keeps.
MOST_BETWEEN = 32


@dataclass(frozen=True, eq=False)
class PieceCoordinates:
    """The coordinates of the samples in one piece of a walk.

    Attributes
    ----------
    samples : (m,) index array
        The samples of the piece.
    nodes : (p,) index array
        Its nodes of the walk: one per sample and view.
    eigenvalues : (r,) array
        Of the walk on the piece alone, without the trivial 1.
    blocks : tuple of arrays
        Coordinates in each view, a row for each row of `Geometry.by_row`; NaN outside the piece. A
        fused geometry has one block.
    spectrum : Spectrum
        Eigenpairs of the walk on the piece, by node.
    """

    samples: Labels
    nodes: Labels
    eigenvalues: Floats
    blocks: tuple[Floats, ...]
    spectrum: Spectrum


def piece_labels(source: Source) -> Labels:
    """The piece of each training sample, (n_samples,), numbered from 0, the largest first.

    If the walker never goes between some views, a sample is in several pieces; this is the largest.

    Parameters
    ----------
    source : fitted estimator or Geometry

    Examples
    --------
    >>> import numpy as np
    >>> import viewhop as vh
    >>> from viewhop.geometry import piece_labels
    >>> rows = np.r_[np.arange(12.0), 1000 + np.arange(20.0)][:, None]
    >>> kernel = vh.kernels.Gaussian(1.0, n_neighbors=2)
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", vh.errors.DisconnectedWarning)
    ...     est = vh.DiffusionMaps(2, kernel=kernel).fit(rows)
    >>> np.bincount(piece_labels(est)).tolist()
    [20, 12]
    """
    walk = require_geometry(source).walk
    return _by_sample(walk, _rank_pieces(walk.pieces()))


def piece_sizes(source: Source) -> Labels:
    """The number of samples in each piece, (n_pieces,), in the order of `piece_labels`.

    Parameters
    ----------
    source : fitted estimator or Geometry
    """
    walk = require_geometry(source).walk
    labels = _rank_pieces(walk.pieces())
    reached = labels >= 0
    pairs = np.unique(np.stack([labels, walk.node_samples])[:, reached], axis=1)
    return np.bincount(pairs[0])


def piece_coordinates(
    source: Source,
    piece: int = 0,
    *,
    n_components: int | None = None,
    n_steps: float | None = None,
    tol: float | None = None,
    progress: Progress = no_progress,
) -> PieceCoordinates:
    """The coordinates of the samples in one piece of the walk, as if there were no other.

    Parameters
    ----------
    source : fitted estimator or Geometry
    piece : int
        Number of the piece, as in `piece_labels`; 0 is the largest.
    n_components : int or None
        Number of coordinates; None takes that of the fit. There are fewer if the piece is small.
    n_steps : float or None
        Diffusion time t; None takes that of the fit.
    tol : float or None
        Residual at which an eigenpair is accepted, as in the fit.
    progress : callable
        ``progress(stage, done, total)``.

    Raises
    ------
    ValueError
        If there is no such piece, or it has no coordinates: it is a single node, for example. Also
        for a fusion that is no random walk: each of its coordinates is about one piece already.

    Notes
    -----
    The walk is that of the fit, restricted to the piece, so neither kernels nor scales change. The
    stationary distribution of the piece sums to 1, and its eigenvectors are scaled by it.

    Examples
    --------
    >>> import numpy as np
    >>> import viewhop as vh
    >>> from viewhop.geometry import piece_coordinates
    >>> rows = np.r_[np.arange(12.0), 1000 + np.arange(20.0)][:, None]
    >>> kernel = vh.kernels.Gaussian(1.0, n_neighbors=2)
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", vh.errors.DisconnectedWarning)
    ...     est = vh.DiffusionMaps(2, kernel=kernel).fit(rows)
    >>> second = piece_coordinates(est, 1)
    >>> second.samples.tolist() == list(range(12)), second.blocks[0].shape
    (True, (32, 2))
    """
    geometry = require_geometry(source)
    if not geometry.is_timed:
        raise ValueError("pieces have coordinates of their own only if coordinates are λ^t ψ")
    r = geometry.n_components if n_components is None else n_components
    if not isinstance(r, Integral) or r < 1:
        raise ValueError(f"n_components must be a positive integer or None, not {n_components!r}")
    walk = geometry.walk
    check_markov(walk, "coordinates of single pieces")
    labels = _rank_pieces(walk.pieces())
    if not isinstance(piece, Integral) or not 0 <= piece <= labels.max():
        raise ValueError(
            f"there is no piece {piece!r}; the walk has {labels.max() + 1}, numbered from 0"
        )
    nodes = np.flatnonzero(labels == piece)
    own = PieceWalk(walk, nodes)
    if not own.max_coordinates:
        raise ValueError(f"piece {piece} is a single node, which has no coordinates")
    wanted = min(int(r), own.max_coordinates)
    spectrum = keep_positive(own, solve(own, wanted, tol=tol, progress=progress))
    t = geometry.n_steps if n_steps is None else check_time(n_steps)
    stepped = walk.extension(_lift(walk, nodes, spectrum, outside=np.nan)).by_row()
    blocks = [
        coordinates(block, spectrum.eigenvalues, t)
        for block in stepped[: len(stepped) if walk.is_fused else len(geometry.schema.names)]
    ]
    samples = np.unique(walk.node_samples[nodes])
    return PieceCoordinates(samples, nodes, spectrum.eigenvalues, tuple(blocks), spectrum)


def add_pieces(geometry: Geometry, pieces: Sequence[PieceCoordinates]) -> Geometry:
    """The geometry with the coordinates between all pieces, and with those inside some of them.

    All of them are coordinates of its walk, in the order of their eigenvalues.

    Parameters
    ----------
    geometry : Geometry
    pieces : sequence of PieceCoordinates
        The pieces whose coordinates are added.
    """
    walk = geometry.walk
    root = np.sqrt(np.where(walk.stationary > 0, walk.stationary, np.inf))[:, None]
    between = trivial_pairs(walk, walk.pieces(), most=MOST_BETWEEN + 1)[:, 1:] / root
    vectors, stepped = [between], [between]
    for piece in pieces:
        # From the stationary distribution of the piece to that of the walk.
        share = np.sqrt(walk.stationary[piece.nodes].sum())
        own = _lift(walk, piece.nodes, piece.spectrum, outside=0.0)
        vectors.append(own.eigenvectors / share)
        stepped.append(own.stepped / share)
    values = np.concatenate([np.ones(between.shape[1]), *(p.eigenvalues for p in pieces)])
    residuals = [np.zeros(between.shape[1]), *(p.spectrum.residuals for p in pieces)]
    order = np.argsort(-values, kind="stable")
    spectrum = Spectrum(
        values[order],
        np.hstack(vectors)[:, order],
        np.hstack(stepped)[:, order],
        np.concatenate(residuals)[order],
        walk.stationary,
        geometry.spectrum.solver,
        geometry.spectrum.n_products,
    )
    return replace(geometry, spectrum=spectrum)


def _rank_pieces(pieces: Labels) -> Labels:
    """Pieces renumbered from the largest, the one of the first node first among equal ones."""
    sizes = np.bincount(pieces[pieces >= 0])
    place = np.empty(sizes.size, dtype=np.intp)
    place[np.argsort(-sizes, kind="stable")] = np.arange(sizes.size)
    return np.where(pieces < 0, -1, place[pieces])


def _by_sample(walk: Walk, labels: Labels) -> Labels:
    """The first piece of each sample, from those of its nodes."""
    if not walk.places_every_block:  # a sample is where it starts
        return labels[: walk.n_samples]
    none = np.iinfo(np.intp).max
    found = np.full(walk.n_samples, none)
    np.minimum.at(found, walk.node_samples, np.where(labels < 0, none, labels))
    return found


def _lift(walk: Walk, nodes: Labels, spectrum: Spectrum, *, outside: float) -> Spectrum:
    """The eigenpairs of a piece as pairs of the whole walk, with a value for P̂ψ outside."""
    shape = walk.n_nodes, len(spectrum)
    vectors, stepped = np.zeros(shape), np.full(shape, outside)
    vectors[nodes], stepped[nodes] = spectrum.eigenvectors, spectrum.stepped
    return replace(spectrum, eigenvectors=vectors, stepped=stepped, stationary=walk.stationary)
