"""The result of counting clusters: their number, and how sure it is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from viewhop._storage.codec import read_fields, read_integer, read_number, read_text
from viewhop.errors import ModelFileError
from viewhop.estimators._spectrum_shape import SHAPES

__all__ = ["EVEN", "METHODS", "ClusterCount", "decode_count", "encode_count"]

#: What can decide on the number of clusters.
METHODS = ("gap", "separation", "modularity")

#: At this confidence a walker leaves its cluster as fast as it mixes within it.
EVEN = 1 / 2


@dataclass(frozen=True)
class ClusterCount:
    """The number of clusters that a walk shows, and how sure it is.

    Attributes
    ----------
    n_clusters : int
    method : {"gap", "separation", "modularity"}
        What decided; see `count_clusters`.
    candidates : tuple of int
        The numbers k of clusters that were tried, ascending.
    confidences : tuple of float
        For each candidate, r_w / (r_w + r_b), from 0 to 1. Here r_b is the rate at which the walk
        between the clusters relaxes, and r_w the rate of the slowest relaxation that k clusters
        do not explain. It is the probability that a walker mixes within its cluster before it
        leaves it: 1 for separate clusters, 1/2 where both take equally long, near 0 for pieces
        of a curve. It is not the probability that the number is right: a few groups
        that are apart may each hold several classes.
    modularities : tuple of float
        For each candidate, the share of the walker's steps that stay within clusters, minus that
        of independent draws of both ends.
    log_gap : int or None
        The number of clusters by the largest gap of log λ, as Fig. 5 shows it; see `log_gap`. None
        in model files of earlier versions.
    shape : {"clusters", "curves", "sections", "overlap"} or None
        What the clusters are, by how the eigenvalues fall; `reason` says it in words. Along a
        curve neither `n_clusters` by a gap nor `log_gap` counts anything: "sections", or "curves"
        if several curves are apart. None as for `log_gap`.

    Examples
    --------
    >>> from viewhop.estimators import ClusterCount
    >>> count = ClusterCount(2, "modularity", (2, 3), (0.4, 0.2), (0.3, 0.1))
    >>> count.confidence, count.is_sure
    (0.4, False)
    """

    n_clusters: int
    method: str
    candidates: tuple[int, ...]
    confidences: tuple[float, ...]
    modularities: tuple[float, ...]
    log_gap: int | None = None
    shape: str | None = None

    @property
    def confidence(self) -> float:
        """The confidence in `n_clusters`, from 0 to 1."""
        return self.confidences[self.candidates.index(self.n_clusters)]

    @property
    def is_sure(self) -> bool:
        """Whether a walker mixes within its cluster faster than it leaves it."""
        return self.confidence > EVEN

    @property
    def reason(self) -> str:
        """What the number is worth, in words."""
        return SHAPES[self.shape or ("clusters" if self.is_sure else "overlap")]


def encode_count(count: ClusterCount) -> dict[str, Any]:
    """The result as plain data."""
    return {
        "n_clusters": count.n_clusters,
        "method": count.method,
        "candidates": [*count.candidates],
        "confidences": [*count.confidences],
        "modularities": [*count.modularities],
        "log_gap": count.log_gap,
        "shape": count.shape,
    }


def decode_count(data: Any, n_clusters: int) -> ClusterCount:
    """The result from the data that `encode_count` wrote; invalid data raise ModelFileError.

    Parameters
    ----------
    data : object
    n_clusters : int
        The number of clusters of the model, which must be the one that was counted.
    """
    where = "the count of clusters"
    keys = ("n_clusters", "method", "candidates", "confidences", "modularities")
    number, method, candidates, confidences, modularities, by_log_gap, shape = read_fields(
        data, keys, where, optional={"log_gap": None, "shape": None}
    )
    columns = (candidates, confidences, modularities)
    if not all(isinstance(column, list) and len(column) == len(candidates) for column in columns):
        raise ModelFileError(f"{where}: expected three lists of the same length")
    count = ClusterCount(
        read_integer(number, where, least=1),
        read_text(method, where, METHODS),
        tuple(read_integer(k, where, least=1) for k in candidates),
        tuple(_read_share(value, where, least=0.0) for value in confidences),
        tuple(_read_share(value, where, least=-1.0) for value in modularities),
        None if by_log_gap is None else read_integer(by_log_gap, where, least=2),
        None if shape is None else read_text(shape, where, tuple(SHAPES)),
    )
    is_ascending = all(map(int.__lt__, count.candidates, count.candidates[1:]))
    if not is_ascending or count.n_clusters not in count.candidates:
        raise ModelFileError(f"{where}: expected ascending numbers with the chosen one among them")
    if count.n_clusters != n_clusters:
        raise ModelFileError(f"{where}: {count.n_clusters} counted, but there are {n_clusters}")
    return count


def _read_share(value: Any, where: str, *, least: float) -> float:
    """A number from `least` to 1; ModelFileError otherwise."""
    number = read_number(value, where, least=least)
    if number > math.nextafter(1.0, 2.0):
        raise ModelFileError(f"{where}: {number!r} is more than 1")
    return number
