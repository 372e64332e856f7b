"""Features: the space in which a kernel's distance is a norm of a difference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from viewhop._runtime.threads import row_blocks
from viewhop.kernels import Correlation, DistanceKernel
from viewhop.neighbours._manhattan import manhattan_norms
from viewhop.neighbours._points import Points
from viewhop.neighbours._sparse_features import FeatureRows, SparseFeatures
from viewhop.neighbours._sparse_metric import (
    sparse_deviations,
    sparse_directions,
    sparse_means,
    sparse_quotients,
    sparse_range,
    sparse_sizes,
)
from viewhop.neighbours._sparse_points import make_points
from viewhop.views import LARGEST, Describe, Rows, SparseRows, row_number

__all__ = ["FeatureMap", "check_spread", "feature_deviations"]

Floats = NDArray[np.float64]

#: Metrics of the features themselves, not of directions.
PLAIN = ("euclidean", "manhattan")
#: Units in the last place within which a value may differ from one computed in another order.
UNITS = 16.0
#: Least spread of a view whose distances are taken as they are, per precision: that of smaller ones
#: is lost when it is squared.
LEAST_SPREAD = {4: 1e-30, 8: 1e-150}


@dataclass(frozen=True)
class FeatureMap:
    """The map from the rows of a view to the space where its kernel takes distances.

    Distances there are Euclidean, or, for the metric "manhattan", sums of absolute differences. A
    row without a direction (all zeros, or equal to the centre) stays at the origin of the space
    of directions.

    Attributes
    ----------
    metric : str
        A key of `viewhop.kernels.METRICS`, but not "auto".
    deviation : (d,) array or None
        What each feature is divided by.
    centre : (d,) array or None
        What is subtracted from each row before that.
    needs_direction : bool
        Whether a row without a direction raises ValueError.
    is_sparse : bool
        Whether the rows that it was made for are sparse; all others are converted to that kind.
    """

    metric: str
    deviation: Floats | None
    centre: Floats | None = None
    needs_direction: bool = False
    is_sparse: bool = False

    @property
    def rounding(self) -> float:
        """The distance that rounding leaves between rows of the same direction."""
        return 0.0 if self.metric in PLAIN else 1e-13

    @property
    def norm(self) -> str:
        """The norm of the difference of two feature rows that is their distance."""
        return "manhattan" if self.metric == "manhattan" else "euclidean"

    def points(self, rows: FeatureRows, *, slack: Floats | float = 0.0, n_jobs: int = 1) -> Points:
        """Feature rows as points that are measured with the norm of this space.

        Parameters
        ----------
        rows : (n, d) array or SparseFeatures
            As the map returns them.
        slack, n_jobs
            As in `Points`.
        """
        return make_points(rows, rounding=self.rounding, norm=self.norm, slack=slack, n_jobs=n_jobs)

    @classmethod
    def of(cls, kernel: DistanceKernel, X: Rows, name: str | None = None) -> FeatureMap:
        """The map that `kernel` asks for on training rows `X`.

        With the name of the view, rows whose distances underflow raise ValueError.
        """
        if name is not None and kernel.metric in PLAIN and not kernel.standardize:
            check_spread(name, X)
        return cls(
            kernel.metric,
            _divisors(X) if kernel.standardize else None,
            _means(X) if kernel.metric == "centered-cosine" else None,
            isinstance(kernel, Correlation),
            isinstance(X, SparseRows),
        )

    def __call__(self, X: Rows | SparseFeatures, name: str, describe: Describe = row_number) -> Any:
        """Feature rows of `X`; an undefined row is a ValueError that names the view.

        Each row depends on itself alone, so a batch and its rows one by one agree.

        Returns
        -------
        rows : (n, d) array, or SparseFeatures if the map was made for sparse rows
        """
        X = self._same_kind(X)
        if self.metric in PLAIN:
            if isinstance(X, SparseFeatures):
                return X
            if isinstance(X, SparseRows):
                return SparseFeatures.of(sparse_quotients(X, self.deviation))
            rows = np.ascontiguousarray(X)
            return rows if self.deviation is None else rows / self.deviation
        rows, lengths, _ = self._directions(X)
        if self.needs_direction:
            _check_directions(lengths, name, describe)
        # Unit rows over √2: then ‖u − v‖² = 1 − similarity.
        if isinstance(rows, SparseFeatures):
            return rows.scaled(1.0 / lengths / np.sqrt(2.0))
        return np.asarray(rows / lengths[:, None] / np.sqrt(2.0))

    def _same_kind(self, X: Any) -> Any:
        """The rows in the kind that the map was made for; feature rows stay as they are."""
        if isinstance(X, SparseFeatures):
            return X
        if self.is_sparse and not isinstance(X, SparseRows):
            return SparseRows(csr_array(X))
        if not self.is_sparse and isinstance(X, SparseRows):
            return np.asarray(X.matrix.toarray())
        return X

    def check(self, X: Rows, name: str, describe: Describe = row_number) -> None:
        """Raise ValueError, naming view and row, for a row that has no features."""
        # A row of NaN was not observed, which no sparse row is.
        if isinstance(X, SparseRows):
            observed = np.arange(len(X))
        else:
            observed = np.flatnonzero(np.isfinite(X[:, 0]))
        seen = self._same_kind(X[observed])
        if self.deviation is not None:
            with np.errstate(over="ignore"):
                sizes = _largest_quotients(seen, self.deviation)
            far = np.flatnonzero(~(sizes <= LARGEST))
            if far.size:
                raise ValueError(
                    f"{describe(int(observed[far[0]]))} of view {name!r} has a value of more than "
                    f"{LARGEST:.0e} standard deviations; its square overflows: scale the view as "
                    "in fit"
                )
        if self.needs_direction:
            lengths = self._directions(seen)[1]
            _check_directions(lengths, name, lambda row: describe(int(observed[row])))

    def has_direction(self, X: Rows) -> NDArray[np.bool_]:
        """Whether each row has a direction, (n,); always True for a metric that uses none."""
        if self.metric in PLAIN:
            return np.ones(len(X), dtype=bool)
        return np.isfinite(self._directions(self._same_kind(X))[1])

    def directions(self, width: int) -> Floats:
        """What sparse feature rows are centred by, (r, width): one row or none."""
        if self.metric == "correlation":
            return np.ones((1, width))
        if self.centre is None:
            return np.empty((0, width))
        centre = self.centre if self.deviation is None else self.centre / self.deviation
        return np.array(centre).reshape(1, width)

    def slack(self, X: Rows | SparseFeatures, precision: np.dtype[np.floating]) -> Floats:
        """How far rounding may move each feature row, (n,).

        Parameters
        ----------
        X : (n, d) array or SparseRows
        precision : dtype
            The precision in which the rows came, which may be less than that of `X`.
        """
        # A row is off by half a unit of its own precision, and computed in double precision. Twice
        # that, because a radius moves with the row, and twice again to be safe.
        eps = float(np.finfo(np.float64).eps)
        unit = max(UNITS * eps, 2.0 * float(np.finfo(precision).eps))
        X = self._same_kind(X)
        if isinstance(X, SparseFeatures):
            return np.asarray(unit * np.sqrt(X.sizes()))
        width = X.nnz // max(1, len(X)) if isinstance(X, SparseRows) else X.shape[1]
        moves = [self._sizes(X[block]) for block in row_blocks(len(X), width)]
        return np.asarray(unit * np.concatenate(moves))

    def _sizes(self, X: Rows) -> Floats:
        """The size of the numbers that each feature row is computed from, (n,)."""
        if self.metric in PLAIN and isinstance(X, SparseRows):
            features = SparseFeatures.of(sparse_quotients(X, self.deviation))
            return features.sums() if self.norm == "manhattan" else np.sqrt(features.norms())
        if self.metric in PLAIN:
            assert not isinstance(X, SparseRows)
            rows = X if self.deviation is None else X / self.deviation
            rows = rows.astype(np.float64, copy=False)
            return manhattan_norms(rows) if self.norm == "manhattan" else _lengths(rows)
        _, lengths, sizes = self._directions(X)
        return np.asarray(sizes / lengths)

    def _directions(self, X: Any) -> tuple[Any, Floats, Floats]:
        """Centred rows, their lengths, and the sizes of the numbers they are differences of.

        The length of a row without a direction is infinite.
        """
        is_centred = self.metric == "correlation" or self.centre is not None
        # A difference of rounding size has no direction.
        unit = UNITS * float(np.finfo(X.dtype).eps) if is_centred else 0.0
        is_correlation = self.metric == "correlation"
        directions = self.directions(X.shape[1])
        rows: Any
        if isinstance(X, SparseRows):
            rows, lengths, sizes = sparse_directions(
                X, self.deviation, directions, is_correlation=is_correlation
            )
        else:
            rows, lengths, sizes = self._full_directions(X, directions)
        flat = (lengths <= unit * sizes) | (lengths == 0)
        lengths[flat], sizes[flat] = np.inf, 0.0
        return rows, lengths, sizes

    def _full_directions(
        self, X: NDArray[np.floating], directions: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """The same for an array, with the lengths of all rows."""
        plain = X.astype(np.float64)
        if self.deviation is not None:
            plain = plain / self.deviation
        rows, sizes = plain, np.abs(plain).max(axis=1)
        if self.metric == "correlation":
            rows = plain - plain.mean(axis=1, keepdims=True)
        elif len(directions):
            rows = plain - directions[0]
            sizes = sizes + np.abs(directions[0]).max()
        # Exact, and squares can neither overflow nor vanish.
        exponents = -np.frexp(np.abs(rows).max(axis=1))[1]
        rows = np.ldexp(rows, exponents[:, None])
        with np.errstate(over="ignore"):
            sizes = np.ldexp(sizes, exponents) * np.sqrt(X.shape[1])
        return rows, np.sqrt(np.square(rows).sum(axis=1)), sizes


def _largest_quotients(X: Rows, deviation: Floats) -> Floats:
    """The largest magnitude of a value of each row over the deviation of its feature, (n,)."""
    if isinstance(X, SparseRows):
        return sparse_sizes(sparse_quotients(X, deviation))
    return np.asarray(np.abs(X / deviation).max(axis=1))


def _check_directions(lengths: Floats, name: str, describe: Describe) -> None:
    flat = np.flatnonzero(np.isinf(lengths))
    if flat.size:
        raise ValueError(
            f"{describe(int(flat[0]))} of view {name!r} is constant, so it has no correlation with "
            "another row; drop the sample or use another kernel"
        )


def check_spread(name: str, X: Rows) -> None:
    """Raise ValueError, naming the view, if the squares of its distances underflow.

    Parameters
    ----------
    name : str
        The view.
    X : (n, d) array or SparseRows
        Its training rows.
    """
    least, most = sparse_range(X) if isinstance(X, SparseRows) else (X.min(axis=0), X.max(axis=0))
    # The difference of two numbers within `LARGEST` cannot overflow.
    spread = float((most.astype(np.float64) - least).max())
    if 0 < spread < LEAST_SPREAD[X.dtype.itemsize]:
        raise ValueError(
            f"view {name!r} is too small: its features vary by {spread:.3g} at most, and the "
            "squares of its distances underflow; rescale the view, for example to a standard "
            "deviation of 1"
        )


def feature_deviations(X: Rows) -> Floats:
    """The standard deviation of each feature, (d,); 0 if it is at the level of rounding.

    Parameters
    ----------
    X : (n, d) array or SparseRows

    Examples
    --------
    >>> import numpy as np
    >>> from viewhop.neighbours import feature_deviations
    >>> feature_deviations(np.array([[1.0, 0.3], [3.0, 0.3]])).tolist()
    [1.0, 0.0]
    """
    rounding = UNITS * float(np.finfo(X.dtype).eps)
    if isinstance(X, SparseRows):
        return sparse_deviations(X, rounding)
    # Scaled first, so that squares of extreme features neither overflow nor vanish.
    size = np.abs(X).max(axis=0).astype(np.float64)
    size[size == 0] = 1.0
    share = (X / size).std(axis=0, dtype=np.float64)
    return np.where(share <= rounding, 0.0, size * share)


def _divisors(X: Rows) -> Floats:
    """What each feature is divided by to standardise it, (d,); 1 if it is constant."""
    deviations = feature_deviations(X)
    return np.where(deviations > 0, deviations, 1.0)


def _means(X: Rows) -> Floats:
    """The mean of each feature, (d,), without overflow."""
    if isinstance(X, SparseRows):
        return sparse_means(X)
    size = np.abs(X).max(axis=0).astype(np.float64)
    size[size == 0] = 1.0
    return np.asarray(size * (X / size).mean(axis=0, dtype=np.float64))


def _lengths(rows: Floats) -> Floats:
    """Length of each row, (n,), without overflow."""
    size = np.abs(rows).max(axis=1)
    exponents = -np.frexp(size)[1]
    scaled = np.ldexp(rows, exponents[:, None])
    return np.asarray(np.ldexp(np.sqrt(np.square(scaled).sum(axis=1)), -exponents))
