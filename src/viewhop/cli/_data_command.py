"""``viewhop data``."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from viewhop.cli._command import Command
from viewhop.cli._completions import words
from viewhop.cli._options import folder_option, output_folder, seed_option

__all__ = ["data"]

_EXAMPLE = """\b
Examples:
  viewhop data
  viewhop data mfeat -o digits
  viewhop data rolls --samples 300 --noise 0.1 --seed 1 -o rolls
"""


@dataclass(frozen=True)
class _Set:
    """A data set: its description, how it is generated, and its labels.

    `make` takes the number of samples or None, the noise or None, and the seed; `label` is the
    name of the labels in the files, and their key in the Bunch. `sized` and `noisy` say whether
    the number of samples and the noise can be chosen.
    """

    about: str
    make: Callable[[int | None, float | None, int], Any]
    label: tuple[str, str]
    samples: int
    sized: bool = True
    noisy: bool = False


def _library() -> Any:
    """The functions that generate the sets, imported on first use."""
    from viewhop import datasets

    return datasets


_SETS = {
    "mfeat": _Set(
        "handwritten digits in six views: fac, kar, zer, mor, pix, fou",
        lambda samples, noise, seed: _library().load_mfeat(),
        ("digit", "target"),
        2000,
        sized=False,
    ),
    "rolls": _Set(
        "a Swiss roll, and a rotated copy",
        lambda samples, noise, seed: _library().make_swiss_rolls(
            samples or 1000, noise=noise or 0.0, random_state=seed
        ),
        ("theta", "theta"),
        1000,
        noisy=True,
    ),
    "gapped-rolls": _Set(
        "a Swiss roll, torn at a different place in each view",
        lambda samples, noise, seed: _library().make_gapped_rolls(
            samples or 1200, random_state=seed
        ),
        ("theta", "theta"),
        1200,
    ),
    "helices-a": _Set(
        "two coiled rings, a quarter turn apart",
        lambda samples, noise, seed: _library().make_helices("A", n_samples=samples or 1000),
        ("angle", "a"),
        1000,
    ),
    "helices-b": _Set(
        "two corkscrews, a quarter turn apart",
        lambda samples, noise, seed: _library().make_helices("B", n_samples=samples or 1000),
        ("angle", "a"),
        1000,
    ),
    "circles": _Set(
        "two circles, sheared apart in each view",
        lambda samples, noise, seed: _library().make_circles(
            samples or 1600, noise=0.16 if noise is None else noise, random_state=seed
        ),
        ("circle", "target"),
        1600,
        noisy=True,
    ),
    "mixtures": _Set(
        "six Gaussian clusters in each view",
        lambda samples, noise, seed: _library().make_mixtures(samples or 600, random_state=seed),
        ("cluster", "target"),
        600,
    ),
}


@click.command(cls=Command, epilog=_EXAMPLE)
@click.argument("name", required=False, shell_complete=words(_SETS))
@click.option(
    "--samples", type=click.IntRange(min=2), help="Number of samples, for synthetic sets."
)
@click.option("--noise", type=click.FloatRange(min=0), help="Noise level, for rolls and circles.")
@seed_option
@click.option(
    "--format",
    "ending",
    type=click.Choice(["csv", "tsv", "parquet"]),
    default="csv",
    show_default=True,
    help="Format of the files.",
)
@click.option("--force", is_flag=True, help="Replace existing files.")
@folder_option("Folder for the files, one per view; created if necessary.")
def data(
    name: str | None,
    samples: int | None,
    noise: float | None,
    seed: int,
    ending: str,
    force: bool,
    out: Path | None,
) -> None:
    """List example data sets, or write one: a file per view.

    Without NAME, all sets are listed; with NAME but without -o, the set is described. The files
    have a column of ids, `sample`, and a column of labels.
    """
    sets = _SETS
    if name is None:
        if out is not None:
            raise click.UsageError(f"missing name of a data set; there are {', '.join(sets)}.")
        for key, entry in sets.items():
            click.echo(f"{key:<13} {entry.samples:>5,} samples  {entry.about}")
        return
    if name not in sets:
        raise click.UsageError(f"no data set {name!r}; there are {', '.join(sets)}.")
    chosen = sets[name]
    if samples is not None and not chosen.sized:
        raise click.UsageError(
            f"--samples does not apply to {name}, which has {chosen.samples:,} samples."
        )
    if noise is not None and not chosen.noisy:
        raise click.UsageError(f"--noise does not apply to {name}.")
    if out is None:
        click.echo(chosen.make(samples, noise, seed).DESCR.strip())
        return
    with output_folder(out) as folder:
        files = _write(folder, chosen.make(samples, noise, seed), chosen.label, ending, force)
    for file in files.values():
        click.echo(f"wrote {file}")
    views = [f"{view}={file}" for view, file in files.items()]
    options = ["--id", "sample", "--label", chosen.label[0], "-o", str(out / "fit")]
    click.echo(f"try: {shlex.join(['viewhop', 'fit', *views, *options])}")


def _write(
    folder: Path, bunch: Any, label: tuple[str, str], ending: str, force: bool
) -> dict[str, Path]:
    """Write a file per view: ids, labels, features; nothing if one of the files exists."""
    from viewhop._runtime.files import stage_files
    from viewhop.tables import write_embedding

    file_names = [f"{view}.{ending}" for view in bunch.views.names]
    files = {view: folder / name for view, name in zip(bunch.views.names, file_names, strict=True)}
    existing = [file for file in files.values() if file.exists()]
    if existing and not force:
        raise click.ClickException(f"{existing[0]} already exists; replace it with --force.")
    width = len(str(len(bunch.views)))
    ids = [f"s{k:0{width}d}" for k in range(1, len(bunch.views) + 1)]
    label_name, label_key = label
    with stage_files(folder, last=file_names[-1]) as inside:
        for view, name in zip(bunch.views.names, file_names, strict=True):
            rows = bunch.views[view]
            write_embedding(
                inside / name,
                rows,
                names=[f"{view}{k}" for k in range(1, rows.shape[1] + 1)],
                ids=ids,
                id_name="sample",
                extra={label_name: bunch[label_key]},
            )
    return files
