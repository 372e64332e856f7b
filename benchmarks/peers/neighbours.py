"""Diffusion maps of one view on nearest neighbours, all methods with the same kernel.

UMAP has no kernel to share: it gets the same number of neighbours and of coordinates.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import viewhop as vh
from benchmarks import foreign
from benchmarks.apart import ApartError, apart
from benchmarks.data import cube_views
from benchmarks.peers.lines import (
    AGREEMENT,
    Peers,
    build_rows,
    describe_gap,
    eigenvalue_gap,
    measure_repeatedly,
    plain_row,
)
from benchmarks.row import Row

__all__ = ["run_neighbours"]

R = 10
NEIGHBOURS = 15
BOUND = 1.0
#: Largest residual allowed on a given graph, relative to the eigenvalue, or the peer's if smaller.
TOL = 1e-3
#: Samples whose neighbours set the scale.
_SAMPLED = 500


class GivenGraph(vh.kernels.Kernel):
    """A kernel that is given as a graph: scikit-learn's, which has no edge from a node to itself.

    Parameters
    ----------
    graph : (n, n) csr_array
    """

    n_neighbors = None
    alpha = 0.0

    def __init__(self, graph: Any = None) -> None:
        self.graph = graph

    def build(self, rows: Any) -> Any:
        """The graph as an affinity."""
        from viewhop.affinity import MergedGraph

        return MergedGraph(rows.name, vh.kernels.Precomputed(), self.graph, n_jobs=rows.n_jobs)


def write_view(data: str, n_samples: int) -> dict[str, Any]:
    """One view of the cube in float64, written to a file, and a scale for its neighbours.

    The scale is the median distance to the last of the neighbours.
    """
    from sklearn.neighbors import NearestNeighbors

    X = cube_views(n_samples, 1)[0].astype(np.float64)
    np.save(data, X)
    some = X[:: -(-n_samples // _SAMPLED)]
    distances = NearestNeighbors(n_neighbors=NEIGHBOURS + 1).fit(X).kneighbors(some)[0]
    return {"sigma": float(np.median(distances[:, -1]))}


def ours(data: str, sigma: float, graph: str) -> dict[str, Any]:
    """The library from samples to coordinates; its graph, without loops, is written to a file."""
    from scipy.sparse import coo_array, csr_matrix, save_npz

    kernel = vh.kernels.Gaussian(bandwidth=sigma, n_neighbors=NEIGHBOURS)
    est = vh.DiffusionMaps(R, kernel=kernel, random_state=0)
    timing = measure_repeatedly(est, [np.load(data)])
    K = coo_array(est.walk_.affinities[0].values)
    i, j = K.row, K.col
    plain = csr_matrix((K.data[i != j], (i[i != j], j[i != j])), shape=K.shape)
    save_npz(graph, plain, compressed=False)
    return timing | {"eigenvalues": est.eigenvalues_.tolist()}


def ours_on_graph(graph: str, tol: float) -> dict[str, Any]:
    """The library from a graph to coordinates."""
    from scipy.sparse import csr_array, load_npz

    K = csr_array(load_npz(graph))
    est = vh.DiffusionMaps(R, kernel=GivenGraph(K), tol=tol, random_state=0)
    timing = measure_repeatedly(est, [np.arange(float(K.shape[0]))[:, None]])
    spectrum = est.spectrum_
    return timing | {
        "eigenvalues": est.eigenvalues_.tolist(),
        "residual": float((spectrum.residuals / spectrum.eigenvalues).max()),
        "solver": est.solver_,
    }


def run_neighbours(folder: Path, peers: Peers, n_samples: int, *, solver: str) -> Iterator[Row]:
    """The library and each peer from samples to coordinates, then from the same graph.

    Parameters
    ----------
    folder : Path
    peers : Peers
    n_samples : int
    solver : str
        Eigensolver of scikit-learn.
    """
    data, graph = str(folder / "view.npy"), str(folder / "graph.npz")
    sigma = apart(write_view, {"data": data, "n_samples": n_samples})["sigma"]
    fit = apart(ours, {"data": data, "sigma": sigma, "graph": graph})
    label = f"viewhop, {NEIGHBOURS} neighbours, M = {n_samples:,}, r = {R}"
    yield plain_row(label, fit)
    order = {"data": data, "r": R, "k": NEIGHBOURS}
    work = f"{NEIGHBOURS} neighbours, M = {n_samples:,}"
    yield from peers.compare(
        "pyDiffMap",
        foreign.pydiffmap,
        order | {"sigma": sigma},
        {label: fit},
        work=work,
        at_most=BOUND,
    )
    yield from peers.compare(
        "umap-learn", foreign.umap, order, {label: fit}, work=work, at_most=BOUND
    )
    if "scikit-learn" in peers.names:
        yield from _on_graph(peers, graph, n_samples, solver)


def _on_graph(peers: Peers, graph: str, n_samples: int, solver: str) -> Iterator[Row]:
    """scikit-learn, then the library with residuals that are at least as small."""
    work = f"SpectralEmbedding({solver}) of that graph, M = {n_samples:,}"
    try:
        result = peers.measure(
            "scikit-learn",
            foreign.spectral_embedding,
            {"graph": graph, "r": R, "solver": solver},
        )
    except ApartError as error:
        yield Row(f"scikit-learn, {work}", error=str(error), ours=False)
        return
    tol = min(TOL, result["residual"])
    fit = apart(ours_on_graph, {"graph": graph, "tol": tol})
    gap = eigenvalue_gap(result, fit)
    # An eigenvalue is within the residual of a true one, and at most 1.
    allowed = max(AGREEMENT, result["residual"])
    label = f"viewhop on that graph, {fit['solver']}, residual ≤ {fit['residual']:.0e} λ"
    yield from build_rows(
        "scikit-learn",
        result,
        {label: fit},
        work=f"{work}, residual ≤ {result['residual']:.0e} λ{describe_gap(gap)}",
        at_most=BOUND,
        sound=fit["residual"] <= tol and gap <= allowed,
    )
