"""The options of a fit, as ``viewhop fit`` and ``viewhop cluster`` have them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from viewhop.cli._completions import files, words
from viewhop.cli._options import Decorated, given_tables
from viewhop.errors import SettingsError
from viewhop.runs._settings import FORMATS, KERNEL_KEYS, KERNELS, RULES

if TYPE_CHECKING:
    from viewhop.runs._settings import Settings

__all__ = ["asked_settings", "fit_options"]

_GIVEN = "viewhop.settings"


def fit_options(function: Decorated) -> Decorated:
    """Add all options that are settings; the command asks for them by `asked_settings`."""
    for option in reversed([*_kernel_options(), *_walk_options(), *_run_options()]):
        function = option(function)
    return function


def _noted(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    if value is not None and value != ():
        ctx.meta.setdefault(_GIVEN, {})[param.name] = value


def setting(*names: str, help: str, **more: Any) -> Callable[[Decorated], Decorated]:
    """The decorator that adds an option which is a setting of its own name."""
    return click.option(*names, callback=_noted, expose_value=False, help=help, **more)


def _of_view(name: str, metavar: str, help: str, *known: str) -> Any:
    """An option that may be given for one view: ``--kernel rna=gaussian``."""
    return setting(
        name,
        metavar=f"[NAME=]{metavar}",
        multiple=True,
        help=help,
        shell_complete=words(*known) if known else None,
    )


def _kernel_options() -> list[Any]:
    return [
        _of_view("--kernel", "KERNEL", f"{', '.join(KERNELS)}.  [default: adaptive]", *KERNELS),
        _of_view("--bandwidth", "RULE|NUMBER", f"{', '.join(RULES)}, or a number.", *RULES),
        _of_view("--factor", "NUMBER", "Multiplies the squared scale.  [default: 1]"),
        _of_view("--neighbors", "N", "Neighbours that a kernel keeps; 10 if it is adaptive."),
        _of_view(
            "--metric", "METRIC", "euclidean, cosine, correlation.  [default: euclidean]",
            "euclidean", "cosine", "correlation",
        ),
        _of_view("--alpha", "NUMBER", "Normalise by density to this power.  [default: 0]"),
        _of_view(
            "--search", "HOW", "auto, exact, faiss.  [default: auto]", "auto", "exact", "faiss"
        ),
        setting(
            "--standardize/--no-standardize",
            default=None,
            help="Divide each feature by its deviation.",
        ),
    ]  # fmt: skip


def _walk_options() -> list[Any]:
    return [
        setting(
            "--fusion",
            type=click.Choice(["hop", "sum", "product", "alternating"]),
            help="How views become one walk.  [default: hop]",
        ),
        setting(
            "--within-view-weight",
            metavar="NUMBER",
            type=float,
            help="How willingly the walk stays in a view, 0 to 1.  [default: 0]",
        ),
        setting("--steps", metavar="T", type=float, help="Diffusion time.  [default: 1]"),
        setting(
            "--output",
            type=click.Choice(["auto", "concat", "mean"]),
            help="Coordinates of all views side by side, or their mean.  [default: auto]",
        ),
        setting(
            "--solver",
            type=click.Choice(["auto", "dense", "lanczos", "krylov", "svd"]),
            help="[default: auto]",
        ),
        setting("--tol", metavar="NUMBER", type=float, help="Residual of an eigenpair."),
    ]


def _run_options() -> list[Any]:
    return [
        setting("--memory", metavar="SIZE", help="Most that it may take, 8GB for instance."),
        setting("--jobs", metavar="N", type=int, help="Threads; -1 is all cores."),
        setting("--seed", metavar="N", type=int, help="Seed of everything random.  [default: 0]"),
        setting(
            "--format",
            type=click.Choice(FORMATS),
            help="Of the table.  [default: parquet if pyarrow is there, else csv]",
        ),
        setting("--report/--no-report", default=None, help="Write report.html.  [default: report]"),
        click.option(
            "--config",
            metavar="FILE",
            type=click.Path(path_type=Path),
            shell_complete=files,
            help="TOML file with any of these; what is given here comes first.",
        ),
        click.option("--quiet", is_flag=True, help="Show neither progress nor a summary."),
    ]


def asked_settings(
    command: str, views: dict[str, str], out: Path | None, config: Path | None
) -> Settings:
    """The settings that the command which runs was given; click.UsageError if some are wrong.

    Parameters
    ----------
    command : {"fit", "cluster"}
    views : dict of paths by view name
    out : Path or None
        The folder.
    config : Path or None
        The file of settings.
    """
    from viewhop.runs import _configuration as configuration

    given = {**given_tables(), **click.get_current_context().meta.get(_GIVEN, {})}
    own: dict[str, dict[str, Any]] = {name: {"path": path} for name, path in views.items()}
    for key in KERNEL_KEYS:
        if isinstance(given.get(key), tuple):
            _share(key, given.pop(key), given, own)
    for key in ("components", "accuracy", "clusters"):
        if key in given:
            given[key] = _number(given[key])
    given |= {"command": command, "views": own}
    if out is not None:
        given["out"] = str(out)
    try:
        file = {} if config is None else configuration.read(config)
        if file.get("command", command) != command:
            raise SettingsError(
                f"{config}: command: its settings are for viewhop {file['command']}, not {command}"
            )
        settings = configuration.merged(file, given)
        settings.check()
    except SettingsError as error:
        raise click.UsageError(str(error)) from None
    if settings.out is None:
        raise click.UsageError("where to? Give the folder with -o.")
    return settings


def _share(
    key: str, texts: tuple[str, ...], given: dict[str, Any], own: dict[str, dict[str, Any]]
) -> None:
    """Put values of an option where they belong: to all views, or to the one that is named."""
    for text in texts:
        name, mark, value = text.rpartition("=")
        place = own.setdefault(name, {}) if mark else given
        if key in place:
            raise click.UsageError(f"--{key} is given twice{f' for {name!r}' if mark else ''}.")
        place[key] = _number(value)


def _number(text: str) -> Any:
    """A number where the text is one."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
