"""What coordinates mean, for the report: the features that change most along each."""

from __future__ import annotations

from typing import Any

import numpy as np

from viewhop.advice import draw_samples, explain_embedding
from viewhop.geometry import Geometry
from viewhop.views import Views

__all__ = ["describe_meaning"]

#: Samples that are looked at; more are drawn at random, with a fixed seed.
MOST_SAMPLES = 5000
#: Columns of the embedding that are explained, and features that are shown for each.
MOST_COLUMNS, MOST_FEATURES = 12, 5


def describe_meaning(geometry: Geometry, features: Views | None) -> dict[str, Any] | None:
    """The features that change most along each column of the embedding, or None without features.

    Parameters
    ----------
    geometry : Geometry
    features : Views or None
        The training samples.
    """
    if features is None or features.names != geometry.schema.names:
        return None
    embedding = np.asarray(geometry.embedding(), dtype=np.float64)[:, :MOST_COLUMNS]
    numbers = range(1, geometry.n_components + 1)
    names = [f"{block}_{k}" for block in geometry.block_names for k in numbers]
    chosen = draw_samples(len(features), MOST_SAMPLES, 0)
    if chosen is not None:
        features, embedding = features[chosen], embedding[chosen]
    pairwise = {name for name, kernel in geometry.kernels.items() if kernel.is_pairwise}
    found = explain_embedding(embedding, names[: embedding.shape[1]], features, pairwise)
    frame = found.frame
    clear = frame[frame["shape"] != "none"].groupby("coordinate", sort=False).head(MOST_FEATURES)
    texts = ("coordinate", "view", "feature", "shape")
    measures = ("correlation", "strength")
    rows = [
        {name: str(clear[name].iloc[k]) for name in texts}
        | {name: float(clear[name].iloc[k]) for name in measures}
        | {"profile": [round(float(mean), 3) for mean in profile]}
        for k, profile in enumerate(found.profiles[clear.index])
    ]
    return {
        "rows": rows,
        "samples": len(features),
        "columns": embedding.shape[1],
        "total": len(names),
        "skipped": [f"{name}: {why}" for name, why in found.skipped.items()],
    }
