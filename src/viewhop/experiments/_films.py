"""Recordings of a scene by two cameras that lose frames, and their maps as closed curves."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from viewhop.errors import DisconnectedWarning
from viewhop.estimators import DiffusionMaps, MultiViewDiffusionMaps
from viewhop.experiments._rings import Ring, ring
from viewhop.kernels import Gaussian

__all__ = [
    "FRAMES",
    "LOST",
    "MAX_MIN",
    "STAY",
    "Fault",
    "Film",
    "RingEmbedding",
    "all_methods",
    "hop_embeddings",
]

Floats = NDArray[np.floating]
Fault = Literal["gap", "noise"]

#: Number of frames that each camera loses, as in the paper, and number of all frames.
LOST = {"gap": 20, "noise": 10}
FRAMES = 220
#: η for missing frames. A walker that must change view cannot cross a gap of the other view.
STAY = 0.5
#: The paper's scale.
MAX_MIN = Gaussian(bandwidth="max-min")


class RingEmbedding(NamedTuple):
    """Two coordinates by one method, the true angles, and their agreement."""

    embedding: Floats
    truth: Floats
    score: Ring


class Film(NamedTuple):
    """Recording of two cameras: frames as rows, true angles, and a mask of lost frames."""

    x: Floats
    y: Floats
    phase: Floats
    lost: NDArray[np.bool_]


def all_methods(
    film: Film, kernel: Any, fault: Fault, seed: int
) -> Iterator[tuple[str, RingEmbedding]]:
    """Embeddings by all methods with one kernel."""
    yield from hop_embeddings(film, kernel, fault, seed)
    x, y, phases = _joined_rows(film, fault)
    for view, X, phase in zip("xy", (x, y), phases, strict=True):
        yield f"{view} alone", _score_ring(_alone(X, kernel, seed), phase)
    if kernel is MAX_MIN:
        for name, fusion in (("kernel product", "product"), ("kernel product, concat", "concat")):
            product = _fused({"x": x, "y": y}, kernel, fusion, seed)
            yield name, _score_ring(product, phases[0])
    if fault == "gap":
        if kernel is MAX_MIN:
            yield (
                "missing rows, η = 0",
                _score_ring(_incomplete(film, kernel, 0.0, seed), film.phase),
            )
        yield (
            f"missing rows, η = {STAY}",
            _score_ring(_incomplete(film, kernel, STAY, seed), film.phase),
        )


def hop_embeddings(
    film: Film, kernel: Any, fault: Fault, seed: int
) -> Iterator[tuple[str, RingEmbedding]]:
    """Embeddings of both views by the paper's walk."""
    x, y, phases = _joined_rows(film, fault)
    est = MultiViewDiffusionMaps.paper_settings(2, kernel=kernel, random_state=seed)
    est.fit({"x": x, "y": y})
    for view, phase in zip("xy", phases, strict=True):
        yield f"multi-view, {view}", _score_ring(est.view_embeddings_[view], phase)


def _joined_rows(film: Film, fault: Fault) -> tuple[Floats, Floats, tuple[Floats, Floats]]:
    """Rows of both views as in the paper, and the true angles of each view.

    The paper removes frames and joins the remaining ones row by row, so partners are offset by a
    gap. Noise frames stay in place.
    """
    is_kept = ~film.lost if fault == "gap" else np.ones_like(film.lost)
    phases = film.phase[is_kept[:, 0]], film.phase[is_kept[:, 1]]
    return film.x[is_kept[:, 0]], film.y[is_kept[:, 1]], phases


def _incomplete(film: Film, kernel: Any, stay: float, seed: int) -> Floats:
    """Embedding of all frames, with missed frames as missing data."""
    est = MultiViewDiffusionMaps(
        2, kernel=kernel, within_view_weight=stay, output="mean", random_state=seed
    )
    return np.asarray(est.fit_transform({"x": film.x, "y": film.y}))


def _alone(X: Floats, kernel: Any, seed: int) -> Floats:
    """Diffusion map of one array."""
    return _fit_in_pieces(DiffusionMaps(2, kernel=kernel, random_state=seed), X)


def _fused(views: dict[str, Floats], kernel: Any, fusion: str, seed: int) -> Floats:
    """Map of a walk with a single geometry."""
    est = MultiViewDiffusionMaps(2, kernel=kernel, fusion=fusion, solver="dense", random_state=seed)
    return _fit_in_pieces(est, views)


def _fit_in_pieces(est: Any, data: Any) -> Floats:
    """Embedding by an estimator whose walk may be disconnected."""
    with warnings.catch_warnings():
        # As in the paper, noise frames may form a separate piece.
        warnings.simplefilter("ignore", DisconnectedWarning)
        return np.asarray(est.fit_transform(data))


def _score_ring(embedding: Floats, truth: Floats) -> RingEmbedding:
    return RingEmbedding(embedding, truth, ring(embedding, truth))
