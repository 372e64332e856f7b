"""Documents as a sparse view: a whole fit, whose memory is that of the stored words."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from benchmarks.apart import apart
from benchmarks.row import Row
from viewhop._runtime.memory import format_bytes

TITLE = "Sparse view: documents by their words, and ten numbers of each"
FULL: dict[str, Any] = {
    "n_samples": 100_000,
    "n_words": 50_000,
    "n_drawn": 51,
    "memory": 2_000_000_000,
    "n_searched": 20_000,
}
SMALL: dict[str, Any] = {
    "n_samples": 4000,
    "n_words": 20_000,
    "n_drawn": 21,
    "memory": 450_000_000,
    "n_searched": 2000,
}

N_TOPICS, N_FEATURES, R = 50, 10, 10


def make_documents(
    n_samples: int, n_words: int, n_drawn: int
) -> tuple[csr_array, np.ndarray, np.ndarray]:
    """Counts of words, numbers of the same documents, and the topic of each.

    Half of the words are drawn from those of the topic, a fiftieth of all, and half from all words.

    Parameters
    ----------
    n_samples, n_words : int
    n_drawn : int
        Words per document, drawn with replacement.
    """
    generator = np.random.default_rng(0)
    topics = generator.integers(N_TOPICS, size=n_samples)
    n_own = n_words // N_TOPICS
    weights = 1.0 / np.sqrt(np.arange(1, n_own + 1))
    own = generator.choice(n_own, (n_samples, n_drawn // 2), p=weights / weights.sum())
    words = np.hstack(
        [
            own + n_own * topics[:, None],
            generator.integers(n_words, size=(n_samples, n_drawn - n_drawn // 2)),
        ]
    )
    rows = np.repeat(np.arange(n_samples), n_drawn)
    counts = csr_array((np.ones(rows.size), (rows, words.ravel())), shape=(n_samples, n_words))
    centres = generator.normal(size=(N_TOPICS, N_FEATURES))
    numbers = centres[topics] + generator.normal(size=(n_samples, N_FEATURES))
    return counts, numbers, topics


def fit(n_samples: int, n_words: int, n_drawn: int) -> dict[str, Any]:
    """A fit of both views, with what it chose and foresaw."""
    import viewhop as vh

    counts, numbers, _ = make_documents(n_samples, n_words, n_drawn)
    est = vh.MultiViewDiffusionMaps(R, random_state=0)
    start = perf_counter()
    est.fit({"words": counts, "numbers": numbers})
    return {
        "seconds": perf_counter() - start,
        "density": counts.nnz / (n_samples * n_words),
        "estimate": est.memory_,
        "metric": est.metrics_["words"],
        "timings": est.timings_,
    }


def search(n_samples: int, n_words: int, n_drawn: int, how: str) -> dict[str, Any]:
    """One search for the neighbours of documents in cosine distance, with its recall."""
    from viewhop.kernels import Gaussian
    from viewhop.neighbours import FeatureMap, search_neighbours
    from viewhop.views import SparseRows

    rows = SparseRows(make_documents(n_samples, n_words, n_drawn)[0])
    features = FeatureMap.of(Gaussian(metric="cosine"), rows)
    points = features.points(features(rows, "words"))
    start = perf_counter()
    generator = np.random.default_rng(0)
    found = search_neighbours(points, search=how, k=10, k_scale=10, generator=generator)
    return {"seconds": perf_counter() - start, "recall": found.recall}


def run(
    *, n_samples: int, n_words: int, n_drawn: int, memory: int, n_searched: int
) -> Iterator[Row]:
    """The fit, and the bytes that its process took; then both searches of fewer documents.

    Parameters
    ----------
    n_samples, n_words, n_drawn : int
        As in `make_documents`.
    memory : int
        Bytes that the process may take.
    n_searched : int
        Documents of the searches.
    """
    arguments = {"n_samples": n_samples, "n_words": n_words, "n_drawn": n_drawn}
    result = apart(fit, arguments)
    parts = ", ".join(f"{stage} {seconds:.0f} s" for stage, seconds in result["timings"].items())
    yield Row(
        f"fit, {n_samples:,} documents × {n_words:,} words, {result['density']:.2%} not zero, "
        f"metric {result['metric']} ({parts}); planned {format_bytes(result['estimate'])}",
        result["seconds"],
        result["peak"],
        "bytes",
        at_most=memory,
        timed=False,
        peak=result["peak"],
        at_import=result["at_import"],
    )
    for how in ("exact", "faiss"):
        found = apart(search, {**arguments, "n_samples": n_searched, "how": how})
        yield Row(
            f'search="{how}" of {n_searched:,} documents in cosine distance',
            found["seconds"],
            found["recall"],
            "of the neighbours",
            at_least=1.0 if how == "exact" else None,
            timed=False,
            peak=found["peak"],
            at_import=found["at_import"],
        )
