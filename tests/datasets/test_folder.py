"""Files that do not come with the package."""

from __future__ import annotations

import hashlib

import pytest

from viewhop.datasets._folder import find_file
from viewhop.errors import DataMissingError

CONTENT = b"some pictures"
SUM = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def home(tmp_path):
    (tmp_path / "set.npz").write_bytes(CONTENT)
    return tmp_path


def test_file_of_the_right_checksum_is_found_in_the_folder_given_or_named(home, monkeypatch):
    monkeypatch.delenv("VIEWHOP_DATA", raising=False)
    assert find_file("set.npz", SUM, home, "a shop") == home / "set.npz"
    assert find_file("set.npz", SUM, str(home), "a shop") == home / "set.npz"
    monkeypatch.setenv("VIEWHOP_DATA", str(home))
    assert find_file("set.npz", SUM, None, "a shop") == home / "set.npz"


def test_folder_that_is_given_goes_before_the_one_that_is_named(
    home, monkeypatch, tmp_path_factory
):
    monkeypatch.setenv("VIEWHOP_DATA", str(home))
    other = tmp_path_factory.mktemp("other")
    with pytest.raises(DataMissingError, match="other"):
        find_file("set.npz", SUM, other, "a shop")


@pytest.mark.parametrize("unset", [True, False])
def test_missing_data_name_the_file_and_where_it_comes_from(unset, tmp_path, monkeypatch):
    monkeypatch.setenv("VIEWHOP_DATA", "" if unset else str(tmp_path))
    with pytest.raises(DataMissingError, match=r"set\.npz.* comes from a shop") as caught:
        find_file("set.npz", SUM, None, "a shop")
    assert caught.value.file == "set.npz"
    assert "\n" not in str(caught.value)


def test_wrong_checksum_names_file_and_both_sums(home):
    wrong = hashlib.sha256(b"other pictures").hexdigest()
    with pytest.raises(ValueError, match=r"set\.npz") as caught:
        find_file("set.npz", wrong, home, "a shop")
    assert wrong in str(caught.value)
    assert SUM in str(caught.value)
