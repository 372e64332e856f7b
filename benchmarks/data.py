"""The data of the benchmarks: noisy digits, maps of a cube, and cells with two modalities."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "N_CELL_TYPES",
    "cell_views",
    "cube_views",
    "describe_digits",
    "digit_views",
    "read_digits",
]

Singles = NDArray[np.float32]

#: The paper's N(0, 0.5), read as a variance, and its share of dropped pixels.
NOISE_VARIANCE = 0.5
DROPPED = 0.5
#: Standard deviation of the frequencies of the cosine maps, per side of the unit cube.
FREQUENCY = 3.0
COSINES = 64
#: Twos and threes in the training set of MNIST.
N_DIGITS = 12_089
#: Types of the simulated cells, an even number of pairs.
N_CELL_TYPES = 12
_ROWS = 2000


def digits_file() -> Path | None:
    """The file of digits in the folder VIEWHOP_DATA; None if there is none."""
    folder = os.environ.get("VIEWHOP_DATA")
    path = Path(folder or "", "mnist_2_3.npz")
    return path if folder and path.exists() else None


def describe_digits() -> str:
    """Description of the digits, for the table."""
    return "MNIST" if digits_file() else "synthetic digits: no mnist_2_3.npz in VIEWHOP_DATA"


def read_digits() -> Singles:
    """Twos and threes, (12,089, 784), from 0 to 1; synthetic digits if there is no file."""
    path = digits_file()
    if path is None:
        return synthetic_digits(N_DIGITS)
    with np.load(path) as stored:
        images = stored["images"]
    return images.reshape(len(images), -1).astype(np.float32) / np.float32(255)


def synthetic_digits(n: int) -> Singles:
    """Thick bent strokes of two shapes, (n, 784), from 0 to 1."""
    rng = np.random.default_rng(23)
    t = np.linspace(0, 1, 16)
    two = np.stack([np.cos(4 * t - 3) * (1 - 0.4 * t), 2 * t - 1])
    three = np.stack([np.abs(np.sin(2 * np.pi * t)) - 0.5, 2 * t - 1])
    curves = np.stack([two, three])[rng.integers(2, size=n)]  # (n, 2, 16)
    bend = np.sin(np.pi * np.arange(1, 4)[:, None] * t)
    curves = curves + 0.15 * rng.standard_normal((n, 2, 3)) @ bend
    shear = np.eye(2) + 0.2 * rng.standard_normal((n, 2, 2))
    x, y = np.moveaxis(13.5 + 8 * (shear @ curves), 1, 0)  # pixels, (n, 16) each
    pixels = np.arange(28)
    across, down = (
        np.exp(-0.5 * np.square((at[..., None] - pixels) / 1.3)).astype(np.float32) for at in (x, y)
    )
    return np.minimum(np.matmul(down.transpose(0, 2, 1), across), 1).reshape(n, -1)


def digit_views(n_samples: int | None = None) -> list[Singles]:
    """The paper's two noisy views of the digits, (n_samples, 784) each.

    `n_samples` repeats the digits or takes the first ones; None takes each once. Every copy has its
    own noise: Gaussian in the first view, dropped pixels in the second.
    """
    rng = np.random.default_rng(0)
    digits = read_digits()
    n = len(digits) if n_samples is None else n_samples
    first, second = np.empty((2, n, digits.shape[1]), dtype=np.float32)
    deviation = np.float32(np.sqrt(NOISE_VARIANCE))
    for start in range(0, n, _ROWS):
        rows = slice(start, min(start + _ROWS, n))
        clean = digits[np.arange(rows.start, rows.stop) % len(digits)]
        noise = rng.standard_normal(clean.shape, dtype=np.float32)
        first[rows] = clean + deviation * noise
        second[rows] = clean * (rng.random(clean.shape, dtype=np.float32) >= DROPPED)
    return [first, second]


def cube_views(n_samples: int, n_views: int = 2, n_features: int = 50) -> list[Singles]:
    """Views of points in a unit cube: 64 random cosines each, projected to `n_features`.

    cos(U W + b) with U uniform in three dimensions, W normal with deviation 3 and b uniform, times
    orthonormal columns. Views of more than 64 features have as many cosines.
    """
    rng = np.random.default_rng(0)
    n_cosines = max(COSINES, n_features)
    U = rng.random((n_samples, 3), dtype=np.float32)
    views = []
    for _ in range(n_views):
        W = (FREQUENCY * rng.standard_normal((3, n_cosines))).astype(np.float32)
        b = rng.uniform(0, 2 * np.pi, n_cosines).astype(np.float32)
        Q = np.linalg.qr(rng.standard_normal((n_cosines, n_features)))[0].astype(np.float32)
        view = np.empty((n_samples, n_features), dtype=np.float32)
        for start in range(0, n_samples, _ROWS):
            rows = slice(start, start + _ROWS)
            view[rows] = np.cos(U[rows] @ W + b) @ Q
        views.append(view)
    return views


def cell_views(
    n_samples: int, n_genes: int = 2000, n_proteins: int = 50
) -> tuple[Singles, Singles, NDArray[np.int64]]:
    """Simulated cells: logarithms of RNA counts and of protein counts, and the type of each.

    Of twelve types, the first six come in pairs with the same RNA, and the others in pairs with the
    same proteins: neither modality tells all types apart. A type has 2 % of the genes and a tenth
    of the proteins at a multiple of their base rates. Counts are Poisson with Gamma rates, times
    the depth of the cell; RNA is divided by its total and multiplied by 10,000 before log(1 + x),
    and the logarithms of proteins are centred within each cell.
    """
    rng = np.random.default_rng(0)
    shares = np.linspace(1, 3, N_CELL_TYPES)
    types = rng.choice(N_CELL_TYPES, size=n_samples, p=shares / shares.sum())
    half = N_CELL_TYPES // 2
    pair = types // 2 * 2
    genes = np.exp(rng.normal(-1.5, 1.2, n_genes)) * np.exp(
        1.5 * _markers(rng, n_genes, n_genes // 50)
    )
    proteins = np.exp(rng.normal(4, 0.5, n_proteins)) * np.exp(
        1.2 * _markers(rng, n_proteins, n_proteins // 10)
    )
    rna, other = np.empty((n_samples, n_genes), np.float32), np.empty((n_samples, n_proteins))
    for start in range(0, n_samples, _ROWS):
        rows = slice(start, min(start + _ROWS, n_samples))
        counts = _counts(rng, genes[np.where(types < half, pair, types)[rows]], shape=2.0)
        totals = np.maximum(counts.sum(axis=1, keepdims=True), 1)
        rna[rows] = np.log1p(1e4 * counts / totals)
        other[rows] = np.log1p(
            _counts(rng, proteins[np.where(types < half, types, pair)[rows]], shape=5.0)
        )
    other -= other.mean(axis=1, keepdims=True)
    return rna, other.astype(np.float32), types.astype(np.int64)


def _markers(rng: np.random.Generator, n_features: int, n_markers: int) -> NDArray[np.bool_]:
    """Which features mark each type of cell, (N_CELL_TYPES, n_features)."""
    order = rng.permuted(np.tile(np.arange(n_features), (N_CELL_TYPES, 1)), axis=1)
    return order < n_markers


def _counts(
    rng: np.random.Generator, rates: NDArray[np.float64], *, shape: float
) -> NDArray[np.int64]:
    """Poisson counts with Gamma rates of the given means and shape, and a depth per row."""
    depth = rng.lognormal(0, 0.4, (len(rates), 1))
    return rng.poisson(rates * depth * rng.gamma(shape, 1 / shape, rates.shape))
