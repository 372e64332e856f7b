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
    """A data set: what it is, how it is made, and what its labels are.

    `make` has the samples or None, the noise or None, and the seed; `label` is the name of the
    labels, and where the Bunch has them.
    """

    about: str
    make: Callable[[int | None, float | None, int], Any]
    label: tuple[str, str]
    samples: int
    sized: bool = True
    noisy: bool = False


def _library() -> Any:
    """The functions that make the sets; not imported before one is made."""
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
        "one Swiss roll, torn at another place in each view",
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
@click.argument("name", required=False, shell_complete=words(*_SETS))
@click.option("--samples", type=click.IntRange(min=2), help="Number of samples of a synthetic set.")
@click.option("--noise", type=click.FloatRange(min=0), help="Noise of rolls or circles.")
@seed_option
@click.option(
    "--format",
    "ending",
    type=click.Choice(["csv", "tsv", "parquet"]),
    default="csv",
    show_default=True,
    help="Of the files.",
)
@click.option("--force", is_flag=True, help="Replace files that are there.")
@folder_option("Folder for the files, one per view; made if need be.")
def data(
    name: str | None,
    samples: int | None,
    noise: float | None,
    seed: int,
    ending: str,
    force: bool,
    out: Path | None,
) -> None:
    """List data sets to try, or write one: a file per view.

    Without NAME all are listed; with it, and without -o, the set is described. Files have a
    column of ids, `sample`, and one of labels.
    """
    sets = _SETS
    if name is None:
        if out is not None:
            raise click.UsageError(f"which set? There are {', '.join(sets)}.")
        for key, known in sets.items():
            click.echo(f"{key:<13} {known.samples:>5,} samples  {known.about}")
        return
    if name not in sets:
        raise click.UsageError(f"no data set {name!r}; there are {', '.join(sets)}.")
    chosen = sets[name]
    if samples is not None and not chosen.sized:
        raise click.UsageError(f"{name} has {chosen.samples:,} samples: --samples is not for it.")
    if noise is not None and not chosen.noisy:
        raise click.UsageError(f"{name} has no noise to set: --noise is not for it.")
    made = chosen.make(samples, noise, seed)
    if out is None:
        click.echo(made.DESCR.strip())
        return
    with output_folder(out) as folder:
        files = _write(folder, made, chosen.label, ending, force)
    for file in files.values():
        click.echo(f"wrote {file}")
    views = [f"{view}={file}" for view, file in files.items()]
    options = ["--id", "sample", "--label", chosen.label[0], "-o", str(out / "fit")]
    click.echo(f"try: {shlex.join(['viewhop', 'fit', *views, *options])}")


def _write(
    folder: Path, made: Any, label: tuple[str, str], ending: str, force: bool
) -> dict[str, Path]:
    """A file per view: ids, labels, features. Nothing is written if one of them is there."""
    from viewhop.tables import write_embedding

    files = {view: folder / f"{view}.{ending}" for view in made.views.names}
    there = [file for file in files.values() if file.exists()]
    if there and not force:
        raise click.ClickException(f"{there[0]} is there already; replace it with --force.")
    width = len(str(len(made.views)))
    ids = [f"s{k:0{width}d}" for k in range(1, len(made.views) + 1)]
    called, where = label
    for view, file in files.items():
        rows = made.views[view]
        write_embedding(
            file,
            rows,
            names=[f"{view}{k}" for k in range(1, rows.shape[1] + 1)],
            ids=ids,
            id_name="sample",
            extra={called: made[where]},
        )
    return files
