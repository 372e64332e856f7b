"""The methods of other packages, as the benchmark sees them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.quality.methods import Method, Order, Result
from benchmarks.quality.peer_process import PeerProcess

__all__ = ["LARGEST_NETWORK", "SHRINKAGE", "list_peers"]

#: Samples up to which SNF is run: its dense networks take a cube of that in time.
LARGEST_NETWORK = 2200
#: Share of the identity in the covariances of CCA, whose default of 0 fits noise where a view has
#: more features than samples. Of 0.1, 0.5, 0.9 and 1, the best on four of the sets, with labels.
SHRINKAGE = 0.9
#: Seeds of the K-means inside spectral clustering.
SEEDS = (0, 1, 2)


def list_peers(process: PeerProcess) -> tuple[Method, ...]:
    """All peers, run by a process that has been started: their versions are parameters, too."""
    versions = process.versions

    def umap(name: str, metric: str, width: Callable[[Order], int]) -> Method:
        def run(order: Order) -> Result:
            new = () if order.new is None else order.new.arrays
            answer = process.call(
                "umap",
                order.views.arrays,
                new,
                seeds=[order.seed],
                options={"metric": metric, "n_components": width(order)},
            )
            return Result([answer["embedding"]], [answer["new"]] if "new" in answer else [], [])

        columns = "r" if width(Order(None, 7, 0, 0)) == 7 else "2"  # type: ignore[arg-type]
        parameters = {"metric": metric, "n_components": columns}
        return _peer(name, run, parameters | {"umap-learn": versions.get("umap-learn")})

    def snf(name: str, metric: str) -> Method:
        def run(order: Order) -> Result:
            options = {"metric": metric, "n_clusters": order.n_clusters}
            answer = process.call("snf", order.views.arrays, seeds=SEEDS, options=options)
            return Result([], [], list(answer["labels"]))

        parameters = {"metric": metric, "K": 20, "mu": 0.5, "snfpy": versions.get("snfpy")}
        return _peer(
            name,
            run,
            parameters,
            is_seeded=False,
            extends=False,
            most=LARGEST_NETWORK,
            tasks=("clusters",),
        )

    def mcca(order: Order) -> Result:
        new = () if order.new is None else order.new.arrays
        options = {"r": order.r, "shrinkage": SHRINKAGE}
        answer = process.call("mcca", order.views.arrays, new, seeds=[0], options=options)
        return Result([answer["embedding"]], [answer["new"]] if "new" in answer else [], [])

    return (
        umap("UMAP (2 columns)", "euclidean", lambda order: 2),
        umap("UMAP (r columns)", "euclidean", lambda order: order.r),
        umap("UMAP cosine (2 columns)", "cosine", lambda order: 2),
        umap("UMAP cosine (r columns)", "cosine", lambda order: order.r),
        snf("SNF", "sqeuclidean"),
        snf("SNF cosine", "cosine"),
        _peer(
            "MCCA",
            mcca,
            {"shrinkage": SHRINKAGE, "cca-zoo": versions.get("cca-zoo")},
            is_seeded=False,
        ),
    )


def _peer(name: str, run: Any, parameters: dict[str, Any], **options: Any) -> Method:
    options = {"tasks": ("clusters", "neighbours")} | options
    return Method(name, "peer", run, parameters, **options)
