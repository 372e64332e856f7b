"""Details of views that larger tests pass over: limits, messages, labels, precision."""

import numpy as np
import pandas as pd
import pytest

from viewhop.views import Schema, Views
from viewhop.views import _checks as reading

#: The square of a larger value overflows.
LARGEST = 1e150


def test_a_schema_knows_the_columns_that_are_in_no_group():
    views = Views({"a": np.ones((3, 2)), "b": np.eye(3)})
    assert Schema.from_views(views).n_features == 5
    assert Schema.from_views(views, groups=[2, 3], n_columns=7).n_features == 7


def test_rows_without_values_are_an_empty_view():
    with pytest.raises(ValueError, match="view 'a' is empty: it has 0 features"):
        Views({"a": [[], []], "b": np.ones((2, 1))})


def test_columns_of_many_levels_are_known_by_the_last():
    assert reading.text_labels([("x", "y", "z"), ("x", "y", "w")]) == ("z", "w")


def test_the_largest_value_is_allowed_beside_a_missing_row():
    X = np.array([[LARGEST], [np.nan], [0.0]])
    Y = np.ones((3, 1))
    assert Views({"a": X, "b": Y}).rows("a").max() == LARGEST
    X[0] *= 1.01
    with pytest.raises(ValueError, match="row 0 of view 'a' has a value of"):
        Views({"a": X, "b": Y})


def test_frames_are_asked_for_by_name():
    with pytest.raises((TypeError, ValueError), match="DataFrames"):
        Views.from_frames(5)


def frames():
    index = list("uvw")
    return {
        "a": pd.DataFrame({"x": np.ones(3, dtype=np.float32)}, index=index),
        "b": pd.DataFrame({"y": np.arange(3.0)}, index=index),
    }


def test_rows_left_out_leave_the_precision_of_a_view():
    whole = Views.from_frames(frames())
    views = Views(whole, observed={"a": np.array([True, True, False])})
    assert len(views.rows("a")) == 2
    assert views.precision("a") == whole.precision("a") == np.float32
    assert views.precision("b") == whole.precision("b")
