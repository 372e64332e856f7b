"""``viewhop info``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from viewhop.cli._command import Command
from viewhop.cli._completions import files
from viewhop.cli._options import asked_tables, table_options

__all__ = ["info"]

_EXAMPLE = """\b
Example:
  viewhop data rolls --samples 300 --noise 0.1 -o rolls
  viewhop info rolls/x.csv --id sample --label theta
  viewhop fit x=rolls/x.csv y=rolls/y.csv --id sample --label theta -o out
  viewhop info out
  viewhop info out/model.viewhop --json
"""


@click.command(cls=Command, epilog=_EXAMPLE)
@click.argument(
    "path", metavar="DIR|MODEL|FILE", type=click.Path(path_type=Path), shell_complete=files
)
@table_options
@click.option("--json", "machine", is_flag=True, help="Print JSON.")
def info(path: Path, machine: bool) -> None:
    """Say what a folder of a run, a model or a table holds.

    Of a run: whether its files belong together, and whether those that it read are still the
    same; the exit code is 1 if they do not belong together.
    """
    is_whole = True
    if path.is_dir():
        found, is_whole = _run(path)
    elif path.suffix.lower() == ".viewhop":
        found = _model(path)
    else:
        found = _table(path)
    if machine:
        click.echo(json.dumps(found, indent=1, allow_nan=False))
    else:
        _show(path, found)
    if not is_whole:
        raise click.exceptions.Exit(1)


def _run(path: Path) -> tuple[dict[str, Any], bool]:
    from viewhop.runs._verify import state

    found = state(path)
    record = found.record
    told = {
        "kind": "run",
        "whole": found.is_whole,
        "command": record["command"],
        "viewhop": record["viewhop"],
        "outputs": found.outputs,
        "inputs": found.inputs,
        "left_behind": [*found.left],
    }
    known = ("n_samples", "observed", "n_components", "n_clusters", "eigenvalues", "timings")
    return told | {key: record[key] for key in known if key in record}, found.is_whole


def _model(path: Path) -> dict[str, Any]:
    from viewhop import load
    from viewhop._storage.archive import VERSION
    from viewhop.runs._estimator import embedder_of

    model = load(path)
    est = embedder_of(model)
    seen = est._layout
    counts = est.observed_.sum(axis=0).tolist()
    told = {
        "kind": "model",
        "format_version": VERSION,
        "size": path.stat().st_size,
        "class": type(model).__name__,
        "n_samples": len(est.embedding_),
        "views": {
            name: {"features": width, "observed": count, "columns": names and [*names]}
            for name, width, count, names in zip(
                seen.names, seen.widths, counts, seen.feature_names, strict=True
            )
        },
        "dtype": str(seen.dtype),
        "n_components": est.n_components_,
        "coordinates": est.get_feature_names_out().tolist(),
        "eigenvalues": est.eigenvalues_.tolist(),
        "n_pieces": est.n_pieces_,
        "solver": est.solver_,
        "parameters": {
            name: value if isinstance(value, int | float | str | None) else repr(value)
            for name, value in model.get_params(deep=False).items()
            if name != "verbose"
        },
    }
    if hasattr(model, "n_clusters_"):
        told["n_clusters"] = model.n_clusters_
    return told


def _table(path: Path) -> dict[str, Any]:
    from viewhop.tables import read

    options = asked_tables()
    found = read(path, options=options)
    return {
        "kind": "table",
        "rows": len(found),
        "observed": int(found.observed.sum()),
        "columns": found.matrix.shape[1],
        "names": found.columns and [*found.columns],
        "dtype": str(found.matrix.dtype),
        "ids": None if found.ids is None else len(found.ids),
        "labels": None if found.labels is None else len({*found.labels} - {None}),
        "size": found.size,
        "sha256": found.sha256,
    }


def _show(path: Path, found: dict[str, Any]) -> None:
    """The same for people."""
    if found["kind"] == "run":
        verdict = "its files belong together"
        if not found["whole"]:
            verdict = "its files do NOT all belong together"
        click.echo(f"{path}: viewhop {found['command']} ({found['viewhop']}); {verdict}")
        for name, told in found["outputs"].items():
            click.echo(f"  {name}: {told}")
        for name, told in found["inputs"].items():
            click.echo(f"  what was read as {name}: {told}")
        for name in found["left_behind"]:
            click.echo(f"  {name} was left behind by a run that was stopped; it can be removed")
        return
    width = max(map(len, found))
    for name, value in found.items():
        if name == "kind":
            click.echo(f"{path}: a {value}")
        elif isinstance(value, dict):
            click.echo(f"  {name}")
            for inner, entry in value.items():
                if entry is not None:
                    click.echo(f"    {inner}: {_told(entry)}")
        elif value is not None:
            click.echo(f"  {name:<{width}}  {_told(value)}")


def _told(value: Any) -> str:
    if isinstance(value, dict):
        parts = [f"{name} {_told(entry)}" for name, entry in value.items() if entry is not None]
        return "; ".join(parts)
    if isinstance(value, list):
        listed = ", ".join(map(_told, value[:8]))
        return f"{listed}, … ({len(value):,})" if len(value) > 8 else listed
    if isinstance(value, float):
        return f"{value:.6g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
