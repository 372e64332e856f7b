"""The valid values of the estimators' parameters, as scikit-learn constraints."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from viewhop._registry import FUSIONS, KERNELS, OUTPUTS, SOLVERS
from viewhop.kernels import Kernel

__all__ = ["ListedNames", "choose_constraints"]


class ListedNames(StrOptions):
    """The names in a dict of `viewhop._registry`, looked up when a parameter is checked.

    Parameters
    ----------
    entries : dict by name
    *others : str
        Further valid names.
    """

    def __init__(self, entries: Mapping[str, Any], *others: str) -> None:
        self._entries = entries
        self._others = others
        super().__init__({*others, *entries})

    def is_satisfied_by(self, value: object) -> bool:
        """Whether the value is one of the names."""
        self.options = {*self._others, *self._entries}
        return bool(super().is_satisfied_by(value))


_POSITIVE = Interval(Integral, 1, None, closed="left")

_CONSTRAINTS: dict[str, list[Any]] = {
    "n_components": [_POSITIVE, StrOptions({"auto"})],
    "n_steps": [Interval(Real, 0, None, closed="left")],
    "kernel": [ListedNames(KERNELS), Kernel, list, tuple, Mapping],
    "fusion": [ListedNames(FUSIONS)],
    "within_view_weight": [Interval(Real, 0, 1, closed="both")],
    "hops": ["array-like", None],
    "accuracy": [Interval(Real, 0, 1, closed="left"), StrOptions({"local_pca", "danco"}), None],
    "output": [ListedNames(OUTPUTS)],
    "views": [_POSITIVE, list, tuple, Mapping, None],
    "solver": [ListedNames(SOLVERS, "auto"), HasMethods("solve")],
    "tol": [Interval(Real, 0, None, closed="left"), None],
    "max_memory": [Interval(Real, 0, None, closed="neither"), str, None],
    "n_jobs": [Integral, None],
    "random_state": ["random_state", np.random.Generator],
    "verbose": ["verbose", callable],
}


def choose_constraints(*names: str, **own: list[Any]) -> dict[str, list[Any]]:
    """The constraints of shared parameters, plus those of an estimator's own parameters.

    Parameters
    ----------
    *names : str
        Parameters that mean the same as in `MultiViewDiffusionMaps`.
    **own : list
        Constraints of other parameters.
    """
    return {**{name: _CONSTRAINTS[name] for name in names}, **own}
