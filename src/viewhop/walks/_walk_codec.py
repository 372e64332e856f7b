"""Converting walks to plain data and arrays for model files, and back, bit for bit.

Quantities that can be recomputed exactly are not stored. Densities and degrees are stored, because
their rounding depends on the number of threads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewhop._registry import FUSIONS
from viewhop._storage.codec import Shelf, read_fields, read_integer, read_text
from viewhop.affinity import AffinityReader
from viewhop.errors import ModelFileError
from viewhop.views import RowMap
from viewhop.walks._walk import Walk, walk_class

__all__ = ["check_degrees", "read_walk", "walk_state"]

#: Relative difference of sums that were computed in another order, in single precision.
ROUNDING = 1e-4
#: Range of degrees: those of extreme kernels, squared, times the range of hop matrices.
MOST_DEGREE = 1e280
LEAST_DEGREE = 1e-280


def walk_state(walk: Walk, shelf: Shelf) -> dict[str, Any]:
    """A walk and its affinities as plain data.

    Parameters
    ----------
    walk : Walk
    shelf : Shelf
        Receives the arrays.
    """
    if walk.fusion not in FUSIONS:
        raise ModelFileError(
            f"the fusion {walk.fusion!r} is not built into viewhop, so vh.load could not restore it"
        )
    rows = walk.rows
    for l in range(len(walk.affinities)):
        if not rows.is_whole:
            shelf.within(f"view{l}").put("samples", rows.samples(l).astype(np.int64))
    shelf.put("degrees", walk.degrees)
    return {
        "fusion": walk.fusion,
        "n_samples": int(walk.n_samples),
        "kernels": [K.state(shelf.within(f"view{l}")) for l, K in enumerate(walk.affinities)],
        "own": walk.state(shelf),
    }


def read_walk(
    data: Any,
    shelf: Shelf,
    *,
    names: Sequence[str],
    widths: Sequence[int],
    dtype: np.dtype[np.floating],
    n_jobs: int,
    classes: Mapping[str, type[Walk]] | None = None,
) -> Walk:
    """A walk from plain data; invalid data raise ModelFileError.

    Parameters
    ----------
    data : object
        As written by `walk_state`.
    shelf : Shelf
        Provides the arrays.
    names, widths : sequences of str and int
        Names of the views, and their numbers of features.
    dtype : dtype of the kernels
    n_jobs : int
        Threads.
    classes : dict of Walk classes by fusion, or None
        Classes to use instead of those of `viewhop.walks.FUSIONS`.
    """
    fusion, n_samples, kernels, own = read_fields(
        data, ("fusion", "n_samples", "kernels", "own"), "the walk"
    )
    name = read_text(fusion, "the fusion", [*FUSIONS])
    kind = (classes or {}).get(name) or walk_class(name)
    n = read_integer(n_samples, "the number of samples", least=3, most=2**40)
    if not isinstance(kernels, list) or len(kernels) != len(names):
        raise ModelFileError(f"the walk: expected the kernels of {len(names)} views")
    rows = _read_rows(len(names), n, shelf)
    if not rows.is_whole and kind.needs_every_view:
        raise ModelFileError(f"the walk: {fusion} needs every view of every sample")
    affinities = []
    for l, (view, width, state) in enumerate(zip(names, widths, kernels, strict=True)):
        reader = AffinityReader(f"view {view!r}", view, rows.sizes[l], width, dtype, n_jobs)
        affinity = reader.read(state, shelf.within(f"view{l}"))
        if affinity.kernel.is_pairwise and (width != n or rows.is_repeated(l)):
            raise ModelFileError(
                f"view {view!r}: a precomputed kernel must be {n} wide, with each sample once"
            )
        affinities.append(affinity)
    walk = kind.restore(affinities, rows, own, shelf, n_jobs=n_jobs)
    degrees = shelf.numbers("degrees", (walk.n_nodes,), least=0.0, most=MOST_DEGREE)
    walk.__dict__["degrees"] = degrees
    if not degrees.any():
        raise ModelFileError("the walk reaches no sample")
    return walk


def check_degrees(walk: Walk) -> None:
    """Raise ModelFileError unless the stored degrees are the row sums of the walk's kernel.

    Parameters
    ----------
    walk : Walk
        From `read_walk`.
    """
    known, computed = walk.degrees, walk @ np.ones(walk.n_nodes)
    is_same = np.abs(known - computed) <= ROUNDING * computed
    if not (is_same & ((known > LEAST_DEGREE) | (known == 0))).all():
        raise ModelFileError("the degrees are not the row sums of the walk's kernel")


def _read_rows(n_views: int, n_samples: int, shelf: Shelf) -> RowMap:
    """Which samples the rows of each view belong to."""
    places: list[NDArray[np.intp] | None] = []
    sizes = []
    for l in range(n_views):
        part = shelf.within(f"view{l}")
        places.append(part.places("samples", n_samples) if part.has("samples") else None)
        samples = places[-1]
        sizes.append(part.length("density") if samples is None else samples.size)
        if samples is None and sizes[-1] != n_samples:
            raise ModelFileError(f"view {l} has {sizes[-1]} rows for {n_samples} samples")
    # Checked before `observed` is formed: a false number of samples could exhaust the memory.
    rows = RowMap(sizes, places, n_samples)
    if min(sizes) < 3 or sum(sizes) < n_samples or not rows.observed.any(axis=1).all():
        raise ModelFileError(
            "the views: each must have at least 3 samples, and each sample is in one at least"
        )
    return rows
