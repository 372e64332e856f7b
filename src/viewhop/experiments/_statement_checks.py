"""The paper's statements on one draw of views, as the numbers that each of them is about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import SupportsFloat

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import svd
from scipy.spatial.distance import cdist
from scipy.stats import ortho_group

from viewhop import bandwidth
from viewhop.diffusion import inner_view_distance, multi_view_distance
from viewhop.estimators import MultiViewDiffusionMaps
from viewhop.kernels import Gaussian
from viewhop.theory import (
    distance_sides,
    eigenvalue_range,
    kernel_matrix,
    objective,
    objective_minimum,
    singular_eigenpairs,
    spectral_decay,
    tail_products,
)

__all__ = ["check_statements", "draw_views"]

Floats = NDArray[np.float64]
Numbers = dict[str, SupportsFloat]

#: Pairs of samples whose distances are compared.
_PAIRS = 100
#: Samples for Lemma 2 and Theorem 6: more make a Gaussian kernel indefinite by rounding.
_FEW = 12
#: Accuracy δ of Theorem 6.
_DELTA = 0.5
#: Accuracy δ of the truncation: so small that the bounds of Lemma 3 are close to each other.
_SMALL = 1e-3
#: Values that η and 1 − η take on the way to 0.
SHARES = (0.1, 0.01, 0.001)


def draw_views(n_samples: int, generator: np.random.Generator) -> dict[str, Floats]:
    """Three views of the same latent points, curved in different ways, (n_samples, 3) each.

    Parameters
    ----------
    n_samples : int
    generator : Generator
    """
    latent = generator.uniform(-1, 1, (n_samples, 3))
    noise = 0.1 * generator.standard_normal((2, n_samples, 3))
    bent = latent + 0.5 * latent[:, [1, 2, 0]] ** 2
    return {"x": latent, "y": bent + noise[0], "z": np.sin(2 * latent) + noise[1]}


def check_statements(n_samples: int, generator: np.random.Generator) -> dict[str, float]:
    """Numbers by name, of one draw.

    Parameters
    ----------
    n_samples : int
    generator : Generator
    """
    views = draw_views(n_samples, generator)
    pair = {name: views[name] for name in ("x", "y")}
    two, three = (_fit(each) for each in (pair, views))
    first, second = _pairs(n_samples, generator)
    checks = (
        _stochastic(three),
        _distances(two, three, first, second),
        _order(two),
        _moved(pair, generator),
        _connections(pair),
        _objective(two),
        _singular(two),
        _rotation(views["x"], generator),
        _extremes(two, three),
        _tails(generator),
        _truncation(two, first, second),
        _extension(two, views["x"]),
        _mixing(pair),
    )
    return {name: float(value) for check in checks for name, value in check.items()}


def _fit(views: Mapping[str, Floats], stay: float = 0.0) -> MultiViewDiffusionMaps:
    """Two coordinates with max-min scales and η = `stay`."""
    est = MultiViewDiffusionMaps(2, kernel=Gaussian(), within_view_weight=stay, random_state=0)
    return est.fit(dict(views))


def _pairs(n_samples: int, generator: np.random.Generator) -> tuple[NDArray[np.intp], ...]:
    """Pairs of different samples."""
    first = generator.integers(n_samples, size=_PAIRS)
    second = (first + generator.integers(1, n_samples, size=_PAIRS)) % n_samples
    return first, second


def _stochastic(est: MultiViewDiffusionMaps) -> Numbers:
    """Eqs. (13)–(14): row sums, and steps that stay in a view."""
    P = kernel_matrix(est.walk_) / est.walk_.degrees[:, None]
    blocks = np.split(np.arange(len(P)), est.n_views_)
    stay = max(np.abs(P[np.ix_(rows, rows)]).max() for rows in blocks)
    return {"row sums": np.abs(P.sum(axis=1) - 1).max(), "steps within a view": stay}


def _spectrum(est: MultiViewDiffusionMaps) -> tuple[Floats, Floats]:
    """All eigenvalues, descending, and right eigenvectors in columns."""
    root = np.sqrt(est.walk_.degrees)
    A = kernel_matrix(est.walk_) / np.outer(root, root)
    values, vectors = np.linalg.eigh(0.5 * (A + A.T))
    return values[::-1], (vectors / np.sqrt(est.walk_.stationary)[:, None])[:, ::-1]


def _distances(
    two: MultiViewDiffusionMaps,
    three: MultiViewDiffusionMaps,
    first: NDArray[np.intp],
    second: NDArray[np.intp],
) -> Numbers:
    """Theorem 1, and distances in the coordinates of Eqs. (21) to (23)."""
    left, right = distance_sides(three, first, second, n_steps=2)
    found: Numbers = {"Theorem 1": np.abs(left - right).max() / left.max()}
    for name, est in (("two views", two), ("three views", three)):
        values, psi = _spectrum(est)
        above = np.flatnonzero(values > 0)[1:]
        squares = np.square(psi[first][:, above] - psi[second][:, above]) @ values[above] ** 2
        ratio = inner_view_distance(est, "x", first, second) / np.sqrt(squares)
        found |= {f"{name}: least ratio": ratio.min(), f"{name}: largest ratio": ratio.max()}
    blocks = np.hstack([*two.view_embeddings_.values()])
    apart = np.linalg.norm(blocks[first] - blocks[second], axis=1)
    told = multi_view_distance(two, first, second)
    return found | {"Eqs. (22)–(23)": np.abs(told - apart).max() / apart.max()}


def _order(est: MultiViewDiffusionMaps) -> Numbers:
    """The second eigenvalue by magnitude, and how much its vector differs within a view."""
    values, psi = _spectrum(est)
    second = 1 + int(np.abs(values[1:]).argmax())  # after the trivial one
    within = [half.std() for half in np.split(psi[:, second], 2)]
    return {"second by magnitude": values[second], "its spread within a view": max(within)}


def _moved(views: Mapping[str, Floats], generator: np.random.Generator) -> Numbers:
    """What rescaling a view, and moving its samples by 1 % of its scale, changes."""
    est = _fit(views)
    scaled = _fit({**views, "x": 1000.0 * views["x"]})
    noise = 0.01 * est.bandwidths_["x"] * generator.standard_normal(views["x"].shape)
    moved = _fit({**views, "x": views["x"] + noise})
    return {"rescaled": _difference(est, scaled), "moved": _difference(est, moved)}


def _difference(est: MultiViewDiffusionMaps, other: MultiViewDiffusionMaps) -> float:
    """Difference of the embeddings up to the signs of coordinates, relative to their size."""
    Z, W = est.embedding_, other.embedding_
    W = W * np.sign((Z * W).sum(axis=0))
    return float(np.linalg.norm(Z - W) / np.linalg.norm(Z))


def _connections(views: Mapping[str, Floats]) -> Numbers:
    """Samples without a neighbour within σ: in each view, in either, and in both at once."""
    scales = bandwidth.connected(views)
    near = {}
    for name, X in views.items():
        # One nearest distance is exactly the scale, up to the last bit.
        near[name] = cdist(X, X) <= scales[name] * (1 + 1e-12)
        np.fill_diagonal(near[name], False)
    loops = {name: edges | np.eye(len(edges), dtype=bool) for name, edges in near.items()}
    hop = loops["x"].astype(int) @ loops["y"].astype(int)
    np.fill_diagonal(hop, 0)
    return {
        "C": (scales["x"] / bandwidth.max_min(views["x"])) ** 2,
        "alone in x": (~near["x"].any(axis=1)).sum(),
        "alone in y": (~near["y"].any(axis=1)).sum(),
        "alone in the hop kernel": (hop.sum(axis=1) == 0).sum(),
        "alone in the product": (~(near["x"] & near["y"]).any(axis=1)).sum(),
    }


def _objective(est: MultiViewDiffusionMaps) -> Numbers:
    """Theorem 2: how far ψ_1 is above the minimum, as printed and with weighted constraints."""
    psi = est.spectrum_.eigenvectors[:, 0]
    centred = psi - psi.mean()
    centred /= np.linalg.norm(centred)
    least = objective_minimum(est)
    weighted = objective_minimum(est, weighted=True)
    scaled = psi / np.sqrt((est.walk_.degrees * psi**2).sum())
    return {
        "Theorem 2 as printed": objective(est, centred) / least.value - 1,
        "Theorem 2 weighted": abs(objective(est, scaled) / weighted.value - 1),
    }


def _singular(est: MultiViewDiffusionMaps) -> Numbers:
    """Theorem 3: largest residual of the first ten eigenvectors, as printed and normalised."""
    walk = est.walk_
    n = walk.n_samples
    cross = kernel_matrix(est.walk_)[:n, n:]
    V, _, rows = svd(cross)
    printed = np.vstack([V, rows.T]) / np.sqrt(walk.degrees)[:, None]
    return {
        "Theorem 3 as printed": _residual(est, printed[:, :10]),
        "Theorem 3 normalised": _residual(est, singular_eigenpairs(est)[1][:, :10]),
    }


def _residual(est: MultiViewDiffusionMaps, vectors: Floats) -> float:
    """Largest ‖P̂v − λv‖ / ‖v‖, with the norm weighted by π and the Rayleigh quotient λ."""
    weights = est.walk_.stationary[:, None]
    v = vectors / np.sqrt((weights * vectors**2).sum(axis=0))
    stepped = (est.walk_ @ v) / est.walk_.degrees[:, None]
    values = (weights * v * stepped).sum(axis=0)
    return float(np.sqrt((weights * (stepped - values * v) ** 2).sum(axis=0)).max())


def _rotation(X: Floats, generator: np.random.Generator) -> Numbers:
    """Theorem 4: cross-view distance of a view and its rotation, relative to its coordinates."""
    turn = ortho_group.rvs(X.shape[1], random_state=generator)
    est = _fit({"x": X, "turned": X @ turn})
    size = np.linalg.norm(est.view_embeddings_["x"])
    return {"Theorem 4": est.cross_view_distance("x", "turned") / size}


def _extremes(two: MultiViewDiffusionMaps, three: MultiViewDiffusionMaps) -> Numbers:
    """Theorem 5: the largest |λ|."""
    sizes = [abs(value) for est in (two, three) for value in eigenvalue_range(est)]
    return {"largest |λ|": max(sizes)}


def _tails(generator: np.random.Generator) -> Numbers:
    """Lemma 2 and Theorem 6: logarithms of left side minus right side, at most 0."""
    views = draw_views(_FEW, generator)
    est = _fit({name: views[name] for name in ("x", "y")})
    A, B = (np.asarray(K @ np.eye(_FEW)) for K in est.walk_.affinities)
    of_product, of_hadamard = tail_products(A, B)
    decay = spectral_decay(est, accuracy=_DELTA)
    return {
        "Lemma 2": (of_product - of_hadamard)[1:].max(),
        "Theorem 6": decay.log_tail - decay.log_bound,
    }


def _truncation(
    est: MultiViewDiffusionMaps, first: NDArray[np.intp], second: NDArray[np.intp]
) -> Numbers:
    """Lemma 3: share of pairs within the printed bounds, by value and by magnitude."""
    values, psi = _spectrum(est)
    squares = np.square(psi[first] - psi[second])
    above = values > 0
    whole = squares[:, above] @ values[above] ** 2
    least = np.minimum(est.walk_.stationary[first], est.walk_.stationary[second])
    low, high = 2 * (whole - _SMALL**2 / least), 2 * whole
    found: Numbers = {}
    for name, kept in (("value", values > _SMALL), ("magnitude", np.abs(values) > _SMALL)):
        truncated = squares[:, kept] @ values[kept] ** 2
        inside = (truncated >= low * (1 - 1e-9)) & (truncated <= high * (1 + 1e-9))
        found[f"Lemma 3 by {name}"] = inside.mean()
    return found


def _extension(est: MultiViewDiffusionMaps, X: Floats) -> Numbers:
    """Eqs. (39)–(43): relative error at the training samples, as printed and by own row sums."""
    first, second = est.walk_.affinities
    n = est.walk_.n_samples
    psi = est.spectrum_.eigenvectors[n:]
    printed = first @ (second @ (psi / est.degrees_["y"][:, None]))
    expected = est.view_embeddings_["x"]
    placed = np.asarray(est.transform({"x": X}))[:, :2]
    size = np.linalg.norm(expected)
    return {
        "extension as printed": np.linalg.norm(printed - expected) / size,
        "extension by own row sum": np.linalg.norm(placed - expected) / size,
    }


def _mixing(views: Mapping[str, Floats]) -> Numbers:
    """Eq. (49): distance of the spectrum from its limits as η or 1 − η falls to 0."""
    hop = _eigenvalues(views, 0.0)
    apart = np.sort(np.concatenate([_eigenvalues({name: views[name]}, 0.0) for name in views]))
    found: Numbers = {}
    for share in SHARES:
        found[f"η = {share:g}"] = np.abs(_eigenvalues(views, share) - hop).max()
        found[f"1 − η = {share:g}"] = np.abs(_eigenvalues(views, 1 - share) - apart[::-1]).max()
    return found


def _eigenvalues(views: Mapping[str, Floats], stay: float) -> Floats:
    """All eigenvalues of the walk with η, descending; one view alone takes two steps within it."""
    return _spectrum(_fit(views, stay))[0]
