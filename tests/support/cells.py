"""Cells for the tests: AnnData and MuData where they are installed, else what viewhop needs.

`make test-omics` has the packages, `make test` has not.
"""

from __future__ import annotations

import warnings
from copy import deepcopy
from importlib.util import find_spec

import numpy as np
import pandas as pd

IS_REAL = find_spec("mudata") is not None


class PlainCells:
    """Arrays of cells as an AnnData has them."""

    def __init__(self, X, obs, var):
        self.X, self.obs, self.var = X, obs, var
        self.obsm, self.obsp, self.layers, self.uns = {}, {}, {}, {}

    @property
    def obs_names(self):
        return self.obs.index

    @property
    def var_names(self):
        return self.var.index

    def copy(self):
        return deepcopy(self)


class PlainModalities:
    """Modalities as a MuData has them."""

    def __init__(self, mod):
        self.mod = mod
        names = dict.fromkeys(name for part in mod.values() for name in part.obs_names)
        self.obs = pd.DataFrame(index=[*names])
        self.obsm, self.obsp, self.uns = {}, {}, {}

    @property
    def obs_names(self):
        return self.obs.index

    def copy(self):
        return deepcopy(self)


def make_cells(X, names=None, features=None, *, obsm=(), layers=()):
    """An AnnData of an array, with names ``c0``, ``c1``, … and ``f0``, ``f1``, …."""
    n, d = X.shape
    obs = pd.DataFrame(index=[f"c{k}" for k in range(n)] if names is None else [*names])
    var = pd.DataFrame(index=[f"f{k}" for k in range(d)] if features is None else [*features])
    if IS_REAL:
        from anndata import AnnData

        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Observation names are not unique")
            warnings.filterwarnings("ignore", message="Variable names are not unique")
            cells = AnnData(np.array(X), obs=obs, var=var)
    else:
        cells = PlainCells(np.array(X), obs, var)
    for key, values in dict(obsm).items():
        cells.obsm[key] = values
    for key, values in dict(layers).items():
        cells.layers[key] = values
    return cells


def make_modalities(parts):
    """A MuData of some AnnData by name."""
    if not IS_REAL:
        return PlainModalities(dict(parts))
    import mudata

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of repeated names
        mudata.set_options(pull_on_update=False)
        return mudata.MuData(dict(parts))
