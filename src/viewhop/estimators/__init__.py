"""Scikit-learn estimators: thin wrappers around the result of a fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from viewhop._runtime.lazy import lazy_names

if TYPE_CHECKING:
    from viewhop.estimators._clustering import MultiViewSpectralClustering
    from viewhop.estimators._clusters import Clusters
    from viewhop.estimators._desa import DeSaEmbedding
    from viewhop.estimators._kernel_cca import KernelCCA
    from viewhop.estimators._load import load
    from viewhop.estimators._multi_view import MultiViewDiffusionMaps
    from viewhop.estimators._single_view import DiffusionMaps
    from viewhop.solvers import eigengap

__all__ = [
    "Clusters",
    "DeSaEmbedding",
    "DiffusionMaps",
    "KernelCCA",
    "MultiViewDiffusionMaps",
    "MultiViewSpectralClustering",
    "eigengap",
    "load",
]

_HOMES = {
    "Clusters": "viewhop.estimators._clusters",
    "DeSaEmbedding": "viewhop.estimators._desa",
    "DiffusionMaps": "viewhop.estimators._single_view",
    "KernelCCA": "viewhop.estimators._kernel_cca",
    "MultiViewDiffusionMaps": "viewhop.estimators._multi_view",
    "MultiViewSpectralClustering": "viewhop.estimators._clustering",
    "eigengap": "viewhop.solvers",
    "load": "viewhop.estimators._load",
}

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
