"""Findings in the features of each view: constants, duplicates, scales, and missing directions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from viewhop.advice._finding import Finding
from viewhop.kernels import DistanceKernel, Kernel
from viewhop.neighbours import FeatureMap, feature_deviations
from viewhop.selection import metric_name
from viewhop.views import Rows, SparseRows, Views

__all__ = ["WIDE_SCALES", "feature_findings", "scale_ratio"]

#: Share of rows that repeat another one from which duplicates are mentioned.
REPEATED = 0.01
#: Ratio of the largest to the smallest deviation of features from which it is mentioned.
WIDE_SCALES = 1e3


def feature_findings(
    views: Views, kernels: Mapping[str, Kernel], scores: Mapping[str, Mapping[str, float]]
) -> list[Finding]:
    """Findings in the rows of every view whose columns are features.

    Parameters
    ----------
    views : Views
    kernels : dict of Kernel by view name
        With their metrics decided.
    scores : dict of (dict of float by metric) by view name
        How far each metric that was tried agrees with the other views; may be empty.

    Examples
    --------
    >>> import numpy as np
    >>> import viewhop as vh
    >>> from viewhop.advice import feature_findings
    >>> from viewhop.kernels import Gaussian
    >>> rows = np.column_stack([np.arange(9.0), np.ones(9)])
    >>> findings = feature_findings(vh.Views({"a": rows}), {"a": Gaussian()}, {})
    >>> [(finding.kind, finding.value) for finding in findings]
    [('constant features', 1.0)]
    """
    findings = []
    for name in views.names:
        kernel = kernels[name]
        # The columns of a precomputed kernel are samples.
        if isinstance(kernel, DistanceKernel):
            X = views.rows(name)
            findings += [
                *_constant(name, kernel, X),
                *_repeated(name, kernel, X),
                *_wide_scales(name, kernel, X, scores.get(name, {})),
                *_flat_rows(name, kernel, X),
            ]
    return findings


def scale_ratio(X: Rows) -> float:
    """The largest standard deviation of a feature over the smallest one above 0; 1 if none is.

    Parameters
    ----------
    X : (n, d) array
    """
    deviations = feature_deviations(X)
    deviations = deviations[deviations > 0]
    return float(deviations.max() / deviations.min()) if deviations.size else 1.0


def _constant(name: str, kernel: DistanceKernel, X: Rows) -> list[Finding]:
    count, width = int((feature_deviations(X) == 0).sum()), X.shape[1]
    if not count:
        return []
    features = f"{count:,} of {width:,} features {'is' if count == 1 else 'are'} constant"
    if count == width:
        text = f"{features}: the view does not distinguish any samples. Leave it out."
        return [Finding("constant features", name, float(count), text, "warning")]
    affects = kernel.metric in ("cosine", "correlation") and not kernel.standardize
    effect = (
        "they make all directions more alike; drop them"
        if affects
        else "they do not change any distance"
    )
    text = f"{features}; {effect}."
    return [Finding("constant features", name, float(count), text, "note")]


def _repeated(name: str, kernel: DistanceKernel, X: Rows) -> list[Finding]:
    copies = _group_sizes(X)
    count = len(X) - copies.size
    share, most = count / len(X), int(copies.max())
    if share < REPEATED:
        return []
    text = f"{share:.0%} of the rows ({count:,} of {len(X):,}) repeat another row of the view"
    k = kernel.n_neighbors
    if k is not None and most > k:
        text += (
            f"; one occurs {most:,} times, more often than there are neighbours ({k}), so its "
            "copies are connected to little else in this view. Keep one row of each, or raise "
            "n_neighbors."
        )
        return [Finding("duplicates", name, share, text, "warning")]
    return [Finding("duplicates", name, share, f"{text}, at most {most:,} times each.", "note")]


def _group_sizes(X: Rows) -> NDArray[np.intp]:
    """How often each distinct row occurs."""
    if isinstance(X, SparseRows):
        counts = Counter(map(_row_bytes, repeat(X), range(len(X))))
        return np.array([*counts.values()], dtype=np.intp)
    rows = np.ascontiguousarray(X + X.dtype.type(0))  # -0.0 becomes 0.0: equal numbers, equal bytes
    as_bytes = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
    return np.unique(as_bytes, return_counts=True)[1]


def _row_bytes(X: SparseRows, row: int) -> bytes:
    """The stored entries of a row; equal rows have equal bytes."""
    part = slice(*X.matrix.indptr[row : row + 2])
    return bytes(X.matrix.indices[part].tobytes() + X.matrix.data[part].tobytes())


def _wide_scales(
    name: str, kernel: DistanceKernel, X: Rows, scores: Mapping[str, float]
) -> list[Finding]:
    ratio = scale_ratio(X)
    if ratio < WIDE_SCALES:
        return []
    text = f"Standard deviations of the features differ by a factor of up to {ratio:.2g}"
    chosen = metric_name(kernel)
    if kernel.standardize:
        text += f"; the metric {chosen!r} divides by them."
    elif {"euclidean", "standardized"} <= scores.keys():
        text += (
            f". Agreement with the other views still prefers {chosen!r} ({scores[chosen]:.2f}) to "
            f"'standardized' ({scores['standardized']:.2f})."
        )
    else:
        text += "; the largest ones decide all distances. Pass a kernel with standardize=True."
        return [Finding("scales", name, ratio, text, "warning")]
    return [Finding("scales", name, ratio, text, "note")]


def _flat_rows(name: str, kernel: DistanceKernel, X: Rows) -> list[Finding]:
    count = int((~FeatureMap.of(kernel, X).has_direction(X)).sum())
    if not count:
        return []
    text = (
        f"{count:,} of {len(X):,} rows have no direction, and the metric is "
        f"{metric_name(kernel)!r}: they are equally far from all other rows. Mark them as not "
        "observed (NaN) if they are missing values."
    )
    return [Finding("no direction", name, float(count), text, "warning")]
