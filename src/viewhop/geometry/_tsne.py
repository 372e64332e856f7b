"""t-SNE by openTSNE: positions of samples, and of others among them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewhop._runtime.progress import Progress, no_progress
from viewhop._runtime.stops import defer_stops, raise_stop
from viewhop._runtime.threads import thread_count

__all__ = ["TsneMap", "draw_map", "has_tsne"]

Floats = NDArray[np.float64]

#: Effective number of neighbours of a sample on the map, and of one that is placed on it.
PERPLEXITY, PERPLEXITY_OF_PLACED = 30, 5
#: Iterations of the phase in which groups form and of the other one, and those between two reports
#: of the progress.
EARLY, LATE, REPORTED = 250, 500, 50
#: From this many samples on, repulsion is interpolated on a grid; with fewer, a tree is faster.
MANY = 5_000
#: Standard deviation of the positions that the optimisation starts from, and of the noise that
#: separates equal ones.
START, NOISE = 1e-4, 1e-6
#: Samples that are placed at a time.
BATCH = 20_000


def has_tsne() -> bool:
    """Whether openTSNE is installed."""
    try:
        import openTSNE  # noqa: F401 - the test is whether it can be imported
    except ImportError:
        return False
    return True


@dataclass(frozen=True, eq=False)
class TsneMap:
    """A map of some samples, on which others can be placed.

    Attributes
    ----------
    positions : (n_samples, 2) array
    centre, spread : (n_columns,) array and float
        Centre and largest deviation of the rows, which bring any rows to the same scale.
    fitted : TSNEEmbedding
        The map as openTSNE holds it.
    """

    positions: Floats
    centre: Floats
    spread: float
    fitted: Any

    def place(self, rows: Floats, *, progress: Progress = no_progress) -> Floats:
        """Positions of other samples, (n_rows, 2); the map stays as it is.

        A sample starts at its nearest neighbour on the map and moves to where it is attracted.
        openTSNE's own start, a median of 25 neighbours, may lie on a neighbouring group: of 2,000
        handwritten digits that were placed on their own map, four then landed elsewhere.

        Parameters
        ----------
        rows : (n_rows, n_columns) array
        progress : callable
        """
        perplexity = min(PERPLEXITY_OF_PLACED, len(self.positions) / 3)
        placed = np.empty((len(rows), 2))
        for start in range(0, len(rows), BATCH):
            progress("placing on the map", start, len(rows))
            batch = slice(start, min(start + BATCH, len(rows)))
            scaled = (rows[batch] - self.centre) / self.spread
            with defer_stops():
                placed[batch] = self.fitted.transform(scaled, perplexity, k=1)
            progress("placing on the map", batch.stop, len(rows))
        return placed


def draw_map(
    rows: Floats,
    start: Floats,
    *,
    generator: np.random.Generator,
    n_jobs: int | None,
    progress: Progress,
) -> TsneMap:
    """The map of the rows.

    Parameters
    ----------
    rows : (n_samples, n_columns) array
        Not all equal.
    start : (n_samples, 2) array
        Positions to start from, on any scale.
    generator : Generator
        Draws the noise that separates equal positions at the start.
    n_jobs : int or None
    progress : callable
    """
    from openTSNE import TSNE
    from openTSNE.affinity import PerplexityBasedNN

    n = len(rows)
    # Two threads save a quarter of the time on two idle cores, and take several times as long on
    # busy ones, where they wait for each other: a caller must ask for them.
    threads = 1 if n_jobs is None else thread_count(n_jobs)
    centre = rows.mean(axis=0)
    spread = float(np.abs(rows - centre).max())
    done, total = 0, EARLY + LATE

    def report(iteration: int, error: float, positions: Floats) -> None:
        nonlocal done
        done += REPORTED
        raise_stop()
        progress("map", done, total)

    progress("map", 0, total)
    affinities = PerplexityBasedNN(
        (rows - centre) / spread,
        perplexity=min(PERPLEXITY, (n - 1) / 3),
        method="exact",
        n_jobs=threads,
    )
    optimiser = TSNE(
        early_exaggeration_iter=EARLY,
        n_iter=LATE,
        negative_gradient_method="fft" if n >= MANY else "bh",
        n_jobs=threads,
        callbacks=report,
        callbacks_every_iters=REPORTED,
    )
    with defer_stops():  # an exception of a signal handler inside it crashes openTSNE
        fitted = optimiser.fit(affinities=affinities, initialization=_initial(start, generator))
    # Placing would centre the grid by moving the map.
    fitted -= (fitted.max(axis=0) + fitted.min(axis=0)) / 2
    fitted.gradient_descent_params.update(use_callbacks=False, callbacks=None)
    return TsneMap(np.array(fitted), centre, spread, fitted)


def _initial(start: Floats, generator: np.random.Generator) -> Floats:
    """The start, centred and scaled as t-SNE needs it, with noise."""
    centred = start - start.mean(axis=0)
    largest = np.abs(centred).max()
    if largest > 0:
        centred = centred / largest  # squares of tiny coordinates must not vanish
        centred *= START / centred.std(axis=0).max()
    return np.asarray(centred + NOISE * generator.standard_normal(start.shape))
