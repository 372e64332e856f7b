"""What a cache keeps of fits: kernels, eigenpairs, and kernel rows of new samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewhop._runtime.version import __version__
from viewhop._storage.codec import Shelf, encode_value
from viewhop._storage.fingerprint import Fingerprint
from viewhop._storage.store import Store
from viewhop.affinity import encode_kernel
from viewhop.errors import ConvergenceError
from viewhop.geometry._cache_codec import (
    FittedKernels,
    Rows,
    kernels_codec,
    rows_codec,
    spectrum_codec,
)
from viewhop.geometry._recipe import Recipe
from viewhop.kernels import Kernel
from viewhop.solvers import keep_positive
from viewhop.spectrum import Spectrum
from viewhop.views import SparseRows, Views
from viewhop.walks import Walk

__all__ = ["FIRST_RUNG", "FitCache", "rung_of"]

#: Raise it when equal data and settings give other kernels, eigenpairs or kernel rows.
FORMAT = 1
#: A fit with a cache solves for 20, 40, 80, … eigenpairs.
FIRST_RUNG = 20
#: Kernel rows are kept for at most this many new samples per training sample.
MOST_NEW = 2


def rung_of(r: int, most: int) -> int:
    """The number of eigenpairs to solve for: the first of 20, 40, 80, … that is at least `r`.

    Parameters
    ----------
    r : int
    most : int
        The largest number that the walk can have.

    Examples
    --------
    >>> from viewhop.geometry._fit_cache import rung_of
    >>> [rung_of(r, 500) for r in (2, 20, 21, 300)], rung_of(5, 9)
    ([20, 20, 40, 320], 9)
    """
    rung = FIRST_RUNG
    while rung < r:
        rung *= 2
    return max(r, min(rung, most))


@dataclass(frozen=True)
class FitCache:
    """A store of what several fits share.

    Kernels are kept by the content of the views and everything that decides their values, down to
    the versions of the libraries and the number of threads, on which the rounding of sums depends.
    Eigenpairs are kept by rungs: see `rung_of`. So a fit is the same, bit for bit, whatever is in
    the store.

    Attributes
    ----------
    store : Store
    is_seeded : bool
        Whether draws depend on a seed. If not, any draw is as good as another, and the first that
        was kept serves all later fits.
    """

    store: Store
    is_seeded: bool = True

    def key(
        self,
        settings: Mapping[str, Any],
        kernels: Mapping[str, Kernel],
        views: Views,
        generator: np.random.Generator,
        n_jobs: int,
    ) -> str:
        """The fingerprint of what is built from kernels; ModelFileError for one of one's own.

        Parameters
        ----------
        settings : dict
            Plain data: what is built, and how.
        kernels : dict of Kernel by view name
        views : Views
        generator : Generator
            In the state in which building begins.
        n_jobs : int
            Threads.
        """
        common = {
            "format": FORMAT,
            "versions": [__version__, *map(_version, _LIBRARIES)],
            "kernels": [
                encode_kernel(kernels[n], f"the kernel of view {n!r}") for n in views.names
            ],
            "n_jobs": n_jobs,
            "draws": repr(generator.bit_generator.state) if self.is_seeded else None,
        }
        return _add_views(Fingerprint().add(common).add(settings), views).text

    def walk_key(
        self,
        recipe: Recipe,
        kernels: Mapping[str, Kernel],
        views: Views,
        generator: np.random.Generator,
        n_jobs: int,
    ) -> str:
        """The fingerprint of a walk before it is built, as `key` returns it.

        Parameters
        ----------
        recipe : Recipe
        kernels, views, generator, n_jobs
            As in `key`.
        """
        settings = {
            "walk": [recipe.walk.__module__, recipe.walk.__qualname__],
            "hops": None if recipe.hops is None else np.asarray(recipe.hops, dtype=float).tolist(),
            "weights": encode_value(recipe.weights, Shelf(), "the weights of the views"),
            "joint_view": encode_value(recipe.joint_view, Shelf(), "joint_view"),
            "connect": bool(recipe.connect),
        }
        return self.key(settings, kernels, views, generator, n_jobs)

    def kernels(
        self,
        key: str,
        compute: Callable[[], FittedKernels],
        views: Views,
        n_jobs: int,
        *,
        stacklevel: int,
    ) -> FittedKernels:
        """The walk of a fit, kept or computed now.

        Parameters
        ----------
        key : str
            From `walk_key`.
        compute : callable
        views : Views
        n_jobs : int
            Threads.
        stacklevel : int
            As in `warnings.warn`, counted from the caller.
        """
        fitted = self.store.fetch(
            key, compute, kernels_codec(views, n_jobs), stacklevel=stacklevel + 1
        )
        walk = fitted.built.walk
        walk.degrees.setflags(write=False)  # fits share it
        for scale in (K.scale for K in walk.affinities):
            if isinstance(scale, np.ndarray):
                scale.setflags(write=False)
        return fitted

    def pairs(
        self,
        key: str,
        walk: Walk,
        r: int,
        solve: Callable[[int], Spectrum],
        *,
        solver: str,
        tol: float | None,
        stacklevel: int,
    ) -> Spectrum:
        """The first `r` positive eigenpairs, of those of its rung.

        Parameters
        ----------
        key : str
            Of the walk.
        walk : Walk
        r : int
        solve : callable
            Returns a number of pairs, always the same ones.
        solver, tol
            As in `viewhop.solvers.solve`.
        stacklevel : int
            As in `warnings.warn`, counted from the caller.
        """
        rung = rung_of(r, walk.max_coordinates)

        def compute(rung: int) -> list[Spectrum]:
            try:
                return [keep_positive(walk, solve(rung))]
            except ConvergenceError:
                if rung == r:
                    raise
                return []

        for size in (rung, r):  # where the whole rung does not converge, r pairs may
            settings = [solver, tol, size]
            spectra = self.store.fetch(
                Fingerprint().add(["eigenpairs", key, *settings]).text,
                partial(compute, size),
                spectrum_codec(walk),
                stacklevel=stacklevel + 1,
            )
            if spectra:
                return _copy_first(spectra[0], r)
        return solve(r)  # fails as it did for fewer pairs of the same rung

    def rows(
        self,
        key: str,
        walk: Walk,
        views: Views,
        sizes: Sequence[int],
        compute: Callable[[], Rows],
        *,
        stacklevel: int,
    ) -> Rows:
        """Kernel rows of new samples, kept or computed now.

        Parameters
        ----------
        key : str
            Of the walk.
        walk : Walk
        views : Views
            The new samples.
        sizes : sequence of int
            How many of them are in each batch.
        compute : callable
            Returns the kernel rows of each batch.
        stacklevel : int
            As in `warnings.warn`, counted from the caller.
        """
        own = _add_views(Fingerprint().add(["rows", key, [*sizes]]), views).text
        codec = rows_codec([K.n_samples for K in walk.kernels], sizes)
        return self.store.fetch(own, compute, codec, stacklevel=stacklevel + 1)

    @staticmethod
    def keeps_rows(n_new: int, n_samples: int) -> bool:
        """Whether kernel rows of so many new samples are kept."""
        return 0 < n_new <= MOST_NEW * n_samples


#: Libraries whose version may decide the last bits of a result.
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "faiss-cpu")


@cache
def _version(library: str) -> str | None:
    try:
        return version(library)
    except ImportError:
        return None


def _add_views(fingerprint: Fingerprint, views: Views) -> Fingerprint:
    """Add the content of views: their rows, the samples these belong to, and their precision."""
    fingerprint.add(len(views))
    for name in views.names:
        fingerprint.add([name, views.precision(name).str]).add_array(_stored(views.rows(name)))
        if not views.is_complete:
            fingerprint.add_array(views.samples(name))
    return fingerprint


def _stored(rows: Any) -> Any:
    """What is stored of the rows of a view: all numbers, or the entries that are not zero."""
    return rows.matrix if isinstance(rows, SparseRows) else rows


def _copy_first(spectrum: Spectrum, r: int) -> Spectrum:
    """The first pairs in arrays of their own, in the layout of the whole, that nobody writes to."""
    first = spectrum.first(r)

    def copy(array: NDArray[np.float64]) -> NDArray[np.float64]:
        own = array.copy(order="K")
        own.setflags(write=False)  # fits share it
        return own

    return Spectrum(
        copy(first.eigenvalues),
        copy(first.eigenvectors),
        copy(first.stepped),
        copy(first.residuals),
        copy(first.stationary),
        first.solver,
        first.n_products,
    )
