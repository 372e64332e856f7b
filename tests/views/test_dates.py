"""Dates and durations are refused with their column, in every container and form."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal

import viewhop as vh
from viewhop import DiffusionMaps, MultiViewDiffusionMaps, MultiViewSpectralClustering, Views
from viewhop.estimators import DeSaEmbedding, KernelCCA

N = 30
DAYS = pd.date_range("2020-01-01", periods=N)
NUMBERS = np.random.default_rng(0).normal(size=(N, 3))


def objects(values):
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def some_nat(values):
    values = values.copy()
    values[4] = np.array("NaT", dtype=values.dtype)
    return values


#: Columns without a single number, as pandas Series or numpy arrays.
COLUMNS = {
    "datetime64[ns]": DAYS.to_numpy().astype("M8[ns]"),
    "datetime64[D]": DAYS.to_numpy().astype("M8[D]"),
    "datetime64 with NaT": some_nat(DAYS.to_numpy().astype("M8[s]")),
    "only NaT": np.full(N, "NaT", dtype="M8[ns]"),
    "timedelta64": (DAYS - DAYS[0]).to_numpy().astype("m8[s]"),
    "timedelta64 with NaT": some_nat((DAYS - DAYS[0]).to_numpy().astype("m8[s]")),
    "dates": objects([day.date() for day in DAYS]),
    "datetimes": objects([day.to_pydatetime() for day in DAYS]),
    "timestamps": objects([*DAYS]),
    "durations": objects([timedelta(days=k) for k in range(N)]),
    "numpy dates": objects([*DAYS.to_numpy()]),
    "one date": objects([*np.arange(N - 1.0), date(2020, 1, 1)]),
    "one NaT": objects([pd.NaT, *np.arange(N - 1.0)]),
    "one numpy NaT": objects([np.datetime64("NaT"), *np.arange(N - 1.0)]),
    "times": objects([time(k % 24) for k in range(N)]),
    "periods": objects([*DAYS.to_period("D")]),
}
SERIES = {
    **{name: pd.Series(values) for name, values in COLUMNS.items()},
    "with a time zone": pd.Series(DAYS.tz_localize("Europe/Berlin")),
    "period": pd.Series(DAYS.to_period("M")),
    "categories of dates": pd.Series(pd.Categorical(DAYS)),
    "categories of durations": pd.Series(pd.Categorical(DAYS - DAYS[0])),
}
POLARS = {
    "Date": pl.Series([day.date() for day in DAYS]),
    "Datetime": pl.Series([day.to_pydatetime() for day in DAYS]),
    "Duration": pl.Series([timedelta(days=k) for k in range(N)]),
    "Time": pl.Series([time(k % 24) for k in range(N)]),
    "Object": pl.Series([*DAYS.to_pydatetime()], dtype=pl.Object),
    "Date with null": pl.Series([None, *[day.date() for day in DAYS[1:]]]),
}
ENTRIES = {
    "Views": Views,
    "fit": MultiViewDiffusionMaps().fit,
    "fit_transform": MultiViewDiffusionMaps().fit_transform,
    "clustering": MultiViewSpectralClustering(2).fit,
    "KernelCCA": KernelCCA().fit,
    "DeSa": DeSaEmbedding().fit,
    "advise": vh.advise,
}


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("dates", SERIES)
def test_a_frame_with_dates_is_refused_with_the_column(entry, dates):
    alone = pd.DataFrame({"when": SERIES[dates]})
    mixed = pd.DataFrame({"x": NUMBERS[:, 0], "when": SERIES[dates], "y": NUMBERS[:, 1]})
    for frame in (alone, mixed):
        for X in ([NUMBERS, frame], {"a": NUMBERS, "view2": frame}):
            with pytest.raises(ValueError, match="view 'view2': column 'when' is not numeric: it"):
                ENTRIES[entry](X)


@pytest.mark.parametrize("dates", COLUMNS)
def test_an_array_of_dates_is_refused_with_the_column(dates):
    column = COLUMNS[dates]
    alone = column[:, None]
    beside = np.c_[objects([*NUMBERS[:, 0]]), objects([*column])]
    for array, k in ((alone, 0), (alone.tolist(), 0), (beside, 1), (beside.tolist(), 1)):
        if dates.startswith(("datetime64[ns]", "only NaT")) and isinstance(array, list) and k == 0:
            continue  # tolist turns nanoseconds into integers
        message = f"column {k} is not numeric: it contains dates or durations"
        for read in (Views, MultiViewDiffusionMaps().fit):
            with pytest.raises(ValueError, match=f"view 'view2': {message}"):
                read([NUMBERS, array])
        for read in (DiffusionMaps().fit, lambda X: Views.from_columns(X, 1)):
            with pytest.raises(ValueError, match=f"X: {message}"):
                read(array)


@pytest.mark.parametrize("dates", SERIES)
def test_a_stacked_frame_with_dates_is_refused_with_the_column(dates):
    alone = pd.DataFrame({"when": SERIES[dates], "then": SERIES[dates]})
    mixed = pd.DataFrame({"x": NUMBERS[:, 0], "when": SERIES[dates]})
    for frame in (alone, mixed):
        for fit in (
            DiffusionMaps().fit,
            MultiViewDiffusionMaps(views=2).fit,
            MultiViewSpectralClustering(2, views=2).fit,
            KernelCCA(views=2).fit,
            lambda X: Views.from_columns(X, 2),
            vh.advise,
        ):
            with pytest.raises(ValueError, match="X: column 'when' is not numeric: it contains da"):
                fit(frame)


@pytest.mark.parametrize("dates", POLARS)
def test_a_polars_frame_with_dates_is_refused_with_the_column(dates):
    frame = pl.DataFrame({"x": NUMBERS[:, 0], "when": POLARS[dates]})
    for read, X, what in (
        (Views, [NUMBERS, frame], "view 'view2'"),
        (Views, [NUMBERS, frame[["when"]]], "view 'view2'"),
        (MultiViewDiffusionMaps().fit, [NUMBERS, frame], "view 'view2'"),
        (DiffusionMaps().fit, frame, "X"),
        (DiffusionMaps().fit, frame[["when"]], "X"),
    ):
        with pytest.raises(ValueError, match=f"{what}: column 'when' is not numeric: it contains"):
            read(X)


def test_arrow_dates_are_refused_with_the_column():
    pytest.importorskip("pyarrow")
    for dtype in ("date32[pyarrow]", "timestamp[ns][pyarrow]", "duration[s][pyarrow]"):
        values = DAYS - DAYS[0] if dtype.startswith("duration") else DAYS
        frame = pd.DataFrame({"when": pd.Series(values).astype(dtype)})
        with pytest.raises(ValueError, match="column 'when' is not numeric"):
            Views([NUMBERS, frame])


@pytest.mark.parametrize("dates", SERIES)
def test_transform_and_joins_refuse_dates_too(dates):
    frame = pd.DataFrame({"when": SERIES[dates]})
    one = pd.DataFrame({"when": NUMBERS[:, 0]})
    est = MultiViewDiffusionMaps(random_state=0).fit({"a": NUMBERS, "b": one})
    stacked = DiffusionMaps(random_state=0).fit(one)
    for read in (
        lambda: est.transform({"b": frame}),
        lambda: stacked.transform(frame),
        lambda: Views.from_frames({"b": frame}),
        lambda: Views.link({"b": frame}),
        lambda: Views.link({"b": frame}, times={"b": range(N)}),
    ):
        with pytest.raises(ValueError, match=r"(view 'b'|X): column 'when' is not numeric: it con"):
            read()


def test_masked_dates_are_refused():
    column = np.ma.array(COLUMNS["datetime64[D]"][:, None], mask=np.arange(N)[:, None] == 3)
    with pytest.raises(ValueError, match="column 0 is not numeric: it contains dates"):
        Views([NUMBERS, column])


def test_columns_with_the_same_name_are_looked_at_one_by_one():
    frame = pd.concat([pd.Series(NUMBERS[:, 0]), pd.Series(DAYS)], axis=1, keys=["x", "x"])
    with pytest.raises(ValueError, match="column 'x' is not numeric: it contains dates"):
        Views([frame])


def test_numbers_that_come_as_objects_or_categories_stay_numbers():
    numbers = np.arange(float(N))
    frame = pd.DataFrame(
        {
            "x": pd.Series(numbers, dtype=object),
            "y": pd.Categorical(numbers),
            "z": pd.Series(numbers, dtype="Int64"),
            "w": pd.Series(numbers > 4),
        }
    )
    assert_array_equal(Views([frame])["view1"], np.c_[numbers, numbers, numbers, numbers > 4])


def test_what_else_is_no_number_is_refused_by_column_as_before():
    words = pd.DataFrame({"x": NUMBERS[:, 0], "who": ["anna"] * N})
    with pytest.raises(ValueError, match="view 'view1': column 'who' is not numeric: drop it or"):
        Views([words])
    for bad in (NUMBERS * 1j, np.array([["x"]] * N), np.array([[b"x"]] * N)):
        with pytest.raises(ValueError, match="view 'view2': "):
            Views([NUMBERS, bad])
    assert_array_equal(Views([[["1", "2"]], [[b"3"]]]).arrays[1], [[3.0]])


def test_a_datetime_is_named_by_its_type():
    with pytest.raises(ValueError, match=r"column 1 .*\(datetime\)"):
        Views([[[1.0, datetime(2020, 1, 1)]]])
