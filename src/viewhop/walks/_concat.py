"""The walk on all views side by side as one view, the paper's kernel product."""

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
    """The walk on samples with one Gaussian of all views side by side as its kernel.

    With one scale per view, the scale of the joined rows is σ∘² = Σ σ_l²; with local scales, views
    are brought to the same spread first. See `viewhop.affinity.build_concatenation`.

    Parameters
    ----------
    affinities : sequence of Affinity
        One per view, on the same samples: Gaussians that are alike.
    joined : JointView or None
        The views side by side, if already built.

    Notes
    -----
    The kernel product of the paper's experiments. Where all σ_l are one σ, the product of the
    kernels, Eqs. (5)–(6), is the Gaussian of the same joined rows with that σ, and this one is
    wider by √L.
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
        """The Gaussian of all views side by side; ValueError if their kernels are not alike."""
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
