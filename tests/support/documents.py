"""Small documents by their words, as a sparse view, and the same in a full array."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

__all__ = ["full", "make_documents", "make_numbers"]


def make_documents(n=120, n_words=150, *, seed=0, n_topics=3, dtype=np.float64):
    """Counts of words in documents of several topics, (n, n_words), of which few are not zero."""
    rng = np.random.default_rng(seed)
    topics = rng.integers(n_topics, size=n)
    weights = rng.dirichlet(np.full(n_words, 0.15), size=n_topics)
    counts = np.array([rng.multinomial(25, weights[topic]) for topic in topics])
    # Not whole numbers: distances would be tied, and ties decided by the last bit.
    return csr_array((counts * rng.uniform(0.5, 2.0, size=counts.shape)).astype(dtype))


def make_numbers(n=120, *, seed=1):
    """A few numbers of each document, in an array."""
    return np.random.default_rng(seed).normal(size=(n, 6))


def full(X):
    """The same rows without anything left out."""
    return X.toarray()
