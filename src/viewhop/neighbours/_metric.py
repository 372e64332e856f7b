"""Features: the space in which a kernel's distance is Euclidean."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from viewhop.kernels import DistanceKernel
from viewhop.views import Describe, row_number

__all__ = ["FeatureMap"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class FeatureMap:
    """The map from the rows of a view to the space where its kernel takes Euclidean distances.

    Attributes
    ----------
    metric : str
    deviation : (d,) array or None
        What each feature is divided by first.
    """

    metric: str
    deviation: Floats | None

    @property
    def rounding(self) -> float:
        """The distance that rounding leaves between rows of the same direction."""
        return 0.0 if self.metric == "euclidean" else 1e-13

    @classmethod
    def of(cls, kernel: DistanceKernel, X: NDArray[np.floating]) -> FeatureMap:
        """The map that `kernel` asks for on training rows `X`."""
        deviation = None
        if kernel.standardize:
            # Scaled first, so that squares of extreme features neither overflow nor vanish.
            size = np.abs(X).max(axis=0).astype(np.float64)
            size[size == 0] = 1.0
            deviation = size * (X / size).std(axis=0, dtype=np.float64)
            constant = (X.max(axis=0) == X.min(axis=0)) | (deviation == 0)
            deviation[constant] = 1.0
        return cls(kernel.metric, deviation)

    def __call__(
        self, X: NDArray[np.floating], name: str, describe: Describe = row_number
    ) -> NDArray[np.floating]:
        """Feature rows of `X`; an undefined row is a ValueError that names the view.

        Each row depends on itself alone, so a batch and its rows one by one agree.
        """
        rows = np.ascontiguousarray(X)
        if self.deviation is not None:
            rows = rows / self.deviation
        if self.metric == "euclidean":
            return rows
        self._check_scaled(rows, name, describe)
        rows = rows.astype(np.float64)
        if self.metric == "correlation":
            rows = rows - rows.mean(axis=1, keepdims=True)
        size = np.abs(rows).max(axis=1, keepdims=True)
        rows = np.ldexp(rows, -np.frexp(size)[1])  # exact, and its squares cannot overflow
        length = np.sqrt(np.square(rows).sum(axis=1, keepdims=True))
        # Unit rows over √2: then ‖u − v‖² = 1 − similarity.
        return np.asarray(rows / length / np.sqrt(2.0))

    def check(self, X: NDArray[np.floating], name: str, describe: Describe = row_number) -> None:
        """Raise ValueError, naming view and row, for a row that has no features."""
        if self.metric != "euclidean":
            scaled = X if self.deviation is None else X / self.deviation
            self._check_scaled(scaled, name, describe)

    def _check_scaled(self, rows: NDArray[np.floating], name: str, describe: Describe) -> None:
        low, high = rows.min(axis=1), rows.max(axis=1)
        if self.metric == "correlation":
            flat = np.flatnonzero(low == high)
            if flat.size:
                raise ValueError(
                    f"{describe(int(flat[0]))} of view {name!r} is constant, so it has no "
                    "correlation with another row; drop the sample or use another kernel"
                )
        zero = np.flatnonzero((low == 0) & (high == 0))
        if zero.size:
            raise ValueError(
                f"{describe(int(zero[0]))} of view {name!r} is all zero, so it has no angle to "
                "another row; drop the sample or use another metric"
            )
