"""Diffusion maps of the cells in an AnnData or a MuData, written into it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone

from viewhop.estimators import MultiViewDiffusionMaps
from viewhop.scverse._fused_graph import build_graph
from viewhop.scverse._kept_model import keep_model
from viewhop.scverse._representations import (
    UseRep,
    choose_representations,
    read_cells,
    require_cells,
)
from viewhop.scverse._stored_results import (
    Names,
    describe_fit,
    diffusion_basis,
    view_coordinates,
)

__all__ = ["diffmap"]

#: From fewer, the graph falls into clusters that are smaller than types: see docs/citeseq.md.
N_COMPONENTS = 100


def diffmap(
    data: Any,
    n_components: int | str | None = None,
    *,
    use_rep: UseRep = None,
    modalities: Iterable[str] | None = None,
    n_neighbors: int = 15,
    estimator: MultiViewDiffusionMaps | None = None,
    random_state: int = 0,
    key_added: str | None = None,
    model: bool | str | os.PathLike[str] = True,
    copy: bool = False,
) -> Any:
    """Multi-view diffusion maps of cells, and the graph of nearest cells, for scanpy to work on.

    Parameters
    ----------
    data : AnnData or MuData
        Cells may be missing in some modalities; a row of NaN in an array counts as missing, too.
    n_components : int, "auto" or None, default=None
        Number of coordinates; None is 100, but at most half the number of cells, or what
        `estimator` has. A graph on few coordinates falls into many small clusters.
    use_rep : str, list, dict or None, default=None
        What the views are. A key is ``"X"``, the name of an entry of ``.obsm`` or ``.layers``, or,
        where both have it, ``"obsm/<name>"`` or ``"layers/<name>"``. For a MuData, one key for all
        modalities or a dict of keys by modality; for an AnnData, one key, a list of keys, or a
        dict of keys by view name. None, or a modality without a key, takes ``.obsm["X_pca"]`` if
        it is there, otherwise ``.X``.
    modalities : list of str or None, default=None
        Modalities of a MuData to use; None uses all.
    n_neighbors : int, default=15
        Neighbours in the graph, with the cell itself, as in ``scanpy.pp.neighbors``. The kernels
        of the views have neighbours of their own; see `estimator`.
    estimator : MultiViewDiffusionMaps or None, default=None
        Settings of the fit, if not the default ones; it is not changed.
    random_state : int, default=0
        Seed of the fit, unless `estimator` has one, and of the search for neighbours.
    key_added : str or None, default=None
        Replaces "viewhop" in all names, and "neighbors" in ``.uns``. The graph is then not the
        default one: pass ``neighbors_key=key_added`` to the functions of scanpy.
    model : bool or path, default=True
        Where the fitted model is kept for `place`: in ``.uns``, so that it is written to files
        with the data; in a file of its own; or nowhere, if False. It holds the representations of
        all cells.
    copy : bool, default=False
        Whether to return a copy of the data with the result, instead of writing to the data.

    Returns
    -------
    data : AnnData, MuData or None
        The copy, or None. It has, without `key_added`:

        ``.obsm["X_viewhop"]``
            Joint coordinates of every cell.
        ``.obsm["X_viewhop_<view>"]``
            Coordinates in each view, NaN for cells that it missed.
        ``.uns["viewhop"]``
            Eigenvalues, metrics and weights of the views, parameters, and the model.
        ``.obsp["distances"]``, ``.obsp["connectivities"]``, ``.uns["neighbors"]``
            The graph, as ``scanpy.pp.neighbors`` stores it.
        ``.obsm["X_diffmap"]``, ``.uns["diffmap_evals"]``
            Eigenvectors and eigenvalues with the trivial ones first, as ``scanpy.tl.dpt`` takes
            them. Not with `key_added`, because scanpy has no other names for these, and not if a
            cell has several sets of coordinates (``output="concat"``).

    Raises
    ------
    ValueError
        If an array, layer or modality is not there, a modality has no observations, observation
        names are repeated, or no view observed some cell.

    See Also
    --------
    place : The coordinates of new cells.

    Notes
    -----
    The distances of the graph are Euclidean in ``.obsm["X_viewhop"]``, hence diffusion distances of
    the fused walk; every cell has its ``n_neighbors - 1`` nearest others. Connectivities are those
    of UMAP, which are scanpy's default: each neighbourhood gets weights from 0 to 1 by a width of
    its own, and two directions a and b are united to a + b − ab.

    Examples
    --------
    >>> import viewhop as vh
    >>> from anndata import AnnData
    >>> cells = vh.datasets.make_citeseq(300, random_state=0)
    >>> adata = AnnData(cells.views["rna"], obsm={"protein": cells.views["protein"]})
    >>> vh.scverse.diffmap(adata, 10, use_rep=["X", "protein"])
    >>> adata.obsm["X_viewhop"].shape
    (300, 10)
    >>> adata.obsp["connectivities"].shape
    (300, 300)

    Now ``scanpy.tl.leiden(adata)`` or ``scanpy.tl.umap(adata)`` runs on this graph.
    """
    require_cells("data", data)
    names = Names(key_added)
    est = _make_estimator(estimator, n_components, random_state, len(data.obs_names))
    if not isinstance(n_neighbors, Integral) or isinstance(n_neighbors, bool) or n_neighbors < 2:
        raise ValueError(f"n_neighbors must be an integer of at least 2, got {n_neighbors!r}")
    chosen = choose_representations(data, use_rep, modalities)
    views = read_cells(data, chosen, missing=est.missing)
    if n_neighbors > len(views):
        raise ValueError(
            f"n_neighbors is {n_neighbors}, but there are only {len(views)} observations"
        )
    est.fit(views)
    generator = np.random.default_rng(random_state)
    graph = build_graph(est.embedding_, int(n_neighbors), generator=generator, n_jobs=est.n_jobs)
    neighbours = names.neighbours(int(n_neighbors), int(random_state))
    keys = {name: part.key for name, part in chosen.items()}
    results = neighbours | describe_fit(est, keys, graph) | keep_model(est, model)
    # Everything is there: from here on nothing fails, and the data are changed as a whole.
    target = data.copy() if copy else data
    target.obsm[names.joint] = np.array(est.embedding_)
    for name, coordinates in view_coordinates(est.geometry_).items():
        target.obsm[names.view(name)] = np.array(coordinates)
    target.obsp[names.distances] = graph.distances
    target.obsp[names.connectivities] = graph.connectivities
    target.uns[names.results] = results
    if key_added is None:
        target.uns["neighbors"] = names.neighbours(int(n_neighbors), int(random_state))
        basis = diffusion_basis(est.geometry_)
        if basis is not None:
            target.obsm["X_diffmap"], target.uns["diffmap_evals"] = basis
    return target if copy else None


def _make_estimator(
    estimator: MultiViewDiffusionMaps | None,
    n_components: int | str | None,
    random_state: int,
    n_cells: int,
) -> MultiViewDiffusionMaps:
    """An estimator to fit, not that of the caller."""
    if not isinstance(random_state, Integral) or isinstance(random_state, bool):
        raise ValueError(f"random_state must be an integer, got {random_state!r}")
    if estimator is None:
        most = max(1, min(N_COMPONENTS, n_cells // 2))
        r = most if n_components is None else n_components
        return MultiViewDiffusionMaps(r, random_state=int(random_state))
    if not isinstance(estimator, MultiViewDiffusionMaps):
        raise ValueError(
            f"estimator must be a MultiViewDiffusionMaps, not {type(estimator).__name__}"
        )
    if estimator.views is not None:
        raise ValueError("estimator has views=, which are for one stacked array; use use_rep")
    copied: MultiViewDiffusionMaps = clone(estimator)
    if n_components is not None:
        copied.set_params(n_components=n_components)
    if copied.random_state is None:
        copied.set_params(random_state=int(random_state))
    return copied
