"""Cells with two modalities, each of which missed some."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.cells import make_cells, make_modalities

N = 90


@pytest.fixture(scope="session")
def arrays():
    """Both modalities of all cells, and the position of each on a curve."""
    rng = np.random.default_rng(0)
    t = np.sort(rng.uniform(0, 3, N))
    curve = np.column_stack([t, np.sin(t), np.cos(2 * t)])
    rna = curve @ rng.normal(size=(3, 12)) + 0.1 * rng.normal(size=(N, 12))
    protein = curve @ rng.normal(size=(3, 6)) + 0.1 * rng.normal(size=(N, 6))
    return {"rna": rna, "protein": protein, "t": t}


@pytest.fixture(scope="session")
def seen():
    """The cells that each modality observed: all but a few of the first and of the last."""
    rows = np.arange(N)
    return {"rna": rows[rows >= 5], "protein": rows[rows < N - 8]}


@pytest.fixture
def mdata(arrays, seen):
    """A MuData whose modalities have their cells in orders of their own."""
    rng = np.random.default_rng(1)
    parts = {}
    for name, rows in seen.items():
        rows = rng.permuted(rows)
        X = arrays[name][rows]
        parts[name] = make_cells(
            X,
            [f"c{k}" for k in rows],
            [f"{name}{j}" for j in range(X.shape[1])],
            obsm={"X_short": X[:, :4], "both": X[:, :3]},
            layers={"double": 2 * X, "both": 3 * X},
        )
    return make_modalities(parts)


@pytest.fixture
def adata(arrays):
    """An AnnData with all cells: RNA as X and in a layer, proteins in obsm."""
    rna = arrays["rna"]
    return make_cells(
        rna,
        obsm={"protein": arrays["protein"], "X_pca": rna[:, :5]},
        layers={"smooth": np.round(rna, 1)},
    )
