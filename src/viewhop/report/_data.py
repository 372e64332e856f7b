"""What a report is about: a fitted estimator, and what is known about its samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from viewhop._runtime.progress import Progress, no_progress
from viewhop.geometry import Layout
from viewhop.views import Views

__all__ = ["ReportData"]


@dataclass(frozen=True)
class ReportData:
    """A fitted estimator, and what is known about its samples.

    Attributes
    ----------
    estimator : fitted estimator
    ids, labels, label_name, clusters, features, title, about, repeat, layout, progress
        As in `viewhop.report.render`.
    """

    estimator: Any
    ids: Sequence[Any] | None = None
    labels: ArrayLike | Sequence[Any] | None = None
    label_name: str = "label"
    clusters: ArrayLike | None = None
    features: Views | None = None
    title: str = "viewhop"
    about: Mapping[str, str] | None = None
    repeat: str = ""
    layout: Layout | Literal[False] | None = None
    progress: Progress = no_progress

    def check(self, n_samples: int) -> None:
        """Raise an error unless whatever is known has its type, and one entry per sample.

        Parameters
        ----------
        n_samples : int
            Training samples of the estimator.

        Raises
        ------
        TypeError
            If something is of another type.
        ValueError
            If something has another number of entries.
        """
        if self.features is not None and not isinstance(self.features, Views):
            raise TypeError(
                "features must be the training data as Views, for example "
                f"features=viewhop.Views([A, B]), got {type(self.features).__name__}"
            )
        if not (isinstance(self.layout, Layout) or self.layout is None or self.layout is False):
            raise TypeError(
                "layout must be what viewhop.lay_out(est) returns, False or None, got "
                f"{type(self.layout).__name__}"
            )
        for name in ("ids", "labels", "clusters"):
            values = getattr(self, name)
            if isinstance(values, str) or (values is not None and np.ndim(values) == 0):
                raise TypeError(
                    f"{name} must be a sequence with one entry per sample, got "
                    f"{type(values).__name__}"
                )
        for name in ("ids", "labels", "clusters", "features", "layout"):
            values = getattr(self, name)
            if values is not None and values is not False and len(values) != n_samples:
                raise ValueError(
                    f"{name} must have one entry per sample: {n_samples}, got {len(values)}"
                )
