"""Graphs of simulated cells with RNA and proteins: this library beside weighted nearest neighbours.

``make bench-citeseq`` writes docs/citeseq.md. It runs in the environment of ``make test-omics``.

- Cells: `viewhop.datasets.make_citeseq`, seeds 10, 11 and 12. The default number of coordinates of
  `viewhop.scverse.diffmap` was chosen on seeds 0, 1 and 2.
- Every method starts from 50 principal components of the RNA, which are not counted, and from all
  proteins. Each makes a graph with scanpy's default of 15 neighbours.
- Seconds: CPU time from there to the graph, on one thread, after a run on few cells that compiles
  what is compiled once. The same of a second run on those few cells shows what does not depend on
  their number: muon compiles a metric anew in every call.
- Types: adjusted mutual information of leiden's clusters with the five types, over the cells that
  are not on the trajectory; at leiden's default resolution of 1, and at the best of `RESOLUTIONS`.
- Pseudotime: rank correlation of ``scanpy.tl.dpt`` from the earliest cell with the truth, over the
  cells on the trajectory. scanpy's own diffusion map of the graph is used for every method.
"""

from __future__ import annotations

import platform
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from time import process_time
from typing import Any

import click
import numpy as np
from sklearn.utils import Bunch

import viewhop as vh

__all__ = ["METHODS", "Row", "compare", "write_page"]

PAGE = Path(__file__).parent.parent / "docs" / "citeseq.md"
SEEDS = (10, 11, 12)
SIZE = {"n_samples": 5000, "n_genes": 2000, "n_proteins": 50}
SMALL = {"n_samples": 300, "n_genes": 100, "n_proteins": 20}
N_COMPONENTS = 50
RESOLUTIONS = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0)
DEFAULT = 1.0
PACKAGES = ("viewhop", "scanpy", "muon", "anndata", "mudata", "numpy", "scipy", "scikit-learn")


@dataclass(frozen=True)
class Row:
    """One method on one draw of cells.

    Attributes
    ----------
    method : str
    seconds, few : float
        On all cells, and on few.
    types, best : float
        Scores of clusters at the default resolution, and at the best one.
    n_clusters : int
        At the default resolution, in all cells.
    pseudotime : float
    """

    method: str
    seconds: float
    few: float
    types: float
    best: float
    n_clusters: int
    pseudotime: float


def make_cells(size: dict[str, int], seed: int) -> tuple[Bunch, Any]:
    """Simulated cells, and a MuData of them with principal components of the RNA."""
    import mudata
    from anndata import AnnData
    from sklearn.decomposition import PCA

    mudata.set_options(pull_on_update=False)
    cells = vh.datasets.make_citeseq(**size, random_state=seed)
    parts = {}
    for name, X in cells.views.items():
        parts[name] = AnnData(X.copy())
        parts[name].var_names = [f"{name}{j}" for j in range(X.shape[1])]
    reduced = PCA(min(N_COMPONENTS, size["n_genes"]), random_state=0)
    parts["rna"].obsm["X_pca"] = reduced.fit_transform(cells.views["rna"])
    return cells, mudata.MuData(parts)


def _ours(n_components: int | None) -> Callable[[Any], Any]:
    def build(mdata: Any) -> Any:
        vh.scverse.diffmap(mdata, n_components, model=False)
        return mdata

    return build


def _alone(name: str) -> Callable[[Any], Any]:
    def build(mdata: Any) -> Any:
        import scanpy

        part = mdata.mod[name]
        scanpy.pp.neighbors(part, use_rep="X_pca" if "X_pca" in part.obsm else "X")
        return part

    return build


def _wnn(mdata: Any) -> Any:
    import muon

    for name in mdata.mod:
        _alone(name)(mdata)
    muon.pp.neighbors(mdata)
    return mdata


#: What each method does with a MuData: it returns the data that hold the graph.
METHODS: dict[str, Callable[[Any], Any]] = {
    "viewhop": _ours(None),
    "viewhop, 50 coordinates": _ours(50),
    "viewhop, 15 coordinates": _ours(15),
    "WNN (muon)": _wnn,
    "RNA alone (scanpy)": _alone("rna"),
    "proteins alone (scanpy)": _alone("protein"),
}


def compare(
    size: dict[str, int], seeds: tuple[int, ...], *, is_compiled: bool = False
) -> Iterator[Row]:
    """A row for each method and draw.

    Parameters
    ----------
    size : dict of int
        Arguments of `viewhop.datasets.make_citeseq`.
    seeds : tuple of int
    is_compiled : bool
        Whether to do without the first run, on few cells.
    """
    pairs = [*METHODS.items()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        few = dict.fromkeys(METHODS, np.nan)
        for _ in range(0 if is_compiled else 2):
            few = {name: time_graph(build, make_cells(SMALL, 0)[1])[1] for name, build in pairs}
        for seed in seeds:
            for method, build in pairs:
                cells, mdata = make_cells(size, seed)
                data, seconds = time_graph(build, mdata)
                yield Row(method, seconds, few[method], *score_graph(data, cells))


def time_graph(build: Callable[[Any], Any], mdata: Any) -> tuple[Any, float]:
    """The data with a graph, and the CPU seconds that it took."""
    start = process_time()
    data = build(mdata)
    return data, process_time() - start


def score_graph(data: Any, cells: Bunch) -> tuple[float, float, int, float]:
    """The scores of a graph: types, types at the best resolution, clusters, pseudotime.

    Parameters
    ----------
    data : AnnData or MuData
        With a graph under "neighbors".
    cells : Bunch
        The truth.
    """
    import scanpy
    from anndata import AnnData
    from scipy.stats import spearmanr
    from sklearn.metrics import adjusted_mutual_info_score

    plain = AnnData(obs=data.obs[[]].copy())
    plain.uns["neighbors"] = graph = data.uns["neighbors"]
    for key in ("distances_key", "connectivities_key"):
        plain.obsp[graph[key]] = data.obsp[graph[key]]
    graph["params"].pop("use_rep", None)
    on = np.isfinite(cells.pseudotime)
    scores, counts = {}, {}
    for resolution in RESOLUTIONS:
        options = {"flavor": "igraph", "n_iterations": 2, "directed": False, "random_state": 0}
        scanpy.tl.leiden(plain, resolution=resolution, **options)
        labels = plain.obs["leiden"].to_numpy()
        scores[resolution] = adjusted_mutual_info_score(cells.target[~on], labels[~on])
        counts[resolution] = len(np.unique(labels))
    plain.uns["iroot"] = int(np.flatnonzero(on)[cells.pseudotime[on].argmin()])
    scanpy.tl.diffmap(plain)
    scanpy.tl.dpt(plain)
    found = plain.obs["dpt_pseudotime"].to_numpy()[on]
    order = spearmanr(found, cells.pseudotime[on]).statistic
    return scores[DEFAULT], max(scores.values()), counts[DEFAULT], float(order)


def write_page(rows: list[Row], size: dict[str, int], versions: str) -> str:
    """The page, in Markdown.

    Parameters
    ----------
    rows : list of Row
    size : dict of int
    versions : str
        Of Python and of the packages.
    """
    means = {
        method: [row for row in rows if row.method == method]
        for method in dict.fromkeys(row.method for row in rows)
    }
    draws = max(map(len, means.values()))
    lines = [
        "# Graphs of cells with two modalities",
        "",
        f"*Made by `make bench-citeseq`.* {versions}. One thread each.",
        "",
        f"{size['n_samples']:,} simulated cells (`viewhop.datasets.make_citeseq`), "
        f"{size['n_genes']:,} genes and {size['n_proteins']} proteins; means over {draws} draws. "
        "`benchmarks/citeseq.py` says how each column is measured. The default of viewhop is 100 "
        "coordinates.",
        "",
        f"| graph | CPU seconds | with {SMALL['n_samples']} cells | types, resolution 1 | clusters "
        "| types, best of 8 | pseudotime |",
        "|---|---|---|---|---|---|---|",
    ]
    for method, some in means.items():
        seconds, few, types, count, best, order = (
            np.mean([getattr(row, name) for row in some])
            for name in ("seconds", "few", "types", "n_clusters", "best", "pseudotime")
        )
        lines.append(
            f"| {method} | {seconds:.1f} | {few:.1f} | {types:.3f} | {count:.0f} | {best:.3f} "
            f"| {order:.3f} |"
        )
    lines += [
        "",
        "The seconds with few cells are those that do not depend on their number: muon compiles a "
        "metric in every call. *Types*: adjusted mutual information of leiden's clusters with the "
        "five types, over the cells that are not on the trajectory, at its default resolution and "
        "at the best of eight, which only the truth can tell. *Clusters*: how many leiden finds in "
        "all cells at its default resolution, where the truth is five types and a trajectory "
        "without gaps. *Pseudotime*: rank correlation with the truth along the trajectory.",
        "",
    ]
    return "\n".join(lines)


def _describe_versions() -> str:
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return f"Python {platform.python_version()}, {packages}"


@click.command()
@click.option("--small", is_flag=True, help="Few cells and one draw, to see that it runs.")
@click.option("--record", is_flag=True, help="Write docs/citeseq.md.")
def main(small: bool, record: bool) -> None:
    """Compare graphs of simulated cells with RNA and proteins."""
    if small and record:
        raise click.UsageError("--record needs the full size; remove --small")
    size, seeds = (SMALL, SEEDS[:1]) if small else (SIZE, SEEDS)
    rows = []
    for row in compare(size, seeds, is_compiled=small):
        click.echo(str(row), err=True)
        rows.append(row)
    text = write_page(rows, size, _describe_versions())
    if record:
        PAGE.write_text(text, encoding="utf-8")
    click.echo(text)


if __name__ == "__main__":
    main()
