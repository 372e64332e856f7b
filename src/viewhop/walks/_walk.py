"""The contract of a walk: products with its kernel, degrees, pieces and new samples."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from viewhop._registry import FUSIONS, load_home
from viewhop._storage.codec import Shelf, read_fields
from viewhop.affinity import Affinity, JointView, KernelRows
from viewhop.kernels import Kernel
from viewhop.spectrum import Spectrum
from viewhop.views import RowMap, ViewRows
from viewhop.walks._extension import Extension

__all__ = [
    "CrossKernel",
    "Walk",
    "WalkSize",
    "check_markov",
    "same_rows",
    "scale_rows",
    "walk_class",
]

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]


@dataclass(frozen=True)
class WalkSize:
    """The size of a walk, known before it is built.

    Attributes
    ----------
    n_nodes : int
    n_solved : int
        Length of the vectors that a solver iterates on.
    n_joint : int
        Number of samples of a full kernel that the walk adds to those of the views; 0 for none.
    is_on_hub : bool
        Whether the walk between samples is solved instead, by whatever solver.
    n_leading : int
        Number of eigenpairs of each view alone that are computed first; 0 for most.
    """

    n_nodes: int
    n_solved: int
    n_joint: int = 0
    is_on_hub: bool = False
    n_leading: int = 0


@dataclass(frozen=True)
class CrossKernel:
    """A rectangular matrix whose singular triplets (σ, u, v) give the eigenpairs of a walk.

    `Walk.reduced` is the normalised kernel from the second of two blocks to the first, for a walk
    in which every step goes from one to the other: A = D^{-1/2} K D^{-1/2} is zero within each
    block, so its eigenvalues are ±σ and its eigenvectors [±u; v]/√2. `Walk.factored` is C with
    A = C Cᵀ: the eigenvalues are σ² and the eigenvectors u.

    Attributes
    ----------
    shape : tuple of int
    forward : callable
        Returns the matrix times V.
    backward : callable
        Returns its transpose times V.
    """

    shape: tuple[int, int]
    forward: Callable[[NDArray[np.floating]], NDArray[np.floating]]
    backward: Callable[[NDArray[np.floating]], NDArray[np.floating]]


class Walk(ABC):
    """A random walk P = D⁻¹K on nodes, given by products with its symmetric kernel K.

    A walk with ``is_markov = False`` is no random walk: K itself is solved, without division by
    degrees, and there is no trivial pair.

    Every walk must pass the test suite in ``tests/contracts/walk.py``.

    Attributes
    ----------
    affinities : tuple of Affinity
        One per view.
    rows : RowMap
        Which samples their rows belong to.
    """

    affinities: tuple[Affinity, ...]
    rows: RowMap
    #: The hop matrix, (n_blocks, n_blocks); None for a walk without one.
    hops: Floats | None = None
    #: All views side by side, as one more block of nodes; None for a walk without it.
    joint: JointView | None = None
    #: Name of the walk in estimators and model files.
    fusion: ClassVar[str]
    #: Whether every view must observe every sample, in fit and in transform.
    needs_every_view: ClassVar[bool] = False
    #: Whether its coordinates are λ^t ψ, so that the diffusion time t can be changed.
    is_timed: ClassVar[bool] = True
    #: Whether it uses a hop matrix, which weights the changes of view.
    takes_hops: ClassVar[bool] = False
    #: Whether D⁻¹K is solved, a Markov chain with λ_0 = 1 and ψ_0 ≡ 1; otherwise K itself is.
    is_markov: ClassVar[bool] = True

    @classmethod
    @abstractmethod
    def build(
        cls, affinities: Sequence[Affinity], rows: RowMap, *, hops: Floats | None, n_jobs: int
    ) -> Walk:
        """The walk over the affinities of several views.

        Parameters
        ----------
        affinities : sequence of Affinity
            One per view.
        rows : RowMap
            Which samples their rows belong to.
        hops : (L, L) array or None
            The hop matrix, for walks that use one.
        n_jobs : int
            Threads.
        """

    @classmethod
    def fuse(
        cls, affinities: Sequence[Affinity], rows: RowMap, *, hops: Floats | None, joint: ViewRows
    ) -> Walk:
        """The walk as `build` makes it, with the resources to build a kernel of its own.

        Parameters
        ----------
        affinities, rows, hops
            As in `build`.
        joint : ViewRows
            A view of all features side by side, without its rows: generator, threads, progress,
            memory and precision.
        """
        return cls.build(affinities, rows, hops=hops, n_jobs=joint.n_jobs)

    @classmethod
    def joined_kernel(cls, kernels: Sequence[Kernel]) -> Kernel | None:
        """The one kernel of a walk on all views side by side; None for other walks.

        Parameters
        ----------
        kernels : sequence of Kernel
            One per view.
        """
        return None

    @classmethod
    def check_views(cls, names: Sequence[str]) -> None:
        """Raise ValueError if the walk is not for so many views.

        Parameters
        ----------
        names : sequence of str
        """
        return

    def tuned(self, leading: Callable[[Affinity], Floats]) -> Walk:
        """The walk with what it takes from the spectrum of each view; most take nothing.

        Parameters
        ----------
        leading : callable
            Returns the leading eigenvalues of the walk on one kernel, the trivial 1 first.
        """
        return self

    @classmethod
    def size(
        cls, n_samples: int, n_rows: Sequence[int], *, hops: Floats | None, is_dense: bool
    ) -> WalkSize:
        """The size of the walk over views with these numbers of rows.

        Parameters
        ----------
        n_samples : int
        n_rows : sequence of int
            Number of rows of each view.
        hops : (L, L) array or None
        is_dense : bool
            Whether every view has a full kernel.
        """
        return WalkSize(n_samples, n_samples)

    @property
    @abstractmethod
    def n_blocks(self) -> int:
        """Number of blocks of nodes: one per view, or 1 for a fused geometry."""

    @classmethod
    def coordinate_limit(cls, rows: RowMap, hops: Floats | None) -> int:
        """The largest possible number of positive eigenvalues, not counting λ_0 = 1.

        Parameters
        ----------
        rows : RowMap
            Which samples the rows of the views belong to.
        hops : (L, L) array or None
            The hop matrix, for walks that use one.
        """
        return rows.n_samples - 1

    @property
    def max_coordinates(self) -> int:
        """The largest possible number of positive eigenvalues, not counting λ_0 = 1."""
        return self.coordinate_limit(self.rows, self.hops)

    @abstractmethod
    def __matmul__(self, V: NDArray[np.floating]) -> NDArray[np.floating]:
        """The walk's kernel times a vector (n_nodes,) or block (n_nodes, b)."""

    @abstractmethod
    def pieces(self) -> Labels:
        """Connected piece of each node, numbered from 0, (n_nodes,); −1 for a node of degree 0."""

    @abstractmethod
    def against(self, new: Mapping[str, NDArray[np.floating]]) -> list[KernelRows | None]:
        """Kernel rows of new samples, one entry per kernel; None for a missing view."""

    @abstractmethod
    def extension(self, spectrum: Spectrum) -> Extension:
        """The extension that computes coordinates of training and new samples."""

    @property
    def kernels(self) -> tuple[Affinity, ...]:
        """The kernels that the walk multiplies by."""
        return self.affinities

    def rebuild(self, kernels: Sequence[Affinity], rows: RowMap | None = None) -> Walk:
        """The same kind of walk over other kernels and samples.

        Parameters
        ----------
        kernels : sequence of Affinity
        rows : RowMap or None
            Which samples their rows belong to; None means the same samples in the same order.
        """
        raise TypeError(f"{type(self).__name__} cannot be rebuilt from other kernels")

    def without_joint(self) -> Walk:
        """The walk without its joint view; the walk itself if it has none."""
        return self

    def leave_out(self, view: int) -> Walk:
        """The walk over all views but one; ValueError if no such walk exists."""
        raise ValueError(
            'a view can only be left out if each view has its own coordinates: fusion="hop" and at '
            "least two views"
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the views."""
        return tuple(affinity.name for affinity in self.affinities)

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return self.rows.n_samples

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return self.n_blocks * self.n_samples

    @property
    def dtype(self) -> np.dtype[np.floating]:
        """Precision of the kernels."""
        return self.affinities[0].dtype

    @property
    def n_jobs(self) -> int:
        """Threads that share a product."""
        return self.affinities[0].n_jobs

    @property
    def is_dense(self) -> bool:
        """Whether at least one kernel reads all pairs in a product."""
        return any(affinity.is_dense for affinity in self.affinities)

    @property
    def is_fused(self) -> bool:
        """Whether the samples have one set of coordinates, rather than one per view."""
        return True

    @property
    def places_every_block(self) -> bool:
        """Whether the extension computes coordinates for every block of nodes."""
        return True

    @property
    def reduced(self) -> CrossKernel | None:
        """A smaller problem with the same solution, or None."""
        return None

    @property
    def factored(self) -> CrossKernel | None:
        """C with D^{-1/2} K D^{-1/2} = C Cᵀ, if it has fewer columns than rows; otherwise None."""
        return None

    @property
    def hub(self) -> Walk | None:
        """A walk between samples with the same eigenvalues, which is solved instead, or None."""
        return None

    def lift(self, spectrum: Spectrum) -> Spectrum:
        """The eigenpairs of this walk, from those of its `hub`."""
        raise TypeError(f"{type(self).__name__} has no hub")

    def to_hub(self, vectors: Floats) -> Floats:
        """Vectors on nodes as vectors on the samples of `hub`, (n_samples, r), up to scale."""
        raise TypeError(f"{type(self).__name__} has no hub")

    def consensus(self, spectrum: Spectrum) -> Extension:
        """One set of coordinates per sample, if the walk has a `hub`; ValueError otherwise."""
        raise ValueError(
            'output="consensus" needs fusion="hop" with at least two views, and a hop matrix of '
            "rank one: leave hops and within_view_weight at None, or pass view_weights"
        )

    @property
    def is_cross(self) -> bool:
        """Whether each step goes from one of two blocks to the other, so that an SVD solves it."""
        return self.reduced is not None

    def blocks(self, V: NDArray[np.floating]) -> list[NDArray[np.floating]]:
        """The rows of each block of nodes."""
        return np.split(V, self.n_blocks)

    def where(self, node: int) -> tuple[int, int]:
        """The block and sample of a node."""
        return divmod(node, self.n_samples)

    @property
    def node_samples(self) -> Labels:
        """The sample of each node, (n_nodes,)."""
        return np.tile(np.arange(self.n_samples), self.n_blocks)

    def nodes(self, view: int, samples: NDArray[np.intp]) -> NDArray[np.intp]:
        """The nodes of samples in a view, (p,); the same for every view of a fused geometry.

        Parameters
        ----------
        view : int
        samples : (p,) index array
        """
        return samples

    def at_samples(self, view: int, values: Any) -> Any:
        """Row values of a view arranged by sample, NaN where missing; other values unchanged."""
        if self.rows.is_whole or np.ndim(values) == 0 or self.rows.is_repeated(view):
            return values
        return self.rows.spread(view, np.asarray(values))

    @property
    def remark(self) -> str:
        """What readers of a report should know of this walk, in a sentence; "" for most."""
        return ""

    def mass_after_step(self, V: Floats) -> Floats:
        """Pᵀ V, (n_nodes, b): the distribution of a walker one step after the distribution V."""
        degrees = np.where(self.degrees > 0, self.degrees, np.inf)
        return np.asarray(self @ (V / degrees[:, None]))

    @cached_property
    def degrees(self) -> Floats:
        """Row sums of the walk's kernel, (n_nodes,), the diagonal of D̂, in float64."""
        return np.asarray(self @ np.ones(self.n_nodes))

    @property
    def largest_possible(self) -> float:
        """What no eigenvalue exceeds in magnitude: 1 for a Markov chain."""
        return 1.0

    @cached_property
    def stationary(self) -> Floats:
        """The stationary distribution π = D̂ / trace D̂, (n_nodes,)."""
        return np.asarray(self.degrees / self.degrees.sum())

    def normalized(self, V: NDArray[np.floating]) -> NDArray[np.floating]:
        """D^{-1/2} K D^{-1/2} times V: the symmetric matrix with the walk's eigenvalues."""
        image = self @ scale_rows(V, self._inverse_roots, self.dtype)
        return scale_rows(image, self._inverse_roots, V.dtype)

    def matrix(self, dtype: np.dtype[np.floating]) -> NDArray[np.floating]:
        """D^{-1/2} K D^{-1/2} as a full matrix in the given precision, (n_nodes, n_nodes)."""
        return np.asarray(self.normalized(np.eye(self.n_nodes, dtype=dtype)))

    @property
    def product_flops(self) -> float:
        """Floating-point operations of a product with one column, for full kernels."""
        return 2.0 * sum(K.n_samples**2 for K in self.kernels)

    @property
    def matrix_flops(self) -> float:
        """Floating-point operations of `matrix`, for full kernels."""
        return self.n_nodes * self.product_flops

    @cached_property
    def _inverse_roots(self) -> Floats:
        """D^{-1/2}, (n_nodes,); 0 for a node that the walk does not reach."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.where(self.degrees > 0, 1.0 / np.sqrt(self.degrees), 0.0))

    def state(self, shelf: Shelf) -> dict[str, Any]:
        """The walk without its kernels as plain data; arrays go to the shelf."""
        return {}

    @classmethod
    def restore(
        cls,
        affinities: Sequence[Affinity],
        rows: RowMap,
        data: Any,
        shelf: Shelf,
        *,
        n_jobs: int,
    ) -> Walk:
        """The walk from the data that `state` wrote; invalid data raise ModelFileError.

        Parameters
        ----------
        affinities : sequence of Affinity
        rows : RowMap
        data : object
        shelf : Shelf
            Provides the arrays.
        n_jobs : int
            Threads.
        """
        read_fields(data, (), f"the walk {cls.fusion}")
        return cls.build(affinities, rows, hops=None, n_jobs=n_jobs)


def scale_rows(
    V: NDArray[np.floating], factors: Floats, dtype: np.dtype[np.floating]
) -> NDArray[Any]:
    """Rows of V times factors, in the given precision, computed in one pass."""
    out = np.empty(V.shape, dtype=dtype)
    np.multiply(V, factors[:, None] if V.ndim == 2 else factors, out=out, casting="same_kind")
    return out


def check_markov(walk: Walk, what: str) -> None:
    """Raise ValueError for a walk that is no Markov chain.

    Parameters
    ----------
    walk : Walk
    what : str
        What it does not have, for the message.
    """
    if not walk.is_markov:
        raise ValueError(
            f'fusion="{walk.fusion}" is no random walk, so it has no {what}; use another fusion, '
            'such as "alternating" or "hop"'
        )


def walk_class(fusion: str) -> type[Walk]:
    """The walk class of a fusion, by its name in `viewhop.walks.FUSIONS`."""
    kind: type[Walk] = load_home(FUSIONS[fusion].home)
    return kind


def same_rows(affinities: Sequence[Affinity]) -> RowMap:
    """The row map of kernels on the same samples."""
    return RowMap.whole(len(affinities), affinities[0].n_samples)
