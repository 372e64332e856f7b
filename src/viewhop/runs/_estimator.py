"""From settings to what they stand for: how files are read, kernels, an estimator."""

from __future__ import annotations

from typing import Any

from viewhop._runtime.progress import Progress
from viewhop.errors import SettingsError
from viewhop.estimators import DiffusionMaps, MultiViewDiffusionMaps, MultiViewSpectralClustering
from viewhop.kernels import Correlation, Gaussian, Kernel, Laplacian, Precomputed
from viewhop.runs._settings import KernelSettings, Settings
from viewhop.tables import Options

__all__ = ["Model", "embedder_of", "estimator", "kernel", "table_options"]

Model = MultiViewDiffusionMaps | MultiViewSpectralClustering

_DISTANCES: dict[str | None, type[Kernel]] = {
    "adaptive": Gaussian,
    "gaussian": Gaussian,
    "laplacian": Laplacian,
    "correlation": Correlation,
}
#: What "adaptive" stands for.
_ADAPTIVE = {"bandwidth": "local", "n_neighbors": 10}


def table_options(settings: Settings) -> Options:
    """How the files of a run are read.

    Parameters
    ----------
    settings : Settings
    """
    try:
        return Options(
            id=settings.id,
            label=settings.label,
            keep=settings.keep,
            drop=settings.drop,
            decimal=settings.decimal,
            delimiter="\t" if settings.delimiter == "tab" else settings.delimiter,
            encoding=settings.encoding,
        )
    except ValueError as error:
        raise SettingsError(str(error)) from None


def kernel(settings: KernelSettings) -> Kernel:
    """The kernel of a view.

    Parameters
    ----------
    settings : KernelSettings
        As `Settings.kernel_of` gives them.

    Examples
    --------
    >>> from viewhop.runs._estimator import kernel
    >>> from viewhop.runs._settings import KernelSettings
    >>> kernel(KernelSettings(kernel="adaptive", neighbors=20))
    Gaussian(bandwidth='local', n_neighbors=20)
    """
    given = {
        "bandwidth": settings.bandwidth,
        "factor": settings.factor,
        "n_neighbors": settings.neighbors,
        "metric": settings.metric,
        "standardize": settings.standardize,
        "alpha": settings.alpha,
        "search": settings.search,
    }
    kind: Any = _DISTANCES.get(settings.kernel, Precomputed)
    chosen = _ADAPTIVE if settings.kernel == "adaptive" else {}
    known = kind._get_param_names()
    own = {key: value for key, value in given.items() if value is not None and key in known}
    made: Kernel = kind(**{**chosen, **own})
    return made


def estimator(settings: Settings, *, verbose: int | Progress = 0) -> Model:
    """The estimator that a run fits, not fitted: of one view the ordinary diffusion map.

    Parameters
    ----------
    settings : Settings
    verbose : int or callable
    """
    kernels = {name: kernel(settings.kernel_of(name)) for name in settings.views}
    solving: dict[str, Any] = {
        "n_steps": settings.steps,
        "solver": settings.solver,
        "tol": settings.tol,
        "max_memory": settings.memory,
        "n_jobs": settings.jobs,
        "random_state": settings.seed,
        "verbose": verbose,
    }
    walking: dict[str, Any] = {
        "kernel": kernels,
        "fusion": settings.fusion,
        "within_view_weight": settings.within_view_weight,
        "output": settings.output,
    }
    if settings.command == "cluster":
        given: dict[str, Any] = {
            "n_components": settings.components,
            "max_clusters": settings.max_clusters,
            "normalize": settings.normalize,
        }
        return MultiViewSpectralClustering(
            "auto" if settings.clusters is None else settings.clusters,
            **walking,
            **solving,
            **{key: value for key, value in given.items() if value is not None},
        )
    counting: dict[str, Any] = {
        "n_components": 2 if settings.components is None else settings.components,
        "accuracy": settings.accuracy,
    }
    if len(kernels) == 1:
        return DiffusionMaps(**counting, kernel=kernels, **solving)
    return MultiViewDiffusionMaps(**counting, **walking, **solving)


def embedder_of(model: Model) -> MultiViewDiffusionMaps:
    """The fitted diffusion map of a model: itself, or what its clusters were found in.

    Parameters
    ----------
    model : MultiViewDiffusionMaps or MultiViewSpectralClustering
    """
    return model.embedder_ if isinstance(model, MultiViewSpectralClustering) else model
