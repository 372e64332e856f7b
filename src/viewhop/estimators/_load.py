"""Loading fitted estimators from model files, safely even from untrusted sources."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from viewhop._runtime.threads import thread_count
from viewhop._storage import archive
from viewhop._storage.archive import name_file
from viewhop._storage.codec import Shelf, read_boolean, read_fields, read_integer, read_text
from viewhop.errors import ModelFileError
from viewhop.estimators._canonical_codec import decode_canonical
from viewhop.estimators._cluster_count import decode_count
from viewhop.estimators._clustering import MultiViewSpectralClustering
from viewhop.estimators._clusters import Clusters
from viewhop.estimators._desa import DeSaEmbedding
from viewhop.estimators._geometry_transformer import GeometryTransformer
from viewhop.estimators._kernel_cca import KernelCCA
from viewhop.estimators._multi_view import MultiViewDiffusionMaps
from viewhop.estimators._parameters import decode_parameters
from viewhop.estimators._single_view import DiffusionMaps
from viewhop.estimators._version1 import upgrade_model
from viewhop.geometry import Geometry, decode_geometry
from viewhop.walks import check_degrees

__all__ = ["load"]

#: Errors that computing with inconsistent arrays may raise.
_NONSENSE = (ArithmeticError, AttributeError, IndexError, KeyError, TypeError, ValueError)


def load(path: str | os.PathLike[str], *, max_memory: float | str | None = None) -> Any:
    """The fitted estimator stored in a model file.

    Loading executes no code from the file and imports nothing that it names. Its content is
    checked: a damaged or malicious file is refused.

    Parameters
    ----------
    path : path
    max_memory : number, str or None, default=None
        Memory budget of the arrays, in bytes or as a string like "2GB"; None takes 80 % of the
        memory available to the machine or its cgroup.

    Returns
    -------
    est : estimator
        Of the class that was saved, and fitted: its attributes and ``transform`` give the same
        results as those of the saved estimator, bit for bit.

    Raises
    ------
    ModelFileError
        If the file is not a model; `ModelVersionError`, `ModelDamagedError` and `ModelSizeError`
        are more specific.
    OSError
        If the file does not exist or cannot be read.

    Notes
    -----
    Version 1 files will always load. A kernel "adaptive" in their parameters is loaded as the
    Gaussian kernel that the name meant at the time.

    Examples
    --------
    >>> import os, tempfile
    >>> import viewhop as vh
    >>> circles = vh.datasets.make_circles(100, random_state=0)
    >>> model = vh.MultiViewSpectralClustering(2, kernel="gaussian", random_state=0)
    >>> model = model.fit(circles.views)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "circles.viewhop")
    ...     model.save(path)
    ...     again = vh.load(path)
    >>> bool((again.predict(circles.views) == model.labels_).all())
    True
    """
    content, arrays, version = archive.read(path, max_memory=max_memory)
    with name_file(path), np.errstate(all="ignore"):
        try:
            if version == 1:
                content, arrays = upgrade_model(content, arrays)
            return _decode_model(content, Shelf(arrays))
        except ModelFileError:
            raise
        except _NONSENSE as error:
            raise ModelFileError(
                f"its arrays are inconsistent; no fitted model could have written them: {error}"
            ) from error


def _decode_model(content: Any, shelf: Shelf) -> Any:
    name, parameters, learned = read_fields(
        content, ("class", "parameters", "learned"), "the model"
    )
    decode = _DECODERS[read_text(name, "the class of the model", [*_DECODERS])]
    est = decode(parameters, learned, shelf)
    shelf.check_empty()
    return est


def _prepare(geometry: Geometry) -> None:
    """Compute the coordinates now, so that inconsistent arrays are refused on loading."""
    check_degrees(geometry.walk)
    geometry.prepare()


def _decode_embedding(
    kind: type[GeometryTransformer], parameters: Any, learned: Any, shelf: Shelf
) -> GeometryTransformer:
    values = decode_parameters(kind, parameters, shelf.within("parameters"))
    (state,) = read_fields(learned, ("geometry",), "what was learned")
    geometry = decode_geometry(
        state, shelf, n_jobs=thread_count(values["n_jobs"]), walks=kind._walk_classes
    )
    try:
        est = kind.from_geometry(geometry, **values)
    except ValueError as error:
        raise ModelFileError(str(error)) from error
    _prepare(geometry)
    return est


def _decode_kernel_cca(parameters: Any, learned: Any, shelf: Shelf) -> KernelCCA:
    est = KernelCCA(**decode_parameters(KernelCCA, parameters, shelf.within("parameters")))
    (state,) = read_fields(learned, ("canonical",), "what was learned")
    est.canonical_ = decode_canonical(state, shelf)
    return est


def _decode_clustering(parameters: Any, learned: Any, shelf: Shelf) -> MultiViewSpectralClustering:
    kind = MultiViewSpectralClustering
    est = kind(**decode_parameters(kind, parameters, shelf.within("parameters")))
    keys = ("n_components", "normalize", "embedder", "geometry")
    n, normalize, embedder, state, count = read_fields(
        learned, keys, "the clusters", optional={"count": None}
    )
    inner = decode_parameters(MultiViewDiffusionMaps, embedder, shelf.within("embedder"))
    geometry = decode_geometry(state, shelf, n_jobs=thread_count(est.n_jobs))
    r = geometry.n_components
    n_components = read_integer(n, "the coordinates of clusters", least=1, most=r)
    width = geometry.embedding().shape[1] // r * n_components
    centers = shelf.numbers("centers", (-1, width))
    if not 0 < len(centers) <= geometry.n_samples:
        raise ModelFileError("the clusters: expected between 1 and as many as there are samples")
    est.clusters_ = Clusters(
        geometry,
        MultiViewDiffusionMaps.from_geometry(geometry, **inner),
        centers,
        n_components,
        read_boolean(normalize, "whether coordinates are normalised"),
        None if count is None else decode_count(count, len(centers)),
    )
    _prepare(geometry)
    return est


def _embedding_decoder(kind: type[GeometryTransformer]) -> Callable[[Any, Any, Shelf], Any]:
    return lambda parameters, learned, shelf: _decode_embedding(kind, parameters, learned, shelf)


#: Classes that a file may hold. Names in a file are looked up here and nowhere else.
_DECODERS: dict[str, Callable[[Any, Any, Shelf], Any]] = {
    "DeSaEmbedding": _embedding_decoder(DeSaEmbedding),
    "DiffusionMaps": _embedding_decoder(DiffusionMaps),
    "KernelCCA": _decode_kernel_cca,
    "MultiViewDiffusionMaps": _embedding_decoder(MultiViewDiffusionMaps),
    "MultiViewSpectralClustering": _decode_clustering,
}
