"""Writing a fit into an AnnData or a MuData, under the names that scanpy reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from viewhop._runtime.version import __version__
from viewhop.geometry import Geometry
from viewhop.scverse._fused_graph import CellGraph

__all__ = ["DEFAULT_NAME", "Names", "describe_fit", "diffusion_basis", "view_coordinates"]

#: Without `key_added`.
DEFAULT_NAME = "viewhop"


@dataclass(frozen=True)
class Names:
    """The keys under which a result is stored.

    Attributes
    ----------
    key_added : str or None
    """

    key_added: str | None = None

    def __post_init__(self) -> None:
        key = self.key_added
        if key is None:
            return
        if not isinstance(key, str) or not key or "/" in key:
            raise ValueError(f"key_added must be a name without '/', or None, not {key!r}")
        if key == "neighbors":
            raise ValueError("key_added='neighbors' is what None writes as well; leave it out")

    @property
    def results(self) -> str:
        """In ``.uns``."""
        return self.key_added or DEFAULT_NAME

    @property
    def joint(self) -> str:
        """Of the joint coordinates, in ``.obsm``."""
        return f"X_{self.results}"

    def view(self, name: str) -> str:
        """Of the coordinates of a view, in ``.obsm``."""
        return f"{self.joint}_{name}"

    @property
    def distances(self) -> str:
        """In ``.obsp``."""
        return "distances" if self.key_added is None else f"{self.key_added}_distances"

    @property
    def connectivities(self) -> str:
        """In ``.obsp``."""
        return "connectivities" if self.key_added is None else f"{self.key_added}_connectivities"

    @property
    def coverage(self) -> str:
        """Of placed cells, in ``.obs``."""
        return f"{self.results}_coverage"

    def neighbours(self, n_neighbors: int, random_state: int) -> dict[str, Any]:
        """What scanpy looks up to find the graph."""
        return {
            "connectivities_key": self.connectivities,
            "distances_key": self.distances,
            "params": {
                "n_neighbors": n_neighbors,
                "method": "umap",
                "metric": "euclidean",
                "random_state": random_state,
                "use_rep": self.joint,
            },
        }


def describe_fit(estimator: Any, use_rep: Mapping[str, str], graph: CellGraph) -> dict[str, Any]:
    """What a fit learnt, as numbers, text and arrays that HDF5 files hold.

    Parameters
    ----------
    estimator : fitted MultiViewDiffusionMaps
    use_rep : dict of str by view name
        The full key of each representation.
    graph : CellGraph
    """
    geometry: Geometry = estimator.geometry_
    names = geometry.schema.names
    return {
        "version": __version__,
        "eigenvalues": np.asarray(geometry.eigenvalues, dtype=np.float64),
        "use_rep": {name: use_rep[name] for name in names},
        "n_observed": {
            name: int(count) for name, count in zip(names, geometry.observed.sum(0), strict=True)
        },
        "metrics": dict(geometry.metrics),
        "metric_scores": {
            name: {metric: float(score) for metric, score in scores.items()}
            for name, scores in geometry.record.metric_scores.items()
        },
        "view_weights": {
            name: float(weight) for name, weight in geometry.record.view_weights.items()
        },
        "recall": {**{name: float(value) for name, value in geometry.recall.items()}},
        "graph_recall": float(graph.recall),
        "n_pieces": int(geometry.record.n_pieces),
        "n_steps": float(geometry.n_steps),
        "output": geometry.output,
        "solver": geometry.spectrum.solver,
        "parameters": _plain_parameters(estimator),
    }


def view_coordinates(geometry: Geometry) -> dict[str, Any]:
    """The coordinates of each view, NaN where it did not observe the cell, by view name.

    Empty if there is one set of coordinates only: of a single view, or of a fusion that has none
    for single views.

    Parameters
    ----------
    geometry : Geometry
    """
    if geometry.walk.is_fused or len(geometry.schema.names) == 1:
        return {}
    return dict(geometry.view_embeddings)


def diffusion_basis(geometry: Geometry) -> tuple[Any, Any] | None:
    """Eigenvectors and eigenvalues with the trivial ones first, as scanpy's diffmap has them.

    None if a cell has several sets of coordinates, or those of no diffusion.

    Parameters
    ----------
    geometry : Geometry

    Returns
    -------
    basis : (n_cells, r + 1) array
        The first column is 1.
    eigenvalues : (r + 1,) array
        The first one is 1.
    """
    r = geometry.n_components
    if not geometry.is_timed or geometry.embedding().shape[1] != r:
        return None
    basis = geometry.embedding(0.0).astype(np.float32)
    ones = np.ones((len(basis), 1), dtype=np.float32)
    return np.hstack([ones, basis]), np.r_[1.0, geometry.eigenvalues].astype(np.float32)


def _plain_parameters(estimator: Any) -> dict[str, Any]:
    """The parameters of an estimator that are not None, as numbers or text."""
    values = {}
    for name, value in estimator.get_params(deep=False).items():
        if value is None or callable(value):
            continue
        values[name] = value if isinstance(value, str | bool | int | float) else repr(value)
    return values
