"""Advice on files, with the command that follows it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from viewhop._runtime.progress import Progress, no_progress
from viewhop.advice import Advice, advise
from viewhop.kernels import Kernel
from viewhop.runs._estimator import table_options
from viewhop.runs._kernel_settings import KERNEL_KEYS, build_kernel
from viewhop.runs._settings import Settings
from viewhop.tables import VIEW_KEYS, read_views

__all__ = ["FileAdvice", "advise_files"]

#: Settings of how files are read, in the order of their options.
_TABLE_KEYS = (
    "id",
    "label",
    "keep",
    "drop",
    "decimal",
    "delimiter",
    "encoding",
    "id_strip",
    "missing",
)


@dataclass(frozen=True)
class FileAdvice:
    """Advice on files.

    Attributes
    ----------
    advice : Advice
    command : tuple of str
        The words of the command that fits the files as advised.
    notes : tuple of str
        Advice that the command has no option for.
    """

    advice: Advice
    command: tuple[str, ...]
    notes: tuple[str, ...]


def advise_files(settings: Settings, *, progress: Progress = no_progress) -> FileAdvice:
    """What to watch for in the files of a run, and how to fit them: ``viewhop advise``.

    Parameters
    ----------
    settings : Settings
        With a file for every view. How files are read, kernels, the seed and the number of threads
        are used.
    progress : callable
        Called as ``progress(stage, done, total)``, from any thread.

    Raises
    ------
    SettingsError
        If settings conflict.
    viewhop.errors.TableError
        If a file cannot be read as a table.
    ValueError
        If a fit would refuse the views.

    Examples
    --------
    >>> import os, tempfile
    >>> import viewhop as vh
    >>> from viewhop.runs import Settings, ViewSettings, advise_files
    >>> rolls = vh.datasets.make_gapped_rolls(100, random_state=0).views
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     paths = {name: os.path.join(folder, f"{name}.csv") for name in rolls.names}
    ...     for name, path in paths.items():
    ...         vh.tables.write(path, dict(zip("abc", rolls[name].T, strict=True)))
    ...     views = {name: ViewSettings(path=path) for name, path in paths.items()}
    ...     result = advise_files(Settings(views=views))
    >>> result.command[:2], result.advice.metrics
    (('viewhop', 'fit'), {'x': 'euclidean', 'y': 'euclidean'})
    """
    settings.check()
    samples = read_views(
        {name: view.path for name, view in settings.views.items()},
        options=table_options(settings),
        max_memory=settings.memory,
    )
    asked = {name: build_kernel(settings.kernel_of(name)) for name in settings.views}
    advice = advise(
        samples.views,
        kernel=asked if _states_kernel(settings) else "adaptive",
        random_state=settings.seed,
        n_jobs=settings.jobs,
        verbose=progress,
    )
    added, notes = _advised_options(advice, asked)
    words = (
        "viewhop",
        "fit",
        *(f"{name}={view.path}" for name, view in settings.views.items()),
        *_stated_options(settings),
        "--components",
        str(advice.parameters["n_components"]),
        *added,
        "-o",
        "out",
    )
    return FileAdvice(advice, words, notes)


def _states_kernel(settings: Settings) -> bool:
    """Whether some setting of a kernel is not the default."""
    return any(
        getattr(one, key) is not None
        for one in (settings, *settings.views.values())
        for key in KERNEL_KEYS
    )


def _stated_options(settings: Settings) -> Iterator[str]:
    """The options of files and kernels that were given."""
    default = Settings()
    for key in _TABLE_KEYS:
        value = getattr(settings, key)
        if value == getattr(default, key):
            continue
        option = f"--{key.replace('_', '-')}"
        if isinstance(value, bool):
            yield option
            continue
        for one in value if isinstance(value, tuple) else (value,):
            yield from (option, str(one))
    for name, view in settings.views.items():
        for key in VIEW_KEYS:
            value = getattr(view, key)
            for one in value if isinstance(value, tuple) else (value,) if value else ():
                yield from (f"--{key}", f"{name}={one}")
    for key in KERNEL_KEYS:
        option = f"--{key.replace('_', '-')}"
        shared = getattr(settings, key)
        if isinstance(shared, bool):
            yield option if shared else f"--no-{option[2:]}"
        elif shared is not None:
            yield from (option, str(shared))
        for name, view in settings.views.items():
            if getattr(view, key) is not None and not isinstance(getattr(view, key), bool):
                yield from (option, f"{name}={getattr(view, key)}")


def _advised_options(
    advice: Advice, asked: dict[str, Kernel]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Options for what a fit would not choose by itself, and notes on what has no option."""
    decided: Any = advice.parameters["kernel"]
    if isinstance(decided, str):
        return (), ()
    words: list[str] = []
    for name, kernel in decided.items():
        if kernel.n_neighbors != asked[name].n_neighbors:
            words += ["--neighbors", f"{name}={kernel.n_neighbors}"]
    by_scale = [
        one.view
        for one in advice.recommendations
        if one.parameter == "metric" and one.is_override and one.view is not None
    ]
    if by_scale and len(by_scale) == len(decided):
        return (*words, "--metric", "euclidean", "--standardize"), ()
    notes = (
        f"standardize view {name!r} in a configuration file (--config): views.{name} with "
        'metric = "euclidean" and standardize = true'
        for name in by_scale
    )
    return tuple(words), tuple(notes)
