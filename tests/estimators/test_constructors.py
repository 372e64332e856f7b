"""What every estimator stores and checks, and how its columns are named."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from sklearn.base import clone

from viewhop import (
    DeSaEmbedding,
    DiffusionMaps,
    KernelCCA,
    MultiViewDiffusionMaps,
    MultiViewSpectralClustering,
)
from viewhop.kernels import Correlation, Gaussian, Laplacian, Precomputed

ESTIMATORS = [
    DeSaEmbedding,
    DiffusionMaps,
    KernelCCA,
    MultiViewDiffusionMaps,
    MultiViewSpectralClustering,
]
KERNELS = [Correlation, Gaussian, Laplacian, Precomputed]


class Untouchable:
    """A value that notices if anything is asked of it."""

    def __getattribute__(self, name):
        if name in ("__class__", "__dict__"):
            return object.__getattribute__(self, name)
        raise AssertionError(f"the constructor asked for {name}")

    def __bool__(self):
        raise AssertionError("the constructor asked whether it is true")

    def __eq__(self, other):
        raise AssertionError("the constructor compared it")

    __hash__ = None


@pytest.mark.parametrize("cls", ESTIMATORS + KERNELS)
def test_a_constructor_stores_its_arguments_and_looks_at_none(cls):
    names = [*inspect.signature(cls).parameters]
    values = {name: Untouchable() for name in names}
    made = cls(**values)
    assert {*vars(made)} == {*names}
    assert all(vars(made)[name] is values[name] for name in names)


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_each_wrong_parameter_is_refused_by_fit_and_by_name(cls):
    X = np.random.default_rng(0).normal(size=(120, 4))
    views = X if cls is DiffusionMaps else [X[:, :2], X[:, 2:]]
    for name in inspect.signature(cls).parameters:
        wrong = 3 if name == "memory" else "nonsense"  # any text is the name of a folder
        est = clone(cls()).set_params(**{name: wrong})
        with pytest.raises((ValueError, TypeError), match=name):
            est.fit(views)


@pytest.mark.parametrize("n_components", [1, 2, 12])
@pytest.mark.parametrize(
    "walk",
    [{}, {"output": "concat"}, {"output": "mean"}, {"fusion": "sum"}, {"within_view_weight": 0.0}],
    ids=str,
)
def test_names_of_columns_are_unique_whatever_the_views_are_called(walk, n_components):
    # Names that would collide if a number were appended without care.
    names = ["a", "a_1", "a_1_1", "a_", "consensus", "mean", "fused", "1", "joint"]
    rng = np.random.default_rng(0)
    views = {name: rng.normal(size=(40, 3)) for name in names}
    est = MultiViewDiffusionMaps(
        n_components, kernel=Gaussian(factor=0.3), random_state=0, **walk
    ).fit(views)
    columns = [*est.get_feature_names_out()]
    assert len(columns) == len({*columns}) == est.embedding_.shape[1]
    if len(columns) == len(names) * n_components:
        expected = [f"{name}_{k}" for name in names for k in range(1, n_components + 1)]
        assert columns == expected
