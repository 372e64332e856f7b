"""Results of classification: predictions and their accuracy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

__all__ = ["FUSIONS", "Classification", "PairScores", "Score"]

#: Names of fusions in tables.
FUSIONS = {
    "sum": "kernel sum",
    "product": "kernel product",
    "concat": "kernel product, concat",
    "alternating": "alternating",
    "hop": "multi-view",
}


@dataclass(frozen=True)
class Score:
    """Predictions of one method, each event by its neighbours among the others.

    Attributes
    ----------
    method : str
        Name of the view, or of the fusion.
    procedure : {"transductive", "refitted"}
        One embedding of all events, or one fit per left-out event.
    n_components : int
        r.
    classes : tuple of str
    target, predicted : (n_events,) int arrays
        Index of the class; -1 where the label is unknown or the view did not record the event.
    warned : dict of int by kind
        Counts of warnings raised by the fits.
    """

    method: str
    procedure: str
    n_components: int
    classes: tuple[str, ...]
    target: NDArray[np.intp] = field(repr=False)
    predicted: NDArray[np.intp] = field(repr=False)
    warned: Mapping[str, int] = field(default_factory=dict)

    @property
    def confusion(self) -> NDArray[np.int64]:
        """Counts of events by class (rows) and prediction (columns)."""
        judged = (self.target >= 0) & (self.predicted >= 0)
        counts = np.zeros((len(self.classes), len(self.classes)), dtype=np.int64)
        np.add.at(counts, (self.target[judged], self.predicted[judged]), 1)
        return counts

    @property
    def n_events(self) -> int:
        """Number of events with a label and a prediction."""
        return int(self.confusion.sum())

    @property
    def accuracy(self) -> float:
        """Share of these events with a correct prediction; NaN without events."""
        counts = self.confusion
        return float(np.trace(counts) / counts.sum()) if counts.any() else np.nan

    @property
    def balanced_accuracy(self) -> float:
        """Mean over the classes of the share predicted correctly; empty classes are skipped.

        NaN with events of a single class: any prediction would be correct.
        """
        counts = self.confusion
        sizes = counts.sum(axis=1)
        shares = np.diag(counts)[sizes > 0] / sizes[sizes > 0]
        return float(shares.mean()) if shares.size > 1 else np.nan

    @property
    def absent(self) -> tuple[str, ...]:
        """Classes without a scored event."""
        sizes = self.confusion.sum(axis=1)
        return tuple(name for name, size in zip(self.classes, sizes, strict=True) if not size)

    @property
    def labels(self) -> tuple[str | None, ...]:
        """Predicted class names."""
        return tuple(self.classes[code] if code >= 0 else None for code in self.predicted)


@dataclass(frozen=True)
class Classification(Sequence[Score]):
    """Scores of several methods on the same events, as a sequence.

    Attributes
    ----------
    scores : tuple of Score
    refused : dict of str by method
        Reasons why methods could not be used.
    remarks : tuple of str
        Caveats for comparing scores.
    """

    scores: tuple[Score, ...]
    refused: Mapping[str, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    def find(self, method: str, *, procedure: str, n_components: int | None = None) -> Score:
        """The score of a method.

        Parameters
        ----------
        method : str
        procedure : {"transductive", "refitted"}
        n_components : int or None
            None takes the largest.
        """
        matches = [
            score
            for score in self.scores
            if score.method == method
            and score.procedure == procedure
            and n_components in (None, score.n_components)
        ]
        if not matches:
            methods = ", ".join(dict.fromkeys(score.method for score in self.scores))
            raise KeyError(
                f"no score for {method!r}, {procedure}, r = {n_components}; scored methods are "
                f"{methods}"
            )
        return matches[-1]

    def to_frame(self) -> Any:
        """DataFrame with one row per score."""
        return pd.DataFrame(
            {
                "method": [score.method for score in self.scores],
                "procedure": [score.procedure for score in self.scores],
                "r": [score.n_components for score in self.scores],
                "accuracy": [score.accuracy for score in self.scores],
                "balanced_accuracy": [score.balanced_accuracy for score in self.scores],
                "events": [score.n_events for score in self.scores],
            }
        )

    def __len__(self) -> int:
        return len(self.scores)

    def __getitem__(self, key: Any) -> Any:
        return self.scores[key]

    def __iter__(self) -> Iterator[Score]:
        return iter(self.scores)


@dataclass(frozen=True)
class PairScores:
    """Accuracy of each view in the multi-view walk with each other view.

    Attributes
    ----------
    names : tuple of str
        Views.
    accuracy, balanced_accuracy : (n_views, n_views) arrays
        Entry (l, m) uses the coordinates of view l in the walk of views l and m; NaN where l = m
        and for refused pairs.
    refused : dict of str by view or pair
        Reasons why views or pairs could not be used.
    remarks : tuple of str
        Warnings raised by the fits.
    """

    names: tuple[str, ...]
    accuracy: NDArray[np.float64] = field(repr=False)
    balanced_accuracy: NDArray[np.float64] = field(repr=False)
    refused: Mapping[str, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    def to_frame(self) -> Any:
        """DataFrame of accuracies, with the first view of each pair in rows."""
        return pd.DataFrame(self.accuracy, index=list(self.names), columns=list(self.names))
