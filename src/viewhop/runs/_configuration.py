"""Configuration files: the settings of a run as TOML, with paths relative to the file."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from viewhop._runtime.version import __version__
from viewhop.errors import SettingsError
from viewhop.runs._kernel_settings import KERNEL_KEYS
from viewhop.runs._settings import Settings, ViewSettings
from viewhop.runs._toml import format_toml
from viewhop.tables import VIEW_KEYS

__all__ = ["format_configuration", "merge_settings", "read_configuration", "relative_path"]

#: Bytes beyond which a file cannot be a configuration.
_LARGEST = 10_000_000
#: The key of the version that wrote a file. Such a file states every default (`resolve_settings`).
_WRITER = "viewhop"
#: What a setting given on the command line discards from a file that states every default: the
#: values were the defaults that went with another kernel, number of clusters or of coordinates.
_DEPENDENT = {
    "kernel": KERNEL_KEYS[1:],
    "clusters": ("components", "max_clusters"),
    "components": ("accuracy",),
    "metric": ("standardize",),
    "within_view_weight": ("weight", "hops", "joint_view", "output"),
    "hops": ("weight", "within_view_weight", "joint_view", "output"),
    "fusion": ("weight", "hops", "joint_view", "output"),
}


def read_configuration(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The settings of a TOML file as plain data, checked, with paths relative to the process.

    Parameters
    ----------
    path : path

    Returns
    -------
    values : dict
        For `merge_settings`.

    Raises
    ------
    SettingsError
        If the file cannot be read, is not TOML, or has a setting that is unknown or of the wrong
        kind; the message names the file and the setting.
    """
    given = os.fspath(path)
    shown = given if given.isprintable() else repr(given)
    try:
        with open(given, "rb") as file:
            data = file.read(_LARGEST + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise SettingsError(f"{shown}: cannot be read: {reason}", given) from error
    if len(data) > _LARGEST:
        raise SettingsError(f"{shown}: too long to be a configuration file", given)
    try:
        values = tomllib.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:  # also an integer of thousands of digits
        reason = " ".join(str(error).split())
        raise SettingsError(f"{shown}: not valid TOML: {reason}", given) from None
    settings = {key: value for key, value in values.items() if key != _WRITER}
    Settings.from_values(settings, where=lambda key: f"{shown}: {key}", path=given)
    folder = os.path.dirname(given)
    if "out" in values:
        values["out"] = os.path.join(folder, values["out"])
    for view in values.get("views", {}).values():
        if "path" in view:
            view["path"] = os.path.join(folder, view["path"])
    return values


def merge_settings(file: Mapping[str, Any], given: Mapping[str, Any]) -> Settings:
    """The settings of a file, with others in their place where these are given.

    Parameters
    ----------
    file : dict
        As `read_configuration` returns it.
    given : dict
        Plain data, as `Settings.from_values` takes it. A kernel setting for all views also
        replaces that of a single view in the file.
    """
    is_complete = _WRITER in file
    shared = {key: value for key, value in file.items() if key not in (_WRITER, "views")}
    replaced = {*given, *(_dependent(given) if is_complete else ())}
    if is_complete and _changes_kernel(given):
        replaced.add("joint_view")  # only kernels that are alike have one
    # A kernel given for all views leaves the other settings of all views as they are.
    shared = {key: value for key, value in shared.items() if key not in replaced - {*KERNEL_KEYS}}
    views: dict[str, dict[str, Any]] = {
        name: {key: value for key, value in entry.items() if key not in replaced}
        for name, entry in file.get("views", {}).items()
    }
    for name, entry in given.get("views", {}).items():
        own = views.get(name, {})
        if is_complete:
            own = {key: value for key, value in own.items() if key not in _dependent(entry)}
        views[name] = {**own, **entry}
    return Settings.from_values({**shared, **given, "views": views}, where=_option)


def _changes_kernel(given: Mapping[str, Any]) -> bool:
    """Whether a setting of a kernel is given, for all views or for one."""
    entries = [given, *given.get("views", {}).values()]
    return any(key in entry for entry in entries for key in KERNEL_KEYS)


def _dependent(given: Mapping[str, Any]) -> set[str]:
    """Settings that go with another value of what is given."""
    return {key for name, keys in _DEPENDENT.items() if name in given for key in keys}


def _option(key: str) -> str:
    """The option of a setting, as an error names it."""
    view, name = key.rpartition(".")[::2]
    option = f"--{name.replace('_', '-')}"
    return f"{option} of view {view.removeprefix('views.')!r}" if view else option


def format_configuration(settings: Settings, folder: Path, *, is_complete: bool = False) -> str:
    """The TOML text that repeats a run.

    Parameters
    ----------
    settings : Settings
    folder : Path
        Where the file will be: paths are relative to it.
    is_complete : bool
        Whether the settings state every default, as `resolve_settings` returns them.
    """
    values: dict[str, Any] = {_WRITER: __version__} if is_complete else {}
    values |= {
        entry.name: getattr(settings, entry.name)
        for entry in fields(Settings)
        if entry.name != "views"
    }
    values["out"] = "."
    values["views"] = {name: _view_values(view, folder) for name, view in settings.views.items()}
    head = (
        f"# The settings of a run of viewhop {__version__}. To repeat it: "
        f"viewhop {settings.command} --config run.toml\n"
    )
    return head + format_toml(values)


def _view_values(view: ViewSettings, folder: Path) -> dict[str, Any]:
    own = {key: getattr(view, key) for key in (*VIEW_KEYS, *KERNEL_KEYS)}
    return {"path": relative_path(view.path, folder), "weight": view.weight, **own}


def relative_path(path: str, folder: Path) -> str:
    """A path relative to a folder; absolute only where no relative path exists.

    Parameters
    ----------
    path : str
        It may end with ``::name``.
    folder : Path
    """
    file, mark, key = path.rpartition("::")
    if mark and not os.path.exists(path):
        return f"{relative_path(file, folder)}::{key}"
    parent, name = os.path.split(path)
    # With links resolved: `..` leaves a linked folder by its target, not by the link.
    start, end = os.path.realpath(folder), os.path.realpath(parent or ".")
    try:
        steps = os.path.relpath(end, start)
    except ValueError:  # another drive
        steps = end
    return Path(steps, name).as_posix()
