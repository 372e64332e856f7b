"""Simulated CITE-seq: RNA and surface proteins of the same cells, types and a trajectory."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from viewhop.views import Views

__all__ = ["make_citeseq"]

Floats = NDArray[np.float64]

#: Stages of the trajectory, then types; by the profile of each in RNA and in proteins.
STAGES = ("early", "middle", "late")
TYPES = {
    "A1": (0, 0),
    "A2": (0, 1),
    "B1": (1, 2),
    "B2": (2, 2),
    "C": (3, 3),
}
#: Share of the cells on the trajectory.
ON_TRAJECTORY = 0.4
#: Shares of the features that mark a type, and their rate there as a multiple of that elsewhere.
GENE_MARKERS, GENE_FOLD = 0.04, 5.0
PROTEIN_MARKERS, PROTEIN_FOLD = 0.15, 8.0
#: Variance of counts is m + m²/shape at a mean m.
GENE_SHAPE, PROTEIN_SHAPE = 2.0, 5.0
#: Cells of which counts are drawn at once.
ROWS = 1000


def make_citeseq(
    n_samples: int = 2000,
    *,
    n_genes: int = 1000,
    n_proteins: int = 30,
    random_state: int | np.random.Generator | None = None,
) -> Bunch:
    """Simulated counts of RNA and surface proteins in cells: five types, and a trajectory.

    Neither modality tells all types apart: A1 and A2 differ in proteins only, B1 and B2 in RNA
    only, and C in both. On the trajectory, from early to late, both change gradually.

    Parameters
    ----------
    n_samples : int
        Number of cells, at least 20.
    n_genes, n_proteins : int
        Number of features, at least 20 genes and 10 proteins.
    random_state : int, Generator or None
        Seed.

    Returns
    -------
    Bunch
        ``views`` : Views ``rna`` and ``protein``, float32: logarithms, normalised by cell;
        ``counts`` : dict of int32 arrays by view name;
        ``target`` : (n_samples,) int array, the three stages of the trajectory, then the types;
        ``target_names`` : list of str;
        ``pseudotime`` : (n_samples,) array, from 0 to 1 on the trajectory, NaN elsewhere;
        ``DESCR`` : str.

    Notes
    -----
    Counts are negative binomial: Poisson with Gamma rates. A gene has a log-normal rate of its own,
    times the depth of the cell, times 5 if it marks the type. Proteins are counted likewise,
    on a background of unbound antibodies that each has in all cells alike, in proportion to a
    factor of the cell. On the trajectory, the rates of some features rise to and fall from a
    maximum at a pseudotime of their own. RNA is divided by its total per cell, multiplied by 10,000
    and transformed to log(1 + x); proteins to log(1 + x), centred within each cell.

    Examples
    --------
    >>> from viewhop.datasets import make_citeseq
    >>> cells = make_citeseq(100, random_state=0)
    >>> cells.views
    Views(100 samples: rna (1000), protein (30))
    >>> cells.target_names
    ['early', 'middle', 'late', 'A1', 'A2', 'B1', 'B2', 'C']
    """
    for name, value, least in (
        ("n_samples", n_samples, 20),
        ("n_genes", n_genes, 20),
        ("n_proteins", n_proteins, 10),
    ):
        if not isinstance(value, Integral) or value < least:
            raise ValueError(f"{name} must be an integer of at least {least}, got {value!r}")
    rng = np.random.default_rng(random_state)
    pseudotime, target = _draw_cells(rng, int(n_samples))
    counts = {
        "rna": _draw_counts(rng, _draw_genes(rng, n_genes), 0, pseudotime, target),
        "protein": _draw_counts(rng, _draw_proteins(rng, n_proteins), 1, pseudotime, target),
    }
    totals = np.maximum(counts["rna"].sum(axis=1, keepdims=True), 1)
    rna = np.log1p(1e4 * counts["rna"] / totals)
    protein = np.log1p(counts["protein"])
    protein -= protein.mean(axis=1, keepdims=True)
    return Bunch(
        views=Views({"rna": rna.astype(np.float32), "protein": protein.astype(np.float32)}),
        counts=counts,
        target=target,
        target_names=[*STAGES, *TYPES],
        pseudotime=pseudotime,
        DESCR="Simulated CITE-seq: RNA and surface proteins, five types and a trajectory.",
    )


class _Panel:
    """The features of one modality, and their rates.

    Parameters
    ----------
    base : (n,) array
        Mean count without any marker.
    markers : (n_profiles, n) bool array
        Features that mark each profile of a type.
    fold : float
        Rate of a marker as a multiple of its base.
    peaks : (n,) array
        Pseudotime at which a feature is highest; NaN for one that does not change.
    shape : float
        Of the Gamma distribution of rates.
    background : (n,) array
        Mean count in all cells.
    """

    def __init__(
        self,
        base: Floats,
        markers: NDArray[np.bool_],
        fold: float,
        peaks: Floats,
        shape: float,
        background: Floats,
    ) -> None:
        self.base = base
        self.markers = markers
        self.fold = fold
        self.peaks = peaks
        self.shape = shape
        self.background = background

    def rates(self, profile: NDArray[np.int64], pseudotime: Floats) -> Floats:
        """Mean counts, (n_cells, n); a profile of −1 is a cell on the trajectory."""
        folds = np.ones((profile.size, self.base.size))
        is_type = profile >= 0
        folds[is_type] = np.where(self.markers[profile[is_type]], self.fold, 1.0)
        away = (pseudotime[~is_type, None] - self.peaks) / 0.35
        bumps = np.where(np.isfinite(self.peaks), np.exp(-np.square(away)), 0.0)
        folds[~is_type] = self.fold**bumps
        return self.base * folds


def _draw_cells(rng: np.random.Generator, n_samples: int) -> tuple[Floats, NDArray[np.int64]]:
    """Pseudotime and label of each cell."""
    on_trajectory = rng.random(n_samples) < ON_TRAJECTORY
    pseudotime = np.where(on_trajectory, rng.random(n_samples), np.nan)
    types = len(STAGES) + rng.integers(len(TYPES), size=n_samples)
    stages = np.nan_to_num(pseudotime * len(STAGES)).astype(np.int64)
    return pseudotime, np.where(on_trajectory, stages, types).astype(np.int64)


def _draw_markers(
    rng: np.random.Generator, n: int, share: float, modality: int
) -> tuple[NDArray[np.bool_], Floats]:
    """Features that mark each type, and the peaks of those that change on the trajectory."""
    n_profiles = 1 + max(profiles[modality] for profiles in TYPES.values())
    n_markers = max(2, round(share * n))
    order = rng.permuted(np.tile(np.arange(n), (n_profiles, 1)), axis=1)
    peaks = np.full(n, np.nan)
    changing = rng.permutation(n)[: 3 * n_markers]
    peaks[changing] = np.linspace(-0.1, 1.1, changing.size)
    return order < n_markers, peaks


def _draw_genes(rng: np.random.Generator, n: int) -> _Panel:
    base = np.exp(rng.normal(-0.7, 1.0, n))
    markers, peaks = _draw_markers(rng, n, GENE_MARKERS, 0)
    return _Panel(base, markers, GENE_FOLD, peaks, GENE_SHAPE, np.zeros(n))


def _draw_proteins(rng: np.random.Generator, n: int) -> _Panel:
    base = np.exp(rng.normal(3.0, 0.5, n))
    background = np.exp(rng.normal(2.5, 0.7, n))
    markers, peaks = _draw_markers(rng, n, PROTEIN_MARKERS, 1)
    return _Panel(base, markers, PROTEIN_FOLD, peaks, PROTEIN_SHAPE, background)


def _draw_counts(
    rng: np.random.Generator,
    panel: _Panel,
    modality: int,
    pseudotime: Floats,
    target: NDArray[np.int64],
) -> NDArray[np.int32]:
    """Counts of all cells in one modality, (n_cells, n)."""
    profiles = [-1] * len(STAGES) + [profile[modality] for profile in TYPES.values()]
    profile = np.array(profiles)[target]
    counts = np.empty((target.size, panel.base.size), dtype=np.int32)
    for start in range(0, target.size, ROWS):
        rows = slice(start, min(start + ROWS, target.size))
        rates = panel.rates(profile[rows], pseudotime[rows])
        depth, unbound = rng.lognormal(0, 0.4, (2, len(rates), 1))
        noise = rng.gamma(panel.shape, 1 / panel.shape, rates.shape)
        counts[rows] = rng.poisson(depth * rates * noise + unbound * panel.background)
    return counts
