"""Model files: fitted estimators read back from disk, whoever wrote them."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from viewhop._storage import archive
from viewhop._storage.archive import name_file
from viewhop._storage.codec import Shelf, decode_estimator, read_fields, read_text
from viewhop.errors import ModelFileError
from viewhop.estimators import DeSaEmbedding
from viewhop.estimators._clustering import MultiViewSpectralClustering
from viewhop.estimators._multi_view import DiffusionMaps, MultiViewDiffusionMaps

__all__ = ["load"]

#: What a file may hold. A name in a file is looked up here and nowhere else.
_KINDS: dict[str, type[MultiViewDiffusionMaps] | type[MultiViewSpectralClustering]] = {
    kind.__name__: kind
    for kind in (DeSaEmbedding, DiffusionMaps, MultiViewDiffusionMaps, MultiViewSpectralClustering)
}
#: What arithmetic on numbers that belong to no fit may end in.
_NONSENSE = (ArithmeticError, AttributeError, IndexError, KeyError, TypeError, ValueError)


def load(path: str | os.PathLike[str], *, max_memory: float | str | None = None) -> Any:
    """The fitted estimator of a model file, as its ``save`` wrote it.

    Loading runs nothing that is in the file and imports nothing that it names. Everything is
    checked: a file that is damaged, or made to do harm, is refused.

    Parameters
    ----------
    path : path
    max_memory : number, str or None, default=None
        Bytes, or text like "2GB", that the arrays of the file may take; None is 80 % of what the
        machine or its cgroup has left.

    Returns
    -------
    est : MultiViewDiffusionMaps, DiffusionMaps, DeSaEmbedding or MultiViewSpectralClustering
        Fitted: its embedding, its attributes and its ``transform`` are those of what was saved, to
        the last bit.

    Raises
    ------
    ModelFileError
        If the file is not a model; `ModelVersionError`, `ModelDamagedError` and `ModelSizeError`
        say which way.
    OSError
        If the file is not there or cannot be read.

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
    content, arrays = archive.read(path, max_memory=max_memory)
    with name_file(path), np.errstate(all="ignore"):
        try:
            return _model(content, Shelf(arrays))
        except ModelFileError:
            raise
        except _NONSENSE as error:
            raise ModelFileError(f"its numbers belong to no fit: {error}") from error


def _model(content: Any, shelf: Shelf) -> Any:
    name, parameters, learnt = read_fields(content, ("class", "parameters", "fitted"), "the model")
    kind = _KINDS[read_text(name, "the class of the model", [*_KINDS])]
    est = decode_estimator(kind, parameters, shelf.within("parameters"))
    est._restore(learnt, shelf)
    shelf.check_empty()
    return est
