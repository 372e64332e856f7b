"""Which fusion wins where, and where does each lose?

``make bench-fusions`` writes docs/fusions.md. It uses the sets, the scores and the records of
``benchmarks/quality``.

The rule, written before any score was computed:

- Sets: the fourteen real ones that docs/quality.md counts, with at most 1,000 samples each, drawn
  in equal shares of the classes, and the synthetic ones with at most 600.
- Every fusion gets the defaults of `MultiViewDiffusionMaps`; only `fusion` differs. Integrated
  diffusion is shown with ``n_steps=0`` as well, because its one step consists of many already.
- A set with K classes is embedded in r = K - 1 coordinates, and K-means with K clusters runs on all
  of them; the score is the adjusted mutual information, the mean over 3 seeds of K-means. Synthetic
  sets are scored as in docs/quality.md.
- The composite operator keeps its leading eigenvector, the counterpart of the trivial one that
  other fusions leave out. It gets r + 1 coordinates here, and the first is not scored.
- The composite operator is for two views. So all fusions run on the first two views of every set,
  too.
- A fusion that raises an error scores 0 in the mean, and the page says why. One that is not for so
  many views has no mean.
- A difference of at least 0.01 on a set counts as won or lost; a mean differs if it does by 0.005.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from benchmarks.quality.cells import Cell, Record, Store
from benchmarks.quality.methods import Method, Order, Result, describe_estimator
from benchmarks.quality.sets import COUNTED, SYNTHETIC, Data, load
from benchmarks.quality.tasks import run_cell
from viewhop import MultiViewDiffusionMaps, Views
from viewhop._registry import FUSIONS
from viewhop.walks import walk_class

__all__ = ["METHODS", "TABLES", "TWO", "Scores", "first_two", "run_fusions"]

PAGE = Path(__file__).parent.parent / "docs" / "fusions.md"
#: Parameters by the name of a row.
METHODS: dict[str, dict[str, Any]] = {
    **{name: {"fusion": name} for name in FUSIONS},
    "integrated, t = 0": {"fusion": "integrated", "n_steps": 0},
}
#: Sets by table; those of the second are cut to two views.
TWO = "two views"
TABLES: dict[str, tuple[str, ...]] = {
    "all views": COUNTED,
    TWO: COUNTED,
    "synthetic": tuple(SYNTHETIC),
}

#: Records by set and row of one table.
Scores = dict[tuple[str, str], Record]


def method_for(name: str, parameters: Mapping[str, Any]) -> Method:
    """A row of the page as a method of the benchmark of quality."""
    extra = 0 if walk_class(parameters["fusion"]).is_markov else 1

    def run(order: Order) -> Result:
        est = MultiViewDiffusionMaps(order.r + extra, random_state=order.seed, **parameters)
        return Result([est.fit(order.views).embedding_[:, extra:]], [], [])

    described = describe_estimator(MultiViewDiffusionMaps(2, **parameters))
    return Method(name, "viewhop", run, {**described, "not scored": extra})


def first_two(data: Data) -> Data:
    """The set with its first two views."""
    return replace(data, views=Views({name: data.views[name] for name in data.views.names[:2]}))


def run_fusions(
    store: Store,
    *,
    names: Iterable[str] = (),
    data_home: str | None = None,
    fewest: int | None = None,
) -> Iterator[tuple[str, str, str, Record]]:
    """Table, set, row and record of every cell, from the store where it has them.

    Parameters
    ----------
    store : Store
    names : iterable of str
        Sets to run; none means all.
    data_home : str or None
        Folder of the data; None takes the environment variable ``VIEWHOP_DATA``.
    fewest : int or None
        Every so many samples of a set are used, to see that everything runs; None uses all.
    """
    wanted = set(names)
    for table, sets in TABLES.items():
        for name in sets:
            if wanted and name not in wanted:
                continue
            data = load(name, data_home, small=True)
            if fewest is not None:
                data = _thin(data, fewest)
            if table == TWO:
                data = first_two(data)
            task = "clusters" if data.measure == "classes" and data.truth is None else "geometry"
            task = "geometry" if name in SYNTHETIC else task
            for row, parameters in METHODS.items():
                method = method_for(row, parameters)
                label = f"{name}, {TWO}" if table == TWO else name
                cell = Cell(label, f"fusion {row}", task, small=fewest is None)
                record = store.get(cell, method.parameters_for(task))
                if record is None:
                    record = run_cell(cell, method, data)
                    store.put(record)
                yield table, name, row, record


def _thin(data: Data, step: int) -> Data:
    """Every so many samples of a set."""
    return replace(
        data,
        views=data.views[::step],
        target=None if data.target is None else data.target[::step],
        truth=None if data.truth is None else data.truth[::step],
    )


@click.command()
@click.option("--out", default="quality-results", show_default=True, help="Folder of the records.")
@click.option("--data-home", help="Folder of the data; otherwise VIEWHOP_DATA.")
@click.option("--only", multiple=True, metavar="SET", help="Run this set. May be repeated.")
@click.option("--record", is_flag=True, help="Write docs/fusions.md.")
def main(out: str, data_home: str | None, only: tuple[str, ...], record: bool) -> None:
    """Compare all fusions on the sets of the benchmark of quality."""
    if record and only:
        raise click.UsageError("--record needs all sets; remove --only")
    tables: dict[str, Scores] = {}
    for table, name, row, found in run_fusions(
        Store(Path(out) / "cells"), names=only, data_home=data_home
    ):
        tables.setdefault(table, {})[name, row] = found
        click.echo(f"{table}: {name}: {row}: {found.error or dict(found.scores)}", err=True)
    from benchmarks.fusions_page import write_page

    text = write_page(tables)
    if record:
        PAGE.write_text(text, encoding="utf-8")
    click.echo(text)


if __name__ == "__main__":
    main()
