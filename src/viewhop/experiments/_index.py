"""Index of the experiments, in the order of the paper."""

from __future__ import annotations

from importlib import import_module

from viewhop.experiments._experiment import Experiment

__all__ = ["NAMES", "find"]

NAMES = (
    "smoothing",
    "decay-over-time",
    "bandwidth-surface",
    "statements",
    "generator",
    "additive-noise",
    "numerical-rank",
    "spectral-decay",
    "cross-view-distance",
    "helix-a",
    "helix-b",
    "video-gap",
    "video-noise",
    "circles",
    "circles-bandwidth",
    "digits",
    "mnist",
    "isolet",
    "caltech",
    "seismic-type",
    "seismic-pairs",
    "seismic-quarry",
)
#: Modules not named after their experiment; some contain two, on different data.
_MODULES = {
    "generator": "theorem7",
    "numerical-rank": "rank_of_kernels",
    "helix-a": "helices",
    "helix-b": "helices",
    "video-gap": "videos",
    "video-noise": "videos",
}


def find(name: str) -> Experiment:
    """Experiment by name.

    Parameters
    ----------
    name : str
        One of `NAMES`.

    Examples
    --------
    >>> from viewhop.experiments import find
    >>> find("smoothing").where
    'Fig. 1'
    """
    if name not in NAMES:
        raise ValueError(f"unknown experiment {name!r}; expected one of {', '.join(NAMES)}")
    module = import_module(f"viewhop.experiments._{_MODULES.get(name, name.replace('-', '_'))}")
    by_name: dict[str, Experiment] = {each.name: each for each in module.EXPERIMENTS}
    return by_name[name]
