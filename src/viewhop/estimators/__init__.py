"""Scikit-learn estimators: thin wrappers around the result of a fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from viewhop._runtime.lazy import lazy_names

if TYPE_CHECKING:
    from viewhop.estimators._cluster_count import ClusterCount
    from viewhop.estimators._clustering import MultiViewSpectralClustering
    from viewhop.estimators._clusters import Clusters
    from viewhop.estimators._count_clusters import count_clusters
    from viewhop.estimators._desa import DeSaEmbedding
    from viewhop.estimators._kernel_cca import KernelCCA
    from viewhop.estimators._load import load
    from viewhop.estimators._multi_view import MultiViewDiffusionMaps
    from viewhop.estimators._single_view import DiffusionMaps
    from viewhop.solvers import eigengap, log_gap

__all__ = [
    "ClusterCount",
    "Clusters",
    "DeSaEmbedding",
    "DiffusionMaps",
    "KernelCCA",
    "MultiViewDiffusionMaps",
    "MultiViewSpectralClustering",
    "count_clusters",
    "eigengap",
    "load",
    "log_gap",
]

_HOMES = {
    "ClusterCount": "viewhop.estimators._cluster_count",
    "Clusters": "viewhop.estimators._clusters",
    "DeSaEmbedding": "viewhop.estimators._desa",
    "DiffusionMaps": "viewhop.estimators._single_view",
    "KernelCCA": "viewhop.estimators._kernel_cca",
    "MultiViewDiffusionMaps": "viewhop.estimators._multi_view",
    "MultiViewSpectralClustering": "viewhop.estimators._clustering",
    "count_clusters": "viewhop.estimators._count_clusters",
    "eigengap": "viewhop.solvers",
    "load": "viewhop.estimators._load",
    "log_gap": "viewhop.solvers",
}

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
