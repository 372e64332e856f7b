"""The synthetic sets of the paper: two views each, with known parameters of every sample."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, pi
from numbers import Integral, Real
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from viewhop.views import Views

__all__ = [
    "make_circles",
    "make_gapped_rolls",
    "make_helices",
    "make_mixtures",
    "make_swiss_rolls",
]


def make_helices(kind: Literal["A", "B"] = "A", *, n_samples: int = 1000) -> Bunch:
    """Two helices in space, with angles that differ by a quarter turn.

    Parameters
    ----------
    kind : {"A", "B"}
        "A" is the coiled ring of Eqs. (56)-(57), "B" the corkscrew of Eqs. (58)-(59).
    n_samples : int
        Number of samples; the paper has 1,000.

    Returns
    -------
    Bunch
        ``views`` : Views ``x`` and ``y``, (n_samples, 3) each;
        ``a``, ``b`` : (n_samples,) arrays, the angles of ``x`` and ``y``; ``DESCR`` : str.

    Notes
    -----
    Nothing is random: a is evenly spaced in [0, 2π], both ends included, and
    b = (a + π/2) mod 2π, so the second helix starts again where a passes 3π/2.

    Examples
    --------
    >>> from viewhop.datasets import make_helices
    >>> helices = make_helices("B", n_samples=5)
    >>> (helices.views["x"][1] / 4).round(2).tolist(), helices.b[0].round(2).item()
    ([0.0, 1.0, 1.57], 1.57)
    """
    if kind not in ("A", "B"):
        raise ValueError(f"kind must be 'A' or 'B', got {kind!r}")
    _check_count("n_samples", n_samples, least=2)
    a = np.linspace(0, 2 * pi, n_samples)
    b = (a + 0.5 * pi) % (2 * pi)
    if kind == "A":
        x = np.column_stack([*_coil(a), 0.1 * (6.3 * a**2 - a**3)])
        y = np.column_stack([*_coil(b), 0.1 * (6.3 * b - b**2)])
    else:
        x, y = (np.column_stack([4 * np.cos(5 * c), 4 * np.sin(5 * c), 4 * c]) for c in (a, b))
    equations = "Eqs. (56)-(57)" if kind == "A" else "Eqs. (58)-(59)"
    return Bunch(
        views=Views({"x": x, "y": y}),
        a=a,
        b=b,
        DESCR=f"Helix {kind}: two helices with angles a quarter turn apart, {equations}.",
    )


def make_circles(
    n_samples: int = 1600,
    *,
    noise: float = 0.16,
    random_state: int | np.random.Generator | None = None,
) -> Bunch:
    """Two noisy concentric circles in two views, each of them split and shifted.

    Parameters
    ----------
    n_samples : int
        Number of samples, half on each circle; if it is odd, the outer circle has one more.
    noise : float
        Standard deviation σ_n of the noise.
    random_state : int, Generator or None
        Seed of the noise.

    Returns
    -------
    Bunch
        ``views`` : Views ``x`` and ``y``, (n_samples, 2) each;
        ``target`` : (n_samples,) int array, 0 on the inner circle and 1 on the outer;
        ``theta`` : (n_samples,) array of angles in [0, 4π]; ``DESCR`` : str.

    Notes
    -----
    Eqs. (60)-(62). The view ``x`` shifts the upper half to the right by 1, ``y`` shifts the right
    half up by 1. Six noise variables are drawn per sample, as printed: Eq. (61) uses n[2] in the
    upper and n[3] in the lower half, Eq. (62) uses n[6] in both, and n[5] is unused.

    The paper gives the noise as σ_n² ∈ [0.03, 0.6] in one place and as σ_n = 0.16 in another;
    `noise` is the standard deviation σ_n.

    Examples
    --------
    >>> from viewhop.datasets import make_circles
    >>> circles = make_circles(200, noise=0.1, random_state=0)
    >>> circles.views
    Views(200 samples: x (2), y (2))
    """
    _check_count("n_samples", n_samples, least=2)
    _check_scale("noise", noise)
    theta = np.linspace(0, 4 * pi, n_samples)
    target = (np.arange(n_samples) >= n_samples // 2).astype(np.int64)
    radius = np.where(target == 0, 2.0, 4.0)
    z1, z2 = radius * np.cos(theta), radius * np.sin(theta)
    n = noise * np.random.default_rng(random_state).standard_normal((6, n_samples))
    x = np.column_stack([z1 + np.where(z2 >= 0, 1 + n[1], n[2]), z2 + n[0]])
    y = np.column_stack([z1 + n[3], z2 + np.where(z1 >= 0, 1.0, 0.0) + n[5]])
    return Bunch(
        views=Views({"x": x, "y": y}),
        target=target,
        theta=theta,
        DESCR="Coupled circles: two circles in two sheared views, Eqs. (60)-(62).",
    )


def make_swiss_rolls(
    n_samples: int = 1000,
    *,
    noise: float = 0.0,
    random_state: int | np.random.Generator | None = None,
) -> Bunch:
    """A Swiss roll in one view and a rotated copy in the other, each with its own noise.

    Parameters
    ----------
    n_samples : int
        Number of samples; the paper has 1,000.
    noise : float
        Standard deviation σ_N of the noise in every coordinate.
    random_state : int, Generator or None
        Seed of heights, rotation and noise, drawn in this order. The roll and the rotation do
        not depend on `noise`.

    Returns
    -------
    Bunch
        ``views`` : Views ``x`` and ``y``, (n_samples, 3) each;
        ``theta``, ``height`` : (n_samples,) arrays, the position of a sample on the roll;
        ``rotation`` : (3, 3) orthonormal array, with y = rotation · x if there is no noise;
        ``DESCR`` : str.

    Notes
    -----
    Eqs. (53)-(54): θ = 1.5π s with s evenly spaced in [1, 3], heights uniform in [0, 100]. The
    rotation is a Gaussian matrix, orthonormalised by Gram-Schmidt, so it may include a reflection.

    Examples
    --------
    >>> import numpy as np
    >>> from viewhop.datasets import make_swiss_rolls
    >>> rolls = make_swiss_rolls(100, random_state=0)
    >>> bool(np.max(abs(rolls.views["x"] @ rolls.rotation.T - rolls.views["y"])) < 1e-12)
    True
    """
    _check_count("n_samples", n_samples, least=2)
    _check_scale("noise", noise)
    rng = np.random.default_rng(random_state)
    theta = 1.5 * pi * np.linspace(1, 3, n_samples)
    height = rng.uniform(0, 100, n_samples)
    rotation = _orthonormal(rng)
    roll = _roll(theta, height)
    x = roll + noise * rng.standard_normal(roll.shape)
    y = roll @ rotation.T + noise * rng.standard_normal(roll.shape)
    return Bunch(
        views=Views({"x": x, "y": y}),
        theta=theta,
        height=height,
        rotation=rotation,
        DESCR="Swiss rolls: a roll and its rotated copy, with noise, Eqs. (53)-(54).",
    )


def make_mixtures(
    n_samples: int = 600,
    *,
    clusters: Sequence[int] = (6, 6),
    random_state: int | np.random.Generator | None = None,
) -> Bunch:
    """Two views of Gaussian clusters that share their centres.

    Parameters
    ----------
    n_samples : int
        Number of samples, a multiple of both numbers of clusters; the paper has 600.
    clusters : pair of int
        Number of clusters in each view. The view with fewer clusters uses the first centres:
        (6, 3) is the paper's second experiment.
    random_state : int, Generator or None
        Seed of centres, first view and second view, drawn in this order. Pairs with the same
        maximum therefore share their centres.

    Returns
    -------
    Bunch
        ``views`` : Views ``x`` and ``y``, (n_samples, 9) each;
        ``target`` : (n_samples,) int array, the cluster of a sample in ``x``;
        ``target_y`` : (n_samples,) int array, its cluster in ``y``;
        ``centers`` : (max(clusters), 9) array; ``DESCR`` : str.

    Notes
    -----
    Section "Spectral decay" of the paper: centres are drawn from N(0, 8 I), samples from
    N(centre, 2 I), in nine dimensions. Samples are sorted by cluster in both views, so with
    (6, 3) the clusters 0 and 1 of ``x`` are cluster 0 of ``y``.

    Examples
    --------
    >>> from viewhop.datasets import make_mixtures
    >>> mixtures = make_mixtures(clusters=(6, 3), random_state=0)
    >>> mixtures.target[::100].tolist(), mixtures.target_y[::100].tolist()
    ([0, 1, 2, 3, 4, 5], [0, 0, 1, 1, 2, 2])
    """
    _check_clusters(clusters, n_samples)
    rng = np.random.default_rng(random_state)
    centers = np.sqrt(8) * rng.standard_normal((max(clusters), 9))
    targets = [np.repeat(np.arange(count), n_samples // count) for count in clusters]
    x, y = (
        centers[target] + np.sqrt(2) * rng.standard_normal((n_samples, 9)) for target in targets
    )
    return Bunch(
        views=Views({"x": x, "y": y}),
        target=targets[0],
        target_y=targets[1],
        centers=centers,
        DESCR=f"Gaussian mixtures: {clusters[0]} clusters in x, {clusters[1]} in y, same centres.",
    )


def make_gapped_rolls(
    n_samples: int = 1200,
    *,
    gap: float = 30.0,
    random_state: int | np.random.Generator | None = None,
) -> Bunch:
    """Two views of one Swiss roll, torn at a different place in each view.

    Parameters
    ----------
    n_samples : int
        Number of samples.
    gap : float
        Width of the tear, in the units of the roll; its turns are 12π ≈ 37.7 apart. At the
        default, no sample has any of its 10 nearest neighbours across the tear.
    random_state : int, Generator or None
        Seed of the heights.

    Returns
    -------
    Bunch
        ``views`` : Views ``x`` and ``y``, (n_samples, 3) each;
        ``theta``, ``height`` : (n_samples,) arrays, the position of a sample on the roll;
        ``pieces`` : (n_samples, 2) int array, 0 before and 1 after the tear in ``x`` and ``y``;
        ``DESCR`` : str.

    Notes
    -----
    Figure 1 shows such rolls without a formula; this one is ours. The roll is that of Eq. (53)
    with heights in [0, 40] and without noise. Samples with θ > 2.5π in ``x``, and with θ > 3.5π
    in ``y``, are shifted away from the axis by `gap`. Radii on the two sides of a tear then differ
    by at least `gap`, so no two samples across it are closer, and samples next to the tear in one
    view keep all their neighbours in the other.

    Examples
    --------
    >>> import numpy as np
    >>> from viewhop.datasets import make_gapped_rolls
    >>> rolls = make_gapped_rolls(random_state=0)
    >>> radius = np.hypot(rolls.views["x"][:, 0], rolls.views["x"][:, 2])
    >>> round(np.diff(radius).max())
    30
    """
    _check_count("n_samples", n_samples, least=2)
    _check_scale("gap", gap)
    theta = 1.5 * pi * np.linspace(1, 3, n_samples)
    height = np.random.default_rng(random_state).uniform(0, 40, n_samples)
    pieces = (theta[:, np.newaxis] > pi * np.array([2.5, 3.5])).astype(np.int64)
    x, y = (_roll(theta, height, shift=gap * piece) for piece in pieces.T)
    return Bunch(
        views=Views({"x": x, "y": y}),
        theta=theta,
        height=height,
        pieces=pieces,
        DESCR="Gapped rolls: one Swiss roll, torn at a different place in each view (Figure 1).",
    )


def _coil(angle: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """First two coordinates of helix A."""
    return (
        4 * np.cos(0.9 * angle) + 0.3 * np.cos(20 * angle),
        4 * np.sin(0.9 * angle) + 0.3 * np.sin(20 * angle),
    )


def _roll(
    theta: NDArray[np.float64],
    height: NDArray[np.float64],
    shift: NDArray[np.float64] | float = 0.0,
) -> NDArray[np.float64]:
    """Points of the roll of Eq. (53), (n_samples, 3), shifted outwards by `shift`."""
    radius = 6 * theta + shift
    return np.column_stack([radius * np.cos(theta), height, radius * np.sin(theta)])


def _orthonormal(rng: np.random.Generator) -> NDArray[np.float64]:
    """Gram-Schmidt of a Gaussian matrix: QR, with the diagonal of R made positive."""
    q, r = np.linalg.qr(rng.standard_normal((3, 3)))
    return np.asarray(q * np.sign(np.diag(r)), dtype=np.float64)


def _check_clusters(clusters: Sequence[int], n_samples: int) -> None:
    if len(clusters) != 2:
        raise ValueError(f"clusters must be two numbers, one per view, got {clusters!r}")
    for count in clusters:
        _check_count("clusters", count, least=1)
    _check_count("n_samples", n_samples, least=2)
    if any(n_samples % count for count in clusters):
        raise ValueError(
            f"n_samples must be a multiple of both numbers of clusters {tuple(clusters)}, "
            f"got {n_samples}"
        )


def _check_count(name: str, value: object, *, least: int) -> None:
    if not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}")


def _check_scale(name: str, value: object) -> None:
    if not isinstance(value, Real) or not isfinite(value) or value < 0:
        raise ValueError(f"{name} must be a finite number of at least 0, got {value!r}")
