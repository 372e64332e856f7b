"""Rules for the number of eigenpairs that a fit keeps."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from viewhop import dimension
from viewhop.spectrum import Spectrum
from viewhop.walks import Walk

__all__ = [
    "AccurateRank",
    "DimensionRank",
    "FixedRank",
    "Rank",
    "TrivialRank",
    "UpToRank",
    "keep_positive",
    "quote_views",
    "solve_accuracy",
    "solve_at_most",
    "solve_rank",
    "truncation",
]

#: Number of pairs that an automatic choice starts with.
FIRST_GUESS = 16


#: Solves for a number of pairs, starting from known ones if there are any.
Pairs = Callable[[int, Spectrum | None], Spectrum]


class Rank(ABC):
    """A rule for the number of eigenpairs that a fit keeps."""

    @property
    @abstractmethod
    def expected(self) -> int:
        """Number of pairs that the memory plan assumes."""

    @abstractmethod
    def check_size(self, names: Sequence[str], n_samples: int) -> None:
        """Raise ValueError if there are fewer samples than the rule needs."""

    def check_limit(self, limit: int) -> None:
        """Raise ValueError if the rule asks for more pairs than the walk can have.

        Parameters
        ----------
        limit : int
            The largest possible number of positive eigenvalues, not counting the trivial 1.
        """
        return

    def settle(
        self, features: Mapping[str, NDArray[np.floating]], generator: np.random.Generator
    ) -> Rank:
        """The rule for given data; most rules do not depend on them.

        Parameters
        ----------
        features : dict of (n_l, d_l) arrays by view name
            The rows of the views, except those that are precomputed kernels.
        generator : Generator
        """
        return self

    @abstractmethod
    def choose(self, walk: Walk, pairs: Pairs) -> Spectrum:
        """The eigenpairs to keep; ValueError if there are too few.

        Parameters
        ----------
        walk : Walk
        pairs : callable
            Solves for a number of pairs.
        """


@dataclass(frozen=True)
class FixedRank(Rank):
    """A fixed number of pairs.

    Attributes
    ----------
    r : int
    """

    r: int

    @property
    def expected(self) -> int:
        """The number."""
        return self.r

    def check_size(self, names: Sequence[str], n_samples: int) -> None:
        """Raise ValueError for fewer than 3 samples."""
        _check_samples(f"n_components={self.r!r} needs", 3, names, n_samples)

    def check_limit(self, limit: int) -> None:
        """Raise ValueError if r is above the limit."""
        _check_rank(self.r, limit)

    def choose(self, walk: Walk, pairs: Pairs) -> Spectrum:
        """The first r pairs."""
        return solve_rank(walk, pairs, self.r)


class _AutomaticRank(Rank):
    """A number of pairs that the data decide."""

    @property
    def expected(self) -> int:
        """A guess."""
        return FIRST_GUESS

    def check_size(self, names: Sequence[str], n_samples: int) -> None:
        """Raise ValueError for fewer than 3 samples."""
        _check_samples("n_components='auto' needs", 3, names, n_samples)


@dataclass(frozen=True)
class DimensionRank(_AutomaticRank):
    """As many pairs as the estimated intrinsic dimension of the samples.

    Attributes
    ----------
    method : {"local_pca", "danco"}
        A method of `viewhop.dimension`.
    """

    method: str

    def settle(
        self, features: Mapping[str, NDArray[np.floating]], generator: np.random.Generator
    ) -> Rank:
        """The rule with the estimated number; ValueError if no view has features."""
        if not features:
            raise ValueError(
                f"accuracy={self.method!r} estimates the dimension from features, but every view "
                "is a precomputed kernel; pass a number"
            )
        r = dimension.intrinsic(features, method=self.method, random_state=generator)
        return EstimatedRank(r)

    def choose(self, walk: Walk, pairs: Pairs) -> NoReturn:
        """Raise TypeError: `settle` must estimate the number first."""
        raise TypeError("call settle with the features of the views first")


@dataclass(frozen=True)
class EstimatedRank(FixedRank):
    """A number of pairs estimated from the data."""

    @property
    def expected(self) -> int:
        """A guess that does not depend on the estimate."""
        return FIRST_GUESS


@dataclass(frozen=True)
class AccurateRank(_AutomaticRank):
    """As many pairs as the accuracy of the diffusion distance requires.

    Attributes
    ----------
    accuracy, n_steps : float
        δ and t of r(δ, t).
    """

    accuracy: float
    n_steps: float

    def choose(self, walk: Walk, pairs: Pairs) -> Spectrum:
        """The first r(δ, t) pairs."""
        return solve_accuracy(walk, pairs, accuracy=self.accuracy, n_steps=self.n_steps)


@dataclass(frozen=True)
class UpToRank(Rank):
    """A number of pairs, or all of them if there are fewer.

    Attributes
    ----------
    r : int
    n_clusters : int
        Number of clusters to find, at most the number of samples.
    """

    r: int
    n_clusters: int

    @property
    def expected(self) -> int:
        """The number."""
        return self.r

    def check_size(self, names: Sequence[str], n_samples: int) -> None:
        """Raise ValueError for fewer samples than clusters or fewer than 3."""
        if self.n_clusters > n_samples:
            raise ValueError(
                f"n_clusters={self.n_clusters} is more than the {n_samples} samples of "
                f"{quote_views(names)}"
            )
        _check_samples("clusters need", 3, names, n_samples)

    def choose(self, walk: Walk, pairs: Pairs) -> Spectrum:
        """The first r pairs, or all that are positive beyond rounding."""
        return solve_at_most(walk, pairs, self.r)


@dataclass(frozen=True)
class TrivialRank(FixedRank):
    """A fixed number of pairs that includes the trivial one."""

    def check_limit(self, limit: int) -> None:
        """Raise ValueError if r is above the limit, with the trivial pair counted."""
        _check_rank(self.r, limit + 1)

    def choose(self, walk: Walk, pairs: Pairs) -> Spectrum:
        """The trivial pair and r − 1 others."""
        spectrum = pairs(self.r - 1, None)
        if self.r > 1:
            spectrum = keep_positive(walk, spectrum)
        available = len(spectrum) + 1
        if available < self.r:
            raise ValueError(
                f"n_components={self.r} is more than the {available} eigenvalues of this walk that "
                f"are positive beyond rounding; pass at most n_components={available}, or a "
                "smaller bandwidth"
            )
        return spectrum.with_trivial()


def _check_samples(what: str, least: int, names: Sequence[str], n_samples: int) -> None:
    if n_samples < least:
        raise ValueError(
            f"{what} at least {least} samples, but {quote_views(names)} "
            f"{'has' if len(names) == 1 else 'have'} n_samples = {n_samples}"
        )


def _check_rank(r: int, limit: int) -> None:
    if r > limit:
        raise ValueError(
            f"n_components={r} is more than the {limit} coordinates that this walk can have: one "
            f"per positive eigenvalue; pass at most n_components={limit}, or more samples"
        )


def truncation(eigenvalues: ArrayLike, *, accuracy: float, n_steps: float = 1.0) -> int:
    """The number r(δ, t) of coordinates that give the diffusion distance to accuracy δ.

    Parameters
    ----------
    eigenvalues : (m,) array
        λ_1, λ_2, …, largest first.
    accuracy : float
        δ.
    n_steps : float
        t, positive.

    Notes
    -----
    The number of positive eigenvalues with λ_k^t > δ λ_1^t: step 5 of the single-view recipe,
    before Eq. (4).

    Examples
    --------
    >>> from viewhop.diffusion import truncation
    >>> truncation([0.9, 0.5, 0.2, -0.1], accuracy=0.3)
    2
    >>> truncation([0.9, 0.5, 0.2, -0.1], accuracy=0.3, n_steps=3)
    1
    """
    if not n_steps > 0:
        raise ValueError(f"a truncation needs n_steps > 0, not {n_steps!r}")
    if not 0 <= accuracy < 1:
        raise ValueError(f"accuracy must be at least 0 and below 1, got {accuracy!r}")
    values = np.asarray(eigenvalues, dtype=np.float64)
    positive = values[values > 0]
    if not positive.size:
        return 0
    return int(((positive / positive[0]) ** n_steps > accuracy).sum())


def solve_rank(walk: Walk, pairs: Pairs, r: int) -> Spectrum:
    """The first `r` eigenpairs; ValueError, with their number, if there are fewer.

    Parameters
    ----------
    walk : Walk
    pairs : callable
        Solves for a number of pairs.
    r : int
    """
    _check_rank(r, walk.max_coordinates)
    spectrum = keep_positive(walk, pairs(r, None))
    if len(spectrum) < r:
        raise ValueError(
            f"n_components={r} is more than the {len(spectrum)} eigenvalues of this walk that "
            f"are positive beyond rounding; pass at most n_components={len(spectrum)}, or a "
            "smaller bandwidth"
        )
    return spectrum


def solve_at_most(walk: Walk, pairs: Pairs, r: int) -> Spectrum:
    """The first `r` eigenpairs, or all that are positive beyond rounding.

    Parameters
    ----------
    walk : Walk
    pairs : callable
        Solves for a number of pairs.
    r : int
    """
    return keep_positive(walk, pairs(min(r, walk.max_coordinates), None))


def solve_accuracy(walk: Walk, pairs: Pairs, *, accuracy: float, n_steps: float) -> Spectrum:
    """As many eigenpairs as the accuracy requires, found by doubling their number.

    Parameters
    ----------
    walk : Walk
    pairs : callable
        Solves for a number of pairs.
    accuracy, n_steps : float
        δ and t of r(δ, t).
    """
    most = walk.max_coordinates
    r = min(FIRST_GUESS, most)
    spectrum = None
    while True:
        spectrum = keep_positive(walk, pairs(r, spectrum))
        wanted = truncation(spectrum.eigenvalues, accuracy=accuracy, n_steps=n_steps)
        if wanted < r or r == most:
            return spectrum.first(wanted)
        r = min(2 * r, most)


def keep_positive(walk: Walk, spectrum: Spectrum) -> Spectrum:
    """The pairs with an eigenvalue that is positive beyond rounding; ValueError if none is."""
    rounding = 8 * float(np.finfo(walk.dtype).eps) * walk.largest_possible
    usable = int((spectrum.eigenvalues > rounding).sum())
    if not usable:
        raise ValueError(
            f"no eigenvalue of the walk over {quote_views(walk.names)} is positive beyond "
            "rounding, so there are no coordinates: all samples are almost equally similar; use a "
            "smaller bandwidth"
        )
    return spectrum.first(usable)


def quote_views(names: Sequence[str]) -> str:
    """Names of views for a sentence: ``"views 'a', 'b'"``."""
    return ("view " if len(names) == 1 else "views ") + ", ".join(map(repr, names))
