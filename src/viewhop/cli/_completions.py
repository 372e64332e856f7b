"""What a shell offers for an argument that is not finished."""

from __future__ import annotations

import os
from collections.abc import Callable

import click
from click.shell_completion import CompletionItem

__all__ = ["files", "named_files", "words"]

Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def named_files(ctx: click.Context, param: click.Parameter, begun: str) -> list[CompletionItem]:
    """The files of ``NAME=PATH``, behind the name.

    bash takes the name and the sign for words of their own: what it asks for is the path alone.
    """
    name, mark, path = begun.partition("=")
    if not mark:
        return files(ctx, param, begun)
    folder, start = os.path.split(path)
    try:
        entries = sorted(os.scandir(folder or "."), key=lambda entry: entry.name)
    except OSError:
        return []
    return [
        CompletionItem(f"{name}={os.path.join(folder, entry.name)}{os.sep * entry.is_dir()}")
        for entry in entries
        if entry.name.startswith(start) and entry.name.startswith(".") == start.startswith(".")
    ]


def files(ctx: click.Context, param: click.Parameter, begun: str) -> list[CompletionItem]:
    """What the shell itself offers for a path."""
    return [CompletionItem(begun, type="file")]


def words(*known: str) -> Completer:
    """A completer that offers some words, also behind ``NAME=``."""

    def offered(ctx: click.Context, param: click.Parameter, begun: str) -> list[CompletionItem]:
        name, mark, start = begun.rpartition("=")
        return [CompletionItem(f"{name}{mark}{word}") for word in known if word.startswith(start)]

    return offered
