"""The scores of the demonstration: methods as rows, conditions as columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["ScoreTable"]

#: Scores that differ by less count as equal: two standard errors, about, of a mean difference over
#: the draws of missing pairs.
LEVEL = 0.02


@dataclass(frozen=True)
class ScoreTable:
    """Adjusted mutual information of clusters and digits, by method and condition.

    Attributes
    ----------
    conditions : tuple of str
        Names of the columns.
    rows : dict of tuples of (float or None) by method
        One score per condition; None if the method does not apply. The last method is the one
        that `reading` judges; it applies in every condition.
    stacked : tuple of str
        Methods that set all features side by side, without a notion of views.

    Examples
    --------
    >>> from viewhop.experiments._demo_scores import ScoreTable
    >>> rows = {"sum": (0.9, 0.71), "joined": (0.7, 0.5), "hop": (0.8, 0.7)}
    >>> table = ScoreTable(("whole", "torn"), rows, stacked=("joined",))
    >>> table.is_best("hop", 1)
    False
    >>> table.reading()
    'whole: no, 0.100 behind sum; torn: yes, 0.200 ahead of all features side by side (as is sum)'
    """

    conditions: tuple[str, ...]
    rows: Mapping[str, tuple[float | None, ...]]
    stacked: tuple[str, ...]

    def is_best(self, method: str, column: int) -> bool:
        """Whether no method has a higher score in a column.

        Parameters
        ----------
        method : str
        column : int
            Index of the condition.
        """
        return self.rows[method][column] == max(self._scores(column).values())

    def reading(self) -> str:
        """Whether the last method is worth it in each condition.

        It is if no other is clearly better and all features side by side are clearly worse.
        """
        verdicts = []
        for column, condition in enumerate(self.conditions):
            scores = self._scores(column)
            _, ours = scores.popitem()
            rival = max(scores, key=scores.__getitem__)
            lead = ours - max(scores[name] for name in self.stacked)
            if scores[rival] - ours >= LEVEL:
                verdict = f"no, {scores[rival] - ours:.3f} behind {rival}"
            elif lead < LEVEL:
                verdict = "no difference to all features side by side"
            else:
                verdict = f"yes, {lead:.3f} ahead of all features side by side"
                alike = [name for name, score in scores.items() if score > ours - LEVEL]
                verdict += f" (as is {', '.join(alike)})" if alike else ""
            verdicts.append(f"{condition}: {verdict}")
        return "; ".join(verdicts)

    def _scores(self, column: int) -> dict[str, float]:
        """Scores in one condition by method, without those that do not apply."""
        scores = {method: row[column] for method, row in self.rows.items()}
        return {method: score for method, score in scores.items() if score is not None}
