"""Methods of other packages, each with its own defaults, run by an interpreter that has them.

This file is a program. It reads one order per line from its standard input, does the work on the
arrays of an ``.npz`` file, writes the answer to another, and prints one line of JSON. It imports
nothing of viewhop: the interpreter of the peers does not have it.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from importlib import metadata
from typing import Any

import numpy as np

Arrays = dict[str, np.ndarray]
PACKAGES = ("umap-learn", "snfpy", "cca-zoo", "numba", "numpy", "scikit-learn")


def umap(views: list, new: list, seeds: list, metric: str = "euclidean", **options: Any) -> Arrays:
    """UMAP of all features side by side, standardised or with rows of unit length."""
    from umap import UMAP

    prepare = _unit_rows if metric == "cosine" else _standardise
    train, placed = prepare(views, new)
    model = UMAP(metric=metric, random_state=seeds[0], n_jobs=1, **options).fit(train)
    answer = {"embedding": model.embedding_}
    return answer if placed is None else answer | {"new": model.transform(placed)}


def snf(views: list, new: list, seeds: list, metric: str, n_clusters: int) -> Arrays:
    """Similarity network fusion and spectral clustering of the fused network."""
    import snf as snfpy
    from sklearn.cluster import spectral_clustering

    _adapt(snfpy.compute)

    # The parameters that its documentation advises, which are also its defaults. Squared distances
    # of rows of unit length are cosine distances, and are defined for rows of zeros, too.
    if metric == "cosine":
        arguments: dict[str, Any] = {"metric": "sqeuclidean", "normalize": False}
        views = [_unit(view) for view in views]
    else:
        arguments = {"metric": metric}
        views = [view[:, view.std(axis=0) > 0] for view in views]  # it divides by the deviation
    affinities = snfpy.make_affinity(*views, K=20, mu=0.5, **arguments)
    fused = snfpy.snf(*affinities, K=20)
    fused = (fused + fused.T) / 2
    labels = [spectral_clustering(fused, n_clusters=n_clusters, random_state=s) for s in seeds]
    return {"labels": np.stack(labels)}


def mcca(views: list, new: list, seeds: list, r: int, shrinkage: float) -> Arrays:
    """Multiset CCA of standardised views, the variates averaged over the views."""
    from cca_zoo.linear import MCCA

    pairs = [_standardise([view], new[l : l + 1]) for l, view in enumerate(views)]
    # It has no more components than the narrowest view has features.
    most = min(train.shape[1] for train, _ in pairs)
    model = MCCA(min(r, most), shrinkage=shrinkage).fit([train for train, _ in pairs])
    answer = {"embedding": np.mean(model.transform([train for train, _ in pairs]), axis=0)}
    if new:
        answer["new"] = np.mean(model.transform([placed for _, placed in pairs]), axis=0)
    return answer


METHODS = {"umap": umap, "snf": snf, "mcca": mcca}


def _adapt(module: Any) -> None:
    """Let snfpy 0.2 check arrays with an argument that scikit-learn 1.8 has under a new name."""
    from sklearn.utils import check_array

    def check(*arrays: Any, force_all_finite: Any = True, **options: Any) -> Any:
        return check_array(*arrays, ensure_all_finite=force_all_finite, **options)

    module.check_array = check


def _standardise(views: list, new: list) -> tuple[np.ndarray, np.ndarray | None]:
    train = np.hstack(views)
    mean, spread = train.mean(axis=0), train.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    return (train - mean) / spread, (np.hstack(new) - mean) / spread if new else None


def _unit_rows(views: list, new: list) -> tuple[np.ndarray, np.ndarray | None]:
    train = np.hstack([_unit(view) for view in views])
    return train, np.hstack([_unit(view) for view in new]) if new else None


def _unit(view: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(view, axis=1, keepdims=True)
    return view / np.where(length > 0, length, 1.0)


def _versions() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def _work(order: dict[str, Any]) -> None:
    with np.load(order["data"], allow_pickle=False) as stored:
        views, new = (
            [stored[name] for name in sorted(stored.files) if name.startswith(kind)]
            for kind in ("train", "new")
        )
    answer = METHODS[order["method"]](views, new, order["seeds"], **order["options"])
    bad = [name for name, array in answer.items() if not np.isfinite(array).all()]
    if bad:
        raise ValueError(f"the {bad[0]} is not finite")
    np.savez(order["answer"], **answer)


def main() -> None:
    """Answer orders until the input ends."""
    warnings.simplefilter("ignore")
    reply = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a package prints must not mix with the answers
    print(json.dumps(_versions()), file=reply, flush=True)
    for line in sys.stdin:
        try:
            _work(json.loads(line))
            said: dict[str, Any] = {}
        except Exception as error:
            said = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(said), file=reply, flush=True)


if __name__ == "__main__":
    main()
