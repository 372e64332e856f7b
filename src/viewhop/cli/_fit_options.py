"""The options of a fit, as ``viewhop fit`` and ``viewhop cluster`` have them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from viewhop._registry import FUSIONS, KERNELS, METRICS, OUTPUTS, RULES, SEARCHES, SOLVERS
from viewhop.cli._completions import files, matching_words
from viewhop.cli._hops_option import read_hops
from viewhop.cli._options import (
    Decorated,
    quiet_option,
    split_by_view,
    stated_table_options,
)
from viewhop.errors import SettingsError
from viewhop.runs._kernel_settings import KERNEL_KEYS
from viewhop.runs._settings import FORMATS

if TYPE_CHECKING:
    from viewhop.runs import Settings

__all__ = ["fit_options", "kernel_options", "setting", "settings_from_options"]

_META_KEY = "viewhop.settings"


def fit_options(function: Decorated) -> Decorated:
    """Add all options that are settings; the command reads them by `settings_from_options`."""
    for option in reversed([*_kernel_options(), *_walk_options(), *_run_options()]):
        function = option(function)
    return function


def kernel_options(function: Decorated) -> Decorated:
    """Add the options of kernels only."""
    for option in reversed(_kernel_options()):
        function = option(function)
    return function


class NameOption(click.Option):
    """An option that takes a name from a dict; its help and its completion list the keys.

    The dict is read when help or completion is asked for, so an entry added before counts.

    Parameters
    ----------
    names : dict
        One of `viewhop._registry`.
    first : tuple of str
        Names that come before those of the dict.
    help : str
        With ``{names}`` where the names belong.
    """

    def __init__(
        self,
        param_decls: Sequence[str] | None = None,
        *,
        names: Mapping[str, object],
        first: tuple[str, ...] = (),
        help: str = "{names}.",
        **more: Any,
    ) -> None:
        super().__init__(param_decls, help=help, **more)
        self._names, self._first, self._template = names, first, help

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """The option and its help text, with the names as they are now."""
        self.help = self._template.format(names=", ".join((*self._first, *self._names)))
        return super().get_help_record(ctx)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The names that complete a word."""
        return matching_words(self._names, incomplete, *self._first)


def _remember(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    if value is not None and value != ():
        ctx.meta.setdefault(_META_KEY, {})[param.name] = value


def setting(*names: str, help: str, **more: Any) -> Callable[[Decorated], Decorated]:
    """The decorator that adds an option for the setting of the same name."""
    return click.option(*names, callback=_remember, expose_value=False, help=help, **more)


def _view_setting(name: str, metavar: str, help: str, **more: Any) -> Any:
    """An option that may be given for a single view: ``--kernel rna=gaussian``."""
    return setting(name, metavar=f"[NAME=]{metavar}", multiple=True, help=help, **more)


def _kernel_options() -> list[Any]:
    return [
        _view_setting(
            "--kernel", "KERNEL", "{names}.  [default: adaptive]", cls=NameOption, names=KERNELS
        ),
        _view_setting(
            "--bandwidth", "RULE|NUMBER", "{names}, or a number.", cls=NameOption, names=RULES
        ),
        _view_setting("--factor", "NUMBER", "Factor of the squared scale.  [default: 1]"),
        _view_setting(
            "--neighbors",
            "N|all",
            "Neighbours that the kernel keeps.  [default: 10 if adaptive, else all]",
        ),
        _view_setting(
            "--metric",
            "METRIC",
            "{names}.  [default: auto if adaptive, else euclidean]",
            cls=NameOption,
            names=METRICS,
        ),
        _view_setting(
            "--alpha",
            "NUMBER",
            "Exponent of the density normalisation.  [default: 1 if adaptive, else 0]",
        ),
        _view_setting(
            "--scale-neighbors",
            "N",
            "The neighbour whose distance is the local scale.  [default: 10 if adaptive, else half "
            "of --neighbors, 7 if all]",
        ),
        _view_setting(
            "--taper",
            "NUMBER",
            "Share of the neighbours over which the kernel falls to 0.  [default: 0.2 if adaptive, "
            "else 0]",
        ),
        _view_setting(
            "--search", "METHOD", "{names}.  [default: auto]", cls=NameOption, names=SEARCHES
        ),
        setting(
            "--standardize/--no-standardize",
            default=None,
            help="Divide each feature by its standard deviation.",
        ),
    ]


def _walk_options() -> list[Any]:
    return [
        setting(
            "--fusion",
            metavar="FUSION",
            help="How the views become one walk: {names}.  [default: hop]",
            cls=NameOption,
            names=FUSIONS,
        ),
        setting(
            "--within-view-weight",
            metavar="NUMBER",
            type=float,
            help="Weight of steps within a view, 0 to 1, instead of view weights; 0 is the paper's "
            "walk.",
        ),
        setting(
            "--view-weight",
            "--view-weights",
            metavar="NAME=NUMBER",
            multiple=True,
            help="How willingly the walker goes to a view; give one for every view, or all in "
            "their order: 1,0.5,2.  [default: by agreement of the views]",
        ),
        setting(
            "--hops",
            metavar="FILE|MATRIX",
            help="Weights of going from view to view: a file with a row for every view, or rows "
            "like '0,1;1,0'. Symmetric.",
        ),
        setting(
            "--joint-view/--no-joint-view",
            default=None,
            help="Add all views side by side as one more view.  [default: if most samples are "
            "complete]",
        ),
        setting(
            "--connect/--no-connect",
            default=None,
            help="Add neighbours until the walk is in one piece.  [default: no-connect]",
        ),
        setting("--steps", metavar="T", type=float, help="Diffusion time.  [default: 1]"),
        setting(
            "--output",
            metavar="OUTPUT",
            help="Form of the coordinates: {names}.  [default: auto]",
            cls=NameOption,
            names=OUTPUTS,
        ),
        setting(
            "--solver",
            metavar="SOLVER",
            help="Eigensolver: {names}.  [default: auto]",
            cls=NameOption,
            names=SOLVERS,
            first=("auto",),
        ),
        setting("--tol", metavar="NUMBER", type=float, help="Largest residual of an eigenpair."),
    ]


def _run_options() -> list[Any]:
    return [
        setting("--memory", metavar="SIZE", help="Memory limit, such as 8GB."),
        setting("--jobs", metavar="N", type=int, help="Threads; -1 is all cores."),
        setting("--seed", metavar="N", type=int, help="Random seed.  [default: 0]"),
        setting(
            "--format",
            type=click.Choice(FORMATS),
            help="Format of the table.  [default: parquet if pyarrow is installed, else csv]",
        ),
        setting(
            "--report/--no-report",
            default=None,
            help="Write report.html.  [default: if plotly is installed]",
        ),
        click.option(
            "--config",
            metavar="FILE",
            type=click.Path(path_type=Path),
            shell_complete=files,
            help="TOML file with any of these settings; options override it.",
        ),
        quiet_option,
    ]


def settings_from_options(
    command: str,
    views: dict[str, str],
    out: Path | None,
    config: Path | None,
    *,
    needs_folder: bool = True,
) -> Settings:
    """The settings of the current command; click.UsageError if some are not valid.

    Parameters
    ----------
    command : {"fit", "cluster"}
    views : dict of paths by view name
    out : Path or None
        The folder.
    config : Path or None
        The configuration file.
    needs_folder : bool
        Whether the command writes a folder.
    """
    from viewhop.runs import merge_settings, read_configuration

    try:
        file = {} if config is None else read_configuration(config)
    except SettingsError as error:
        raise click.UsageError(str(error)) from None
    names = [*dict.fromkeys([*file.get("views", {}), *views])]
    shared, by_view = split_by_view(stated_table_options(), names)
    given = {**shared, **click.get_current_context().meta.get(_META_KEY, {})}
    own: dict[str, dict[str, Any]] = {name: {"path": path} for name, path in views.items()}
    for name, values in by_view.items():
        own.setdefault(name, {}).update(values)
    for key in KERNEL_KEYS:
        if isinstance(given.get(key), tuple):
            _split_by_view(key, given.pop(key), given, own)
    for name, weight in _view_weights(given.pop("view_weight", ()), names):
        own.setdefault(name, {})["weight"] = weight
    if "hops" in given:
        given["hops"] = read_hops(given["hops"], names)
    for key in ("components", "accuracy", "clusters"):
        if key in given:
            given[key] = _parse_number(given[key])
    given |= {"command": command, "views": own}
    if out is not None:
        given["out"] = str(out)
    try:
        if file.get("command", command) != command:
            raise SettingsError(
                f"{config}: these are settings for viewhop {file['command']}, not {command}"
            )
        settings = merge_settings(file, given)
        settings.check()
    except SettingsError as error:
        raise click.UsageError(str(error)) from None
    if settings.out is None and needs_folder:
        raise click.UsageError("missing output folder: pass -o DIR")
    return settings


def _view_weights(texts: tuple[str, ...], names: list[str]) -> Iterator[tuple[str, Any]]:
    """The weights by view: given by name, or all in the order of the views."""
    for text in texts:
        name, mark, value = text.rpartition("=")
        if mark and name.strip():
            yield name, _parse_number(value)
            continue
        values = value.split(",")
        if mark or len(values) == 1 != len(names):
            raise click.UsageError(f"--view-weight needs the view: NAME={value}")
        if len(values) != len(names) or len(texts) > 1:
            raise click.UsageError(
                f"--view-weight {value} has {len(values)} weights, expected one for each of "
                f"{', '.join(names) or 'the views'}, once"
            )
        yield from zip(names, map(_parse_number, values), strict=True)


def _split_by_view(
    key: str, texts: tuple[str, ...], given: dict[str, Any], own: dict[str, dict[str, Any]]
) -> None:
    """Assign the values of an option to all views, or to the view that each names."""
    for text in texts:
        name, mark, value = text.rpartition("=")
        if mark and not name.strip():
            raise click.UsageError(
                f"--{key.replace('_', '-')} {text} names no view before =; pass "
                f"--{key.replace('_', '-')} {value or 'VALUE'} for all views, or NAME={value}"
            )
        place = own.setdefault(name, {}) if mark else given
        if key in place:
            raise click.UsageError(f"--{key} is given twice{f' for {name!r}' if mark else ''}.")
        place[key] = _parse_number(value)


def _parse_number(text: str) -> Any:
    """A number where the text is one, else the text."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
