"""viewhop: one geometry from several views of the same samples, by multi-view diffusion maps."""

from __future__ import annotations

from viewhop._runtime.lazy import lazy_names
from viewhop._runtime.version import __version__

TYPE_CHECKING = False  # not from typing: an interrupt of its import would show a traceback
if TYPE_CHECKING:
    from viewhop import (
        advice,
        affinity,
        bandwidth,
        datasets,
        diffusion,
        dimension,
        errors,
        geometry,
        kernels,
        plotting,
        report,
        runs,
        scverse,
        seismic,
        solvers,
        tables,
        theory,
        walks,
    )
    from viewhop.advice import advise, explain, stability
    from viewhop.estimators import (
        DeSaEmbedding,
        DiffusionMaps,
        KernelCCA,
        MultiViewDiffusionMaps,
        MultiViewSpectralClustering,
        load,
    )
    from viewhop.geometry import lay_out
    from viewhop.views import Views

__all__ = [
    "DeSaEmbedding",
    "DiffusionMaps",
    "KernelCCA",
    "MultiViewDiffusionMaps",
    "MultiViewSpectralClustering",
    "Views",
    "__version__",
    "advice",
    "advise",
    "affinity",
    "bandwidth",
    "datasets",
    "diffusion",
    "dimension",
    "errors",
    "explain",
    "geometry",
    "kernels",
    "lay_out",
    "load",
    "plotting",
    "report",
    "runs",
    "scverse",
    "seismic",
    "solvers",
    "stability",
    "tables",
    "theory",
    "walks",
]

_ESTIMATORS = (
    "DeSaEmbedding",
    "DiffusionMaps",
    "KernelCCA",
    "MultiViewDiffusionMaps",
    "MultiViewSpectralClustering",
    "load",
)
_HOMES = {
    **{name: f"viewhop.{name}" for name in __all__ if name != "__version__"},
    **dict.fromkeys(_ESTIMATORS, "viewhop.estimators"),
    "Views": "viewhop.views",
    "advise": "viewhop.advice",
    "explain": "viewhop.advice",
    "lay_out": "viewhop.geometry",
    "stability": "viewhop.advice",
}

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
