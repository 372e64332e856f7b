"""The methods that the demonstration compares: estimators and their input."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from viewhop.estimators import DiffusionMaps, MultiViewDiffusionMaps
from viewhop.views import Views

__all__ = ["MULTI", "STACKED", "Method", "make_methods", "make_single_view_methods", "stack_views"]

#: One fewer than there are digits.
_N_COORDINATES = 9
#: Rows of the features side by side.
STACKED = ("K-means of all features", "diffusion map of all features")
#: The row of the library's default.
MULTI = "multi-view, the default"


@dataclass(frozen=True)
class Method:
    """A way to embed samples that several views observed.

    Attributes
    ----------
    prepare : callable
        ``prepare(views)`` returns an estimator that is not fitted, and its input.
    complaint : str
        Why it does not apply if a view did not observe a sample; empty if it does.
    """

    prepare: Callable[[Views], tuple[Any, Any]]
    complaint: str = ""


def make_single_view_methods(names: tuple[str, ...], *, random_state: int) -> dict[str, Method]:
    """The diffusion map of each view alone, by name of the view.

    Parameters
    ----------
    names : tuple of str
        Names of the views.
    random_state : int
    """

    def alone(name: str) -> Method:
        return Method(
            lambda views: (DiffusionMaps(_N_COORDINATES, random_state=random_state), views[name]),
            "cannot place a sample that it did not observe",
        )

    return {name: alone(name) for name in names}


def make_methods(*, random_state: int) -> dict[str, Method]:
    """The ways to use all views, by name; the last is the library's default.

    Parameters
    ----------
    random_state : int

    Notes
    -----
    All but the first and the paper's walk have the default kernel. The paper has no rule for
    missing pairs: its walk gets the mean over the views that observed a sample.
    """

    def fused(fusion: str, complaint: str = "") -> Method:
        return Method(
            lambda views: (
                MultiViewDiffusionMaps(_N_COORDINATES, fusion=fusion, random_state=random_state),
                views,
            ),
            complaint,
        )

    def paper_walk(views: Views) -> tuple[Any, Any]:
        output = "concat" if views.observed.all() else "mean"
        return (
            MultiViewDiffusionMaps.paper_settings(
                _N_COORDINATES, output=output, random_state=random_state
            ),
            views,
        )

    return {
        STACKED[0]: Method(lambda views: (FunctionTransformer(), stack_views(views))),
        STACKED[1]: Method(
            lambda views: (
                DiffusionMaps(_N_COORDINATES, random_state=random_state),
                stack_views(views),
            )
        ),
        "kernel sum": fused("sum"),
        "kernel product": fused("product", "needs every view of every sample"),
        "the paper's walk": Method(paper_walk),
        MULTI: fused("hop"),
    }


def stack_views(views: Views) -> NDArray[np.floating]:
    """All features side by side, each with mean 0 and variance 1; missing ones are their mean.

    Parameters
    ----------
    views : Views

    Returns
    -------
    features : (n_samples, n_features) array
    """
    scaled = StandardScaler().fit_transform(np.hstack(views.arrays))
    return np.asarray(np.nan_to_num(scaled, nan=0.0))
