"""viewhop: one geometry from several views of the same samples, by multi-view diffusion maps."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from viewhop._version import __version__

if TYPE_CHECKING:
    from viewhop import (
        bandwidth,
        datasets,
        diffusion,
        dimension,
        errors,
        kernels,
        plotting,
        seismic,
        theory,
    )
    from viewhop.baselines import DeSaEmbedding, KernelCCA
    from viewhop.clustering import MultiViewSpectralClustering
    from viewhop.estimators import DiffusionMaps, MultiViewDiffusionMaps
    from viewhop.models import load
    from viewhop.views import Views

__all__ = [
    "DeSaEmbedding",
    "DiffusionMaps",
    "KernelCCA",
    "MultiViewDiffusionMaps",
    "MultiViewSpectralClustering",
    "Views",
    "__version__",
    "bandwidth",
    "datasets",
    "diffusion",
    "dimension",
    "errors",
    "kernels",
    "load",
    "plotting",
    "seismic",
    "theory",
]

_HOMES = {
    "DeSaEmbedding": "viewhop.baselines",
    "DiffusionMaps": "viewhop.estimators",
    "KernelCCA": "viewhop.baselines",
    "MultiViewDiffusionMaps": "viewhop.estimators",
    "MultiViewSpectralClustering": "viewhop.clustering",
    "Views": "viewhop.views",
    "load": "viewhop.models",
}


def __getattr__(name: str) -> Any:
    """Load a public name when it is first asked for: scikit-learn alone takes a second."""
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    elif name in __all__:
        value = import_module(f"viewhop.{name}")
    else:
        raise AttributeError(f"module 'viewhop' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
