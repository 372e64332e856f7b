"""The picture of a fit: the first two coordinates of the samples."""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["NO_PICTURE", "PICTURE", "draw_embedding", "require_matplotlib"]

#: The name of the picture in the folder of a run.
PICTURE = "embedding.png"
NO_PICTURE = f'no {PICTURE}: it requires matplotlib (pip install "viewhop[plot]")'


def require_matplotlib() -> None:
    """Raise ImportError if matplotlib is not installed; call it before long work."""
    if find_spec("matplotlib") is None:
        raise ImportError(NO_PICTURE, name="matplotlib")


def draw_embedding(path: Path, model: Any, labels: NDArray[Any] | None) -> bool:
    """Write the picture; whether matplotlib is installed, without which there is none.

    Parameters
    ----------
    path : Path
    model : MultiViewDiffusionMaps
        Fitted.
    labels : (n_samples,) array or None
        They set the colours.
    """
    if find_spec("matplotlib") is None:
        return False
    import pandas as pd
    from matplotlib.figure import Figure

    from viewhop import plotting

    figure = Figure(figsize=(6.4, 4.8), layout="constrained")
    names = model.get_feature_names_out().tolist()
    shown = np.asarray(model.embedding_, dtype=np.float64)[:, :2]
    if shown.shape[1] == 1:  # one coordinate is drawn over the number of the sample
        shown = np.column_stack([shown, np.arange(len(shown))])
        names = [names[0], "sample"]
    frame = pd.DataFrame(shown, columns=names[:2])
    count = model.embedding_.shape[1]
    title = f"{len(frame):,} samples, {min(2, count)} of {count} coordinates"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of marks that no font has
        plotting.embedding(frame, labels=labels, ax=figure.subplots(), title=title)
        figure.savefig(path, format="png", dpi=120, metadata={"Software": None})
    return True
