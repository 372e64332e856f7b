"""Estimators as state machines: any calls in any order, with failures between them.

The model of an estimator is what its last successful fit gave, kept as plain arrays. Whatever is
called afterwards, and whatever fails, the estimator must go on giving just that.
"""

from __future__ import annotations

import copy
import errno
import os
import pickle
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from threadpoolctl import ThreadpoolController

import viewhop as vh
from tests.properties.failures import FAILURES, Injected, wrong_data
from tests.support.strategies import clusterings, data_sets, invalid_parameters, maps, single_maps
from viewhop import errors

#: Examples, steps by rule, and failures by kind, over all machines since the start.
COUNTS: Counter = Counter()
#: What a fit on drawn data may raise: the data may not suit the parameters.
REFUSALS = (ValueError, errors.ConvergenceError, errors.MemoryBudgetError)
THREADS = ThreadpoolController()


class Model:
    """What a successful fit gave, as plain arrays.

    Parameters
    ----------
    est : estimator
        Fitted.
    X : list of arrays
        What it was fitted on.
    """

    def __init__(self, est, X):
        self.X = [view.copy() for view in X]
        self.results = results_of(est)
        self.probe = est.transform(X) if hasattr(est, "transform") else est.predict(X)


def results_of(est):
    """The fitted attributes as arrays by name."""
    embedder = getattr(est, "embedder_", est)
    found = {
        "embedding": embedder.embedding_,
        "eigenvalues": embedder.eigenvalues_,
        "observed": embedder.observed_,
        "n_steps": np.asarray(embedder.n_steps_),
        **{f"degrees {name}": part for name, part in embedder.degrees_.items()},
        **{f"scale {name}": np.asarray(part) for name, part in embedder.bandwidths_.items()},
    }
    if embedder is not est:
        found |= {"labels": est.labels_, "centers": est.cluster_centers_}
    return {name: np.array(value) for name, value in found.items()}


def assert_same_results(one, two):
    assert one.keys() == two.keys()
    for name, value in one.items():
        assert_array_equal(value, two[name], err_msg=name, strict=True)


def surroundings():
    """What a call must leave alone: filters, the random numbers of NumPy, thread counts."""
    kind, keys, *rest = np.random.get_state()  # noqa: NPY002 - the one that users share
    threads = [(pool["filepath"], pool["num_threads"]) for pool in THREADS.info()]
    return list(warnings.filters), (kind, keys.tobytes(), *rest), threads


class EstimatorMachine(RuleBasedStateMachine):
    """Any calls of an estimator, in any order. A subclass names the class and its parameters."""

    kind: type
    parameters: st.SearchStrategy
    sets = data_sets(n_views=(1, 4), n_samples=(3, 24))

    def __init__(self):
        super().__init__()
        COUNTS["examples"] += 1
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name, "m.viewhop")
        self.model = None
        self.saved = None

    def teardown(self):
        self.folder.cleanup()

    # --- calls, watched --------------------------------------------------------------------------

    def call(self, function, *given):
        """The result of a call that leaves its surroundings and its input alone."""
        copies = copy.deepcopy(given)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            before = surroundings()
            try:
                return function(*given)
            finally:
                assert surroundings() == before, "the call changed its surroundings"
                foreign = [w for w in caught if not is_ours(w)]
                assert not foreign, f"raw warnings: {[*map(str, foreign)]}"
                assert_unchanged(given, copies)

    def refused(self, function, *given, by=ValueError):
        """Assert that a call fails and leaves the estimator as it was, also in a file."""
        before, saved = dict(vars(self.est)), self.bytes_of_file()
        with pytest.raises(by) as caught:
            self.call(function, *given)
        self.assert_unchanged_estimator(before, saved)
        return caught.value

    def unless_refused(self, function, *given):
        """The result of a call, or None if viewhop refuses it with a message."""
        try:
            return self.call(function, *given)
        except ValueError as error:
            if type(error) is not ValueError or not str(error):  # not of NumPy
                raise
            return None

    def assert_unchanged_estimator(self, before, saved):
        after = vars(self.est)
        assert after.keys() == before.keys()
        assert all(after[name] is before[name] for name in before), "a failure left its mark"
        assert self.bytes_of_file() == saved
        if self.model is not None:
            assert_same_results(results_of(self.est), self.model.results)
            assert_array_equal(self.place(self.model.X), self.model.probe)

    def bytes_of_file(self):
        """The model file of the estimator; None if it is not fitted or cannot be saved."""
        if self.model is None:
            return None
        path = Path(self.folder.name, "probe.viewhop")
        try:
            self.est.save(path)
        except errors.ModelFileError:
            return None
        return path.read_bytes()

    def place(self, X):
        """The embedding of samples, or their clusters."""
        method = self.est.transform if hasattr(self.est, "transform") else self.est.predict
        return self.call(method, X)

    def assert_holds(self, est):
        """Assert that an estimator is what the last successful fit gave, bit for bit."""
        assert_same_results(results_of(est), self.model.results)
        self.est = est
        assert_array_equal(self.place(self.model.X), self.model.probe)

    @property
    def embedder(self):
        return getattr(self.est, "embedder_", self.est)

    # --- rules -----------------------------------------------------------------------------------

    @initialize(data=st.data(), is_fitted=st.sampled_from((True, True, False)))
    def make(self, data, is_fitted):
        self.est = self.kind(**data.draw(self.parameters))
        if is_fitted:
            self.fit(data, False)

    @rule(data=st.data(), again=st.booleans())
    def fit(self, data, again):
        COUNTS["fit"] += 1
        X = data.draw(self.sets).views()
        before, saved = dict(vars(self.est)), self.bytes_of_file()
        try:
            assert self.call(self.est.fit, X) is self.est
        except REFUSALS as error:
            if isinstance(error, np.linalg.LinAlgError) or not str(error):
                raise
            COUNTS["fits refused"] += 1
            self.assert_unchanged_estimator(before, saved)
            return
        COUNTS["fits"] += 1
        self.keep(X)
        if again:
            assert_same_results(results_of(self.call(clone(self.est).fit, X)), self.model.results)

    def keep(self, X):
        assert_finite(results_of(self.est))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.model = Model(self.est, X)

    @rule(data=st.data(), name=st.sampled_from(sorted(FAILURES)), count=st.integers(0, 6))
    def fit_that_fails(self, data, name, count):
        X = data.draw(self.sets).views()
        before, saved = dict(vars(self.est)), self.bytes_of_file()
        parameters = self.est.get_params(deep=False)
        with FAILURES[name](self.est, count) as failure:
            try:
                self.call(self.est.fit, X)
                is_fitted = True
            except (*REFUSALS, Injected, KeyboardInterrupt, MemoryError):
                is_fitted = False
        self.est.set_params(**parameters)
        if is_fitted:  # the failure came too late, or the solver did not mind
            self.keep(X)
        else:
            COUNTS[f"failure: {name}"] += failure.fired
            self.assert_unchanged_estimator(before, saved)
        COUNTS["fit_that_fails"] += 1

    @rule(data=st.data())
    def fit_on_wrong_data(self, data):
        COUNTS["fit_on_wrong_data"] += 1
        X = wrong_data(data.draw, data.draw(self.sets).views())
        self.refused(self.est.fit, X, by=(ValueError, TypeError))

    @rule(data=st.data())
    def set_parameters(self, data):
        COUNTS["set_parameters"] += 1
        self.est.set_params(**data.draw(self.parameters))

    @rule(given=invalid_parameters, data=st.data())
    def set_invalid_parameters(self, given, data):
        COUNTS["set_invalid_parameters"] += 1
        parameters = self.est.get_params(deep=False)
        self.est.set_params(**given)
        self.refused(self.est.fit, data.draw(self.sets).views())
        self.est.set_params(**parameters)
        self.refused(lambda: self.est.set_params(nonsense=1))

    @precondition(lambda self: self.model is not None)
    @rule()
    def transform_training_samples(self):
        COUNTS["transform_training_samples"] += 1
        placed = self.place(self.model.X)
        assert_array_equal(placed, self.model.probe, strict=True)
        if "labels" in self.model.results:
            assert_array_equal(placed, self.model.results["labels"])
            return
        embedding = self.model.results["embedding"]
        assert placed.dtype == embedding.dtype
        tolerance = 1e-8 if embedding.dtype == np.float64 else 2e-3
        scale = np.abs(embedding).max()
        assert_allclose(placed, embedding, rtol=tolerance, atol=tolerance * scale)

    @precondition(lambda self: self.model is not None)
    @rule(data=st.data())
    def transform_some_rows(self, data):
        """Rows one by one are the rows of the batch, with views missing from some of them."""
        COUNTS["transform_some_rows"] += 1
        n, n_views = len(self.model.X[0]), len(self.model.X)
        rows = data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=4))
        X = [view[rows] * 1.01 for view in self.model.X]
        if n_views > 1 and data.draw(st.booleans()):
            X[data.draw(st.integers(0, n_views - 1))][0] = np.nan
        batch = self.unless_refused(self.place, X)
        if batch is None:
            return
        scale = np.abs(self.model.results["embedding"]).max()
        tolerance = 1e-10 if X[0].dtype == np.float64 else 1e-4
        for k in range(len(rows)):
            one = self.place([view[k : k + 1] for view in X])
            assert_allclose(one[0], batch[k], rtol=tolerance, atol=tolerance * scale)

    @precondition(lambda self: self.model is not None and len(self.model.X) > 1)
    @rule(data=st.data())
    def transform_a_subset_of_views(self, data):
        COUNTS["transform_a_subset_of_views"] += 1
        left_out = data.draw(st.integers(0, len(self.model.X) - 1))
        X = [None if l == left_out else view for l, view in enumerate(self.model.X)]
        by_name = {
            name: view
            for name, view in zip(self.embedder.view_names_, X, strict=True)
            if view is not None
        }
        placed = self.unless_refused(self.place, X)
        if placed is None:
            self.refused(self.place, by_name)
        else:
            assert_array_equal(self.place(by_name), placed)

    @precondition(lambda self: self.model is not None)
    @rule(data=st.data())
    def transform_wrong_data(self, data):
        COUNTS["transform_wrong_data"] += 1
        X = wrong_data(data.draw, [view.copy() for view in self.model.X], fitted=True)
        self.refused(self.place, X, by=(ValueError, TypeError))

    @precondition(lambda self: self.model is not None)
    @rule(t=st.sampled_from((0, 0.5, 1, 3)))
    def call_other_methods(self, t):
        COUNTS["call_other_methods"] += 1
        est = self.embedder
        own = self.call(est.coordinates, float(self.model.results["n_steps"]))
        assert_array_equal(own, self.model.results["embedding"])
        assert_array_equal(self.call(est.coordinates, t), self.call(est.coordinates, t))
        for name in ("disagreement", "view_similarity", "view_influence"):
            if not hasattr(est, name):
                continue
            one = self.unless_refused(getattr(est, name))
            if one is not None:
                assert_same_numbers(self.call(getattr(est, name)), one)

    @precondition(lambda self: self.model is None)
    @rule(data=st.data())
    def call_before_the_fit(self, data):
        COUNTS["call_before_the_fit"] += 1
        X = data.draw(self.sets).views()
        self.refused(self.place, X, by=NotFittedError)
        self.refused(self.est.save, self.path, by=NotFittedError)
        assert not hasattr(self.est, "embedding_")
        assert not hasattr(self.est, "labels_")

    @precondition(lambda self: self.model is not None)
    @rule()
    def save_and_load(self):
        COUNTS["save_and_load"] += 1
        try:
            self.call(self.est.save, self.path)
        except errors.ModelFileError:
            assert self.content() == self.saved
            return
        self.saved = self.path.read_bytes()
        self.assert_holds(self.call(vh.load, self.path))

    def content(self):
        return self.path.read_bytes() if self.path.exists() else None

    @precondition(lambda self: self.model is not None)
    @rule(number=st.sampled_from((errno.ENOSPC, errno.EIO, errno.EDQUOT)), late=st.booleans())
    def save_to_a_full_disk(self, number, late):
        COUNTS["save_to_a_full_disk"] += 1
        if self.bytes_of_file() is None:
            return
        place = "os.replace" if late else "os.fsync"
        failing = mock.patch(place, side_effect=OSError(number, os.strerror(number)))
        with failing, pytest.raises(OSError, match=os.strerror(number)):
            self.call(self.est.save, self.path)
        assert self.content() == self.saved
        assert not [*Path(self.folder.name).glob(".*")], "a temporary file is left"

    @precondition(lambda self: self.saved is not None)
    @rule(share=st.integers(0, 999))
    def load_a_damaged_file(self, share):
        COUNTS["load_a_damaged_file"] += 1
        cut = len(self.saved) * share // 1000  # their length has timings in it
        path = Path(self.folder.name, "damaged.viewhop")
        path.write_bytes(self.saved[:cut])
        self.refused(vh.load, path, by=errors.ModelFileError)

    @rule(how=st.sampled_from(("pickle", "copy", "deepcopy")))
    def copy_estimator(self, how):
        """A copy goes on in place of the estimator; a clone has the parameters and no more."""
        COUNTS["copy_estimator"] += 1
        copies = {
            "pickle": lambda est: pickle.loads(pickle.dumps(est)),  # noqa: S301 - our own
            "copy": copy.copy,
            "deepcopy": copy.deepcopy,
        }
        fresh = clone(self.est)
        assert repr(fresh) == repr(self.est)
        with pytest.raises(NotFittedError):
            fresh.save(self.path)
        other = copies[how](self.est)
        assert repr(other) == repr(self.est)
        if self.model is None:
            self.est = other
            return
        self.assert_holds(other)

    @invariant()
    def is_what_the_last_fit_gave(self):
        COUNTS["steps"] += 1
        if self.model is not None:
            assert_same_results(results_of(self.est), self.model.results)


class MapMachine(EstimatorMachine):
    kind, parameters = vh.MultiViewDiffusionMaps, maps


class SingleMapMachine(EstimatorMachine):
    kind, parameters = vh.DiffusionMaps, single_maps
    sets = data_sets(n_views=(1, 1), n_samples=(3, 30), missing=False)


class ClusteringMachine(EstimatorMachine):
    kind, parameters = vh.MultiViewSpectralClustering, clusterings


MACHINES = {"maps": MapMachine, "one view": SingleMapMachine, "clusters": ClusteringMachine}


def assert_same_numbers(one, two):
    values = [[*part.values()] if isinstance(part, dict) else part for part in (one, two)]
    assert_array_equal(*values)


def assert_unchanged(given, copies):
    """Assert that arrays in arguments are what they were."""
    for one, two in zip(given, copies, strict=True):
        if isinstance(one, list):
            assert_unchanged(one, two)
        elif isinstance(one, dict):
            assert_unchanged([*one.values()], [*two.values()])
        elif isinstance(one, np.ndarray) and one.dtype.kind == "f":
            assert_array_equal(one, two)


def is_ours(warning):
    """Whether a warning is one of viewhop's, or K-means telling of fewer places than clusters."""
    kind = warning.category
    return kind.__module__ == errors.__name__ or issubclass(kind, ConvergenceWarning)


def assert_finite(results):
    for name in ("embedding", "eigenvalues"):
        assert np.isfinite(results[name]).all(), f"{name} is not finite"
