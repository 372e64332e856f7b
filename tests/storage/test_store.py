"""Results in a folder that threads and processes share."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from time import sleep

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csc_array, csr_array

from viewhop._storage import archive
from viewhop._storage.fingerprint import LENGTH, Fingerprint
from viewhop._storage.kept import KeptResults
from viewhop._storage.store import KEPT, Codec, Store
from viewhop.errors import CacheWarning, ModelFileError

KEY = "0" * LENGTH
ANSWER = np.arange(6.0)


def encode(array, shelf):
    if array.dtype == np.int8:
        raise ModelFileError("no bytes, please")
    shelf.put("array", array)
    return {}


CODEC = Codec(encode, lambda data, shelf: shelf.take("array", (6,)), lambda array: array.nbytes)


@pytest.fixture(autouse=True)
def _forget():
    KEPT.clear()
    yield
    KEPT.clear()


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store", lambda: 10**6)


class Counted:
    def __init__(self, answer=ANSWER, seconds=0.0):
        self.calls, self.answer, self.seconds = 0, answer, seconds

    def __call__(self):
        self.calls += 1
        sleep(self.seconds)
        return self.answer


def fetch(store, compute, key=KEY):
    return store.fetch(key, compute, CODEC, stacklevel=1)


@pytest.mark.parametrize("forget", [True, False])
def test_a_result_is_computed_once_and_comes_back_bit_for_bit(store, forget):
    compute = Counted()
    for _ in range(3):
        assert_array_equal(fetch(store, compute), ANSWER)
        if forget:
            KEPT.clear()
    assert compute.calls == 1


def test_threads_that_need_the_same_result_compute_it_once(store):
    compute = Counted(seconds=0.05)
    with ThreadPoolExecutor(4) as threads:
        results = [*threads.map(lambda _: fetch(store, compute), range(8))]
    assert compute.calls == 1
    assert all((result == ANSWER).all() for result in results)


def test_a_result_whose_file_is_gone_is_computed_again(store):
    compute = Counted()
    fetch(store, compute)
    (store.folder / KEY / "entry.viewhop").unlink()
    fetch(store, compute)
    assert compute.calls == 2


def cut(path):
    path.write_bytes(path.read_bytes()[:-9])


def flip(path):
    data = bytearray(path.read_bytes())
    data[data.index(ANSWER.tobytes()) + 20] ^= 1
    path.write_bytes(data)


def put_pickle(path):
    path.write_bytes(pickle.dumps(ANSWER))


def put_other(path):
    archive.write(path, {}, {"array": np.arange(5.0)})


def put_more(path):
    archive.write(path, {}, {"array": ANSWER, "more": ANSWER})


@pytest.mark.parametrize("damage", [cut, flip, put_pickle, put_other, put_more])
@pytest.mark.parametrize("forget", [True, False])
def test_a_damaged_file_is_computed_again_with_a_warning(store, damage, forget):
    compute = Counted()
    fetch(store, compute)
    damage(store.folder / KEY / "entry.viewhop")
    if forget:
        KEPT.clear()
    with pytest.warns(CacheWarning, match=r"entry\.viewhop cannot be used, so it is computed"):
        assert_array_equal(fetch(store, compute), ANSWER)
    KEPT.clear()
    assert_array_equal(fetch(store, compute), ANSWER)
    assert compute.calls == 2


def test_a_result_that_cannot_be_written_is_returned_with_a_warning(store, monkeypatch):
    tiny = np.zeros(6, dtype=np.int8)
    with pytest.warns(CacheWarning, match="not cached in .*: no bytes, please"):
        assert fetch(store, Counted(tiny)) is tiny

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(archive, "write", full)
    with pytest.warns(CacheWarning, match="No space left"):
        assert_array_equal(fetch(store, Counted()), ANSWER)


def test_an_error_while_computing_leaves_nothing_and_no_lock(store):
    def fail():
        raise ValueError("constant view")

    with pytest.raises(ValueError, match="constant view"):
        fetch(store, fail)
    assert [path.name for path in (store.folder / KEY).iterdir()] == ["lock"]
    assert_array_equal(fetch(store, Counted()), ANSWER)


def test_results_kept_in_memory_stay_within_their_bytes():
    kept = KeptResults()
    for k in range(5):
        kept.put(k, k, size=3, most=7)
    assert [kept.get(k) for k in range(5)] == [None, None, None, 3, 4]
    kept.get(3)
    kept.put(9, 9, size=3, most=7)
    assert [kept.get(k) for k in (3, 4, 9)] == [3, None, 9]
    kept.put(10, 10, size=8, most=7)
    assert kept.get(10) is None
    assert kept.get(9) == 9
    kept.put(9, 0, size=1, most=7)
    assert kept.get(9) == 0


def test_a_store_that_may_keep_nothing_reads_its_files(tmp_path):
    store = Store(tmp_path, lambda: 0)
    compute = Counted()
    assert fetch(store, compute) is ANSWER
    again = fetch(store, compute)
    assert again is not ANSWER
    assert_array_equal(again, ANSWER)


def prints(*things):
    print_ = Fingerprint()
    for thing in things:
        print_ = print_.add_array(thing) if hasattr(thing, "shape") else print_.add(thing)
    return print_.text


def test_a_fingerprint_tells_apart_whatever_differs_in_a_bit():
    X = np.arange(12.0).reshape(3, 4)
    sparse = csr_array(X)
    nudged = X.copy()
    nudged[2, 1] = np.nextafter(nudged[2, 1], 99.0)
    different = [
        [X],
        [X.T.copy()],
        [X.reshape(4, 3)],
        [X.astype(np.float32)],
        [X, None],
        [None, X],
        [nudged],
        [sparse],
        [csc_array(X)],
        [X[:0]],
        ["ab", "c"],
        ["a", "bc"],
        [{"a": 1}],
        [{"a": 1.0}],
        [{"a": None}],
    ]
    assert len({prints(*things) for things in different}) == len(different)


def test_a_fingerprint_does_not_depend_on_layout_or_the_order_of_keys():
    X = np.arange(12.0).reshape(3, 4)
    assert prints(X) == prints(np.asfortranarray(X)) == prints(np.repeat(X, 2, axis=0)[::2])
    assert prints({"a": 1, "b": 2}) == prints({"b": 2, "a": 1})
