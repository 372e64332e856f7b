"""Configuration files: the settings of a run as TOML, with paths relative to the file."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from viewhop._version import __version__
from viewhop.errors import SettingsError
from viewhop.runs import _toml as toml
from viewhop.runs._settings import KERNEL_KEYS, Settings, ViewSettings

__all__ = ["merged", "read", "relative", "written"]

#: Bytes beyond which a file is no file of settings.
_LARGEST = 10_000_000


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The settings of a TOML file as plain data, checked, with paths that lead there from here.

    Parameters
    ----------
    path : path

    Raises
    ------
    SettingsError
        If the file cannot be read, is no TOML, or has a setting that is unknown or of the wrong
        kind; the message has the file and the setting.
    """
    given = os.fspath(path)
    told = given if given.isprintable() else repr(given)
    try:
        with open(given, "rb") as file:
            data = file.read(_LARGEST + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise SettingsError(f"{told}: it cannot be read: {reason}", given) from error
    if len(data) > _LARGEST:
        raise SettingsError(f"{told}: it is too long to be a file of settings", given)
    try:
        values = tomllib.loads(data.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise SettingsError(f"{told}: it is not TOML: {reason}", given) from None
    Settings.of(values, where=lambda key: f"{told}: {key}", path=given)
    folder = os.path.dirname(given)
    if "out" in values:
        values["out"] = os.path.join(folder, values["out"])
    for view in values.get("views", {}).values():
        if "path" in view:
            view["path"] = os.path.join(folder, view["path"])
    return values


def merged(file: Mapping[str, Any], given: Mapping[str, Any]) -> Settings:
    """Settings from a file, with those that were given besides in their place.

    Parameters
    ----------
    file, given : dict
        Plain data. What is given for all views also replaces what the file has for one of them.
    """
    views: dict[str, dict[str, Any]] = {
        name: {key: value for key, value in entry.items() if key not in given}
        for name, entry in file.get("views", {}).items()
    }
    for name, entry in given.get("views", {}).items():
        views[name] = {**views.get(name, {}), **entry}
    return Settings.of({**file, **given, "views": views}, where=_option)


def _option(key: str) -> str:
    """A setting as the option that sets it."""
    view, name = key.rpartition(".")[::2]
    option = f"--{name.replace('_', '-')}"
    return f"{option} of the view {view.removeprefix('views.')!r}" if view else option


def written(settings: Settings, folder: Path) -> str:
    """The TOML that repeats a run, to stand in a folder.

    Parameters
    ----------
    settings : Settings
    folder : Path
        Where the file will stand: paths are relative to it.
    """
    values: dict[str, Any] = {
        entry.name: getattr(settings, entry.name)
        for entry in fields(Settings)
        if entry.name != "views"
    }
    values["out"] = "."
    values["views"] = {name: _view(view, folder) for name, view in settings.views.items()}
    head = (
        f"# What viewhop {__version__} was told. To do it again: "
        f"viewhop {settings.command} --config run.toml\n"
    )
    return head + toml.text(values)


def _view(view: ViewSettings, folder: Path) -> dict[str, Any]:
    own = {key: getattr(view, key) for key in KERNEL_KEYS}
    return {"path": relative(view.path, folder), **own}


def relative(path: str, folder: Path) -> str:
    """A path as it is found from a folder; absolute only where no other leads there.

    Parameters
    ----------
    path : str
        It may end with ``::name``.
    folder : Path
    """
    file, mark, key = path.rpartition("::")
    if mark and not os.path.exists(path):
        return f"{relative(file, folder)}::{key}"
    parent, name = os.path.split(path)
    # The folders are those that the system goes through: `..` leaves a link by its other end.
    start, end = os.path.realpath(folder), os.path.realpath(parent or ".")
    try:
        found = os.path.relpath(end, start)
    except ValueError:  # another drive
        found = end
    return Path(found, name).as_posix()
