"""The walk with one Gaussian kernel on all views side by side, the paper's kernel product."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from viewhop._storage.codec import Shelf, read_fields
from viewhop.affinity import (
    Affinity,
    JointView,
    KernelRows,
    build_concatenation,
    concat_kernel,
    lowest_precision,
    restore_concatenation,
)
from viewhop.kernels import Kernel
from viewhop.views import RowMap, ViewRows
from viewhop.walks._fused import SumWalk, check_every_view_given

__all__ = ["ConcatWalk"]

Floats = NDArray[np.float64]


class ConcatWalk(SumWalk):
    """The walk between samples with one Gaussian kernel on all views side by side.

    If each view has one scale σ_l, the kernel has the scale σ∘ with σ∘² = Σ σ_l². With local
    scales, every view is first divided by its spread. See `viewhop.affinity.build_concatenation`.
    Use it if all views are of one kind and equally reliable.

    Parameters
    ----------
    affinities : sequence of Affinity
        One per view, on the same samples. Their kernels are Gaussians with the same parameters,
        apart from metrics and scales.
    joined : JointView or None
        The views side by side, if already built.

    Notes
    -----
    This is the kernel product of the paper's experiments. If all σ_l equal one σ, the element-wise
    product of Eqs. (5)–(6) is the Gaussian of the same joined rows with scale σ; here the scale is
    √L · σ.
    """

    fusion: ClassVar[str] = "concat"
    needs_every_view: ClassVar[bool] = True

    def __init__(self, affinities: Sequence[Affinity], *, joined: JointView | None = None) -> None:
        super().__init__(affinities)
        self.joined = build_concatenation(affinities) if joined is None else joined

    @classmethod
    def build(
        cls, affinities: Sequence[Affinity], rows: RowMap, *, hops: Floats | None, n_jobs: int
    ) -> ConcatWalk:
        """The walk on the views side by side; every view must observe every sample."""
        return cls(affinities)

    @classmethod
    def fuse(
        cls, affinities: Sequence[Affinity], rows: RowMap, *, hops: Floats | None, joint: ViewRows
    ) -> ConcatWalk:
        """The walk on the views side by side, built with the resources of `joint`."""
        return cls(affinities, joined=build_concatenation(affinities, joint))

    @classmethod
    def joined_kernel(cls, kernels: Sequence[Kernel]) -> Kernel:
        """The Gaussian of all views side by side; ValueError if the kernels cannot be joined."""
        return concat_kernel(kernels)

    @property
    def kernels(self) -> tuple[Affinity, ...]:
        """The one kernel of the walk."""
        return (self.joined.affinity,)

    def against(self, new: Mapping[str, NDArray[np.floating]]) -> list[KernelRows | None]:
        """Kernel rows of new samples, all views side by side; ValueError if a view is missing."""
        check_every_view_given(self, new)
        rows = self.joined.rows(self.affinities, new)
        return [self.joined.against(rows, lowest_precision([X.dtype for X in new.values()]))]

    def state(self, shelf: Shelf) -> dict[str, Any]:
        """The joined views as plain data."""
        return {"joined": self.joined.state(shelf.within("joined"))}

    @classmethod
    def restore(
        cls,
        affinities: Sequence[Affinity],
        rows: RowMap,
        data: Any,
        shelf: Shelf,
        *,
        n_jobs: int,
    ) -> ConcatWalk:
        """The walk from the data that `state` wrote."""
        (state,) = read_fields(data, ("joined",), "the walk concat")
        inside = shelf.within("joined")
        joined = restore_concatenation(affinities, rows, state, inside, n_jobs=n_jobs)
        return cls(affinities, joined=joined)
