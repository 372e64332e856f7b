"""Messages about incomplete or joined data name a sample by its id, where ids are known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import viewhop as vh
from viewhop.errors import DisconnectedWarning
from viewhop.kernels import Correlation, Gaussian, Precomputed

IDS = [f"c{k}" for k in range(30)]


def frames(change=None, ids=IDS):
    """Two DataFrames of the same samples; the second lacks two and is in another order."""
    rng = np.random.default_rng(0)
    first = pd.DataFrame(rng.standard_normal((30, 5)), index=ids)
    second = pd.DataFrame(rng.standard_normal((30, 5)), index=ids)[2:][::-1]
    if change is not None:
        change(first, second)
    return {"a": first, "b": second}


def views(change=None):
    return vh.Views.from_frames(frames(change))


def fit(data, **parameters):
    return vh.MultiViewDiffusionMaps(2, **parameters).fit(data)


def constant(first, second):
    second.loc["c17"] = 1.0


@pytest.mark.parametrize(
    "kernel", [Correlation(), Correlation(n_neighbors=4), Correlation("joint")]
)
def test_a_row_that_a_kernel_is_not_defined_on(kernel):
    with pytest.raises(ValueError, match=r"sample 'c17' \(row 17\) of view 'b' is constant"):
        fit(views(constant), kernel=kernel)


def test_the_same_without_ids_gives_the_row_of_the_sample():
    both = frames(constant)
    arrays = {name: both[name].reindex(IDS).to_numpy() for name in both}
    with pytest.raises(ValueError, match=r"row 17 of view 'b' is constant"):
        fit(arrays, kernel=Correlation())


def test_a_new_row_that_a_kernel_is_not_defined_on():
    est = fit(views(), kernel=Correlation())
    new = vh.Views.from_frames({"b": frames(constant)["b"][5:15]})
    with pytest.raises(ValueError, match=r"sample 'c17' \(row 7\) of view 'b' is constant"):
        est.transform(new)


def test_a_precomputed_kernel():
    K = pd.DataFrame(np.eye(30) + 0.1, index=IDS)
    K.iloc[3, 3] = 0.0
    data = vh.Views.from_frames({"a": K, "b": frames()["a"]})
    with pytest.raises(ValueError, match=r"sample 'c3' \(row 3\) .* has 0 on the diagonal"):
        fit(data, kernel={"a": Precomputed(), "b": "gaussian"})


def part(first, second):
    second.loc["c17", 2] = np.nan


def endless(first, second):
    second.loc["c17", 2] = np.inf


def huge(first, second):
    second.loc["c17", 2] = 1e200


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (part, "has NaN in column 2"),
        (endless, "has an infinite value"),
        (huge, "its square overflows"),
    ],
)
def test_a_value_that_cannot_be_measured(change, message):
    # Row 12 of its own file: the second view begins at the end, without the last.
    with pytest.raises(ValueError, match=rf"sample 'c17' \(row 12\) of view 'b' .*{message}"):
        views(change)


def test_a_sample_that_no_view_observed():
    def empty(first, second):
        first.loc["c4"] = np.nan
        second.loc["c4"] = np.nan

    with pytest.raises(ValueError, match=r"sample 'c4' \(row 4\) is NaN: it was observed by no"):
        views(empty)


def test_a_sample_that_the_walk_does_not_reach():
    ids = [*IDS[:24], *"uvwxyz"]
    rng = np.random.default_rng(0)
    first = rng.standard_normal((30, 2))
    first[24:] += 100.0
    second = rng.standard_normal((24, 2))
    data = vh.Views.from_frames(
        {"a": pd.DataFrame(first, index=ids), "b": pd.DataFrame(second, index=IDS[:24])}
    )
    with pytest.raises(ValueError, match=r"sample 'u' \(row 24\) was observed by view 'a', but"):
        fit(data, kernel=Gaussian("local", n_neighbors=3), within_view_weight=0.0)
    # With view weights the walker may stay in a view, so that they are a piece of the walk.
    message = r"sample 'u' \(row 24\) in view 'a'"
    with pytest.warns(DisconnectedWarning, match=message):
        fit(data, kernel=Gaussian("local", n_neighbors=3))


def test_a_walk_in_pieces():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 2))
    X[25:] += 100.0
    frame = pd.DataFrame(X, index=IDS)
    message = r"the smallest has 5 samples, such as sample 'c25' \(row 25\) in view 'a'"
    with pytest.warns(DisconnectedWarning, match=message):
        fit(vh.Views.from_frames({"a": frame, "b": frame}), kernel=Gaussian(n_neighbors=4))


def test_a_new_sample_without_any_kernel_mass():
    K = np.exp(-np.abs(np.subtract.outer(np.arange(30.0), np.arange(30.0))))
    both = {name: pd.DataFrame(K, index=IDS) for name in "ab"}
    est = fit(vh.Views.from_frames(both), kernel="precomputed")
    new = pd.DataFrame(np.vstack([K[:2], np.zeros(30)]), index=["x", "y", "z"])
    with pytest.raises(ValueError, match=r"sample 'z' \(row 2\) has no positive kernel value"):
        est.transform(vh.Views.from_frames({"a": new, "b": new}))
