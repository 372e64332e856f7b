"""Make the golden model files of this format: ``python -m tests.support.make_golden``.

They are made once for each version of the format and then kept: a file that somebody has will
always load. The numbers beside each are what the fit gave when it was made. Those of version 1 can
only be loaded; nothing writes them any more.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd

import viewhop as vh
from viewhop.kernels import Correlation, Gaussian, Laplacian, Precomputed

FOLDER = Path(__file__).parents[1] / "data"


def views(n=30):
    """Three views without random numbers: a curve, its correlations and a kernel, with gaps."""
    t = np.linspace(0.0, 1.0, n)
    curve = np.column_stack([np.cos(3 * t), np.sin(3 * t), t**2])
    waves = np.column_stack([np.sin((k + 1) * 2 * t + k) for k in range(5)])
    given = np.exp(-8.0 * np.abs(t[:, None] - t))
    curve[4:6] = np.nan
    waves[20] = np.nan
    return {"curve": curve, "waves": waves, "given": given}


def hop():
    """The hop walk over what three views observed, each with another kernel."""
    return vh.MultiViewDiffusionMaps(
        3,
        n_steps=2,
        kernel={
            "curve": Gaussian("local", n_neighbors=6, standardize=True),
            "waves": Correlation(alpha=0.5),
            "given": Precomputed(n_neighbors=8),
        },
        hops=np.array([[0.1, 1.0, 0.5], [1.0, 0.1, 0.5], [0.5, 0.5, 0.0]]),
        output="concat",
        random_state=0,
    ).fit(views())


def product():
    """The product of two kernels of neighbours, in single precision, from columns with names."""
    known = views(24)
    t = np.linspace(0.0, 1.0, 24)
    stacked = np.column_stack([known["waves"], np.cos(2 * t), np.sin(2 * t)])
    stacked[20] = np.column_stack([*stacked[[19, 21]]]).mean(axis=1)
    frame = pd.DataFrame(stacked.astype(np.float32), columns=[*"abcdefg"])
    return vh.MultiViewDiffusionMaps(
        2,
        kernel=Gaussian("local", n_neighbors=10),
        fusion="product",
        views={"waves": slice(0, 5), "circle": ["f", "g"]},
        random_state=0,
    ).fit(frame)


def clusters():
    """Clusters of two views with dense kernels."""
    t = np.linspace(0.0, 1.0, 24) + 3.0 * (np.arange(24) >= 12)
    return vh.MultiViewSpectralClustering(
        2,
        kernel=[Gaussian("max-min", factor=4.0), Laplacian(2.0)],
        within_view_weight=0.0,
        random_state=0,
    ).fit({"line": np.column_stack([t, t**2]), "curve": np.column_stack([np.cos(t), np.sin(t)])})


def consensus():
    """The default: chosen metrics and weights, a joint view, and a consensus."""
    t = np.linspace(0.0, 1.0, 64)
    curve = np.column_stack([np.cos(3 * t), np.sin(3 * t), 100 * np.sin(40 * t)])
    waves = np.column_stack([(2 + np.sin(40 * t)) * np.cos((k + 1) * t + k) for k in range(5)])
    waves[20] = np.nan
    return vh.MultiViewDiffusionMaps(2, random_state=0).fit({"curve": curve, "waves": waves})


def connected():
    """Two groups far apart, which more neighbours connect."""
    t = np.linspace(0.0, 1.0, 24)
    apart = 30.0 * (np.arange(24) >= 12)
    line = np.column_stack([t + apart, np.cos(9 * t)])
    curve = np.column_stack([np.sin(5 * t) + apart, t**2, t])
    return vh.MultiViewDiffusionMaps(
        2, kernel=Gaussian("local", n_neighbors=4, taper=0.25), connect=True, random_state=0
    ).fit({"line": line, "curve": curve})


#: All models that have golden files, by the name of the file without the version.
MODELS = {
    "": hop,
    "-product": product,
    "-clusters": clusters,
    "-consensus": consensus,
    "-connected": connected,
}
#: Those whose files this version of viewhop wrote; older ones lack parameters that came later.
NEWEST = ("-connected",)


def expected(est):
    """Numbers of a model, by what gives them."""
    if isinstance(est, vh.MultiViewSpectralClustering):
        return {
            "labels_": est.labels_.tolist(),
            "cluster_centers_": est.cluster_centers_.tolist(),
            **{f"embedder_.{name}": known for name, known in expected(est.embedder_).items()},
        }
    found = {
        "eigenvalues_": est.eigenvalues_.tolist(),
        "embedding_": est.embedding_.tolist(),
        "coordinates(1)": est.coordinates(1).tolist(),
        "degrees_": [np.nan_to_num(part).tolist() for part in est.degrees_.values()],
    }
    if est.walk_.is_fused:
        t = np.linspace(0.1, 0.9, 3)
        new = pd.DataFrame(np.sin(np.outer(t, np.arange(2, 9))), columns=est.feature_names_in_)
        return {**found, "transform of new samples": est.transform(new).tolist()}
    rows = [K.points.rows if hasattr(K, "points") else None for K in est.walk_.affinities]
    new = {
        name: X[:3] * 1.01 for name, X in zip(est.view_names_, rows, strict=True) if X is not None
    }
    return {
        **found,
        "transform of new samples": est.transform(new).tolist(),
        "disagreement()": np.nan_to_num(est.disagreement()).tolist(),
    }


def make(folder, name):
    """Write a file and its numbers."""
    est = MODELS[name]()
    est.save(folder / f"golden-2{name}.viewhop")
    text = json.dumps(expected(est), indent=1)
    (folder / f"golden-2{name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name in NEWEST:
        make(FOLDER, name)
