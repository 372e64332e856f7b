"""``viewhop info``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from viewhop.cli._command import Command
from viewhop.cli._completions import files
from viewhop.cli._options import chosen_table_options, table_options

if TYPE_CHECKING:
    from viewhop.tables import Content, Options

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
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def info(path: Path, as_json: bool) -> None:
    """Describe the folder of a run, a model or a data file.

    Of a data file, the arrays, sheets or columns are listed, with their shapes, and the columns
    that could be the --id. A table is then described as a fit would read it; FILE::NAME is one of
    several.

    For a run, its files are compared with its record: whether they belong together, and whether
    the input files are unchanged. The exit code is 1 if they do not belong together.
    """
    is_whole = True
    ending = path.suffix.lower()
    if path.is_dir() and ending != ".zarr":
        facts, is_whole = _describe_run(path)
    elif ending == ".viewhop":
        facts = _describe_model(path)
    else:
        facts = _describe_file(path, as_json=as_json)
    if as_json:
        click.echo(json.dumps(facts, indent=1, allow_nan=False))
    elif facts["kind"] == "run":
        _print_run(path, facts)
    else:
        _print_facts(path, facts)
    if not is_whole:
        raise click.exceptions.Exit(1)


def _describe_run(path: Path) -> tuple[dict[str, Any], bool]:
    from viewhop.runs import verify

    state = verify(path)
    record = state.record
    facts = {
        "kind": "run",
        "whole": state.is_whole,
        "command": record["command"],
        "viewhop": record["viewhop"],
        "outputs": state.outputs,
        "inputs": state.inputs,
        "left_behind": [*state.left],
    }
    numbers = ("n_samples", "observed", "n_components", "n_clusters", "eigenvalues", "timings")
    return facts | {key: record[key] for key in numbers if key in record}, state.is_whole


def _describe_model(path: Path) -> dict[str, Any]:
    from viewhop import load
    from viewhop._storage.archive import VERSION
    from viewhop.runs._estimator import embedder_of, schema_of

    model = load(path)
    est, schema = embedder_of(model), schema_of(model)
    counts = _observed_counts(est)
    facts = {
        "kind": "model",
        "format_version": VERSION,
        "size": path.stat().st_size,
        "class": type(model).__name__,
        "n_samples": len(est.embedding_),
        "views": {
            name: {"features": width, "observed": count, "columns": names and [*names]}
            for name, width, count, names in zip(
                schema.names, schema.widths, counts, schema.feature_names, strict=True
            )
        },
        "dtype": str(schema.dtype),
        "n_components": est.n_components_,
        "coordinates": est.get_feature_names_out().tolist(),
        **_solution(est),
        "parameters": {
            name: value if isinstance(value, int | float | str | None) else repr(value)
            for name, value in model.get_params(deep=False).items()
            if name != "verbose"
        },
    }
    if hasattr(model, "n_clusters_"):
        facts["n_clusters"] = model.n_clusters_
    return facts


def _observed_counts(est: Any) -> list[int]:
    """Samples that each view observed; all of them, unless the estimator takes gaps."""
    if hasattr(est, "observed_"):
        counts: list[int] = est.observed_.sum(axis=0).tolist()
        return counts
    return [len(est.embedding_)] * est.n_views_


def _solution(est: Any) -> dict[str, Any]:
    """The numbers that a fit solved for: canonical correlations, or eigenvalues of a walk."""
    if hasattr(est, "correlations_"):
        return {
            "correlations": est.correlations_.tolist(),
            "ranks": est.ranks_,
            "left_out": est.left_out_,
        }
    return {
        "eigenvalues": est.eigenvalues_.tolist(),
        "n_pieces": est.n_pieces_,
        "solver": est.solver_,
    }


def _describe_file(path: Path, *, as_json: bool) -> dict[str, Any]:
    """What a file holds, and how its table would be read, unless one must be chosen first."""
    from viewhop.errors import TableError
    from viewhop.tables import CONTAINERS, list_contents
    from viewhop.tables._read import file_ending, split_name

    options = chosen_table_options()
    name, key = split_name(str(path))
    if key is not None:
        return _describe_table(path, options)
    listed = list_contents(path, options=options)
    contents = {
        "kind": "data file",
        "contents": {entry.name: _describe_content(entry) for entry in listed},
    }
    if file_ending(name)[0] in CONTAINERS:
        return contents
    ids = listed[0].ids
    try:
        return {**_describe_table(path, options), "id_candidates": [*ids]}
    except TableError:
        if not as_json:
            _print_facts(path, {"kind": "data file", **_describe_content(listed[0])})
        raise


def _describe_content(content: Content) -> dict[str, Any]:
    return {
        "shape": None if content.shape is None else " × ".join(f"{n:,}" for n in content.shape),
        "dtype": content.dtype,
        "columns": None if content.columns is None else [*content.columns],
        "id_candidates": [*content.ids] or None,
    }


def _describe_table(path: Path, options: Options) -> dict[str, Any]:
    from viewhop.tables import read

    table = read(path, options=options)
    return {
        "kind": "table",
        "rows": len(table),
        "observed": int(table.observed.sum()),
        "columns": table.matrix.shape[1],
        "names": table.columns and [*table.columns],
        "dtype": str(table.matrix.dtype),
        "ids": None if table.ids is None else len(table.ids),
        "labels": None if table.labels is None else len({*table.labels} - {None}),
        "size": table.size,
        "sha256": table.sha256,
    }


def _print_run(path: Path, facts: dict[str, Any]) -> None:
    verdict = "its files belong together"
    if not facts["whole"]:
        verdict = "its files do NOT all belong together"
    click.echo(f"{path}: viewhop {facts['command']} ({facts['viewhop']}); {verdict}")
    for name, word in facts["outputs"].items():
        click.echo(f"  {name}: {word}")
    for name, word in facts["inputs"].items():
        click.echo(f"  input {name}: {word}")
    for name in facts["left_behind"]:
        click.echo(f"  {name}: temporary files of a run that was stopped; you can delete them")


def _print_facts(path: Path, facts: dict[str, Any]) -> None:
    width = max(map(len, facts))
    for name, value in facts.items():
        if name == "kind":
            click.echo(f"{path}: a {value}")
        elif isinstance(value, dict):
            click.echo(f"  {name}")
            for inner, entry in value.items():
                if entry is not None:
                    click.echo(f"    {inner}: {_format(entry)}")
        elif value is not None:
            click.echo(f"  {name:<{width}}  {_format(value)}")


def _format(value: Any) -> str:
    if isinstance(value, dict):
        parts = [f"{name} {_format(entry)}" for name, entry in value.items() if entry is not None]
        return "; ".join(parts)
    if isinstance(value, list):
        listed = ", ".join(map(_format, value[:8]))
        return f"{listed}, … ({len(value):,})" if len(value) > 8 else listed
    if isinstance(value, float):
        return f"{value:.6g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
